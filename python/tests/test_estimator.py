"""KBASS in the manner of scikit-learn and PySINDy."""

import pickle

import numpy as np
import pytest

import kbass


@pytest.fixture(scope="module")
def X(vdp_data):
    return vdp_data.values


@pytest.fixture(scope="module")
def t(vdp_data):
    return vdp_data.times


@pytest.fixture(scope="module")
def model(X, t):
    return kbass.KBASS(degree=3, threads=1).fit(X, t)


def weights(model):
    return [{term.term: term.weight for term in e.selected} for e in model.equations_]


def test_like_pysindy(model, X, t, capsys):
    names, found = model.get_feature_names(), model.coefficients()
    assert found.shape == (2, len(names)) and found[0, names.index("x1")] == pytest.approx(1, abs=0.02)
    assert model.predict(X) == pytest.approx(np.stack([X[:, 1], -X[:, 0] + 2.5 * X[:, 1] - 2.5 * X[:, 0] ** 2 * X[:, 1]], 1), abs=0.5)
    assert 0.8 < model.score(X, t) <= 1 and 0.95 < model.holdout_score(X, t) <= 1
    model.print()
    assert capsys.readouterr().out.startswith("x0_t = ") and model.equations()[0].endswith("x1") and model.complexity == 4
    assert model.simulate([1, 0], t).shape == X.shape and model.forecast(until=10, draws=3).draws.shape[0] == 3


def test_ways_to_give_times(X, t, model):
    pandas = pytest.importorskip("pandas")
    even = kbass.KBASS(degree=3, threads=1).fit(X, t[1] - t[0])
    assert weights(even)[1]["x1"] == pytest.approx(weights(model)[1]["x1"], rel=1e-3)
    frame = pandas.DataFrame(X, columns=["x", "y"])
    for one in (kbass.KBASS(degree=3, threads=1).fit(frame, t), kbass.KBASS(degree=3, threads=1).fit(frame.assign(t=t)),
                kbass.KBASS(degree=3, threads=1, feature_names=["x", "y"]).fit(X, t),
                kbass.KBASS(degree=3, threads=1).fit(X, t, feature_names=["x", "y"]),
                kbass.KBASS(degree=3, threads=1).fit(frame, pandas.Series(t))):  # fmt: skip
        assert list(weights(one)[1]) == ["x", "y", "x^2*y"]
    assert one.predict(frame[["y", "x"]]) == pytest.approx(model.predict(X))
    assert one.score(frame.assign(t=t)) == pytest.approx(model.score(X, t))


def test_runs():
    runs = [kbass.simulate("lotka-volterra", until=10, samples=12, x0=[10 * i, 10], noise=2, seed=i) for i in (1, 2, 3)]
    X, t = [r.values for r in runs], [r.times for r in runs]
    model = kbass.KBASS(degree=2, threads=1).fit(X, t)
    assert model.result.runs == ["1", "2", "3"] and len(model.predict(X)) == 3
    assert model.score(X, t) > 0.8 and model.holdout_score(X[2], t[2]) > 0.8
    same = kbass.KBASS(degree=2, threads=1).fit(X, t[0])
    assert weights(same) == weights(model)


def test_inputs():
    t = np.linspace(0, 6, 50)
    u = np.sin(t)
    X = (1.5 * np.exp(-t) + 0.5 * (np.sin(t) - np.cos(t)))[:, None]
    model = kbass.KBASS(degree=1, threads=1).fit(X, t, u=u)
    assert weights(model)[0] == pytest.approx({"x0": -1, "u0": 1}, abs=1e-3)
    assert model.predict(X, u=u)[:, 0] == pytest.approx(u - X[:, 0], abs=1e-3)
    assert model.score(X, t, u) > 0.99 and model.holdout_score(X, t, u) > 0.99


def test_fields(burgers_data, burgers):
    grid = burgers_data.to_frame().pivot(index="t", columns="x", values="u")
    t, x, u = grid.index.to_numpy(), grid.columns.to_numpy(), grid.to_numpy()
    options = dict(terms="u*u_x, u_xx", periodic="x", threads=1)
    model = kbass.KBASS(**options).fit(u, t=t, x=x)
    assert weights(model)[0] == {term.term: term.weight for term in burgers.equations[0].selected}
    with pytest.raises(kbass.DataError, match="fields"):
        model.predict(u)
    with pytest.raises(kbass.DataError, match="times x places"):
        kbass.KBASS(**options).fit(u[:, :-1], t=t, x=x)


@pytest.mark.parametrize("name", ["feature_library", "optimizer", "differentiation_method", "threshold"])
def test_foreign_parameters_get_a_sentence(name):
    with pytest.raises(kbass.ArgumentError, match=name + ":"):
        kbass.KBASS(**{name: 1})


def test_x_dot(X, t):
    with pytest.raises(kbass.ArgumentError, match="x_dot: derivatives are not needed"):
        kbass.KBASS().fit(X, t, x_dot=X)


def test_not_fitted():
    with pytest.raises(kbass.NotFittedError):
        kbass.KBASS().predict([[1.0, 2.0]])


def test_pickle(model, X):
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict(X) == model.predict(X)).all() and again.get_params() == model.get_params()


# ---------------------------------------------------------------- scikit-learn itself


def test_clone_and_params(model):
    sklearn = pytest.importorskip("sklearn.base")
    copy = sklearn.clone(kbass.KBASS(degree=2, noise={"x0": 0.1}))
    assert copy.get_params()["degree"] == 2 and copy.set_params(degree=4).degree == 4 and not hasattr(copy, "result_")
    assert "degree" in str(copy) and sklearn.is_regressor(model)
    with pytest.raises(kbass.ArgumentError, match="did you mean"):
        copy.set_params(degre=1)
    import inspect

    assert set(inspect.signature(kbass.KBASS.__init__).parameters) >= set(kbass.settings())


def test_cross_validation(X, t):
    selection = pytest.importorskip("sklearn.model_selection")
    scores = selection.cross_val_score(kbass.KBASS(degree=3, threads=1), X, t, cv=selection.TimeSeriesSplit(2))
    assert scores.shape == (2,) and np.isfinite(scores).all()
    search = selection.GridSearchCV(kbass.KBASS(threads=1), {"degree": [1, 3]}, cv=selection.TimeSeriesSplit(2)).fit(X, t)
    assert search.best_params_ == {"degree": 3} and search.predict(X).shape == X.shape


def test_cross_validation_over_runs():
    selection = pytest.importorskip("sklearn.model_selection")
    runs = [kbass.simulate("lotka-volterra", until=10, samples=10 + i, x0=[10 * i, 10], seed=i) for i in (1, 2, 3)]
    X, t = [r.values for r in runs], [r.times for r in runs]
    scores = selection.cross_val_score(kbass.KBASS(degree=2, threads=1), X, t, cv=selection.KFold(3))
    assert (scores > 0.5).all()


def test_processes_share_the_cores(X, t, monkeypatch):
    """joblib tells its processes how many threads are theirs; so does anybody by OMP_NUM_THREADS."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert kbass.KBASS(degree=3).fit(X, t).result["settings"]["threads"] == 1
    joblib = pytest.importorskip("joblib")
    monkeypatch.delenv("OMP_NUM_THREADS")
    work = joblib.delayed(lambda: kbass.KBASS(degree=3).fit(X, t).result["settings"]["threads"])
    found = joblib.Parallel(n_jobs=2)(work() for _ in range(2))
    import os

    assert sum(found) <= max(2, os.cpu_count())


def test_tags():
    sklearn = pytest.importorskip("sklearn")
    if tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 6):
        pytest.skip("tags are asked for from 1.6 on")
    assert kbass.KBASS().__sklearn_tags__().estimator_type == "regressor"

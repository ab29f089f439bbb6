"""What comes back, and what follows from it."""

import copy
import inspect
import json
import math
import pickle
import re

import numpy as np
import pytest

import kbass


def test_equations(vdp):
    assert [e.lhs for e in vdp.equations] == ["x_t", "y_t"]
    term = vdp.equations["y"]["x^2*y"]
    assert term.selected and term.verdict == "in" and term.interval[0] < term.weight < term.interval[1]
    assert vdp.equations["y_t"] is vdp.equations[1] and term.sd > 0 and term.probability > 0.9
    with pytest.raises(KeyError):
        vdp.equations["z"]
    assert vdp.noise.keys() == {"x", "y"} and 0 < vdp.probability <= 1 and math.isfinite(vdp.log_evidence)


def test_shown(vdp):
    assert "Law found" in str(vdp) and "y_t" in vdp._repr_html_() and vdp._repr_latex_().startswith("$")
    assert len(vdp.text(all_terms=True)) > len(vdp.text())
    assert len(vdp.to_frame()) == 20 and len(vdp.to_frame(all_terms=False)) == 4
    assert "x_t" in repr(vdp)


def test_html_is_escaped():
    import xml.dom.minidom

    hares = kbass.discover({"t": range(1900, 1921), **{k: v for k, v in kbass.example("hare-lynx").to_dict().items() if k != "t"}},
                           degree=2, threads=1)  # fmt: skip
    xml.dom.minidom.parseString(hares._repr_html_())


def test_sympy(vdp, burgers):
    sympy = pytest.importorskip("sympy")
    first, second = vdp.to_sympy()
    t = sympy.Symbol("t")
    x, y = sympy.Function("x")(t), sympy.Function("y")(t)
    assert first.lhs == sympy.Derivative(x, t) and second.rhs.coeff(x**2 * y) == pytest.approx(vdp.equations["y"]["x^2*y"].weight)
    assert burgers.to_sympy()[0].rhs.has(sympy.Derivative)
    odd = kbass.discover({"t": np.linspace(0, 3, 15), "S": np.exp(-np.linspace(0, 3, 15))}, terms="S, sin(S)", threads=1)
    assert odd.to_sympy()


@pytest.mark.parametrize("format", ["latex", "sympy", "julia", "matlab", "c", "csv"])
def test_export(vdp, format):
    assert len(vdp.export(format)) > 50


def test_files(vdp, tmp_path):
    assert json.loads(vdp.to_json(tmp_path / "r.json")) == vdp.document
    loaded = kbass.load(tmp_path / "r.json")
    assert loaded == vdp and hash(loaded) == hash(vdp) and loaded.equations[0].text == vdp.equations[0].text
    assert "x_t" in str(loaded) and loaded.forecast(until=9, draws=5).mean.shape == (101, 2)
    assert loaded.simulate([1, 0], [0, 1]).shape == (2, 2) and loaded.next(2)
    inside = np.linspace(0.1, 7.9, 7)
    # linear between 400 times: (8/399)^2 / 8 times the greatest second derivative, below 100 here
    assert np.abs(loaded.solution(inside).mean - vdp.solution(inside).mean).max() < 6e-3
    with pytest.raises(kbass.DataError, match=r"law_residuals needs the data.*law_residuals\(..., data="):
        loaded.law_residuals([1.0])
    with pytest.raises(kbass.DataError, match="data="):
        loaded.explain("x_t: x")
    there, here = loaded.residuals(), vdp.residuals()
    assert list(there) == list(here)
    for name in here:  # the file has seven digits of values near 3
        assert np.abs(np.asarray(there[name]) - np.asarray(here[name])).max() < 3e-6, name


def test_explain_of_a_file(vdp_data, tmp_path):
    vdp_data.write(tmp_path / "vdp.csv")
    found = kbass.discover(tmp_path / "vdp.csv", threads=1, degree=2, time_limit=20)
    found.to_json(tmp_path / "r.json")
    loaded = kbass.load(tmp_path / "r.json")
    expected = found.explain("x_t: x")
    assert expected and loaded.explain("x_t: x") == expected
    here, there = found.law_residuals([1.0, 2.0]), kbass.load(tmp_path / "r.json").law_residuals([1.0, 2.0])
    assert np.array_equal(here["lhs"], there["lhs"]) and np.array_equal(here["rhs"], there["rhs"])
    assert loaded.explain("x_t: x", data=vdp_data) == expected
    (tmp_path / "vdp.csv").write_text("t,x,y\n0,1,2\n1,2,3\n2,3,4\n3,5,6\n4,7,9\n")
    with pytest.raises(kbass.DataError, match="has changed"):
        loaded.explain("x_t: x")


def test_score(vdp, command, tmp_path):
    """The same as the command's; options have the command's names."""
    new = kbass.simulate("vdp", t=[0.3 * i for i in range(20)], x0=[1.0, 1.0], noise=1, seed=5)
    new.write(tmp_path / "new.csv")
    vdp.to_json(tmp_path / "r.json")
    command("score", tmp_path / "r.json", tmp_path / "new.csv", "--json", tmp_path / "score.json", "--draws", "50", "--threads", "1")
    found = vdp.score(new, draws=50, threads=1)
    assert found.document == json.loads((tmp_path / "score.json").read_text())
    assert vdp.score(str(tmp_path / "new.csv"), draws=50, threads=1).document == found.document
    law = found["law"]
    assert found.r2 == law.r2["all"] > 0.9 and law.mean.shape == found.values.shape == (len(found.t), 2)
    assert (law.low <= law.high).all() and "law" in repr(found) and len(found.to_frame()) == 3 * len(found.predictors)
    assert vdp.score(new, state=[1.0, 1.0], draws=50, threads=1).document["n_used"] == 1
    words = set(re.findall(r"^  (?:-\w, )?--([a-z-]+)", command("score", "--help-all"), re.M))
    known = set(inspect.signature(kbass.Result.score).parameters) | set(inspect.signature(kbass.read).parameters)
    others = {"from": "state", "continue": "continues", "json": "data", "output": "data", "figure": "data", "quiet": "progress",
              "size": "data", "dpi": "data", "help": "data", "help-all": "data"}  # fmt: skip
    for word in words:
        assert others.get(word, word.replace("-", "_")) in known, word
    with pytest.raises(kbass.DataError, match="state: found 1 numbers, needed 2"):
        vdp.score(new, state=[1.0])


def test_bad_files(vdp, tmp_path):
    with pytest.raises(kbass.FileError):
        vdp.to_json(tmp_path / "no" / "folder.json")
    for content in ("", "{", "[]", '{"format": "other"}', '{"format": "kbass-result"}', "\x00"):
        (tmp_path / "bad.json").write_text(content)
        with pytest.raises(kbass.FileError, match="bad.json"):
            kbass.load(tmp_path / "bad.json")


def test_pickle_and_copy(vdp):
    again = pickle.loads(pickle.dumps(vdp))
    assert again == vdp and str(again) == str(vdp) and again.candidates == vdp.candidates
    assert copy.copy(vdp) == vdp == copy.deepcopy(vdp)


def test_solution(vdp, vdp_data, burgers):
    found = vdp.solution(vdp_data.times)
    assert found.mean.shape == found.sd.shape == (25, 2) and (found.sd > 0).all()
    left = vdp.residuals()
    assert left["x_residual"] == pytest.approx(vdp_data.values[:, 0] - found.mean[:, 0])
    law = vdp.law_residuals(np.linspace(0.5, 7.5, 5))
    assert np.abs(law["residual"]).max() < 0.01 * np.abs(law["lhs"]).max()  # differences of the solution
    assert vdp.solution().mean.shape == (400, 2) and list(found.to_frame()) == ["t", "x", "x_sd", "y", "y_sd"]
    field = burgers.solution([1.0, 2.0], [1.0, 2.0, 3.0])
    assert field.mean.shape == (2, 3, 1) and burgers.solution().mean.ndim == 3
    assert burgers.residuals()["u_residual"].shape == (48,)
    with pytest.raises(kbass.Error):
        vdp.solution([100.0])


def test_simulate(vdp, burgers):
    t = np.linspace(0, 3, 7)
    states = vdp.simulate([2.0, 0.0], t)
    model = kbass.ahead.law(vdp)
    slopes = (vdp.simulate([2.0, 0.0], [0, 1e-4])[1] - [2.0, 0.0]) / 1e-4
    assert model.rates(states[:1])[0] == pytest.approx(slopes, rel=1e-2, abs=1e-3)  # a difference of first order
    assert vdp.simulate().shape == (101, 2)
    with pytest.raises(kbass.DataError, match="x0: found 1 numbers, needed 2"):
        vdp.simulate([1], t)
    with pytest.raises(kbass.ArgumentError, match="no inputs"):
        vdp.simulate([1, 1], t, u=t)
    assert burgers.simulate(t=[0.5, 1.0], x=[1.0, 2.0]).shape == (2, 2, 1)


def test_inputs():
    """x_t = -x + f: what is found is followed under another input, against the formula."""
    t = np.linspace(0, 6, 50)
    f = np.sin(t)
    x = 1.5 * np.exp(-t) + 0.5 * (np.sin(t) - np.cos(t))
    result = kbass.discover({"t": t, "x": x, "f": f}, input="f", degree=1, threads=1)
    step = result.simulate([0.0], t, u=np.ones(50))
    weights = {term.term: term.weight for term in result.equations["x"].selected}
    assert weights == pytest.approx({"x": -1, "f": 1}, abs=1e-3)
    assert step[:, 0] == pytest.approx(1 - np.exp(-t), abs=2e-3)  # the weights' error
    assert result.simulate([1.0], t, u=np.sin)[:, 0] == pytest.approx(x, abs=2e-3)
    np.testing.assert_allclose(result.simulate([1.0], t)[:, 0], x, atol=2e-3)  # driven as it was in the record


def test_forecast(vdp):
    found = vdp.forecast(t=[8.5, 9, 10], draws=20, quantiles=[10, 90], seed=3)
    assert found.draws.shape == (20, 3, 2) and found.quantiles.shape == (2, 3, 2) and found.lost == 0
    assert (found.quantile(10) <= found.quantile(90)).all() and list(found.reached) == [20] * 3
    assert list(found.to_frame()) == ["t", "x", "x_10", "x_90", "y", "y_10", "y_90"]
    for bad in ({}, {"t": [9], "until": 9}, {"until": 3}, {"until": 9, "draws": 0}, {"until": 9, "quantiles": [200]},
                {"until": 9, "state": [1]}, {"t": [1.0]}):  # fmt: skip
        with pytest.raises(kbass.Error):
            vdp.forecast(**bad)


def test_next_and_explain(vdp):
    best = vdp.next(3)
    assert len(best) == 3 and best.about_weights.shape == (101, 2) and best[0].about_weights >= best[1].about_weights
    [change] = vdp.explain("y_t: x")
    assert change["change"] == "dropped" and change["log_odds"] < -5


def test_plot_and_report(vdp, burgers, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    vdp.plot().savefig(tmp_path / "a.png")
    burgers.plot().savefig(tmp_path / "b.png")
    assert vdp.report(tmp_path / "r.html") == str(tmp_path / "r.html")
    assert "<html" in (tmp_path / "r.html").read_text()[:400]
    with pytest.raises(kbass.FileError):
        vdp.report(tmp_path / "no" / "r.html")


def test_doctor(vdp_data):
    found = kbass.doctor(vdp_data, degree=2)
    assert found.verdict in ("fine", "warning") and found[0]["sentence"] and "verdict" in str(found)
    assert kbass.doctor([vdp_data, vdp_data]).verdict


# ---------------------------------------------------------------- a law with inputs


@pytest.fixture(scope="module")
def driven():
    """x_t = -x/2 + f with f = sin(1.3 t), known over 0 to 10."""
    t = np.linspace(0, 10, 60)
    table = {"t": t, "f": np.sin(1.3 * t)}
    x = kbass.simulate("x_t = -0.5*x + f", t=t, x0=[1.0], input_data=table).values[:, 0]
    return kbass.discover({**table, "x": x}, input="f", threads=1)


def ahead(t):
    return np.sin(1.3 * t)


def test_inputs_by_table_array_and_function(driven):
    t = np.linspace(10, 14, 41)
    table = {"t": t, "f": ahead(t)}
    x0 = [float(driven.solution([10.0]).mean[0, driven.states.index("x")])]
    exact = driven.simulate(x0, t, u=ahead)
    # the curves differ by interpolation: splines of 41 points over a fifth of a period each, and 20 times finer
    np.testing.assert_allclose(driven.simulate(x0, t, u=ahead(t)), exact, atol=1e-4)
    np.testing.assert_allclose(driven.simulate(x0, t, input_data=table), exact, atol=1e-4)
    for inputs in ({"u": ahead(t)}, {"u": ahead}, {"input_data": table}):
        np.testing.assert_allclose(driven.forecast(t, draws=20, **inputs).mean, exact, atol=1e-3)
    assert driven.next(best=1, until=14, input_data=table)[0].state == "x"
    assert driven.next(best=1, until=14, u=ahead)[0].t <= 14


def test_inputs_are_the_records_without_others(driven):
    t = np.linspace(0, 10, 21)
    fitted = driven.solution(t).mean[:, driven.states.index("x")]
    np.testing.assert_allclose(driven.simulate(None, t)[:, 0], fitted, atol=1e-5)
    rows = driven.export("csv", input_data={"t": t, "f": 0 * t}).split()
    assert float(rows[-1].split(",")[1]) == pytest.approx(np.exp(-5), abs=1e-3)


def test_inputs_in_the_report(driven, tmp_path):
    t = np.linspace(10, 12, 11)
    driven.report(tmp_path / "page.html", until=12, input_data={"t": t, "f": ahead(t)})
    assert (tmp_path / "page.html").stat().st_size > 1000


@pytest.mark.parametrize("inputs, words", [
    ({}, "u= or input_data="),
    ({"u": [1.0, 2.0]}, "needed 101 x 1"),
    ({"input_data": {"t": [10.0, 12.0, 13.0], "g": [1.0, 2.0, 3.0]}}, 'no column "f"'),
    ({"input_data": {"t": [10.0, 11.0], "f": [1.0, 2.0]}}, "needed from 10 to 12"),
    ({"u": ahead, "input_data": {"t": [10.0, 12.0], "f": [1.0, 2.0]}}, "found both"),
])  # fmt: skip
def test_inputs_that_do_not_reach(driven, inputs, words):
    with pytest.raises(kbass.Error, match=words):
        driven.forecast(until=12, **inputs)


def test_no_inputs():
    result = kbass.discover(kbass.example("hare-lynx"), degree=2, threads=1)
    for ask in (lambda: result.forecast(until=1925, u=[1.0]), lambda: result.simulate(input_data={"t": [0, 1], "f": [1, 2]}),
                lambda: result.export("csv", input_data={"t": [0, 1], "f": [1, 2]})):  # fmt: skip
        with pytest.raises(kbass.ArgumentError, match="has no inputs"):
            ask()


def test_unknown_constants():
    data = kbass.simulate(["x_t = 0.8*x*s/(2.3+s)", "s_t = -1.2*x*s/(2.3+s)"], x0=[0.3, 8], until=12, samples=30, noise=2)
    found = kbass.discover(data, terms=["s", "x*s", "x*s/(K+s)"], unknown={"K": (0.1, 20)}, threads=1)
    [k] = found.constants
    assert k["name"] == "K" and k["interval"][0] < 2.3 < k["interval"][1]
    terms = [term for equation in found.document["equations"] for term in equation["terms"] if term["selected"]]
    assert [term["form"] for term in terms] == ["x*s/(s+K)"] * 2
    signs = ["x_t: x*s/(2.3+s) > 0", "s_t: x*s/(2.3+s) < 0"]
    told = kbass.discover(data, terms=["s", "x*s", "x*s/(2.3+s)"], constraint=signs, threads=1)
    assert not told.constants and [e.selected[0].weight > 0 for e in told.equations] == [True, False]

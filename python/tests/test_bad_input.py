"""Whatever comes in: an answer, or one exception with a sentence; never a crash."""

import os

import numpy as np
import pytest

import kbass

T = np.linspace(0, 5, 20)
X = np.stack([np.cos(T), np.sin(T)], axis=1)


@pytest.mark.parametrize("X, t, words", [
    (X, T[:-1], "t has the shape"), (X, T[::-1], "times must ascend"), (X, np.zeros(20), "times must ascend"),
    (X, np.where(T > 2, np.nan, T), "needed finite times"), (X, None, "t is needed"), (X, 0, "needed a step above 0"),
    (X, -1.0, "step"), (X, "dt", "t"), (X.astype(str), T, "found"), (X.astype(object) * 1j, T, "number"),
    (np.full((20, 2), "a", dtype=object), T, "needed a number"), (X[None, None], T, "dimensions"), ([[1, 2], [3]], [0, 1], "lengths"),
    (X[:0], T[:0], "row"), (X[:1], T[:1], ""), (np.full((20, 2), np.nan), T, ""), (np.full((20, 2), np.inf), T, ""),
    (X + 1e-3j, T, "complex"), (np.zeros((20, 0)), T, ""), ([X, X[:, :1]], [T, T], "columns"), ([X, X], [T], "runs"),
    (np.ones((20, 2)), T, ""), (1e308 * X, T, ""), (1e-308 * X, T, ""), (X, 1e300 * T, ""), (object(), T, ""), ({1, 2}, T, ""),
])  # fmt: skip
def test_bad_arrays(X, t, words):
    try:
        kbass.KBASS(degree=1, threads=1, time_limit=5).fit(X, t)
    except kbass.Error as error:
        assert words in str(error) and len(str(error)) > 10
    else:
        assert words == ""


@pytest.mark.parametrize("source", [
    "", "no such file.csv", ".", "/dev/null", 3, None, object(), [], {}, [[]], {"t": 1, "x": 2}, {"t": [1]}, {"x": [1, 2]},
    {"t": [0, 1], "x": ["a", "b"]}, {"t": [0, 1], "x": [[1, 2], [3]]}, {"t": [0, 1], "x y": [1, 2]}, {"t": [0, 1], "x": [object()] * 2},
    {"t": [0, 1, 2], "x": [1, 2]}, {"t": [], "x": []}, ["no such file.csv"], [3, 4], "a\0b", {"t": [0, 1], "": [1, 2]},
    {"t": [0, 1], "x\n": [1, 2]}, {"t": [0, 1], "é": [1, 2]}, b"bytes", {"t": np.array(["NaT"], "M8[s]"), "x": [1]}, {"t": ["2020", None], "x": [1, 2]},
], ids=str)  # fmt: skip
def test_bad_sources(source):
    with pytest.raises(kbass.Error) as found:
        kbass.discover(source, degree=1, threads=1)
    assert str(found.value)


def test_bad_methods(vdp):
    for ask in (lambda: vdp.solution("a"), lambda: vdp.solution([[1.0]]), lambda: vdp.solution([2.0], run=3),
                lambda: vdp.solution([1.0], run="a"), lambda: vdp.simulate([1, 2], []), lambda: vdp.simulate([1, 2], [1, 0]),
                lambda: vdp.simulate([np.nan, 2], [0, 1]), lambda: vdp.export("cobol"), lambda: vdp.explain("q"),
                lambda: vdp.law_residuals([1e9]), lambda: vdp.simulate(["a", 2], [0, 1])):  # fmt: skip
        with pytest.raises(kbass.Error):
            ask()


hypothesis = pytest.importorskip("hypothesis")
from hypothesis import strategies as st  # noqa: E402
from hypothesis.extra import numpy as hnp  # noqa: E402

SECONDS = float(os.environ.get("KBASS_FUZZ_SECONDS", "30"))
cells = st.one_of(st.floats(), st.integers(-5, 5), st.none(), st.text(max_size=3), st.booleans(), st.just([1.0]))
columns = st.one_of(st.lists(cells, max_size=6), st.lists(st.floats(-10, 10), min_size=3, max_size=12),
                    hnp.arrays("O", hnp.array_shapes(max_dims=2, max_side=5), elements=cells),
                    hnp.arrays(st.sampled_from(["f8", "f4", "i4", "U2", "c16", "M8[s]"]), hnp.array_shapes(max_dims=3, max_side=5)))
tables = st.dictionaries(st.sampled_from(["t", "x", "y", "time", "u", "", "a b", "1"]), columns, max_size=4)
values = st.one_of(st.none(), st.text(max_size=6), st.integers(-3, 50), st.floats(), st.booleans(), st.lists(st.text(max_size=3), max_size=2))
words = st.dictionaries(st.sampled_from([n for n in kbass.settings() if n not in ("threads", "time_limit", "degree", "terms_file", "mesh_file")]
                                        + ["nonsense"]), values, max_size=2)
reading = st.dictionaries(st.sampled_from(["time", "axes", "run", "sigma", "use", "ignore", "rename"]), st.text("txyu,= :", max_size=5), max_size=1)


def fuzz(check, seconds, **strategies):
    """For so many seconds, each time with another seed."""
    import time

    end, seed = time.time() + seconds, 0
    while time.time() < end:
        settings = hypothesis.settings(max_examples=25, deadline=None, database=None, suppress_health_check=list(hypothesis.HealthCheck))
        hypothesis.seed(seed)(settings(hypothesis.given(**strategies)(check)))()
        seed += 1


def answers(ask):
    try:
        ask()
    except kbass.Error as error:
        assert str(error) and "Traceback" not in str(error)


def test_fuzz_tables():
    def check(table, options, how):
        answers(lambda: kbass.discover(table, degree=1, threads=1, time_limit=0.3, **options, **how))

    fuzz(check, SECONDS / 2, table=tables, options=words, how=reading)


def test_fuzz_arrays():
    numbers = st.one_of(hnp.arrays(st.sampled_from(["f8", "f4", "i8", "U1", "?"]), hnp.array_shapes(max_dims=3, max_side=8)),
                        hnp.arrays("O", hnp.array_shapes(max_dims=2, max_side=5), elements=cells))  # fmt: skip
    times = st.one_of(numbers, st.floats(), st.none(), st.lists(st.floats(0, 10), max_size=8).map(sorted))

    def check(X, t, u):
        answers(lambda: kbass.KBASS(degree=1, threads=1, time_limit=0.3).fit(X, t, u))

    fuzz(check, SECONDS / 2, X=st.one_of(numbers, st.lists(numbers, max_size=2)), t=times, u=st.one_of(st.none(), numbers))

"""Measurements from whatever holds them."""

import numpy as np
import pytest

import kbass

pandas = pytest.importorskip("pandas")
xarray = pytest.importorskip("xarray")


@pytest.fixture
def frame(vdp_data):
    return vdp_data.to_frame()


def same(data, vdp_data):
    return data.states == vdp_data.states and (data.values == vdp_data.values).all() and (data.times == vdp_data.times).all()


def test_one_table_in_many_dresses(frame, vdp_data, tmp_path):
    vdp_data.write(tmp_path / "a.csv")
    shuffled = frame.sample(frac=1, random_state=1)
    dataset = xarray.Dataset.from_dataframe(frame.set_index("t"))
    for source in (frame, frame.to_dict("list"), shuffled, frame.set_index("t"), dataset, str(tmp_path / "a.csv"),
                   tmp_path / "a.csv", {name: frame[name].to_numpy() for name in frame}, vdp_data):  # fmt: skip
        assert same(kbass.read(source), vdp_data)
    assert same(kbass.read(frame.rename(columns={"t": "hour"}), time="hour"), vdp_data)


def test_names_dates_and_labels(frame):
    odd = kbass.read(frame.rename(columns={"t": "Time (s)", "x": "Biomass [g/L]"}))
    assert odd.states == ["Biomass", "y"]
    dated = frame.assign(t=pandas.date_range("2021-01-01", periods=len(frame), freq="D"))
    assert kbass.read(dated).times[-1] == len(frame) - 1
    labelled = frame.assign(strain=["A"] * 12 + ["B"] * 13)
    assert kbass.read(labelled, run="strain").runs == ["A", "B"]
    assert kbass.read(frame.assign(trial=[1] * 12 + [2] * 13), run="trial").runs == ["1", "2"]
    assert kbass.read(frame, use="x").states == kbass.read(frame, ignore=["y"]).states == ["x"]
    assert kbass.read(frame, rename={"x": "pos"}).states == ["pos", "y"]


def test_runs(frame):
    assert kbass.read([frame, frame]).runs == ["1", "2"]
    assert kbass.read({"cold": frame, "warm": frame}).runs == ["cold", "warm"]
    assert kbass.read([frame.to_dict("list"), frame]).run_starts == [0, 25, 50]
    cube = xarray.Dataset({"x": (("trial", "t"), np.arange(12.0).reshape(2, 6))}, {"t": np.arange(6.0), "trial": ["a", "b"]})
    assert kbass.read(cube, run="trial").runs == ["a", "b"]


def test_fields(burgers_data):
    table = burgers_data.to_frame()
    grid = table.pivot(index="t", columns="x", values="u")
    t, x, u = grid.index.to_numpy(), grid.columns.to_numpy(), grid.to_numpy()
    dataset = xarray.Dataset({"u": (("x", "t"), u.T)}, {"x": x, "t": t})
    for source, axes in ((table, "t,x"), ({"t": t, "x": x, "u": u}, "t,x"), ({"t": t, "x": x, "u": u.T}, ["x", "t"]),
                         (dataset, None), (dataset["u"], None), (table.sample(frac=1, random_state=2), "t,x")):  # fmt: skip
        data = kbass.read(source, axes=axes)
        assert data.axes == ["t", "x"] and data.states == ["u"]
        assert (data.values == burgers_data.values).all() and (data.positions == burgers_data.positions).all()


def test_error_bars(frame):
    data = kbass.read(frame.assign(s=0.1), sigma="s")
    assert data.states == ["x", "y"] and (data.sigma == 0.1).all()
    assert np.isnan(kbass.read(frame.assign(s=0.1), sigma={"x": "s"}).sigma[:, 1]).all()


def test_kinds_of_numbers(frame):
    """float32, integers, Fortran order, strides, None, masked by NaN."""
    X = frame[["x", "y"]].to_numpy()
    for cells in (X.astype(np.float32), np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2], (10 * X).astype(int), X > 0):
        data = kbass.read({"t": frame["t"], "x": cells[:, 0], "y": cells[:, 1]})
        assert (data.values == cells.astype(float)).all()
    assert np.isnan(kbass.read({"t": [0, 1], "x": [1, 2], "y": [None, 2.0]}).values[0, 1])
    assert kbass.read({"t": [0, 1], "x": np.array([1 + 0j, 2])}).values[1, 0] == 2


def test_arrays_are_not_copied_here(vdp_data):
    from kbass import _arrays

    X = vdp_data.values
    assert np.shares_memory(_arrays.contiguous(_arrays.numbers(X, "X")), X)


def test_examples_and_systems(tmp_path):
    assert "hare-lynx" in kbass.examples() and {"vdp", "burgers"} <= set(kbass.systems())
    typed = kbass.simulate(["x_t = y", "y_t = -x"], t=[0, np.pi], x0=[1, 0])
    assert typed.values[1] == pytest.approx([-1, 0], abs=1e-8)  # the integrator's tolerance, with room
    kbass.example("hare-lynx").write(tmp_path / "h.csv")
    assert len(kbass.read(tmp_path / "h.csv")) == 21
    wave = kbass.simulate("u_t = 0.1*u_xx", domain="x=0:1, t=0:1", initial="sin(2*pi*x)", grid=(3, 8))
    assert wave.axes == ["t", "x"] and len(wave) == 24
    with pytest.raises(kbass.ArgumentError, match="did you mean"):
        kbass.simulate("vpd", until=3)

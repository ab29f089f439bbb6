"""The denoised solution within the record, and what it leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Tuple, Union

from . import _arrays
from ._arrays import ask_times, contiguous, needs_numpy, pointer
from ._library import Handle, call
from .errors import DataError

if TYPE_CHECKING:
    from .result import Result


@dataclass
class Solution:
    """Arrays are times x states; of fields times x places x fields."""

    t: Any
    x: Any  #: places, of fields over one axis; a list of them over several; else None
    states: List[str]
    mean: Any
    sd: Any

    def to_frame(self) -> Any:
        """A pandas DataFrame of states with their standard deviations."""
        import pandas

        if self.x is not None:
            raise DataError("a solution of fields has no table: its arrays are mean and sd over t and x")
        columns: Dict[str, Any] = {"t": self.t}
        for j, name in enumerate(self.states):
            columns[name], columns[name + "_sd"] = self.mean[:, j], self.sd[:, j]
        return pandas.DataFrame(columns)


# ---------------------------------------------------------------- the result file's own grid


def _numbers(values: List[Optional[float]]) -> Any:
    return _arrays.numbers(values, "solution")


def _written(result: "Result", run: int) -> Solution:
    """Of one run, as the result file has it."""
    document = result.document["solution"]
    if document is None:
        raise DataError("there is no solution: the result has no model (%s)" % result.outcome)
    np = needs_numpy("the solution on the file's grid")
    axes = [np.asarray(document["axes"][name]) for name in result.axes]
    mean, sd = (np.stack([_numbers(document[key][s]) for s in result.states], axis=-1) for key in ("mean", "sd"))
    which = np.asarray(document["run"]) if document["run"] else np.zeros(len(axes[0]), dtype=int)
    if len(axes) == 1:
        return Solution(axes[0][which == run], None, result.states, mean[which == run], sd[which == run])
    if document["run"]:
        raise DataError("the file's grids of several runs of fields are in result['solution']; ask for t and x")
    shape = [len(axis) for axis in axes] + [len(result.states)]
    places = axes[1] if len(axes) == 2 else axes[1:]
    return Solution(axes[0], places, result.states, mean.reshape(shape), sd.reshape(shape))


def _interpolated(result: "Result", t: Any, run: int) -> Solution:
    np = needs_numpy("interpolation")
    if len(result.axes) > 1:
        raise DataError("the solution of a field at other points needs the fit itself: this result was read from a "
                        "file, or pickled; solution() has the file's grid")  # fmt: skip
    written, times = _written(result, run), ask_times(t)[0]
    if len(times) and not (times.min() >= written.t[0] and times.max() <= written.t[-1]):
        raise DataError("t: found times outside of the record, %.10g to %.10g" % (written.t[0], written.t[-1]), field="t")
    mean, sd = (np.stack([np.interp(times, written.t, values[:, j]) for j in range(len(result.states))], axis=1)
                for values in (written.mean, written.sd))  # fmt: skip
    return Solution(times, None, result.states, mean, sd)


# ---------------------------------------------------------------- the fit's own


def _mesh(result: "Result", t: Any, x: Any) -> Tuple[Any, Any, List[int], Any]:
    """Points of the grid: times, positions, its shape, the places as given."""
    np = needs_numpy("a grid")
    n_space = len(result.axes) - 1
    if x is None:
        raise DataError("x is needed: the places along %s" % ", ".join(result.axes[1:]), field="x")
    given = [x] if n_space == 1 else list(x)
    if len(given) != n_space:
        raise DataError("x: found %d arrays, needed %d, one for each axis of space" % (len(given), n_space), field="x")
    axes = [ask_times(t)[0]] + [ask_times(places, name)[0] for places, name in zip(given, result.axes[1:])]
    mesh = [contiguous(g.ravel()) for g in np.meshgrid(*axes, indexing="ij")]
    return mesh[0], contiguous(np.stack(mesh[1:], axis=1)), [len(a) for a in axes], axes[1] if n_space == 1 else axes[1:]


def solution(result: "Result", t: Any, x: Any, run: Union[str, int, None]) -> Solution:
    index = result._run_index(run)
    if t is None:
        return _written(result, index)
    if result._discovery is None:
        return _interpolated(result, t, index)
    k = len(result.states)
    if len(result.axes) == 1:
        times, n = ask_times(t)
        mean, sd = _arrays.room(n, k), _arrays.room(n, k)
        with result._discovery as discovery:
            call("kbass_discovery_solution", discovery, index, n, pointer(times), None, pointer(mean), pointer(sd))
        return Solution(times, None, result.states, _arrays.shaped(mean, n, k), _arrays.shaped(sd, n, k))
    times, positions, shape, places = _mesh(result, t, x)
    mean, sd = _arrays.room(len(times), k), _arrays.room(len(times), k)
    with result._discovery as discovery:
        call("kbass_discovery_solution", discovery, index, len(times), pointer(times), pointer(positions),
             pointer(mean), pointer(sd))  # fmt: skip
    return Solution(ask_times(t)[0], places, result.states, mean.reshape(shape + [k]), sd.reshape(shape + [k]))


def _written_residuals(result: "Result") -> Dict[str, Any]:
    """At the samples that the result file has, with its seven digits: all of them, or every `step`-th of a long record."""
    samples = result.document["samples"]
    if not samples:
        raise DataError("there are no residuals: the result has no model (%s)" % result.outcome)
    found = {name: _numbers(samples["axes"][name]) for name in result.axes}
    for name in samples["measured"]:
        found[name] = _numbers(samples["measured"][name])
        found[name + "_fitted"] = _numbers(samples["fitted"][name])
        found[name + "_residual"] = found[name] - found[name + "_fitted"]
    return found


def residuals(result: "Result") -> Dict[str, Any]:
    np = needs_numpy("residuals")
    if result._discovery is None:
        return _written_residuals(result)
    data = result._data
    assert data is not None and result._discovery is not None
    times, places, values, starts, k = data.times, data.positions, data.values, data.run_starts, len(result.states)
    fitted = np.full(values.shape, np.nan)
    for run, (begin, end) in enumerate(zip(starts, starts[1:])):
        mean, sd = _arrays.room(end - begin, k), _arrays.room(end - begin, k)
        t = contiguous(times[begin:end])
        with result._discovery as discovery:
            if places is None:
                call("kbass_discovery_solution", discovery, run, end - begin, pointer(t), None, pointer(mean),
                     pointer(sd))  # fmt: skip
            else:
                x = contiguous(places[begin:end])
                call("kbass_discovery_solution", discovery, run, end - begin, pointer(t), pointer(x), pointer(mean),
                     pointer(sd))  # fmt: skip
        fitted[begin:end] = mean
    found = {data.axes[0]: times}
    found.update({name: places[:, a] for a, name in enumerate(data.axes[1:])})
    for j, name in enumerate(data.states):
        found[name], found[name + "_fitted"] = values[:, j], fitted[:, j]
        found[name + "_residual"] = values[:, j] - fitted[:, j]
    return found


def law_residuals(result: "Result", t: Any, x: Any, run: Union[str, int, None], fit: Handle) -> Dict[str, Any]:
    index, k = result._run_index(run), len(result.states)
    times, positions, shape = ask_times(t)[0], None, [_arrays.size(ask_times(t)[0])]
    if len(result.axes) > 1:
        times, positions, shape, _ = _mesh(result, t, x)
    n = _arrays.size(times)
    left, right = _arrays.room(n, k), _arrays.room(n, k)
    with fit as discovery:
        call("kbass_discovery_law", discovery, index, n, pointer(times), pointer(positions), pointer(left),
             pointer(right))  # fmt: skip
    if _arrays.numpy() is None:
        return {"lhs": _arrays.shaped(left, n, k), "rhs": _arrays.shaped(right, n, k)}
    lhs, rhs = left.reshape(shape + [k]), right.reshape(shape + [k])
    return {"lhs": lhs, "rhs": rhs, "residual": lhs - rhs}

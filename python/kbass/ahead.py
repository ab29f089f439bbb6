"""What follows from a law: its integration, forecasts with bands, where to measure next."""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Sequence, Union

from . import _arrays
from ._arrays import ask_times, contiguous, even, needs_numpy, numbers, pointer
from ._library import Handle, call, create, encode, kbass_forecast_options, kbass_model_options, lib, names, text, texts
from ._run import Run
from .data import Data, create_table, read
from .errors import ArgumentError, DataError
from .inputs import input_rows, input_table

if TYPE_CHECKING:
    from .result import Result

# ---------------------------------------------------------------- the law as a model


class Model:
    """Equations that can be evaluated and integrated. States without an equation are inputs: they follow what they are
    given, along straight lines."""

    def __init__(self, equations: List[str], inputs: Sequence[str] = ()) -> None:
        self.inputs = list(inputs)
        lines = list(equations)
        for name in self.inputs:
            lines += ["%s_t = %s_slope__" % (name, name), "%s_slope___t = 0" % name]
        self._handle = create("model", "kbass_model_parse", len(lines), texts(lines), None)
        n = lib.kbass_model_states(self._handle)
        self.order = [text(lib.kbass_model_state_name(self._handle, j)) for j in range(n)]
        self.states = self.order[: len(equations)]

    def rates(self, states: Any, inputs: Any = None, times: Any = None) -> Any:
        """The right-hand sides at rows of states."""
        np = needs_numpy("the right-hand sides")
        n, k = len(states), len(self.states)
        rows, found = np.zeros((n, len(self.order))), np.zeros((n, len(self.order)))
        rows[:, :k] = states
        for j in range(len(self.inputs)):
            rows[:, k + 2 * j] = inputs[:, j]
        t = None if times is None else contiguous(times)
        call("kbass_model_rates", self._handle, n, pointer(t), pointer(rows), pointer(found))
        return found[:, :k]

    def integrate(self, x0: Any, times: Any, inputs: Any = None) -> Any:
        """From x0 at the first time through the others; inputs: times x inputs."""
        n, k, width = _arrays.size(times), len(self.states), len(self.order)
        if not self.inputs:
            found = _arrays.room(n, k)
            call("kbass_model_integrate", self._handle, times[0], pointer(contiguous(x0)), n, pointer(times),
                 pointer(found))  # fmt: skip
            return _arrays.shaped(found, n, k)
        np = needs_numpy("integration with inputs")
        found = np.zeros((n, k))
        found[0] = x0
        row, out = np.zeros(width), np.zeros((1, width))
        row[:k] = x0
        for i in range(1, n):
            slopes = (inputs[i] - inputs[i - 1]) / (times[i] - times[i - 1])
            row[k::2], row[k + 1 :: 2] = inputs[i - 1], slopes
            call("kbass_model_integrate", self._handle, times[i - 1], pointer(row), 1, pointer(times[i : i + 1]),
                 pointer(out))  # fmt: skip
            row[:k] = out[0, :k]
            found[i] = out[0, :k]
        return found


def _with_time(term: str, name: str) -> str:
    """Models call time t."""
    return term if name == "t" else re.sub(r"\b%s\b" % re.escape(name), "t", term)


def write_equation(lhs: str, weights: Sequence[float], terms: Sequence[str], time: str) -> str:
    """With all digits."""
    parts = ["(%r)*(%s)" % (weight, _with_time(term, time)) for weight, term in zip(weights, terms)]
    return "%s = %s" % (lhs, " + ".join(parts) or "0")


def law(result: "Result") -> Model:
    """The chosen equations."""
    if not result.equations:
        raise DataError("there is no model: the result has no equations (%s)" % result.outcome)
    if len(result.axes) > 1:
        raise DataError("this is for states over time; the result is of fields over %s" % ", ".join(result.axes))
    lines = [write_equation(e.lhs, [t.weight for t in e.selected], [t.term for t in e.selected], result.axes[0])
             for e in result.equations]  # fmt: skip
    inputs = [name for name in result.states if name not in [e.state for e in result.equations]]
    return Model(lines, inputs)


# ---------------------------------------------------------------- integration


def _start(result: "Result", run: Union[str, int, None]) -> Any:
    initial = result.document["runs"][result._run_index(run)]["initial"] or {}
    try:
        return [float(initial[equation.state]) for equation in result.equations]
    except (KeyError, TypeError):
        raise DataError("x0 is needed: the result has no initial state") from None


def rows_of_inputs(model: Model, u: Any, times: Any) -> Any:
    """Inputs at the times, from an array or a function of time."""
    if not model.inputs:
        if u is not None:
            raise ArgumentError("u: the law has no inputs", field="u")
        return None
    if u is None:
        raise ArgumentError("u is needed: the input%s %s at the times" % ("s" if len(model.inputs) > 1 else "",
                                                                       ", ".join(model.inputs)), field="u")  # fmt: skip
    return input_rows(model.inputs, u, times)


class Driven:
    """The law with its known inputs as the library has them: as curves, held or late as they were fitted."""

    def __init__(self, result: "Result", inputs: Optional[Data]) -> None:
        self._handle = create("model", "kbass_model_from_result", result._json.encode())
        if inputs is not None:
            call("kbass_model_set_inputs", self._handle, inputs._handle, 0, field="u")
        n = lib.kbass_model_states(self._handle)
        self.states = [text(lib.kbass_model_state_name(self._handle, j)) for j in range(n)]

    def rates(self, states: Any, times: Any) -> Any:
        found = _arrays.room(len(states), len(self.states))
        call("kbass_model_rates", self._handle, len(states), pointer(contiguous(times)), pointer(contiguous(states)),
             pointer(found))  # fmt: skip
        return found

    def integrate(self, x0: Any, times: Any) -> Any:
        n, k = _arrays.size(times), len(self.states)
        found = _arrays.room(n, k)
        call("kbass_model_integrate", self._handle, times[0], pointer(contiguous(x0)), n, pointer(times),
             pointer(found))  # fmt: skip
        return _arrays.shaped(found, n, k)


def _simulate_states(result: "Result", x0: Any, t: Any, u: Any, input_data: Any, run: Union[str, int, None]) -> Any:
    model = law(result)
    start = _start(result, run) if x0 is None else x0
    span = result.document["runs"][result._run_index(run)]
    times, n = ask_times(even(span["first_time"], span["last_time"], 101) if t is None else t)
    state, k = ask_times(start, "x0")
    if k != len(model.states):
        raise DataError("x0: found %d numbers, needed %d (%s)" % (k, len(model.states), ", ".join(model.states)),
                        field="x0")  # fmt: skip
    if n == 0:
        raise DataError("t: found no times", field="t")
    if result.inputs and sorted(result.inputs) == sorted(model.inputs):
        return Driven(result, input_table(result, u, input_data, times)).integrate(state, times)
    if input_data is not None:
        raise ArgumentError("input_data: the law has no inputs", field="input_data")
    return model.integrate(state, times, rows_of_inputs(model, u, times))


def _simulate_fields(result: "Result", t: Any, x: Any) -> Any:
    np = needs_numpy("the solution of a field")
    pde = create("model", "kbass_model_from_result", result._json.encode())
    span = result.document["data"]["span"]
    given = [t] + ([] if x is None else list(x) if len(result.axes) > 2 else [x])
    axes = []
    for i, name in enumerate(result.axes):
        wanted = given[i] if i < len(given) else None
        axes.append(np.linspace(*span[name], 60) if wanted is None else ask_times(wanted, name)[0])
    points = contiguous(np.stack([g.ravel() for g in np.meshgrid(*axes, indexing="ij")], axis=1))
    values = _arrays.room(len(points), lib.kbass_model_states(pde))
    call("kbass_model_sample", pde, len(points), pointer(points), pointer(values))
    return values.reshape([len(axis) for axis in axes] + [-1])


def simulate_result(result: "Result", x0: Any, t: Any, u: Any, x: Any, run: Union[str, int, None],
                    input_data: Any) -> Any:  # fmt: skip
    if len(result.axes) == 1:
        return _simulate_states(result, x0, t, u, input_data, run)
    if u is not None or input_data is not None:
        raise ArgumentError("u: the law has no inputs", field="u")
    if x0 is not None:
        raise ArgumentError("x0: a field goes on from its fitted profile; kbass.simulate(equations, domain=..., "
                            "initial=...) takes another", field="x0")  # fmt: skip
    return _simulate_fields(result, t, x)


# ---------------------------------------------------------------- forecasts


@dataclass
class Forecast:
    """Draws of the future and what they say. Arrays are times x states, of fields times x places x fields."""

    t: Any
    x: Any  #: places, of fields; else None
    states: List[str]
    mean: Any
    percents: List[float]
    quantiles: Any  #: percents first
    draws: Any  #: draws first; NaN from where one diverges
    reached: Any  #: how many draws reach each time
    lost: int  #: how many diverge

    def __repr__(self) -> str:
        return "<kbass.Forecast: %d times from %.6g to %.6g, %s, %d draws%s>" % (
            len(self.t), self.t[0], self.t[-1], ", ".join(self.states), len(self.draws),
            ", of which %d diverge" % self.lost if self.lost else "")  # fmt: skip

    def quantile(self, percent: float) -> Any:
        """Of the draws that reach each time."""
        return self.quantiles[self.percents.index(percent)]

    def to_frame(self) -> Any:
        """A pandas DataFrame of states with mean and quantiles."""
        import pandas

        if self.x is not None:
            raise DataError("a forecast of fields has no table: its arrays are mean, quantiles and draws")
        columns: Dict[str, Any] = {"t": self.t}
        for j, name in enumerate(self.states):
            columns[name] = self.mean[:, j]
            columns.update({"%s_%g" % (name, p): self.quantiles[i][:, j] for i, p in enumerate(self.percents)})
        return pandas.DataFrame(columns)


def _far(posterior: Handle, axis: int) -> Any:
    first, last = ctypes.c_double(), ctypes.c_double()
    lib.kbass_posterior_range(posterior, axis, ctypes.byref(first), ctypes.byref(last))
    return first.value, last.value


def _forecast_times(posterior: Handle, t: Any, until: Optional[float], samples: int, name: str) -> Any:
    last = _far(posterior, 0)[1]
    if (t is None) == (until is None):
        raise ArgumentError("forecast needs either t, the times, or until=, the last; the record ends at %s = %.10g"
                            % (name, last), field="t")  # fmt: skip
    if t is not None:
        return ask_times(t)[0]
    if not float(until or 0) > last:
        raise ArgumentError("until: found %.10g, needed more than %.10g, where the record ends" % (until or 0, last),
                            field="until")  # fmt: skip
    return even(last, float(until or 0), samples)


def _states(posterior: Handle) -> List[str]:
    """Those that have an equation: inputs are not among them."""
    return [text(lib.kbass_posterior_state_name(posterior, j)) for j in range(lib.kbass_posterior_states(posterior))]


def _driven(result: "Result", posterior: Handle, run: Union[str, int, None], u: Any, input_data: Any,
            times: Any) -> Handle:  # fmt: skip
    """The posterior with other inputs after the record; that of the result stays as it is."""
    end = _far(posterior, 0)[1]
    at = times
    if callable(u) and _arrays.size(times):
        at = even(min(end, float(times[0])), float(times[-1]), _arrays.size(times) + 1)
    table = input_table(result, u, input_data, at)
    if table is None:
        return posterior
    own = result._read_posterior(run)
    call("kbass_posterior_set_inputs", own, table._handle, 0, field="u" if u is not None else "input_data")
    return own


def _summary(handle: Handle, percents: List[float], shape: List[int]) -> Any:
    shares = contiguous(numbers([p / 100 for p in percents], "quantiles"))
    mean, quantiles = _arrays.room(*shape), _arrays.room(len(percents), *shape)
    reached = (ctypes.c_size_t * shape[0])()
    call("kbass_forecast_summary", handle, len(percents), pointer(shares), pointer(mean), pointer(quantiles), reached)
    return (_arrays.shaped(mean, *shape), _arrays.shaped(quantiles, len(percents), *shape),
            _arrays.numbers(list(reached), "reached"))  # fmt: skip


def forecast(result: "Result", t: Any, draws: int, until: Optional[float], samples: int, quantiles: Any, seed: int,
             average: bool, state: Any, boundary: Optional[str], places: Any, run: Union[str, int, None],
             threads: Optional[int], time_limit: Optional[float], progress: Optional[bool], u: Any,
             input_data: Any) -> Forecast:  # fmt: skip
    posterior = result._posterior(run)
    times = _forecast_times(posterior, t, until, samples, result.axes[0])
    posterior = _driven(result, posterior, run, u, input_data, times)
    has_space = len(result.axes) > 1
    if has_space and (places is None or isinstance(places, int)):
        first, last = _far(posterior, 1)
        places = even(first, last, places or 100)
    where = ask_times(places, "places")[0] if places is not None else None
    start = None if state is None else ask_times(state, "state")[0]
    k = lib.kbass_posterior_states(posterior)
    if start is not None and _arrays.size(start) != k:
        raise DataError("state: found %d numbers, needed %d" % (_arrays.size(start), k), field="state")
    percents = [float(p) for p in quantiles]
    if any(not 0 <= p <= 100 for p in percents):
        raise ArgumentError("quantiles: found %s, needed percents from 0 to 100" % percents, field="quantiles")
    if draws < 1:
        raise ArgumentError("draws: found %d, needed 1 or more" % draws, field="draws")

    def work(tick: Any) -> Handle:
        options = kbass_forecast_options(0, draws, seed, threads or 0, int(average), pointer(start),
                                         _arrays.optional(boundary), time_limit or 0, tick, None)  # fmt: skip
        return create("forecast", "kbass_posterior_forecast", posterior, ctypes.byref(options), _arrays.size(times),
                      pointer(times), 0 if where is None else _arrays.size(where), pointer(where))  # fmt: skip

    handle = Run(progress, raises=True)(work)
    shape = [_arrays.size(times)] + ([] if where is None else [_arrays.size(where)]) + [k]
    n = lib.kbass_forecast_draws(handle)
    all_draws = [_arrays.copied(lib.kbass_forecast_values(handle, i), *shape) for i in range(n)]
    np = _arrays.numpy()
    mean, bands, reached = _summary(handle, percents, shape)
    return Forecast(times, where, _states(posterior), mean, percents, bands,
                    np.stack(all_draws) if np is not None else all_draws, reached,
                    lib.kbass_forecast_lost(handle, None, None))  # fmt: skip


# ---------------------------------------------------------------- where to measure next


@dataclass(frozen=True)
class Point:
    """A place for one more sample, and what it would tell, in nats."""

    state: str
    t: float
    x: Optional[float]
    about_models: float
    about_weights: float


class Points(List[Point]):
    """The best places for one more sample; ``t``, ``x``, ``about_models`` and ``about_weights`` are the whole map."""

    t: Any
    x: Any
    about_models: Any
    about_weights: Any

    def to_frame(self) -> Any:
        import pandas

        return pandas.DataFrame([vars(point) for point in self])


APART = 0.05  # of the range: points that are listed are not neighbours


def following(result: "Result", best: int, until: Optional[float], samples: Optional[int], places: int,
              run: Union[str, int, None], u: Any, input_data: Any) -> Points:  # fmt: skip
    np = needs_numpy("the search for the next sample")
    posterior = result._posterior(run)
    has_space = lib.kbass_posterior_axes(posterior) > 1
    ends = [_far(posterior, a) for a in range(2 if has_space else 1)]
    if until is not None:
        ends[0] = (ends[0][0], float(until))
    t = even(ends[0][0], ends[0][1], samples or (31 if has_space else 101))
    posterior = _driven(result, posterior, run, u, input_data, t)
    x = even(ends[1][0], ends[1][1], places) if has_space else None
    times = contiguous(np.repeat(t, len(x)) if x is not None else t)
    spots = contiguous(np.tile(x, len(t))) if x is not None else None
    n, k = len(times), lib.kbass_posterior_states(posterior)
    models, weights = _arrays.room(n, k), _arrays.room(n, k)
    call("kbass_posterior_gain", posterior, n, pointer(times), pointer(spots), pointer(models), pointer(weights))
    gains = models if lib.kbass_posterior_models(posterior) > 1 else weights
    found, states = Points(), _states(posterior)
    scaled = [(times - ends[0][0]) / (ends[0][1] - ends[0][0])]
    if spots is not None:
        scaled.append((spots - ends[1][0]) / (ends[1][1] - ends[1][0]))
    kept: List[Any] = []
    for index in np.argsort(-np.nan_to_num(gains.ravel(), nan=-1), kind="stable"):
        i, j = divmod(int(index), k)
        if len(found) == best or not gains[i, j] > 0:
            break
        if any(j == b and all(abs(s[i] - s[a]) < APART for s in scaled) for a, b in kept):
            continue
        kept.append((i, j))
        found.append(Point(states[j], float(times[i]), None if spots is None else float(spots[i]),
                           float(models[i, j]), float(weights[i, j])))  # fmt: skip
    shape = (len(t), len(x), k) if x is not None else (len(t), k)
    found.t, found.x = t, x
    found.about_models, found.about_weights = models.reshape(shape), weights.reshape(shape)
    return found


# ---------------------------------------------------------------- data to try things on


def systems() -> Dict[str, str]:
    """The systems that :func:`kbass.simulate` knows by name, and what they are.

    >>> "vdp" in kbass.systems()
    True
    """
    return names("kbass_model")


def _lines(system: Any) -> List[str]:
    parts = [part.strip() for line in ([system] if isinstance(system, str) else system) for part in line.split(";")]
    return [part for part in parts if part]


def _model(system: Any, domain: Optional[str], initial: Optional[str], boundary: Optional[str], input_data: Any,
           input_hold: bool) -> Handle:  # fmt: skip
    """A named system, or typed equations; the columns of the input table that have no equation drive these."""
    is_named = isinstance(system, str) and "=" not in system
    if is_named and input_data is not None:
        raise ArgumentError("input_data: the system %s has no inputs" % system, field="input_data")
    if is_named and domain is None:
        return create("model", "kbass_model_named", encode(system), field="system")
    table = None if input_data is None else input_data if isinstance(input_data, Data) else read(input_data)
    options = kbass_model_options(ctypes.sizeof(kbass_model_options), None if table is None else table._handle.pointer,
                                  int(input_hold), _arrays.optional(domain), _arrays.optional(initial),
                                  _arrays.optional(boundary))  # fmt: skip
    lines = _lines(system)
    return create("model", "kbass_model_parse", len(lines), texts(lines), ctypes.byref(options), field="system")


def _sample_states(model: Handle, t: Any, x0: Any, until: Optional[float], samples: int) -> Data:
    k = lib.kbass_model_states(model)
    span = lib.kbass_model_axis(model, 0).contents
    begin = 0.0 if span.first != span.first else span.first
    end = span.last if until is None else float(until)
    if t is None and end != end:
        raise ArgumentError("t or until= is needed: the times, or the last", field="t")
    times = ask_times(even(begin, end, samples) if t is None else t)[0]
    own = lib.kbass_model_initial(model)
    if x0 is None and not own:
        raise ArgumentError("x0 is needed: the state at the first time", field="x0")
    start = _arrays.numbers(own[:k] if x0 is None else x0, "x0")
    if _arrays.size(start) != k:
        raise DataError("x0: found %d numbers, needed %d" % (_arrays.size(start), k), field="x0")
    states = _arrays.room(_arrays.size(times), k)
    start = contiguous(start)
    call("kbass_model_integrate", model, min(begin, float(times[0])) if t is None or x0 is None else float(times[0]),
         pointer(start), _arrays.size(times), pointer(times), pointer(states))  # fmt: skip
    state_names = [text(lib.kbass_model_state_name(model, j)) for j in range(k)]
    return create_table(["t"], state_names, times, None, states)


def _sample_fields(model: Handle, grid: Any, scattered: Optional[int], within: Any, seed: int) -> Data:
    from ._settings import write

    if within is not None:
        call("kbass_model_within", model, encode(write("within", within)), field="within")
    if scattered is not None:
        return Data(create("data", "kbass_model_scattered", model, int(scattered), int(seed)))
    counts = None
    if grid is not None:
        n_axes = lib.kbass_model_axes(model)
        if len(grid) != n_axes:
            raise ArgumentError("grid: found %d numbers, needed %d, time first" % (len(grid), n_axes), field="grid")
        counts = (ctypes.c_size_t * n_axes)(*[int(n) for n in grid])
    return Data(create("data", "kbass_model_grid", model, counts))


def simulate(system: Union[str, Sequence[str]], t: Any = None, x0: Any = None, *, until: Optional[float] = None,
             samples: int = 100, noise: float = 0, seed: int = 1, domain: Optional[str] = None,
             initial: Optional[str] = None, boundary: Optional[str] = None, grid: Any = None,
             scattered: Optional[int] = None, within: Any = None, input_data: Any = None,
             input_hold: bool = False) -> Data:  # fmt: skip
    """Samples of a system: one of :func:`kbass.systems`, or equations as text, such as ``["x_t = y", "y_t = -x"]``, with
    `noise` in percent of each state's standard deviation. Partial differential equations take `domain` ("x=0:10,
    t=0:8"), `initial`, `boundary`, and are sampled on a `grid` (time first) or at so many `scattered` points.
    `input_data` has known functions of time that the equations name, as a table; `input_hold` lets them jump.

    >>> kbass.simulate("vdp", until=8, samples=25, noise=1).states
    ['x', 'y']
    >>> len(kbass.simulate("burgers", grid=(5, 6)))
    30
    """
    model = _model(system, domain, initial, boundary, input_data, input_hold)
    if lib.kbass_model_axes(model) > 1:
        data = _sample_fields(model, grid, scattered, within, seed)
    else:
        data = _sample_states(model, t, x0, until, samples)
    return data.add_noise(noise, seed) if noise else data


Callback = Callable[[Any], Any]

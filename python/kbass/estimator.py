"""kbass.KBASS: the same in the manner of scikit-learn and PySINDy."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import _arrays, _settings
from ._arrays import needs_numpy, numbers
from ._settings import refuse_foreign
from .ahead import Driven, Model, law, rows_of_inputs
from .data import Data, is_path, _kind, create_table, frame_columns, from_arrays, join, read
from .discovery import run_discovery
from .doctor import smooth
from .errors import ArgumentError, DataError, NotFittedError, NumericalError
from .inputs import input_table
from .result import Equations, Result

OWN = ("feature_names", "progress", "callback")


# ---------------------------------------------------------------- from X and t to data


def _is_list_of_runs(X: Any) -> bool:
    if not isinstance(X, (list, tuple)) or not X:
        return False
    first = X[0]
    return bool(getattr(first, "ndim", 0) == 2 or _kind(first) or is_path(first) or isinstance(first, (Mapping, Data))
                or (isinstance(first, (list, tuple)) and first and isinstance(first[0], (list, tuple))))  # fmt: skip


def _matrix(X: Any, what: str) -> Any:
    rows = numbers(X, what)
    if rows.ndim == 1:
        rows = rows.reshape(-1, 1)
    if rows.ndim != 2:
        raise DataError("%s: found %d dimensions, needed rows x columns (fields need x= or axes=)" % (what, rows.ndim),
                        field=what)  # fmt: skip
    return rows


def _times(t: Any, n: int) -> Any:
    np = needs_numpy("t")
    if t is None:
        raise ArgumentError("t is needed: the times of the rows, or one number between two of them", field="t")
    if np.ndim(t) == 0:
        step = float(numbers([t], "t")[0])
        if not (np.isfinite(step) and step > 0):
            raise ArgumentError("t: found %g, needed a step above 0, or the times" % step, field="t")
        with np.errstate(over="ignore"):  # what is not finite is told below
            return step * np.arange(n)
    return numbers(t, "t")


class _Record:
    """One run as arrays: rows x states, times, rows x inputs."""

    def __init__(self, X: Any, t: Any, u: Any, time: Optional[str]) -> None:
        self.names: Optional[List[str]] = None
        self.input_names: Optional[List[str]] = None
        if isinstance(X, Data):
            self.values, self.times, self.names = X.values, X.times, X.states
        elif _kind(X) == "DataFrame":
            columns = frame_columns(X, time)
            if t is None or isinstance(t, str):
                name = t or time or next((c for c in ("t", "time") if c in columns), None)
                if name is None or name not in columns:
                    raise DataError("t is needed: the times, or the name of their column among %s" % ", ".join(columns),
                                    field="t")  # fmt: skip
                self.times = numbers(columns.pop(name), "t")
            else:
                columns = {str(c): X[c].to_numpy() for c in X.columns}
                self.times = _times(t.to_numpy() if _kind(t) else t, len(X))
            self.names = list(columns)
            self.values = _arrays.table([numbers(c, 'column "%s"' % n) for n, c in columns.items()], len(X))
        else:
            self.values = _matrix(X, "X")
            self.times = _times(t.to_numpy() if _kind(t) else t, len(self.values))
        self.inputs = None
        if u is not None:
            if _kind(u) == "DataFrame":
                self.input_names = [str(c) for c in u.columns]
            rows = numbers([u(float(s)) for s in self.times] if callable(u) else u, "u")
            self.inputs = _matrix(rows, "u")
            if len(self.inputs) != len(self.values):
                raise DataError("u has %d rows, X %d: needed one for each" % (len(self.inputs), len(self.values)), field="u")

    def data(self, names: Sequence[str], input_names: Sequence[str]) -> Data:
        np = needs_numpy("X")
        cells = self.values if self.inputs is None else np.hstack([self.values, self.inputs])
        return from_arrays(cells, self.times, list(names) + list(input_names))


def _records(X: Any, t: Any, u: Any, time: Optional[str]) -> List[_Record]:
    if not _is_list_of_runs(X):
        return [_Record(X, t, u, time)]
    n = len(X)

    def part(values: Any, what: str) -> List[Any]:
        if values is None or callable(values) or not hasattr(values, "__len__") or isinstance(values, str):
            return [values] * n
        if len(values) != n:
            same = what == "t" and n and all(len(values) == len(run) for run in X)
            if same:
                return [values] * n
            raise DataError("%s: found %d, X has %d runs" % (what, len(values), n), field=what)
        if what == "t" and all(not hasattr(v, "__len__") for v in values) and all(len(run) == n for run in X):
            return [values] * n
        return list(values)

    return [_Record(*run, time) for run in zip(X, part(t, "t"), part(u, "u"))]


def _grid(fields: Any, t: Any, x: Any, names: Optional[Sequence[str]]) -> Data:
    """Fields on a grid (times x places, or x fields last), or scattered rows when t and x have a row each."""
    np = needs_numpy("fields")
    u, times = numbers(fields, "X"), numbers(t, "t")
    axes = [numbers(a, "x") for a in (x if isinstance(x, (list, tuple)) and np.ndim(x[0]) else [x])]
    letters = "xyz"[: len(axes)]
    if u.shape[0] == times.size and all(a.size == times.size for a in axes) and u.ndim <= 2 and (
            u.ndim == 1 or u.shape[1] != axes[0].size):  # fmt: skip
        rows, places, stamps = u.reshape(times.size, -1), np.stack([a.ravel() for a in axes], axis=1), times.ravel()
    else:
        lengths = (times.size,) + tuple(a.size for a in axes)
        if u.shape[: len(lengths)] != lengths or u.ndim > len(lengths) + 1:
            raise DataError("X has the shape %s, needed %s: times x places" % (u.shape, "x".join(map(str, lengths))),
                            field="X")  # fmt: skip
        rows = u.reshape(int(np.prod(lengths)), -1)
        mesh = [g.ravel() for g in np.meshgrid(times, *axes, indexing="ij")]
        stamps, places = mesh[0], np.stack(mesh[1:], axis=1)
    n_fields = rows.shape[1]
    usual = ["u"] if n_fields == 1 else ["u%d" % (j + 1) for j in range(n_fields)]
    return create_table(["t"] + list(letters), list(names or usual), _arrays.contiguous(stamps),
                        _arrays.contiguous(places), _arrays.contiguous(rows))  # fmt: skip


# ---------------------------------------------------------------- the estimator


class KBASS:
    """An estimator: ``KBASS(degree=3).fit(X, t)``. Its parameters are the settings, ``feature_names``, ``progress`` and
    ``callback``.

    >>> import numpy as np
    >>> t = np.linspace(0, 6, 40)
    >>> X = np.stack([np.cos(t), -np.sin(t)], axis=1)
    >>> model = kbass.KBASS(degree=1, threads=1).fit(X, t)
    >>> model.get_feature_names()
    ['x0', 'x1']
    >>> np.round(model.coefficients(), 3).tolist()
    [[0.0, 1.0], [-1.0, 0.0]]
    >>> model.complexity
    2
    """

    _estimator_type = "regressor"

    def __init__(self, **parameters: Any) -> None:
        refuse_foreign(parameters)
        _settings.check_names(parameters, self._get_param_names())
        for name in self._get_param_names():
            setattr(self, name, parameters.get(name))

    # ------------------------------------------------------------ scikit-learn's side

    @classmethod
    def _get_param_names(cls) -> List[str]:
        return sorted(list(_settings.settings()) + list(OWN))

    def get_params(self, deep: bool = True) -> Dict[str, Any]:
        """The parameters as given; None: the library chooses."""
        return {name: getattr(self, name, None) for name in self._get_param_names()}

    def set_params(self, **parameters: Any) -> "KBASS":
        refuse_foreign(parameters)
        _settings.check_names(parameters, self._get_param_names())
        for name, value in parameters.items():
            setattr(self, name, value)
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, RegressorTags, Tags, TargetTags  # 1.6 and later

        return Tags(estimator_type="regressor", target_tags=TargetTags(required=True), transformer_tags=None,
                    classifier_tags=None, regressor_tags=RegressorTags(),
                    input_tags=InputTags(two_d_array=True, allow_nan=True))  # fmt: skip

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "result_")

    def __repr__(self) -> str:
        given = ", ".join("%s=%r" % item for item in self.get_params().items() if item[1] is not None)
        return "KBASS(%s)" % given

    def __getstate__(self) -> Dict[str, Any]:
        state = dict(self.__dict__)
        state["callback"] = None  # a function of this process
        return state

    # ------------------------------------------------------------ fitting

    def _settings(self) -> Dict[str, Any]:
        return {n: v for n, v in self.get_params().items() if n not in OWN and v is not None}

    def _names(self, records: List[_Record], feature_names: Optional[Sequence[str]]) -> Tuple[List[str], List[str]]:
        first = records[0]
        n, m = first.values.shape[1], 0 if first.inputs is None else first.inputs.shape[1]
        given = feature_names if feature_names is not None else getattr(self, "feature_names", None)
        names = list(given) if given is not None else first.names or ["x%d" % j for j in range(n)]
        if len(names) == n + m and m:
            return names[:n], names[n:]
        if len(names) != n:
            raise ArgumentError("feature_names: found %d names, X has %d columns" % (len(names), n), field="feature_names")
        for record in records:
            if record.values.shape[1] != n:
                raise DataError("X: found runs of %d and %d columns" % (n, record.values.shape[1]), field="X")
        return names, first.input_names or ["u%d" % j for j in range(m)]

    def _table(self, X: Any, t: Any, u: Any, feature_names: Optional[Sequence[str]],
               reading: Dict[str, Any]) -> Tuple[Data, Dict[str, Any]]:  # fmt: skip
        records = _records(X, t, u, reading.get("time"))
        names, input_names = self._names(records, feature_names)
        parts = [record.data(names, input_names) for record in records]
        keywords = self._settings()
        if input_names and not keywords.get("input"):
            keywords["input"] = ", ".join(input_names)
        return parts[0] if len(parts) == 1 and not _is_list_of_runs(X) else join(parts), keywords

    def fit(self, X: Any, t: Any = None, u: Any = None, *, x: Any = None,
            feature_names: Optional[Sequence[str]] = None, **reading: Any) -> "KBASS":  # fmt: skip
        """Fits rows `X` measured at times `t` (or every `t`, a number), with inputs `u`; lists of them are runs. Fields
        take the places `x`. Paths, DataFrames with a column of time, Datasets and so on are read as
        :func:`kbass.discover` does, with its `time`, `axes`, `run`, `sigma`, `within`, `every`.

        After Ctrl-C it raises KeyboardInterrupt, so that a search over many fits can be stopped."""
        refuse_foreign(reading)
        _settings.check_names(reading, list(_settings.READING))
        keywords = self._settings()
        if x is not None:
            data = _grid(X, t, x, feature_names or getattr(self, "feature_names", None))
        elif t is None and u is None and (is_path(X) or not hasattr(X, "dtype")) and not (
                _kind(X) == "DataFrame" and feature_names):  # fmt: skip
            data = read(X, **reading)
        else:
            data, keywords = self._table(X, t, u, feature_names, reading)
        progress = getattr(self, "progress", None)
        self.result_: Result = run_discovery(data, keywords, progress=False if progress is None else progress,
                                             callback=getattr(self, "callback", None), raises=True)  # fmt: skip
        self.n_features_in_ = len(self.result_.states) - len(self.result_.inputs)
        return self

    # ------------------------------------------------------------ what was found

    @property
    def result(self) -> Result:
        """The :class:`kbass.Result` of the fit."""
        if not hasattr(self, "result_"):
            raise NotFittedError("this KBASS is not fitted yet: call fit first")
        return self.result_

    @property
    def equations_(self) -> Equations:
        return self.result.equations

    def equations(self) -> List[str]:
        """The right-hand sides as text, as PySINDy has them."""
        from ._show import _sum

        return [_sum(equation.selected) for equation in self.result.equations]

    def print(self) -> None:
        """Prints the equations."""
        for equation, right in zip(self.result.equations, self.equations()):
            print("%s = %s" % (equation.lhs, right))

    def get_feature_names(self) -> List[str]:
        """The candidate terms, in the order of :meth:`coefficients`."""
        return self.result.candidates

    def coefficients(self) -> Any:
        """Weights of the chosen model: equations x candidate terms, 0 where a term is out."""
        np = needs_numpy("coefficients")
        names = self.get_feature_names()
        found = np.zeros((len(self.result.equations), len(names)))
        for i, equation in enumerate(self.result.equations):
            for term in equation.selected:
                found[i, names.index(term.term)] = term.weight
        return found

    @property
    def complexity(self) -> int:
        """How many terms the equations have."""
        return sum(len(equation.selected) for equation in self.result.equations)

    # ------------------------------------------------------------ on other data

    def predict(self, X: Any, u: Any = None, t: Any = None) -> Any:
        """dX/dt at the rows of X, by the equations (of lists: for each run); `t` where they depend on time."""
        if _is_list_of_runs(X):
            us = u if isinstance(u, (list, tuple)) else [u] * len(X)
            ts = t if isinstance(t, (list, tuple)) else [t] * len(X)
            return [self.predict(run, *more) for run, *more in zip(X, us, ts)]
        model = law(self.result)
        rows = self._rows(X, model.states)
        times = None if t is None else _times(t, len(rows))
        inputs = rows_of_inputs(model, u, list(range(len(rows))) if times is None else times)
        return self._rates(model, rows, inputs, times)

    def _rates(self, model: Model, states: Any, inputs: Any, times: Any) -> Any:
        """Inputs that act late are known from what they were before."""
        if not self.result.document["settings"].get("input-delay"):
            return model.rates(states, inputs, times)
        if times is None:
            raise DataError("t is needed: the inputs act late", field="t")
        return Driven(self.result, input_table(self.result, inputs, None, times)).rates(states, times)

    def _rows(self, X: Any, states: Sequence[str]) -> Any:
        if _kind(X) == "DataFrame":
            missing = [name for name in states if name not in X.columns]
            if missing:
                raise DataError('X: found no column "%s"' % missing[0], field="X")
            return _arrays.table([numbers(X[name].to_numpy(), name) for name in states], len(X))
        rows = _matrix(X, "X")
        if rows.shape[1] != len(states):
            raise DataError("X: found %d columns, needed %d (%s)" % (rows.shape[1], len(states), ", ".join(states)),
                            field="X")  # fmt: skip
        return rows

    def _new(self, X: Any, t: Any, u: Any) -> List[Tuple[Any, Any, Any]]:
        """States, times and inputs of each run of new data, by the fit's own columns."""
        model = law(self.result)
        found = []
        for record in _records(X, t, u, None):
            values, inputs = record.values, record.inputs
            if record.names and set(model.states) <= set(record.names):
                order = [record.names.index(name) for name in model.states]
                if inputs is None and model.inputs and set(model.inputs) <= set(record.names):
                    inputs = values[:, [record.names.index(name) for name in model.inputs]]
                values = values[:, order]
            found.append((self._rows(values, model.states), record.times, inputs))
        return found

    def score(self, X: Any, t: Any = None, u: Any = None) -> float:
        """R^2 of :meth:`predict` against the derivatives of the smoothed data, over all states."""
        np = needs_numpy("score")
        measured, predicted = [], []
        model = law(self.result)
        for values, times, inputs in self._new(X, t, u):
            states, slopes = _smoothed(values, times, model.states)
            measured.append(slopes)
            predicted.append(self._rates(model, states, inputs, times))
        return _r_squared(np.concatenate(measured), np.concatenate(predicted))

    def holdout_score(self, X: Any, t: Any = None, u: Any = None) -> float:
        """R^2 of new data against the equations integrated from the first of them: 1 at best, -inf when they diverge."""
        np = needs_numpy("holdout_score")
        measured, predicted = [], []
        model = law(self.result)
        for values, times, inputs in self._new(X, t, u):
            start = _smoothed(values, times, model.states)[0][0]
            rows = rows_of_inputs(model, inputs, times)
            try:
                predicted.append(self.result.simulate(start, _arrays.contiguous(times), rows))
            except NumericalError:
                return float("-inf")
            measured.append(values)
        return _r_squared(np.concatenate(measured), np.concatenate(predicted))

    def simulate(self, x0: Any = None, t: Any = None, u: Any = None, **options: Any) -> Any:
        """As :meth:`kbass.Result.simulate`."""
        return self.result.simulate(x0, t, u, **options)

    def forecast(self, t: Any = None, draws: int = 200, **options: Any) -> Any:
        """As :meth:`kbass.Result.forecast`."""
        return self.result.forecast(t, draws, **options)


def _smoothed(values: Any, times: Any, names: Sequence[str]) -> Tuple[Any, Any]:
    """States and their slopes from the data alone: the library's smoothing, and differences of the measurements where
    there are too few for it."""
    np = needs_numpy("score")
    if len(times) < 3:
        raise DataError("found %d rows, needed 3 or more to tell a slope" % len(times), field="X")
    span = times[-1] - times[0]
    h = 1e-4 * span
    early, late = np.maximum(times - h, times[0]), np.minimum(times + h, times[-1])
    try:
        data = from_arrays(values, times, names)
        every = np.concatenate([times, early, late])
        order = np.argsort(every, kind="stable")
        found = np.empty((len(every), len(names)))
        found[order] = smooth(data, every[order], {"degree": 1})
        states, before, after = np.split(found, 3)
        slopes = (after - before) / (late - early)[:, None]
    except DataError:
        states = slopes = np.full(values.shape, np.nan)
    rough = np.stack([_differences(times, values[:, j]) for j in range(values.shape[1])], axis=1)
    is_good = np.isfinite(slopes)
    return np.where(np.isfinite(states), states, values), np.where(is_good, slopes, rough)


def _differences(times: Any, column: Any) -> Any:
    np = needs_numpy("score")
    known = np.isfinite(column)
    if known.sum() < 3:
        return np.full(len(column), np.nan)
    slopes = np.full(len(column), np.nan)
    slopes[known] = np.gradient(column[known], times[known])
    return slopes


def _r_squared(measured: Any, predicted: Any) -> float:
    np = needs_numpy("score")
    both = np.isfinite(measured) & np.isfinite(predicted)
    if not both.any():
        return float("nan")
    if (np.isfinite(measured) & ~np.isfinite(predicted)).any():
        return float("-inf")
    scores = []
    for j in range(measured.shape[1]):
        m, p = measured[both[:, j], j], predicted[both[:, j], j]
        spread = float(((m - m.mean()) ** 2).sum()) if len(m) else 0.0
        if spread > 0:
            scores.append(1 - float(((m - p) ** 2).sum()) / spread)
    return float(np.mean(scores)) if scores else float("nan")


def _signature() -> inspect.Signature:
    """The settings as keywords, for help() and for scikit-learn, which asks for it."""
    keyword = inspect.Parameter.KEYWORD_ONLY
    own = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    return inspect.Signature(own + [inspect.Parameter(n, keyword, default=None) for n in KBASS._get_param_names()])


KBASS.__init__.__signature__ = _signature()  # type: ignore[attr-defined]

Parameters = Union[Dict[str, Any], None]
Callback = Callable[[Any], Any]

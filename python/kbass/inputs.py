"""Known inputs of a law over time: a table, an array at given times, or a function of time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Optional

from . import _arrays
from ._arrays import needs_numpy, numbers
from ._library import lib, text
from .data import Data, create_table, is_path, read
from .errors import ArgumentError, DataError

if TYPE_CHECKING:
    from .result import Result

BETWEEN = 20  # samples of a function between two times


def _from_table(result: "Result", source: Any) -> Data:
    """A file is read as that of the result was."""
    about = result.document["data"]
    reading = {key: about["reading"][key] for key in ("time", "rename", "dates", "missing") if key in about["reading"]}
    data = source if isinstance(source, Data) else read(source, **(reading if is_path(source) else {}))
    origin, found = about.get("time_origin"), text(lib.kbass_data_time_origin(data._handle) or b"") or None
    if origin and found != origin:
        raise DataError("input_data: its time is counted from %s, that of the result from %s: begin it with that date"
                        % (found or 0, origin), field="input_data")  # fmt: skip
    return data


def input_rows(names: List[str], u: Any, times: Any) -> Any:
    """Times x inputs, from an array or a function of time."""
    np = needs_numpy("inputs")
    rows = np.array([np.atleast_1d(u(float(t))) for t in times]) if callable(u) else numbers(u, "u")
    rows = np.asarray(rows, dtype=float)
    rows = rows.reshape(-1, 1) if rows.ndim == 1 else rows
    if rows.shape != (len(times), len(names)):
        raise DataError("u has the shape %s, needed %d x %d: times x inputs (%s)"
                        % (rows.shape, len(times), len(names), ", ".join(names)), field="u")  # fmt: skip
    return rows


def _between(times: Any) -> Any:
    np = needs_numpy("inputs")
    steps = np.linspace(0, 1, BETWEEN, endpoint=False)
    return np.append((times[:-1, None] + np.diff(times)[:, None] * steps).ravel(), times[-1])


def input_table(result: "Result", u: Any, input_data: Any, times: Any) -> Optional[Data]:
    """The inputs as a table, for the library; None where none are given: the record's own are taken."""
    if u is None and input_data is None:
        return None
    field = "u" if u is not None else "input_data"
    if not result.inputs:
        raise ArgumentError("%s: the law has no inputs" % field, field=field)
    if u is not None and input_data is not None:
        raise ArgumentError("u, input_data: found both, needed one of them", field="u")
    if input_data is not None:
        return _from_table(result, input_data)
    at = _between(times) if callable(u) and _arrays.size(times) > 1 else times
    return create_table([result.axes[0]], result.inputs, at, None, _arrays.contiguous(input_rows(result.inputs, u, at)))

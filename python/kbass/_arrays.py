"""Numbers to and from the library: NumPy arrays where NumPy is installed, lists where it is not."""

from __future__ import annotations

import ctypes
from array import array
from typing import Any, List, Optional, Sequence, Tuple

from .errors import DataError

_numpy: Any = False


def numpy() -> Any:
    """NumPy, or None."""
    global _numpy
    if _numpy is False:
        try:
            import numpy as found

            _numpy = found
        except ImportError:
            _numpy = None
    return _numpy


def needs_numpy(what: str) -> Any:
    np = numpy()
    if np is None:
        raise DataError("%s needs NumPy; a path, or a dict of lists, does not" % what)
    return np


def _culprit(values: Any, what: str) -> DataError:
    """Which value is no number."""
    for i, value in enumerate(values if hasattr(values, "__iter__") and not isinstance(values, str) else [values]):
        try:
            float(value)
        except (TypeError, ValueError):
            found = repr(value) if len(repr(value)) <= 40 else type(value).__name__
            return DataError("%s: found %s at row %d, needed a number (None or NaN where nothing was measured)"
                             % (what, found, i), field=what)  # fmt: skip
    return DataError("%s: found values that are not numbers" % what, field=what)


def _plain(values: Any, what: str) -> Any:
    try:
        return array("d", [float("nan") if value is None else float(value) for value in values])
    except (TypeError, ValueError):
        raise _culprit(values, what) from None


def numbers(values: Any, what: str) -> Any:
    """Real numbers as float64, without a copy where they are so already; None is NaN."""
    np = numpy()
    if np is None:
        return _plain(values, what)
    try:
        found = np.asarray(values)
    except ValueError:  # ragged
        raise DataError("%s: found rows of different lengths, needed an array" % what, field=what) from None
    if found.dtype.kind in "mM":
        return instants(found)
    if found.dtype.kind == "c":
        if np.any(found.imag != 0):
            raise DataError("%s: found complex numbers, needed real ones" % what, field=what)
        found = found.real
    if found.dtype.kind in "USV" or (found.dtype.kind == "O" and any(isinstance(v, str) for v in found.flat)):
        raise _culprit(found.ravel().tolist(), what)
    try:
        return found.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        raise _culprit(found.ravel().tolist(), what) from None


def instants(values: Any) -> Any:
    """Dates as seconds since the first, durations as seconds."""
    np = needs_numpy("a column of dates")
    known = values[~np.isnat(values)]
    seconds = values - known.min() if values.dtype.kind == "M" and known.size else values.astype("m8[s]")
    return np.where(np.isnat(values), np.nan, seconds / np.timedelta64(1, "s"))


def size(values: Any) -> int:
    return int(values.size) if hasattr(values, "size") else len(values)


def pointer(values: Any) -> Any:
    """Of a contiguous array of doubles, which must outlive the call; None for None."""
    if values is None:
        return None
    if isinstance(values, array):
        return ctypes.cast((ctypes.c_double * max(len(values), 1)).from_buffer(values), ctypes.POINTER(ctypes.c_double))
    return ctypes.cast(values.ctypes.data, ctypes.POINTER(ctypes.c_double))


def contiguous(values: Any) -> Any:
    np = numpy()
    return values if np is None else np.ascontiguousarray(values, dtype=np.float64)


def room(*shape: int) -> Any:
    """Doubles for the library to fill."""
    np = numpy()
    n = 1
    for length in shape:
        n *= length
    return array("d", bytes(8 * max(n, 1))) if np is None else np.zeros(shape)


def shaped(values: Any, *shape: int) -> Any:
    """What was filled, as an array, or nested lists."""
    if numpy() is not None or len(shape) == 0:
        return values
    flat = list(values)
    return _nested(flat, shape)


def _nested(flat: List[float], shape: Sequence[int]) -> Any:
    if len(shape) == 1:
        return flat[: shape[0]]
    step = len(flat) // max(shape[0], 1)
    return [_nested(flat[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]


def copied(source: Any, *shape: int) -> Any:
    """A copy of doubles that belong to the library."""
    n = 1
    for length in shape:
        n *= length
    np = numpy()
    if np is None:
        return _nested(source[:n], shape)
    if n == 0:
        return np.zeros(shape)
    return np.ctypeslib.as_array(source, shape=(n,)).copy().reshape(shape)


def table(columns: Sequence[Any], n_rows: int) -> Any:
    """Columns side by side, row by row."""
    np = numpy()
    if np is not None:
        found = np.empty((n_rows, len(columns)))
        for j, column in enumerate(columns):
            found[:, j] = column
        return found
    return array("d", [column[i] for i in range(n_rows) for column in columns])


def even(first: float, last: float, n: int) -> Any:
    """n even numbers from first to last, both exactly."""
    step = [first + (last - first) * i / (n - 1) for i in range(n - 1)] + [last]
    np = numpy()
    return array("d", step) if np is None else np.array(step)


def ask_times(values: Any, what: str = "t") -> Tuple[Any, int]:
    """One or more times as a contiguous array, and how many they are."""
    np = numpy()
    if not hasattr(values, "__len__"):
        values = [values]
    found = numbers(values, what)
    if np is not None:
        if found.ndim != 1:
            raise DataError("%s: found an array of %d dimensions, needed one" % (what, found.ndim), field=what)
        found = contiguous(found)
    return found, size(found)


def optional(value: Optional[str]) -> Optional[bytes]:
    from ._library import encode

    return None if value is None else encode(value)

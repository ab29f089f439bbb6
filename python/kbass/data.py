"""Measurements: from a file, a DataFrame, a dict of arrays, an xarray Dataset, or a list of any of these as runs."""

from __future__ import annotations

import csv
import ctypes
import os
import tempfile
from dataclasses import dataclass, replace
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import _arrays
from ._arrays import contiguous, copied, needs_numpy, numbers, numpy, pointer, shaped
from ._library import Handle, call, create, encode, kbass_read_options, lib, names, text, texts
from ._run import Run
from ._settings import write
from .errors import ArgumentError, DataError, Error, in_python

Names = Union[str, Sequence[str], None]


@dataclass
class How:
    """How data are read: the keywords of :func:`read`, as text."""

    time: Optional[str] = None
    axes: Optional[str] = None
    run: Optional[str] = None
    within: Optional[str] = None
    every: Optional[int] = None
    use: Optional[str] = None
    ignore: Optional[str] = None
    rename: Optional[str] = None
    dates: Optional[str] = None
    missing: Optional[str] = None
    progress: Optional[bool] = None
    most: int = 0  #: a grid of more values stays in its file; 0: none does
    part: int = 0  #: values of such a grid that are read

    def one_run(self) -> "How":
        return replace(self, run=None)


class Data:
    """A table of measurements as the library holds it: rows sorted by run and time.

    >>> data = kbass.example("hare-lynx")
    >>> data.states, len(data)
    (['x', 'y'], 21)
    >>> data.to_dict()["x"][:3]
    [30.0, 47.2, 70.2]
    """

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def __len__(self) -> int:
        return int(lib.kbass_data_rows(self._handle))

    def __str__(self) -> str:
        room = ctypes.create_string_buffer(4000)
        lib.kbass_data_describe(self._handle, room, len(room))
        return text(room.value).rstrip("\n")

    def __repr__(self) -> str:
        return "<kbass.Data: %s>" % str(self).split("\n")[0]

    @property
    def doubts(self) -> List[str]:
        """Signs that the data were taken for something else than they are, with what to say then."""
        room = ctypes.create_string_buffer(1000)
        found: List[str] = []
        while lib.kbass_data_doubt(self._handle, len(found), room, len(room)):
            found.append(in_python(text(room.value)))
        return found

    @property
    def states(self) -> List[str]:
        """Names of the states, or of the fields."""
        return [text(lib.kbass_data_state_name(self._handle, j)) for j in range(lib.kbass_data_states(self._handle))]

    @property
    def axes(self) -> List[str]:
        """Names of time and of the axes of space."""
        return [text(lib.kbass_data_axis_name(self._handle, a)) for a in range(lib.kbass_data_axes(self._handle))]

    @property
    def runs(self) -> List[str]:
        """Names of the runs; empty for one alone."""
        found = [lib.kbass_data_run_name(self._handle, i) for i in range(lib.kbass_data_runs(self._handle))]
        return [text(name) for name in found if name is not None]

    @property
    def run_starts(self) -> List[int]:
        """The first row of each run, then the number of rows."""
        return [lib.kbass_data_run_start(self._handle, i) for i in range(lib.kbass_data_runs(self._handle) + 1)]

    @property
    def times(self) -> Any:
        return copied(lib.kbass_data_times(self._handle), len(self))

    @property
    def positions(self) -> Any:
        """Rows x axes of space; None without space."""
        n = len(self.axes) - 1
        return copied(lib.kbass_data_positions(self._handle), len(self), n) if n else None

    @property
    def values(self) -> Any:
        """Rows x states, NaN where nothing was measured."""
        return copied(lib.kbass_data_values(self._handle), len(self), len(self.states))

    @property
    def sigma(self) -> Any:
        """Error bars, rows x states; None without."""
        source = lib.kbass_data_sigma(self._handle)
        return copied(source, len(self), len(self.states)) if source else None

    @property
    def sha256(self) -> str:
        return text(lib.kbass_data_sha256(self._handle))

    def to_dict(self) -> Dict[str, List[float]]:
        """Columns by name, as lists."""
        columns: Dict[str, List[float]] = {self.axes[0]: list(map(float, self.times))}
        for group, rows in ((self.axes[1:], self.positions), (self.states, self.values)):
            for j, name in enumerate(group):
                columns[name] = [float(row[j]) for row in rows]
        return columns

    def to_frame(self) -> Any:
        """A pandas DataFrame, with a column ``run`` where there are several."""
        import pandas

        frame = pandas.DataFrame(self.to_dict())
        if self.runs:
            starts = self.run_starts
            lengths = [end - start for start, end in zip(starts, starts[1:])]
            frame.insert(0, "run", [name for name, n in zip(self.runs, lengths) for _ in range(n)])
        return frame

    def write(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the table as CSV."""
        call("kbass_data_write", self._handle, encode(path), field=str(path))

    def add_noise(self, percent: float, seed: int = 1) -> "Data":
        """Adds Gaussian noise of so many percent of each state's standard deviation, in place."""
        call("kbass_data_add_noise", self._handle, float(percent), int(seed))
        return self


# ---------------------------------------------------------------- tables


def _words(value: Optional[str]) -> List[str]:
    return [word.strip() for word in value.split(",")] if value else []


def create_table(axis_names: Sequence[str], state_names: Sequence[str], times: Any, positions: Any,
                 values: Any) -> Data:  # fmt: skip
    """Positions: rows x axes of space, or None; values: rows x states, contiguous."""
    n = _arrays.size(times)
    return Data(create("data", "kbass_data_create_axes", n, len(axis_names), len(state_names), pointer(times),
                       pointer(positions), pointer(values), texts(list(axis_names)),
                       texts(list(state_names))))  # fmt: skip


def _time_name(columns: Sequence[str], time: Optional[str]) -> str:
    wanted = [time] if time is not None else ["t", "time"]
    for same in (lambda word: word, str.lower):
        for name in wanted:
            for column in columns:
                if same(column) == same(name):
                    return column
    raise DataError('found no column %s among %s: name the one that holds time by time=' % (
        " or ".join('"%s"' % name for name in wanted), ", ".join('"%s"' % c for c in columns) or "none"),
        field="time")  # fmt: skip


def _put_time_first(axes: List[str], time: Optional[str]) -> None:
    """The one that is said to be time, else called so, else the first."""
    axes.sort(key=lambda name: name != time if time is not None else name.lower() not in ("t", "time"))


def _check_lengths(columns: Dict[str, Any]) -> int:
    lengths = {name: len(column) for name, column in columns.items()}
    first = next(iter(lengths))
    for name, length in lengths.items():
        if length != lengths[first]:
            raise DataError('columns of different lengths: "%s" has %d rows, "%s" %d'
                            % (first, lengths[first], name, length), field=name)  # fmt: skip
    return lengths[first]


def _from_columns(columns: Dict[str, Any], time: Optional[str], axes: Optional[str]) -> Data:
    """Columns of one length each; without axes all but time are states."""
    if not columns:
        raise DataError("found no columns, needed one of times and one or more of values")
    if axes is not None:
        axis_names = [word.strip() for word in axes.split(",")]
        for name in axis_names:
            if name not in columns:
                raise DataError('axes: found no column "%s" among %s' % (name, ", ".join(columns)), field="axes")
        _put_time_first(axis_names, time)
    else:
        axis_names = [_time_name(list(columns), time)]
    n = _check_lengths(columns)
    states = [name for name in columns if name not in axis_names]
    cells = _arrays.table([columns[name] for name in states], n)
    places = _arrays.table([columns[name] for name in axis_names[1:]], n) if len(axis_names) > 1 else None
    times = contiguous(columns[axis_names[0]])
    return create_table(axis_names, states, times, places, cells)


# ---------------------------------------------------------------- dicts


def _spread(columns: Dict[str, Any]) -> Dict[str, Any]:
    """Arrays of two dimensions are components: X becomes X1, X2, ..."""
    found: Dict[str, Any] = {}
    for name, column in columns.items():
        if getattr(column, "ndim", 1) == 1:
            found[name] = column
        elif column.ndim == 2:
            found.update({"%s%d" % (name, j + 1): column[:, j] for j in range(column.shape[1])})
        else:
            raise DataError('"%s": found %d dimensions, needed one, or axes= that names those of a grid'
                            % (name, column.ndim), field=name)  # fmt: skip
    return found


def _order(shape: Tuple[int, ...], lengths: List[int], name: str) -> List[int]:
    """Which dimension of the array is which axis: in the axes' order, else by length."""
    if list(shape) == lengths:
        return list(range(len(lengths)))
    if sorted(shape) == sorted(lengths) and len(set(lengths)) == len(lengths):
        return [list(shape).index(length) for length in lengths]
    raise DataError('"%s": found an array of shape %s, needed %s, the lengths of the axes'
                    % (name, "x".join(map(str, shape)), "x".join(map(str, lengths))), field=name)  # fmt: skip


def _from_grid(columns: Dict[str, Any], axes: str, time: Optional[str] = None) -> Data:
    np = needs_numpy("a grid")
    axis_names = [word.strip() for word in axes.split(",")]
    for name in axis_names:
        if name not in columns:
            raise DataError('axes: found no array "%s" among %s' % (name, ", ".join(columns)), field="axes")
    _put_time_first(axis_names, time)
    lengths = [columns[name].size for name in axis_names]
    mesh = np.meshgrid(*(columns[name].ravel() for name in axis_names), indexing="ij")
    rows = {name: grid.ravel() for name, grid in zip(axis_names, mesh)}
    for name, column in columns.items():
        if name not in rows:
            rows[name] = column.transpose(_order(column.shape, lengths, name)).ravel()
    return _from_columns(rows, axis_names[0], ",".join(axis_names))


def _chosen(columns: Mapping[str, Any], how: How) -> Dict[str, Any]:
    """With other names, without the columns that are not wanted."""
    pairs = [pair.partition("=") for pair in _words(how.rename)]
    names_of = {old.strip(): new.strip() for old, _, new in pairs}
    for name in list(names_of) + _words(how.ignore):
        if name not in columns and name not in names_of.values():
            raise DataError('no column "%s"; there are: %s' % (name, ", ".join(map(str, columns))), field=name)
    found = {names_of.get(str(name), str(name)): column for name, column in columns.items()}
    kept = _words(how.use)
    if kept:
        kept += _words(how.axes) or [_time_name(list(found), how.time)]
        kept += [how.run] if how.run else []
    return {n: c for n, c in found.items() if n not in _words(how.ignore) and (not kept or n in kept)}


def _from_mapping(table: Mapping[str, Any], how: How) -> Data:
    time, axes = how.time, how.axes
    columns = {str(name): numbers(column, 'column "%s"' % name) for name, column in _chosen(table, how).items()}
    for name, column in columns.items():
        if getattr(column, "ndim", 1) == 0:
            raise DataError('column "%s": found one number, needed as many as there are times' % name, field=name)
    if axes is not None and any(getattr(column, "ndim", 1) > 1 for column in columns.values()):
        return _from_grid(columns, axes, time)
    return _from_columns(_spread(columns), time, axes)


# ---------------------------------------------------------------- pandas and xarray


def _kind(value: Any) -> str:
    """"DataFrame", "Dataset", ... without importing anything."""
    module = type(value).__module__.split(".")[0]
    return type(value).__name__ if module in ("pandas", "xarray", "polars", "pyarrow") else ""


def frame_columns(frame: Any, time: Optional[str] = None) -> Dict[str, Any]:
    """Columns by name; an index that is time is one of them."""
    columns = {str(name): frame[name].to_numpy() for name in frame.columns}
    index = frame.index
    wanted = [time] if time else ["t", "time"]
    if index.name in wanted and index.name not in columns:
        columns = {str(index.name): index.to_numpy(), **columns}
    elif not any(name in columns for name in wanted) and index.dtype.kind in "mM" and time is None:
        columns = {"t": index.to_numpy(), **columns}
    return columns


def _is_plain(columns: Dict[str, Any], how: How) -> bool:
    """Numbers under names that can stand in equations, and time among them."""
    has_time = how.axes is not None or any(n == how.time if how.time else n in ("t", "time") for n in columns)
    return has_time and all(c.dtype.kind in "iufb" and n.isidentifier() and n.isascii() for n, c in columns.items())


def _cell(value: Any) -> str:
    if value is None or value != value:
        return ""
    return repr(float(value)) if isinstance(value, (int, float)) else str(value)


def _from_text(columns: Dict[str, Any], how: How) -> Data:
    """Names with blanks, dates, labels: the library reads them as it reads a table in a file."""
    with tempfile.TemporaryDirectory(prefix="kbass_") as folder:
        path = os.path.join(folder, "table.csv")
        with open(path, "w", newline="", encoding="utf-8") as file:
            out = csv.writer(file)
            out.writerow(columns)
            out.writerows([_cell(v) for v in row] for row in zip(*(_listed(c) for c in columns.values())))
        try:
            return _read(path, how)
        except Error as error:
            raise type(error)(str(error.args[0]).replace(path, "the DataFrame"), None, error.source, error.column) from None


def _listed(column: Any) -> Any:
    return [str(v) if str(v) != "NaT" else None for v in column] if column.dtype.kind == "M" else column.tolist()


def _from_frame(frame: Any, how: How) -> Data:
    columns = frame_columns(frame, how.time)
    return _split(_from_mapping(columns, how), how.run) if _is_plain(columns, how) else _from_text(columns, how)


def _from_dataset(dataset: Any, how: How) -> Data:
    time, axes, run = how.time, how.axes, how.run
    if _kind(dataset) == "DataArray":
        dataset = dataset.to_dataset(name=dataset.name or "u")
    dims = [str(dim) for dim in dataset.sizes]
    if run is not None and run in dims:
        parts = [dataset.isel({run: i}, drop=True) for i in range(dataset.sizes[run])]
        labels = dataset[run].values.tolist() if run in dataset.coords else range(1, len(parts) + 1)
        return _join([_from_dataset(part, how.one_run()) for part in parts], [str(label) for label in labels])
    wanted = [word.strip() for word in axes.split(",")] if axes else [_time_name(dims, time)]
    order = wanted + [dim for dim in dims if dim not in wanted]
    columns = {dim: dataset[dim].values for dim in order}
    for name, variable in dataset.data_vars.items():
        if not set(order) <= set(variable.dims):
            raise DataError('"%s" has the dimensions %s, needed %s' % (name, variable.dims, tuple(order)), field=str(name))
        columns[str(name)] = variable.transpose(*order).values
    if len(order) == 1:
        return _from_mapping(columns, replace(how, time=order[0], axes=None))
    grid = {n: numbers(c, 'variable "%s"' % n) for n, c in columns.items()}
    return _from_grid(grid, ",".join(order), time if axes else order[0])


# ---------------------------------------------------------------- runs and files


def _split(data: Data, run: Optional[str]) -> Data:
    if run is not None:
        call("kbass_data_split", data._handle, encode(run), field="run")
    return data


def _join(parts: List[Data], run_names: List[str]) -> Data:
    handles = (ctypes.c_void_p * len(parts))(*[part._handle.pointer for part in parts])
    return Data(create("data", "kbass_data_join", len(parts), handles, texts(run_names)))


def _read(path: Any, how: How) -> Data:
    def work(tick: Any) -> Handle:
        words = [_arrays.optional(value) for value in (how.run, how.use, how.ignore, how.rename, how.dates, how.missing)]
        options = kbass_read_options(ctypes.sizeof(kbass_read_options), _arrays.optional(how.time), _arrays.optional(how.axes), tick, None,
                                     _arrays.optional(how.within), how.every or 0, *words, how.most, how.part)  # fmt: skip
        return create("data", "kbass_data_read", encode(path), ctypes.byref(options), field=str(path))

    return Data(Run(how.progress, raises=True)(work))


def is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


def _is_runs(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and any(
        is_path(v) or isinstance(v, (Mapping, Data)) or _kind(v) for v in value)  # fmt: skip


def _one(source: Any, how: How) -> Data:
    if isinstance(source, Data):
        return source
    if is_path(source):
        return _read(source, how)
    for name in ("within", "every", "dates", "missing"):
        if getattr(how, name) is not None:
            raise ArgumentError("%s= is for files; change the %s itself" % (name, type(source).__name__), field=name)
    if isinstance(source, Mapping) and not _kind(source):
        return _split(_from_mapping(source, how), how.run)
    kind = _kind(source)
    if kind in ("Dataset", "DataArray"):
        return _from_dataset(source, how)
    if kind == "DataFrame" and hasattr(source, "index"):
        return _from_frame(source, how)
    if kind and hasattr(source, "to_pandas"):
        return _from_frame(source.to_pandas(), how)
    raise DataError("found a %s, needed a path, a DataFrame, a dict of columns, an xarray Dataset, or a list of these "
                    "as runs; arrays X and t go to kbass.KBASS().fit(X, t)" % type(source).__name__)  # fmt: skip


def _is_named_runs(source: Any) -> bool:
    return isinstance(source, Mapping) and bool(source) and not _kind(source) and all(
        isinstance(part, (Mapping, Data)) or _kind(part) == "DataFrame" for part in source.values())  # fmt: skip


# As the command has it (cli/read.c): grids of more values stay in their file, and a part of them is fitted.
MOST_VALUES, PART_VALUES = 1000000, 65536


def _how(keywords: Dict[str, Any], part: Optional[int], is_left: bool) -> How:
    every = keywords.get("every")
    if part is not None and not (isinstance(part, int) and part >= 0):
        raise ArgumentError("part: found %r, needed a whole number from 0 on" % (part,), field="part")
    if every is not None and not (isinstance(every, int) and every >= 1):
        raise ArgumentError("every: found %r, needed a whole number from 1 on" % (every,), field="every")
    written: Dict[str, Any] = {name: value if value is None or name in ("every", "progress") else write(name, value)
                               for name, value in keywords.items()}  # fmt: skip
    most = part if part is not None else MOST_VALUES if is_left else 0
    return How(**written, most=most, part=PART_VALUES if part is None else part)


def read(source: Any, *, time: Optional[str] = None, axes: Names = None, run: Optional[str] = None, sigma: Any = None,
         within: Any = None, every: Optional[int] = None, use: Names = None, ignore: Names = None, rename: Any = None,
         dates: Optional[str] = None, missing: Names = None, progress: Optional[bool] = None,
         part: Optional[int] = None) -> Data:  # fmt: skip
    """Measurements from whatever holds them: a path, a DataFrame, a dict of columns, an xarray Dataset; a list of these,
    or a dict of them by name, is several runs. The keywords mean what they mean to the command; with `part` so many values
    of a larger grid in a file are read, and all of it proposes laws (default: all are read; discover decides by the size).

    >>> kbass.read({"t": [0, 1, 2], "x": [1, 2, 4], "y": [0, None, 3]})
    <kbass.Data: 3 rows, 2 states (x, y), t from 0 to 2, spacing 1 (even), 1 of 6 values missing (y 1)>
    """
    how = _how(dict(time=time, axes=axes, run=run, within=within, every=every, use=use, ignore=ignore, rename=rename,
                    dates=dates, missing=missing, progress=progress), part, False)  # fmt: skip
    return _any(source, how, sigma)


def read_to_discover(source: Any, keywords: Dict[str, Any], sigma: Any, part: Optional[int]) -> Data:
    """The same, large grids being left in their files as the command does; not with error bars."""
    return _any(source, _how(keywords, part if sigma is None else 0, sigma is None), sigma)


def _any(source: Any, how: How, sigma: Any) -> Data:
    if _is_named_runs(source):
        data = _join([_one(part, how) for part in source.values()], [str(name) for name in source])
    elif _is_runs(source):
        parts = [_one(part, how) for part in source]
        labels = [os.fspath(part) if is_path(part) else str(i + 1) for i, part in enumerate(source)]
        data = parts[0] if len(parts) == 1 else _join(parts, labels)
    else:
        data = _one(source, how)
    if sigma is not None:
        call("kbass_data_error_bars", data._handle, encode(write("sigma", sigma)), field="sigma")
    return data


# ---------------------------------------------------------------- arrays, as scikit-learn has them


def from_arrays(values: Any, times: Any, state_names: Sequence[str]) -> Data:
    """One record: rows x states, and ascending times."""
    np = needs_numpy("an array X")
    cells, t = contiguous(values), contiguous(times)
    if t.ndim != 1 or cells.ndim != 2 or len(t) != len(cells):
        raise DataError("t has the shape %s, X %s: needed one time for each row of X" % (t.shape, cells.shape), field="t")
    bad = np.flatnonzero(~(np.diff(t) > 0)) if len(t) > 1 else []
    if not np.all(np.isfinite(t)):
        raise DataError("t: found %g at row %d, needed finite times" % (t[~np.isfinite(t)][0], np.flatnonzero(~np.isfinite(t))[0]), field="t")
    if len(bad):
        raise DataError("t: found %.10g at row %d, after %.10g: times must ascend (several runs are lists: "
                        "fit([X1, X2], [t1, t2]))" % (t[bad[0] + 1], bad[0] + 1, t[bad[0]]), field="t")  # fmt: skip
    return create_table(["t"], list(state_names), t, None, cells)


def join(parts: List[Data], run_names: Optional[List[str]] = None) -> Data:
    return _join(parts, run_names or [str(i + 1) for i in range(len(parts))])


def example(name: str) -> Data:
    """Data that ship with the library; ``kbass.examples()`` names them."""
    return Data(create("data", "kbass_data_example", encode(name), field=name))


def examples() -> Dict[str, str]:
    """Names of the data that ship with the library, and what they are.

    >>> "hare-lynx" in kbass.examples()
    True
    """
    return names("kbass_data_example")


__all__ = ["Data", "read", "example", "examples", "shaped", "numpy"]

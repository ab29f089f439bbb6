"""What a discovery found. Everything is read from the result as JSON, the command's own file; a result that was just
found also keeps the fit itself, for the solution at any time."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union

from . import _arrays
from ._library import Handle, call, create, encode, lib, take_text, text
from .data import Data
from .errors import ArgumentError, DataError, FileError

NAN = float("nan")


def _number(value: Optional[float]) -> float:
    return NAN if value is None else value


@dataclass(frozen=True)
class Term:
    """A candidate term of an equation, with what the data say about it."""

    term: str
    weight: float
    sd: float
    interval: Tuple[float, float]
    probability: float
    selected: bool
    verdict: str
    average: float
    average_sd: float
    unit: Optional[str]

    @classmethod
    def _read(cls, d: Dict[str, Any]) -> "Term":
        low, high = d["interval"] or (None, None)
        return cls(d["term"], _number(d["weight"]), _number(d["sd"]), (_number(low), _number(high)),
                   _number(d["probability"]), d["selected"], d["verdict"], _number(d["average"]),
                   _number(d["average_sd"]), d.get("unit"))  # fmt: skip


class Equation:
    """One equation: ``lhs``, ``text`` and all candidate ``terms``, selected ones first; ``equation["x*y"]`` is one."""

    def __init__(self, document: Dict[str, Any]) -> None:
        self.lhs: str = document["lhs"]
        self.known: bool = document["known"]
        self.text: str = document["text"]
        self.terms: List[Term] = [Term._read(term) for term in document["terms"]]

    @property
    def selected(self) -> List[Term]:
        """The terms of the chosen model."""
        return [term for term in self.terms if term.selected]

    @property
    def state(self) -> str:
        """Whose equation it is."""
        return self.lhs.rsplit("_t", 1)[0]

    def __getitem__(self, name: str) -> Term:
        for term in self.terms:
            if term.term == name:
                return term
        raise KeyError("%s has no candidate %r" % (self.lhs, name))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return "<kbass.Equation %s>" % self.text


class Equations(List[Equation]):
    """The equations, by place, by left-hand side or by state: ``equations[0]``, ``["x_t"]``, ``["x"]``."""

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return super().__getitem__(key)
        for equation in self:
            if key in (equation.lhs, equation.state):
                return equation
        raise KeyError("no equation for %r, there are %s" % (key, ", ".join(e.lhs for e in self) or "none"))

    def __str__(self) -> str:
        return "\n".join(str(equation) for equation in self)


class Result:
    """The answer of :func:`kbass.discover`.

    >>> hares = kbass.discover(kbass.example("hare-lynx"), degree=2, threads=1)
    >>> [term.term for term in hares.equations["x"].selected]
    ['x', 'x*y']
    >>> hares.equations["x"]["x*y"].verdict
    'in'
    >>> hares.outcome
    'converged'
    """

    def __init__(self, document: str, *, printed: Optional[str] = None, candidates: Optional[List[str]] = None,
                 data: Optional[Data] = None, discovery: Optional[Handle] = None,
                 keywords: Optional[Dict[str, Any]] = None) -> None:  # fmt: skip
        self._json = document
        self._printed = printed
        self._candidates = candidates
        self._data = data
        self._discovery = discovery
        self._keywords = keywords
        self._posteriors: Dict[Optional[str], Handle] = {}
        #: the whole result as a dict: every key of docs/schema.md
        self.document: Dict[str, Any] = json.loads(document)

    # ------------------------------------------------------------ what it says

    @property
    def equations(self) -> Equations:
        """One :class:`Equation` for each state that has one; empty when there is no model."""
        if "equations" not in self.__dict__:
            self.__dict__["equations"] = Equations(Equation(e) for e in self.document["equations"])
        found: Equations = self.__dict__["equations"]
        return found

    def __getitem__(self, key: str) -> Any:
        """Any key of the result as JSON: ``result["log_evidence"]``."""
        return self.document[key]

    @property
    def outcome(self) -> str:
        """"converged", "not converged", "time limit", "cancelled" or "no model"."""
        return str(self.document["outcome"])

    @property
    def states(self) -> List[str]:
        return list(self.document["data"]["states"])

    @property
    def axes(self) -> List[str]:
        return list(self.document["data"]["axes"])

    @property
    def runs(self) -> List[str]:
        """Names of the runs; empty for one alone."""
        return [run["name"] for run in self.document["runs"] if run["name"]]

    @property
    def noise(self) -> Dict[str, float]:
        """Estimated standard deviation of the noise by state."""
        return {name: _number(sd) for name, sd in self.document["noise"].items()}

    @property
    def verdict(self) -> Dict[str, Any]:
        """Is there a law? `name`, `reason`, `probability` and the numbers behind them (docs/schema.md)."""
        return dict(self.document.get("verdict", {"name": "not judged"}))

    @property
    def probability(self) -> float:
        """Of the chosen model among the models compared."""
        return _number(self.document["probability"])

    @property
    def log_evidence(self) -> float:
        return _number(self.document["log_evidence"])

    @property
    def runners_up(self) -> List[Dict[str, Any]]:
        """Models with odds above 1 : 1000, best first."""
        return list(self.document["runners_up"])

    @property
    def constants(self) -> List[Dict[str, Any]]:
        """Unknown constants inside terms (unknown=, family=, input_delay=): name, value, sd, interval, range."""
        return list(self.document.get("constants", []))

    @property
    def warnings(self) -> List[str]:
        return list(self.document["warnings"])

    @property
    def inputs(self) -> List[str]:
        """Columns that are known functions of time."""
        given = self.document["settings"].get("input")
        return [word.strip() for word in given.split(",")] if given else []

    @property
    def candidates(self) -> List[str]:
        """The dictionary, in its own order (of a result read from a file: by falling probability)."""
        if self._candidates is None:
            terms = [term.term for equation in self.equations for term in equation.terms]
            self._candidates = list(dict.fromkeys(terms))
        return list(self._candidates)

    # ------------------------------------------------------------ how it is shown

    def text(self, all_terms: bool = False) -> str:
        """The report that ``kbass discover`` prints, with every candidate if asked."""
        if self._discovery is not None:
            with self._discovery as discovery:
                return take_text("kbass_discovery_text", discovery, 3 + 4 * bool(all_terms))
        if self._printed is not None and not all_terms:
            return self._printed
        from ._show import plain

        return plain(self, all_terms)

    def __str__(self) -> str:
        return self.text().rstrip("\n")

    def __repr__(self) -> str:
        return "<kbass.Result, %s: %s>" % (self.outcome, "; ".join(map(str, self.equations)) or "no equations")

    def _repr_html_(self) -> str:
        from ._show import html

        return html(self)

    def _repr_latex_(self) -> Optional[str]:
        return "$%s$" % self.to_latex() if self.equations else None

    # ------------------------------------------------------------ other forms

    def to_json(self, path: "Union[str, os.PathLike[str], None]" = None) -> str:
        """The result as JSON, the same file as ``kbass discover --json`` writes; written to `path` if given."""
        if path is not None:
            try:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(self._json)
            except OSError as error:
                raise FileError("%s: %s" % (path, error.strerror or error), field=str(path)) from None
        return self._json

    def to_frame(self, all_terms: bool = True) -> Any:
        """A pandas DataFrame with a row for each term of each equation."""
        import pandas

        rows = [{"equation": e.lhs, "term": t.term, "weight": t.weight, "sd": t.sd, "low": t.interval[0],
                 "high": t.interval[1], "probability": t.probability, "verdict": t.verdict, "selected": t.selected,
                 "unit": t.unit}
                for e in self.equations for t in e.terms if all_terms or t.selected]  # fmt: skip
        return pandas.DataFrame(rows)

    def to_sympy(self) -> Any:
        """The equations as a list of ``sympy.Eq`` in functions of the axes."""
        from ._show import sympy_equations

        return sympy_equations(self)

    def export(self, format: str, function: Optional[str] = None, *, input_data: Any = None) -> str:
        """The law as "latex", "sympy", "julia", "matlab", "c", or the solution as "csv": as ``kbass export`` does; that
        of a law with inputs for those of `input_data`, if given."""
        from .inputs import input_table

        table = input_table(self, None, input_data, None)
        return take_text("kbass_export", self._json.encode(), encode(format), _arrays.optional(function),
                         None if table is None else table._handle)  # fmt: skip

    def to_latex(self) -> str:
        """The equations with their uncertainties, as one ``aligned`` block."""
        body = self.export("latex")
        begin, end = body.index(r"\begin{align*}") + len(r"\begin{align*}"), body.index(r"\end{align*}")
        return r"\begin{aligned}%s\end{aligned}" % body[begin:end]

    @contextmanager
    def _file(self) -> Iterator[bytes]:
        """A file with the result, for the command."""
        handle, path = tempfile.mkstemp(prefix="kbass_", suffix=".json")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(self._json)
            yield os.fsencode(path)
        finally:
            os.unlink(path)

    # ------------------------------------------------------------ copies

    def __getstate__(self) -> Dict[str, Any]:
        return {"json": self._json, "printed": self.text(), "candidates": self.candidates, "keywords": self._keywords}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__init__(state["json"], printed=state["printed"], candidates=state["candidates"],  # type: ignore[misc]
                      keywords=state["keywords"])  # fmt: skip

    def __copy__(self) -> "Result":
        return self

    def __deepcopy__(self, _memo: Any) -> "Result":
        return self  # nothing in it changes

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Result) and self._json == other._json

    def __hash__(self) -> int:
        return hash(self._json)

    # ------------------------------------------------------------ parts that others need

    def _run_index(self, run: Union[str, int, None]) -> int:
        if run is None or isinstance(run, int):
            index = run or 0
            if not 0 <= index < max(len(self.document["runs"]), 1):
                raise ArgumentError("run: found %d, there are %d" % (index, len(self.document["runs"])), field="run")
            return index
        if run not in self.runs:
            raise ArgumentError("run: found %r, needed one of %s" % (run, ", ".join(self.runs) or "none"), field="run")
        return self.runs.index(run)

    def _posterior(self, run: Union[str, int, None]) -> Handle:
        """What forecasts are drawn from, read as ``kbass forecast`` reads it."""
        name = self.runs[self._run_index(run)] if self.runs and run is not None else None
        if name not in self._posteriors:
            self._posteriors[name] = self._read_posterior(run)
        return self._posteriors[name]

    def _read_posterior(self, run: Union[str, int, None]) -> Handle:
        name = self.runs[self._run_index(run)] if self.runs and run is not None else None
        return create("posterior", "kbass_posterior_read", self._json.encode(), _arrays.optional(name))

    def _fit(self, what: str, data: Any, progress: Optional[bool]) -> Handle:
        """The fit itself; of a result that was loaded by the same search once more, which has to find the same."""
        if self._discovery is None:
            from .discovery import run_discovery

            table, keywords = self._again(data, what)
            again = run_discovery(table, keywords, progress=progress)
            structures = [[(e.lhs, [term.term for term in e.selected]) for e in one.equations] for one in (self, again)]
            if structures[0] != structures[1]:
                raise DataError("%s needs the fit itself, and the search found another law this time (%s)"
                                % (what, "; ".join(e.text for e in again.equations)))  # fmt: skip
            self._discovery, self._data, self._keywords = again._discovery, table, keywords
        assert self._discovery is not None
        return self._discovery

    # ------------------------------------------------------------ what follows from it

    def simulate(self, x0: Any = None, t: Any = None, u: Any = None, *, x: Any = None,
                 run: Union[str, int, None] = None, input_data: Any = None) -> Any:  # fmt: skip
        """Integrates the equations from the state `x0` (default: as fitted) at the first of the times `t`, and returns
        times x states. `u` are inputs: times x inputs, or a function of time; `input_data` has them as a table; without
        either they are the record's. Of fields over a periodic axis: from the
        fitted profile, at times `t` and places `x`.

        >>> vdp = kbass.discover(kbass.simulate("vdp", t=[0.1 * i for i in range(60)], noise=1), threads=1)
        >>> vdp.simulate([2, 0], [0, 0.5, 1]).shape
        (3, 2)
        """
        from .ahead import simulate_result

        return simulate_result(self, x0, t, u, x, run, input_data)

    def forecast(self, t: Any = None, draws: int = 200, *, until: Optional[float] = None, samples: int = 101,
                 quantiles: Any = (5, 25, 50, 75, 95), seed: int = 1, average: bool = True, state: Any = None,
                 boundary: Optional[str] = None, places: Any = None, run: Union[str, int, None] = None,
                 threads: Optional[int] = None, time_limit: Optional[float] = None, progress: Optional[bool] = None,
                 u: Any = None, input_data: Any = None) -> Any:  # fmt: skip
        """What the equations say about times after the record: a :class:`kbass.Forecast` with quantiles and draws.

        `t` are the times, or `until` and `samples`; `average` draws from rival models too, by their probabilities. A law
        with inputs needs them after the record: `u` at the times, as a function, or `input_data` as a table."""
        from .ahead import forecast

        return forecast(self, t, draws, until, samples, quantiles, seed, average, state, boundary, places, run, threads,
                        time_limit, progress, u, input_data)  # fmt: skip

    def next(self, best: int = 10, *, until: Optional[float] = None, samples: Optional[int] = None,
             places: int = 31, run: Union[str, int, None] = None, u: Any = None,
             input_data: Any = None) -> Any:  # fmt: skip
        """Where one more sample would tell most: a list of points, best first, with all gains in its arrays."""
        from .ahead import following

        return following(self, best, until, samples, places, run, u, input_data)

    def solution(self, t: Any = None, x: Any = None, *, run: Union[str, int, None] = None) -> Any:
        """The denoised solution and its standard deviation, at times `t` within the record (of fields: and places `x`,
        a grid of both). Without `t`: on the grid of the result file. A result read from a file interpolates there."""
        from .solution import solution

        return solution(self, t, x, run)

    def residuals(self) -> Any:
        """Measured values, fitted ones and their differences at the measured points, by name. Of a result that was loaded
        they are the file's: seven digits, and of long records every ``result["samples"]["step"]``-th row."""
        from .solution import residuals

        return residuals(self)

    def law_residuals(self, t: Any, x: Any = None, *, run: Union[str, int, None] = None, data: Any = None,
                      progress: Optional[bool] = None) -> Any:  # fmt: skip
        """Both sides of the law along the solution: ``lhs``, ``rhs`` and their difference. A result that was loaded
        repeats its search, on its file or on ``data``."""
        from .solution import law_residuals

        return law_residuals(self, t, x, run, self._fit("law_residuals", data, progress))

    def score(self, data: Any, *, start: Optional[int] = None, state: Any = None, continues: bool = False,
              draws: int = 400, seed: int = 1, boundary: Optional[str] = None, of_run: Union[str, int, None] = None,
              run: int = 0, threads: Optional[int] = None, time_limit: Optional[float] = None,
              progress: Optional[bool] = None, input_data: Any = None, **reading: Any) -> Any:  # fmt: skip
        """The law on data that it has not seen: a :class:`kbass.Score` beside its rival and forecasts without a law.

        `start` rows are for the initial state, or `state` is it, or the data go on where the record ended
        (`continues`). `input_data` has the inputs of a law with inputs where the data have them not. `of_run` chooses among the result's runs, `run` among the data's. Other keywords are those of
        :func:`kbass.read`."""
        from .score import score

        return score(self, data, start, state, continues, draws, seed, boundary, of_run, run, threads, time_limit,
                     progress, input_data, reading)  # fmt: skip

    def _again(self, data: Any, what: str = "explain") -> "Tuple[Data, Dict[str, Any]]":
        """Data and settings of the search; of a result that was loaded as its file recorded them."""
        from .data import read

        if data is None and self._data is not None and self._keywords is not None:
            return self._data, self._keywords
        about = self.document["data"]
        settings = {name.replace("-", "_"): value for name, value in self.document["settings"].items()
                    if value is not None and value is not False}  # fmt: skip
        source = about["source"] or ""
        if data is None and not os.path.exists(source):
            raise DataError("%s needs the data: this result was loaded, and the file %r is not there; "
                            "%s(..., data=...) takes them" % (what, source, what))  # fmt: skip
        reading = dict(about["reading"])
        if "every" in reading:
            reading["every"] = int(reading["every"])
        table = read(source if data is None else data, sigma=about["sigma_columns"], **reading)
        if data is None and table.sha256 != about["sha256"]:
            raise DataError("%s is not the file that this result was found in: its content has changed" % source)
        return table, settings

    def explain(self, *terms: str, data: Any = None, progress: Optional[bool] = None) -> List[Dict[str, Any]]:
        """What dropping or adding terms would do: "x*y" in every equation, "y_t: x" in one. The search is repeated, with
        the same seed; ``discover(..., explain=...)`` asks along with the first. A result that was loaded reads its file
        again, or takes ``data``."""
        wanted = "; ".join(terms)
        if self._keywords is not None and self._keywords.get("explain") == wanted:
            return list(self.document["explanations"])
        from .discovery import run_discovery

        table, keywords = self._again(data)
        again = run_discovery(table, {**keywords, "explain": wanted}, progress=progress)
        return list(again.document["explanations"])

    def plot(self, **options: Any) -> Any:
        """Data, fit, band and rivals, by matplotlib; returns the figure."""
        from .plot import plot

        return plot(self, **options)

    def report(self, path: "Union[str, os.PathLike[str]]", *, until: Optional[float] = None,
               input_data: Any = None) -> str:  # fmt: skip
        """Writes the page that ``kbass report`` makes, and returns its path; `until` adds a forecast, for which a law with
        inputs needs `input_data`."""
        from ._show import report

        return report(self, path, until, input_data)


def load(source: "Union[str, os.PathLike[str]]") -> Result:
    """A result from a file that the command or :meth:`Result.to_json` wrote, or from the JSON text itself.

    >>> hares = kbass.discover(kbass.example("hare-lynx"), degree=2, threads=1)
    >>> kbass.load(hares.to_json()) == hares
    True
    """
    is_text = isinstance(source, str) and source.lstrip()[:1] == "{"
    where = "the text" if is_text else os.fspath(source)
    try:
        document = str(source) if is_text else open(source, encoding="utf-8").read()
    except OSError as error:
        raise FileError("%s: %s" % (where, error.strerror or error), field=where) from None
    except UnicodeDecodeError:
        raise FileError("%s: found no text, needed a result as JSON" % where, field=where) from None
    try:
        found = json.loads(document)
    except ValueError as error:
        raise FileError("%s: this is no JSON: %s" % (where, error), field=where) from None
    if not isinstance(found, dict) or found.get("format") != "kbass-result":
        raise FileError('%s: found no "format": "kbass-result", needed a file of kbass discover --json' % where,
                        field=where)  # fmt: skip
    try:
        result = Result(document)
        result.equations, result.candidates, result.runs
    except (KeyError, TypeError, ValueError) as error:
        raise FileError("%s: this result is not whole: %s" % (where, error), field=where) from None
    return result


__all__ = ["Result", "Equation", "Equations", "Term", "load", "lib", "call", "text", "ArgumentError"]

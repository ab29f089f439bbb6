"""kbass.discover: from measurements to equations."""

from __future__ import annotations

import logging
import warnings
from typing import Any, Callable, Dict, Optional

from . import _settings
from ._library import Handle, call, create, lib, take_text, text
from ._run import Progress, Run
from .data import Data, read_to_discover
from .errors import DataWarning, StoppedWarning
from .result import Result

KEEP_RESULT = 1  # KBASS_KEEP_RESULT: what kbass_discovery_json writes

log = logging.getLogger("kbass")
log.addHandler(logging.NullHandler())


def _found(discovery: Handle, data: Data, keywords: Dict[str, Any], document: str) -> Result:
    n = lib.kbass_discovery_candidates(discovery)
    candidates = [text(lib.kbass_discovery_candidate(discovery, i)) for i in range(n)]
    return Result(document, candidates=candidates, data=data, discovery=discovery, keywords=keywords)


def run_discovery(data: Data, keywords: Dict[str, Any], *, progress: Optional[bool] = None,
                  callback: Optional[Callable[[Progress], Any]] = None, raises: bool = False) -> Result:  # fmt: skip
    settings = _settings.make(keywords)
    run = Run(progress, callback, raises)

    def work(tick: Any) -> Result:
        discovery = create("discovery", "kbass_discovery_create", data._handle, settings)
        lib.kbass_discovery_keep(discovery, KEEP_RESULT)
        call("kbass_discovery_run", discovery, tick, None)
        return _found(discovery, data, keywords, take_text("kbass_discovery_json", discovery))

    result: Result = run(work)
    log.info("%s in %.2f s: %s", result.outcome, result["seconds"]["total"], "; ".join(map(str, result.equations)))
    for warning in result.warnings:
        log.warning("%s", warning)
    if run.is_stopped:
        found = "this is the best answer by then" if result.equations else "there was no model yet"
        warnings.warn("stopped: %s" % found, StoppedWarning, stacklevel=3)
    return result


def discover(data: Any, *, time: Optional[str] = None, axes: Any = None, run: Optional[str] = None, sigma: Any = None,
             within: Any = None, every: Optional[int] = None, use: Any = None, ignore: Any = None, rename: Any = None,
             dates: Optional[str] = None, missing: Any = None, progress: Optional[bool] = None,
             callback: Optional[Callable[[Progress], Any]] = None, part: Optional[int] = None,
             **settings: Any) -> Result:  # fmt: skip
    """Finds the equations behind measurements.

    `data` is a path, a DataFrame, a dict of columns, an xarray Dataset, or a list of these as runs of one law. `time`
    names the column of time (default: t or time), `axes` those of time and space ("t,x"), `run` the one that numbers
    runs, `sigma` those of error bars; `use`, `ignore` and `rename` choose columns;
    `within` and `every` read a part of a file, `dates` and `missing` say how its cells are meant; `part` is how many values
    of a large grid are fitted (0: all). All settings of the command are
    keywords: ``degree=3``, ``terms=["x*y", "sin(x)"]``, ``noise={"x": 0.1}``, ``time_limit=10``;
    :func:`kbass.settings` has them all.

    Ctrl-C stops the search and returns the best answer so far with a warning, a second one raises. `progress` shows a
    bar (default: in terminals and notebooks); `callback` is called with a :class:`kbass.Progress`, and stops the search
    when it returns something true.

    >>> result = kbass.discover(kbass.example("hare-lynx"), degree=2, threads=1)
    >>> [equation.lhs for equation in result.equations]
    ['x_t', 'y_t']
    """
    _settings.check_names(settings, list(_settings.settings()) + list(_settings.READING) + ["progress", "callback"])
    reading = dict(time=time, axes=axes, run=run, within=within, every=every, use=use, ignore=ignore, rename=rename,
                   dates=dates, missing=missing, progress=progress)  # fmt: skip
    table = read_to_discover(data, reading, sigma, part)
    for doubt in table.doubts:
        warnings.warn(doubt, DataWarning, stacklevel=2)
    return run_discovery(table, settings, progress=progress, callback=callback)

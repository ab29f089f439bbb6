"""kbass.doctor: what data can carry, before any fit."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional

from . import _arrays, _settings
from ._arrays import contiguous, pointer
from ._library import Handle, call, create, take_text
from ._run import Run
from .data import Data, read


class Findings(List[Dict[str, Any]]):
    """A list of findings, each a dict: severity, check, subject, number, sentence, suggestion (docs/schema.md)."""

    verdict: str  #: "fine", "warning" or "hopeless": the gravest

    def __str__(self) -> str:
        lines = ["%-8s %s: %s" % (f["severity"], f["check"], f["sentence"]) for f in self]
        return "\n".join(lines + ["verdict: %s" % self.verdict])

    def _repr_html_(self) -> str:
        from html import escape

        rows = ["<tr><td>%s</td><td>%s</td><td>%s</td><td>%s</td></tr>"
                % tuple(escape(str(f[key])) for key in ("severity", "check", "sentence", "suggestion"))
                for f in self]  # fmt: skip
        return "<table>%s</table><p>%s</p>" % ("".join(rows), escape(self.verdict))


def examine(data: Data, keywords: Dict[str, Any], raises: bool = True) -> Handle:
    settings = _settings.make(keywords)
    return Run(False, raises=raises)(
        lambda _tick: create("doctor", "kbass_doctor_create", data._handle, settings))  # fmt: skip


def smooth(data: Data, times: Any, keywords: Dict[str, Any]) -> Any:
    """The data smoothed without any equation: times x states, NaN for states that cannot be."""
    handle = examine(data, keywords)
    t, k = contiguous(times), len(data.states)
    mean, sd = _arrays.room(len(t), k), _arrays.room(len(t), k)
    call("kbass_doctor_smooth", handle, len(t), pointer(t), None, pointer(mean), pointer(sd))
    return mean


def doctor(data: Any, *, time: Optional[str] = None, axes: Any = None, run: Optional[str] = None, sigma: Any = None,
           within: Any = None, every: Optional[int] = None, use: Any = None, ignore: Any = None, rename: Any = None,
             dates: Optional[str] = None, missing: Any = None, **settings: Any) -> Findings:  # fmt: skip
    """Says what data can carry: sampling, noise, outliers, gaps, terms that are alike. Data and keywords are those of
    :func:`kbass.discover`.

    >>> kbass.doctor(kbass.example("hare-lynx")).verdict in ("fine", "warning")
    True
    """
    table = read(data, time=time, axes=axes, run=run, sigma=sigma, within=within, every=every, use=use,
                 ignore=ignore, rename=rename, dates=dates, missing=missing)  # fmt: skip
    found, grave = Findings(), ("fine", "warning", "hopeless")
    found.verdict = grave[0]
    for i, name in enumerate(table.runs or [""]):  # the doctor takes one run at a time
        one = Data(create("data", "kbass_data_pick", table._handle, i)) if name else table
        document = json.loads(take_text("kbass_doctor_json", examine(one, settings)))
        found += [{**finding, "run": name} if name else finding for finding in document["findings"]]
        found.verdict = max(found.verdict, document["verdict"], key=grave.index)
    return found

"""Settings by keyword. Names, kinds, ranges, choices and help are the library's; nothing is kept twice."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Dict, Iterable, List, NamedTuple, Optional

from . import _library
from ._library import Handle, call, create, encode, lib, text, texts
from .errors import ArgumentError

#: how data are read, beside the settings
READING = ("time", "axes", "run", "sigma", "within", "every", "use", "ignore", "rename", "dates", "missing", "part")


class Setting(NamedTuple):
    """One setting, as the library describes it."""

    name: str
    kind: str
    default: Any
    choices: Optional[List[str]]
    group: str
    help: str


_KINDS = ("integer", "flag", "choice", "real", "text")


def _describe(index: int) -> Setting:
    info = lib.kbass_settings_info(index).contents
    kind = _KINDS[info.kind]
    choices = text(info.choices).split("|") if info.choices else None
    default: Any = {"flag": False, "text": None, "choice": choices[0] if choices else None}.get(kind)
    if kind in ("integer", "real") and info.standard >= info.low:
        default = int(info.standard) if kind == "integer" else info.standard
    return Setting(text(info.name).replace("-", "_"), kind, default, choices, text(info.group), text(info.help))


def settings() -> Dict[str, Setting]:
    """Every setting by its keyword, with kind, default and help.

    >>> kbass.settings()["degree"].kind
    'integer'
    >>> kbass.settings()["kernel"].choices[0]
    'se'
    """
    found = (_describe(i) for i in range(lib.kbass_settings_count()))
    return {setting.name: setting for setting in found}


#: PySINDy's, and what to use
INSTEAD = {
    "feature_library": "feature_library: candidate terms are settings here: degree=3, terms=[\"x*y\", \"sin(x)\"], derivatives=4",
    "optimizer": "optimizer: there is none to choose; terms are kept by their probability, and noise=, forbid=, require= say "
                 "what is known",
    "differentiation_method": "differentiation_method: nothing is differentiated; the equations are integrated and fitted to "
                              "the data",
    "x_dot": "x_dot: derivatives are not needed; give the measurements X and their times t",
    "ensemble": "ensemble: probabilities come from the posterior; equations[0].terms have them",
    "poly_order": "poly_order: it is called degree= here",
    "threshold": "threshold: terms are kept by their probability, not by their size",
}  # fmt: skip


def refuse_foreign(keywords: Iterable[str]) -> None:
    for name in keywords:
        if name in INSTEAD:
            raise ArgumentError(INSTEAD[name], field=name)


def check_names(given: Any, known: Any) -> None:
    """Unknown keywords are answered with the nearest known one."""
    refuse_foreign(given)
    for name in given:
        if name in known or name.replace("-", "_") in known:
            continue
        words = list(known)
        nearest = lib.kbass_nearest(encode(name), len(words), texts(words))
        hint = ' (did you mean "%s"?)' % text(nearest) if nearest else ""
        raise ArgumentError('unknown setting "%s"%s' % (name, hint), field=name)


# How a dict is written: between a key and its value, between two of them.
_PAIRS = {"noise": ("=", ", "), "units": (":", ", "), "constants": (":", ", "), "sigma": ("=", ", "),
          "within": ("=", ", "), "rename": ("=", ", "), "fix": (" = ", "; "),
          "unknown": ("=", ", "), "input_delay": ("=", ", ")}  # fmt: skip
_RANGES = ("within", "unknown", "input_delay")  # a pair is from the one to the other there
_LINES = ("fix", "constraint")  # lists of whole equations


def _write_item(name: str, value: Any) -> str:
    is_range = name in _RANGES and isinstance(value, (list, tuple)) and len(value) == 2
    return "%s:%s" % (write("", value[0]), write("", value[1])) if is_range else write("", value)


def write(name: str, value: Any) -> str:
    """A value as the command line has it.

    >>> from kbass._settings import write
    >>> write("terms", ["x", "x*y"]), write("forbid", {"x_t": ["x^3", "y"]}), write("unknown", {"K": (0.1, 20)})
    ('x, x*y', 'x_t: x^3, y', 'K=0.1:20')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (str, Path)):
        return str(value)
    if isinstance(value, dict):
        equals, between = _PAIRS.get(name, (": ", "; "))
        return between.join("%s%s%s" % (key, equals, _write_item(name, item)) for key, item in value.items())
    if isinstance(value, (list, tuple, set, frozenset)) or getattr(value, "shape", ()) != ():
        return ("; " if name in _LINES else ", ").join(write("", item) for item in value)
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return repr(value)
    raise ArgumentError("%s: found a %s, needed a number or text" % (name, type(value).__name__), field=name)


def default_threads() -> Optional[str]:
    """What the environment asks of all parallel programs: joblib says so to its processes."""
    asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return asked if asked.isdigit() and int(asked) > 0 else None


def make(keywords: Dict[str, Any]) -> Handle:
    check_names(keywords, list(settings()) + list(READING))
    handle = create("settings", "kbass_settings_create")
    for name, value in keywords.items():
        if value is not None:
            call("kbass_settings_set", handle, encode(name), encode(write(name, value), name), field=name)
    threads = default_threads()
    if threads and keywords.get("threads") is None:
        call("kbass_settings_set", handle, b"threads", encode(threads))
    return handle


def version() -> str:
    return text(_library.lib.kbass_version())

"""Results for notebooks, pages and computer algebra."""

from __future__ import annotations

import math
import os
import re
import subprocess
import tempfile
from html import escape
from typing import TYPE_CHECKING, Any, List, Optional, Union

from . import _library
from ._library import encode
from .errors import DataError, FileError
from .inputs import input_table

if TYPE_CHECKING:
    from .result import Result, Term


def _digits(value: float, sd: float) -> str:
    """To two digits of its standard deviation."""
    if not math.isfinite(value):
        return "-"
    if not (math.isfinite(sd) and sd > 0) or value == 0:
        return "%.6g" % value
    decimals = 1 - math.floor(math.log10(sd))
    plain = 1e-4 <= abs(value) < 1e6 and decimals <= 12
    return "%.*f" % (max(decimals, 0), value) if plain else "%.3g" % value


def _share(p: float) -> str:
    if not math.isfinite(p):
        return "-"
    return "> 0.999" if p > 0.999 else "< 0.001" if p < 0.001 else "%.3f" % p


def _is_shown(term: "Term", all_terms: bool) -> bool:
    return all_terms or term.selected or term.probability > 0.01


def plain(result: "Result", all_terms: bool) -> str:
    """Equations and terms of a result that was read from a file."""
    lines = ["  " + str(equation) for equation in result.equations] or ["  no equations"]
    for equation in result.equations:
        lines.append("")
        for term in equation.terms:
            if _is_shown(term, all_terms):
                low, high = (_digits(value, term.sd) for value in term.interval)
                lines.append("  %s  %-10s %12s   %s to %s   %s  %s" % (
                    equation.lhs, term.term, _digits(term.weight, term.sd), low, high, _share(term.probability),
                    term.verdict))  # fmt: skip
    lines += ["", "  outcome: %s" % result.outcome]
    return "\n".join(lines) + "\n"


# ---------------------------------------------------------------- notebooks

_HEAD = "<tr><th></th><th>term</th><th>weight</th><th>sd</th><th>95 % interval</th><th>probability</th><th></th></tr>"


def _row(lhs: str, term: "Term") -> str:
    low, high = (_digits(value, term.sd) for value in term.interval)
    cells = [lhs, term.term, _digits(term.weight, term.sd) + (" " + term.unit if term.unit else ""),
             "%.2g" % term.sd if math.isfinite(term.sd) else "-", "%s to %s" % (low, high), _share(term.probability),
             term.verdict]  # fmt: skip
    style = "" if term.selected else ' style="color:gray"'
    return "<tr%s>%s</tr>" % (style, "".join("<td>%s</td>" % escape(cell) for cell in cells))


def html(result: "Result") -> str:
    """Equations, the terms near them, noise and rivals."""
    if not result.equations:
        return "<p>no model (%s)</p>" % escape(result.outcome)
    rows = [_row(equation.lhs if i == 0 else "", term) for equation in result.equations if not equation.known
            for i, term in enumerate(t for t in equation.terms if _is_shown(t, False))]  # fmt: skip
    noise = ", ".join("%s %.2g" % (name, sd) for name, sd in result.noise.items() if math.isfinite(sd))
    parts = ["<pre>%s</pre>" % escape(_heading(result)), "<table>%s%s</table>" % (_HEAD, "".join(rows)),
             "<p>%s; probability %s; noise %s</p>" % (escape(result.outcome), _share(result.probability),
                                                     escape(noise))]  # fmt: skip
    parts += ["<p><b>warning:</b> %s</p>" % escape(warning) for warning in result.warnings]
    for rival in result.runners_up[:3]:
        parts.append("<p>rival, odds 1 : %.3g: %s</p>" % (math.exp(min(-rival["log_odds"], 300)),
                                                          escape("; ".join(rival["equations"]))))  # fmt: skip
    return "<div>%s</div>" % "".join(parts)


def _sum(terms: "List[Term]") -> str:
    words = []
    for i, term in enumerate(terms):
        sign = "-" if term.weight < 0 else "+" if i else ""
        number = _digits(abs(term.weight), term.sd)
        space = " " if sign and i else ""
        words.append(sign + space + (number if term.term == "1" else "%s %s" % (number, term.term)))
    return " ".join(words) or "0"


def _heading(result: "Result") -> str:
    return "\n".join("%s = %s" % (e.lhs, _sum(e.selected)) for e in result.equations)


# ---------------------------------------------------------------- computer algebra


def sympy_equations(result: "Result") -> Any:
    import sympy

    axes = [sympy.Symbol(name) for name in result.axes]
    known = {name: sympy.Function(name)(*axes) for name in result.states}
    names = {**{str(axis): axis for axis in axes}, **known}

    def word(name: str) -> Any:
        """u_xx: the second derivative of u."""
        if name in names:
            return names[name]
        base, _, order = name.rpartition("_")
        if base in known and order and all(letter in result.axes for letter in order):
            return sympy.Derivative(known[base], *(sympy.Symbol(letter) for letter in order))
        return getattr(sympy, {"abs": "Abs"}.get(name, name))

    def expression(term: str) -> Any:
        used = {name: word(name) for name in re.findall(r"[A-Za-z_]\w*", re.sub(r"\d+\.?\d*[eE][-+]?\d+", "", term))}
        stand_ins = {name: sympy.Symbol("kbass_%d" % i) for i, name in enumerate(used)}
        safe = {n: (used[n] if not hasattr(used[n], "free_symbols") or isinstance(used[n], type) else stand_ins[n])
                for n in used}  # fmt: skip
        found = sympy.sympify(term.replace("^", "**"), locals=safe)
        return found.subs({stand_ins[n]: used[n] for n in used if safe[n] is stand_ins[n]})

    equations = []
    for equation in result.equations:
        right = sum((sympy.Float(t.weight) * expression(t.term) for t in equation.selected), sympy.Integer(0))
        order = equation.lhs.rsplit("_", 1)[1]
        left = sympy.Derivative(known[equation.lhs.rsplit("_", 1)[0]], *[axes[0]] * len(order))
        equations.append(sympy.Eq(left, right))
    return equations


# ---------------------------------------------------------------- pages


def report(result: "Result", path: "Union[str, os.PathLike[str]]", until: Optional[float], input_data: Any) -> str:
    command = _library.command()
    if command is None:
        raise DataError("the page is made by the kbass command, which is not found beside %s" % _library.lib._name)
    out = os.fspath(path)
    encode(out, "path")
    more = ["--until", repr(float(until))] if until is not None else []
    table = input_table(result, None, input_data, None)
    with tempfile.TemporaryDirectory(prefix="kbass_") as folder, result._file() as file:
        if table is not None:
            table.write(os.path.join(folder, "inputs.csv"))
            more += ["--input-data", os.path.join(folder, "inputs.csv")]
        done = subprocess.run([command, "report", os.fsdecode(file), "-o", out, *more], capture_output=True, text=True)
        if done.returncode != 0:
            words = done.stderr.strip().replace("kbass: ", "").replace(os.fsdecode(file), "the result")
            raise FileError(words or "kbass report failed", field=out)
    return out

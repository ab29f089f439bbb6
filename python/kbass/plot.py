"""Figures of a result, by matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List

from .ahead import Model, write_equation
from .errors import DataError, Error

if TYPE_CHECKING:
    from .result import Result


def _rivals(result: "Result", run: int) -> "List[Any]":
    """Times and states of each near rival, integrated from its own start; one that cannot be followed is left out."""
    import numpy as np

    posteriors = result.document["run_posteriors"]
    posterior = posteriors[run] if posteriors else result.document["posterior"]
    found = []
    for model in (posterior or {}).get("models", [])[1:4]:
        if len(model["windows"]) != 1:
            continue
        window, terms = model["windows"][0], model["terms"]
        lines = []
        for equation in result.equations:
            own = [t for t in terms if t["state"] == equation.state]
            lines.append(write_equation(equation.lhs, [t["weight"] for t in own], [t["term"] for t in own], result.axes[0]))
        times = np.linspace(window["first"], window["last"], 400)
        try:
            found.append((times, Model(lines).integrate(window["start"], times), model["log_odds"]))
        except Error:
            continue
    return found


def _plot_states(result: "Result", run: int, axes: Any, rivals: bool) -> None:
    import numpy as np

    solution, samples = result.solution(run=run), result.document["samples"]
    which = np.asarray(samples["run"]) if samples["run"] else np.zeros(len(samples["axes"][result.axes[0]]), int)
    times = np.asarray(samples["axes"][result.axes[0]])[which == run]
    others = _rivals(result, run) if rivals else []
    for j, (name, ax) in enumerate(zip(result.states, axes)):
        values = np.array([np.nan if v is None else v for v in samples["measured"][name]])[which == run]
        mean, sd = solution.mean[:, j], solution.sd[:, j]
        ax.fill_between(solution.t, mean - 1.96 * sd, mean + 1.96 * sd, alpha=0.25, color="C0", label="95 %", lw=0)
        for i, (t, states, _odds) in enumerate(others):
            if j < states.shape[1]:
                ax.plot(t, states[:, j], color="gray", lw=0.8, ls="--", label="rivals" if i == 0 else None)
        ax.plot(solution.t, mean, color="C0", label="fit")
        ax.plot(times, values, "k.", label="data")
        ax.set_ylabel(name)
    axes[-1].set_xlabel(result.axes[0])
    axes[0].legend(loc="best", fontsize="small")


def _plot_fields(result: "Result", axes: Any, figure: Any) -> None:
    import numpy as np

    if len(result.axes) > 2:
        raise DataError("plot shows fields over one axis; report shows more")
    solution, samples = result.solution(), result.document["samples"]
    t, x = (np.asarray(samples["axes"][name]) for name in result.axes)
    for j, name in enumerate(result.states):
        measured, fitted, spread = axes[j]
        values = np.array([np.nan if v is None else v for v in samples["measured"][name]])
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        points = measured.scatter(t, x, c=values, s=12, vmin=low, vmax=high)
        fitted.pcolormesh(solution.t, solution.x, solution.mean[:, :, j].T, shading="auto", vmin=low, vmax=high)
        band = spread.pcolormesh(solution.t, solution.x, solution.sd[:, :, j].T, shading="auto", cmap="magma")
        figure.colorbar(points, ax=[measured, fitted])
        figure.colorbar(band, ax=spread)
        for ax, title in zip(axes[j], (name + ", data", name + ", fit", name + ", sd")):
            ax.set_title(title, fontsize="medium")
            ax.set_xlabel(result.axes[0])
            ax.set_xlim(solution.t[0], solution.t[-1])
            ax.set_ylim(solution.x[0], solution.x[-1])
        measured.set_ylabel(result.axes[1])


def plot(result: "Result", *, run: Any = None, rivals: bool = True, figure: Any = None) -> Any:
    """Data, fit, band and rivals of one run; into `figure` if given."""
    import matplotlib.pyplot as plt

    if not result.equations:
        raise DataError("there is nothing to plot: the result has no model (%s)" % result.outcome)
    index, n = result._run_index(run), len(result.states)
    is_field = len(result.axes) > 1
    if figure is None:
        figure = plt.figure(figsize=(10, 3 * n) if is_field else (7, 1.2 + 1.9 * n), layout="constrained")
    grid = figure.subplots(n, 3 if is_field else 1, squeeze=False, sharex=not is_field)
    if is_field:
        _plot_fields(result, grid, figure)
    else:
        _plot_states(result, index, grid[:, 0], rivals)
    return figure

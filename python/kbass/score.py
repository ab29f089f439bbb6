"""A law on data that it has not seen."""

from __future__ import annotations

import ctypes
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Union

from . import _arrays
from ._arrays import ask_times, pointer
from ._library import Handle, create, kbass_score, kbass_score_options, lib, take_text, text
from ._run import Run
from .data import read
from .errors import ArgumentError, DataError

if TYPE_CHECKING:
    from .result import Result


@dataclass(frozen=True)
class Predictor:
    """How well one foretold the values: numbers by state, and ``"all"``; arrays are points x states."""

    name: str
    r2: Dict[str, float]
    log_score: Dict[str, float]
    within_50: Dict[str, float]
    within_90: Dict[str, float]
    leaves: Optional[float]  #: the time from which it is outside of its 99 % band; None: it stays
    n_lost: int
    mean: Any
    low: Any
    high: Any


class Score:
    """The law against its nearest rival and two forecasts without a law; ``score["law"]`` is a :class:`Predictor`."""

    def __init__(self, document: Dict[str, Any], t: Any, x: Any, values: Any, predictors: List[Predictor]) -> None:
        self.document = document  #: as ``kbass score --json`` writes it
        self.t, self.x, self.values = t, x, values  #: the scored rows
        self.predictors = {p.name: p for p in predictors}

    def __getitem__(self, name: str) -> Predictor:
        return self.predictors[name]

    @property
    def r2(self) -> float:
        """Share of the variance that the law explains."""
        return self.predictors["law"].r2["all"]

    def to_frame(self) -> Any:
        import pandas

        kinds = ("r2", "log_score", "within_50", "within_90")
        rows = [{"predictor": p.name, "state": state, **{kind: getattr(p, kind)[state] for kind in kinds}}
                for p in self.predictors.values() for state in p.r2]  # fmt: skip
        return pandas.DataFrame(rows)

    def __repr__(self) -> str:
        return "<kbass.Score: %s>" % ", ".join("%s R^2 %.3f" % (p.name, p.r2["all"]) for p in self.predictors.values())


def _predictor(found: Any, written: Dict[str, Any], shape: List[int]) -> Predictor:
    numbers = {key: written[key] for key in ("name", "r2", "log_score", "within_50", "within_90", "leaves", "n_lost")}
    return Predictor(**numbers, **{key: _arrays.copied(getattr(found, key), *shape) for key in ("mean", "low", "high")})


def score(result: "Result", data: Any, start: Optional[int], state: Any, continues: bool, draws: int, seed: int,
          boundary: Optional[str], of_run: Union[str, int, None], run: int, threads: Optional[int],
          time_limit: Optional[float], progress: Optional[bool], input_data: Any, reading: Dict[str, Any]) -> Score:  # fmt: skip
    posterior = result._posterior(of_run)
    known = {key: value for key, value in result.document["data"]["reading"].items() if key in ("time", "axes", "run")}
    table = read(data, **{**(known if isinstance(data, str) else {}), **reading})
    inputs = None if input_data is None else read(input_data)
    from_state = None if state is None else ask_times(state, "state")[0]
    k = lib.kbass_posterior_states(posterior)
    if from_state is not None and _arrays.size(from_state) != k:
        raise DataError("state: found %d numbers, needed %d" % (_arrays.size(from_state), k), field="state")
    if draws < 1 or (start is not None and start < 1):
        raise ArgumentError("draws, start: found %s and %s, needed 1 or more" % (draws, start))

    def work(tick: Any) -> Handle:
        options = kbass_score_options(ctypes.sizeof(kbass_score_options), start or 0, pointer(from_state),
                                      int(continues), draws, seed, threads or 0, _arrays.optional(boundary),
                                      time_limit or 0, tick, None, None if inputs is None else inputs._handle.pointer, 0)  # fmt: skip
        return create("score", "kbass_posterior_score", posterior, table._handle, run, ctypes.byref(options))

    handle = Run(progress, raises=True)(work)
    found = ctypes.cast(handle.pointer, ctypes.POINTER(kbass_score)).contents
    document = json.loads(take_text("kbass_score_json", handle, posterior))
    n, space = found.n_points, len(result.axes) - 1
    predictors = [_predictor(found.predictors[i], document["predictors"][i], [n, k]) for i in range(found.n_predictors)]
    assert [p.name for p in predictors] == [text(found.predictors[i].name) for i in range(found.n_predictors)]
    places = _arrays.copied(found.positions, n, space) if space else None
    return Score(document, _arrays.copied(found.times, n), places, _arrays.copied(found.values, n, k), predictors)

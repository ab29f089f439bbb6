"""KBASS: the differential equations behind a few noisy measurements.

    import kbass
    result = kbass.discover("data.csv")             # or a DataFrame, a dict of arrays, a Dataset, a list of runs
    model = kbass.KBASS(degree=3).fit(X, t)         # as scikit-learn and PySINDy have it

Everything is computed by libkbass, which the command ``kbass`` uses too; docs/python.md is the guide.
"""

from __future__ import annotations

from ._run import Progress
from ._settings import Setting, settings, version
from .ahead import Forecast, Points, simulate, systems
from .data import Data, example, examples, read
from .discovery import discover
from .doctor import Findings, doctor
from .errors import (
    ArgumentError,
    DataError,
    DataWarning,
    Error,
    ExpressionError,
    FileError,
    LibraryError,
    NotFittedError,
    NumericalError,
    OutOfMemoryError,
    StoppedWarning,
    TimeLimitError,
)
from .estimator import KBASS
from .result import Equation, Equations, Result, Term, load
from .score import Predictor, Score
from .solution import Solution

__version__ = version()

__all__ = [
    "discover", "KBASS", "Result", "Equation", "Equations", "Term", "load", "Data", "read", "example", "examples",
    "doctor", "Findings", "simulate", "systems", "Forecast", "Points", "Score", "Predictor", "Solution", "Progress", "Setting", "settings",
    "Error", "ArgumentError", "DataError", "ExpressionError", "FileError", "LibraryError", "NotFittedError",
    "NumericalError", "OutOfMemoryError", "DataWarning", "StoppedWarning", "TimeLimitError",
]  # fmt: skip

"""What can go wrong, with the library's own sentence: what was found, what was needed, and where.

Each is also the built-in exception that Python programs expect::

    >>> import kbass
    >>> try:
    ...     kbass.discover({"t": [0, 1, 2], "x": [1, 2, 3]}, degre=2)
    ... except kbass.ArgumentError as error:
    ...     print(error)
    unknown setting "degre" (did you mean "degree"?)
    >>> issubclass(kbass.ArgumentError, ValueError)
    True
"""

from __future__ import annotations

import re
from typing import Match, Optional

# Options whose value follows without quotes; behind the others a sentence may go on.
_VALUED = ("time", "axes", "run", "ignore", "dates", "missing", "lhs")
_OPTION = re.compile(r'--([a-z][a-z-]*)(?: ("[^"]*"|[^\s;:)"]+))?')


def _keyword(found: Match[str]) -> str:
    name, value = found.group(1).replace("-", "_"), found.group(2) or ""
    if value.startswith('"') or value.isupper():
        return "%s=%s" % (name, value)
    if name in _VALUED and value and value not in ("if", "or", "and"):
        return '%s="%s"%s' % (name, value.rstrip(","), "," if value.endswith(",") else "")
    return "%s=%s" % (name, " " + value if value else "")


def in_python(message: str) -> str:
    """The library's sentence with keywords where it names options of the command.

    >>> from kbass.errors import in_python
    >>> in_python('dates can be read in two ways: say --dates dmy (day first)')
    'dates can be read in two ways: say dates="dmy" (day first)'
    >>> in_python('no time column (name it with --time NAME)')
    'no time column (name it with time=NAME)'
    """
    message = re.sub(r"^DATA: ", "", message)
    message = re.sub(r"^--([a-z-]+):", lambda found: found.group(1).replace("-", "_") + ":", message)
    message = re.sub(r"kbass discover \S+ (?=--)", "", message).replace("(--input-data FILE)", "(u= or input_data=)")
    return _OPTION.sub(_keyword, message)


class Error(Exception):
    """Any error of KBASS.

    ``field`` names the keyword, column or file at fault where it is known. Of an expression that cannot be read,
    ``source`` is the text and ``column`` the place in it, counted from 1; else they are "" and 0.
    """

    def __init__(self, message: str, field: Optional[str] = None, source: str = "", column: int = 0) -> None:
        super().__init__(message)
        self.field = field
        self.source = source
        self.column = column

    def __str__(self) -> str:
        message = str(self.args[0])
        if self.column > 0 and self.source:
            message += "\n    %s\n    %*s" % (self.source, self.column, "^")
        return message

    def __reduce__(self):  # type: ignore[no-untyped-def]
        return type(self), (self.args[0], self.field, self.source, self.column)


class ArgumentError(Error, ValueError):
    """A setting, name or number that is not usable."""


class FileError(Error, OSError):
    """A file that cannot be opened, read or written."""


class DataError(Error, ValueError):
    """Data that do not allow what was asked."""


class ExpressionError(Error, ValueError):
    """A term or equation that cannot be read."""


class OutOfMemoryError(Error, MemoryError):
    """Memory ran out; nothing was lost."""


class NumericalError(Error, ArithmeticError):
    """The numbers left the range where an answer has a meaning."""


class TimeLimitError(Error, TimeoutError):
    """The time limit was reached before data and dictionary were set up."""


class LibraryError(Error, ImportError):
    """libkbass cannot be found, or is of another version."""


class NotFittedError(Error, ValueError, AttributeError):
    """The estimator was asked for something before ``fit``."""


class DataWarning(UserWarning):
    """The data may have been taken for something else than they are; the search goes on."""


class StoppedWarning(UserWarning):
    """The run ended before its search did; the answer is the best by then."""


#: by the names that kbass_status_name gives; see _library.check
BY_STATUS = (Error, ArgumentError, FileError, DataError, ExpressionError, OutOfMemoryError, NumericalError,
             TimeLimitError)  # fmt: skip

"""A run in a thread of its own: the caller's thread stays free for Ctrl-C, a progress bar and a callback."""

from __future__ import annotations

import importlib
import importlib.util
import math
import sys
import threading
from typing import Any, Callable, NamedTuple, Optional

from ._library import kbass_progress_callback, text


class Progress(NamedTuple):
    """How far a run is."""

    stage: str
    fraction: float
    seconds: float
    n_active: int
    log_evidence: float
    n_iterations: int
    n_models: int
    seconds_left: float
    is_bound: bool

    def __str__(self) -> str:
        left = ""
        if math.isfinite(self.seconds_left):
            left = ", %s %.0f s left" % ("at most" if self.is_bound else "about", self.seconds_left)
        if self.stage in ("read", "draws"):
            return "%3.0f %% %s  %.1f s%s" % (100 * self.fraction, self.stage, self.seconds, left)
        evidence = ", evidence %.1f" % self.log_evidence if math.isfinite(self.log_evidence) else ""
        return "%s  step %d, %d fits, %d terms%s  %.1f s%s" % (
            self.stage, self.n_iterations, self.n_models, self.n_active, evidence, self.seconds, left)  # fmt: skip


PATIENCE = 0.5  # seconds without a word
PAUSE = 0.1  # between two looks
REDRAW = 0.5  # between two drawings in a notebook, which keeps them all

# ---------------------------------------------------------------- bars


def _is_interactive() -> bool:
    """A terminal or a notebook; scripts stay quiet."""
    return "ipykernel" in sys.modules or bool(getattr(sys.stderr, "isatty", lambda: False)())


def _tqdm() -> Any:
    """The notebook's where its widgets are installed too."""
    if "ipykernel" in sys.modules and importlib.util.find_spec("ipywidgets"):
        return importlib.import_module("tqdm.notebook").tqdm
    return importlib.import_module("tqdm").tqdm


class _Bar:
    """tqdm's where it is installed, a line of text else."""

    def __init__(self) -> None:
        self._tqdm: Any = None
        self._shown = False
        self._drawn = -math.inf
        self._pause = REDRAW if "ipykernel" in sys.modules else PAUSE
        try:
            self._tqdm = _tqdm()(total=100, leave=False, bar_format="{l_bar}{bar}| {elapsed} {postfix}")
        except ImportError:
            pass

    def show(self, now: Progress) -> None:
        if now.seconds - self._drawn < self._pause:
            return
        self._drawn = now.seconds
        if self._tqdm is not None:
            self._tqdm.n = round(100 * now.fraction)
            self._tqdm.set_description_str(now.stage, refresh=False)
            self._tqdm.set_postfix_str("%d terms" % now.n_active)
        else:
            sys.stderr.write("\r\033[Kkbass: %s" % (now,))
            sys.stderr.flush()
            self._shown = True

    def close(self) -> None:
        if self._tqdm is not None:
            self._tqdm.close()
        elif self._shown:
            sys.stderr.write("\r\033[K")


# ---------------------------------------------------------------- the run


class Run:
    """Carries `work(progress)` out. After Ctrl-C, ``is_stopped`` is True and the work has ended early, or, where
    ``raises``, KeyboardInterrupt goes on; a second Ctrl-C does in any case."""

    def __init__(self, progress: Optional[bool] = None, callback: Optional[Callable[[Progress], Any]] = None,
                 raises: bool = False) -> None:  # fmt: skip
        self.is_stopped = False
        self._raises = raises
        self._callback = callback
        self._wants_bar = _is_interactive() if progress is None else progress
        self._now: Optional[Progress] = None
        self._failure: Optional[BaseException] = None
        self._value: Any = None
        self._done = threading.Event()

    def _tick(self, now: Any, _user: Any) -> int:
        if self._wants_bar or self._callback:
            p = now.contents
            self._now = Progress(text(p.stage), p.fraction, p.seconds, p.n_active, p.log_evidence, p.n_iterations,
                                 p.n_models, p.seconds_left, bool(p.is_bound))  # fmt: skip
        return 1 if self.is_stopped else 0

    def _work(self, work: Callable[[Any], Any]) -> None:
        tick = kbass_progress_callback(self._tick)
        try:
            self._value = work(tick)
        except BaseException as failure:  # carried to the thread that waits
            self._failure = failure
        finally:
            self._done.set()

    def __call__(self, work: Callable[[Any], Any]) -> Any:
        thread = threading.Thread(target=self._work, args=(work,), name="kbass", daemon=True)
        thread.start()
        try:
            self._wait()
        except KeyboardInterrupt:
            self.is_stopped = True
            self._done.wait()  # a second Ctrl-C goes through
            if self._raises:
                raise
        except BaseException:
            self.is_stopped = True
            self._done.wait()
            raise
        thread.join()
        if self._failure is not None:
            raise self._failure
        return self._value

    def _wait(self) -> None:
        if not (self._wants_bar or self._callback):
            while not self._done.wait(3600):
                pass
            return
        bar: Optional[_Bar] = None
        is_over = False
        try:
            while not is_over:
                is_over = self._done.wait(PAUSE)
                now = self._now
                if now is None:
                    continue
                if self._callback and self._callback(now):
                    self.is_stopped = True
                if self._wants_bar and not is_over and (bar is not None or now.seconds >= PATIENCE):
                    bar = bar or _Bar()
                    bar.show(now)
        finally:
            if bar is not None:
                bar.close()

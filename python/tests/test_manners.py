"""Ctrl-C, progress, threads, processes, memory: how a guest behaves in somebody's process."""

import logging
import os
import resource
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import kbass

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(kbass.__file__).parents[1])}


def quick_data():
    t = np.linspace(0, 6, 25)
    return {"t": t, "x": np.cos(t), "y": -np.sin(t)}


def long_data():
    """A search of many seconds."""
    return kbass.simulate("lorenz96", until=4, samples=14, noise=5)


# ---------------------------------------------------------------- Ctrl-C

INTERRUPTED = """
import os, signal, sys, warnings
import kbass
warnings.simplefilter("always")
data = kbass.simulate("lorenz96", until=4, samples=14, noise=5)
def press(now):
    if now.seconds > 0.3: os.kill(os.getpid(), signal.SIGINT)
try:
    %s
    print("returned", result.outcome)
except KeyboardInterrupt:
    print("raised")
"""


def interrupted(code):
    done = subprocess.run([sys.executable, "-c", INTERRUPTED % code], capture_output=True, text=True, env=ENVIRONMENT)
    return done.stdout.strip(), done.stderr


def test_interrupted_discover_returns():
    out, err = interrupted("result = kbass.discover(data, callback=press)")
    assert out == "returned cancelled", err
    assert "StoppedWarning: stopped: " in err


def test_interrupted_twice_raises(monkeypatch):
    """The second comes while the first is waited for."""
    from kbass import _run

    class Impatient(threading.Event):
        def wait(self, timeout=None):
            raise KeyboardInterrupt

    run = _run.Run(False)
    run._done = Impatient()
    with pytest.raises(KeyboardInterrupt):
        run(lambda _tick: time.sleep(0.1))
    assert run.is_stopped


def test_interrupted_fit_raises():
    out, err = interrupted("kbass.KBASS(callback=press).fit(data.values, data.times); result = None")
    assert out == "raised", err


def test_signals_are_left_alone():
    before = signal.getsignal(signal.SIGINT)
    kbass.discover(quick_data(), degree=1, threads=1)
    assert signal.getsignal(signal.SIGINT) is before


# ---------------------------------------------------------------- progress


def test_callback():
    seen = []
    result = kbass.discover(quick_data(), callback=seen.append, threads=1)
    assert result.outcome == "converged" and seen and isinstance(seen[0], kbass.Progress)
    assert all(0 <= now.fraction <= 1 for now in seen) and seen[0].stage in str(seen[0])


def test_callback_stops():
    with pytest.warns(kbass.StoppedWarning):
        result = kbass.discover(long_data(), callback=lambda now: now.seconds > 0.5)
    assert result.outcome == "cancelled"


def test_callback_may_raise():
    def callback(_now):
        raise ZeroDivisionError("mine")

    begin = time.time()
    with pytest.raises(ZeroDivisionError, match="mine"):
        kbass.discover(long_data(), callback=callback)
    assert time.time() - begin < 60  # it was stopped; timing proper is a benchmark's


def test_time_limit():
    assert kbass.discover(long_data(), time_limit=0.5).outcome in ("time limit", "no model")


@pytest.mark.parametrize("without_tqdm", [False, True])
def test_bars(without_tqdm, capfd, monkeypatch):
    from kbass import _run

    monkeypatch.setattr(_run, "PATIENCE", 0)
    if without_tqdm:
        monkeypatch.setitem(sys.modules, "tqdm", None)
    kbass.discover(quick_data(), threads=1, progress=True)
    assert ("search" if without_tqdm else "%") in capfd.readouterr().err


def test_quiet(capfd, caplog, monkeypatch):
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)  # other tests' notebooks: this is a script
    with caplog.at_level(logging.INFO, "kbass"):
        kbass.discover(quick_data(), degree=1, threads=1)
    out, err = capfd.readouterr()
    assert (out, err) == ("", "") and "converged" in caplog.text


# ---------------------------------------------------------------- threads and processes


def test_eight_threads():
    expected = kbass.discover(quick_data(), degree=1, threads=1).document
    found = [None] * 8

    def work(i):
        found[i] = kbass.discover(quick_data(), degree=1, threads=1).document

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    for one in found:
        for mine, alone in zip(one["equations"], expected["equations"]):
            assert mine["terms"] == alone["terms"]


def test_the_gil_is_free():
    """Another thread counts while a search runs."""
    count, stop = [0], threading.Event()

    def work():
        while not stop.is_set():
            count[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=work)
    thread.start()
    begin = time.time()
    kbass.discover(long_data(), time_limit=1, threads=1)
    seconds = time.time() - begin
    stop.set()
    thread.join()
    assert count[0] > 20 * seconds  # of 1000 a second; the machine may be busy


FORK = """
import os, sys
import kbass, numpy as np
t = np.linspace(0, 6, 25)
data = {"t": t, "x": np.cos(t), "y": -np.sin(t)}
kbass.discover(data, degree=1, threads=%d)
child = os.fork()
if child == 0:
    kbass.discover(data, degree=1, threads=1)
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_fork_after_a_fit(threads):
    done = subprocess.run([sys.executable, "-c", FORK % threads], capture_output=True, text=True, env=ENVIRONMENT, timeout=60)
    assert done.stdout.strip() == "7", done.stderr


# ---------------------------------------------------------------- memory and time


def test_memory_does_not_grow():
    t = np.linspace(0, 3, 12)
    data = kbass.read({"t": t, "x": np.exp(-t) + 0.01 * np.cos(40 * t)})
    after = []
    for i in range(int(os.environ.get("KBASS_FITS", "40"))):
        kbass.discover(data, terms="x", threads=1)
        if i % 10 == 9:
            after.append(resident())
    assert after[-1] - after[1] < 2e6  # bytes; 20 leaked fits would be more, the allocator's noise is less


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def test_overhead_is_small():
    """What Python adds to a run: CPU time of a call less that of the library's own, which a result has. The bar is 10 ms."""
    data = kbass.read({name: column[::2] for name, column in quick_data().items() if name != "y"})
    kbass.discover(data, terms="x", threads=1)
    extra = []
    for _ in range(5):
        begin = time.perf_counter()
        result = kbass.discover(data, terms="x", threads=1)
        extra.append(time.perf_counter() - begin - result["seconds"]["total"])
    assert min(extra) < 0.1, extra  # ten times the bar: this is no benchmark


def test_warnings_are_ours_alone():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kbass.discover(quick_data(), degree=1, threads=1)

"""What the tests share: the command beside the library, and results that several of them look at."""

import json
import os
import subprocess

import pytest

import kbass
from kbass import _library

os.environ.pop("OMP_NUM_THREADS", None)


def run_command(*words, cwd=None):
    done = subprocess.run([_library.command(), *map(str, words)], cwd=cwd, capture_output=True, text=True)
    assert done.returncode in (0, 3), done.stderr  # 3: an answer, and no law
    return done.stdout


@pytest.fixture(scope="session")
def command():
    return run_command


@pytest.fixture(scope="session")
def vdp_data():
    return kbass.simulate("vdp", until=8, samples=25, noise=1)


@pytest.fixture(scope="session")
def vdp(vdp_data):
    return kbass.discover(vdp_data, threads=1)


@pytest.fixture(scope="session")
def hares():
    return kbass.discover(kbass.example("hare-lynx"), degree=2, threads=1)


@pytest.fixture(scope="session")
def burgers_data():
    return kbass.simulate("burgers", grid=(6, 8))


@pytest.fixture(scope="session")
def burgers(burgers_data):
    return kbass.discover(burgers_data, terms="u*u_x, u_xx", periodic="x", threads=1)


@pytest.fixture(autouse=True)
def names_for_examples(doctest_namespace):
    doctest_namespace["kbass"] = kbass


def without_clock(document):
    """A result without what differs from run to run: seconds, and the path that was read."""
    document = json.loads(document) if isinstance(document, str) else dict(document)
    del document["seconds"], document["seconds_per_iteration"]
    document["data"] = {key: value for key, value in document["data"].items() if key != "source"}
    return document

"""`pip install .` without network, into an environment that sees Debian's packages."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from kbass import _library

ROOT = Path(__file__).resolve().parents[2]


def test_install(tmp_path):
    if not (ROOT / "build" / "CMakeCache.txt").exists():
        pytest.skip("the clone is not built")
    made = subprocess.run([sys.executable, "-m", "venv", "--system-site-packages", str(tmp_path / "e")], capture_output=True)
    if made.returncode:
        pytest.skip("python3-venv is not installed")
    python = str(tmp_path / "e" / "bin" / "python")
    done = subprocess.run([python, "-m", "pip", "wheel", "--no-index", "--no-deps", "-w", str(tmp_path), str(ROOT)],
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    [wheel] = tmp_path.glob("*.whl")
    assert wheel.name.endswith("-py3-none-linux_x86_64.whl") or "x86_64" not in wheel.name
    names = zipfile.ZipFile(wheel).namelist()
    assert {"kbass/py.typed", "kbass/lib/libkbass.so", "kbass/lib/kbass"} <= set(names)
    subprocess.run([python, "-m", "pip", "install", "--no-index", "--no-deps", str(wheel)], check=True, capture_output=True)
    code = "import kbass; print(kbass.__file__); print(kbass.discover(kbass.example('hare-lynx'), degree=2, threads=1).outcome)"
    done = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert str(tmp_path) in done.stdout and "converged" in done.stdout, done.stderr
    command = subprocess.run([str(tmp_path / "e" / "bin" / "kbass"), "--version"], capture_output=True, text=True)
    assert command.stdout.startswith("kbass "), command.stderr


def test_version_is_the_librarys():
    import kbass

    sys.path.insert(0, str(ROOT / "python" / "backend"))
    import kbass_build

    assert kbass.__version__ == kbass_build.version() == _library.text(_library.lib.kbass_version())

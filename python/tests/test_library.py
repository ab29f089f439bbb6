"""The declarations against the header, and how the library is found."""

import ctypes
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import kbass
from kbass import _library

ROOT = Path(__file__).resolve().parents[2]
HEADER = ROOT / "include" / "kbass" / "kbass.h"


def plain(text):
    return re.sub(r"\s*([*(),])\s*", r"\1", " ".join(text.split()))


def test_prototypes_are_the_headers():
    header = re.sub(r"/\*.*?\*/", " ", HEADER.read_text(), flags=re.S).replace("KBASS_API ", "")
    known = {plain(part) for part in re.split(r"[;{}]", header)}
    declared = _library.PROTOTYPES.split(";")[:-1]
    assert len(declared) > 70
    for prototype in declared:
        assert plain(prototype) in known, prototype


@pytest.mark.skipif(shutil.which("cc") is None, reason="no compiler")
def test_structs_are_the_headers(tmp_path):
    lines = ["#include <stdio.h>", '#include "kbass/kbass.h"', "int main(void) {"]
    expected = []
    for struct in _library.STRUCTS:
        lines.append('printf("%%zu\\n", sizeof(%s));' % struct.__name__)
        expected.append(ctypes.sizeof(struct))
        for field, *_ in struct._fields_:
            lines.append('printf("%%zu\\n", offsetof(%s, %s));' % (struct.__name__, field))
            expected.append(getattr(struct, field).offset)
    (tmp_path / "a.c").write_text("\n".join(lines + ["return 0; }"]))
    subprocess.run(["cc", "-I", str(ROOT / "include"), "-o", str(tmp_path / "a"), str(tmp_path / "a.c")], check=True)
    found = subprocess.run([str(tmp_path / "a")], capture_output=True, text=True, check=True).stdout.split()
    assert list(map(int, found)) == expected


def python(code, *, executable=sys.executable, **environment):
    path = str(Path(kbass.__file__).parents[1])
    return subprocess.run([executable, "-c", code], capture_output=True, text=True, cwd="/",
                          env={**os.environ, "PYTHONPATH": path, **environment})  # fmt: skip


def test_kbass_library_names_another(tmp_path):
    copy = tmp_path / "libother.so"
    shutil.copy(Path(_library.lib._name).resolve(), copy)
    done = python("import kbass._library as l; print(l.lib._name)", KBASS_LIBRARY=str(copy))
    assert done.stdout.strip() == str(copy)
    done = python("import kbass", KBASS_LIBRARY=str(tmp_path / "none.so"))
    assert "libkbass is not found" in done.stderr and "none.so" in done.stderr


WITHOUT = """
import sys
for name in ("numpy", "pandas", "sklearn", "matplotlib", "tqdm"): sys.modules[name] = None
import kbass
result = kbass.discover(%r, degree=2, threads=1)
print([t.term for t in result.equations["x"].selected], len(result.simulate(t=[1900, 1901])), result.solution([1901.5]).mean)
print(kbass.discover({"t": list(range(20)), "x": [0.9 ** i for i in range(20)]}, degree=1, threads=1).outcome)
print(len(result.forecast(until=1925, draws=3, samples=5).draws), kbass.KBASS(degree=1, threads=1).fit(%r).equations())
"""

OTHERS = [path for version in ("3.9", "3.10", "3.12", "3.13")
          for path in [shutil.which("python" + version)] + sorted(map(str, Path("/root/.pyenv/versions").glob(version + ".*/bin/python3")))
          if path and "shims" not in path]  # fmt: skip


@pytest.mark.parametrize("executable", [sys.executable] + OTHERS)
def test_without_numpy(executable, tmp_path, command):
    command("data", "hare-lynx", "-o", tmp_path / "hares.csv")
    path = str(tmp_path / "hares.csv")
    done = python(WITHOUT % (path, path), executable=executable)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("['x', 'x*y'] 2 [["), done.stdout


def test_import_is_light():
    """pandas, sklearn and matplotlib are imported when used, and it takes little; the bar is 0.3 s with NumPy."""
    done = python("import kbass, sys; print([m for m in ('pandas', 'sklearn', 'matplotlib', 'sympy') if m in sys.modules])")
    assert done.stdout.strip() == "[]", done.stderr

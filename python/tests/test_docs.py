"""What is written is run: examples in docstrings, the blocks of docs/python.md, the notebooks; and types."""

import doctest
import importlib
import os
import pkgutil
import re
import subprocess
from pathlib import Path

import pytest

import kbass

ROOT = Path(__file__).resolve().parents[2]
MODULES = ["kbass"] + ["kbass." + m.name for m in pkgutil.iter_modules(kbass.__path__) if m.name != "__main__"]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    pytest.importorskip("numpy")
    module = importlib.import_module(name)
    found = doctest.testmod(module, extraglobs={"kbass": kbass}, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.failed == 0


def test_guide(tmp_path, monkeypatch):
    """The blocks of docs/python.md, one after the other."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text(), re.S)
    assert len(blocks) >= 6
    names = {}
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)
    assert (tmp_path / "vdp.html").exists() and (tmp_path / "vdp.json").exists()


def test_figures_of_pysindy():
    """The table's figures, where the saved run is at hand."""
    saved = ROOT.parent / "shared" / "data" / "pysindy_1.7.5.json"
    if not saved.exists():
        pytest.skip("the saved run of PySINDy is not here")
    import json
    from statistics import median

    rows = json.loads(saved.read_text())["rows"]
    names = {"van der Pol, 10 samples, no noise": "vdp-10-0", "van der Pol, 25 samples, 1 % noise": "vdp-25-1",
             "Lorenz 96, 50 samples, 1 % noise": "lorenz96-50-1", "Burgers' equation, 10 x 10, 20 % noise": "burgers-10-20",
             "Burgers' equation, 20 x 20, 1 % noise": "burgers-20-1", "Kuramoto-Sivashinsky, 10 % noise": "ks-10",
             "Allen-Cahn, 5 % noise": "allen-cahn-5", "hare-lynx counts": "hare-lynx"}  # fmt: skip
    text = (ROOT / "docs" / "python.md").read_text()
    for words, case in names.items():
        own = [row for row in rows if row["name"].split(" seed")[0] == case]
        shown = re.search(re.escape(words) + r" \| ([\d.]+) \| (\d+/\d+)", text).groups()
        assert shown == ("%.2g" % median(row["rmse"] for row in own), "%d/%d" % (sum(r["exact"] for r in own), len(own)))


@pytest.mark.parametrize("name", ["hares", "van_der_pol", "burgers", "many_runs"])
def test_notebook(name, tmp_path, monkeypatch):
    """By the tests' own interpreter, in a folder of its own."""
    pytest.importorskip("nbclient"), pytest.importorskip("ipykernel")
    folder = ROOT / "python" / "notebooks"
    monkeypatch.setenv("PYTHONPATH", str(Path(kbass.__file__).parents[1]))
    monkeypatch.syspath_prepend(str(folder))
    book = importlib.import_module("run").execute(folder / (name + ".ipynb"), tmp_path)
    assert any(cell.get("outputs") for cell in book.cells)


def test_types():
    if subprocess.run(["which", "mypy"], capture_output=True).returncode:
        pytest.skip("mypy is not installed")
    done = subprocess.run(["mypy", "--config-file", "pyproject.toml", "--cache-dir", os.devnull], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout

#!/usr/bin/env python3
"""Runs the notebooks and keeps their output, so that they are read as pages: python/notebooks/run.py after `make python`."""

import os
import sys
from pathlib import Path

import nbclient
import nbformat
from jupyter_client import AsyncKernelManager
from jupyter_client.kernelspec import KernelSpec


def manager():
    """A kernel of this very interpreter: Debian's starts /usr/bin/python3."""
    found = AsyncKernelManager(kernel_name="python3")
    found._kernel_spec = KernelSpec(argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
                                    display_name="Python 3", language="python")
    return found


def execute(path, folder):
    book = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(book, km=manager(), timeout=200, resources={"metadata": {"path": str(folder)}}).execute()
    return book


if __name__ == "__main__":
    os.environ["PYTHONPATH"] = str(Path(__file__).resolve().parents[1])
    for path in sorted(Path(__file__).parent.glob("*.ipynb")):
        book = execute(path, path.parent)
        for cell in book.cells:
            cell.metadata.pop("execution", None)
            if cell.cell_type == "code":  # progress bars are not kept
                cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
        nbformat.write(book, path)

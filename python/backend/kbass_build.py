"""Builds the wheel: CMake makes the library and the command, which go in beside the Python files. PEP 517 and 660, with
nothing but the standard library, so that `pip install .` needs no network.

The wheel is for every Python 3 of this machine's kind. It brings OpenBLAS with it and links this system's SUNDIALS,
jansson, zlib, expat, HDF5 and libgomp: it is for machines with the same packages, as its metadata say.
"""

import base64
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("KBASS_BUILD_DIR", str(ROOT / "build")))
NEEDS = "SUNDIALS, jansson, zlib, expat, HDF5 and libgomp of the Debian release it was built on"


def version():
    found = re.search(r"project\(kbass VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())
    return found.group(1)


def tag():
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    return "py3-none-" + platform


def compile_library():
    """As `make` does, the tests left out; where the clone is built already this only brings it up to date."""
    options = ["-DCMAKE_BUILD_TYPE=Release"] + os.environ.get("CMAKE_ARGS", "").split()
    if not (BUILD / "CMakeCache.txt").exists():
        options.append("-DKBASS_TESTS=OFF")
    jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", str(os.cpu_count() or 1))
    steps = [["cmake", "-S", str(ROOT), "-B", str(BUILD), *options],
             ["cmake", "--build", str(BUILD), "--parallel", jobs, "--target", "kbass_shared", "kbass", "kbass-hdf5"]]
    for step in steps:
        try:
            done = subprocess.run(step, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        except FileNotFoundError:
            sys.exit("cmake is not found: run tools/install-packages.sh first, which installs what the build needs")
        if done.returncode:
            sys.exit(done.stdout + "\nThe library does not build; tools/install-packages.sh installs what it needs.")


def metadata():
    return "\n".join([
        "Metadata-Version: 2.1", "Name: kbass", "Version: " + version(),
        "Summary: Discovers differential equations from noisy measurements", "License: MIT",
        "Requires-Python: >=3.9", "Requires-External: " + NEEDS,
        "Provides-Extra: all",
        *("Requires-Dist: %s; extra == 'all'" % name
          for name in ("numpy", "pandas", "xarray", "scikit-learn", "matplotlib", "sympy", "tqdm")),
        "Description-Content-Type: text/markdown", "", (ROOT / "docs" / "python.md").read_text()])


def parts():
    """Names in dist-info, but for RECORD."""
    return {
        "METADATA": metadata(),
        "WHEEL": "Wheel-Version: 1.0\nGenerator: kbass_build\nRoot-Is-Purelib: false\nTag: %s\n" % tag(),
        "entry_points.txt": "[console_scripts]\nkbass = kbass.__main__:main\n",
        "LICENSE": (ROOT / "LICENSE").read_text(),
    }


class Wheel:
    """A zip with a RECORD."""

    def __init__(self, path):
        self.zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.record = []

    def add(self, name, content, mode=0o644):
        content = content.encode() if isinstance(content, str) else content
        info = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
        info.compress_type = zipfile.ZIP_DEFLATED
        info.external_attr = (0o100000 | mode) << 16
        self.zip.writestr(info, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.record.append("%s,sha256=%s,%d" % (name, digest, len(content)))

    def close(self, folder):
        self.zip.writestr(folder + "/RECORD", "\n".join(self.record + [folder + "/RECORD,,"]) + "\n")
        self.zip.close()


def write_wheel(directory, fill):
    name = "kbass-%s-%s.whl" % (version(), tag())
    wheel = Wheel(Path(directory) / name)
    fill(wheel)
    folder = "kbass-%s.dist-info" % version()
    for part, content in parts().items():
        wheel.add("%s/%s" % (folder, part), content)
    wheel.close(folder)
    return name


def binary(name):
    """Without what only a debugger reads, where `strip` is at hand."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / name
        shutil.copy(BUILD / name, copy)
        if shutil.which("strip"):
            subprocess.run(["strip", "--strip-debug", str(copy)], check=True)
        return copy.read_bytes()


def fill_wheel(wheel):
    for path in sorted((ROOT / "python" / "kbass").rglob("*")):
        if path.is_file() and path.suffix in (".py", ".typed"):
            wheel.add("kbass/" + path.relative_to(ROOT / "python" / "kbass").as_posix(), path.read_bytes())
    for name in ("libkbass.so", "kbass", "kbass-hdf5"):  # the library finds its helper beside itself
        wheel.add("kbass/lib/" + name, binary(name), 0o755)


def get_requires_for_build_wheel(config_settings=None):
    return []


get_requires_for_build_sdist = get_requires_for_build_editable = get_requires_for_build_wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    compile_library()
    return write_wheel(wheel_directory, fill_wheel)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """`pip install -e .`: the clone's own files and its build."""
    compile_library()
    return write_wheel(wheel_directory, lambda wheel: wheel.add("kbass.pth", str(ROOT / "python") + "\n"))


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    folder = Path(metadata_directory) / ("kbass-%s.dist-info" % version())
    folder.mkdir(parents=True, exist_ok=True)
    for part, content in parts().items():
        (folder / part).write_text(content)
    return folder.name


prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel


def build_sdist(sdist_directory, config_settings=None):
    """What git knows of the clone."""
    name = "kbass-%s" % version()
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], stdout=subprocess.PIPE, check=True).stdout
    with tarfile.open(Path(sdist_directory) / (name + ".tar.gz"), "w:gz") as archive:
        for path in listed.decode().split("\0")[:-1]:
            archive.add(ROOT / path, "%s/%s" % (name, path), recursive=False)
        info = tarfile.TarInfo(name + "/PKG-INFO")
        content = metadata().encode()
        info.size = len(content)
        archive.addfile(info, io.BytesIO(content))
    return name + ".tar.gz"

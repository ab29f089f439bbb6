"""The same library, options and thread count give the same numbers as the command, to the bit, on data of all kinds."""

import pytest

import kbass
from conftest import run_command, without_clock


def simulate(path, *words):
    run_command("simulate", *words, "-o", path)
    return [path]


def hares(folder):
    run_command("data", "hare-lynx", "-o", folder / "hares.csv")
    return [folder / "hares.csv"]


def with_column(folder, source, column):
    """A copy of a table with one more column, of row number and line."""
    lines = source.read_text().split()
    rows = [lines[0] + "," + column[0]] + ["%s,%s" % (line, column[1](i)) for i, line in enumerate(lines[1:])]
    (folder / "more.csv").write_text("\n".join(rows) + "\n")
    return [folder / "more.csv"]


def holes(folder):
    [path] = simulate(folder / "full.csv", "vdp", "-n", 25, "--until", 8, "--noise", 1)
    lines = path.read_text().split()
    lines[3::7] = [line.rsplit(",", 1)[0] + "," for line in lines[3::7]]
    path.write_text("\n".join(lines) + "\n")
    return [path]


def runs(folder, name="lotka-volterra"):
    return [simulate(folder / ("%d.csv" % i), name, "-n", 8, "--until", 8, "--noise", 5, "--seed", i, "--start",
                     "%d,10" % (10 * i))[0] for i in (1, 2)]  # fmt: skip


def run_column(folder):
    parts = [path.read_text().split() for path in runs(folder)]
    rows = [parts[0][0] + ",trial"] + ["%s,%d" % (line, k + 1) for k, part in enumerate(parts) for line in part[1:]]
    (folder / "all.csv").write_text("\n".join(rows) + "\n")
    return [folder / "all.csv"]


def driven(folder):
    import math

    t = [0.15 * i for i in range(40)]
    rows = ["t,x,f"] + ["%r,%r,%r" % (s, math.exp(-s) + 0.5 * (math.sin(s) - math.cos(s)), math.sin(s)) for s in t]
    (folder / "driven.csv").write_text("\n".join(rows) + "\n")
    return [folder / "driven.csv"]


ENZYME = ("-e", "x_t = 0.8*x*s/(2.3+s)", "-e", "s_t = -1.2*x*s/(2.3+s)", "--start", "0.3,8", "--until", 12, "-n", 30, "--noise", 2)

KINDS = {
    "states": (lambda f: simulate(f / "a.csv", "vdp", "-n", 25, "--until", 8, "--noise", 1), {}),
    "counts": (hares, {"degree": 2, "noise_model": "log"}),
    "holes": (holes, {"degree": 3, "explain": "y_t: x"}),
    "error bars": (lambda f: with_column(f, simulate(f / "a.csv", "lotka-volterra", "-n", 20, "--until", 10)[0],
                                         ("s", lambda i: 0.1 + 0.01 * i)), {"sigma": "s", "degree": 2}),
    "runs by file": (runs, {"degree": 2}),
    "runs by column": (run_column, {"degree": 2, "run": "trial", "vary": "x_t: x"}),
    "input": (driven, {"degree": 1, "input": "f"}),
    "input, late": (driven, {"degree": 1, "input": "f", "input_delay": "f=0:1"}),
    "unknown constant": (lambda f: simulate(f / "a.csv", *ENZYME), {"terms": "s, x*s, x*s/(K+s)", "unknown": "K=0.1:20"}),
    "constraint": (lambda f: simulate(f / "a.csv", *ENZYME),
                   {"terms": "x, s, x*s", "constraint": "x_t: x*s + s_t: x*s = 0; s_t: s < 0"}),
    "known equation": (lambda f: simulate(f / "a.csv", "harmonic", "-n", 20, "--until", 8, "--noise", 2),
                       {"fix": "x_t = y", "units": "t:s, x:m, y:m/s", "degree": 2}),
    "part of a file": (lambda f: simulate(f / "a.csv", "vdp", "-n", 80, "--until", 12), {"within": "t=0:8", "every": 2}),
    "published": (lambda f: simulate(f / "a.csv", "vdp", "-n", 12, "--until", 6),
                  {"method": "paper", "box_degree": 2, "paper_limit": 2000}),
    "field": (lambda f: simulate(f / "u.csv", "burgers", "--grid", "6x8"),
              {"axes": "t,x", "terms": "u*u_x, u_xx", "periodic": "x"}),
    "scattered": (lambda f: simulate(f / "u.csv", "burgers", "--scattered", 40),
                  {"axes": "t,x", "terms": "u*u_x, u_xx", "periodic": "x"}),
    "field, published": (lambda f: simulate(f / "u.csv", "burgers", "--grid", "8x8"),
                         {"axes": "t,x", "terms": "u*u_x, u_xx", "method": "paper", "mesh": "20,20",
                          "paper_first": 10, "paper_limit": 40, "paper_steps": 10}),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_same_numbers(kind, tmp_path):
    make, keywords = KINDS[kind]
    files = make(tmp_path)
    options = [word for name, value in keywords.items() for word in ("--" + name.replace("_", "-"), str(value))]
    printed = run_command("discover", *files, *options, "--threads", 1, "--quiet", "--json", tmp_path / "r.json")
    found = kbass.discover(files if len(files) > 1 else files[0], threads=1, **keywords)
    assert without_clock(found.to_json()) == without_clock((tmp_path / "r.json").read_text())
    assert str(found).split("\n")[:-1] == printed.rstrip("\n").split("\n")[:-1]  # the last line has the seconds


def test_memory_and_file_agree(tmp_path):
    """A table in memory gives what its file gives, but for the checksum of the file."""
    [path] = simulate(tmp_path / "a.csv", "vdp", "-n", 20, "--until", 8, "--noise", 1)
    from_file, in_memory = kbass.discover(path, threads=1), kbass.discover(kbass.read(path).to_dict(), threads=1)
    first, second = without_clock(from_file.to_json()), without_clock(in_memory.to_json())
    first["data"].pop("sha256"), second["data"].pop("sha256")
    assert first == second


def test_forecast_is_the_commands(vdp, tmp_path):
    import numpy as np

    vdp.to_json(tmp_path / "r.json")
    run_command("forecast", tmp_path / "r.json", "--until", 12, "--draws", 50, "-o", tmp_path / "f.npz", "--threads", 1)
    written, found = np.load(tmp_path / "f.npz"), vdp.forecast(until=12, draws=50, threads=1)
    assert (found.t == written["t"]).all()
    assert any(written[name].shape == found.t.shape and (found.mean[:, 0] == written[name]).all() for name in written)


def test_next_is_the_commands(vdp, tmp_path):
    vdp.to_json(tmp_path / "r.json")
    lines = run_command("next", tmp_path / "r.json", "--best", 4).split("\n")
    rows = [line.split() for line in lines if line.split()[:1] in (["x"], ["y"])]
    assert [(p.state, "%.4g" % p.t) for p in vdp.next(4)] == [(row[0], "%.4g" % float(row[1])) for row in rows]

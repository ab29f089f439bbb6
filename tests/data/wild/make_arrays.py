#!/usr/bin/env python3
"""Writes arrays and workbooks as other programs leave them, one oddity each, and arrays.tsv, which says what each is and
what must be read of it. By the standard library alone; tests/test_wild_arrays.c reads all.
"""
import io
import math
import os
import struct
import sys
import zipfile
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.dont_write_bytecode = True
from make_sheets import Number, book  # noqa: E402

rows = []


def note(name, what, n_rows, axes, states, times, values, option=""):
    """values: all that are measured; `option` is what the message of the bare file asks for."""
    total = math.fsum(v for v in values if v == v)
    rows.append("\t".join([name, option, str(n_rows), axes, states, repr(times[0]), repr(times[-1]), repr(total), what]))


# ---------------------------------------------------------------- MATLAB 5

CODES = {"f8": (9, "d"), "f4": (7, "f"), "i2": (3, "h"), "u1": (2, "B"), "i4": (5, "i")}
CLASSES = {"f8": 6, "f4": 7, "i2": 10, "u1": 9, "i4": 12}


class Mat:
    def __init__(self, order="<"):
        self.order, self.parts = order, []

    def element(self, kind, data):
        return struct.pack(self.order + "II", kind, len(data)) + data + b"\0" * (-len(data) % 8)

    def head(self, name, kind, dims, flags=0):
        number = struct.pack(self.order + "II", kind | flags << 8, 0)
        return (self.element(6, number) + self.element(5, struct.pack(f"{self.order}{len(dims)}i", *dims)) +
                self.element(1, name.encode()))

    def numbers(self, values, kind):
        code, letter = CODES[kind]
        return self.element(code, struct.pack(f"{self.order}{len(values)}{letter}", *values))

    def array(self, name, dims, values, kind="f8", imaginary=None, flags=0, stored=None):
        """values: first dimension fastest; `stored`: the type that MATLAB shrinks whole numbers to."""
        data = self.head(name, CLASSES[kind], dims, flags | (8 if imaginary else 0)) + self.numbers(values, stored or kind)
        if imaginary:
            data += self.numbers(imaginary, "f8")
        return self.element(14, data)

    def text(self, name, value):
        return self.element(14, self.head(name, 4, (1, len(value))) + self.element(16, value.encode()))

    def cell(self, name, *values):
        return self.element(14, self.head(name, 1, (1, len(values))) + b"".join(values))

    def structs(self, name, *values):
        """each a dict of arrays made with the name ''"""
        names = b"".join(k.encode().ljust(32, b"\0") for k in values[0])
        # the length of names is a small element: size and type in one word
        width = struct.pack(self.order + "I", 4 << 16 | 5) + struct.pack(self.order + "i", 32)
        data = self.head(name, 2, (1, len(values))) + width + self.element(1, names)
        return self.element(14, data + b"".join(v for s in values for v in s.values()))

    def save(self, path, *elements, packed=False):
        front = b"MATLAB 5.0 MAT-file, made by make_arrays.py".ljust(124) + (b"\0\1IM" if self.order == "<" else b"\1\0MI")
        with open(path, "wb") as file:
            file.write(front)
            for e in elements:
                body = zlib.compress(e) if packed else e
                file.write(struct.pack(self.order + "II", 15, len(body)) + body if packed else e)


def even(first, last, n):
    return [first + (last - first) * i / (n - 1) for i in range(n)]


x, t = even(0, 3, 7), even(0, 2, 5)
u = [[round(64 * math.exp(-b) * math.sin(a)) / 64 for a in x] for b in t]  # u[t][x]
v = [[round(64 * math.exp(-b) * math.cos(a)) / 64 for a in x] for b in t]
flat = [c for r in u for c in r]  # x fastest
flat_v = [c for r in v for c in r]
by_time = [u[k][i] for i in range(7) for k in range(5)]  # t fastest
m = Mat()
axes = [m.array("t", (5, 1), t), m.array("x", (1, 7), x)]
m.save("burgers.mat", m.array("usol", (7, 5), flat, imaginary=[0.0] * 35), *axes)
note("burgers.mat", "complex, with an imaginary part that is nil", 35, "t,x", "usol", t, flat)
m.save("nls.mat", m.array("usol", (5, 7), by_time, imaginary=[v[k][i] for i in range(7) for k in range(5)]), *axes, packed=True)
note("nls.mat", "complex: two fields; compressed", 35, "t,x", "usol_re,usol_im", t, flat + flat_v)
m.save("ks.mat", m.array("uu", (7, 5), flat, "f4"), m.array("tt", (1, 5), t, "f4"), m.array("x", (7, 1), x, "f4"))
note("ks.mat", "time is called tt; single precision", 35, "tt,x", "uu", t, flat)
m.save("wsindy.mat", m.cell("U_exact", m.array("", (7, 5), flat)), m.cell("xs", m.array("", (7, 1), x), m.array("", (5, 1), t)),
       m.cell("lhs", m.text("", "u_t")), packed=True)
note("wsindy.mat", "fields and axes in cells", 35, "xs_2,xs_1", "U_exact", t, flat, "--time xs_2")
m.save("sol.mat", m.structs("sol", {"u": m.cell("", m.array("", (7, 5), flat)), "t": axes[0], "x": axes[1], "by": m.text("", "us")}),
       m.array("nu", (1, 1), [0.1]))
note("sol.mat", "all in a struct, the field in a cell of it, a number beside it", 35, "t,x", "u", t, flat)
run = [{"t": m.array("", (5, 1), [a + k for a in t]), "y": m.array("", (5, 1), [a * a + k for a in t])} for k in range(2)]
m.save("runs.mat", m.structs("run", *run), packed=True)
note("runs.mat", "an array of structs", 5, "t", "y", [a + 1 for a in t], [a * a + 1 for a in t], ":run_2")
y = even(0, 1, 4)
cube = [float(i + 10 * k + 100 * j) for j in range(5) for k in range(4) for i in range(7)]
m.save("cube.mat", m.array("u", (7, 4, 5), [int(c) for c in cube], "i2"), m.array("v", (7, 4, 5), [int(c) % 256 for c in cube],
       "f8", stored="u1"), *axes, m.array("y", (1, 4), y), packed=True)
note("cube.mat", "three dimensions, whole numbers", 140, "t,x,y", "u,v", t, cube + [int(c) % 256 for c in cube])
place = [(0.5, 1.0), (0.25, -1.0), (0.0, 2.0)]
wake = [float(i + 3 * c + 6 * k) for k in range(5) for c in range(2) for i in range(3)]
m.save("wake.mat", m.array("U_star", (3, 2, 5), wake), m.array("t", (5, 1), t),
       m.array("X_star", (3, 2), [p[0] for p in place] + [p[1] for p in place]))
note("wake.mat", "points that lie anywhere", 15, "t,x,y", "U_star1,U_star2", t, wake)
m.save("mesh.mat", m.array("u", (4, 7, 5), [float(i) for i in range(140)]), axes[0],
       m.array("X", (4, 7), [a for a in x for b in y]), m.array("Y", (4, 7), [b for a in x for b in y]))
note("mesh.mat", "axes as meshes", 140, "t,X,Y", "u", t, [float(i) for i in range(140)])
big = Mat(">")
big.save("big.mat", big.array("time", (1, 5), t), big.array("on", (1, 5), [1, 0, 1, 1, 0], "u1", flags=2),
         big.array("level", (5, 1), [3, 1, 4, 1, 5], "i4"))
note("big.mat", "written on a machine with big ends; logical", 5, "time", "on,level", t, [1, 0, 1, 1, 0, 3, 1, 4, 1, 5])
m.save("steps.mat", m.array("u", (7, 5), flat), axes[1], m.array("dt", (1, 1), [0.5]))
note("steps.mat", "no time, only its step dt", 35, "t,x", "u", t, flat)
m.save("simulink.mat", m.array("ans", (3, 5), [c for k in range(5) for c in (t[k], u[k][1], u[k][2])]))
note("simulink.mat", "one array whose first row is time, as Simulink writes it", 5, "t", "x1,x2", t, [c for r in u for c in r[1:3]])
m.save("table.mat", m.array("data", (5, 3), t + [r[1] for r in u] + [r[2] for r in u]))
note("table.mat", "one array whose first column is time", 5, "t", "x1,x2", t, [c for r in u for c in r[1:3]])
m.save("square.mat", m.array("u", (4, 4, 5), [float(i) for i in range(80)]), axes[0], m.array("x", (1, 4), y), m.array("y", (1, 4), y))
note("square.mat", "two axes of one length, as PDE-FIND's reaction and diffusion", 80, "t,x,y", "u", t, [float(i) for i in range(80)],
     "--axes x,y,t")
# Made by Octave: u(i,j) = i + j/4, 7 x 5, with t and x in a struct s; save -hdf5 octave.h5 s
note("octave.h5", "Octave's HDF5: a struct", 35, "t,x", "u", t, [i + j / 4 for i in range(1, 8) for j in range(1, 6)])

# ---------------------------------------------------------------- NumPy


def npy(values, shape, kind="<f8", fortran=False):
    header = f"{{'descr': '{kind}', 'fortran_order': {fortran}, 'shape': {shape!r}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    letter = {"f8": "d", "f4": "f", "c8": "f", "c16": "d", "i8": "q"}.get(kind[1:], "q")
    return (b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() +
            struct.pack(f"{kind[0]}{len(values)}{letter}", *values))


def save(path, data):
    with open(path, "wb") as file:
        file.write(data)


def npz(path, **arrays):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in arrays.items():
            archive.writestr(zipfile.ZipInfo(name + ".npy", (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)


turn = [(math.cos(k), math.sin(k)) for k in range(12)]
save("trajectory.npy", npy([c for p in turn for c in p], (12, 2)))
note("trajectory.npy", "states without time", 12, "t", "x1,x2", [0.0, 1.1], [c for p in turn for c in p], "--time 0.1")
save("amplitude.npy", npy([c for k, p in enumerate(turn) for c in (k, 0.0, *p)], (12, 2), "<c16"))
note("amplitude.npy", "complex, time among the columns", 12, "t", "x_re,x_im", [0.0, 11.0], [c for p in turn for c in p])
npz("train.npz", x_train=npy([p[c] for c in range(2) for p in turn], (12, 2), "<f8", True), t_train=npy(range(12), (12,), "<i8"))
note("train.npz", "other names, Fortran's order, whole numbers for time", 12, "t_train", "x_train1,x_train2", [0.0, 11.0],
     [c for p in turn for c in p])
hours = [1614844800 + 3600 * k for k in range(12)]
npz("datetimes.npz", time=npy([1000000000 * h for h in hours], (12,), "<M8[ns]"), x=npy([p[0] for p in turn], (12,)))
note("datetimes.npz", "dates as NumPy stores them", 12, "time", "x", [0.0, 11 / 24], [p[0] for p in turn])
npz("spans.npz", dates=npy([250 * k for k in range(12)], (12,), ">m8[2ms]"), x=npy([p[0] for p in turn], (12,)))
note("spans.npz", "spans of time as NumPy stores them, under another name", 12, "dates", "x", [0.0, 5.5], [p[0] for p in turn])
npz("meshes.npz", T=npy([b for b in t for a in x], (5, 7)), X=npy([a for b in t for a in x], (5, 7)), U=npy(flat, (5, 7)))
note("meshes.npz", "both axes as meshes", 35, "T,X", "U", t, flat)
square = [float(i) for i in range(25)]
npz("square.npz", u=npy(square, (5, 5)), x=npy(y + [1.5], (5,)), t=npy(t, (5,)), dt=npy([0.5], ()))
note("square.npz", "lengths that do not tell which axis is which", 25, "t,x", "u", t, square, "--axes x,t")

# ---------------------------------------------------------------- workbooks

days = [45321 + k / 4 for k in range(8)]
level = [k * k / 8 for k in range(8)]
table = [["Date", "Level"]] + [[Number(d, 1), c] for d, c in zip(days, level)]
book("dates.xlsx", {"Log": table}, formats=["dd/mm/yyyy\\ hh:mm"])
note("dates.xlsx", "dates that only a number format tells", 8, "Date", "Level", [0.0, 1.75], level)
book("dates_1904.xlsx", {"Log": [["Date", "Level"]] + [[Number(d - 1462, 1), c] for d, c in zip(days, level)]},
     formats=[22], is_1904=True)
note("dates_1904.xlsx", "dates since 1904, as on old Macintoshes", 8, "Date", "Level", [0.0, 1.75], level)
book("clock.xlsx", {"Log": [["Time", "Level"]] + [[Number((540 + k) / 1440, 1), c] for k, c in enumerate(level)]},
     formats=["h:mm:ss"])
note("clock.xlsx", "times of day", 8, "Time", "Level", [0.0, 420.0], level)
book("merged.xlsx", {"Plates": [["t", "Plate 1", None, "Plate 2"], [None, "x", "y", "x", "y"]] +
                     [[float(k), k + 1.0, k + 2.0, k + 3.0, k + 4.0] for k in range(8)]},
     merged=["A1:A2", "B1:C1", "D1:E1"])
note("merged.xlsx", "a header of two rows with merged cells", 8, "t", "Plate_1_x,Plate_1_y,Plate_2_x,Plate_2_y", [0.0, 7.0],
     [k + c for k in range(8) for c in (1.0, 2.0, 3.0, 4.0)])
book("titled.xlsx", {"Sheet1": [["Growth, 30 °C"], [], [None, None, "Time (h)", "Biomass [g/L]", "Glucose [g/L]"]] +
                     [[None, None, Number(k / 2, formula=f"C{k + 3}+0.5"), "#N/A" if k == 3 else k + 1.0, 9.0 - k] for k in range(8)]})
note("titled.xlsx", "a title, formulas, #N/A, a table that does not begin in A1", 8, "Time", "Biomass,Glucose", [0.0, 3.5],
     [k + 1.0 for k in range(8) if k != 3] + [9.0 - k for k in range(8)])
book("sheets.xlsx", {"About": [["Measured by hand"]], "Data": [["t", "x"]] + [[float(k), k * 2.0] for k in range(8)]})
note("sheets.xlsx", "the table is on another sheet", 8, "t", "x", [0.0, 7.0], [k * 2.0 for k in range(8)], ":Data")

with open("arrays.tsv", "w", encoding="utf-8") as file:
    file.write("file\toption\trows\taxes\tstates\tfirst\tlast\tsum\twhat\n" + "\n".join(rows) + "\n")

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
m.save("cell_states.mat", axes[0], m.cell("y", m.array("", (5, 1), [r[1] for r in u]), m.array("", (5, 1), [r[2] for r in u])))
note("cell_states.mat", "several arrays in one cell, states or experiments", 5, "t", "y_1,y_2", t, [c for r in u for c in r[1:3]],
     "--use y_1,y_2")


def matrix4(name, rows, columns, values, order="<", letter="d", kind=0, imaginary=()):
    """MATLAB's version 4; values: first dimension fastest"""
    precision = "dfihHB".index(letter)
    head = struct.pack(order + "5i", (1000 if order == ">" else 0) + 10 * precision + kind, rows, columns, bool(imaginary), len(name) + 1)
    return head + name.encode() + b"\0" + struct.pack(f"{order}{len(values) + len(imaginary)}{letter}", *values, *imaginary)


def write(name, *parts):
    with open(name, "wb") as file:
        file.write(b"".join(parts))


write("version4.mat", matrix4("x", 1, 7, x), matrix4("t", 5, 1, t, letter="f"), matrix4("u", 7, 5, flat), matrix4("by", 1, 2, [117, 115], kind=1))
note("version4.mat", "MATLAB's version 4: a field, single precision, text", 35, "t,x", "u", t, flat)
write("version4_big.mat", matrix4("t", 5, 1, t, ">"), matrix4("z", 5, 1, [r[1] for r in u], ">", imaginary=[r[1] for r in v]),
      matrix4("n", 5, 1, [3, 1, 4, 1, 5], ">", "h"))
note("version4_big.mat", "the same with big ends: complex, short whole numbers", 5, "t", "z_re,z_im,n", t,
     [r[1] for r in u] + [r[1] for r in v] + [3, 1, 4, 1, 5])

# ---------------------------------------------------------------- netCDF, the classic format


class Netcdf:
    """version 1, 2 or 5; the first dimension grows"""

    def __init__(self, version):
        self.version, self.dims, self.variables = version, [], []

    def word(self, value):
        return struct.pack(">q" if self.version == 5 else ">i", value)

    def text(self, value):
        return self.word(len(value)) + value.encode() + b"\0" * (-len(value) % 4)

    def several(self, tag, items):
        return struct.pack(">i", tag if items else 0) + self.word(len(items)) + b"".join(items)

    def attribute(self, name, value):
        if isinstance(value, str):
            return self.text(name) + struct.pack(">i", 2) + self.text(value)
        return self.text(name) + struct.pack(">i", 6) + self.word(1) + struct.pack(">d", value)

    def dim(self, name, length):
        self.dims.append(self.text(name) + self.word(length))

    def add(self, name, dims, code, letter, values, per_record=0, **attributes):
        """per_record: numbers of each record, 0: does not grow"""
        self.variables.append((name, dims, code, letter, values, per_record, attributes))

    def save(self, path, n_records):
        def body(values, letter):
            data = struct.pack(f">{len(values)}{letter}", *values)
            return data + b"\0" * (-len(data) % 4)

        def header(offsets):
            own = []
            for (name, dims, code, letter, values, per, attributes), offset in zip(self.variables, offsets):
                size = len(body(values[:per] if per else values, letter))
                own.append(self.text(name) + self.word(len(dims)) + b"".join(map(self.word, dims)) +
                           self.several(12, [self.attribute(*a) for a in attributes.items()]) + struct.pack(">i", code) +
                           self.word(size) + struct.pack(">i" if self.version == 1 else ">q", offset))
            return (b"CDF" + bytes([self.version]) + self.word(n_records) + self.several(10, self.dims) +
                    self.several(12, [self.attribute("title", "made by hand")]) + self.several(11, own))

        place, offsets = len(header([0] * len(self.variables))), []
        for fixed in (True, False):
            for name, _, _, letter, values, per, _ in self.variables:
                if fixed == (not per):
                    offsets.append((name, place))
                    place += len(body(values[:per] if per else values, letter))
        offsets = dict(offsets)
        data = header([offsets[v[0]] for v in self.variables])
        data += b"".join(body(v[4], v[3]) for v in self.variables if not v[5])
        for r in range(n_records):
            data += b"".join(body(v[4][r * v[5]:(r + 1) * v[5]], v[3]) for v in self.variables if v[5])
        write(path, data)


def make_netcdf(path, version):
    nc = Netcdf(version)
    nc.dim("time", 0), nc.dim("x", 7), nc.dim("bnds", 2)
    packed = [round(100 * c) for c in flat]
    packed[10] = -999
    nc.add("time", [0], 6, "d", t, 1, units="s", bounds="time_bnds")
    nc.add("time_bnds", [0, 2], 6, "d", [a for b in t for a in (b, b + 1)], 2)
    nc.add("x", [1], 5, "f", x)
    nc.add("u", [0, 1], 3, "h", packed, 7, _FillValue=-999.0, scale_factor=0.01)
    nc.save(path, 5)
    return [0.01 * c for c in packed if c != -999]


note("classic.nc", "netCDF's classic format: records, packed numbers with a fill value, bounds of cells", 34, "time,x", "u", t, make_netcdf("classic.nc", 1))
note("offsets.nc", "the same with offsets of 64 bits", 34, "time,x", "u", t, make_netcdf("offsets.nc", 2))
note("counts.nc", "the same with counts of 64 bits (CDF-5)", 34, "time,x", "u", t, make_netcdf("counts.nc", 5))

# ---------------------------------------------------------------- Octave's own text, JSON


def octave_matrix(name, rows):
    return (f"# name: {name}\n# type: matrix\n# rows: {len(rows)}\n# columns: {len(rows[0])}\n" +
            "".join("".join(f" {c!r}" for c in row) + "\n" for row in rows) + "\n\n").encode()


write("octave.oct", b"# Created by Octave 7.3.0, Wed Mar 24 12:00:00 2021 UTC <me@here>\n",
      octave_matrix("x", [x]), b"# name: t\n# type: double_range\n# base, limit, increment\n0 2 0.5\n\n\n",
      b"# name: note\n# type: string\n# elements: 1\n# length: 9\n# name: no\n\n\n", octave_matrix("u", u))
note("octave.oct", "Octave's own text: a field, a range, text that looks like a name", 35, "t,x", "u", t, flat)
write("octave_struct.oct", b"# Created by Octave 7.3.0, Wed Mar 24 12:00:00 2021 UTC <me@here>\n# name: s\n# type: scalar struct\n# ndims: 2\n 1 1\n# length: 2\n",
      octave_matrix("t", [[a] for a in t]),
      ("# name: z\n# type: complex matrix\n# rows: 5\n# columns: 1\n" + "".join(f" ({a[1]!r},{b[1]!r})\n" for a, b in zip(u, v)) + "\n\n\n\n").encode())
note("octave_struct.oct", "Octave's own text: complex numbers in a struct", 5, "t", "z_re,z_im", t, [r[1] for r in u] + [r[1] for r in v])
write("field.json", str({"t": t, "x": x, "u": u, "by": "us"}).replace("'", '"').encode())
note("field.json", "JSON: lists within lists are a field", 35, "t,x", "u", t, flat)

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



def ods(path, sheets, styles=""):
    """sheets: name, attributes, rows as XML"""
    front = ("<?xml version='1.0' encoding='UTF-8'?><office:document-content xmlns:office='urn:oasis:names:tc:opendocument:xmlns:office:1.0' "
             "xmlns:table='urn:oasis:names:tc:opendocument:xmlns:table:1.0' xmlns:text='urn:oasis:names:tc:opendocument:xmlns:text:1.0' "
             "xmlns:style='urn:oasis:names:tc:opendocument:xmlns:style:1.0' xmlns:calcext='urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0'>"
             f"<office:automatic-styles>{styles}</office:automatic-styles><office:body><office:spreadsheet>")
    tables = "".join(f"<table:table table:name='{n}'{a}>{r}</table:table>" for n, a, r in sheets)
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in (("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
                           ("content.xml", front + tables + "</office:spreadsheet></office:body></office:document-content>")):
            entry = zipfile.ZipInfo(name, (2021, 3, 24, 12, 0, 0))
            entry.compress_type = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            archive.writestr(entry, text)


def said(text, more=""):
    return f"<table:table-cell office:value-type='string'{more}><text:p>{text}</text:p></table:table-cell>"


def counted(value, more="", kind="float", name="value"):
    return f"<table:table-cell office:value-type='{kind}' office:{name}='{value}'{more}><text:p>shown</text:p></table:table-cell>"


def line(*cells, more=""):
    return f"<table:table-row{more}>" + "".join(cells) + "</table:table-row>"


empty = "<table:table-cell/>"
ods("calc.ods", [("Log", "", line(said("Growth")) + line(empty, more=" table:number-rows-repeated='2'") +
                  line(said("Date"), said("Biomass [g/L]<text:s/>"), said("T")) +
                  "".join(line(counted(f"2021-03-{k + 1:02}", kind="date", name="date-value"),
                               counted(k + 1.0) if k != 3 else
                               "<table:table-cell table:formula='of:=NA()' office:value-type='string' calcext:value-type='error'><text:p>#N/A</text:p></table:table-cell>",
                               counted(300 + k, " table:formula='of:=A1'")) for k in range(8)) +
                  line(empty, more=" table:number-rows-repeated='1048564'"))])
note("calc.ods", "OpenDocument: a title, dates, formulas, #N/A, empty rows without end", 8, "Date", "Biomass,T", [0.0, 7.0],
     [k + 1.0 for k in range(8) if k != 3] + [300.0 + k for k in range(8)])
ods("hidden.ods", [("Old", " table:style-name='ta2'", line(said("q"))),
                   ("New", " table:style-name='ta1'", line(said("t", " table:number-rows-spanned='2'"), said("Plate", " table:number-columns-spanned='2'"), "<table:covered-table-cell/>") +
                    line("<table:covered-table-cell/>", said("x"), said("y")) +
                    "".join(line(counted(f"PT{k // 60:02}H{k % 60:02}M00S", kind="time", name="time-value"),
                                 counted(2.5, " table:number-columns-repeated='2'")) for k in (540, 570, 600, 630)) +
                    line(counted("PT11H00M00S", kind="time", name="time-value"), counted(1.5),
                         "<table:table-cell office:value-type='float' office:value='3'><office:annotation><text:p>by hand</text:p></office:annotation><text:p>3</text:p></table:table-cell>"))],
    "<style:style style:name='ta1' style:family='table'><style:table-properties table:display='true'/></style:style>"
    "<style:style style:name='ta2' style:family='table'><style:table-properties table:display='false'/></style:style>")
note("hidden.ods", "OpenDocument: a hidden sheet before, times of day, merged and repeated cells, a remark", 5, "t", "x,y", [0.0, 7200.0], [2.5] * 8 + [1.5, 3.0])

with open("arrays.tsv", "w", encoding="utf-8") as file:
    file.write("file\toption\trows\taxes\tstates\tfirst\tlast\tsum\twhat\n" + "\n".join(rows) + "\n")

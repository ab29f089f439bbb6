#!/usr/bin/env python3
"""Writes the files of this folder anew: the same numbers in many dresses, one oddity each. Needs numpy, scipy, h5py.

The front of a name says whose numbers they are: ode.csv, count.csv, grid.csv or space.csv. tests/test_formats.c reads all.
"""
import gzip
import io
import zipfile

import h5py
import numpy as np
import scipy.io
import scipy.sparse

nan = np.nan
t = np.arange(8) * 0.5
x = np.array([1.5, -2, 0.125, nan, 7, -0.25, 3, 1000])
y = np.array([0, 1, nan, -3.5, 2, 0.5, -1024, 4])

T, X = np.arange(5) * 0.25, np.arange(4) * 2.0 - 1
u = np.round(8 * np.sin(1 + T[:, None] + X[None, :])) / 8
v = np.round(8 * np.cos(2 * T[:, None] - X[None, :])) / 8
u[2, 1] = nan

S, A, B = np.arange(2) * 1.0, np.arange(3) * 0.5, np.arange(4) * 0.25
w = np.round(64 * np.sin(S[:, None, None] + 3 * A[None, :, None] - B[None, None, :])) / 8

n = np.arange(6)
p, q = np.array([1, 2, 3, 5, 8, 13]), np.array([100, 50, 25, 12, 6, 3])
s = -q


def number(value, point="."):
    return "" if np.isnan(value) else repr(float(value)).replace(".", point)


def table(header, columns, separator=",", end="\n", point=".", missing="", head="", tail=""):
    rows = [separator.join(number(c[i], point) or missing for c in columns) for i in range(len(columns[0]))]
    return head + end.join([separator.join(header)] * bool(header) + rows) + end + tail


def write(name, text, **how):
    with open(name, "wb") as file:
        file.write(text.encode(**how) if isinstance(text, str) else text)


def mesh(*axes):
    return [a.ravel() for a in np.meshgrid(*axes, indexing="ij")]


ode = ["t", "x", "y"]
xy = [t, x, y]
write("ode.csv", table(ode, xy))
write("ode_crlf.csv", table(ode, xy, end="\r\n"))
write("ode_cr.csv", table(ode, xy, end="\r"))
write("ode_bom.csv", "\ufeff" + table(ode, xy), encoding="utf-8")
write("ode_tabs.tsv", table(ode, xy, "\t"))
write("ode_semicolons.csv", table(ode, xy, ";"))
write("ode_decimal_commas.csv", table(ode, xy, ";", point=","))
write("ode_decimal_commas.tsv", table(ode, xy, "\t", point=","))
write("ode_blanks.dat", table(ode, xy, "   ", missing="nan"))
write("ode_savetxt.txt", table([], xy, " ", missing="nan", head="# made by savetxt\n# t x y\n"))
write("ode_percent.txt", table(ode, xy, ",", head="% from MATLAB\n", tail="% the end\n"))
write("ode_quotes.csv", '"t","x","y"\n' + "".join(
    f'"{number(a)}", "{number(b)}" ,{number(c)}\n' for a, b, c in zip(*xy)))
write("ode_comments.csv", table(ode, xy, head="# one\n\n  # two\n", tail="\n\n").replace("\n1.0,", "\n# between\n1.0,"))
write("ode_no_last_newline.csv", table(ode, xy)[:-1])
write("ode_words.csv", table(ode, xy, missing="NaN").replace("NaN", "-nan", 1))
write("ode_exponents.csv", "t,x,y\n" + "".join(
    f'{a:+.18e},{"" if np.isnan(b) else format(b, "E")},{"" if np.isnan(c) else format(c, ".25f")}\n'
    for a, b, c in zip(*xy)))
write("ode_shuffled.csv", table(["y", "t", "x"], [c[::-1] for c in (y, t, x)]))
write("ode_gzip.csv.gz", gzip.compress(table(ode, xy).encode(), mtime=0))
half = table(ode, xy).encode()
write("ode_gzip_twice.csv.gz", gzip.compress(half[:40], mtime=0) + gzip.compress(half[40:], mtime=0))
write("ode_wrong_ending.npy", table(ode, xy))


def save_zip(name, arrays, method, **how):
    with zipfile.ZipFile(name, "w", method) as archive:
        for key, value in arrays.items():
            file = io.BytesIO()
            np.save(file, value, **how)
            info = zipfile.ZipInfo(key + ".npy", (1980, 1, 1, 0, 0, 0))
            archive.writestr(info, file.getvalue(), method)


record = np.zeros(len(t), dtype=[("t", "<f8"), ("x", "<f4"), ("y", ">f8")])
record["t"], record["x"], record["y"] = t, x, y
np.save("ode_records.npy", record)
np.save("ode_padded.npy", record.astype(np.dtype([("t", "f4"), ("x", "f8"), ("y", "f2")], align=True)))
save_zip("ode_columns.npz", dict(t=t, x=x, y=y), zipfile.ZIP_STORED)
save_zip("ode_half.npz", {k: c.astype("<f2") for k, c in zip(ode, xy)}, zipfile.ZIP_DEFLATED)
save_zip("ode_big_endian.npz", dict(t=t.astype(">f4"), x=x.astype(">f8"), y=y.astype(">f2")), zipfile.ZIP_STORED)
scipy.io.savemat("ode_columns.mat", dict(t=t[:, None], x=x[:, None], y=y[None, :], label="text", nu=0.1))
scipy.io.savemat("ode_struct.mat", dict(run=dict(t=t, x=x, y=y)), do_compression=True)
with h5py.File("ode_groups.h5", "w", track_order=False) as file:
    file["run1/t"], file["run1/x"], file["run1/y"] = t, x + 1, y
    file["run2/t"], file["run2/x"], file["run2/y"] = t, x, y
with h5py.File("ode_records.h5", "w") as file:
    file["table"] = record

np.save("count.npy", np.stack([n, p, s], axis=1))
write("count.csv", table(["t", "x1", "x2"], [n, p, s]))
for kind in ("i1", "<i2", ">i4", "<i8"):
    np.save(f"count_{kind.strip('<>')}.npy", np.stack([n, p, s], axis=1).astype(kind))
np.save("count_fortran.npy", np.asfortranarray(np.stack([n, p, s], axis=1)))
np.save("count_float16.npy", np.stack([n, p, s], axis=1).astype(">f2"))
write("positive.csv", table(["t", "p", "q"], [n, p, q]))
for kind in ("u1", ">u2", "<u4", ">u8"):
    save_zip(f"positive_{kind.strip('<>')}.npz", dict(t=n.astype(kind), p=p.astype(kind), q=q.astype(kind)),
             zipfile.ZIP_DEFLATED)
save_zip("count_matrix.npz", dict(t=n, x=np.stack([p, s], axis=1)), zipfile.ZIP_STORED)

tt, xx = mesh(T, X)
write("grid.csv", table(["t", "x", "u", "v"], [tt, xx, u.ravel(), v.ravel()]))
save_zip("grid_tx.npz", dict(t=T, x=X, u=u, v=v), zipfile.ZIP_DEFLATED)
save_zip("grid_xt.npz", dict(u=u.T.copy(), v=np.asfortranarray(v), x=X, t=T, nu=np.array(0.1)), zipfile.ZIP_STORED)
save_zip("grid_long.npz", dict(t=tt, x=xx, u=u.ravel(), v=v.ravel()), zipfile.ZIP_STORED)
save_zip("grid_mesh.npz", dict(t=tt.reshape(u.shape), x=xx.reshape(u.shape), u=u, v=v), zipfile.ZIP_STORED)
save_zip("grid_components.npz", dict(t=T, x=X, w=np.stack([u, v])), zipfile.ZIP_STORED)
scipy.io.savemat("grid_v6.mat", dict(t=T[None, :], x=X[:, None], u=u.T, v=v.T))
scipy.io.savemat("grid_v7.mat", dict(t=T[None, :], x=X[:, None], u=u.T, v=v.T), do_compression=True)
with h5py.File("grid_chunks.h5", "w") as file:
    for name, value in dict(t=T, x=X, u=u, v=v).items():
        file.create_dataset(name, data=value, chunks=(2,) * value.ndim, compression="gzip", shuffle=True,
                            fletcher32=True)
with h5py.File("grid_latest.h5", "w", libver="latest") as file:
    file["t"], file["x"] = T.astype(">f4"), X.astype("<i2")
    file.create_dataset("u", data=u.astype("<f4"), chunks=(3, 2), maxshape=(None, None))
    file["v"] = v.astype(">f8")
    file["me"] = h5py.SoftLink("/")
    file["again"] = file["/"]
with h5py.File("grid_packed.nc", "w") as file: # as netCDF packs numbers
    file["t"], file["x"] = T, X
    for name, value in dict(u=u, v=v).items():
        packed = file.create_dataset(name, data=np.where(np.isnan(value), -999, (np.nan_to_num(value) - 1) * 8).astype("i2"))
        packed.attrs["_FillValue"], packed.attrs["scale_factor"], packed.attrs["add_offset"] = np.int16(-999), 0.125, 1.0
with h5py.File("grid_bounds.nc", "w") as file: # netCDF: ends of the axes' cells, and a dimension without numbers
    file["t"], file["x"], file["u"], file["v"] = T, X, u, v
    file["t_bnds"], file["x_bnds"] = np.stack([T - 0.125, T + 0.125], 1), np.stack([X - 1, X + 1], 1)
    file["t"].attrs["bounds"], file["x"].attrs["bounds"] = np.bytes_("t_bnds"), np.bytes_("x_bnds")
    file.create_dataset("bnds", shape=(2,), dtype=">f4")
    file["bnds"].attrs["NAME"] = np.bytes_("This is a netCDF dimension but not a netCDF variable.         2")
with h5py.File("grid_nested.h5", "w") as file:
    file["t"], file["x"] = T, X
    file["run1/u"], file["run1/v"] = u - 1, v
    file["run3/u"], file["run3/v"] = u.T, v
with h5py.File("grid_v73.mat", "w", userblock_size=512) as file:
    for name, value in dict(t=T[:, None], x=X[None, :], u=u, v=v).items(): # transposed: as MATLAB stores x by t
        file.create_dataset(name, data=value).attrs["MATLAB_class"] = np.bytes_("double")
    file.create_dataset("label", data=np.array([[104], [105]], dtype="u2")).attrs["MATLAB_class"] = np.bytes_("char")
with open("grid_v73.mat", "r+b") as file:
    file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\0\2IM")

ss, aa, bb = mesh(S, A, B)
write("space.csv", table(["t", "x", "y", "w"], [ss, aa, bb, w.ravel()]))
save_zip("space_yxt.npz", dict(w=w.T.copy(), t=S, y=B, x=A), zipfile.ZIP_DEFLATED)
scipy.io.savemat("space.mat", dict(w=np.moveaxis(w, 0, 2), t=S, y=B, x=A, T=S), do_compression=True)

square = np.arange(16.0).reshape(4, 4)
ta, xa = mesh(n[:4], X)
write("square.csv", table(["t", "x", "u"], [ta, xa, square.ravel()]))
save_zip("square_tx.npz", dict(t=n[:4], x=X, u=square), zipfile.ZIP_STORED)
save_zip("square_xt.npz", dict(t=n[:4], x=X, u=square.T.copy()), zipfile.ZIP_STORED)

with h5py.File("hostile_huge.h5", "w") as file: # a million by a million, of which nothing is there
    file["t"] = T
    file.create_dataset("u", shape=(10**6, 10**6), chunks=(1000, 1000), compression="gzip")
with h5py.File("hostile_external.h5", "w") as file:
    file["t"] = T
    file.create_dataset("u", shape=(5,), dtype="f8", external=[("/etc/passwd", 0, 40)])
with h5py.File("hostile_virtual.h5", "w") as file:
    layout = h5py.VirtualLayout(shape=(5,), dtype="f8")
    layout[:] = h5py.VirtualSource("grid_chunks.h5", "t", shape=(5,))
    file["t"] = T
    file.create_virtual_dataset("u", layout)
with h5py.File("ode_cycle.h5", "w") as file: # groups that hold each other
    file["a/t"], file["a/x"], file["a/y"] = t, x, y
    file["a/b"], file["a/top"] = file["a"], file["/"]


def cell(*values):
    made = np.empty((1, len(values)), dtype=object)
    made[0, :] = values
    return made


# arrays as other tools store them: complex ones, cells, structs, time under other names
complex_u = np.nan_to_num(u.T) + 0j
complex_u[np.isnan(u.T)] = nan
grid = dict(t=T[None, :], x=X[:, None])
scipy.io.savemat("grid_complex.mat", dict(grid, u=complex_u, v=v.T + 0j))
scipy.io.savemat("grid_complex_v7.mat", dict(grid, u=complex_u + 1e-17j, v=v.T), do_compression=True)
scipy.io.savemat("grid_parts.mat", dict(grid, w=u.T + 1j * v.T), do_compression=True)
save_zip("grid_parts.npz", dict(t=T, x=X, w=u + 1j * v), zipfile.ZIP_DEFLATED)
save_zip("grid_parts_c8.npz", dict(t=T, x=X, w=np.asfortranarray((u + 1j * v).astype(">c8"))), zipfile.ZIP_STORED)
with h5py.File("grid_parts.h5", "w") as file:
    file["t"], file["x"], file["w"] = T, X, u + 1j * v
scipy.io.savemat("grid_cell.mat", dict(grid, u=cell(u.T), v=cell(cell(v.T))), do_compression=True)
scipy.io.savemat("grid_cells.mat", dict(U=cell(u.T, v.T), xs=cell(X[:, None], T[:, None]), lhs=cell("u_t", "v_t")))
runs = np.array([(T + 1, u), (T, v)], dtype=[("t", object), ("u", object)])
scipy.io.savemat("grid_structs.mat", dict(run=runs, x=X), do_compression=True)
save_zip("grid_tt.npz", dict(x=X, tt=T, u=u.T.copy(), v=v), zipfile.ZIP_STORED)
save_zip("square_xtt.npz", dict(tt=n[:4], x=X, u=square.T.copy()), zipfile.ZIP_STORED)
save_zip("grid_steps.npz", dict(dt=np.array(0.25), x=X, u=u, v=v.T.copy()), zipfile.ZIP_STORED)
save_zip("grid_no_time.npz", dict(x=X, u=u, v=v), zipfile.ZIP_STORED)
scipy.io.savemat("grid_sparse.mat", dict(t=n[:4], x=X, u=scipy.sparse.csc_matrix(square)))


def matlab(name, build): # as version 7.3 lays it out: dimensions reversed, cells refer to #refs#
    with h5py.File(name, "w", userblock_size=512) as file:
        build(file)
    with open(name, "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\0\2IM")


def put(file, path, value, kind="double"):
    made = file.create_dataset(path, data=value)
    made.attrs["MATLAB_class"] = np.bytes_(kind)
    return made.ref


def refer(file, path, references, kind="cell"):
    made = file.create_dataset(path, data=np.array(references, dtype=object)[:, None], dtype=h5py.ref_dtype)
    if kind:
        made.attrs["MATLAB_class"] = np.bytes_(kind)
    return made.ref


def cells_73(file):
    put(file, "t", T[:, None]), put(file, "x", X[None, :])
    pair = np.zeros(u.shape, dtype=[("real", "f8"), ("imag", "f8")])
    pair["real"] = v
    refer(file, "u", [put(file, "#refs#/a", u)])
    refer(file, "v", [refer(file, "#refs#/c", [put(file, "#refs#/b", pair)])])


def structs_73(file):
    put(file, "x", X[None, :])
    refer(file, "run/t", [put(file, "#refs#/a", T[:, None] + 1), put(file, "#refs#/b", T[:, None])], None)
    refer(file, "run/u", [put(file, "#refs#/c", u), put(file, "#refs#/d", v)], None)
    file["run"].attrs["MATLAB_class"] = np.bytes_("struct")


matlab("grid_cell_v73.mat", cells_73)
matlab("grid_structs_v73.mat", structs_73)

save_zip("grid_mesh_x.npz", dict(t=T, X=np.broadcast_to(X[:, None], (4, 5)).copy(), u=u.T.copy(), v=v), zipfile.ZIP_STORED)
save_zip("grid_mesh_t.npz", dict(t=np.broadcast_to(T, (4, 5)).copy(), x=X, u=u.T.copy(), v=v), zipfile.ZIP_STORED)
with h5py.File("grid_apart.h5", "w") as file:
    file["grid/t"], file["grid/x"], file["fields/u"], file["fields/v"] = T, X, u, v
np.save("count_backwards.npy", np.stack([s, p], axis=1)[::-1])
np.save("count_complex.npy", np.stack([n, p + 1j * s], axis=1))
np.save("ode_objects.npy", np.array([[0, "a"], [1, None]], dtype=object))
save_zip("ode_objects.npz", dict(t=t, x=np.array([None] * 8)), zipfile.ZIP_STORED, allow_pickle=True)
place = np.array([[0.5, 1], [0.25, -1], [0, 2]])
there = np.arange(24.0).reshape(3, 2, 4)
scipy.io.savemat("points.mat", dict(X_star=place, t=X[:, None], p_star=there[:, 0, :] ** 2, U_star=there))
write("points.csv", table(["t", "x", "y", "p_star", "U_star1", "U_star2"], np.array(
    [[X[k], *place[i], there[i, 0, k] ** 2, *there[i, :, k]] for k in range(4) for i in range(3)]).T))
with h5py.File("grid_other_group.h5", "w") as file:
    file["t-coordinate"], file["x-coordinate"], file["U exact"], file["old/u"] = T, X, u, v

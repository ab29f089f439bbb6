#!/usr/bin/env python3
"""The cells of `kbass bench paper` with PySINDy, where it is installed: the same samples and dictionaries.

    bench/pysindy.py --json pysindy.json [--case vdp,ks] [--seeds 1] [--kbass build/kbass]

Slopes by PySINDy's finite differences, plain or smoothed, weights by its sequentially thresholded least squares. Threshold
and smoothing are chosen with the truth in sight, those that find most true and fewest false terms: better than any
user could do. Its weak form is not tried. The calls are those of PySINDy 1.7 to 2.0: FiniteDifference(d, axis),
SmoothedFiniteDifference(smoother_kws, d), STLSQ(threshold, normalize_columns), coef_. The output is read by
`kbass bench results`.
"""
import argparse, csv, itertools, json, math, os, subprocess, sys, tempfile, time, warnings

sys.path.pop(0) # this folder: `import pysindy` means the package, not this file

THRESHOLDS = [10 ** (k / 4) for k in range(-20, 5)]
WINDOWS = (0, 5, 7, 11) # samples of the smoother; 0: none

def read(path):
    with open(path) as file:
        names, *rows = csv.reader(file)
    return names, sorted([float(x) for x in row] for row in rows)

def monomials(names, cell):
    """Powers of each state, by total degree or up to a power in each, with the names that kbass gives them."""
    degree, box = cell['degree'], cell['box_degree']
    for powers in itertools.product(range((box or degree) + 1), repeat=len(names)):
        if (sum(powers) or cell['constant']) and (box or sum(powers) <= degree):
            factors = [n if p == 1 else '%s^%d' % (n, p) for n, p in zip(names, powers) if p]
            yield '*'.join(factors) or '1', powers

def slope(values, places, order, axis, window, np, ps):
    """The derivative along an axis, and the values that it was made of. PySINDy smooths along its first axis only."""
    values = np.moveaxis(values, axis, 0)
    method = ps.SmoothedFiniteDifference(smoother_kws={'window_length': window}, d=order) if window else \
        ps.FiniteDifference(d=order)
    found = np.asarray(method._differentiate(values, np.array(places)))
    smooth = np.asarray(getattr(method, 'smoothed_x_', values))
    return np.moveaxis(found, 0, axis), np.moveaxis(smooth, 0, axis)

def system(names, rows, cell, window, np, ps):
    table = np.array(rows)
    slopes, states = slope(table[:, 1:], table[:, 0], 1, 0, window, np, ps)
    columns = {name: np.prod(states ** np.array(powers), axis=1) for name, powers in monomials(names[1:], cell)}
    return columns, {name + '_t': slopes[:, i] for i, name in enumerate(names[1:])}

def field(rows, cell, window, np, ps):
    times, places = sorted({r[0] for r in rows}), sorted({r[1] for r in rows})
    u = np.array([r[2] for r in rows]).reshape(len(times), len(places))
    u_t, u = slope(u, times, 1, 0, window, np, ps)
    columns = {}
    for order in range(cell['derivatives'] + 1):
        factor = slope(u, places, order, 1, window, np, ps)[0] if order else np.ones_like(u)
        for power in range(cell['degree'] + 1):
            factors = ['u' if power == 1 else 'u^%d' % power] * (power > 0) + ['u_' + 'x' * order] * (order > 0)
            if factors: columns['*'.join(factors)] = (u ** power * factor).ravel()
    return columns, {'u_t': u_t.ravel()}

def judge(found, law):
    true = {(lhs, term): weight for lhs, term, weight in law}
    right = len(found.keys() & true.keys())
    squares = sum((found.get(k, 0) - true.get(k, 0)) ** 2 for k in found.keys() | true.keys())
    return {'exact': found.keys() == true.keys(), 'rmse': math.sqrt(squares / sum(w * w for w in true.values())),
            'recall': right / len(true), 'precision': right / len(found) if found else 0.0,
            'errors': {'%s: %s' % k: found.get(k, 0) / w - 1 for k, w in true.items()},
            'terms': ['%s: %.5g %s' % (lhs, w, term) for (lhs, term), w in found.items()]}

def merit(row):
    both = row['recall'] + row['precision']
    return row['recall'] * row['precision'] / both if both else 0, -row['rmse']

def fit(columns, slopes, law, np, ps):
    names = list(columns)
    theta, targets = np.column_stack([columns[n] for n in names]), np.column_stack(list(slopes.values()))
    best = None
    for threshold, normalised in itertools.product(THRESHOLDS, (False, True)):
        method = ps.STLSQ(threshold=threshold, normalize_columns=normalised)
        weights = np.atleast_2d(np.asarray(method.fit(theta, targets).coef_))
        found = {(lhs, n): float(w) for lhs, row in zip(slopes, weights) for n, w in zip(names, row) if w}
        row = dict(judge(found, law), threshold=threshold)
        if not best or merit(row) > merit(best): best = row
    return best

def run(path, cell, np, ps):
    start, cpu = time.time(), time.process_time()
    names, rows = read(path)
    shortest = min(len({r[axis] for r in rows}) for axis in range(2 if cell['is_field'] else 1))
    best = None
    try:
        for window in (w for w in WINDOWS if w <= shortest):
            made = field(rows, cell, window, np, ps) if cell['is_field'] else system(names, rows, cell, window, np, ps)
            row = dict(fit(*made, cell['law'], np, ps), window=window)
            if not best or merit(row) > merit(best): best = row
    except Exception as problem: # a cell that fails is a row
        return {'error': '%s: %s' % (type(problem).__name__, problem)}
    return dict(best, seconds=time.time() - start, cpu=time.process_time() - cpu)

def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--json', required=True)
    parser.add_argument('--case')
    parser.add_argument('--seeds', default='1')
    parser.add_argument('--kbass', default='build/kbass')
    o = parser.parse_args()
    try:
        import numpy as np, pysindy as ps
    except ImportError as problem:
        return print('skipped: PySINDy is not installed here (%s); pip install pysindy' % problem)
    warnings.simplefilter('ignore')
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([o.kbass, 'bench', 'samples', '--quiet', '-o', folder, '--seeds', o.seeds]
                       + (['--case', o.case] if o.case else []), check=True)
        with open(os.path.join(folder, 'cells.json')) as file:
            cells = json.load(file)
        for name, cell in cells.items():
            for seed, path in enumerate(cell['files'], 1):
                row = dict(name='%s seed %d' % (name, seed), **run(os.path.join(folder, path), cell, np, ps))
                rows.append(row)
                print('%-24s %s' % (row['name'], row.get('error') or '%-5s rmse %.4g  R %.2f  P %.2f' % (
                    'exact' if row['exact'] else 'wrong', row['rmse'], row['recall'], row['precision'])), flush=True)
    with open(o.json, 'w') as file:
        json.dump({'format': 'kbass-bench', 'bench': 'pysindy', 'version': getattr(ps, '__version__', '?'), 'machine': {}, 'options': {},
                   'rows': rows}, file, indent=1)

if __name__ == '__main__':
    main()

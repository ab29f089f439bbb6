#!/usr/bin/env python3
"""The cells of `kbass bench paper` with PySINDy: the same samples and dictionaries.

    bench/pysindy.py --json pysindy.json [--case vdp,ks] [--seeds 1] [--kbass build/kbass]

Slopes by PySINDy's finite differences, plain or smoothed, terms by its sequentially thresholded least squares,
weights by least squares on those terms: what SINDy.fit does, on the columns that PDELibrary and PolynomialLibrary make.
Threshold and smoothing are chosen with the truth in sight, those that find most true and fewest false terms, which no
user can. Weak forms, ensembles and other optimizers are not tried. The output is read by `kbass bench results`; a cell
that fails is a row with the reason.
Run with PySINDy 1.7.5, which needs NumPy below 2.
"""
import argparse, csv, itertools, json, math, os, subprocess, sys, tempfile, time, warnings

here = os.path.dirname(os.path.abspath(__file__))
sys.path = [p for p in sys.path if os.path.abspath(p) != here] # `import pysindy` means the package, not this file

THRESHOLDS = [10 ** (k / 4) for k in range(-20, 25)] # until no term is left
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
    found = np.asarray(method(values, np.array(places)))
    smooth = np.asarray(getattr(method, 'smoothed_x_', values)) # not kept before 2.0
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

def weights_of(method, theta, targets, np):
    """Least squares on the terms that the method leaves to each equation. PySINDy 2 has done so itself, 1.7 not."""
    kept = np.atleast_2d(np.asarray(method.fit(theta, targets).coef_)) != 0
    weights = np.zeros(kept.shape)
    for i, terms in enumerate(kept):
        if terms.any(): weights[i, terms] = np.linalg.lstsq(theta[:, terms], targets[:, i], rcond=None)[0]
    return weights

def fit(columns, slopes, law, np, ps):
    names = list(columns)
    theta, targets = np.column_stack([columns[n] for n in names]), np.column_stack(list(slopes.values()))
    best = None
    for normalised in (False, True):
        for threshold in THRESHOLDS:
            weights = weights_of(ps.STLSQ(threshold=threshold, normalize_columns=normalised), theta, targets, np)
            found = {(lhs, n): float(w) for lhs, row in zip(slopes, weights) for n, w in zip(names, row) if w}
            row = dict(judge(found, law), threshold=threshold, normalised=normalised)
            if not best or merit(row) > merit(best): best = row
            if not found: break
    return best

def run(path, cell, np, ps):
    start, cpu = time.time(), time.process_time()
    best = None
    try:
        names, rows = read(path)
        shortest = min(len({r[axis] for r in rows}) for axis in range(2 if cell['is_field'] else 1))
        for window in (w for w in WINDOWS if w <= shortest):
            made = field(rows, cell, window, np, ps) if cell['is_field'] else system(names, rows, cell, window, np, ps)
            row = dict(fit(*made, cell['law'], np, ps), window=window)
            if not best or merit(row) > merit(best): best = row
    except Exception as problem: # a cell that fails is a row
        return {'error': '%s: %s' % (type(problem).__name__, ' '.join(str(problem).split()))}
    return dict(best, seconds=time.time() - start, cpu=time.process_time() - cpu)

def save(path, ps, rows):
    document = {'format': 'kbass-bench', 'bench': 'pysindy', 'version': getattr(ps, '__version__', '?'), 'machine': {},
                'options': {}, 'rows': rows}
    try:
        with open(path, 'w') as file: json.dump(document, file, indent=1)
    except OSError as problem:
        sys.exit('%s: cannot be written: %s' % (path, problem.strerror))

def samples(o, folder):
    command = [o.kbass, 'bench', 'samples', '--quiet', '-o', folder, '--seeds', o.seeds]
    try:
        code = subprocess.run(command + (['--case', o.case] if o.case else [])).returncode
    except OSError as problem:
        sys.exit('%s: cannot be run: %s (--kbass PATH)' % (o.kbass, problem.strerror))
    if code: sys.exit(code) # kbass has said why
    with open(os.path.join(folder, 'cells.json')) as file:
        return json.load(file)

def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--json', required=True)
    parser.add_argument('--case')
    parser.add_argument('--seeds', default='1')
    parser.add_argument('--kbass', default='build/kbass')
    o = parser.parse_args()
    try:
        import numpy as np, pysindy as ps
    except Exception as problem: # an old PySINDy among new packages fails in many ways
        return print('skipped: PySINDy cannot be imported (%s); pip install pysindy' % problem)
    warnings.simplefilter('ignore')
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        cells = samples(o, folder)
        save(o.json, ps, rows) # a path that cannot be written shows now
        for name, cell in cells.items():
            for seed, path in enumerate(cell['files'], 1):
                row = dict(name='%s seed %d' % (name, seed), **run(os.path.join(folder, path), cell, np, ps))
                rows.append(row)
                save(o.json, ps, rows)
                print('%-24s %s' % (row['name'], row.get('error') or '%-5s rmse %.4g  R %.2f  P %.2f' % (
                    'exact' if row['exact'] else 'wrong', row['rmse'], row['recall'], row['precision'])), flush=True)

if __name__ == '__main__':
    main()

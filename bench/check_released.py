#!/usr/bin/env python3
"""Our samples of the paper's cells beside the ones its authors released (github.com/long-da/KBASS).

    bench/check_released.py FOLDER_WITH_THEIR_CSV [--kbass build/kbass]

One line per file: the largest difference, as a share of the largest value; and the same within the
first tenth of the record, before chaos takes over. Van der Pol and Lorenz 96 differ by the errors of the released
files' own solver: ours agrees with independent ones to 2e-7 (tests/test_simulate.c).
"""
import argparse, csv, os, subprocess, tempfile

PAIRS = {'vdp-10-0': 'vdp_10.csv', 'lorenz96-12-0': 'lorenz96_12.csv', 'burgers-10-0': 'burgers_nu0.1_10x10.csv',
         'ks-0': 'ks_40x40.csv', 'hare-lynx': 'hare_lynx_1900_1920.csv'}
AXES = {'burgers-10-0': 2, 'ks-0': 2}

def read(path, n_axes):
    with open(path) as file:
        rows = [[float(x) for x in row] for row in list(csv.reader(file))[1:]]
    return sorted(rows, key=lambda row: [round(x, 9) for x in row[:n_axes]])

def difference(ours, theirs, n_axes, until):
    pairs = [(a, b) for a, b in zip(ours, theirs) if b[0] <= until]
    places = max(abs(x - y) for a, b in pairs for x, y in zip(a[:n_axes], b[:n_axes]))
    values = max(abs(x - y) for a, b in pairs for x, y in zip(a[n_axes:], b[n_axes:]))
    return places, values / max(abs(y) for b in theirs for y in b[n_axes:])

def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('released')
    parser.add_argument('--kbass', default='build/kbass')
    o = parser.parse_args()
    if not os.path.isdir(o.released):
        return print('skipped: there is no folder %s' % o.released)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([o.kbass, 'bench', 'samples', '--quiet', '-o', folder, '--case', ','.join(PAIRS)], check=True)
        for cell, name in PAIRS.items():
            n_axes = AXES.get(cell, 1)
            ours = read('%s/%s-seed1.csv' % (folder, cell), n_axes)
            theirs = read(os.path.join(o.released, name), n_axes)
            assert len(ours) == len(theirs), cell
            first, last = theirs[0][0], theirs[-1][0]
            places, values = difference(ours, theirs, n_axes, last)
            early = difference(ours, theirs, n_axes, first + (last - first) / 10)[1]
            print('%-14s points within %.0e, values within %.1e (first tenth of the record: %.1e)'
                  % (cell, places, values, early))

if __name__ == '__main__':
    main()

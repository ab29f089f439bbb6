#!/usr/bin/env python3
"""The README's table: the three methods on the data that the paper's authors released (github.com/long-da/KBASS).

    bench/released.py FOLDER_WITH_THEIR_CSV [--kbass build/kbass] [--limit SECONDS] [--only NAME ...]
                      [--columns kbass em paper preset]

Errors are ||w - w*|| / ||w*||; the seconds are CPU time. The laws and dictionaries are those of kbass bench samples.
"""
import argparse, json, math, os, resource, subprocess, tempfile

ROWS = [('vdp-10-0', 'vdp_10.csv', 0.0086), ('vdp-10-20', 'vdp_10_noise20.csv', 0.0995),
        ('lorenz96-12-0', 'lorenz96_12.csv', 0.0068), ('lorenz96-12-10', 'lorenz96_12_noise.csv', 0.134),
        ('hare-lynx', 'hare_lynx_1900_1920.csv', 0.0244), ('burgers-10-0', 'burgers_nu0.1_10x10.csv', 0.0),
        ('burgers-10-20', 'burgers_nu0.1_10x10_noise20.csv', 0.038), ('ks-0', 'ks_40x40.csv', 0.013),
        ('ks-20', 'ks_40x40_noise20.csv', 0.025)]

def cells(kbass, folder):
    subprocess.run([kbass, 'bench', 'samples', '--quiet', '-o', folder, '--case', ','.join(row[0] for row in ROWS)],
                   check=True, stdout=subprocess.DEVNULL)
    with open(os.path.join(folder, 'cells.json')) as file:
        return json.load(file)

def dictionary(cell):
    words = ['--axes', 't,x'] if cell['is_field'] else []
    for name in ('degree', 'box_degree', 'derivatives'):
        if cell[name]:
            words += ['--' + name.replace('_', '-'), str(cell[name])]
    return words + (['--constant'] if cell['constant'] else [])

def found_terms(result):
    return {(equation['lhs'], term['term']): term['weight']
            for equation in result['equations'] for term in equation['terms'] if term['selected']}

def judge(cell, result):
    law, found = {(lhs, term): weight for lhs, term, weight in cell['law']}, found_terms(result)
    if not found:
        return 'no terms'
    if set(found) != set(law):
        return 'wrong terms'
    return '%.2g' % (math.sqrt(sum((found[key] - law[key]) ** 2 for key in law)) /
                     math.sqrt(sum(weight ** 2 for weight in law.values())))

# Where the authors' script for the noisy file differs from that for the clean one, whose settings the preset has.
OF_NOISE = {'burgers-10-20': ['--paper-length-scale', '1'],
            'ks-20': ['--paper-first', '100', '--paper-alpha', '0.1', '--paper-bound', '1e-3']}

# Words of `kbass discover` for each column; None: there is none for this data.
def words(column, name):
    presets = {'vdp': 'vdp', 'lorenz96': 'lorenz96', 'burgers': 'burgers', 'ks': 'ks'}
    preset = presets.get(name.split('-')[0])
    if column == 'preset':
        if not preset:
            return None
        return ['--method', 'paper', '--paper-preset', preset, '--paper-finish'] + OF_NOISE.get(name, [])
    return ['--method', column]

def run(o, cell, path, method):
    if method is None:
        return '-'
    out = os.path.join(o.folder, 'result.json')
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run([o.kbass, 'discover', path, '-q', '--threads', '1', '--json', out, '--time-limit', str(o.limit)] + method
                          + dictionary(cell), capture_output=True, text=True)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    if done.returncode == 2:
        return done.stderr.strip()
    with open(out) as file:
        result = json.load(file)
    stopped = ' (stopped)' if result['outcome'] == 'time limit' else ''
    return '%s, %.2g s%s' % (judge(cell, result), seconds, stopped)

def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('released')
    parser.add_argument('--kbass', default='build/kbass')
    parser.add_argument('--limit', type=float, default=900)
    parser.add_argument('--only', nargs='*')
    parser.add_argument('--columns', nargs='*', default=['kbass', 'em', 'paper', 'preset'])
    o = parser.parse_args()
    if not os.path.isdir(o.released):
        return print('skipped: there is no folder %s' % o.released)
    print('| data | %s | paper\'s table |\n%s' % (' | '.join(o.columns), '|---' * (len(o.columns) + 2) + '|'))
    with tempfile.TemporaryDirectory() as o.folder:
        known = cells(o.kbass, o.folder)
        for name, file, published in ROWS:
            path = os.path.join(o.released, file)
            if os.path.exists(path) and (not o.only or name in o.only):
                found = [run(o, known[name], path, words(column, name)) for column in o.columns]
                print('| %s | %s | %g |' % (name, ' | '.join(found), published), flush=True)

if __name__ == '__main__':
    main()

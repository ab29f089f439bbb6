#!/usr/bin/env python3
"""Exact-support rates and errors beside the oracle's, over noise seeds, for systems that `kbass simulate` makes.

    bench/ode_bars.py [--kbass build/kbass] [--seeds 20] [--released DIR] [CASE ...]

The oracle is the same fit told the true terms (all others forbidden, these required). Needs only python3. One line per
case: how many seeds had exactly the true terms, the median relative error of the weights ||w - w*|| / ||w*|| and the
oracle's, the median seconds.
"""
import argparse, json, math, os, statistics, subprocess, sys, tempfile, time

def lorenz96(n=6):
    name = lambda k: 'x%d' % (k % n + 1)
    pair = lambda a, b: '*'.join(sorted((name(a), name(b))))
    return {name(i) + '_t': {'1': 8, name(i): -1, pair(i - 1, i + 1): 1, pair(i - 1, i - 2): -1} for i in range(n)}

VDP = {'x_t': {'y': 1}, 'y_t': {'x': -1, 'y': 2.5, 'x^2*y': -2.5}}
LYNX = {'x_t': {'x': 0.4807, 'x*y': -0.0248}, 'y_t': {'y': -0.9272, 'x*y': 0.02756}}
BOX, CUBIC = ['--box-degree', '4'], ['--degree', '3', '--constant']
CASES = {'%s %g%%' % (name, noise): (system, samples, until, noise, truth, dictionary)
         for name, system, samples, until, truth, dictionary, levels in (
             ('vdp 25', ['vdp', '--start', '1,1'], 25, 8, VDP, BOX, (0, 1, 20)),
             ('lorenz96 50', ['lorenz96'], 50, 5, lorenz96(), CUBIC, (0, 1, 10)))
         for noise in levels}
RELEASED = {'vdp_10.csv': (VDP, BOX), 'vdp_10_noise20.csv': (VDP, BOX), 'lorenz96_12.csv': (lorenz96(), CUBIC),
            'lorenz96_12_noise.csv': (lorenz96(), CUBIC), 'hare_lynx_1900_1920.csv': (LYNX, ['--degree', '2'])}

def run(kbass, data, options):
    with tempfile.TemporaryDirectory() as folder:
        result = os.path.join(folder, 'result.json')
        start = time.time()
        subprocess.run([kbass, 'discover', data, '--quiet', '--json', result] + options, stdout=subprocess.DEVNULL, check=True)
        return json.load(open(result)), time.time() - start

def judge(result, truth):
    squares = norm = 0
    exact = True
    for equation in result['equations']:
        found = {t['term']: t['weight'] for t in equation['terms'] if t['selected']}
        true = truth[equation['lhs']]
        exact = exact and set(found) == set(true)
        for term in set(found) | set(true):
            squares += (found.get(term, 0) - true.get(term, 0)) ** 2
            norm += true.get(term, 0) ** 2
    return exact, math.sqrt(squares / norm)

def told_the_terms(truth):
    terms = sorted({t for equation in truth.values() for t in equation})
    group = lambda choose: '; '.join('%s: %s' % (lhs, ', '.join(c)) for lhs, eq in truth.items() if (c := choose(eq)))
    options = ['--terms', ', '.join(terms), '--require', group(list)]
    forbidden = group(lambda eq: [t for t in terms if t not in eq])
    return options + (['--forbid', forbidden] if forbidden else [])

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--kbass', default='build/kbass')
    parser.add_argument('--seeds', type=int, default=20)
    parser.add_argument('--released', help="folder with the paper authors' files; judged one by one")
    parser.add_argument('cases', nargs='*')
    o = parser.parse_args()
    if o.released:
        for name, (truth, dictionary) in RELEASED.items():
            path = os.path.join(o.released, name)
            result, seconds = run(o.kbass, path, dictionary)
            exact, error = judge(result, truth)
            oracle = judge(run(o.kbass, path, told_the_terms(truth))[0], truth)[1]
            print('%-24s %-5s rmse %.5f  oracle %.5f  %.1f s' % (name, 'exact' if exact else 'WRONG', error, oracle, seconds), flush=True)
    for name in [n for n in CASES if not o.cases or any(c in n for c in o.cases)]:
        system, samples, until, noise, truth, dictionary = CASES[name]
        rows = []
        for seed in range(1, o.seeds + 1):
            with tempfile.TemporaryDirectory() as folder:
                data = os.path.join(folder, 'data.csv')
                subprocess.run([o.kbass, 'simulate'] + system + ['--from', '0', '--until', str(until), '--samples', str(samples),
                               '--noise', str(noise), '--seed', str(seed), '-o', data], check=True)
                result, seconds = run(o.kbass, data, dictionary)
                exact, error = judge(result, truth)
                oracle = judge(run(o.kbass, data, told_the_terms(truth))[0], truth)[1]
            rows.append((exact, error, oracle, seconds))
            print('  %s seed %d: %s rmse %.5f oracle %.5f %.1f s' % (name, seed, 'exact' if exact else 'WRONG', *rows[-1][1:]), file=sys.stderr, flush=True)
        median = lambda i: statistics.median(r[i] for r in rows)
        print('%-18s exact %d of %d  rmse %.5f  oracle %.5f  ratio %.2f  %.1f s' % (
            name, sum(r[0] for r in rows), len(rows), median(1), median(2), median(1) / max(median(2), 1e-9), median(3)), flush=True)

if __name__ == '__main__':
    main()

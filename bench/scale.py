#!/usr/bin/python3
"""The figures of docs/scale.md about states: long, stiff, dense and wide records, made here, searched with one thread.

    bench/scale.py --list
    bench/scale.py [PATTERN ...] [--seeds 1,2,3] [--threads N] [--keep FOLDER] [--json FILE]
    bench/scale.py --speedup [PATTERN ...]      wall-clock time of one thread and of two, in turns: needs an idle machine

PATTERN is a name of --list or one with * in it. A row says whether the terms are those of the law ("26 of 30" equations
where not all are), the error of the weights, the verdict, processor seconds, and the most memory that was in use.
"""
import argparse, fnmatch, importlib.machinery, importlib.util, json, math, os, random, subprocess, sys, tempfile, time

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
loader = importlib.machinery.SourceFileLoader('laws', os.path.join(root, 'tools/check-laws'))
laws = importlib.util.module_from_spec(importlib.util.spec_from_loader('laws', loader))
loader.exec_module(laws)

CASES = {}


def case(name, equations, simulate, discover='', starts=None, change=None):
    """`starts`: those of several runs, or one; `change`: takes the rows of a table and a random number generator."""
    CASES[name] = dict(equations=equations, simulate=simulate.split(), discover=discover.split(),
                       starts=starts or [None], change=change)


def start(values):
    return ','.join('%.6g' % v for v in values)


def drawn(n, seed, low, high):
    draw = random.Random(seed)
    return start(draw.uniform(low, high) for _ in range(n))


# ------------------------------------------------------------------------------------ what is done to tables
def with_gap(rows, draw):
    n = len(rows)
    return rows[:n // 3] + rows[n // 3 + n // 20:n // 2] + rows[n // 2 + n // 30:]


def drifting(rows, draw):
    """Sampled ever more rarely: every row at first, every second in the end."""
    return [r for i, r in enumerate(rows) if i * i / (2 * len(rows)) % 1 < 1 - i / (2 * len(rows))]


# ------------------------------------------------------------------------------------ long
harmonic = ['x_t = y', 'y_t = -x']
lotka_volterra = ['x_t = x - x*y', 'y_t = x*y - y']
van_der_pol = ['x_t = y', 'y_t = -x + y - x^2*y']


def vdp(mu):
    return ['x_t = y', 'y_t = %g*y - %g*x^2*y - x' % (mu, mu)]


def periods(n, period, each=16):
    return '--until %g -n %d --noise 5' % (n * period, n * each + 1)


for n in (10, 30, 60, 100, 300, 1000):
    case('long-harmonic-%d' % n, harmonic, '--start 1,0 ' + periods(n, 2 * math.pi))
    case('long-lotka-volterra-%d' % n, lotka_volterra, '--start 1.5,1 ' + periods(n, 6.44))
    case('long-vdp-1-%d' % n, van_der_pol, '--start 2,0 ' + periods(n, 6.66))
    case('long-vdp-2.5-%d' % n, vdp(2.5), '--start 2,0 ' + periods(n, 8.1))
    case('long-vdp-5-%d' % n, vdp(5), '--start 2,0 ' + periods(n, 11.6))
    case('long-vdp-5-%d-64' % n, vdp(5), '--start 2,0 ' + periods(n, 11.6, 64))
others = {
    'duffing': (['x_t = y', 'y_t = -x - x^3'], '1.2,0', 4.5),
    'duffing-damped': (['x_t = y', 'y_t = -x - x^3 - 0.01*y'], '1.5,0', 4.5),
    'duffing-well': (['x_t = y', 'y_t = x - x^3'], '1.2,0', 4.6),
    'brusselator': (['x_t = 1 + x^2*y - 4*x', 'y_t = 3*x - x^2*y'], '1.5,2.5', 7.16),
    'damped': (['x_t = y', 'y_t = -x - 0.02*y'], '1,0', 2 * math.pi),
    'damped-fast': (['x_t = y', 'y_t = -x - 0.1*y'], '1,0', 2 * math.pi),
    'pendulum': (['x_t = y', 'y_t = -sin(x)'], '1,0', 6.7),
    'fitzhugh': (['v_t = v - 0.333333*v^3 - w + 0.5', 'w_t = 0.08*v + 0.056 - 0.064*w'], '-1,1', 39.5),
    'predator-limited': (['x_t = x - 0.1*x^2 - x*y', 'y_t = x*y - 0.9*y'], '2,0.5', 6.8),
    'selkov': (['x_t = -x + 0.1*y + x^2*y', 'y_t = 0.5 - 0.1*y - x^2*y'], '1,1', 6.4),
    'coupled': (['x_t = y', 'y_t = -x + 0.3*p', 'p_t = q', 'q_t = -2*p + 0.3*x'], '1,0,0,0.5', 6.5),
    'rotor': (['x_t = 2*y - x^3 - x*y^2 + x', 'y_t = -2*x - y^3 - x^2*y + y'], '1,0', math.pi),
    'three': (['x_t = y*z', 'y_t = -x*z', 'z_t = -0.5*x*y'], '1,1,0.8', 7.3),
}
for name, (equations, at, period) in others.items():
    extra = '--terms sin(x),cos(x) --degree 3' if 'sin' in equations[1] else ''
    for n in (40, 100):
        case('other-%s-%d' % (name, n), equations, '--start %s %s' % (at, periods(n, period)), extra)
case('other-forced-60', ['x_t = y', 'y_t = -4*x - 0.2*y + cos(t)'], '--start 1,0 ' + periods(60, 2 * math.pi),
     '--terms x,y,x^2,x*y,y^2,x^3,cos(t),sin(t)')
case('other-lorenz63-100', ['x_t = 10*y - 10*x', 'y_t = 28*x - x*z - y', 'z_t = x*y - 2.66667*z'],
     '--start 1,2,20 --until 75 -n 3001 --noise 1')
case('other-lorenz63-30', ['x_t = 10*y - 10*x', 'y_t = 28*x - x*z - y', 'z_t = x*y - 2.66667*z'],
     '--start 1,2,20 --until 22 -n 801 --noise 1')
for name, equations, at, period in (('harmonic', harmonic, '1,0', 2 * math.pi), ('vdp-1', van_der_pol, '2,0', 6.66),
                                    ('lotka-volterra', lotka_volterra, '1.5,1', 6.44)):
    case('gap-%s-100' % name, equations, '--start %s %s' % (at, periods(100, period)), change=with_gap)
    case('drift-%s-100' % name, equations, '--start %s %s' % (at, periods(100, period, 24)), change=drifting)
    case('runs-%s' % name, equations, '--noise 5', starts=[
        ('--start', at, '--until', '%g' % (period * n), '-n', '%d' % (16 * n + 1)) for n in (80, 25, 7, 2)])

# ------------------------------------------------------------------------------------ stiff
for n in range(40, 121):
    case('stiff-%d' % n, ['x_t = -5*y - 5*z', 'y_t = 5*x - y', 'z_t = 1 + 5*x*z - 28.5*z'],
         '--start 2.3,1.1,0.8 --until 10 -n %d' % n)
robertson = ['x_t = -0.04*x + 100*y*z', 'y_t = 0.04*x - 100*y*z - 3000*y^2', 'z_t = 3000*y^2']
for n in (40, 80):
    case('robertson-%d' % n, robertson, '--start 1,0,0 --until 40 -n %d' % n)
    case('oregonator-%d' % n, ['x_t = 2*y - 2*x*y + 2*x - 0.02*x^2', 'y_t = -0.5*y - 0.5*x*y + 0.5*z',
                               'z_t = 0.5*x - 0.5*z'], '--start 5,1,1 --until 30 -n %d' % (2 * n))
    case('fitzhugh-%d' % n, ['v_t = v - 0.333333*v^3 - w + 0.5', 'w_t = 0.08*v + 0.056 - 0.064*w'],
         '--start -1,1 --until 80 -n %d --noise 1' % n)
    case('vdp-5-%d' % n, vdp(5), '--start 2,0 --until 25 -n %d --noise 1' % n)
    case('slow-%d' % n, ['x_t = -20*x + 20*y^2', 'y_t = x - 1.5*y + 0.4'],
         '--start 2,0.2 --until 6 -n %d --noise 1' % n)
    case('tikhonov-%d' % n, ['x_t = -x + x*y', 'y_t = 30*x - 30*y - 15*x*y'],
         '--start 1,0 --until 5 -n %d --noise 1' % n)

# ------------------------------------------------------------------------------------ dense
for name, n in (('1e5', 100000), ('1e6', 1000000)):
    case('dense-vdp-' + name, vdp(2.5), '--start 2,0 --until 20 -n %d --noise 5' % n)
case('dense-lorenz63-1e5', ['x_t = 10*y - 10*x', 'y_t = 28*x - x*z - y', 'z_t = x*y - 2.66667*z'],
     '--start 1,2,20 --until 10 -n 100000 --noise 5')
case('dense-noisy-1e5', vdp(2.5), '--start 2,0 --until 20 -n 100000 --noise 50')
case('dense-brusselator-1e5', others['brusselator'][0], '--start 1.5,2.5 --until 30 -n 100000 --noise 10')


# ------------------------------------------------------------------------------------ wide
def lorenz96(n):
    x = ['x%d' % (i % n + 1) for i in range(-2, n + 2)]
    return ['%s_t = %s*%s - %s*%s - %s + 8' % (x[i], x[i - 1], x[i + 1], x[i - 1], x[i - 2], x[i])
            for i in range(2, n + 2)]


def chain(n, back):
    rows = []
    for i in range(1, n + 1):
        terms = ['x%d' % (i - 1) if i > 1 else '', '-%sx%d' % ('2*' if back else '', i)]
        terms += ['+x%d' % (i + 1)] if back and i < n else []
        rows.append('x%d_t = %s' % (i, ' '.join(terms)))
    return rows


for n in (12, 20, 40, 60, 100):
    case('lorenz96-%d' % n, lorenz96(n), '--until 4 -n 100 --noise 1 --start ' + drawn(n, 5, 4, 10),
         '--degree 2 --constant' + (' --time-limit 600' if n > 40 else ''))
pulse = start([1] + [0] * 29)
for name, back, long, short in (('chain', False, 40, 6), ('diffusion', True, 30, 3)):
    for degree in (1, 2):
        case('%s-pulse-%d' % (name, degree), chain(30, back),
             '--start %s --until %d -n 100 --noise 1' % (pulse, long), '--degree %d' % degree)
        case('%s-five-%d' % (name, degree), chain(30, back), '--until %d -n 20 --noise 1' % short,
             '--degree %d' % degree, starts=[('--start', drawn(30, s, 0, 1)) for s in range(1, 6)])


def genes(n, seed):
    """Each decays; some are raised by one other, some by a product of two; one is fed."""
    draw, rows = random.Random(seed), []
    for i in range(n):
        terms = ['-%.2f*x%d' % (draw.uniform(0.5, 1.5), i + 1)]
        for _ in range(draw.choice((1, 1, 2))):
            a, b = draw.sample([j for j in range(n) if j != i], 2)
            kind = draw.choice(('linear', 'linear', 'product', 'blocked'))
            terms.append({'linear': '+%.2f*x%d' % (draw.uniform(0.3, 1), a + 1),
                          'product': '+%.2f*x%d*x%d' % (draw.uniform(0.3, 1), *sorted((a + 1, b + 1))),
                          'blocked': '-%.2f*x%d*x%d' % (draw.uniform(0.3, 1), *sorted((a + 1, i + 1)))}[kind])
        rows.append('x%d_t = %s' % (i + 1, ' '.join(terms)))
    return rows


def oscillators(n, seed):
    """Pairs (position, velocity) in a ring of springs."""
    draw, rows, m = random.Random(seed), [], n // 2
    for i in range(m):
        k, c = draw.uniform(1, 4), 0.5
        rows.append('x%d_t = v%d' % (i + 1, i + 1))
        rows.append('v%d_t = -%.2f*x%d + %.2f*x%d - 0.10*v%d' % (i + 1, k + c, i + 1, c, (i + 1) % m + 1, i + 1))
    return rows


for n in (12, 15, 25, 50):
    for seed in (1, 2):
        case('genes-%d-%d' % (n, seed), genes(n, seed), '--until 3 -n 25 --noise 1', '--degree 2 --constant',
             starts=[('--start', drawn(n, 10 * seed + r, 0.2, 2)) for r in range(6)])
        case('genes-one-%d-%d' % (n, seed), genes(n, seed), '--until 4 -n 100 --noise 1', '--degree 2 --constant',
             starts=[('--start', drawn(n, 10 * seed, 0.2, 2))])
for n in (16, 24):
    case('springs-%d' % n, oscillators(n, 3), '--until 12 -n 150 --noise 1 --start ' + drawn(n, 4, -1, 1), '--degree 2')
    case('springs-%d-3' % n, oscillators(n, 3), '--until 12 -n 150 --noise 1 --start ' + drawn(n, 4, -1, 1),
         '--degree 3')


def cubic(n):
    """Cubic oscillators in a row."""
    rows, m = [], n // 2
    for i in range(m):
        force = '-x%d - 0.5*x%d^3' % (i + 1, i + 1) + (' + 0.4*x%d' % (i + 2) if i + 1 < m else '')
        rows += ['x%d_t = v%d' % (i + 1, i + 1), 'v%d_t = %s' % (i + 1, force)]
    return rows


for n in (8, 10, 12):
    case('cubic-%d' % n, cubic(n), '--until 10 -n 120 --noise 1 --start ' + drawn(n, 6, -1.5, 1.5), '--degree 3')
    case('lorenz96-%d-3' % n, lorenz96(n), '--until 4 -n 100 --noise 1 --start ' + drawn(n, 5, 4, 10),
         '--degree 3 --constant')


# ------------------------------------------------------------------------------------ runs
def make_files(kbass, c, seed, place):
    files = []
    for i, run in enumerate(c['starts']):
        files.append(os.path.join(place, 'run%d.csv' % (i + 1)))
        equations = [word for e in c['equations'] for word in ('-e', e)]
        command = [kbass, 'simulate'] + equations + c['simulate'] + list(run or ()) + ['--seed', str(seed + 1000 * i)]
        subprocess.run(command + ['-o', files[-1]], check=True, stderr=subprocess.PIPE, text=True)
        if c['change']:
            head, *rows = open(files[-1]).read().splitlines(True)
            open(files[-1], 'w').writelines([head] + c['change'](rows, random.Random(seed)))
    return files


def discover(kbass, c, files, place, options):
    """(result or None, user seconds, bytes, wall seconds, message)"""
    output = os.path.join(place, 'result.json')
    command = [kbass, 'discover'] + files + c['discover'] + ['-q', '--json', output] + options
    began = time.monotonic()
    with open(os.path.join(place, 'log'), 'w+') as log:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=log)
        _, _, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - began
        log.seek(0)
        message = log.read().strip()
    result = json.load(open(output)) if os.path.exists(output) else None
    return result, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, wall, message


def judge(result, law):
    """(equations whose terms are right, all, error)"""
    found = laws.found_law(result)
    right = sum(set(found.get(lhs, {})) == set(terms) for lhs, terms in law.items())
    return right, len(law), laws.error_of(found, law)


def row_of(kbass, name, seed, options, place):
    c = CASES[name]
    files = make_files(kbass, c, seed, place)
    result, seconds, memory, wall, message = discover(kbass, c, files, place, options)
    row = dict(name=name, seed=seed, seconds=round(seconds, 2), megabytes=round(memory), wall=round(wall, 2))
    if not result:
        return dict(row, answer='none', message=message[-300:])
    right, n, error = judge(result, laws.read_law(';'.join(c['equations'])))
    return dict(row, right=right, equations=n, error=float('%.2g' % error), verdict=result.get('verdict'),
                answer='exact' if right == n else '%d of %d' % (right, n),
                law=laws.describe({}, result, laws.read_law(';'.join(c['equations'])))['law'])


def tell(row):
    verdict = row.get('verdict')
    word = verdict.get('name') if isinstance(verdict, dict) else verdict
    print('%-26s %2d  %-9s error %-8s %-14s %8.2f s %6d MB %s' % (
        row['name'], row['seed'], row['answer'], row.get('error', '-'), word or '-', row['seconds'], row['megabytes'],
        row.get('message', '')), flush=True)


def speedup(kbass, names, place):
    print('%-26s  1 thread  2 threads  ratio' % 'wall-clock time')
    for name in names:
        c, best = CASES[name], {1: math.inf, 2: math.inf}
        files = make_files(kbass, c, 1, place)
        for _ in range(3):
            for threads in (1, 2):
                best[threads] = min(best[threads], discover(kbass, c, files, place, ['--threads', str(threads)])[3])
        print('%-26s %7.2f s  %7.2f s  %5.2f' % (name, best[1], best[2], best[1] / best[2]), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('patterns', nargs='*', default=['*'])
    parser.add_argument('--list', action='store_true')
    parser.add_argument('--kbass', default=os.path.join(root, 'build/kbass'))
    parser.add_argument('--seeds', default='1')
    parser.add_argument('--threads', default='1')
    parser.add_argument('--options', default='', help='more of them for kbass discover')
    parser.add_argument('--keep', metavar='FOLDER', help='data and results stay here')
    parser.add_argument('--json', metavar='FILE', help='a line for each row')
    parser.add_argument('--laws', action='store_true', help='also what was found')
    parser.add_argument('--speedup', action='store_true')
    given = parser.parse_args()
    names = [n for n in CASES if any(fnmatch.fnmatch(n, p) for p in given.patterns)]
    if given.list:
        print('\n'.join(names))
        return
    with tempfile.TemporaryDirectory() as scratch:
        if given.speedup:
            return speedup(given.kbass, names, scratch)
        for name in names:
            for seed in map(int, given.seeds.split(',')):
                place = os.path.join(given.keep or scratch, '%s-%d' % (name, seed))
                os.makedirs(place, exist_ok=True)
                row = row_of(given.kbass, name, seed, ['--threads', given.threads] + given.options.split(), place)
                tell(row)
                if given.laws:
                    print('    ' + row.get('law', '').replace('; ', '\n    '), flush=True)
                if given.json:
                    open(given.json, 'a').write(json.dumps(row) + '\n')


main()

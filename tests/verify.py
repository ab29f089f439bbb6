"""An independent look at a result file: verify.py RESULT.json

Probabilities are probabilities and add up; intervals hold their weights; covariances
are symmetric and positive semidefinite, and their weights' standard deviations are those that are told; the equations as
printed, integrated here from the initial state by Runge and Kutta's method, pass where the solution does (states).
"""
import json, math, re, sys

result = json.load(open(sys.argv[1]))


def need(fact, words):
    if not fact:
        sys.exit('%s: %s' % (sys.argv[1], words))


def check_probabilities():
    own = result['probability']
    others = sum(r['probability'] for r in result['runners_up'])
    need(0 <= own <= 1 and own + others <= 1 + 1e-9, 'models have the probability %g in all' % (own + others))
    for equation in result['equations']:
        for term in equation['terms']:
            need(0 <= term['probability'] <= 1 + 1e-12, 'a term has the probability %g' % term['probability'])
            if term['selected']:
                low, high = term['interval']
                need(low <= term['weight'] + 5 * term['sd'] and term['weight'] - 5 * term['sd'] <= high,
                     'the interval of %s is far from its weight' % term['term'])


def factorise(rows):
    """Cholesky of the lower triangle, scaled to correlations; false when a pivot is negative."""
    n = len(rows)
    sd = [math.sqrt(rows[i][i]) if rows[i][i] > 0 else 0 for i in range(n)]
    L = [[0.0] * n for _ in range(n)]
    for j in range(n):
        for i in range(j, n):
            unit = sd[i] * sd[j]
            rest = (rows[i][j] / unit if unit else 0) - sum(L[i][k] * L[j][k] for k in range(j))
            if i == j:
                if rest < -1e-6:
                    return False
                L[j][j] = math.sqrt(max(rest, 0))
            else:
                L[i][j] = rest / L[j][j] if L[j][j] > 1e-6 else 0
    return True


def check_posterior():
    for posterior in [result['posterior']] if result['posterior'] else result['run_posteriors']:
        need(posterior['models'][0]['log_odds'] == 0, 'the chosen model has odds against itself')
        model = posterior['models'][0]
        told = {(e['lhs'].rsplit('_', 1)[0], t['term']): t for e in result['equations'] for t in e['terms'] if t['selected']}
        k = len(model['terms'])
        for window in model['windows']:
            if len(window['covariance']) <= 60:
                need(factorise(window['covariance']), 'a covariance is not positive semidefinite')
        width = {}  # of Student's distribution over the Gaussian's, by state: sqrt(f / (f - 2)), f > 2; of fields 1
        for i, term in enumerate(model['terms']):
            sd = math.sqrt(max(model['windows'][0]['covariance'][i][i], 0))
            own = told[(term['state'], term['term'])]
            need(abs(term['weight'] - own['weight']) <= 1e-6 * abs(own['weight']) + 1e-12, 'weights differ')
            if posterior.get('grid') is None and own['own_sd'] > 0:
                width.setdefault(term['state'], max(sd / own['own_sd'], 1))
            told_sd = own['own_sd'] * width.get(term['state'], 1)
            need(abs(sd - told_sd) <= 0.02 * told_sd + 1e-12, 'sd %g, told %g' % (sd, told_sd))
        need(all(w < 2 for w in width.values()), "Student's widths are %s" % width)
        if 'factor' in model:
            for i in range(k):
                sd = math.sqrt(sum(x * x for x in model['factor'][i]))
                need(abs(sd - told[(model['terms'][i]['state'], model['terms'][i]['term'])]['own_sd']) <= 0.02 * sd, 'the factor')
            need(all(a >= b * (1 - 1e-9) >= 0 for a, b in zip(model['variance'], model['variance_given_weights'])), 'variances')


def right_sides(names):
    sides = []
    for equation in result['equations']:
        text = ' + '.join('(%r)*(%s)' % (t['weight'], t['term'].replace('^', '**')) for t in equation['terms'] if t['selected'])
        need(re.fullmatch(r"[\w\s+*().\-/]*", text), 'a term that this verifier does not read')
        sides.append(compile(text or '0', 'law', 'eval'))
    return lambda x, known: [eval(s, {'__builtins__': {}}, dict(known, **dict(zip(names, x)))) for s in sides]


def held_inputs(posterior):
    """Their values at a time, and when they jump; None where one is a curve, which this verifier does not draw."""
    inputs = posterior.get('inputs', [])
    if not all(i['held'] for i in inputs):
        return None
    jumps = sorted(t + i['delay'] for i in inputs for t in i['times'])

    def at(t):
        known = {}
        for i in inputs:
            past = [v for s, v in zip(i['times'], i['values']) if s + i['delay'] <= t]
            known[i['name']] = past[-1] if past else i['values'][0]
        return known
    return at, jumps


def integrate(f, x, step, known):
    a = f(x, known)
    b = f([u + step / 2 * v for u, v in zip(x, a)], known)
    c = f([u + step / 2 * v for u, v in zip(x, b)], known)
    d = f([u + step * v for u, v in zip(x, c)], known)
    return [u + step / 6 * (p + 2 * q + 2 * r + s) for u, p, q, r, s in zip(x, a, b, c, d)]


def check_trajectory():
    solution = result['solution']
    if len(result['data']['axes']) > 1 or result['run_posteriors'] or len(result['posterior']['models'][0]['windows']) > 1:
        return
    inputs = held_inputs(result['posterior'])
    if not inputs:
        return
    known, jumps = inputs
    names = [n for n in result['data']['states'] if n not in known(0)]
    f, x = right_sides(names), [result['initial'][n] for n in names]
    times = solution['axes'][result['data']['axes'][0]] if isinstance(solution['axes'], dict) else solution['axes'][0]
    scale = {n: max(abs(v) for v in solution['mean'][n]) for n in names}
    for i in range(1, len(times)):
        stops = [times[i - 1]] + [t for t in jumps if times[i - 1] < t < times[i]] + [times[i]]
        for begin, end in zip(stops, stops[1:]):
            for _ in range(4):
                x = integrate(f, x, (end - begin) / 4, known((begin + end) / 2))
        for n, value in zip(names, x):
            need(abs(value - solution['mean'][n][i]) <= 1e-4 * scale[n],
                 '%s is %g at %g, the equations as printed give %g' % (n, solution['mean'][n][i], times[i], value))


if result['settings'].get('explain'):
    need(result['explanations'], 'nothing is explained')
check_probabilities()
if result['posterior'] or result['run_posteriors']:
    check_posterior()
    check_trajectory()

#!/usr/bin/python3
"""scores.py KBASS: kbass score on ten systems against a direct computation in numpy: weights (and constants) drawn from
the posterior in the result file, each law integrated by Runge-Kutta steps from the state that --from gives, every value
judged by the mixture of the draws with the noise. Both draw on their own: figures agree within the draws' scatter."""
import csv, json, os, subprocess, sys, tempfile

import numpy as np

DRAWS = 2000
SYSTEMS = [  # law, start of the record, start of the new data, until, samples, options of discover
    (["x_t = -0.7*x"], [3], [2], 4, 20, ["--degree", "2"]),
    (["x_t = 0.9*x - 0.1*x^2"], [0.5], [2], 8, 25, ["--degree", "3"]),
    (["x_t = y", "y_t = -x - 0.1*y"], [1, 0], [0, 1.5], 10, 40, ["--degree", "2"]),
    (["x_t = y", "y_t = (1-x^2)*y - x"], [1, 0], [2, 1], 8, 40, ["--degree", "3"]),
    (["x_t = x - 0.5*x*y", "y_t = 0.4*x*y - 0.7*y"], [2, 1], [1, 1.5], 10, 40, ["--degree", "2"]),
    (["a_t = -0.6*a*b", "b_t = -0.6*a*b"], [1, 1.6], [1.5, 0.8], 5, 25, ["--degree", "2"]),
    (["x_t = -0.9*x + 0.4*y", "y_t = 0.9*x - 0.4*y"], [1, 0.2], [0.3, 1.2], 4, 25, ["--terms", "x, y"]),
    (["s_t = -1.2*s*x/(2.3+s)", "x_t = 0.8*s*x/(2.3+s) - 0.1*x"], [8, 0.5], [6, 1], 12, 30,
     ["--unknown", "K=0.1:20", "--terms", "s, x, s*x, s*x/(K+s)"]),
    (["x_t = 1.5*sin(2.2*t) - 0.4*x"], [1], [-1], 20, 60, ["--unknown", "w=0.5:5", "--terms", "x, x^2, sin(w*t)"]),
    (["x_t = -x^3 + sin(t)"], [1], [0], 8, 40, ["--terms", "x, x^2, x^3, sin(t), cos(t)"]),
]


def simulate(kbass, law, start, until, n, seed, path):
    command = [kbass, "simulate", "--start", ",".join(map(str, start)), "--until", str(until), "-n", str(n), "--noise",
               "2", "--seed", str(seed), "-o", path]
    for equation in law:
        command += ["-e", equation]
    subprocess.run(command, check=True)


def covariance(rows):
    n = len(rows)
    V = np.zeros((n, n))
    for i, row in enumerate(rows):
        V[i, :i + 1] = V[:i + 1, i] = row
    return V


def draws_of(model, states, times, start, rng):
    """DRAWS x times x states: classical Runge-Kutta steps, all draws at once."""
    terms = model["terms"]
    k = len(terms)
    V = covariance(model["windows"][0]["covariance"])[:k, :k]
    values, vectors = np.linalg.eigh(V)
    w = np.array([t["weight"] for t in terms]) + rng.normal(size=(DRAWS, k)) @ (vectors * np.sqrt(np.maximum(values, 0))).T
    codes = [compile(t["term"].replace("^", "**"), "term", "eval") for t in terms]
    place = [states.index(t["state"]) for t in terms]

    def rate(t, x):
        names = {s: x[:, i] for i, s in enumerate(states)} | {"t": t, "sin": np.sin, "cos": np.cos, "exp": np.exp, "log": np.log}
        out = np.zeros_like(x)
        for j in range(k):
            out[:, place[j]] += w[:, j] * eval(codes[j], names)
        return out

    x = np.tile(np.array(start, float), (DRAWS, 1))
    path = [x]
    for a, b in zip(times[:-1], times[1:]):
        h = (b - a) / 20
        for i in range(20):
            t = a + i * h
            k1 = rate(t, x)
            k2 = rate(t + h / 2, x + h / 2 * k1)
            k3 = rate(t + h / 2, x + h / 2 * k2)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(t + h, x + h * k3))
        path.append(x)
    return np.array(path).transpose(1, 0, 2)


def direct(result, new, states, start, rng):
    model = result["posterior"]["models"][0]
    times = np.array([float(r["t"]) for r in new])
    y = np.array([[float(r[s]) for s in states] for r in new])
    path, sd = draws_of(model, states, times, start, rng), np.array(model["noise"])
    scores, inside = [], []
    for i in range(1, len(times)):
        for j in range(len(states)):
            x = path[:, i, j]
            z = (y[i, j] - x) / sd[j]
            scores.append(np.log(np.mean(np.exp(-z * z / 2)) / (sd[j] * np.sqrt(2 * np.pi))))
            low, high = np.quantile(x + sd[j] * rng.normal(size=DRAWS), [0.05, 0.95])
            inside.append(low <= y[i, j] <= high)
    return np.mean(scores), np.mean(inside)


def main():
    kbass, rng, worst = os.path.abspath(sys.argv[1]), np.random.default_rng(1), 0
    print("| system | log score | in numpy | in 90 % band | in numpy |\n|---|---|---|---|---|")
    for law, first, start, until, n, options in SYSTEMS:
        with tempfile.TemporaryDirectory() as folder:
            old, new, out, score = (os.path.join(folder, f) for f in ("old.csv", "new.csv", "law.json", "score.json"))
            simulate(kbass, law, first, until, n, 1, old)
            simulate(kbass, law, start, until, n, 2, new)
            subprocess.run([kbass, "discover", old, *options, "--threads", "1", "--quiet", "--json", out], check=True,
                           stdout=subprocess.DEVNULL)
            subprocess.run([kbass, "score", out, new, "--from", ",".join(map(str, start)), "--json", score], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            with open(out) as a, open(score) as b, open(new) as c:
                result, own, rows = json.load(a), json.load(b)["predictors"][0], list(csv.DictReader(c))
        log_score, within = direct(result, rows, result["data"]["states"], start, rng)
        worst = max(worst, abs(log_score - own["log_score"]["all"]))
        print(f"| {'; '.join(law)} | {own['log_score']['all']:.3f} | {log_score:.3f} | {own['within_90']['all']:.2f} | {within:.2f} |", flush=True)
    print(f"\nlargest difference of log scores: {worst:.3f}")
    sys.exit(worst > 0.05)


if __name__ == "__main__":
    main()

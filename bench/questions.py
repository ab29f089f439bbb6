#!/usr/bin/env python3
"""questions.py KBASS [NAME ...]: constants inside terms, second order from positions, conservation: each question of
docs/questions.md on data made here, three noise seeds each. One row a data set, and whether it meets its bar.
--seeds 1,2,3 for others, --list for the names. CPU seconds are those of discover, on one thread."""
import csv, json, os, resource, subprocess, sys, tempfile

BARS = {}


def bar(name, **question):
    BARS[name] = question


# ------------------------------------------------------------------ the questions
MONOD = ["s_t = -1.2*s*x/({K}+s)", "x_t = 0.8*s*x/({K}+s) - 0.1*x"]
for K in (2.3, 0.5, 10):
    bar(f"monod K={K}", law=[e.format(K=K) for e in MONOD], start="8,0.5", until=12, n=30,
        options=["--unknown", "K=0.1:20", "--terms", "s, x, s*x, s*x/(K+s), s^2, x^2, s/(K+s)"],
        exact={"s_t": {"s*x/(s+K)"}, "x_t": {"s*x/(s+K)", "x"}}, constants={"K": (K, 0.2 if K == 2.3 else None)})
for n in (2, 4):
    law = ["x_t = -0.3*x", f"y_t = 2*x^{n}/(1+x^{n}) - 0.5*y"]
    bar(f"hill n={n}", law=law, start="4,0", until=12, n=40,
        options=["--unknown", "n=1:8", "--terms", "x, y, x^2, x*y, y^2, x^n/(1+x^n), 1"],
        exact={"x_t": {"x"}, "y_t": {"y", "x^n/(1+x^n)"}}, constants={"n": (n, 0.1)})
    bar(f"hill K n={n}", law=law, start="4,0", until=12, n=40,
        options=["--unknown", "K=0.1:10, n=1:8", "--terms", "x, y, x^2, x*y, y^2, hill(x,K,n), 1"],
        exact={"x_t": {"x"}, "y_t": {"y", "x^n/(x^n+K^n)"}}, constants={"n": (n, 0.1), "K": (1, 0.2)})
for T, n in ((20, 60), (60, 180)):
    bar(f"frequency T={T}", law=["x_t = 1.5*sin(2.2*t) - 0.4*x"], start="1", until=T, n=n,
        options=["--unknown", "w=0.1:10", "--terms", "x, x^2, x^3, sin(w*t), cos(w*t), 1"],
        exact={"x_t": {"x", "sin(t*w)"}}, constants={"w": (2.2, 0.01)})
PENDULUM = ["--lhs", "x_tt", "--terms", "x, sin(x), x_t, x_t^2, x^3, x_t*abs(x_t)"]
bar("pendulum 1.5", law=["x_tt = -sin(x) - 0.2*x_t"], start="1.5,0", until=12, n=40, columns=["t", "x"],
    options=PENDULUM, exact={"x_tt": {"sin(x)", "x_t"}})
bar("pendulum 0.3", law=["x_tt = -sin(x) - 0.2*x_t"], start="0.3,0", until=12, n=40, columns=["t", "x"],
    options=PENDULUM, says=["x", "sin(x)"])
BALL = ["--lhs", "x_tt", "--terms", "1, x, x_t, x_t^2, x_t^3, x_t*abs(x_t)"]
bar("ball thrown", law=["x_tt = -9.81 - 0.02*x_t*abs(x_t)"], start="30,20", until=4.5, n=40, columns=["t", "x"],
    options=BALL, exact={"x_tt": {"1", "x_t*abs(x_t)"}}, weights={("x_tt", "1"): (-9.81, 0.02)})
bar("ball dropped", law=["x_tt = -9.81 - 0.02*x_t*abs(x_t)"], start="90,0", until=4.5, n=40, columns=["t", "x"],
    options=BALL, says=["x_t^2", "x_t*abs(x_t)"])
bar("coupled oscillators", law=["x_tt = -2*x + 0.7*y", "y_tt = 0.7*x - 1.3*y"], start="1,0,-0.5,0", until=15, n=60,
    columns=["t", "x", "y"], options=["--lhs", "x_tt, y_tt", "--terms", "x, y, x_t, y_t, x^2, x*y, y^2, x^3, y^3"],
    exact={"x_tt": {"x", "y"}, "y_tt": {"x", "y"}})
IRREVERSIBLE = dict(law=["a_t = -0.6*a*b", "b_t = -0.6*a*b", "c_t = 0.6*a*b"], start="1,1.6,0", until=5, n=25,
                    exact={"a_t": {"a*b"}, "b_t": {"a*b"}, "c_t": {"a*b"}})
bar("irreversible", **IRREVERSIBLE, options=["--degree", "2"])
bar("irreversible told", **IRREVERSIBLE, options=["--degree", "2", "--constraint", "a_t + c_t = 0; b_t + c_t = 0"],
    sums=[("a_t", "c_t"), ("b_t", "c_t")], narrower="irreversible")
REVERSIBLE = dict(law=["a_t = -0.9*a + 0.4*b", "b_t = 0.9*a - 0.4*b"], starts=["1,0", "0.3,1.2", "2,0.5"], until=4, n=20,
                  exact={"a_t": {"a", "b"}, "b_t": {"a", "b"}})
bar("reversible", **REVERSIBLE, options=["--degree", "2"])
bar("reversible told", **REVERSIBLE, options=["--degree", "2", "--constraint", "a_t + b_t = 0"], sums=[("a_t", "b_t")],
    narrower="reversible")
bar("reversible one run", law=REVERSIBLE["law"], start="1,0", until=4, n=20, options=["--degree", "2"],
    says=["a + b"])
FIELD = dict(law=["u_t = 0.1*u_xx - 1.0*u/(0.6+u)"],
             field=["--domain", "t=0:3,x=0:6.2831853", "--boundary", "periodic", "--grid", "15x20"],
             options=["--axes", "t,x", "--unknown", "K=0.05:10", "--terms", "u, u^2, u_x, u_xx, u*u_x, u/(K+u)"],
             exact={"u_t": {"u_xx", "u/(u+K)"}}, constants={"K": (0.6, 0.2)})
bar("field", start="2+1.5*sin(x)", **FIELD)
bar("field two runs", starts=["2+1.5*sin(x)", "1+0.8*cos(x)"], **FIELD)


# ------------------------------------------------------------------ data and answers
def simulate(kbass, question, seed, folder):
    files = []
    for i, start in enumerate(question.get("starts", [question.get("start")])):
        path = os.path.join(folder, f"run{i + 1}.csv")
        command = [kbass, "simulate"]
        for equation in question["law"]:
            command += ["-e", equation]
        command += (["--initial", start] if "field" in question else ["--start", start, "--until", str(question["until"]),
                                                                      "-n", str(question["n"])])
        command += [*question.get("field", []), "--noise", str(question.get("noise", 2)), "--seed", str(100 * seed + i),
                    "-o", path]
        subprocess.run(command, check=True)
        keep(path, question.get("columns"))
        files.append(path)
    return files


def keep(path, columns):
    if not columns:
        return
    with open(path) as file:
        rows = list(csv.DictReader(file))
    with open(path, "w") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)


def discover(kbass, question, files, folder):
    out = os.path.join(folder, "law.json")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    run = subprocess.run([kbass, "discover", *files, *question["options"], "--threads", "1", "--quiet", "--json", out],
                         capture_output=True, text=True)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    if not os.path.exists(out):
        sys.exit(run.stderr)
    with open(out) as file:
        return json.load(file), run.stdout, seconds


def selected(result):
    return {e["lhs"]: {t.get("form") or t["term"]: t for t in e["terms"] if t["selected"]} for e in result["equations"]}


def width(law):
    """Of the reported intervals of all weights together."""
    return sum(t["interval"][1] - t["interval"][0] for e in law.values() for t in e.values())


# ------------------------------------------------------------------ the bars
def judge(question, result, text, seed, kept):
    law, said, fine = selected(result), [], True
    if "exact" in question:
        found = {lhs: set(terms) for lhs, terms in law.items() if lhs in question["exact"]}
        fine = found == question["exact"]
        said.append("exact" if fine else "not exact: " + "; ".join(f"{k} = {' + '.join(sorted(v))}" for k, v in found.items()))
    for name, (truth, share) in question.get("constants", {}).items():
        c = next((c for c in result.get("constants", []) if c["name"] == name and c["selected"]), None)
        low, high = c["interval"] if c else (float("nan"),) * 2
        holds = bool(c) and low <= truth <= high
        within = bool(c) and (share is None or abs(c["value"] / truth - 1) <= share)
        fine = fine and within and (holds or share is not None and share < 0.2)
        said.append(f"{name} = {c['value']:.4g} ({low:.4g} to {high:.4g}{'' if holds else ', not the truth'})" if c else f"{name} unused")
    for (lhs, term), (truth, share) in question.get("weights", {}).items():
        weight = law.get(lhs, {}).get(term, {}).get("weight", float("nan"))
        fine = fine and abs(weight / truth - 1) <= share
        said.append(f"{term}: {weight:.4g}")
    if "says" in question:
        sentences = [a["sentence"] for a in result["alike"]] + [", ".join(g["terms"]) for g in result["groups"]]
        told = any(all(word in s for word in question["says"]) for s in sentences)
        fine = fine and told
        said.append(("says: " if told else "does not say: ") + ", ".join(question["says"]))
    for left, right in question.get("sums", []):
        rest = max(abs(t["weight"] + law[right].get(name, {"weight": float("inf")})["weight"]) for name, t in law[left].items())
        fine = fine and rest <= 1e-12
        said.append(f"sums {rest:.0e}")
    if "narrower" in question and (question["narrower"], seed) in kept:
        ratio = width(law) / width(kept[question["narrower"], seed])
        fine = fine and ratio < 1
        said.append(f"intervals {ratio:.2f} of those untold")
    return fine, law, "; ".join(said)


def main():
    arguments = sys.argv[1:]
    seeds = [1, 2, 3]
    if "--list" in arguments:
        print("\n".join(BARS))
        return
    if "--seeds" in arguments:
        i = arguments.index("--seeds")
        seeds = [int(s) for s in arguments[i + 1].split(",")]
        del arguments[i:i + 2]
    kbass = os.path.abspath(arguments[0])
    names = [n for n in BARS if len(arguments) < 2 or any(n.startswith(a) for a in arguments[1:])]
    kept, missed = {}, 0
    print("| question | seed | bar | found | CPU s |\n|---|---|---|---|---|", flush=True)
    for name in names:
        for seed in seeds:
            with tempfile.TemporaryDirectory() as folder:
                files = simulate(kbass, BARS[name], seed, folder)
                result, text, seconds = discover(kbass, BARS[name], files, folder)
            fine, law, said = judge(BARS[name], result, text, seed, kept)
            kept[name, seed] = law
            missed += not fine
            print(f"| {name} | {seed} | {'met' if fine else '**missed**'} | {said} | {seconds:.1f} |", flush=True)
    print(f"\n{missed} missed")
    sys.exit(missed > 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""The published method beside ours on one PDE: time for an iteration, time to its own convergence, and what was found.

    bench/paper_pace.py [--kbass build/kbass] [--system burgers] [--grid 20x20] [--noise 0] [discover's options ...]

An iteration of the published method is an E step and 100 steps of Adam; ours has no such loop, its unit is a model fitted
to the data through the integrated equation. Seconds are of the processor, user time, all threads.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile


def run(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    return after.ru_utime - before.ru_utime


def discover(options, rest, data, method, folder):
    result = os.path.join(folder, method + ".json")
    dictionary = [] if any(o.startswith(("--degree", "--terms")) for o in rest) else ["--degree", "4", "--derivatives", "4"]
    seconds = run([options.kbass, "discover", data, "--axes", "t,x", "--quiet", "--method", method, "--json", result]
                  + dictionary + rest)
    with open(result) as file:
        return seconds, json.load(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kbass", default="build/kbass")
    parser.add_argument("--system", default="burgers")
    parser.add_argument("--grid", default="20x20")
    parser.add_argument("--noise", default="0")
    options, rest = parser.parse_known_args()
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data.csv")
        run([options.kbass, "simulate", options.system, "--grid", options.grid, "--noise", options.noise, "-o", data])
        published_seconds, published = discover(options, rest, data, "paper", folder)
        our_seconds, ours = discover(options, rest, data, "kbass", folder)
    iterations, models = published["iterations"], ours["models"]
    each, own = published_seconds / max(iterations, 1), our_seconds / max(models, 1)
    print(f"{options.system} {options.grid}, {options.noise} % noise; seconds of the processor")
    print(f"{'':9} {'seconds':>8}  {'units':>15}  {'each':>8}  outcome")
    print(f"{'published':9} {published_seconds:8.2f}  {iterations:4} iterations  {each:8.4f}  {published['outcome']}")
    print(f"{'ours':9} {our_seconds:8.2f}  {models:4} models      {own:8.4f}  {ours['outcome']}")
    print(f"{'ratio':9} {published_seconds / our_seconds:8.2f}  {'':15}  {each / own:8.4f}  published / ours")
    for name, result in (("published", published), ("ours", ours)):
        for equation in result["equations"]:
            print(f"{name:9} {equation['text']}")


main()

#!/usr/bin/env python3
"""Fits the constants of the study silicon: python3 studies/silicon/tune.py DIR [BANYAN]

Coordinate descent over the four fitted constants, on the traces in DIR. The objective is the sum over classes of the
median error and half of the 90th percentile; issue-bound traces, of which the study takes no credit, count a quarter:
they are what shows the latency of DRAM. Prints every step and, at the end, the lines of constants.toml.
"""

import json
import subprocess
import sys
import tempfile

GRID = {
    "l1_latency": [20, 35, 50, 65, 80, 100, 120],
    "dram_latency": [60, 90, 120, 150, 180, 220, 260, 300],
    "l1_shared_rate": [34, 36, 38, 40, 42, 44, 48],
    "barrier_overhead": [20, 40, 60, 80],
}
START = {"l1_latency": 50, "dram_latency": 150, "l1_shared_rate": 40, "barrier_overhead": 60}
WEIGHTS = {"block to block": 1.0, "large DRAM": 1.0, "issue-bound": 0.25}
LEAST_GAIN = 1e-3


def objective(banyan, folder, constants):
    words = [banyan, "study", "run", "silicon", "--traces", folder, "--json"]
    words += [f"{name}={value}" for name, value in constants.items()]
    with tempfile.TemporaryDirectory() as page:
        said = json.loads(subprocess.run([*words, "--out", page], check=True, capture_output=True, text=True).stdout)
    return sum(WEIGHTS.get(one["class"], 0.0) * (one["median_error"] + 0.5 * one["p90_error"])
               for one in said["classes"])


def tune(banyan, folder):
    constants = dict(START)
    best = objective(banyan, folder, constants)
    while True:
        before = best
        for name, values in GRID.items():
            for value in values:
                if value == constants[name]:
                    continue
                tried = objective(banyan, folder, constants | {name: value})
                if tried < best:
                    best, constants = tried, constants | {name: value}
                    print(f"{best:.4f} {name} = {value}", flush=True)
        if before - best < LEAST_GAIN:
            return constants


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    banyan = sys.argv[2] if len(sys.argv) == 3 else "build/release/banyan"
    for name, value in tune(banyan, sys.argv[1]).items():
        print(f"{name} = {value}")


if __name__ == "__main__":
    main()

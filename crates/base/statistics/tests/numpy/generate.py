# Writes cases.txt next to this file: the results of numpy for samples that are difficult for quantiles.
# A case is four lines: name, samples, shares, numpy.quantile(samples, shares). Numbers are shortest round-trip decimals.
# Samples written as "@n" are n numbers from the generator `lcg` below, which the test also contains.
from pathlib import Path

import numpy as np

random = np.random.default_rng(20240607)
SHARES = [0.0, 1e-9, 0.01, 0.25, 0.3, 1 / 3, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 1 - 1e-12, 1.0]


def lcg(n):
    state, numbers = 1, []
    for _ in range(n):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        numbers.append((state >> 11) / 2**53 * 1000.0)
    return numbers


CASES = {
    "one": [7.25],
    "two": [4.0, 1.0],
    "all equal": [0.1] * 17,
    "ties": random.integers(0, 5, 60).astype(float).tolist(),
    "exponential": (random.exponential(80.0, 200)).tolist(),
    "lognormal": random.lognormal(3.0, 2.0, 201).tolist(),
    "pareto": (random.pareto(0.8, 150) + 1).tolist(),
    "spread of 1e12": (10.0 ** random.uniform(-6, 6, 120)).tolist(),
    "neighbours": [1.0 + i * 2.0**-52 for i in range(30)],
    "denormals": (random.integers(1, 1000, 40) * 5e-324).tolist(),
    "denormals among others": [5e-324, 1e-310, 2e-308, 3e-320, 1.0, 1e12],
    "zeros": [0.0] * 20 + [1e-300, 1e9],
    "large": [1e100, 0.0, 1e99, 1e100, 3.0],
}


def lines(name, written, samples):
    shares = SHARES + random.uniform(0, 1, 25).tolist()
    found = np.quantile(np.array(samples), shares, method="linear")
    numbers = lambda values: " ".join(repr(float(value)) for value in values)
    return [name, written or numbers(samples), numbers(shares), numbers(found)]


out = [line for name, samples in CASES.items() for line in lines(name, None, samples)]
for n in (1_000, 100_003):
    out += lines(f"{n} from the generator", f"@{n}", lcg(n))
Path(__file__).with_name("cases.txt").write_text("\n".join(out) + "\n")

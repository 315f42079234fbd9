"""Prints `tests/it/data/float64.txt`: arguments of float64 functions, and their values in two float64.

    pip install mpmath
    python cases.py > ../tests/it/data/float64.txt

A line is an op, the bits of the argument, and the bits of the nearest float64 and of the rest.
"""

import random
import struct

from mpmath import erf, exp, log, log1p, mp, mpf, sqrt, tanh

mp.dps = 60


def bits(value):
    return struct.pack(">d", value).hex()


FUNCTIONS = {
    "exp": (exp, [(-740, 709), (-1, 1), (-1e-8, 1e-8), (-745, -708)]),
    "exp2": (lambda x: mpf(2) ** x, [(-1070, 1023), (-1, 1), (-1e-8, 1e-8), (-1074, -1022)]),
    "exp10": (lambda x: mpf(10) ** x, [(-323, 308), (-1, 1), (-1e-8, 1e-8), (-323, -308)]),
    "log": (log, [(0, 10), (0.5, 2), (1 - 1e-6, 1 + 1e-6), (0, 1e300), (0, 1e-310)]),
    "log2": (lambda x: log(x) / log(mpf(2)), [(0, 10), (0.5, 2), (1 - 1e-6, 1 + 1e-6), (0, 1e300), (0, 1e-310)]),
    "log10": (lambda x: log(x) / log(mpf(10)), [(0, 10), (0.5, 2), (1 - 1e-6, 1 + 1e-6), (0, 1e300), (0, 1e-310)]),
    "log1p": (log1p, [(-1, 10), (-0.5, 1), (-1e-8, 1e-8), (0, 1e300), (-1e-310, 1e-310)]),
    "erf": (erf, [(-6, 6), (-1, 1), (1, 2), (2, 3), (-1e-300, 1e-300)]),
    "tanh": (tanh, [(-20, 20), (-1, 1), (0.5, 0.7), (-1e-8, 1e-8), (-1e-310, 1e-310)]),
    "sigmoid": (lambda x: 1 / (1 + exp(-x)), [(-40, 40), (-1, 1), (-745, -700), (-8, 0)]),
    "rsqrt": (lambda x: 1 / sqrt(x), [(0, 10), (0, 1e300), (0, 1e-310)]),
}


def main():
    chance = random.Random(1)
    for name, (f, ranges) in FUNCTIONS.items():
        for low, high in ranges:
            for _ in range(40):
                x = chance.uniform(low, high)
                value = f(mpf(x))
                nearest = float(value)
                print(name, bits(x), bits(nearest), bits(float(value - mpf(nearest))))


main()

"""Prints `tests/it/data/float64.txt`, or `wide.txt`: arguments of float64 functions, and their values in two float64.

    pip install mpmath
    python cases.py > ../tests/it/data/float64.txt
    python cases.py wide > ../tests/it/data/wide.txt

A line is an op, the bits of the arguments, and the bits of the nearest float64 and of the rest. `wide.txt` has the functions
that are calls of the C library on a host.
"""

import random
import struct
from sys import argv

from mpmath import (acos, acosh, asin, asinh, atan, atan2, atanh, cos, cosh, erf, exp, hypot, ldexp, log, log1p, mp, mpf,
                    pi, sin, sinh, sqrt, tan, tanh)

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


ANGLES = [(-1, 1), (-10, 10), (-1e-8, 1e-8), (0, 1e6), (0, 1e22), (0, 1e300), "turns"]
SMALL = [(-1, 1), (-0.5, 0.5), (-1e-8, 1e-8), (-1e-310, 1e-310)]
WIDE = {
    "sin": (sin, [ANGLES]),
    "cos": (cos, [ANGLES]),
    "tan": (tan, [ANGLES]),
    "asin": (asin, [SMALL + [(0.999999, 1)]]),
    "acos": (acos, [SMALL + [(0.999999, 1), (-1, -0.999999)]]),
    "atan": (atan, [SMALL + [(-10, 10), (0, 1e300)]]),
    "sinh": (sinh, [SMALL + [(-20, 20), (0.9, 1.1), (700, 710.4)]]),
    "cosh": (cosh, [SMALL + [(-20, 20), (0.9, 1.1), (700, 710.4)]]),
    "asinh": (asinh, [SMALL + [(-10, 10), (0, 1e9), (0, 1e308)]]),
    "acosh": (acosh, [[(1, 1.0001), (1, 2), (1, 100), (1, 1e9), (1, 1e308)]]),
    "atanh": (atanh, [SMALL + [(0.999999, 1)]]),
    "pow": (lambda x, y: x ** y, [[(0, 10), (0, 2), (0.999, 1.001), (0, 1e300), (0, 1e-310)],
                                  [(-20, 20), (-400, 400), (-5e5, 5e5), (-1, 1), (-0.9, 0.9)]]),
    "atan2": (atan2, [[(-1, 1), (-1, 1), (-1e300, 1e300), (-1e-300, 1e-300), (-1, 1)],
                      [(-1, 1), (-1e3, 1e3), (-1e300, 1e300), (-1e-300, 1e-300), (-1e-3, 1e-3)]]),
    "hypot": (hypot, [[(-1, 1), (-1, 1), (-1e300, 1e300), (-1e-300, 1e-300), (-1, 1)],
                      [(-1, 1), (-1e3, 1e3), (-1e300, 1e300), (-1e-300, 1e-300), (-1e-3, 1e-3)]]),
}


def drawn(chance, choice):
    """A number of a range; or one near a multiple of a quarter turn."""
    if choice != "turns":
        return chance.uniform(*choice)
    if chance.random() < 0.1:
        return float(ldexp(mpf(6381956970095103), 797))  # The nearest of all.
    return float(pi / 2 * mpf(2) ** chance.uniform(0, 60) // (pi / 2) * (pi / 2))


def show(name, arguments, value):
    nearest = float(value)
    print(name, *map(bits, arguments), bits(nearest), bits(float(value - mpf(nearest))))


def main():
    mp.dps = 60
    chance = random.Random(1)
    for name, (f, ranges) in FUNCTIONS.items():
        for choice in ranges:
            for _ in range(40):
                x = drawn(chance, choice)
                show(name, [x], f(mpf(x)))


def wide():
    mp.dps = 400
    chance = random.Random(2)
    for name, (f, ranges) in WIDE.items():
        for choices in zip(*ranges):
            for _ in range(40):
                arguments = [drawn(chance, choice) for choice in choices]
                value = f(*map(mpf, arguments))
                if 0 < abs(value) < mpf(2) ** 1024:
                    show(name, arguments, value)


wide() if argv[1:] == ["wide"] else main()

"""Derives the polynomials of `lower_intrinsics` and prints `coefficients.rs`, or that of `narrow`, `quick` or `wide`.

    pip install mpmath
    python fit.py > ../src/lower_intrinsics/coefficients.rs
    python fit.py narrow > ../src/lower_intrinsics/narrow/coefficients.rs
    python fit.py quick > ../src/lower_intrinsics/quick/coefficients.rs
    python fit.py wide > ../src/lower_intrinsics/wide/coefficients.rs
    cargo fmt -p chipdock-passes

Each polynomial is the best one of its degree in the weighted maximum norm, found by Remez' exchange in 60 digits, and
rounded coefficient by coefficient. What is printed behind each is the largest weighted error before and after rounding,
as a power of 2.
"""

from struct import pack, unpack
from sys import argv

from mpmath import (acos, asin, atan, atanh, cos, erf, erfc, exp, expm1, inf, linspace, log, lu_solve, matrix, mp, mpf,
                    pi, sin, sinh, sqrt, tan, tanh)

mp.dps = 60
LN2 = log(mpf(2))


def horner(coefficients, x):
    value = mpf(0)
    for c in coefficients:
        value = value * x + c
    return value


def remez(f, low, high, degree, weight):
    """Coefficients, highest first, of the polynomial p that makes max |weight (p - f)| least."""
    n = degree + 2
    low, high = mpf(low), mpf(high)
    middle, radius = (low + high) / 2, (high - low) / 2
    points = [middle - radius * cos(pi * i / (n - 1)) for i in range(n)]
    grid = [middle - radius * cos(pi * i / mpf(40 * n)) for i in range(40 * n + 1)]
    values = [(x, f(x), weight(x)) for x in grid]
    for _ in range(30):
        system, right = matrix(n, n), matrix(n, 1)
        for row, x in enumerate(points):
            for column in range(degree + 1):
                system[row, column] = x ** (degree - column)
            system[row, degree + 1] = (-1) ** row / weight(x)
            right[row] = f(x)
        solution = lu_solve(system, right)
        coefficients = [solution[i] for i in range(degree + 1)]
        errors = [(x, (horner(coefficients, x) - y) * w) for x, y, w in values]
        # One extremum in each run of one sign.
        extrema = []
        for x, error in errors:
            if extrema and (extrema[-1][1] > 0) == (error > 0):
                if abs(error) > abs(extrema[-1][1]):
                    extrema[-1] = (x, error)
            else:
                extrema.append((x, error))
        while len(extrema) > n:
            drop = 0 if abs(extrema[0][1]) < abs(extrema[-1][1]) else -1
            extrema.pop(drop)
        if len(extrema) < n:
            break
        points = [x for x, _ in extrema]
        sizes = [abs(error) for _, error in extrema]
        if max(sizes) < min(sizes) * mpf("1.001"):
            break
    return coefficients, [x for x, _, _ in values]


def limit(f, at_zero):
    """f, and its limit at 0 where it would divide by nothing."""
    return lambda x: at_zero if abs(x) < mpf(10) ** -30 else f(x)


def show(value):
    return repr(float(value))


def table(name, doc, f, low, high, degree, weight=lambda x: mpf(1), fixed=None):
    coefficients, grid = remez(f, low, high, degree, weight)
    rounded = [mpf(float(c)) for c in coefficients]
    size = lambda cs: max(abs((horner(cs, x) - f(x)) * weight(x)) for x in grid)
    before, after = (float(log(size(cs), 2)) for cs in (coefficients, rounded))
    print(f"/// {doc}; within 2^{before:.1f}, rounded 2^{after:.1f}.")
    print(f"pub(super) const {name}: &[f64] = &[")
    for c in rounded:
        print(f"    {show(c)},")
    print("];")


def split(name, doc, value, bits):
    """A constant as two float64, the first with so many bits."""
    from mpmath import floor, frexp, ldexp
    _, exponent = frexp(value)
    high = ldexp(floor(ldexp(value, bits - exponent)), exponent - bits)
    low = float(value - high)
    print(f"/// {doc}: {bits} bits, and the rest.")
    print(f"pub(super) const {name}: (f64, f64) = ({show(high)}, {show(low)});")


def pieces(name, doc, value, bits, count):
    """A constant as so many float64, each of so many bits: binary digits cut into pieces."""
    from mpmath import floor, ldexp
    mp.prec = bits * count + 64
    found, rest = [], value()
    for i in range(1, count + 1):
        piece = ldexp(floor(ldexp(rest, bits * i)), -bits * i)
        found.append(piece)
        rest -= piece
    print(f"/// {doc}, {bits} binary digits each.")
    print(f"pub(super) const {name}: [f64; {count}] = [")
    for piece in found:
        print(f"    {show(piece)},")
    print("];")
    mp.dps = 60


def relative(f):
    return lambda x: 1 / abs(f(x))


def both(name, doc, f, low, high, degree):
    table(name, doc, f, low, high, degree, relative(f))


def narrow(name, doc, f, low, high, degree, weight):
    """A polynomial with coefficients of float32, for targets without float64."""
    single = lambda c: mpf(unpack("f", pack("f", float(c)))[0])
    coefficients, grid = remez(f, low, high, degree, weight)
    rounded = [single(c) for c in coefficients]
    size = lambda cs: max(abs((horner(cs, x) - f(x)) * weight(x)) for x in grid)
    before, after = (float(log(size(cs), 2)) for cs in (coefficients, rounded))
    print(f"/// {doc}; within 2^{before:.1f}, rounded 2^{after:.1f}.")
    print(f"pub(super) const {name}: &[f32] = &[")
    for c in rounded:
        print(f"    {float(c):.9g}{'' if c != int(c) else '.0'},")
    print("];")


def header(*lints):
    print("//! Polynomials, highest power first, and constants in parts: written by `tools/fit.py`, not by hand.")
    lints = "".join(f"clippy::{lint}, " for lint in ("unreadable_literal", *lints))
    print(f"#![expect({lints}reason = \"written by a program\")]")
    print()


def narrow_tables():
    header("excessive_precision")
    quotient = lambda f, zero: limit(lambda r: (f(r) - 1) / r, zero)
    narrow("EXP2", "(2^r - 1) / r, for |r| up to 1/2", quotient(lambda r: mpf(2) ** r, LN2), -0.5, 0.5, 6,
           lambda r: abs(r) + mpf(10) ** -4)
    third = log(mpf(2), 10) / 2
    narrow("EXP10", "(10^r - 1) / r, for |r| up to log10(2) / 2", quotient(lambda r: mpf(10) ** r, log(mpf(10))),
           -third, third, 6, lambda r: abs(r) + mpf(10) ** -4)
    by_square = lambda f, zero: limit(lambda z: f(sqrt(z)), zero)
    border = 3 - sqrt(mpf(8))
    narrow("LOG", "(2 atanh(s) / s - 2) / s^2 by s^2, for s up to 3 - sqrt(8)",
           by_square(lambda s: (2 * atanh(s) / s - 2) / s ** 2, mpf(2) / 3), 0, border ** 2, 3, lambda z: z + mpf(10) ** -4)
    narrow("ERF_NEAR", "erf(x) / x - 1 by x^2, for x up to 1", by_square(lambda x: erf(x) / x - 1, 2 / sqrt(pi) - 1),
           0, 1, 7, lambda z: mpf(1))
    narrow("ERF_FAR", "log2(erfc(x)), for x from 1 to 4", lambda x: log(erfc(x), 2), 1, 4, 9, erfc)
    narrow("SIN", "(sin(x) / x - 1) / x^2 by x^2, for x up to pi / 4",
           by_square(lambda x: (sin(x) / x - 1) / x ** 2, -mpf(1) / 6), 0, (pi / 4) ** 2, 3, lambda z: z + mpf(10) ** -4)
    narrow("COS", "(cos(x) - 1 + x^2 / 2) / x^4 by x^2, for x up to pi / 4",
           by_square(lambda x: (cos(x) - 1 + x ** 2 / 2) / x ** 4, mpf(1) / 24), 0, (pi / 4) ** 2, 2,
           lambda z: z ** 2 + mpf(10) ** -4)
    narrow("ATAN", "(atan(t) / t - 1) / t^2 by t^2, for t up to tan(pi / 8)",
           by_square(lambda t: (atan(t) / t - 1) / t ** 2, -mpf(1) / 3), 0, tan(pi / 8) ** 2, 5, lambda z: z + mpf(10) ** -4)
    narrow("ASIN", "(asin(s) / s - 1) / s^2 by s^2, for s up to 1/2",
           by_square(lambda s: (asin(s) / s - 1) / s ** 2, mpf(1) / 6), 0, mpf(1) / 4, 5, lambda z: z + mpf(10) ** -4)
    narrow("SINH", "(sinh(x) / x - 1) / x^2 by x^2, for x up to 1",
           by_square(lambda x: (sinh(x) / x - 1) / x ** 2, mpf(1) / 6), 0, 1, 3, lambda z: z + mpf(10) ** -4)


def quick_tables():
    header("excessive_precision")
    tiny = mpf(10) ** -4
    above = LN2 / 2 * mpf("1.002")
    quotient = lambda f, zero: limit(lambda r: (f(r) - 1) / r, zero)
    narrow("EXP", "(e^r - 1) / r, for |r| up to ln(2) / 2", quotient(exp, mpf(1)), -above, above, 5,
           lambda r: abs(r) / exp(r) + tiny)
    narrow("EXPM1", "(e^r - 1 - r) / r^2, for |r| up to ln(2) / 2", limit(lambda r: (expm1(r) - r) / r**2, mpf(1) / 2),
           -above, above, 4, lambda r: abs(r**2 / expm1(r)) + tiny if abs(r) > tiny else tiny)
    narrow("EXP2", "(2^r - 1) / r, for |r| up to 1/2", quotient(lambda r: mpf(2) ** r, LN2), -0.5, 0.5, 6,
           lambda r: abs(r) + tiny)
    third = log(mpf(2), 10) / 2
    narrow("EXP10", "(10^r - 1) / r, for |r| up to log10(2) / 2", quotient(lambda r: mpf(10) ** r, log(mpf(10))),
           -third, third, 6, lambda r: abs(r) + tiny)
    border = mpf("1.25")
    narrow("ERF_NEAR", "erf(x) / x - 1 by x^2, for x up to 5/4",
           limit(lambda z: erf(sqrt(z)) / sqrt(z) - 1, 2 / sqrt(pi) - 1), 0, border**2, 7,
           lambda z: sqrt(z) / erf(sqrt(z)) if z > mpf(10) ** -20 else sqrt(pi) / 2)
    narrow("ERF_FAR", "the eighth root of erfc(x), for x from 5/4 to 4", lambda x: erfc(x) ** (mpf(1) / 8), border, 4, 6,
           lambda x: 8 * erfc(x) ** (mpf(7) / 8) / erf(x))
    low, high = sqrt(mpf("0.49999")) - 1, sqrt(mpf("2.00001")) - 1
    of_log = lambda base, power: (lambda f: abs(f**power / log(1 + f) * log(base)) + tiny if abs(f) > tiny else tiny)
    narrow("LOG", "(ln(1 + f) - f + f^2 / 2) / f^3, for 1 + f between the roots of 1/2 and 2",
           limit(lambda f: (log(1 + f) - f + f * f / 2) / f**3, mpf(1) / 3), low, high, 7, of_log(exp(mpf(1)), 3))
    for name, base in ("2", mpf(2)), ("10", mpf(10)):
        narrow(f"LOG{name}", f"(log{name}(1 + f) - f / ln {name}) / f^2, for 1 + f between the roots of 1/2 and 2",
               limit(lambda f: (log(1 + f) - f) / log(base) / f**2, -1 / log(base) / 2), low, high, 8, of_log(base, 2))


def words(name, doc, value, count):
    """A constant below 1 as words of 64 binary digits, one word of zeros before the point."""
    from mpmath import floor, ldexp
    mp.prec = 64 * count + 64
    digits = int(floor(ldexp(value(), 64 * count)))
    print(f"/// {doc} in words of 64 binary digits, one word before the point.")
    print(f"pub(super) const {name}: [u64; {count + 1}] = [")
    for i in range(count, -1, -1):
        print(f"    0x{digits >> 64 * i & (1 << 64) - 1:016x},")
    print("];")
    mp.dps = 60


def wide_tables():
    header()
    by_square = lambda f, zero: limit(lambda z: f(sqrt(z)), zero)
    rest = lambda f: (lambda x: (f(x) / x - 1) / x ** 2)
    weight = lambda z: z + mpf(10) ** -4
    table("SIN", "(sin(x) / x - 1) / x^2 by x^2, for x up to pi / 4", by_square(rest(sin), -mpf(1) / 6), 0, (pi / 4) ** 2,
          6, weight)
    table("COS", "(cos(x) - 1 + x^2 / 2) / x^4 by x^2, for x up to pi / 4",
          by_square(lambda x: (cos(x) - 1 + x ** 2 / 2) / x ** 4, mpf(1) / 24), 0, (pi / 4) ** 2, 5,
          lambda z: z ** 2 + mpf(10) ** -4)
    table("ATAN", "(atan(t) / t - 1) / t^2 by t^2, for t up to tan(pi / 8)", by_square(rest(atan), -mpf(1) / 3), 0,
          tan(pi / 8) ** 2 * 1.001, 10, weight)
    table("ASIN", "(asin(s) / s - 1) / s^2 by s^2, for s up to 1/2", by_square(rest(asin), mpf(1) / 6), 0, mpf(1) / 4, 12,
          weight)
    table("SINH", "(sinh(x) / x - 1) / x^2 by x^2, for x up to 1", by_square(rest(sinh), mpf(1) / 6), 0, 1, 6, weight)
    z_max = ((sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1)) ** 2 * 1.0001
    table("LOG", "(2 atanh(s) / s - 2 - 2 s^2 / 3) / s^4 by s^2, for s up to 3 - sqrt(8)",
          by_square(lambda s: (2 * atanh(s) / s - 2 - 2 * s ** 2 / 3) / s ** 4, mpf(2) / 5), 0, z_max, 6,
          lambda z: z ** 2 + mpf(10) ** -6)
    words("TWO_OVER_PI", "2 / pi", lambda: 2 / pi, 19)


def main():
    header("approx_constant")

    # 2^r and the like.
    both("EXP2_SINGLE", "2^r, for |r| up to 1/2, for float32", lambda r: mpf(2) ** r, -0.5, 0.5, 7)
    base = lambda b: limit(lambda r: expm1(r * log(mpf(b))) / r, log(mpf(b)))
    result = lambda b: (lambda r: abs(r) / mpf(b) ** r)
    table("EXP", "(e^r - 1 - r) / r^2, for |r| up to ln(2) / 2",
          limit(lambda r: (expm1(r) - r) / r**2, mpf(1) / 2), -LN2 / 2 * 1.001, LN2 / 2 * 1.001, 10)
    table("EXP2", "(2^r - 1) / r, for |r| up to 1/2", base(2), -0.501, 0.501, 11,
          lambda r: result(2)(r) + mpf(10) ** -4)
    reach = log(mpf(2), 10) / 2 * 1.001
    table("EXP10", "(10^r - 1) / r, for |r| up to log10(2) / 2", base(10), -reach, reach, 11,
          lambda r: result(10)(r) + mpf(10) ** -4)
    split("LN_2", "ln 2", LN2, 32)
    split("LOG10_2", "log10 2", log(mpf(2), 10), 32)

    # Logarithms: ln(1 + f) = 2 atanh s, s = f / (2 + f).
    z_max = ((sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1)) ** 2 * 1.0001
    tail = limit(lambda z: (2 * atanh(sqrt(z)) / sqrt(z) - 2) / z, mpf(2) / 3)
    table("LOG_SINGLE", "(2 atanh(s) / s - 2) / s^2 by s^2, for s up to 3 - sqrt(8), for float32", tail, 0, z_max, 4,
          lambda z: z / 2 + mpf(10) ** -4)
    table("LOG", "the same", tail, 0, z_max, 6, lambda z: z / 2 + mpf(10) ** -4)
    split("INV_LN_2", "1 / ln 2", 1 / LN2, 21)
    split("INV_LN_10", "1 / ln 10", 1 / log(mpf(10)), 21)

    # The error function.
    by_square = lambda g, at_zero: limit(lambda z: g(sqrt(z)) / sqrt(z), at_zero)
    one = 2 / sqrt(pi)
    both("ERF_NEAR_SINGLE", "erf(x) / x by x^2, for x up to 1, for float32", by_square(erf, one), 0, 1, 7)
    table("ERF_FAR_SINGLE", "log2(erfc(x)), for x from 1 to 4, for float32", lambda x: log(erfc(x), 2), 1, 4, 9, erfc)
    table("ERF_NEAR", "erf(x) / x - 1 by x^2, for x up to 1", lambda z: by_square(erf, one)(z) - 1, 0, 1, 12,
          lambda z: 1 / by_square(erf, one)(z))
    table("ERF_MIDDLE", "erf(1.5 + t), for |t| up to 1/2", lambda t: erf(t + mpf("1.5")), -0.5, 0.5, 17)
    table("ERF_FAR", "ln(erfc(x)), for x from 2 to 6", lambda x: log(erfc(x)), 2, 6, 14, erfc)

    # Circular functions, of quarter turns.
    half_pi = pi / 2
    both("SIN_SINGLE", "sin(pi r / 2) / r by r^2, for |r| up to 1/2, for float32",
         by_square(lambda r: sin(half_pi * r), half_pi), 0, 0.2501, 4)
    both("COS_SINGLE", "cos(pi r / 2) by r^2, for |r| up to 1/2, for float32",
         lambda z: cos(half_pi * sqrt(z)), 0, 0.2501, 5)
    pieces("TWO_OVER_PI", "2 / pi", lambda: 2 / pi, 27, 7)
    t_max = tan(pi / 8) ** 2 * 1.001
    both("ATAN_SINGLE", "atan(t) / t by t^2, for t up to tan(pi / 8), for float32", by_square(atan, mpf(1)), 0, t_max, 7)
    both("ASIN_SINGLE", "asin(s) / s by s^2, for s up to 1/2, for float32", by_square(asin, mpf(1)), 0, 0.25, 8)

    # Hyperbolic functions.
    both("SINH_SINGLE", "sinh(x) / x by x^2, for x up to 1, for float32", by_square(sinh, mpf(1)), 0, 1, 4)
    table("TANH", "(tanh(x) / x - 1) / x^2 by x^2, for x up to 5/8",
          limit(lambda z: (tanh(sqrt(z)) / sqrt(z) - 1) / z, -mpf(1) / 3), 0, mpf(0.625) ** 2, 11,
          lambda z: z * sqrt(z) / tanh(sqrt(z)) + mpf(10) ** -4 if z > mpf(10) ** -30 else mpf(10) ** -4)


{"narrow": narrow_tables, "quick": quick_tables, "wide": wide_tables}.get("".join(argv[1:]), main)()

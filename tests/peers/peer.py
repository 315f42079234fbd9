"""Answers for tables of operations: numpy, ml_dtypes and mpmath as peers of the reference interpreter.

Usage: peer.py FOLDER. `cases.json` there holds `tables`: for each name the types of its columns, and `cases`: for each
operation its `op`, `parameters`, `table`, number of `operands` and `result`. Column k of a table lies in `<table>.<k>`, raw. For case i either
`<i>.exact` is written, the very bits, or `<i>.hi` and `<i>.lo`, two float64 whose sum is the exact value to at least 64
bits. `answers.json` says for each case who answered:

  numpy, ml_dtypes    their own function
  numpy longdouble    their function on the 64 bits of an x87 long double, for halves
  math                Python's `math`, for halves
  mpmath              160 bits and more
  rule                written out here, because the interpreter's rule (IR-N2 to IR-N9) is not numpy's
"""

import fractions
import json
import math
import pathlib
import sys

import ml_dtypes
import mpmath
import numpy as np

NATIVE = {name: np.dtype(name) for name in (
    "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 bool").split()}
NATIVE["bfloat16"] = np.dtype(ml_dtypes.bfloat16)
# Precision in bits, the least exponent of a normal number, the greatest of any.
FORMATS = {"float16": (11, -14, 15), "bfloat16": (8, -126, 127), "float32": (24, -126, 127), "float64": (53, -1022, 1023)}
HALVES = ("float16", "bfloat16")
WIDE = np.longdouble


def column(path, dtype):
    """A raw file; a vector type has one row per element."""
    base, _, lanes = dtype.partition("x")
    values = np.fromfile(path, dtype=NATIVE[base])
    return values.reshape(-1, int(lanes)) if lanes else values


def name_of(x):
    return next(name for name, dtype in NATIVE.items() if dtype == x.dtype)


def wide(x):
    """Exact in a long double."""
    return (x.astype(np.float32) if x.dtype == NATIVE["bfloat16"] else x).astype(WIDE)


def owner(x):
    return "ml_dtypes" if x.dtype == NATIVE["bfloat16"] else "numpy"


def bits(dtype):
    return np.dtype(dtype).itemsize * 8


def unsigned(x):
    return x.view(f"uint{bits(x.dtype)}")


# Rounding


def nearest(x, name):
    """IR-N9: long doubles to a float type, to nearest, halves to even, once."""
    precision, least, greatest = FORMATS[name]
    finite = np.isfinite(x) & (x != 0)
    safe = np.where(finite, x, WIDE(1))
    unit = np.maximum(np.frexp(safe)[1] - 1, least) - precision + 1
    rounded = np.ldexp(np.rint(np.ldexp(safe, -unit)), unit)
    limit = np.ldexp(WIDE(2) - np.ldexp(WIDE(1), 1 - precision), greatest)
    rounded = np.where(np.abs(rounded) > limit, np.copysign(WIDE(np.inf), x), rounded)
    y = np.where(finite, rounded, x)
    # By way of float32, which holds every bfloat16.
    return y.astype(np.float32).astype(NATIVE[name]) if name == "bfloat16" else y.astype(NATIVE[name])


def nearest_fraction(value, name):
    """A fraction, not 0, to a float type, as a float64."""
    precision, least, greatest = FORMATS[name]
    magnitude = abs(value)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if fractions.Fraction(2) ** exponent > magnitude:
        exponent -= 1
    unit = max(exponent, least) - precision + 1
    scaled = round(magnitude / fractions.Fraction(2) ** unit)  # Python rounds halves to even too
    if scaled * fractions.Fraction(2) ** unit >= fractions.Fraction(2) ** (greatest + 1):
        result = math.inf
    else:
        result = math.ldexp(scaled, unit)
    return -result if value < 0 else result


# Functions of floats that are exact, or rounded to nearest

EXACT_UNARY = {"ceil": np.ceil, "floor": np.floor, "trunc": np.trunc, "nearbyint": np.rint, "round": np.rint,
               "sqrt": np.sqrt, "abs": np.abs}
TESTS = {"isnan": np.isnan, "isinf": np.isinf, "isfinite": np.isfinite}
EXACT_BINARY = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "fmod": np.fmod,
                "copysign": np.copysign}
COMPARE = {"Eq": np.equal, "Ne": np.not_equal, "Lt": np.less, "Le": np.less_equal, "Gt": np.greater, "Ge": np.greater_equal}


def nextafter(a, b):
    # numpy gives the first where C gives the second: +0 and -0.
    return np.where(a == b, b, np.nextafter(a, b))


def ldexp(a, n):
    if a.dtype != NATIVE["bfloat16"]:
        return np.ldexp(a, n), "numpy"
    # ml_dtypes rounds to float32's subnormals first.
    return nearest(np.ldexp(wide(a), n), "bfloat16"), "rule"


def fma(a, b, c):
    """Rounded once by fractions; IR-N6: halves are fused in float32 and rounded once more."""
    name = name_of(a)
    inner = "float32" if name in HALVES else name
    triples = [x.astype(np.float64).tolist() for x in (a, b, c)]
    out = []
    for x, y, z in zip(*triples):
        if not all(map(math.isfinite, (x, y, z))):
            with np.errstate(all="ignore"):
                product = np.float64(x) * np.float64(y)
                if not (math.isinf(x) or math.isinf(y) or math.isnan(product)):
                    product = np.float64(0)  # finite operands: only z decides
                out.append(float(product + np.float64(z)))
            continue
        exact = fractions.Fraction(x) * fractions.Fraction(y) + fractions.Fraction(z)
        if exact:
            rounded = nearest_fraction(exact, inner)
            out.append(math.copysign(rounded, exact))
        else:
            # Two zeros of one sign keep it; all else that cancels is +0.
            sign = math.copysign(1, x) * math.copysign(1, y)
            zero = (x == 0 or y == 0) and z == 0 and sign < 0 and math.copysign(1, z) < 0
            out.append(-0.0 if zero else 0.0)
    return nearest(np.array(out).astype(WIDE), name)


# Functions of floats that are not: a long double for halves, mpmath for the others

REAL = {
    "acos": (np.arccos, mpmath.acos), "acosh": (np.arccosh, mpmath.acosh), "asin": (np.arcsin, mpmath.asin),
    "asinh": (np.arcsinh, mpmath.asinh), "atan": (np.arctan, mpmath.atan), "atanh": (np.arctanh, mpmath.atanh),
    "cos": (np.cos, mpmath.cos), "cosh": (np.cosh, mpmath.cosh), "exp": (np.exp, mpmath.exp),
    "exp10": (lambda x: np.power(WIDE(10), x), lambda x: mpmath.power(10, x)),
    "exp2": (np.exp2, lambda x: mpmath.power(2, x)),
    "log": (np.log, mpmath.log), "log10": (np.log10, lambda x: mpmath.log(x) / mpmath.log(10)),
    "log1p": (np.log1p, mpmath.log1p), "log2": (np.log2, lambda x: mpmath.log(x) / mpmath.log(2)),
    "rsqrt": (lambda x: 1 / np.sqrt(x), lambda x: 1 / mpmath.sqrt(x)),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), lambda x: 1 / (1 + mpmath.exp(-x))),
    "sin": (np.sin, mpmath.sin), "sinh": (np.sinh, mpmath.sinh), "tan": (np.tan, mpmath.tan),
    "tanh": (np.tanh, mpmath.tanh),
    "erf": (lambda x: np.array([math.erf(v) for v in x.astype(np.float64).tolist()]).astype(WIDE), mpmath.erf),
}
REAL_PAIR = {
    "atan2": (np.arctan2, mpmath.atan2),
    "hypot": (np.hypot, lambda x, y: mpmath.sqrt(x * x + y * y)),
    "pow": (np.power, None),
}


def power(x, y, near):
    value = mpmath.exp(y * mpmath.log(abs(x)))
    return -value if near < 0 else value


def real(op, columns):
    """The exact values as two float64."""
    approximate, precise = (REAL if len(columns) == 1 else REAL_PAIR)[op]
    near = approximate(*map(wide, columns))
    hi = near.astype(np.float64)
    lo = np.where(np.isfinite(hi), near - hi.astype(WIDE), 0).astype(np.float64)
    if name_of(columns[0]) in HALVES:
        return hi, lo, "math" if op == "erf" else "numpy longdouble"
    operands = [x.astype(np.float64).tolist() for x in columns]
    # Of zeros and infinities the long double is right, its 64 bits being a pole, a limit or π; mpmath has no -0.
    plain = np.isfinite(near) & (near != 0)
    for x in columns:
        plain &= np.isfinite(x) & (x != 0)
    for i in np.flatnonzero(plain).tolist():
        arguments = [mpmath.mpf(x[i]) for x in operands]
        exact = power(*arguments, near[i]) if op == "pow" else precise(*arguments)
        hi[i] = float(exact)
        lo[i] = float(exact - hi[i]) if math.isfinite(hi[i]) else 0
    return hi, lo, "mpmath"


# Integers


def divide(op, a, b):
    """IR-N2, IR-N3: x / 0 = x and x mod 0 = 0; the least by -1 is itself, the remainder 0."""
    zero = b == 0
    least = np.zeros(a.shape, bool)
    if a.dtype.kind == "i":
        least = (a == np.iinfo(a.dtype).min) & (b == -1)
    safe = np.where(zero | least, np.ones_like(b), b)
    remainder = np.fmod(a, safe)  # of integers, with the sign of the first
    value = {
        "Div": lambda: (a - remainder) // safe, "Mod": lambda: remainder,
        "FloorDiv": lambda: a // safe, "FloorMod": lambda: np.remainder(a, safe),
    }[op]()
    return np.where(zero & (op in ("Mod", "FloorMod")), np.zeros_like(a), value).astype(a.dtype)


def shift(op, a, b):
    """IR-N4: amounts modulo the width."""
    amount = (unsigned(b) & (bits(a.dtype) - 1)).astype(unsigned(a).dtype)
    if op == "shift_left":
        return np.left_shift(unsigned(a), amount).view(a.dtype)
    return np.right_shift(a, amount.view(a.dtype))


def leading_zeros(a):
    """IR-N5: of 0, the width."""
    spread = unsigned(a).copy()
    step = 1
    while step < bits(a.dtype):
        spread |= spread >> spread.dtype.type(step)
        step *= 2
    return (bits(a.dtype) - np.bitwise_count(spread).astype(np.int32)).astype(np.int32)


def wrap(value, width):
    value &= (1 << width) - 1
    return value - (1 << width) if value >> (width - 1) else value


def rescale(x, y, left, right):
    """A fixed-point product: int64 arithmetic, rounded half up."""
    product = wrap(wrap(x << left, 64) * y, 64)
    rounded = wrap(product + (1 << (right - 1)), 64) if right else product
    return wrap(rounded >> right, 32)


def q_multiply_shift(parameters, x, y=None):
    *multiplier, q, s = parameters
    y = np.full_like(x, multiplier[0]) if multiplier else y
    left, right = max(s, 0), q + max(-s, 0)
    return np.array([rescale(a, b, left, right) for a, b in zip(x.tolist(), y.tolist())], np.int32)


def q_multiply_shift_per_axis(parameters, x, y, ls, rs):
    q, with_left, with_right = parameters
    rows = zip(x.tolist(), y.tolist(), ls.tolist(), rs.tolist())
    return np.array([rescale(a, b, with_left * l, q + with_right * r) for a, b, l, r in rows], np.int32)


def dp4a(a, b, total):
    products = a.astype(total.dtype) * b.astype(total.dtype)
    return total + products.sum(axis=1, dtype=total.dtype)


def dot_add(total, a, b):
    wide = np.float64 if total.dtype == np.float32 else np.int64
    groups = [x.astype(wide).reshape(len(x), total.shape[1], -1) for x in (a, b)]
    return (total.astype(wide) + (groups[0] * groups[1]).sum(axis=2)).astype(total.dtype)


BITWISE = {"bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor}
WRAPPING = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply}


def integer(op, columns):
    a = columns[0]
    b = columns[1] if len(columns) > 1 else None
    if op in WRAPPING:
        return WRAPPING[op](a, b), "numpy"
    if op in ("Div", "Mod", "FloorDiv", "FloorMod"):
        return divide(op, a, b), "rule"
    if op in ("Min", "Max"):
        return (np.minimum if op == "Min" else np.maximum)(a, b), "numpy"
    if op in ("shift_left", "shift_right"):
        return shift(op, a, b), "rule"
    return {
        "abs": lambda: np.abs(a), "bitwise_not": lambda: np.invert(a), "clz": lambda: leading_zeros(a),
        "popcount": lambda: np.bitwise_count(unsigned(a)).astype(a.dtype),
    }[op](), "rule" if op == "clz" else "numpy"


# Conversions


def cast(x, result):
    source, to = name_of(x), NATIVE[result]
    if result == "bool":
        return (unsigned(x) & unsigned(x).dtype.type((1 << (bits(x.dtype) - 1)) - 1)) != 0 if source in FORMATS else x != 0, "rule"
    if result in FORMATS:
        if result == "bfloat16" and source != "bool":
            return nearest(wide(x), result), "rule"  # ml_dtypes rounds twice, by way of float32
        return (x.astype(np.float32).astype(to) if source == "bfloat16" else x.astype(to)), owner(x)
    if source in FORMATS:
        # IR-N9: truncated and saturated, a NaN gives 0; numpy leaves all that undefined.
        limits = np.iinfo(to)
        whole = np.trunc(np.where(np.isnan(wide(x)), WIDE(0), wide(x)))
        return np.clip(whole, WIDE(limits.min), WIDE(limits.max)).astype(to), "rule"
    return x.astype(to), "numpy"


# All of them


def answer(op, parameters, columns, result):
    """(bits, who) or (hi, lo, who)."""
    first = columns[0]
    kind = "float" if first.ndim == 1 and name_of(first) in FORMATS else "other"
    if op == "cast":
        return cast(first, result)
    if op == "reinterpret":
        return first.view(NATIVE[result]), "numpy"
    if op in COMPARE:
        return COMPARE[op](*columns), owner(first)
    if op in ("select", "if_then_else"):
        return np.where(*columns), "numpy"
    if op in ("likely", "tvm_thread_invariant"):
        return first, "rule"
    if op in BITWISE:
        return BITWISE[op](*columns), "numpy"
    if op in ("And", "Or", "Not"):
        return {"And": np.logical_and, "Or": np.logical_or, "Not": np.logical_not}[op](*columns), "numpy"
    if op == "q_multiply_shift":
        return q_multiply_shift(parameters, *columns), "rule"
    if op == "q_multiply_shift_per_axis":
        return q_multiply_shift_per_axis(parameters, *columns), "rule"
    if op == "dp4a":
        return dp4a(*columns), "numpy"
    if op == "dot_add":
        return dot_add(*columns), "numpy"
    if kind == "other":
        return integer(op, columns)
    if op in EXACT_UNARY:
        return EXACT_UNARY[op](first), owner(first)
    if op in TESTS:
        return TESTS[op](first), owner(first)
    if op in EXACT_BINARY:
        return EXACT_BINARY[op](*columns), owner(first)
    if op in ("Min", "Max"):
        # IR-N7: a NaN in first place is dropped, one in second place is the result; numpy keeps every NaN.
        a, b = columns
        return np.where((a < b) if op == "Min" else (a > b), a, b), "rule"
    if op == "nextafter":
        return nextafter(*columns), "rule"
    if op == "ldexp":
        return ldexp(*columns)
    if op == "fma":
        return fma(*columns), "rule"
    return real(op, columns)


def main():
    if np.finfo(WIDE).nmant < 63:
        sys.exit("unsupported: numpy's longdouble has fewer than 64 bits here")
    np.seterr(all="ignore")
    mpmath.mp.prec = 200
    folder = pathlib.Path(sys.argv[1])
    plan = json.loads((folder / "cases.json").read_text())
    tables = {
        name: [column(folder / f"{name}.{k}", dtype) for k, dtype in enumerate(dtypes)]
        for name, dtypes in plan["tables"].items()
    }
    who = []
    for index, case in enumerate(plan["cases"]):
        found = answer(case["op"], case["parameters"], tables[case["table"]][: case["operands"]], case["result"])
        who.append(found[-1])
        if len(found) == 3:
            found[0].tofile(folder / f"{index}.hi")
            found[1].tofile(folder / f"{index}.lo")
            continue
        if found[0].dtype != NATIVE[case["result"].split("x")[0]]:
            sys.exit(f"{case}: {found[0].dtype} is not its type")
        np.ascontiguousarray(found[0]).tofile(folder / f"{index}.exact")
    (folder / "answers.json").write_text(json.dumps(who))


main()

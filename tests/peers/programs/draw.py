"""What a program draws from its seed: extents, shapes, and the values of its inputs.

Extents are small, and odd ones are among them: 1, primes, powers of two and their neighbours. Values are such that the
operator is defined for them: an index lies within its axis, the argument of a logarithm above 0.
"""

import random

import numpy

EXTENTS = (1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 16, 17)


def uniform(low=-2.0, high=2.0):
    """Floats, or integers, between two bounds."""

    def fill(rng, shape, dtype):
        if dtype == "bool":
            return rng.integers(0, 2, shape).astype(bool)
        if numpy.dtype(dtype).kind == "f":
            return rng.uniform(low, high, shape).astype(dtype)
        least = max(low, numpy.iinfo(dtype).min)
        return rng.integers(int(least), int(max(high, least)) + 1, shape).astype(dtype)

    return fill


def below(bound):
    """Integers from 0 up to a bound, which is not among them."""
    return lambda rng, shape, dtype: rng.integers(0, bound, shape).astype(dtype)


def ascending(rng, shape, dtype):
    """Rows in ascending order."""
    return numpy.sort(uniform(-50, 50)(rng, shape, dtype), axis=-1)


def distinct(rng, shape, dtype):
    """Each number once, in any order: no two are equal, so that a sort has one answer."""
    return rng.permutation(int(numpy.prod(shape))).reshape(shape).astype(dtype)


def exactly(values):
    """Just these."""
    return lambda rng, shape, dtype: numpy.array(values, dtype).reshape(shape)


def special(rng, shape, dtype):
    """Floats, infinities and NaN among them."""
    values = uniform()(rng, shape, dtype).reshape(-1)
    values[:: max(1, values.size // 3)] = numpy.array([numpy.inf, -numpy.inf, numpy.nan], dtype)[
        numpy.arange(len(values[:: max(1, values.size // 3)])) % 3
    ]
    return values.reshape(shape)


class Draw:
    """Draws of one program. `place` makes the placeholder of an input: of TE, or of Relax."""

    def __init__(self, seed, place):
        self._random = random.Random(seed)
        self._values = numpy.random.default_rng(self._random.getrandbits(64))
        self._place = place
        self.inputs = []  # placeholders, in order
        self.arrays = []  # their values

    def choice(self, options):
        return self._random.choice(list(options))

    def extent(self, most=17):
        return self.choice(extent for extent in EXTENTS if extent <= most)

    def shape(self, rank, most=17):
        """Extents of a tensor of at most a few thousand elements."""
        while True:
            shape = tuple(self.extent(most) for _ in range(rank))
            if numpy.prod(shape) <= 4096:
                return shape

    def input(self, shape, dtype="float32", fill=None):
        array = (fill or uniform())(self._values, tuple(shape), dtype)
        placeholder = self._place(f"p{len(self.inputs)}", tuple(shape), dtype)
        self.inputs.append(placeholder)
        self.arrays.append(numpy.array(array, order="C"))
        return placeholder

    def any(self, dtype="float32", fill=None, rank=None, most=17):
        """A tensor of some rank from 1 to 4."""
        return self.input(self.shape(rank or self.choice((1, 2, 2, 3, 4)), most), dtype, fill)

    def pair(self, dtype="float32", first=None, second=None):
        """Two tensors of one shape, or of shapes that broadcast."""
        shape = self.shape(self.choice((1, 2, 3)))
        other = tuple(1 if self.choice((False, False, True)) else extent for extent in shape)
        other = other[self.choice((0, 0, 1)) if len(other) > 1 else 0 :]
        return self.input(shape, dtype, first), self.input(other, dtype, second)

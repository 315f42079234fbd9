"""Counts the floating-point operations of a call from its kernel's text.

Counted is what the text says before any schedule: each arithmetic operation, minimum and maximum on floating-point values, and each
mathematical function (`T.exp`) as one. What cannot be known from the shapes alone gives None, never a guess: `while` loops, branches
with different counts, and loops whose extent depends on another loop or on an element.
"""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Mapping, Sequence

from . import errors

#: Functions that count as one operation when their arguments are floating-point values.
_MATH = frozenset(
    "acos acosh asin asinh atan atan2 atanh cos cosh erf exp exp10 exp2 fabs fmod hypot log log10 log1p log2 max min pow power rsqrt "
    "sigmoid sin sinh sqrt tan tanh".split()
)
#: Functions that move or round values.
_FREE = frozenset("Cast abs cast ceil copysign floor if_then_else likely nearbyint reinterpret round trunc Select".split())
_LOOPS = frozenset("grid parallel range serial thread_binding unroll vectorized".split())


class Unknown(Exception):
    """The number depends on more than the shapes."""


def of_call(text: str, name: str, shapes: Sequence[Sequence[int] | int | None]) -> int | None:
    """Returns the operations of a call of the function `name`; `shapes` has the shape, or the value, of each argument."""
    try:
        function = _functions(text)[name]
        return _Counter(function, shapes).total
    except (Unknown, KeyError, SyntaxError, ValueError, RecursionError, errors.Error):
        return None


@functools.lru_cache(maxsize=64)
def _functions(text: str) -> Mapping[str, ast.FunctionDef]:
    """The functions of a kernel in the canonical print, which has one spelling of everything."""
    from . import _objects

    printed = _objects.lower(text, schedule="none")
    return {node.name: node for node in ast.walk(ast.parse(printed)) if isinstance(node, ast.FunctionDef)}


def _is_float(dtype: str) -> bool:
    return dtype.startswith(("float", "bfloat"))


def _called(node: ast.expr | None) -> str:
    """The last name of what is called: `exp` of `T.exp(x)`."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id if isinstance(node.func, ast.Name) else ""


def _dtype(call: ast.Call, position: int) -> str:
    given = [keyword.value for keyword in call.keywords if keyword.arg == "dtype"] or call.args[position : position + 1]
    return str(given[0].value) if given and isinstance(given[0], ast.Constant) else "float32"


class _Counter:
    def __init__(self, function: ast.FunctionDef, shapes: Sequence[Sequence[int] | int | None]) -> None:
        self.values: dict[str, int] = {}
        self.floats: set[str] = set()
        for parameter, shape in zip(function.args.args, shapes):
            self.bind(parameter, shape)
        for parameter in function.args.args:
            if isinstance(parameter.annotation, ast.Call) and _is_float(_dtype(parameter.annotation, 1)):
                self.floats.add(parameter.arg)
            elif isinstance(parameter.annotation, ast.Attribute) and _is_float(parameter.annotation.attr):
                self.floats.add(parameter.arg)
        self.total = self.block(function.body)

    def bind(self, parameter: ast.arg, shape: Sequence[int] | int | None) -> None:
        """Binds the symbols of a parameter's shape."""
        if isinstance(shape, int):
            self.values[parameter.arg] = shape
        elif shape is not None and isinstance(parameter.annotation, ast.Call) and parameter.annotation.args:
            extents = parameter.annotation.args[0]
            for extent, found in zip(extents.elts if isinstance(extents, ast.Tuple) else [extents], shape):
                symbol = extent.value if isinstance(extent, ast.Constant) else extent.id if isinstance(extent, ast.Name) else None
                if isinstance(symbol, str):
                    self.values.setdefault(symbol, int(found))

    def extent(self, node: ast.expr) -> int:
        """The value of an expression of symbols."""
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ast.Name) and node.id in self.values:
            return self.values[node.id]
        if isinstance(node, ast.BinOp):
            left, right = self.extent(node.left), self.extent(node.right)
            if isinstance(node.op, ast.Add):
                return left + right
            if isinstance(node.op, ast.Sub):
                return left - right
            if isinstance(node.op, ast.Mult):
                return left * right
            if isinstance(node.op, ast.FloorDiv) and right != 0:
                return left // right
        if _called(node) in ("Cast", "int32", "int64") and isinstance(node, ast.Call):
            return self.extent(node.args[-1])
        raise Unknown(ast.unparse(node))

    def block(self, body: Sequence[ast.stmt]) -> int:
        return sum(map(self.statement, body))

    def statement(self, node: ast.stmt) -> int:
        if isinstance(node, ast.For):
            times = self.times(node.iter)
            return times * self.block(node.body) if times else 0
        if isinstance(node, ast.With):
            return self.scope(node)
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            return self.assignment(node)
        if isinstance(node, ast.If):
            return self.expression(node.test)[0] + self.same(self.block(node.body), self.block(node.orelse))
        if isinstance(node, (ast.Pass, ast.Expr)):
            # T.reads, T.writes, T.func_attr: what is computed is stored by an assignment.
            if isinstance(node, ast.Pass) or _called(node.value) in ("reads", "writes", "func_attr", "sblock_attr", "where", "evaluate"):
                return 0
        raise Unknown(ast.unparse(node))

    def times(self, iterated: ast.expr) -> int:
        if not isinstance(iterated, ast.Call) or _called(iterated) not in _LOOPS:
            raise Unknown(ast.unparse(iterated))
        extents = [self.extent(one) for one in iterated.args]
        if _called(iterated) == "grid":
            return math.prod(max(one, 0) for one in extents)
        return max(extents[1] - extents[0] if len(extents) == 2 else extents[0], 0)

    def scope(self, node: ast.With) -> int:
        kind, inner = _called(node.items[0].context_expr), self.block(node.body)
        if kind == "init" and inner:
            raise Unknown("an initial value that is computed: once per element, not per step")
        if kind in ("init", "sblock", "attr"):
            return inner
        raise Unknown(kind)

    def assignment(self, node: ast.Assign | ast.AnnAssign) -> int:
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        value = node.value
        if isinstance(target, ast.Subscript) and value is not None:
            return self.expression(value)[0] + self.expression(target)[0]
        if _called(value) in ("sblock_alloc_buffer", "alloc_buffer", "decl_buffer") and isinstance(value, ast.Call):
            if isinstance(target, ast.Name) and _is_float(_dtype(value, 1)):
                self.floats.add(target.id)
            return 0
        if isinstance(value, ast.Call) and ast.unparse(value.func).startswith("T.axis."):
            return 0
        if _called(value).startswith(("int", "uint", "bool")) and isinstance(value, ast.Call) and not value.args:
            return 0
        if isinstance(target, (ast.Name, ast.Tuple)) and value is not None:
            if isinstance(value, ast.Tuple):  # m, k = T.int32(), T.int32()
                return 0
            count, is_float = self.expression(value)
            if isinstance(target, ast.Name) and is_float:
                self.floats.add(target.id)
            return count
        raise Unknown(ast.unparse(node))

    def same(self, one: int, other: int) -> int:
        if one != other:
            raise Unknown("branches with different counts")
        return one

    def expression(self, node: ast.expr) -> tuple[int, bool]:
        """The operations of an expression, and whether its value is floating-point."""
        if isinstance(node, ast.Constant):
            return 0, isinstance(node.value, float)
        if isinstance(node, ast.Name):
            return 0, node.id in self.floats
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            return sum(self.expression(one)[0] for one in indices), node.value.id in self.floats
        if isinstance(node, ast.UnaryOp):
            return self.expression(node.operand)
        if isinstance(node, ast.BinOp):
            (left, left_float), (right, right_float) = self.expression(node.left), self.expression(node.right)
            return left + right + int(left_float or right_float), left_float or right_float
        if isinstance(node, ast.Compare):
            return self.expression(node.left)[0] + sum(self.expression(one)[0] for one in node.comparators), False
        if isinstance(node, ast.BoolOp):
            return sum(self.expression(one)[0] for one in node.values), False
        if isinstance(node, ast.Call):
            return self.call(node)
        raise Unknown(ast.unparse(node))

    def call(self, node: ast.Call) -> tuple[int, bool]:
        name, args = _called(node), node.args
        if name.startswith(("int", "uint", "float", "bfloat", "bool")):  # T.float32(1.0)
            return 0, _is_float(name)
        if name in ("Cast", "cast", "reinterpret"):
            dtype, value = (args[0], args[1]) if isinstance(args[0], ast.Constant) else (args[1], args[0])
            return self.expression(value)[0], _is_float(str(getattr(dtype, "value", "")))
        counted = [self.expression(one) for one in args]
        if name in ("if_then_else", "Select"):
            return counted[0][0] + self.same(counted[1][0], counted[2][0]), counted[1][1] or counted[2][1]
        if name not in _MATH and name not in _FREE:
            raise Unknown(name)
        is_float = any(one for _, one in counted)
        return sum(count for count, _ in counted) + int(is_float and name in _MATH), is_float

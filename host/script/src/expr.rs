//! Expressions: literals, names, operators, subscripts. Calls are in `call.rs`.

use std::sync::Arc;

use chipdock_ir::{BinaryOp, Buffer, BufferRegion, CompareOp, DType, Expr, ExprKind, Op, Range};
use rustpython_ruff_python_ast::{self as ast, CmpOp, Operator, UnaryOp};
use rustpython_ruff_text_size::Ranged;

use crate::error::nearest;
use crate::imports;
use crate::metadata::Node;
use crate::parser::{Failed, Parser, Result};
use crate::types::{Linear, common, convert, difference, is_float};
use crate::value::Value;
use crate::{literal, names};

impl Parser<'_> {
    /// Returns the value of an expression of the script.
    pub(crate) fn value(&mut self, expr: &ast::Expr) -> Result<Value> {
        self.nested(expr.range(), |parser| {
            let value = parser.value_inner(expr)?;
            Ok(match value {
                Value::Expr(value) => Value::Expr(parser.spanned(value, expr)),
                value => value,
            })
        })
    }

    /// Returns the expression with its place, unless it has one.
    pub(crate) fn spanned(&self, value: Expr, at: &impl Ranged) -> Expr {
        if value.span == chipdock_ir::Span::NONE { value.with_span(self.span(at)) } else { value }
    }

    fn value_inner(&mut self, expr: &ast::Expr) -> Result<Value> {
        match expr {
            ast::Expr::NumberLiteral(number) => self.number(number),
            ast::Expr::BooleanLiteral(literal) => Ok(Value::Bool(literal.value)),
            ast::Expr::NoneLiteral(_) => Ok(Value::None),
            ast::Expr::StringLiteral(literal) => Ok(Value::Str(literal.value.to_str().into())),
            ast::Expr::Tuple(tuple) => self.values(&tuple.elts).map(|items| Value::List(Arc::new(items))),
            ast::Expr::List(list) => self.values(&list.elts).map(|items| Value::List(Arc::new(items))),
            ast::Expr::Name(name) => self.name(name),
            ast::Expr::Attribute(attribute) => self.attribute(attribute),
            ast::Expr::Call(call) => self.call(call),
            ast::Expr::Subscript(subscript) => self.subscript(subscript),
            ast::Expr::BinOp(op) => self.binary_op(op),
            ast::Expr::UnaryOp(op) => self.unary_op(op),
            ast::Expr::BoolOp(op) => self.bool_op(op),
            ast::Expr::Compare(compare) => self.compare(compare),
            ast::Expr::If(choice) => self.conditional(choice),
            other => {
                let message = format!(
                    "{} is no part of TVMScript; expected a number, a name, an operator, an element of a buffer or a \
                     call of a T function",
                    expression_kind(other)
                );
                Err(self.fail(other, message))
            }
        }
    }

    fn values(&mut self, items: &[ast::Expr]) -> Result<Vec<Value>> {
        let values: Vec<Result<Value>> = items.iter().map(|item| self.value(item)).collect();
        values.into_iter().collect()
    }

    fn number(&mut self, number: &ast::ExprNumberLiteral) -> Result<Value> {
        match &number.value {
            ast::Number::Int(int) => match int.as_u64() {
                Some(value) => Ok(Value::Int(value.into())),
                None => Err(self.fail(number, "this integer is larger than any type holds")),
            },
            ast::Number::Float(value) => Ok(Value::Float(*value)),
            ast::Number::Complex { .. } => Err(self.fail(number, "complex numbers are not supported")),
        }
    }

    fn name(&mut self, name: &ast::ExprName) -> Result<Value> {
        match self.scopes.find(&name.id) {
            Some(Value::Failed) => Err(Failed),
            Some(value) => {
                let value = value.clone();
                self.copied(&value, name)?;
                Ok(value)
            }
            None => {
                let message = self.unknown_name(&name.id);
                Err(self.fail(name, message))
            }
        }
    }

    fn unknown_name(&self, name: &str) -> String {
        if self.is_full() {
            return String::new();
        }
        match nearest(name, self.scopes.names()) {
            Some(near) => format!("{name} is not defined here; did you mean {near}?"),
            None if self.names_below_t(name) => format!("{name} is not defined here; did you mean T.{name}?"),
            None => format!(
                "{name} is not defined here; a local value is defined by `{name}: T.float32 = ...`, a buffer by \
                 `{name} = T.alloc_buffer(...)`, a size by `{name} = T.int32()` or by quoting it where it first stands \
                 in a shape"
            ),
        }
    }

    pub(crate) fn names_below_t(&self, name: &str) -> bool {
        names::known().any(|known| known == name || known.split('.').next() == Some(name))
    }

    fn attribute(&mut self, attribute: &ast::ExprAttribute) -> Result<Value> {
        if let Some(full) = self.dotted_attribute(attribute) {
            let Some(path) = imports::short(&full) else {
                return Err(self.fail(attribute, imports::unknown(&full)));
            };
            let name = path.strip_prefix("T.").unwrap_or(&path);
            if name == "handle" {
                return Ok(Value::Handle(None));
            }
            if let Some(dtype) = names::dtype(name) {
                return Ok(Value::DType(dtype));
            }
            let message = if names::known().any(|known| known == name) {
                format!("{path} is a function; expected a call of it")
            } else {
                self.unknown_path(&path)
            };
            return Err(self.fail(attribute, message));
        }
        let value = self.value(&attribute.value)?;
        match (&value, attribute.attr.id.as_str()) {
            (Value::Buffer(buffer) | Value::Scalar(buffer), "data") => Ok(Value::Expr(buffer.data.expr())),
            (Value::Buffer(buffer), "dtype") => Ok(Value::DType(buffer.dtype)),
            (Value::Buffer(buffer), "shape") => {
                let shape = Arc::new(buffer.shape.iter().cloned().map(Value::Expr).collect());
                self.copied(&Value::List(Arc::clone(&shape)), attribute)?;
                Ok(Value::List(shape))
            }
            (Value::Buffer(buffer), "strides") => {
                let strides = Arc::new(buffer.strides.iter().cloned().map(Value::Expr).collect());
                self.copied(&Value::List(Arc::clone(&strides)), attribute)?;
                Ok(Value::List(strides))
            }
            (Value::Buffer(buffer), "elem_offset") => match &buffer.elem_offset {
                Some(offset) => self.copy(offset, attribute).map(Value::Expr),
                None => {
                    let dtype = buffer.shape.first().map_or(DType::INT32, |extent| extent.dtype);
                    Ok(Value::Expr(Expr::int(0, dtype)))
                }
            },
            // TVM prints types of pointers as `T.handle("float32", "global").ty`.
            (Value::Handle(_) | Value::DType(_), "ty") => Ok(value),
            (Value::Late(buffer), _) => Err(self.late(buffer, &*attribute.value)),
            (Value::Expr(expr), "dtype") if expr.dtype.is_handle() => Ok(Value::Handle(None)),
            (Value::Expr(expr), "dtype") => Ok(Value::DType(expr.dtype)),
            (_, other) => {
                let message = format!(
                    "{} has no attribute {other}; expected data, dtype, shape, strides or elem_offset of a buffer",
                    value.describe()
                );
                Err(self.fail(&attribute.attr, message))
            }
        }
    }

    /// Converts the value to an expression of the IR: Python's integers become int32, int64 where
    /// int32 is too narrow; floats float32; strings stay strings.
    pub(crate) fn lower(&mut self, value: Value, at: &impl Ranged) -> Result<Expr> {
        let expr = match value {
            Value::Expr(expr) => return Ok(self.spanned(expr, at)),
            Value::Int(value) => {
                let fits = |dtype: DType| {
                    dtype.integer_range().is_some_and(|(least, greatest)| (least..=greatest).contains(&value))
                };
                match [DType::INT32, DType::INT64].into_iter().find(|dtype| fits(*dtype)) {
                    Some(dtype) => Expr::int(value, dtype),
                    None => {
                        let message =
                            format!("{value} does not fit int64; give it a type, as T.uint64({value})");
                        return Err(self.fail(at.range(), message));
                    }
                }
            }
            Value::Float(value) => return self.float_constant(value, DType::FLOAT32, at),
            Value::Bool(value) => Expr::bool(value),
            Value::Str(value) => Expr::str(value),
            Value::Scalar(buffer) => Expr::load(&buffer, vec![Expr::i32(0)]),
            Value::Failed => return Err(Failed),
            Value::Late(buffer) => return Err(self.late(&buffer, at)),
            Value::Buffer(buffer) => {
                let message = format!(
                    "expected a value, found the buffer {}; read an element, as {}[i]",
                    buffer.name, buffer.name
                );
                return Err(self.fail(at.range(), message));
            }
            other => {
                let message = format!("expected a value, found {}", other.describe());
                return Err(self.fail(at.range(), message));
            }
        };
        Ok(self.spanned(expr, at))
    }

    /// Converts an expression of the script to one of the IR.
    pub(crate) fn expr(&mut self, expr: &ast::Expr) -> Result<Expr> {
        let value = self.value(expr)?;
        self.lower(value, expr)
    }

    /// Converts a value to an expression of a type where it is a number of Python's that fits; else
    /// as it is.
    pub(crate) fn lower_like(&mut self, value: Value, dtype: DType, at: &impl Ranged) -> Result<Expr> {
        match value {
            // A float is never cut to an integer unasked.
            Value::Float(_) if !is_float(dtype) => self.lower(value, at),
            Value::Int(_) | Value::Float(_) | Value::Bool(_) if !dtype.is_handle() => {
                self.typed_constant(&value, dtype.scalar(), at)
            }
            value => self.lower(value, at),
        }
    }

    /// A number of Python's in a type; an integer that does not fit is an error, a float for an
    /// integer is cut.
    pub(crate) fn typed_constant(&mut self, value: &Value, dtype: DType, at: &impl Ranged) -> Result<Expr> {
        let number = match value {
            Value::Int(value) => *value,
            Value::Bool(value) => (*value).into(),
            Value::Float(value) if is_float(dtype) => return self.float_constant(*value, dtype, at),
            Value::Float(value) => value.trunc() as i128,
            other => return self.lower(other.clone(), at),
        };
        if is_float(dtype) {
            return self.float_constant(number as f64, dtype, at);
        }
        let (least, greatest) = dtype.integer_range().unwrap_or((0, 0));
        if !(least..=greatest).contains(&number) {
            let message = format!("{number} does not fit {dtype}; expected {least} to {greatest}");
            return Err(self.fail(at.range(), message));
        }
        Ok(self.spanned(Expr::int(number, dtype), at))
    }

    fn float_constant(&mut self, value: f64, dtype: DType, at: &impl Ranged) -> Result<Expr> {
        let expr = Expr::float(value, dtype);
        let overflows = matches!(expr.kind, chipdock_ir::ExprKind::Float(bits) if !bits.value().is_finite());
        if overflows && value.is_finite() {
            let hint = if dtype == DType::FLOAT8_E4M3FN {
                "a NaN write T.float8_e4m3fn(\"nan\")".to_owned()
            } else {
                format!("infinity write T.{dtype}(\"inf\")")
            };
            let message = format!("{value:e} does not fit {dtype}; for {hint}");
            return Err(self.fail(at.range(), message));
        }
        Ok(self.spanned(expr, at))
    }

    /// Two operands made one type and one number of lanes.
    pub(crate) fn unify(&mut self, left: Expr, right: Expr, at: &impl Ranged) -> Result<(Expr, Expr)> {
        let Some(scalar) = common(left.dtype.scalar(), right.dtype.scalar()) else {
            let message = format!("no common type for {} and {}; cast one of them", left.dtype, right.dtype);
            return Err(self.fail(at.range(), message));
        };
        let (left, right) = (convert(&left, scalar), convert(&right, scalar));
        let (a, b) = (left.dtype.lanes, right.dtype.lanes);
        match (a, b) {
            _ if a == b => Ok((left, right)),
            (1, _) => Ok((self.spread(left, b), right)),
            (_, 1) => {
                let right = self.spread(right, a);
                Ok((left, right))
            }
            _ => {
                let message = format!("operands of {a} and {b} lanes; expected as many on both sides");
                Err(self.fail(at.range(), message))
            }
        }
    }

    pub(crate) fn spread(&self, value: Expr, lanes: u16) -> Expr {
        let span = value.span;
        value.broadcast(lanes).with_span(span)
    }

    fn binary_op(&mut self, op: &ast::ExprBinOp) -> Result<Value> {
        let left = self.value(&op.left);
        let right = self.value(&op.right);
        self.binary(op.op, (left?, &op.left), (right?, &op.right), op)
    }

    /// `left op right`.
    pub(crate) fn binary(
        &mut self,
        op: Operator,
        (left, left_at): (Value, &ast::Expr),
        (right, right_at): (Value, &ast::Expr),
        at: &impl Ranged,
    ) -> Result<Value> {
        if left.is_literal() && right.is_literal() {
            let folded = literal::binary(op, &left, &right);
            return folded.map_err(|why| self.fail(at.range(), why));
        }
        if let Some(bitwise) = bitwise(op) {
            let (left, right) = self.like_each_other(left, left_at, right, right_at)?;
            return self.bitwise(bitwise, left, right, at).map(Value::Expr);
        }
        let left = self.lower(left, left_at)?;
        let right = self.lower(right, right_at)?;
        let (left, right) = self.unify(left, right, at)?;
        let (dtype, number) = (left.dtype, !left.dtype.is_handle());
        let node = match op {
            Operator::Add if number => BinaryOp::Add,
            Operator::Sub if number => BinaryOp::Sub,
            Operator::Mult if number => BinaryOp::Mul,
            Operator::Div if dtype.is_float() => BinaryOp::Div,
            Operator::FloorDiv if dtype.is_integer() => BinaryOp::FloorDiv,
            Operator::Mod if dtype.is_integer() => BinaryOp::FloorMod,
            Operator::Div if number => {
                let message = format!(
                    "/ of {dtype} is ambiguous; write // (rounds down), T.truncdiv(a, b) (rounds towards zero), or \
                     cast to a float"
                );
                return Err(self.fail(at.range(), message));
            }
            Operator::FloorDiv | Operator::Mod => {
                let message = format!(
                    "{} takes integers, found {dtype}; for floats write / or T.floor(a / b)",
                    op.as_str()
                );
                return Err(self.fail(at.range(), message));
            }
            Operator::Pow => return Err(self.fail(at.range(), "** is not supported; write T.pow(a, b)")),
            _ => return Err(self.fail(at.range(), format!("{} is not defined for {dtype}", op.as_str()))),
        };
        Ok(Value::Expr(Expr::binary(node, left, right)))
    }

    /// Two values as expressions, a number of Python's in the type of the other side.
    pub(crate) fn like_each_other(
        &mut self,
        left: Value,
        left_at: &ast::Expr,
        right: Value,
        right_at: &ast::Expr,
    ) -> Result<(Expr, Expr)> {
        Ok(if left.is_literal() && !right.is_literal() {
            let right = self.lower(right, right_at)?;
            (self.lower_like(left, right.dtype, left_at)?, right)
        } else {
            let left = self.lower(left, left_at)?;
            let right = self.lower_like(right, left.dtype, right_at)?;
            (left, right)
        })
    }

    pub(crate) fn bitwise(&mut self, op: Op, left: Expr, right: Expr, at: &impl Ranged) -> Result<Expr> {
        let (left, right) = self.unify(left, right, at)?;
        let dtype = left.dtype;
        let shift = matches!(op, Op::ShiftLeft | Op::ShiftRight);
        if !(dtype.is_integer() || (dtype.is_bool() && !shift)) {
            return Err(self.fail(at.range(), format!("{} takes integers, found {dtype}", op.name())));
        }
        Ok(Expr::call(op, vec![left, right], dtype))
    }

    fn unary_op(&mut self, op: &ast::ExprUnaryOp) -> Result<Value> {
        let value = self.value(&op.operand)?;
        match (op.op, &value) {
            (UnaryOp::USub, Value::Int(value)) => match value.checked_neg() {
                Some(value) => Ok(Value::Int(value)),
                None => Err(self.fail(op, "the result is too large")),
            },
            (UnaryOp::USub, Value::Float(value)) => Ok(Value::Float(-value)),
            (UnaryOp::UAdd, Value::Int(_) | Value::Float(_)) => Ok(value),
            (UnaryOp::Invert, Value::Int(value)) => Ok(Value::Int(!value)),
            (UnaryOp::Not, Value::Bool(value)) => Ok(Value::Bool(!value)),
            _ => {
                let value = self.lower(value, &*op.operand)?;
                self.unary(op, value).map(Value::Expr)
            }
        }
    }

    fn unary(&mut self, op: &ast::ExprUnaryOp, value: Expr) -> Result<Expr> {
        let dtype = value.dtype;
        match op.op {
            UnaryOp::UAdd if !dtype.is_handle() => Ok(value),
            UnaryOp::USub if dtype.is_float() || dtype.is_int() => {
                let minus = if dtype.is_float() {
                    Expr::float(-1.0, dtype.scalar())
                } else {
                    Expr::int(-1, dtype.scalar())
                };
                let minus = self.spanned(minus, op);
                Ok(Expr::binary(BinaryOp::Mul, value, self.spread(minus, dtype.lanes)))
            }
            UnaryOp::Not => Ok(self.condition(value, op)?.logical_not()),
            UnaryOp::Invert if dtype.is_integer() => Ok(Expr::call(Op::BitwiseNot, vec![value], dtype)),
            UnaryOp::Invert if dtype.is_bool() => Ok(value.logical_not()),
            other => Err(self.fail(op, format!("{} is not defined for {dtype}", other.as_str()))),
        }
    }

    /// Converts a value to a boolean: itself, or a comparison of a number with zero.
    pub(crate) fn condition(&mut self, value: Expr, at: &impl Ranged) -> Result<Expr> {
        let dtype = value.dtype;
        if dtype.is_bool() {
            return Ok(value);
        }
        if dtype.is_handle() {
            return Err(self.fail(at.range(), "expected a boolean, found a pointer or a string"));
        }
        let zero = self.spread(Expr::constant(0, dtype.scalar()), dtype.lanes);
        Ok(self.spanned(Expr::compare(CompareOp::Ne, value, zero), at))
    }

    fn bool_op(&mut self, op: &ast::ExprBoolOp) -> Result<Value> {
        let mut values = Vec::new();
        for item in &op.values {
            values.push((self.value(item)?, item));
        }
        let mut result: Option<Value> = None;
        for (depth, (value, at)) in values.into_iter().enumerate() {
            if depth > crate::guard::NESTING_MAX {
                return Err(self.fail(at, "too many operands of and / or"));
            }
            let Some(left) = result else {
                result = Some(value);
                continue;
            };
            let both = matches!((&left, &value), (Value::Bool(_), Value::Bool(_)));
            result = Some(if let (true, Value::Bool(a), Value::Bool(b)) = (both, &left, &value) {
                Value::Bool(if op.op == ast::BoolOp::And { *a && *b } else { *a || *b })
            } else {
                let left = self.lower(left, op)?;
                let right = self.lower(value, at)?;
                let (left, right) = (self.condition(left, op)?, self.condition(right, at)?);
                Value::Expr(self.junction(op.op, left, right, op)?)
            });
        }
        result.ok_or(Failed)
    }

    /// `and` and `or`; of vectors, lane by lane.
    pub(crate) fn junction(
        &mut self,
        op: ast::BoolOp,
        left: Expr,
        right: Expr,
        at: &impl Ranged,
    ) -> Result<Expr> {
        let (left, right) = self.unify(left, right, at)?;
        let expr = match op {
            _ if !left.dtype.is_scalar() => {
                let op = if op == ast::BoolOp::And { Op::BitwiseAnd } else { Op::BitwiseOr };
                self.bitwise(op, left, right, at)?
            }
            ast::BoolOp::And => left.and(right),
            ast::BoolOp::Or => left.or(right),
        };
        Ok(self.spanned(expr, at))
    }

    fn compare(&mut self, compare: &ast::ExprCompare) -> Result<Value> {
        let mut left = (self.value(&compare.left)?, &*compare.left);
        let mut result: Option<Value> = None;
        for (op, right_at) in compare.ops.iter().zip(&compare.comparators) {
            let right = self.value(right_at)?;
            if result.is_some() {
                self.copied(&left.0, left.1)?;
            }
            let one = self.comparison(*op, left, (right.clone(), right_at), compare)?;
            result = Some(match (result, one) {
                (None, one) => one,
                (Some(Value::Bool(a)), Value::Bool(b)) => Value::Bool(a && b),
                (Some(before), one) => {
                    let (before, one) = (self.lower(before, compare)?, self.lower(one, compare)?);
                    Value::Expr(self.junction(ast::BoolOp::And, before, one, compare)?)
                }
            });
            left = (right, right_at);
        }
        result.ok_or(Failed)
    }

    fn comparison(
        &mut self,
        op: CmpOp,
        (left, left_at): (Value, &ast::Expr),
        (right, right_at): (Value, &ast::Expr),
        at: &ast::ExprCompare,
    ) -> Result<Value> {
        if left.is_literal()
            && right.is_literal()
            && let Some(result) = literal::compare(op, &left, &right)
        {
            return Ok(Value::Bool(result));
        }
        let node = match op {
            CmpOp::Eq => CompareOp::Eq,
            CmpOp::NotEq => CompareOp::Ne,
            CmpOp::Lt => CompareOp::Lt,
            CmpOp::LtE => CompareOp::Le,
            CmpOp::Gt => CompareOp::Gt,
            CmpOp::GtE => CompareOp::Ge,
            other => {
                let message =
                    format!("`{}` is not supported; expected ==, !=, <, <=, > or >=", other.as_str());
                return Err(self.fail(at, message));
            }
        };
        let (left, right) = self.like_each_other(left, left_at, right, right_at)?;
        let (left, right) = self.unify(left, right, at)?;
        let expr = Expr::compare(node, left, right);
        Ok(Value::Expr(self.spanned(expr, at)))
    }

    fn conditional(&mut self, choice: &ast::ExprIf) -> Result<Value> {
        let condition = self.value(&choice.test)?;
        if let Value::Bool(condition) = condition {
            return self.value(if condition { &choice.body } else { &choice.orelse });
        }
        let condition = self.lower(condition, &*choice.test)?;
        let then = self.expr(&choice.body)?;
        let otherwise = self.expr(&choice.orelse)?;
        self.if_then_else(condition, then, otherwise, choice).map(Value::Expr)
    }

    fn subscript(&mut self, subscript: &ast::ExprSubscript) -> Result<Value> {
        let value = self.value(&subscript.value)?;
        match value {
            Value::Buffer(buffer) => {
                let indices = self.indices(&buffer, &subscript.slice)?;
                Ok(Value::Expr(Expr::load(&buffer, indices)))
            }
            Value::List(items) => match self.value(&subscript.slice)? {
                Value::Int(index) => {
                    let count = items.len();
                    let at = usize::try_from(if index < 0 { index + count as i128 } else { index });
                    match at.ok().and_then(|at| items.get(at)) {
                        Some(item) => Ok(item.clone()),
                        None => {
                            let message = format!("index {index} of a list of {count}");
                            Err(self.fail(&*subscript.slice, message))
                        }
                    }
                }
                other => {
                    let message = format!("expected a constant index, found {}", other.describe());
                    Err(self.fail(&*subscript.slice, message))
                }
            },
            Value::Metadata(_) | Value::MetadataList(..) => self.metadata(value, subscript),
            Value::Late(buffer) => Err(self.late(&buffer, &*subscript.value)),
            Value::Scalar(buffer) if matches!(&*subscript.slice, ast::Expr::NumberLiteral(_)) => {
                let indices = self.indices(&buffer, &subscript.slice)?;
                Ok(Value::Expr(Expr::load(&buffer, indices)))
            }
            other => {
                let message = format!("expected a buffer before [...], found {}", other.describe());
                Err(self.fail(&*subscript.value, message))
            }
        }
    }

    /// `metadata["ir.StringImm"]`, and a node of that list.
    fn metadata(&mut self, value: Value, subscript: &ast::ExprSubscript) -> Result<Value> {
        let at = &*subscript.slice;
        match (value, self.value(at)?) {
            (Value::Metadata(metadata), Value::Str(kind)) => match metadata.list(&kind) {
                Some(list) => Ok(Value::MetadataList(metadata, list)),
                None => {
                    let message = format!("the metadata has no \"{kind}\"; it has {}", metadata.kinds());
                    Err(self.fail(at, message))
                }
            },
            (Value::MetadataList(metadata, list), Value::Int(index)) => {
                let nodes = metadata.nodes(list);
                match usize::try_from(index).ok().and_then(|index| nodes.get(index)) {
                    Some(Node::Text(text)) => Ok(Value::Str(Arc::clone(text))),
                    Some(Node::Other(kind)) => {
                        let message = format!("this is {kind}; of metadata only ir.StringImm is taken");
                        Err(self.fail(subscript, message))
                    }
                    None => Err(self.fail(at, format!("index {index} of a list of {}", nodes.len()))),
                }
            }
            (_, other) => {
                let found = other.describe();
                let message = format!("expected metadata[\"ir.StringImm\"][0] or the like, found {found}");
                Err(self.fail(at, message))
            }
        }
    }

    /// Returns the entries between the brackets, one per axis. A name of several loops stands for
    /// each of them.
    fn axes<'a>(&mut self, buffer: &Buffer, slice: &'a ast::Expr) -> Result<Vec<Axis<'a>>> {
        let items = match slice {
            ast::Expr::Tuple(tuple) => tuple.elts.as_slice(),
            other => std::slice::from_ref(other),
        };
        let mut axes = Vec::new();
        for item in items {
            let list = match item {
                ast::Expr::Starred(starred) => Some(&*starred.value),
                ast::Expr::Name(name) if items.len() == 1 => {
                    matches!(self.scopes.find(&name.id), Some(Value::List(_))).then_some(item)
                }
                _ => None,
            };
            match list.map(|list| self.value(list)).transpose()? {
                None => axes.push(Axis::Written(item)),
                Some(Value::List(indices)) => {
                    for index in indices.iter() {
                        let index = self.lower(index.clone(), item)?;
                        axes.push(Axis::Known(self.integer(index, item)?, item));
                    }
                }
                Some(other) => {
                    let message = format!("expected several indices behind *, found {}", other.describe());
                    return Err(self.fail(item, message));
                }
            }
        }
        if axes.len() != buffer.shape.len() {
            let message = format!(
                "{} has {} axes, found {} {}",
                buffer.name,
                buffer.shape.len(),
                axes.len(),
                if axes.len() == 1 { "index" } else { "indices" }
            );
            return Err(self.fail(slice, message));
        }
        Ok(axes)
    }

    /// Indices of an element or a vector; a slice is a vector of its elements.
    pub(crate) fn indices(&mut self, buffer: &Buffer, slice: &ast::Expr) -> Result<Vec<Expr>> {
        let axes = self.axes(buffer, slice)?;
        let last = axes.len().saturating_sub(1);
        let mut indices = Vec::new();
        for (axis, written) in axes.into_iter().enumerate() {
            let (index, at) = match written {
                Axis::Known(index, at) => (index, at),
                Axis::Written(at) => {
                    let index = match at {
                        ast::Expr::Slice(slice) if axis == last => {
                            self.ramp_of(slice, &buffer.shape[axis])?
                        }
                        ast::Expr::Slice(_) => {
                            return Err(self.fail(at, "only the last index may be a slice"));
                        }
                        at => self.index(at)?,
                    };
                    (index, at)
                }
            };
            if axis != last && !index.dtype.is_scalar() {
                return Err(self.fail(at, "only the last index may be a vector"));
            }
            indices.push(index);
        }
        Ok(indices)
    }

    pub(crate) fn index(&mut self, expr: &ast::Expr) -> Result<Expr> {
        let index = self.expr(expr)?;
        self.integer(index, expr)
    }

    fn integer(&mut self, index: Expr, expr: &ast::Expr) -> Result<Expr> {
        if index.dtype.is_integer() {
            return Ok(index);
        }
        let found = match &index.kind {
            ExprKind::Str(_) => "a string".to_owned(),
            _ => index.dtype.to_string(),
        };
        Err(self.fail(expr, format!("expected an integer as an index, found {found}")))
    }

    /// `a:b` and `a:b:step` as a vector of indices.
    fn ramp_of(&mut self, slice: &ast::ExprSlice, extent: &Expr) -> Result<Expr> {
        let (start, stop) = self.bounds(slice, extent)?;
        let step = match &slice.step {
            Some(step) => self.index(step)?,
            None => Expr::int(1, start.dtype),
        };
        let (start, step) = self.unify(start, step, slice)?;
        let lanes = Linear::difference(&stop, &start)
            .and_then(|linear| linear.value())
            .zip(step.as_int().filter(|step| *step > 0))
            .map(|(extent, step)| extent.saturating_add(step - 1).div_euclid(step));
        let lanes = lanes.and_then(|lanes| u16::try_from(lanes).ok()).filter(|lanes| *lanes > 0);
        match lanes {
            Some(1) => Ok(start),
            Some(lanes) => Ok(self.spanned(start.ramp(step, lanes), slice)),
            None => {
                Err(self
                    .fail(slice, "expected a slice of a constant number of elements, 1 to 65535, as i:i + 4"))
            }
        }
    }

    fn bounds(&mut self, slice: &ast::ExprSlice, extent: &Expr) -> Result<(Expr, Expr)> {
        let stop = match &slice.upper {
            Some(upper) => self.index(upper)?,
            None => self.copy(extent, slice)?,
        };
        let start = match &slice.lower {
            Some(lower) => self.index(lower)?,
            None => self.spanned(Expr::int(0, stop.dtype), slice),
        };
        self.unify(start, stop, slice)
    }

    /// A region of a buffer: an index is a range of one, a slice is a range, a bare buffer is all
    /// of it.
    pub(crate) fn region(&mut self, expr: &ast::Expr) -> Result<BufferRegion> {
        let ast::Expr::Subscript(subscript) = expr else {
            let value = self.value(expr)?;
            let Value::Buffer(buffer) = value else {
                let message = format!("expected a region of a buffer, found {}", value.describe());
                return Err(self.fail(expr, message));
            };
            let mut region = Vec::new();
            for extent in &buffer.shape {
                region.push(Range { min: Expr::int(0, extent.dtype), extent: self.copy(extent, expr)? });
            }
            return Ok(BufferRegion { buffer, region });
        };
        let value = self.value(&subscript.value)?;
        let Value::Buffer(buffer) = value else {
            let message = format!("expected a buffer before [...], found {}", value.describe());
            return Err(self.fail(&*subscript.value, message));
        };
        let axes = self.axes(&buffer, &subscript.slice)?;
        let mut region = Vec::new();
        for (axis, written) in axes.into_iter().enumerate() {
            region.push(match written {
                Axis::Known(min, _) => Range { extent: Expr::int(1, min.dtype).with_span(min.span), min },
                Axis::Written(ast::Expr::Slice(slice)) => {
                    if slice.step.is_some() {
                        return Err(self.fail(slice, "a region takes no step"));
                    }
                    let (min, stop) = self.bounds(slice, &buffer.shape[axis])?;
                    let extent = difference(&stop, &min);
                    Range { min, extent }
                }
                Axis::Written(expr) => {
                    let min = self.index(expr)?;
                    Range { extent: Expr::int(1, min.dtype).with_span(min.span), min }
                }
            });
        }
        Ok(BufferRegion { buffer, region })
    }
}

/// Entry for one axis between brackets.
enum Axis<'a> {
    Written(&'a ast::Expr),
    /// One of several indices that an expression stands for.
    Known(Expr, &'a ast::Expr),
}

/// Returns the kind of an unsupported Python expression, for messages.
fn expression_kind(expr: &ast::Expr) -> &'static str {
    match expr {
        ast::Expr::Lambda(_) => "a lambda outside of T.comm_reducer",
        ast::Expr::ListComp(_) | ast::Expr::SetComp(_) | ast::Expr::DictComp(_) => "a comprehension",
        ast::Expr::Generator(_) => "a generator",
        ast::Expr::Dict(_) | ast::Expr::Set(_) => "a dictionary or a set here",
        ast::Expr::Slice(_) => "a slice outside of [...]",
        ast::Expr::Starred(_) => "unpacking with *",
        ast::Expr::Named(_) => "`:=`",
        ast::Expr::Await(_) | ast::Expr::Yield(_) | ast::Expr::YieldFrom(_) => "await or yield",
        ast::Expr::BytesLiteral(_) => "a string of bytes",
        _ => "this kind of Python expression",
    }
}

/// Returns the op of a bitwise operator.
fn bitwise(op: Operator) -> Option<Op> {
    Some(match op {
        Operator::BitAnd => Op::BitwiseAnd,
        Operator::BitOr => Op::BitwiseOr,
        Operator::BitXor => Op::BitwiseXor,
        Operator::LShift => Op::ShiftLeft,
        Operator::RShift => Op::ShiftRight,
        _ => return None,
    })
}

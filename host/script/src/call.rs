//! Calls that are expressions: constructors of nodes, constants, other functions. Ops by name are
//! in `ops.rs`.

use chipdock_ir::{
    BinaryOp, Buffer, Callee, CompareOp, DType, Expr, ExprKind, Op, PointerType, StorageScope, Target, Var,
};
use rustpython_ruff_python_ast as ast;
use rustpython_ruff_text_size::Ranged;

use crate::names;
use crate::parser::{Failed, Parser, Result, Signature};
use crate::types::{convert, is_float};
use crate::value::Value;

/// Greatest number of lanes of a vector.
const LANES_MAX: i128 = u16::MAX as i128;

impl Parser<'_> {
    pub(crate) fn call(&mut self, call: &ast::ExprCall) -> Result<Value> {
        if let Some(path) = self.path(&call.func) {
            return self.call_path(&path, call);
        }
        if let Some(full) = self.dotted(&call.func) {
            return Err(self.fail(&*call.func, crate::imports::unknown(&full)));
        }
        if let ast::Expr::Attribute(attribute) = &*call.func {
            if let ast::Expr::Name(owner) = &*attribute.value
                && self.class_names.contains(owner.id.as_str())
            {
                return self.call_global(&attribute.attr.id, call);
            }
            return self.call_method(attribute, call);
        }
        match &*call.func {
            ast::Expr::Name(name) if self.signatures.contains_key(name.id.as_str()) => {
                self.call_global(&name.id, call)
            }
            ast::Expr::Name(name) if name.id == "float" => {
                let [text] = self.bind(call, "float", ["x"], 1)?;
                let text = self.required(text)?;
                let number = match self.value(text)? {
                    Value::Str(number) => number.parse::<f64>().ok(),
                    Value::Int(number) => Some(number as f64),
                    Value::Float(number) => Some(number),
                    _ => None,
                };
                number.map(Value::Float).ok_or_else(|| self.fail(text, "expected a number"))
            }
            ast::Expr::Name(name) => {
                let message = self.unknown_function(name.id.as_str());
                Err(self.fail(name, message))
            }
            other => Err(self.fail(other, "this is no function of T, nor of this module")),
        }
    }

    fn unknown_function(&self, name: &str) -> String {
        let message = format!("{name} is no function of T, nor of this module");
        if names::known().any(|known| known == name) {
            return format!("{message}; did you mean T.{name}?");
        }
        if let Some(instead) = names::instead_of(name) {
            return format!("{message}; write {instead}");
        }
        match crate::error::nearest(name, self.signatures.keys().map(String::as_str)) {
            Some(near) if !self.is_full() => format!("{message}; did you mean {near}?"),
            _ => message,
        }
    }

    pub(crate) fn call_path(&mut self, path: &str, call: &ast::ExprCall) -> Result<Value> {
        let keyword = call.arguments.keywords.iter().find(|keyword| is_dtype(keyword));
        let Some((keyword, name)) = keyword.zip(path.strip_prefix("T.")) else {
            return self.call_below(path, call);
        };
        if names::forwards_dtype(name) {
            let first = keyword.value.clone();
            let args = std::iter::once(first).chain(call.arguments.args.iter().cloned()).collect();
            let mut call = call.clone();
            call.arguments.args = args;
            call.arguments.keywords =
                call.arguments.keywords.iter().filter(|k| !is_dtype(k)).cloned().collect();
            return self.call_below(path, &call);
        }
        let value = self.call_below(path, call)?;
        if names::ignores_dtype(path)
            && let Value::Expr(expr) = &value
        {
            self.said_dtype(path, expr.dtype, &keyword.value)?;
        }
        Ok(value)
    }

    /// Checks a type argument that TVM ignores: it must be the type of the result.
    fn said_dtype(&mut self, path: &str, found: DType, at: &ast::Expr) -> Result<()> {
        let is_effect = found.is_handle() || matches!(path, "T.assume" | "T.call_packed");
        if is_effect || matches!(self.value(at)?, Value::Str(text) if matches!(&*text, "" | "void")) {
            return Ok(());
        }
        let said = self.dtype(at)?;
        if said == found {
            return Ok(());
        }
        let message = format!("{path} of these arguments gives {found}, not {said}; leave dtype= out");
        Err(self.fail(at, message))
    }

    fn call_below(&mut self, path: &str, call: &ast::ExprCall) -> Result<Value> {
        let Some(name) = path.strip_prefix("T.") else {
            let message = self.unknown_path(path);
            return Err(self.fail(&*call.func, message));
        };
        if let Some(dtype) = names::dtype(name) {
            return self.type_call(dtype, call);
        }
        match name {
            "Cast" | "cast" => self.cast(name, call).map(Value::Expr),
            "Select" => self.select(path, call).map(Value::Expr),
            "Ramp" | "ramp" => self.ramp(call).map(Value::Expr),
            "Broadcast" | "broadcast" => {
                let [value, lanes] = self.bind(call, path, ["value", "lanes"], 2)?;
                let (value, lanes) = (self.required(value)?, self.required(lanes)?);
                let (value, lanes) = (self.scalar(value)?, self.lanes(lanes)?);
                Ok(Value::Expr(value.broadcast(lanes)))
            }
            "Shuffle" => self.shuffle(call).map(Value::Expr),
            "Let" => self.let_expr(call).map(Value::Expr),
            "vectorlow" | "vectorhigh" | "vectorcombine" => {
                self.vector_part(name, path, call).map(Value::Expr)
            }
            "masked_load" => self.masked_load(call).map(Value::Expr),
            "allocate_const" => self.const_expr(call),
            "call_intrin" => self.call_intrin(call),
            "comm_reducer" => self.reducer_value(call),
            "type_annotation" => {
                let [dtype] = self.bind(call, path, ["dtype"], 1)?;
                let dtype = self.required(dtype)?;
                self.dtype(dtype).map(Value::TypeOf)
            }
            "min_value" | "max_value" | "infinity" => self.limit(name, call).map(Value::Expr),
            "ceildiv" => {
                let (a, b) = self.two(path, call)?;
                self.copied(&Value::Expr(b.clone()), call)?;
                let one = Expr::constant(1, b.dtype.scalar());
                let rounded = Expr::binary(BinaryOp::Sub, a + b.clone(), self.spread(one, b.dtype.lanes));
                Ok(Value::Expr(Expr::binary(BinaryOp::FloorDiv, rounded, b)))
            }
            "And" | "Or" => {
                let [a, b] = self.bind(call, path, ["a", "b"], 2)?;
                let (a, b) = (self.required(a)?, self.required(b)?);
                let (left, right) = (self.expr(a)?, self.expr(b)?);
                let (left, right) = (self.condition(left, a)?, self.condition(right, b)?);
                let (left, right) = self.unify(left, right, call)?;
                let both = if name == "And" { left.and(right) } else { left.or(right) };
                Ok(Value::Expr(self.spanned(both, call)))
            }
            "Not" => {
                let [a] = self.bind(call, path, ["a"], 1)?;
                let a = self.required(a)?;
                let value = self.expr(a)?;
                Ok(Value::Expr(self.condition(value, a)?.logical_not()))
            }
            "IntImm" | "FloatImm" => self.immediate(path, call).map(Value::Expr),
            "handle" => self.handle_type(call).map(Value::Handle),
            "call_extern" | "call_pure_extern" => self.call_extern(name, call).map(Value::Expr),
            "StringImm" => {
                let [text] = self.bind(call, path, ["value"], 1)?;
                let text = self.required(text)?;
                let text = self.string(text)?;
                Ok(Value::Expr(Expr::str(text)))
            }
            _ => self.call_operator(path, name, call),
        }
    }

    /// `T.IntImm("int64", 3)`, `T.FloatImm("float32", 2.5)`
    fn immediate(&mut self, path: &str, call: &ast::ExprCall) -> Result<Expr> {
        let [dtype, value] = self.bind(call, path, ["dtype", "value"], 2)?;
        let (dtype, at) = (self.required(dtype)?, self.required(value)?);
        let dtype = self.dtype(dtype)?;
        match self.value(at)? {
            value if value.is_literal() && (path == "T.FloatImm") == is_float(dtype) => {
                self.typed_constant(&value, dtype, at)
            }
            other => {
                let message = format!("expected a number of type {dtype}, found {}", other.describe());
                Err(self.fail(at, message))
            }
        }
    }

    fn select(&mut self, path: &str, call: &ast::ExprCall) -> Result<Expr> {
        let [c, a, b] = self.bind(call, path, ["condition", "true_value", "false_value"], 3)?;
        let (c, a, b) = (self.required(c)?, self.required(a)?, self.required(b)?);
        let condition = self.expr(c)?;
        let condition = self.condition(condition, c)?;
        let (a, b) = self.pair(a, b, call)?;
        let lanes = a.dtype.lanes;
        let condition = if condition.dtype.is_scalar() { self.spread(condition, lanes) } else { condition };
        Ok(Expr::select(condition, a, b))
    }

    /// `T.Add` and its like, else an op.
    fn call_operator(&mut self, path: &str, name: &str, call: &ast::ExprCall) -> Result<Value> {
        if let Some(op) = binary_name(name) {
            let (a, b) = self.two(path, call)?;
            if op == BinaryOp::Mod && a.dtype.is_float() {
                let dtype = a.dtype;
                return Ok(Value::Expr(Expr::call(Op::Fmod, vec![a, b], dtype)));
            }
            let integers = matches!(op, BinaryOp::FloorDiv | BinaryOp::FloorMod | BinaryOp::Mod)
                || matches!(name, "truncdiv" | "floordiv");
            if a.dtype.is_handle() || (integers && !a.dtype.is_integer()) {
                let kind = if integers { "integers" } else { "numbers" };
                return Err(self.fail(call, format!("{path} takes {kind}, found {}", a.dtype)));
            }
            return Ok(Value::Expr(Expr::binary(op, a, b)));
        }
        if let Some(op) = compare_name(name) {
            let (a, b) = self.two(path, call)?;
            return Ok(Value::Expr(Expr::compare(op, a, b)));
        }
        match names::op(name) {
            Some(op) => self.call_op(op, path, call).map(Value::Expr),
            None => self.device_call(path, call).map(Value::Expr),
        }
    }

    /// Two arguments made one type.
    fn two(&mut self, path: &str, call: &ast::ExprCall) -> Result<(Expr, Expr)> {
        let [a, b] = self.bind(call, path, ["a", "b"], 2)?;
        let (a, b) = (self.required(a)?, self.required(b)?);
        self.pair(a, b, call)
    }

    pub(crate) fn pair(&mut self, a: &ast::Expr, b: &ast::Expr, at: &impl Ranged) -> Result<(Expr, Expr)> {
        let (left, right) = (self.expr(a), self.expr(b));
        self.unify(left?, right?, at)
    }

    /// `T.float32(x)`: a constant of the type, or a conversion to it.
    fn type_call(&mut self, dtype: DType, call: &ast::ExprCall) -> Result<Value> {
        let [arg] = self.bind(call, &format!("T.{dtype}"), ["expr"], 0)?;
        let Some(arg) = arg else {
            let message = format!("T.{dtype}() declares a size; it stands alone behind `name =`");
            return Err(self.fail(call, message));
        };
        let value = self.value(arg)?;
        let expr = match &value {
            Value::Int(_) | Value::Float(_) | Value::Bool(_) => {
                let one = self.typed_constant(&value, dtype.scalar(), arg)?;
                self.spread(one, dtype.lanes)
            }
            Value::Str(text) if is_float(dtype) => {
                let number = match &**text {
                    "inf" => f64::INFINITY,
                    "-inf" => f64::NEG_INFINITY,
                    "nan" => f64::NAN,
                    other => {
                        let message = format!("expected \"inf\", \"-inf\" or \"nan\", found \"{other}\"");
                        return Err(self.fail(arg, message));
                    }
                };
                Expr::float(number, dtype)
            }
            _ => {
                let value = self.lower(value, arg)?;
                self.cast_to(value, dtype, arg)?
            }
        };
        Ok(Value::Expr(expr))
    }

    /// `T.Cast("float32", x)`; `T.cast(x, "float32")`.
    fn cast(&mut self, name: &str, call: &ast::ExprCall) -> Result<Expr> {
        let (dtype, value) = if name == "Cast" {
            let [dtype, value] = self.bind(call, "T.Cast", ["dtype", "value"], 2)?;
            (dtype, value)
        } else {
            let [value, dtype] = self.bind(call, "T.cast", ["value", "dtype"], 2)?;
            (dtype, value)
        };
        let (dtype, at) = (self.required(dtype)?, self.required(value)?);
        let dtype = self.dtype(dtype)?;
        let value = self.expr(at)?;
        self.cast_to(value, dtype, at)
    }

    fn cast_to(&mut self, value: Expr, dtype: DType, at: &impl Ranged) -> Result<Expr> {
        if value.dtype.is_handle() || dtype.is_handle() {
            let message = format!("no cast from {} to {dtype}; see T.reinterpret", value.dtype);
            return Err(self.fail(at.range(), message));
        }
        // TVM's casts of vectors name the type of a lane or of all of them.
        let dtype = if dtype.is_scalar() { dtype.with_lanes(value.dtype.lanes) } else { dtype };
        if value.dtype.lanes != dtype.lanes {
            let message = format!("no cast from {} to {dtype}: the lanes differ", value.dtype);
            return Err(self.fail(at.range(), message));
        }
        Ok(value.cast(dtype))
    }

    fn ramp(&mut self, call: &ast::ExprCall) -> Result<Expr> {
        let [base, stride, lanes] = self.bind(call, "T.Ramp", ["base", "stride", "lanes"], 3)?;
        let (base, stride) = (self.required(base)?, self.required(stride)?);
        let lanes = self.required(lanes)?;
        let (start, step) = (self.scalar(base)?, self.scalar(stride)?);
        let step = if step.as_int().is_some() { convert(&step, start.dtype) } else { step };
        if !start.dtype.is_integer() || start.dtype != step.dtype {
            let message = format!(
                "T.Ramp takes base and stride of one integer type, found {} and {}",
                start.dtype, step.dtype
            );
            return Err(self.fail(call, message));
        }
        let lanes = self.lanes(lanes)?;
        Ok(start.ramp(step, lanes))
    }

    fn scalar(&mut self, at: &ast::Expr) -> Result<Expr> {
        let value = self.expr(at)?;
        if value.dtype.is_scalar() && !value.dtype.is_handle() {
            return Ok(value);
        }
        Err(self.fail(at, format!("expected a scalar, found {}", value.dtype)))
    }

    fn lanes(&mut self, at: &ast::Expr) -> Result<u16> {
        match self.value(at)? {
            Value::Int(lanes) if (2..=LANES_MAX).contains(&lanes) => Ok(lanes as u16),
            other => {
                let message =
                    format!("expected a number of lanes, 2 to {LANES_MAX}, found {}", other.describe());
                Err(self.fail(at, message))
            }
        }
    }

    fn shuffle(&mut self, call: &ast::ExprCall) -> Result<Expr> {
        let [vectors, indices] = self.bind(call, "T.Shuffle", ["vectors", "indices"], 2)?;
        let (vectors_at, indices_at) = (self.required(vectors)?, self.required(indices)?);
        let (Value::List(vectors), Value::List(picked)) = (self.value(vectors_at)?, self.value(indices_at)?)
        else {
            return Err(self.fail(call, "T.Shuffle takes a list of vectors and a list of indices"));
        };
        let vectors: Vec<Expr> =
            vectors.iter().map(|value| self.lower(value.clone(), vectors_at)).collect::<Result<_>>()?;
        let total: i128 = vectors.iter().map(|vector| i128::from(vector.dtype.lanes)).sum();
        let mut indices = Vec::new();
        for index in picked.iter().cloned() {
            match index {
                Value::Int(index) if (0..total).contains(&index) && index <= LANES_MAX => {
                    indices.push(index as u16);
                }
                other => {
                    let message = format!("expected an index below {total}, found {}", other.describe());
                    return Err(self.fail(indices_at, message));
                }
            }
        }
        let (Some(first), Ok(lanes)) = (vectors.first(), u16::try_from(indices.len())) else {
            return Err(self.fail(call, "T.Shuffle needs a vector, and at most 65535 indices"));
        };
        let dtype = first.dtype.scalar();
        if vectors.iter().any(|vector| vector.dtype.scalar() != dtype) || indices.is_empty() {
            return Err(self.fail(call, "T.Shuffle needs vectors of one type, and an index"));
        }
        Ok(Expr::new(ExprKind::Shuffle { vectors, indices }, dtype.with_lanes(lanes)))
    }

    /// `T.Let(body, where={var: value, ...})`.
    fn let_expr(&mut self, call: &ast::ExprCall) -> Result<Expr> {
        let [body, bindings] = self.bind(call, "T.Let", ["expr", "where"], 2)?;
        let (body, bindings) = (self.required(body)?, self.required(bindings)?);
        let ast::Expr::Dict(dict) = bindings else {
            return Err(self.fail(bindings, "expected where={name: value}"));
        };
        let mut pairs: Vec<(Var, Expr)> = Vec::new();
        for item in &dict.items {
            let Some(key) = &item.key else {
                return Err(self.fail(dict, "expected where={name: value}"));
            };
            let var = self.expr(key)?;
            let ExprKind::Var(var) = &var.kind else {
                return Err(self.fail(key, "expected a name declared with `name = T.int32()`"));
            };
            let value = self.value(&item.value)?;
            let value = self.lower_like(value, var.dtype, &item.value)?;
            if value.dtype != var.dtype {
                let message = format!("{} is {}, the value {}", var.name, var.dtype, value.dtype);
                return Err(self.fail(&item.value, message));
            }
            pairs.push((var.clone(), value));
        }
        let body = self.expr(body)?;
        Ok(pairs.into_iter().rev().fold(body, |body, (var, value)| {
            let (dtype, span) = (body.dtype, self.span(call));
            Expr::new(ExprKind::Let { var, value, body }, dtype).with_span(span)
        }))
    }

    fn limit(&mut self, name: &str, call: &ast::ExprCall) -> Result<Expr> {
        let [dtype] = self.bind(call, &format!("T.{name}"), ["dtype"], 1)?;
        let at = self.required(dtype)?;
        let dtype = self.dtype(at)?;
        let sign = if name == "min_value" { -1.0 } else { 1.0 };
        if dtype.is_float() {
            let greatest = match (dtype.bits, dtype) {
                (_, DType::BFLOAT16) => f64::from(f32::from_bits(0x7f7f_0000)),
                (16, _) => 65504.0,
                (32, _) => f64::from(f32::MAX),
                _ => f64::MAX,
            };
            return Ok(Expr::float(sign * if name == "infinity" { f64::INFINITY } else { greatest }, dtype));
        }
        match dtype.integer_range() {
            Some((least, _)) if name == "min_value" => Ok(Expr::int(least, dtype)),
            Some((_, greatest)) if name == "max_value" => Ok(Expr::int(greatest, dtype)),
            _ => Err(self.fail(at, format!("T.{name} is not defined for {dtype}"))),
        }
    }

    /// `T.handle`, `T.handle("float32", "global")`.
    pub(crate) fn handle_type(&mut self, call: &ast::ExprCall) -> Result<Option<PointerType>> {
        let [dtype, scope] = self.bind(call, "T.handle", ["dtype", "storage_scope"], 0)?;
        let Some(dtype) = dtype else { return Ok(None) };
        let element = self.dtype(dtype)?;
        let scope = match scope {
            Some(scope) => StorageScope::parse(&self.string(scope)?),
            None => StorageScope::GLOBAL,
        };
        Ok(Some(PointerType { element, scope }))
    }

    pub(crate) fn string(&mut self, at: &ast::Expr) -> Result<std::sync::Arc<str>> {
        match self.value(at)? {
            Value::Str(text) => Ok(text),
            other => Err(self.fail(at, format!("expected a string, found {}", other.describe()))),
        }
    }

    /// An element type: `"float32"`, `T.float32`, `A.dtype`, `T.handle().ty`.
    pub(crate) fn dtype(&mut self, at: &ast::Expr) -> Result<DType> {
        match self.value(at)? {
            Value::DType(dtype) => Ok(dtype),
            Value::Handle(_) => Ok(DType::HANDLE),
            Value::Str(text) => names::with_bits(&text).parse().map_err(|error| {
                if let Some(reason) = crate::left_out::reason(&text) {
                    return self.fail(at, format!("the dtype \"{text}\" is left out: {reason}"));
                }
                let types = names::known().filter(|name| names::dtype(name).is_some());
                let meant = names::meant(&text).filter(|meant| names::dtype(meant).is_some());
                let near = meant.or_else(|| crate::error::nearest(&text, types));
                let hint = near.map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default();
                self.fail(at, format!("{error}{hint}"))
            }),
            other => {
                let message = format!("expected a type such as \"float32\", found {}", other.describe());
                Err(self.fail(at, message))
            }
        }
    }

    fn call_extern(&mut self, name: &str, call: &ast::ExprCall) -> Result<Expr> {
        let path = format!("T.{name}");
        let [dtype, callee, rest @ ..] = &*call.arguments.args else {
            return Err(self.fail(call, format!("{path} takes (dtype, name, arguments...)")));
        };
        if let Some(keyword) = call.arguments.keywords.first() {
            return Err(self.fail(keyword, format!("{path} takes no keywords")));
        }
        let dtype = match self.value(dtype)? {
            // A call for its effect.
            Value::Str(text) if matches!(&*text, "void" | "") => DType::HANDLE,
            _ => self.dtype(dtype)?,
        };
        let callee = self.string(callee)?;
        let args = rest.iter().map(|arg| self.expr(arg)).collect::<Result<_>>()?;
        let callee = Callee::Extern { name: callee, pure: name == "call_pure_extern" };
        Ok(Expr::new(ExprKind::Call { callee, args }, dtype))
    }

    /// A function of this module.
    fn call_global(&mut self, name: &str, call: &ast::ExprCall) -> Result<Value> {
        let Some(Signature { ret, arity, unsaid }) = self.signatures.get(name).copied() else {
            let known: Vec<&str> = self.signatures.keys().map(String::as_str).collect();
            let hint = match crate::error::nearest(name, known.iter().copied()) {
                Some(near) => format!("; did you mean {near}?"),
                None => format!("; it has {}", known.join(", ")),
            };
            return Err(self.fail(&*call.func, format!("this module has no function {name}{hint}")));
        };
        if !call.arguments.keywords.is_empty() || call.arguments.args.len() != arity {
            let found = call.arguments.args.len();
            let message = format!("{name} takes {arity} arguments by position, found {found}");
            return Err(self.fail(call, message));
        }
        if unsaid {
            let message = format!(
                "{name} returns a value and does not say of which type; write -> T.int32, or what it is, behind its \
                 parameters"
            );
            return Err(self.fail(&*call.func, message));
        }
        let mut args = Vec::new();
        for arg in &call.arguments.args {
            args.push(match self.value(arg)? {
                // A buffer is passed as the pointer to its data.
                Value::Buffer(buffer) => buffer.data.expr(),
                value => self.lower(value, arg)?,
            });
        }
        let callee = Callee::Global(name.into());
        Ok(Value::Expr(Expr::new(ExprKind::Call { callee, args }, ret.unwrap_or(DType::HANDLE))))
    }

    fn call_method(&mut self, method: &ast::ExprAttribute, call: &ast::ExprCall) -> Result<Value> {
        let owner = self.value(&method.value)?;
        if let (Value::Expr(value), "astype") = (&owner, method.attr.id.as_str()) {
            let [dtype] = self.bind(call, "astype", ["dtype"], 1)?;
            let dtype = self.required(dtype)?;
            let dtype = self.dtype(dtype)?;
            return Ok(Value::Expr(self.cast_to(value.clone(), dtype, call)?));
        }
        let Value::Buffer(buffer) = owner else {
            let message = format!("{} has no function {}", owner.describe(), method.attr.id);
            return Err(self.fail(&method.attr, message));
        };
        match method.attr.id.as_str() {
            "vload" => {
                let [begin, dtype, predicate] =
                    self.bind(call, "vload", ["begin", "dtype", "predicate"], 1)?;
                let begin = self.required(begin)?;
                let dtype = dtype.map(|dtype| self.dtype(dtype)).transpose()?;
                let indices = self.vector_indices(&buffer, begin, dtype)?;
                let predicate = predicate.map(|predicate| self.expr(predicate)).transpose()?;
                let load = Expr::load(&buffer, indices);
                let ExprKind::Load { buffer, indices, .. } = load.kind.clone() else { return Err(Failed) };
                let kind = ExprKind::Load { buffer, indices, predicate };
                Ok(Value::Expr(Expr::new(kind, load.dtype)))
            }
            "view" | "vstore" => {
                let message = format!("{}(...) stands alone as a statement", method.attr.id);
                Err(self.fail(call, message))
            }
            other => Err(self.fail(
                &method.attr,
                format!("buffers have no function {other} here; expected vload, vstore or view"),
            )),
        }
    }

    /// Indices in a list, of which the last is widened to the lanes of a type.
    pub(crate) fn vector_indices(
        &mut self,
        buffer: &Buffer,
        begin: &ast::Expr,
        dtype: Option<DType>,
    ) -> Result<Vec<Expr>> {
        let items = match begin {
            ast::Expr::List(list) => &list.elts,
            ast::Expr::Tuple(tuple) => &tuple.elts,
            other => return Err(self.fail(other, "expected a list of indices")),
        };
        if items.len() != buffer.shape.len() {
            let message =
                format!("{} has {} axes, found {} indices", buffer.name, buffer.shape.len(), items.len());
            return Err(self.fail(begin, message));
        }
        let mut indices: Vec<Expr> = items.iter().map(|item| self.index(item)).collect::<Result<_>>()?;
        let lanes = dtype.map_or(1, |dtype| dtype.lanes / buffer.dtype.lanes.max(1));
        if let Some(last) = indices.last_mut()
            && lanes > 1
            && last.dtype.is_scalar()
        {
            let one = Expr::int(1, last.dtype);
            *last = last.clone().ramp(one, lanes).with_span(last.span);
        }
        Ok(indices)
    }

    /// `T.target({...})` or `T.target("name")`.
    pub(crate) fn target(&mut self, call: &ast::ExprCall) -> Result<Target> {
        let [config, host] = self.bind(call, "T.target", ["target_config", "host"], 1)?;
        let config = self.required(config)?;
        let mut json = self.json(config)?;
        if let serde_json::Value::String(kind) = &json {
            json = serde_json::json!({ "kind": kind });
        }
        if let (Some(host), Some(object)) = (host, json.as_object_mut()) {
            let mut host_json = match host {
                ast::Expr::Call(call) if self.path(&call.func).as_deref() == Some("T.target") => {
                    self.target(call)?.to_json()
                }
                other => self.json(other)?,
            };
            if let serde_json::Value::String(kind) = &host_json {
                host_json = serde_json::json!({ "kind": kind });
            }
            object.insert("host".to_owned(), host_json);
        }
        Target::from_canonical_json(&json).map_err(|why| self.fail(config, why))
    }
}

fn is_dtype(keyword: &ast::Keyword) -> bool {
    keyword.arg.as_ref().is_some_and(|name| name.id == "dtype")
}

fn binary_name(name: &str) -> Option<BinaryOp> {
    Some(match name {
        "Add" => BinaryOp::Add,
        "Sub" => BinaryOp::Sub,
        "Mul" => BinaryOp::Mul,
        "Div" | "truncdiv" => BinaryOp::Div,
        "Mod" | "truncmod" => BinaryOp::Mod,
        "FloorDiv" | "floordiv" => BinaryOp::FloorDiv,
        "FloorMod" | "floormod" => BinaryOp::FloorMod,
        "Min" | "min" => BinaryOp::Min,
        "Max" | "max" => BinaryOp::Max,
        _ => return None,
    })
}

fn compare_name(name: &str) -> Option<CompareOp> {
    Some(match name {
        "EQ" => CompareOp::Eq,
        "NE" => CompareOp::Ne,
        "LT" => CompareOp::Lt,
        "LE" => CompareOp::Le,
        "GT" => CompareOp::Gt,
        "GE" => CompareOp::Ge,
        _ => return None,
    })
}

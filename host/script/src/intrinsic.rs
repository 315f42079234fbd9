//! Builtins of TVM that are not one op by one name: halves of vectors, masked access, intrinsics
//! called by their full name or through the namespace of a device, reducers.

use std::sync::Arc;

use chipdock_ir::op::Threads;
use chipdock_ir::{Buffer, DType, Expr, ExprKind, Op, Reducer, Stmt, Var};
use rustpython_ruff_python_ast as ast;

use crate::parser::{Failed, Parser, Result};
use crate::value::Value;
use crate::{left_out, names};

/// Returns the op of a builtin that TVM keeps in the namespaces of devices.
fn device_op(name: &str) -> Option<Op> {
    Op::all_where(|op| op.device_name == Some(name)).next()
}

impl Parser<'_> {
    /// Reads `T.<namespace>.<name>(…)`, where the name has an op, whatever the namespace.
    pub(crate) fn device_call(&mut self, path: &str, call: &ast::ExprCall) -> Result<Expr> {
        let name = path.rsplit('.').next().unwrap_or_default();
        let known = path.split('.').count() == 3 && !path.starts_with("T.axis.");
        let Some(op) = device_op(name).filter(|_| known) else {
            let message = self.unknown_path(path);
            return Err(self.fail(&*call.func, message));
        };
        if op.info().threads != Threads::Shuffle {
            return self.call_op(op, path, call);
        }
        // The size of the warp is not stated: a group is at most one warp.
        let [mask, value, lane, width] = self.bind(call, path, ["mask", "var", "lane", "width"], 4)?;
        let args = [mask, value, lane, width, width];
        let args: Option<Box<[ast::Expr]>> = args.into_iter().map(Option::<&ast::Expr>::cloned).collect();
        let call = with_args(call, args.ok_or(Failed)?);
        self.call_op(op, path, &call)
    }

    /// `T.call_intrin("float32", "tirx.exp", x)`: any builtin by its full name.
    pub(crate) fn call_intrin(&mut self, call: &ast::ExprCall) -> Result<Value> {
        let [dtype_at, name_at, rest @ ..] = &*call.arguments.args else {
            return Err(self.fail(call, "T.call_intrin takes (dtype, name, arguments...)"));
        };
        if let Some(keyword) = call.arguments.keywords.first() {
            return Err(self.fail(keyword, "T.call_intrin takes no keywords here"));
        }
        let full = self.string(name_at)?;
        let name =
            ["tirx.", "prim.", "tir."].iter().find_map(|space| full.strip_prefix(space)).unwrap_or(&full);
        let path = format!("T.{name}");
        let typed_vector = matches!(name, "vectorlow" | "vectorhigh" | "vectorcombine" | "masked_load");
        let op = names::op(name);
        if op.is_none() && !typed_vector {
            let message = match left_out::reason(name) {
                Some(reason) => format!("{full} is left out: {reason}"),
                None => format!("{full} is no intrinsic that is known here"),
            };
            return Err(self.fail(name_at, message));
        }
        let mut args: Vec<ast::Expr> = rest.to_vec();
        let type_place = op.map_or(Some(0), |op| op.info().form.type_place(args.len()));
        if let Some(place) = type_place {
            args.insert(place, dtype_at.clone());
        }
        let inner = with_args(call, args.into());
        let value = self.call_path(&path, &inner)?;
        let dtype = match self.value(dtype_at)? {
            // Calls for their effect.
            Value::Str(text) if &*text == "void" => DType::HANDLE,
            _ => self.dtype(dtype_at)?,
        };
        match value {
            Value::Expr(expr) if expr.dtype == dtype => Ok(Value::Expr(expr)),
            Value::Expr(expr) => {
                let message = format!("{full} of these arguments gives {}, not {dtype}", expr.dtype);
                Err(self.fail(dtype_at, message))
            }
            _ => Err(Failed),
        }
    }

    /// `T.vectorlow("float32x4", v)`, `T.vectorhigh`, `T.vectorcombine("float32x8", a, b)`: lanes
    /// picked.
    pub(crate) fn vector_part(&mut self, name: &str, path: &str, call: &ast::ExprCall) -> Result<Expr> {
        let (dtype_at, vectors_at) = if name == "vectorcombine" {
            let [dtype, a, b] = self.bind(call, path, ["dtype", "vec1", "vec2"], 3)?;
            (self.required(dtype)?, vec![self.required(a)?, self.required(b)?])
        } else {
            let [dtype, vector] = self.bind(call, path, ["dtype", "vec"], 2)?;
            (self.required(dtype)?, vec![self.required(vector)?])
        };
        let dtype = self.dtype(dtype_at)?;
        let vectors: Vec<Expr> = vectors_at.iter().map(|at| self.expr(at)).collect::<Result<_>>()?;
        let first = vectors.first().map_or(DType::HANDLE, |vector| vector.dtype);
        let total: usize = vectors.iter().map(|vector| usize::from(vector.dtype.lanes)).sum();
        let picked = if name == "vectorcombine" { total } else { total / 2 };
        let start = if name == "vectorhigh" { picked } else { 0 };
        let whole = name == "vectorcombine" || total.is_multiple_of(2);
        let fits = !first.is_handle() && whole && vectors.iter().all(|vector| vector.dtype == first);
        let result =
            u16::try_from(picked).ok().filter(|lanes| *lanes > 0).map(|n| first.scalar().with_lanes(n));
        match result.filter(|result| fits && *result == dtype) {
            Some(result) => {
                let indices = (start..start + picked).filter_map(|lane| u16::try_from(lane).ok()).collect();
                Ok(Expr::new(ExprKind::Shuffle { vectors, indices }, result))
            }
            None => {
                let found: Vec<String> = vectors.iter().map(|vector| vector.dtype.to_string()).collect();
                let wanted = match name {
                    "vectorcombine" => "two vectors of one type, and the type of both together",
                    _ => "a vector of an even number of lanes, and the type of half of it",
                };
                let message = format!("{path} takes {wanted}; found {} for {dtype}", found.join(" and "));
                Err(self.fail(call, message))
            }
        }
    }

    /// `T.masked_load("float32x4", A, indices…, mask)`
    pub(crate) fn masked_load(&mut self, call: &ast::ExprCall) -> Result<Expr> {
        let [dtype_at, buffer_at, rest @ ..] = &*call.arguments.args else {
            return Err(self.fail(call, "T.masked_load takes (dtype, buffer, indices..., mask)"));
        };
        let dtype = self.dtype(dtype_at)?;
        let (buffer, indices, mask) = self.masked(call, buffer_at, rest)?;
        let load = Expr::load(&buffer, indices);
        if load.dtype != dtype {
            let message = format!("the index gives {}, not {dtype}", load.dtype);
            return Err(self.fail(dtype_at, message));
        }
        let ExprKind::Load { buffer, indices, .. } = load.kind.clone() else { return Err(Failed) };
        Ok(Expr::new(ExprKind::Load { buffer, indices, predicate: Some(mask) }, dtype))
    }

    /// `T.masked_store(A, value, indices…, mask)`
    pub(crate) fn masked_store(&mut self, call: &ast::ExprCall, out: &mut Vec<Stmt>) -> Result<()> {
        let [buffer_at, value_at, rest @ ..] = &*call.arguments.args else {
            return Err(self.fail(call, "T.masked_store takes (buffer, value, indices..., mask)"));
        };
        let value = self.value(value_at)?;
        let (buffer, indices, mask) = self.masked(call, buffer_at, rest)?;
        self.store(&buffer, indices, value, Some(mask), (value_at, call), out)
    }

    fn masked(
        &mut self,
        call: &ast::ExprCall,
        buffer_at: &ast::Expr,
        rest: &[ast::Expr],
    ) -> Result<(Buffer, Vec<Expr>, Expr)> {
        if let Some(keyword) = call.arguments.keywords.first() {
            return Err(self.fail(keyword, "masked access takes no keywords"));
        }
        let Value::Buffer(buffer) = self.value(buffer_at)? else {
            return Err(self.fail(buffer_at, "expected a buffer"));
        };
        let Some((mask_at, indices_at)) = rest.split_last() else {
            return Err(self.fail(call, "expected indices and a mask behind the buffer"));
        };
        if indices_at.len() != buffer.shape.len() {
            let (found, axes) = (indices_at.len(), buffer.shape.len());
            let message = format!("{} has {axes} axes, found {found} indices and a mask", buffer.name);
            return Err(self.fail(call, message));
        }
        let indices = indices_at.iter().map(|at| self.index(at)).collect::<Result<Vec<_>>>()?;
        let mask = self.expr(mask_at)?;
        if !mask.dtype.is_bool() {
            return Err(self.fail(mask_at, format!("expected booleans as a mask, found {}", mask.dtype)));
        }
        Ok((buffer, indices, mask))
    }

    /// `T.comm_reducer(lambda x0, y0: x0 + y0, [T.float32(0.0)])`
    pub(crate) fn reducer(&mut self, call: &ast::ExprCall) -> Result<Reducer> {
        const TAKES: &str = "expected a lambda of two parameters per value, as lambda x, y: x + y";
        let [combiner, identity] = self.bind(call, "T.comm_reducer", ["combiner", "identity"], 2)?;
        let (combiner, identity_at) = (self.required(combiner)?, self.required(identity)?);
        let items = match identity_at {
            ast::Expr::List(list) => &list.elts,
            ast::Expr::Tuple(tuple) => &tuple.elts,
            other => return Err(self.fail(other, "expected a list of constants, one per value")),
        };
        let identity: Vec<Expr> = items.iter().map(|item| self.expr(item)).collect::<Result<_>>()?;
        let ast::Expr::Lambda(lambda) = combiner else { return Err(self.fail(combiner, TAKES)) };
        let names: Vec<&str> = match &lambda.parameters {
            Some(parameters) => parameters.iter().map(|param| param.name().as_str()).collect(),
            None => Vec::new(),
        };
        if names.len() != 2 * identity.len() || identity.is_empty() {
            let message = format!("{TAKES}; found {} parameters for {} values", names.len(), identity.len());
            return Err(self.fail(combiner, message));
        }
        self.scopes.push();
        let vars: Vec<Var> = names
            .iter()
            .zip(identity.iter().chain(&identity))
            .map(|(name, value)| Var::new(*name, value.dtype))
            .collect();
        for (name, var) in names.iter().zip(&vars) {
            self.scopes.define(*name, Value::Expr(var.expr()));
        }
        let result = self.reducer_result(&lambda.body, &identity);
        self.scopes.pop();
        let (lhs, rhs) = vars.split_at(identity.len());
        Ok(Reducer { lhs: lhs.to_vec(), rhs: rhs.to_vec(), result: result?, identity })
    }

    fn reducer_result(&mut self, body: &ast::Expr, identity: &[Expr]) -> Result<Vec<Expr>> {
        let items = match body {
            ast::Expr::Tuple(tuple) => tuple.elts.as_slice(),
            one => std::slice::from_ref(one),
        };
        if items.len() != identity.len() {
            let message = format!("expected {} results, found {}", identity.len(), items.len());
            return Err(self.fail(body, message));
        }
        let mut result = Vec::new();
        for (item, identity) in items.iter().zip(identity) {
            let value = self.value(item)?;
            let value = self.lower_like(value, identity.dtype, item)?;
            if value.dtype != identity.dtype {
                let message =
                    format!("expected {}, as the identity is, found {}", identity.dtype, value.dtype);
                return Err(self.fail(item, message));
            }
            result.push(value);
        }
        Ok(result)
    }

    pub(crate) fn reducer_value(&mut self, call: &ast::ExprCall) -> Result<Value> {
        self.reducer(call).map(|reducer| Value::Reducer(Arc::new(reducer)))
    }
}

/// Returns the call with other arguments, all by position.
fn with_args(call: &ast::ExprCall, args: Box<[ast::Expr]>) -> ast::ExprCall {
    let mut call = call.clone();
    call.arguments.args = args;
    call.arguments.keywords = Box::default();
    call
}

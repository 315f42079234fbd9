//! Loops: `range`, `T.serial` and its like, `T.grid`, `T.thread_binding`.

use std::sync::Arc;

use chipdock_ir::{AttrValue, Attrs, BinaryOp, DType, Expr, ForKind, Stmt, StmtKind, ThreadAxis, Var};
use rustpython_ruff_python_ast as ast;
use rustpython_ruff_text_size::Ranged;

use crate::parser::{Failed, Parser, Result};
use crate::types::{Linear, convert, difference};
use crate::value::Value;

/// Names of loops, and names of several of them.
type LoopNames = (Vec<String>, Vec<(String, std::ops::Range<usize>)>);

/// Range of a loop.
struct Domain {
    min: Expr,
    extent: Expr,
    step: Option<Expr>,
    kind: ForKind,
    annotations: Attrs,
}

const SERIAL: [&str; 6] = ["start", "stop", "annotations", "step", "unroll", "dtype"];
const THREAD: [&str; 4] = ["start", "stop", "thread", "annotations"];

impl Parser<'_> {
    pub(crate) fn for_loop(&mut self, node: &ast::StmtFor, out: &mut Vec<Stmt>) -> Result<()> {
        if let Some(first) = node.orelse.first() {
            return Err(self.fail(first, "else of a loop is not supported"));
        }
        let domains = match self.domains(&node.iter) {
            Ok(domains) => domains,
            Err(failed) => {
                self.unknown_loop(node);
                return Err(failed);
            }
        };
        let (names, groups) = self.loop_names(&node.target, domains.len())?;
        self.scopes.push();
        let known = self.function.loops.len();
        let mut vars = Vec::new();
        for (name, domain) in names.iter().zip(&domains) {
            let var = Var::new(name.as_str(), domain.min.dtype);
            self.scopes.define(name.as_str(), Value::Expr(var.expr()));
            self.function.loops.push((var.clone(), domain.min.clone(), domain.extent.clone()));
            vars.push(var);
        }
        for (name, loops) in groups {
            let items = vars[loops].iter().map(|var| Value::Expr(var.expr())).collect();
            self.scopes.define(name, Value::List(Arc::new(items)));
        }
        let body = self.deep_body(&node.body, domains.len(), node);
        self.function.loops.truncate(known);
        self.scopes.pop();
        let span = self.span(node);
        let nest = vars.into_iter().zip(domains).rev().fold(body?, |body, (var, domain)| {
            let Domain { min, extent, step, kind, annotations } = domain;
            Stmt::new(StmtKind::For { var, min, extent, kind, step, annotations, body }).with_span(span)
        });
        out.push(nest);
        Ok(())
    }

    fn domains(&mut self, iter: &ast::Expr) -> Result<Vec<Domain>> {
        let ast::Expr::Call(call) = iter else {
            return Err(self.fail(iter, LOOPS));
        };
        let is_range = matches!(&*call.func, ast::Expr::Name(name) if name.id == "range");
        let path = if is_range { Some("range".to_owned()) } else { self.path(&call.func) };
        match path.as_deref() {
            Some("T.grid") => self.grid(call),
            Some("T.thread_binding") => Ok(vec![self.thread_binding(call)?]),
            Some(path @ ("range" | "T.serial" | "T.parallel" | "T.vectorized" | "T.unroll")) => {
                Ok(vec![self.serial(path, call)?])
            }
            Some(path) => {
                let message = if self.is_full() { String::new() } else { unknown_loop(path) };
                Err(self.fail(&*call.func, message))
            }
            None => {
                let message = match &*call.func {
                    ast::Expr::Name(name) if !self.is_full() => unknown_loop(&name.id),
                    _ => LOOPS.to_owned(),
                };
                Err(self.fail(&*call.func, message))
            }
        }
    }

    /// Reads the body of a loop whose domain failed, for the errors of the body.
    fn unknown_loop(&mut self, node: &ast::StmtFor) {
        self.scopes.push();
        let targets = match &*node.target {
            ast::Expr::Tuple(tuple) => tuple.elts.as_slice(),
            other => std::slice::from_ref(other),
        };
        for target in targets {
            if let ast::Expr::Name(name) = target {
                self.scopes.define(name.id.as_str(), Value::Failed);
            }
        }
        self.body(&node.body);
        self.scopes.pop();
    }

    /// A body below as many loops.
    fn deep_body(&mut self, stmts: &[ast::Stmt], loops: usize, at: &ast::StmtFor) -> Result<Stmt> {
        if loops <= 1 {
            return Ok(self.body(stmts));
        }
        self.nested(at.range(), |parser| parser.deep_body(stmts, loops - 1, at))
    }

    /// Returns the names of `count` loops; and names that stand for several of them, `ax` and
    /// `*ax`, of which each loop has a numbered one.
    fn loop_names(&mut self, target: &ast::Expr, count: usize) -> Result<LoopNames> {
        let targets = match target {
            ast::Expr::Tuple(tuple) => tuple.elts.as_slice(),
            ast::Expr::List(list) => list.elts.as_slice(),
            other => std::slice::from_ref(other),
        };
        let alone = count > 1 && target.is_name_expr();
        let n_groups = targets.iter().filter(|target| alone || target.is_starred_expr()).count();
        let fits = if n_groups == 0 { targets.len() == count } else { targets.len() <= count + n_groups };
        if !fits || n_groups > 1 {
            let message = format!("{} names for {count} loops; expected as many", targets.len());
            return Err(self.fail(target, message));
        }
        let (mut names, mut groups) = (Vec::new(), Vec::new());
        for target in targets {
            let (target, is_group) = match target {
                ast::Expr::Starred(starred) => (&*starred.value, true),
                target => (target, alone),
            };
            let ast::Expr::Name(name) = target else {
                return Err(self.fail(target, "expected a name for the loop variable"));
            };
            if is_group {
                let loops = names.len()..names.len() + (count + 1 - targets.len());
                names.extend((0..loops.len()).map(|index| format!("{}_{index}", name.id)));
                groups.push((name.id.to_string(), loops));
            } else {
                names.push(name.id.to_string());
            }
        }
        Ok((names, groups))
    }

    fn grid(&mut self, call: &ast::ExprCall) -> Result<Vec<Domain>> {
        if let Some(keyword) = call.arguments.keywords.first() {
            return Err(self.fail(keyword, "T.grid takes extents by position, and nothing else here"));
        }
        if call.arguments.args.is_empty() {
            return Err(self.fail(call, "T.grid takes the extents of its loops"));
        }
        let mut domains = Vec::new();
        for arg in &call.arguments.args {
            let (min, extent) = match arg {
                ast::Expr::Tuple(tuple) => {
                    let [start, extent] = tuple.elts.as_slice() else {
                        return Err(self.fail(arg, "expected an extent, or (start, extent)"));
                    };
                    let (start, extent) = (self.index(start)?, self.index(extent)?);
                    self.unify(start, extent, arg)?
                }
                extent => {
                    let extent = self.index(extent)?;
                    (Expr::int(0, extent.dtype).with_span(extent.span), extent)
                }
            };
            let annotations = Attrs::new();
            domains.push(Domain { min, extent, step: None, kind: ForKind::Serial, annotations });
        }
        Ok(domains)
    }

    fn serial(&mut self, path: &str, call: &ast::ExprCall) -> Result<Domain> {
        let kind = match path {
            "T.parallel" => ForKind::Parallel,
            "T.vectorized" => ForKind::Vectorized,
            "T.unroll" => ForKind::Unrolled,
            _ => ForKind::Serial,
        };
        let (start, stop, step, notes, unroll, dtype) = if path == "range" {
            let [start, stop, step, annotations] =
                self.bind(call, path, ["start", "stop", "step", "annotations"], 1)?;
            (start, stop, step, annotations, None, None)
        } else {
            let [start, stop, annotations, step, unroll, dtype] = self.bind(call, path, SERIAL, 1)?;
            (start, stop, step, annotations, unroll, dtype)
        };
        let dtype = dtype.map(|dtype| self.dtype(dtype)).transpose()?;
        let (min, stop) = self.start_stop(start, stop, dtype, call)?;
        let mut annotations = notes.map_or(Ok(Attrs::new()), |notes| self.attrs(notes))?;
        if let Some(unroll) = unroll {
            self.unroll_note(unroll, &mut annotations)?;
        }
        let (extent, step) = match step {
            None => (difference(&stop, &min), None),
            Some(at) => {
                let step = self.index(at)?;
                let step = convert(&step, min.dtype);
                if step.as_int().is_some_and(|step| step < 1) || step.dtype != min.dtype {
                    return Err(self.fail(at, "expected a step of 1 or more, of the type of the loop"));
                }
                let extent = count(&stop, &min, &step);
                (extent, (step.as_int() != Some(1)).then_some(step))
            }
        };
        Ok(Domain { min, extent, step, kind, annotations })
    }

    /// Start and stop of one type; a single argument is the stop.
    fn start_stop(
        &mut self,
        start: Option<&ast::Expr>,
        stop: Option<&ast::Expr>,
        dtype: Option<DType>,
        call: &ast::ExprCall,
    ) -> Result<(Expr, Expr)> {
        let start = self.required(start)?;
        let (start, stop) = match stop {
            None => {
                let stop = self.index(start)?;
                (Expr::int(0, stop.dtype).with_span(stop.span), stop)
            }
            Some(stop) => (self.index(start)?, self.index(stop)?),
        };
        let (start, stop) = self.unify(start, stop, call)?;
        if !start.dtype.is_scalar() {
            return Err(self.fail(call, "the bounds of a loop are scalars"));
        }
        Ok(match dtype {
            Some(dtype) if dtype.is_integer() => (convert(&start, dtype), convert(&stop, dtype)),
            _ => (start, stop),
        })
    }

    fn unroll_note(&mut self, at: &ast::Expr, annotations: &mut Attrs) -> Result<()> {
        let (name, value) = match self.value(at)? {
            Value::None => return Ok(()),
            Value::Bool(true) => ("pragma_unroll", AttrValue::Bool(true)),
            Value::Bool(false) => ("disable_unroll", AttrValue::Bool(true)),
            Value::Int(times @ 1..=0xffff) => ("pragma_unroll", AttrValue::Int(times as i64)),
            other => {
                let message =
                    format!("expected True, False or a number of times, found {}", other.describe());
                return Err(self.fail(at, message));
            }
        };
        annotations.insert(name.into(), value);
        Ok(())
    }

    /// Reports an unknown axis, with the nearest known one.
    pub(crate) fn unknown_axis(&mut self, at: &ast::Expr, why: String) -> Failed {
        let found = match at {
            ast::Expr::StringLiteral(literal) => literal.value.to_str(),
            _ => "",
        };
        let near = crate::error::nearest(found, ThreadAxis::ALL.iter().map(|(_, name)| *name));
        let hint = near.map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default();
        self.fail(at, format!("{why}{hint}"))
    }

    fn thread_binding(&mut self, call: &ast::ExprCall) -> Result<Domain> {
        let [start, stop, thread, notes] = self.bind(call, "T.thread_binding", THREAD, 1)?;
        // The axis may stand where the stop would.
        let (stop, thread) = match (stop, thread) {
            (Some(stop), None) if stop.is_string_literal_expr() => (None, Some(stop)),
            other => other,
        };
        let Some(thread) = thread else {
            return Err(self.fail(call, "T.thread_binding needs thread=\"threadIdx.x\" or another axis"));
        };
        let axis = match self.string(thread)?.parse() {
            Ok(axis) => axis,
            Err(why) => return Err(self.unknown_axis(thread, why)),
        };
        let (min, stop) = self.start_stop(start, stop, None, call)?;
        let annotations = notes.map_or(Ok(Attrs::new()), |notes| self.attrs(notes))?;
        let extent = difference(&stop, &min);
        Ok(Domain { min, extent, step: None, kind: ForKind::ThreadBinding(axis), annotations })
    }
}

/// Returns the message for `for … in path(…)`, where `path` is no loop.
fn unknown_loop(path: &str) -> String {
    let known = ["T.serial", "T.parallel", "T.vectorized", "T.unroll", "T.grid", "T.thread_binding", "range"];
    match crate::error::nearest(path, known) {
        Some(near) => format!("{path} is no loop; did you mean {near}?"),
        None => format!("{path} is no loop; {LOOPS}"),
    }
}

const LOOPS: &str =
    "expected range, T.serial, T.parallel, T.vectorized, T.unroll, T.grid or T.thread_binding behind in";

/// Returns the number of steps between two bounds, rounded up.
fn count(stop: &Expr, start: &Expr, step: &Expr) -> Expr {
    let distance = difference(stop, start);
    if let chipdock_ir::ExprKind::Binary(BinaryOp::Mul, count, by) = &distance.kind
        && by == step
    {
        return count.clone();
    }
    if let Some(by) = step.as_int() {
        if let Some(distance) = distance.as_int() {
            let count = distance.saturating_add(by - 1).div_euclid(by);
            return Expr::int(count, distance_type(stop)).with_span(stop.span);
        }
        let whole = Linear::difference(stop, start).and_then(|linear| linear.divided(by)?.simple());
        if let Some(count) = whole {
            return count.with_span(stop.span);
        }
    }
    let one = Expr::int(1, step.dtype);
    let rounded = Expr::binary(BinaryOp::Sub, &distance + step, one);
    Expr::binary(BinaryOp::FloorDiv, rounded, step.clone()).with_span(stop.span)
}

fn distance_type(stop: &Expr) -> DType {
    stop.dtype.scalar()
}

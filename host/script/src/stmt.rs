//! Statements other than assignments and loops.

use std::sync::Arc;

use chipdock_ir::{AttrNode, Buffer, Expr, ExprKind, Stmt, StmtKind, ThreadAxis, Var};
use rustpython_ruff_python_ast as ast;
use rustpython_ruff_text_size::{Ranged, TextRange};

use crate::parser::{Failed, Parser, Result};
use crate::value::Value;

/// Effect of a statement on those after it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    /// The statement is complete.
    Next,
    /// The statement took the statements after it as its body.
    Rest,
}

impl Parser<'_> {
    /// Reads statements one after the other, in the open scope.
    pub(crate) fn body(&mut self, stmts: &[ast::Stmt]) -> Stmt {
        let mut out = Vec::new();
        for (index, stmt) in stmts.iter().enumerate() {
            let rest = &stmts[index + 1..];
            match self.nested(stmt.range(), |parser| parser.stmt(stmt, rest, &mut out)) {
                Ok(Flow::Next) => {}
                Ok(Flow::Rest) => break,
                Err(_) => self.forget(stmt),
            }
        }
        let span = stmts.first().map(|stmt| self.span(stmt)).unwrap_or_default();
        let body = Stmt::seq(out);
        if matches!(body.kind, StmtKind::Seq(_)) { body.with_span(span) } else { body }
    }

    /// Reads statements in a scope of their own.
    pub(crate) fn scoped_body(&mut self, stmts: &[ast::Stmt]) -> Stmt {
        self.scopes.push();
        let body = self.body(stmts);
        self.scopes.pop();
        body
    }

    /// Marks the names that a failed statement would have defined as failed.
    fn forget(&mut self, stmt: &ast::Stmt) {
        let targets: Vec<&ast::Expr> = match stmt {
            ast::Stmt::Assign(assign) => assign.targets.iter().collect(),
            ast::Stmt::AnnAssign(assign) => vec![&assign.target],
            _ => return,
        };
        for target in targets {
            let names = match target {
                ast::Expr::Tuple(tuple) => tuple.elts.as_slice(),
                other => std::slice::from_ref(other),
            };
            for name in names {
                if let ast::Expr::Name(name) = name
                    && self.scopes.find(&name.id).is_none()
                {
                    self.scopes.define(name.id.as_str(), Value::Failed);
                }
            }
        }
    }

    pub(crate) fn emit_at(&self, kind: StmtKind, at: &impl Ranged, out: &mut Vec<Stmt>) {
        out.push(Stmt::new(kind).with_span(self.span(at)));
    }

    fn stmt(&mut self, stmt: &ast::Stmt, rest: &[ast::Stmt], out: &mut Vec<Stmt>) -> Result<Flow> {
        match stmt {
            ast::Stmt::Expr(expr) => return self.expr_stmt(&expr.value, rest, out),
            ast::Stmt::Assign(assign) => return self.assign(assign, rest, out),
            ast::Stmt::AnnAssign(assign) => self.ann_assign(assign, out)?,
            ast::Stmt::AugAssign(assign) => self.aug_assign(assign, out)?,
            ast::Stmt::For(for_loop) => self.for_loop(for_loop, out)?,
            ast::Stmt::While(while_loop) => self.while_loop(while_loop, out)?,
            ast::Stmt::If(choice) => self.if_stmt(choice, out)?,
            ast::Stmt::With(with) => self.with(with, out)?,
            ast::Stmt::Assert(assert) => self.assert(assert, out)?,
            ast::Stmt::Return(ret) => self.return_stmt(ret, out)?,
            ast::Stmt::Break(_) => self.emit_at(StmtKind::Break, stmt, out),
            ast::Stmt::Continue(_) => self.emit_at(StmtKind::Continue, stmt, out),
            ast::Stmt::Pass(_) => {}
            other => {
                let message = format!(
                    "{} is no part of TVMScript; expected an assignment, for, while, if, with, assert, return or a call \
                     of a T function",
                    statement_kind(other)
                );
                return Err(self.fail(other, message));
            }
        }
        Ok(Flow::Next)
    }

    fn while_loop(&mut self, node: &ast::StmtWhile, out: &mut Vec<Stmt>) -> Result<()> {
        if let Some(first) = node.orelse.first() {
            return Err(self.fail(first, "else of a loop is not supported"));
        }
        let condition = self.scalar_condition(&node.test)?;
        let body = self.scoped_body(&node.body);
        self.emit_at(StmtKind::While { condition, body }, node, out);
        Ok(())
    }

    fn scalar_condition(&mut self, at: &ast::Expr) -> Result<Expr> {
        let condition = self.expr(at)?;
        let condition = self.condition(condition, at)?;
        if condition.dtype.is_scalar() {
            return Ok(condition);
        }
        Err(self.fail(at, format!("expected one boolean, found {} of them", condition.dtype.lanes)))
    }

    fn if_stmt(&mut self, node: &ast::StmtIf, out: &mut Vec<Stmt>) -> Result<()> {
        self.branches(node.range(), &node.test, &node.body, &node.elif_else_clauses, out)
    }

    fn branches(
        &mut self,
        at: TextRange,
        test: &ast::Expr,
        then: &[ast::Stmt],
        clauses: &[ast::ElifElseClause],
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let condition = self.value(test)?;
        if let Value::Bool(known) = condition {
            // As in TVM: a choice on a Python value is made here, and opens no scope.
            if known {
                out.push(self.body(then));
                return Ok(());
            }
            return match clauses.split_first() {
                None => Ok(()),
                Some((clause, rest)) => match &clause.test {
                    None => {
                        out.push(self.body(&clause.body));
                        Ok(())
                    }
                    Some(test) => self.nested(clause.range(), |parser| {
                        parser.branches(clause.range(), test, &clause.body, rest, out)
                    }),
                },
            };
        }
        let condition = self.lower(condition, test)?;
        let condition = self.condition(condition, test)?;
        if !condition.dtype.is_scalar() {
            return Err(self.fail(test, "expected one boolean, found a vector of them"));
        }
        let then = self.scoped_body(then);
        let otherwise = match clauses.split_first() {
            None => None,
            Some((clause, rest)) => Some(match &clause.test {
                None => self.scoped_body(&clause.body),
                Some(test) => {
                    let mut inner = Vec::new();
                    self.scopes.push();
                    let read = self.nested(clause.range(), |parser| {
                        parser.branches(clause.range(), test, &clause.body, rest, &mut inner)
                    });
                    self.scopes.pop();
                    read?;
                    Stmt::seq(inner)
                }
            }),
        };
        let span = self.span(&at);
        out.push(Stmt::new(StmtKind::If { condition, then, otherwise }).with_span(span));
        Ok(())
    }

    fn assert(&mut self, node: &ast::StmtAssert, out: &mut Vec<Stmt>) -> Result<()> {
        let condition = self.scalar_condition(&node.test)?;
        let (kind, message) = match &node.msg {
            None => (Arc::from("RuntimeError"), vec![Expr::str("assertion failed")]),
            Some(message) => match self.value(message)? {
                Value::Str(text) => (Arc::from("RuntimeError"), vec![Expr::str(text)]),
                Value::List(parts) => self.assert_message(&parts, message)?,
                other => {
                    let found = other.describe();
                    let message_text =
                        format!("expected \"message\" or (\"ValueError\", [\"part\", ...]), found {found}");
                    return Err(self.fail(&**message, message_text));
                }
            },
        };
        self.emit_at(StmtKind::Assert { condition, kind, message }, node, out);
        Ok(())
    }

    fn assert_message(&mut self, parts: &[Value], at: &ast::Expr) -> Result<(Arc<str>, Vec<Expr>)> {
        let [Value::Str(kind), Value::List(parts)] = parts else {
            return Err(self.fail(at, "expected (\"ValueError\", [\"part\", ...])"));
        };
        let mut message = Vec::new();
        for part in parts.iter() {
            let part = self.lower(part.clone(), at)?;
            let text = matches!(part.kind, ExprKind::Str(_));
            if !text && !part.dtype.is_integer() {
                let found = part.dtype;
                let text = format!("a message is made of strings and integers, found {found}");
                return Err(self.fail(at, text));
            }
            message.push(part);
        }
        Ok((Arc::clone(kind), message))
    }

    fn return_stmt(&mut self, node: &ast::StmtReturn, out: &mut Vec<Stmt>) -> Result<()> {
        let value = match &node.value {
            None => None,
            Some(at) => {
                let value = self.value(at)?;
                let value = match self.function.ret {
                    Some(ret) => self.lower_like(value, ret, &**at)?,
                    None => self.lower(value, &**at)?,
                };
                if let Some(ret) = self.function.ret
                    && value.dtype != ret
                {
                    let message = format!("the function returns {ret}, found {}", value.dtype);
                    return Err(self.fail(&**at, message));
                }
                // Told by nothing else, as TVM tells it.
                if self.function.ret_unsaid && self.function.ret.is_none() {
                    self.function.ret = Some(value.dtype);
                }
                Some(value)
            }
        };
        self.emit_at(StmtKind::Return(value), node, out);
        Ok(())
    }

    /// A call, or a docstring, that stands alone.
    fn expr_stmt(&mut self, expr: &ast::Expr, rest: &[ast::Stmt], out: &mut Vec<Stmt>) -> Result<Flow> {
        match expr {
            ast::Expr::StringLiteral(_) | ast::Expr::EllipsisLiteral(_) => return Ok(Flow::Next),
            ast::Expr::Call(call) => {
                if let Some(path) = self.path(&call.func) {
                    match path.as_str() {
                        "T.launch_thread" => {
                            self.launch(None, call, rest, out)?;
                            return Ok(Flow::Rest);
                        }
                        "T.attr" => {
                            let notes = self.attr_notes(call)?;
                            let body = self.body(rest);
                            let body = self.wrap_attrs(notes, body, call)?;
                            out.push(body);
                            return Ok(Flow::Rest);
                        }
                        _ => {}
                    }
                    if self.block_call(&path, call)? || self.effect_call(&path, call, out)? {
                        return Ok(Flow::Next);
                    }
                } else if self.vstore(call, out)? {
                    return Ok(Flow::Next);
                }
            }
            _ => {}
        }
        let value = self.expr(expr)?;
        self.emit_at(StmtKind::Evaluate(value), expr, out);
        Ok(Flow::Next)
    }

    /// Calls that are statements; false for one that is not.
    fn effect_call(&mut self, path: &str, call: &ast::ExprCall, out: &mut Vec<Stmt>) -> Result<bool> {
        let kind = match path {
            "T.func_attr" => {
                let [attrs] = self.bind(call, path, ["attrs"], 1)?;
                let attrs = self.required(attrs)?;
                let attrs = self.attrs(attrs)?;
                self.function.attrs.extend(attrs);
                return Ok(true);
            }
            "T.evaluate" => {
                let [value] = self.bind(call, path, ["value"], 1)?;
                let value = self.required(value)?;
                // `T.evaluate(T.break_loop())` and its like are the statements that stand in them.
                if let ast::Expr::Call(inner) = value
                    && let Some(path) = self.path(&inner.func)
                    && matches!(&*path, "T.break_loop" | "T.continue_loop" | "T.masked_store")
                {
                    return self.effect_call(&path, inner, out);
                }
                StmtKind::Evaluate(self.expr(value)?)
            }
            "T.break_loop" | "T.continue_loop" => {
                let [] = self.bind(call, path, [], 0)?;
                if path == "T.break_loop" { StmtKind::Break } else { StmtKind::Continue }
            }
            "T.masked_store" => {
                self.masked_store(call, out)?;
                return Ok(true);
            }
            "T.bind" | "T.Bind" => {
                self.bind_call(None, path, call, out)?;
                return Ok(true);
            }
            "T.buffer_store" => {
                let [buffer, value, indices] = self.bind(call, path, ["buffer", "value", "indices"], 3)?;
                let (at, value_at) = (self.required(buffer)?, self.required(value)?);
                let indices = self.required(indices)?;
                let Value::Buffer(buffer) = self.value(at)? else {
                    return Err(self.fail(at, "expected a buffer"));
                };
                let indices = self.vector_indices(&buffer, indices, None)?;
                let value = self.value(value_at)?;
                self.store(&buffer, indices, value, None, (value_at, call), out)?;
                return Ok(true);
            }
            _ => return Ok(false),
        };
        self.emit_at(kind, call, out);
        Ok(true)
    }

    /// `A.vstore([i], value, predicate=p)`; false for another call.
    fn vstore(&mut self, call: &ast::ExprCall, out: &mut Vec<Stmt>) -> Result<bool> {
        let ast::Expr::Attribute(method) = &*call.func else { return Ok(false) };
        if method.attr.id.as_str() != "vstore" {
            return Ok(false);
        }
        let Value::Buffer(buffer) = self.value(&method.value)? else {
            return Err(self.fail(&*method.value, "expected a buffer before .vstore"));
        };
        let [begin, value, predicate] = self.bind(call, "vstore", ["begin", "value", "predicate"], 2)?;
        let (begin, value_at) = (self.required(begin)?, self.required(value)?);
        let value = self.expr(value_at)?;
        let indices = self.vector_indices(&buffer, begin, Some(value.dtype))?;
        let predicate = predicate.map(|predicate| self.expr(predicate)).transpose()?;
        self.store(&buffer, indices, Value::Expr(value), predicate, (value_at, call), out)?;
        Ok(true)
    }

    fn with(&mut self, node: &ast::StmtWith, out: &mut Vec<Stmt>) -> Result<()> {
        let Some((item, rest)) = node.items.split_first() else { return Ok(()) };
        self.scopes.push();
        let done = self.with_item(node, item, rest, out);
        self.scopes.pop();
        done
    }

    fn with_item(
        &mut self,
        node: &ast::StmtWith,
        item: &ast::WithItem,
        rest: &[ast::WithItem],
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let ast::Expr::Call(call) = &item.context_expr else {
            return Err(self.fail(&item.context_expr, "expected T.sblock, T.init, T.attr or T.launch_thread"));
        };
        let path = self.path(&call.func).unwrap_or_default();
        let name = match item.optional_vars.as_deref() {
            None => None,
            Some(ast::Expr::Name(name)) => Some(name),
            Some(other) => return Err(self.fail(other, "expected a name")),
        };
        let takes = matches!(path.as_str(), "T.sblock" | "T.block" | "T.init" | "T.attr");
        if name.is_some() && takes {
            return Err(self.fail(&item.context_expr, "this gives nothing to name"));
        }
        let inner = |parser: &mut Self| match rest.split_first() {
            None => Ok(parser.body(&node.body)),
            Some((next, rest)) => {
                let mut inner = Vec::new();
                parser.nested(next.range(), |parser| parser.with_item(node, next, rest, &mut inner))?;
                Ok(Stmt::seq(inner))
            }
        };
        match path.as_str() {
            "T.sblock" | "T.block" => self.sblock(call, inner, out),
            "T.init" => self.init(call, inner),
            "T.attr" => {
                let notes = self.attr_notes(call)?;
                let body = inner(self)?;
                let body = self.wrap_attrs(notes, body, call)?;
                out.push(body);
                Ok(())
            }
            "T.launch_thread" => {
                let (axis, extent) = self.launch_args(call)?;
                let var = Var::new(name.map_or("thread", |name| name.id.as_str()), extent.dtype);
                if let Some(name) = name {
                    self.scopes.define(name.id.as_str(), Value::Expr(var.expr()));
                }
                self.bind_env_thread(call, &var);
                let body = inner(self)?;
                self.emit_at(StmtKind::LaunchThread { var, axis, extent, body }, node, out);
                Ok(())
            }
            _ => {
                let wanted = "expected T.sblock(name), T.init(), T.attr(...) or T.launch_thread(axis, extent) behind with";
                let named = match &*call.func {
                    ast::Expr::Name(name) if self.names_below_t(&name.id) => {
                        format!("; did you mean T.{}?", name.id)
                    }
                    _ => String::new(),
                };
                Err(self.fail(&item.context_expr, format!("{wanted}{named}")))
            }
        }
    }

    /// `v = T.launch_thread("threadIdx.x", n)`: around the rest of the sequence.
    pub(crate) fn launch(
        &mut self,
        name: Option<&str>,
        call: &ast::ExprCall,
        rest: &[ast::Stmt],
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let (axis, extent) = self.launch_args(call)?;
        let var = Var::new(name.unwrap_or("thread"), extent.dtype);
        if let Some(name) = name {
            self.scopes.define(name, Value::Expr(var.expr()));
        }
        self.bind_env_thread(call, &var);
        let body = self.body(rest);
        self.emit_at(StmtKind::LaunchThread { var, axis, extent, body }, call, out);
        Ok(())
    }

    /// A name of `T.env_thread` means the launched axis from here on.
    fn bind_env_thread(&mut self, call: &ast::ExprCall, var: &Var) {
        if let Some(ast::Expr::Name(name)) = call.arguments.args.first()
            && matches!(self.scopes.find(&name.id), Some(Value::ThreadAxis(_)))
        {
            self.scopes.define(name.id.as_str(), Value::Expr(var.expr()));
        }
    }

    fn launch_args(&mut self, call: &ast::ExprCall) -> Result<(ThreadAxis, Expr)> {
        let [thread, extent] = self.bind(call, "T.launch_thread", ["thread", "extent"], 2)?;
        let (thread, extent) = (self.required(thread)?, self.required(extent)?);
        let axis = match self.value(thread)? {
            Value::ThreadAxis(axis) => axis,
            Value::Str(name) => name.parse().map_err(|why: String| self.unknown_axis(thread, why))?,
            other => {
                let message =
                    format!("expected a thread axis such as \"threadIdx.x\", found {}", other.describe());
                return Err(self.fail(thread, message));
            }
        };
        Ok((axis, self.index(extent)?))
    }

    /// The notes of `T.attr(node, key, value)` or `T.attr({key: value})`.
    fn attr_notes(&mut self, call: &ast::ExprCall) -> Result<Notes> {
        let [node, key, value] = self.bind(call, "T.attr", ["node", "attr_key", "value"], 1)?;
        let node = self.required(node)?;
        if let ast::Expr::Dict(dict) = node {
            let mut notes = Vec::new();
            for item in &dict.items {
                let Some(key) = &item.key else {
                    return Err(self.fail(dict, "unpacking with ** is not supported"));
                };
                notes.push((AttrNode::None, self.string(key)?, self.expr(&item.value)?));
            }
            return Ok(Notes { notes, late: None });
        }
        let (Some(key), Some(value)) = (key, value) else {
            return Err(self.fail(call, "T.attr takes (node, key, value) or ({key: value})"));
        };
        if let ast::Expr::Call(target) = node
            && self.path(&target.func).as_deref() == Some("T.target")
        {
            self.target(target)?;
            return Ok(Notes {
                notes: vec![(AttrNode::None, self.string(key)?, self.expr(value)?)],
                late: None,
            });
        }
        let about = match self.value(node)? {
            // No reader needs the subject of a note that is about no part of the function.
            Value::None | Value::Int(_) | Value::Float(_) | Value::Bool(_) | Value::Str(_) => AttrNode::None,
            Value::Expr(expr) if expr.as_int().is_some() => AttrNode::None,
            Value::Buffer(buffer) | Value::Scalar(buffer) => AttrNode::Buffer(buffer),
            Value::Reducer(reducer) => AttrNode::Reducer(reducer),
            Value::Expr(expr) if matches!(expr.kind, ExprKind::Var(_)) => match &expr.kind {
                ExprKind::Var(var) => AttrNode::Var(var.clone()),
                _ => AttrNode::None,
            },
            Value::Late(buffer) => {
                let note = (self.string(key)?, self.expr(value)?, self.span(call));
                self.function.late.entry(buffer.name.to_string()).or_default().push(note);
                return Ok(Notes { notes: Vec::new(), late: Some(Arc::clone(&buffer.name)) });
            }
            other => {
                let found = other.describe();
                let message = format!(
                    "expected a buffer, a variable, T.comm_reducer(...), T.target(...), a string or a number, found \
                     {found}"
                );
                return Err(self.fail(node, message));
            }
        };
        Ok(Notes { notes: vec![(about, self.string(key)?, self.expr(value)?)], late: None })
    }

    fn wrap_attrs(&mut self, notes: Notes, body: Stmt, at: &ast::ExprCall) -> Result<Stmt> {
        if let Some(name) = &notes.late
            && self.function.late.remove(&**name).is_some()
        {
            let message = format!(
                "a note on {name}, of which nothing says where its memory is; expected {name} = \
                 T.decl_buffer(..., data=...) in what the note is about"
            );
            return Err(self.fail(at, message));
        }
        let span = self.span(at);
        Ok(notes.notes.into_iter().rev().fold(body, |body, (node, key, value)| {
            Stmt::new(StmtKind::Attr { node, key, value, body }).with_span(span)
        }))
    }

    /// Places notes that stood before the declaration of their buffer after it.
    pub(crate) fn late_notes(
        &mut self,
        name: &ast::ExprName,
        rest: &[ast::Stmt],
        at: &ast::StmtAssign,
        out: &mut Vec<Stmt>,
    ) -> Result<Flow> {
        if self.function.late.is_empty() {
            return Ok(Flow::Next);
        }
        let Some(Value::Buffer(buffer)) = self.scopes.find(&name.id).cloned() else { return Ok(Flow::Next) };
        let Some(notes) = self.function.late.remove(name.id.as_str()) else { return Ok(Flow::Next) };
        let body = self.nested(at.range(), |parser| Ok(parser.body(rest)))?;
        out.push(notes.into_iter().rev().fold(body, |body, (key, value, span)| {
            let node = AttrNode::Buffer(buffer.clone());
            Stmt::new(StmtKind::Attr { node, key, value, body }).with_span(span)
        }));
        Ok(Flow::Rest)
    }

    /// Reports a use of a buffer that has no memory yet.
    pub(crate) fn late(&mut self, buffer: &Buffer, at: &impl Ranged) -> Failed {
        let name = &buffer.name;
        let message = format!(
            "{name} was named by T.Buffer(...) and has no memory yet; declare it first, as {name} = \
             T.decl_buffer(..., data=...)"
        );
        self.fail(at.range(), message)
    }
}

/// Returns the kind of an unsupported Python statement, for messages.
fn statement_kind(stmt: &ast::Stmt) -> &'static str {
    match stmt {
        ast::Stmt::FunctionDef(_) => "a function within a function",
        ast::Stmt::ClassDef(_) => "a class within a function",
        ast::Stmt::Try(_) => "try",
        ast::Stmt::Raise(_) => "raise (see assert)",
        ast::Stmt::Delete(_) => "del",
        ast::Stmt::Import(_) | ast::Stmt::ImportFrom(_) => "an import within a function",
        ast::Stmt::Global(_) | ast::Stmt::Nonlocal(_) => "global",
        ast::Stmt::Match(_) => "match",
        _ => "this kind of Python statement",
    }
}

/// The notes of a `T.attr`.
struct Notes {
    notes: Vec<(AttrNode, Arc<str>, Expr)>,
    /// Name of their buffer, when that is not declared yet: the notes wait for it.
    late: Option<Arc<str>>,
}

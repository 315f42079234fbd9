//! Blocks: `T.sblock`, their axes, regions, predicate and init.

use std::sync::Arc;

use chipdock_ir::{DType, Expr, ExprKind, IterKind, IterVar, Stmt, StmtKind, Var};
use rustpython_ruff_python_ast as ast;
use rustpython_ruff_text_size::Ranged;

use crate::parser::{BlockState, Failed, Parser, Result};
use crate::types::{convert, difference};
use crate::value::Value;

impl Parser<'_> {
    /// `with T.sblock("name"):`
    pub(crate) fn sblock(
        &mut self,
        call: &ast::ExprCall,
        inner: impl FnOnce(&mut Self) -> Result<Stmt>,
        out: &mut Vec<Stmt>,
    ) -> Result<()> {
        let [name, no_realize, exec_scope] =
            self.bind(call, "T.sblock", ["name", "no_realize", "exec_scope"], 0)?;
        if let Some(odd) = no_realize.or(exec_scope) {
            return Err(self.fail(odd, "only the name of a block is supported here"));
        }
        if !self.function.s_tir {
            return Err(self.fail(call, "a block needs `@T.prim_func(s_tir=True)` over its function"));
        }
        let name = name.map_or(Ok(Arc::from("")), |name| self.string(name))?;
        // The block of a whole function, which TVM writes as a comment, may be written out.
        let is_root = &*name == "root" && self.function.blocks.is_empty() && self.function.loops.is_empty();
        self.function.blocks.push(BlockState::default());
        let body = inner(self);
        let Some(block) = self.function.blocks.pop() else { return Err(Failed) };
        let body = body?;
        if is_root && block.iter_vars.is_empty() && block.predicate.is_none() && block.init.is_none() {
            self.function.alloc_buffers.extend(block.alloc_buffers);
            out.push(body);
            return Ok(());
        }
        let (block, iter_values, predicate) = block.finish(name, body);
        let kind = StmtKind::BlockRealize { iter_values, predicate, block: Arc::new(block) };
        self.emit_at(kind, call, out);
        Ok(())
    }

    /// `with T.init():`
    pub(crate) fn init(
        &mut self,
        call: &ast::ExprCall,
        inner: impl FnOnce(&mut Self) -> Result<Stmt>,
    ) -> Result<()> {
        let [] = self.bind(call, "T.init", [], 0)?;
        match self.function.blocks.last() {
            None => return Err(self.fail(call, "T.init stands within a T.sblock")),
            Some(block) if block.init.is_some() => {
                return Err(self.fail(call, "this block has a T.init already"));
            }
            Some(_) => {}
        }
        let body = inner(self)?;
        let block = self.function.blocks.last_mut().ok_or(Failed)?;
        block.init = Some(body);
        Ok(())
    }

    /// Calls that describe the block around them; false for another call.
    pub(crate) fn block_call(&mut self, path: &str, call: &ast::ExprCall) -> Result<bool> {
        if !matches!(path, "T.reads" | "T.writes" | "T.where" | "T.sblock_attr" | "T.block_attr") {
            return Ok(false);
        }
        if self.function.blocks.is_empty() {
            // The implicit block of the function; its regions are computed anew.
            if self.function.s_tir && matches!(path, "T.reads" | "T.writes") {
                return Ok(true);
            }
            return Err(self.fail(call, format!("{path} stands within a T.sblock")));
        }
        match path {
            "T.where" => {
                let [predicate] = self.bind(call, path, ["predicate"], 1)?;
                let at = self.required(predicate)?;
                let predicate = self.expr(at)?;
                let predicate = self.condition(predicate, at)?;
                self.block(call, "T.where", |block| &mut block.predicate)?.replace(predicate);
            }
            "T.reads" | "T.writes" => {
                if let Some(keyword) = call.arguments.keywords.first() {
                    return Err(self.fail(keyword, format!("{path} takes regions by position")));
                }
                let items = match &*call.arguments.args {
                    [ast::Expr::List(list)] => &*list.elts,
                    items => items,
                };
                let regions = items.iter().map(|item| self.region(item)).collect::<Result<Vec<_>>>()?;
                if path == "T.reads" {
                    self.block(call, path, |block| &mut block.reads)?.replace(regions);
                } else {
                    self.block(call, path, |block| &mut block.writes)?.replace(regions);
                }
            }
            _ => {
                let [attrs] = self.bind(call, path, ["attrs"], 1)?;
                let attrs = self.required(attrs)?;
                let attrs = self.attrs(attrs)?;
                let block = self.function.blocks.last_mut().ok_or(Failed)?;
                block.annotations.extend(attrs);
            }
        }
        Ok(true)
    }

    /// Sets a part of the surrounding block, which must not be set yet.
    fn block<T>(
        &mut self,
        call: &ast::ExprCall,
        path: &str,
        part: impl Fn(&mut BlockState) -> &mut Option<T>,
    ) -> Result<&mut Option<T>> {
        if self.function.blocks.last_mut().is_some_and(|block| part(block).is_some()) {
            return Err(self.fail(call, format!("this block has {path} already")));
        }
        self.function.blocks.last_mut().map(part).ok_or(Failed)
    }

    /// `name = T.axis.spatial(extent, value)` and its like.
    pub(crate) fn axis(&mut self, name: &ast::ExprName, path: &str, call: &ast::ExprCall) -> Result<()> {
        let kind = match path {
            "T.axis.spatial" | "T.axis.S" => IterKind::Spatial,
            "T.axis.reduce" | "T.axis.R" => IterKind::Reduce,
            "T.axis.scan" => IterKind::Ordered,
            "T.axis.opaque" => IterKind::Opaque,
            _ => {
                let message = self.unknown_path(path);
                return Err(self.fail(&*call.func, message));
            }
        };
        let [dom, binding, dtype] = self.bind(call, path, ["dom", "binding", "dtype"], 2)?;
        let (dom, binding) = (self.required(dom)?, self.required(binding)?);
        let (min, extent) = match dom {
            ast::Expr::Tuple(ast::ExprTuple { elts, .. }) | ast::Expr::List(ast::ExprList { elts, .. }) => {
                let [start, stop] = elts.as_slice() else {
                    return Err(self.fail(dom, "expected an extent, or (start, stop)"));
                };
                let (start, stop) = (self.index(start)?, self.index(stop)?);
                let (start, stop) = self.unify(start, stop, dom)?;
                let extent = difference(&stop, &start);
                (start, extent)
            }
            extent => {
                let extent = self.index(extent)?;
                (Expr::int(0, extent.dtype).with_span(extent.span), extent)
            }
        };
        let value = self.index(binding)?;
        let dtype = match dtype {
            Some(dtype) => self.dtype(dtype)?,
            None => DType::INT32,
        };
        self.add_axis(name, kind, (min, extent), value, dtype, call)
    }

    fn add_axis(
        &mut self,
        name: &ast::ExprName,
        kind: IterKind,
        (min, extent): (Expr, Expr),
        value: Expr,
        dtype: DType,
        at: &impl Ranged,
    ) -> Result<()> {
        if self.function.blocks.is_empty() {
            return Err(self.fail(at.range(), "an axis stands within a T.sblock"));
        }
        // As in TVM: as wide as the widest of its parts.
        let widest = [&min, &extent, &value]
            .into_iter()
            .map(|part| part.dtype)
            .fold(dtype, |widest, part| if part.bits > widest.bits { part.scalar() } else { widest });
        if !value.dtype.is_scalar() {
            return Err(self.fail(at.range(), "an axis takes a scalar"));
        }
        let var = Var::new(name.id.as_str(), widest);
        self.scopes.define(name.id.as_str(), Value::Expr(var.expr()));
        let (min, extent) = (convert(&min, widest), convert(&extent, widest));
        let value = convert(&value, widest);
        let block = self.function.blocks.last_mut().ok_or(Failed)?;
        block.iter_vars.push(IterVar { var, min, extent, kind });
        block.iter_values.push(value);
        Ok(())
    }

    /// `vi, vj = T.axis.remap("SR", [i, j])`
    pub(crate) fn remap(&mut self, names: &[&ast::ExprName], call: &ast::ExprCall) -> Result<()> {
        let [kinds, bindings, dtype] = self.bind(call, "T.axis.remap", ["kinds", "bindings", "dtype"], 2)?;
        let (kinds_at, bindings) = (self.required(kinds)?, self.required(bindings)?);
        let kinds = self.string(kinds_at)?;
        let dtype = match dtype {
            Some(dtype) => self.dtype(dtype)?,
            None => DType::INT32,
        };
        let loops: Vec<(Expr, &ast::Expr)> = match bindings {
            ast::Expr::List(ast::ExprList { elts, .. }) | ast::Expr::Tuple(ast::ExprTuple { elts, .. }) => {
                elts.iter().map(|item| Ok((self.expr(item)?, item))).collect::<Result<_>>()?
            }
            other => match self.value(other)? {
                Value::List(items) => {
                    let items = items.iter().map(|item| Ok((self.lower(item.clone(), other)?, other)));
                    items.collect::<Result<_>>()?
                }
                _ => return Err(self.fail(bindings, "expected a list of loop variables")),
            },
        };
        let letters: Vec<char> = kinds.chars().collect();
        if letters.len() != loops.len() || names.len() != loops.len() {
            let message = format!(
                "{} names, {} kinds and {} loop variables; expected as many of each",
                names.len(),
                letters.len(),
                loops.len()
            );
            return Err(self.fail(call, message));
        }
        for ((name, letter), (value, binding)) in names.iter().zip(letters).zip(loops) {
            let kind = match letter {
                'S' => IterKind::Spatial,
                'R' => IterKind::Reduce,
                other => {
                    let message = format!("expected S (spatial) or R (reduce), found {other}");
                    return Err(self.fail(kinds_at, message));
                }
            };
            let domain = match &value.kind {
                ExprKind::Var(var) => self.function.loops.iter().rev().find(|(known, _, _)| known == var),
                _ => None,
            };
            let Some((_, min, extent)) = domain.cloned() else {
                let message =
                    "expected the variable of a loop around this block; else T.axis.spatial(extent, value)";
                return Err(self.fail(binding, message));
            };
            let (min, extent) = (self.copy(&min, call)?, self.copy(&extent, call)?);
            self.add_axis(name, kind, (min, extent), value, dtype, call)?;
        }
        Ok(())
    }
}

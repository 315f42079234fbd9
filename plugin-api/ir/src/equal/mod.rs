//! Alpha-equivalence: compares modules, ignoring the names of variables, and positions.
//!
//! 1. Variables and buffers correspond one to one, by the place where they are bound (a size: by
//!    its first occurrence).
//! 2. Names of functions and of buffer parameters are compared, since callers use them; other names
//!    are not.
//! 3. Sequences are compared flat: an empty one counts as nothing and a nested one as its
//!    statements.
//! 4. A step of 1 equals no step.
//! 5. Floats are equal if their bits are; positions are ignored.

mod nodes;

use std::collections::{HashMap, HashSet};
use std::fmt;

use crate::limits::DEPTH_MAX;
use crate::{
    AttrValue, Attrs, Buffer, BufferRegion, Expr, IrModule, Param, PrimFunc, Range, Stmt, StmtKind, Var,
};

/// The nesting depth at which the comparison gives up; valid modules nest less.
const LEVELS_MAX: usize = 4 * DEPTH_MAX;

type Outcome = Result<(), String>;

/// Compares two modules.
///
/// # Errors
///
/// The first difference, as a path of nodes, and the two nodes there.
///
/// # Examples
///
/// ```
/// use chipdock_ir::{IrModule, equal};
///
/// assert!(equal::modules(&IrModule::default(), &IrModule::default()).is_ok());
/// ```
pub fn modules(a: &IrModule, b: &IrModule) -> Result<(), String> {
    let mut comparer = Comparer::default();
    comparer.attrs("attrs", &a.attrs, &b.attrs)?;
    comparer.count("functions", a.functions.len(), b.functions.len())?;
    a.functions.iter().zip(&b.functions).try_for_each(|(a, b)| functions(a, b))
}

/// Compares two functions.
///
/// # Errors
///
/// As [`modules`].
pub fn functions(a: &PrimFunc, b: &PrimFunc) -> Result<(), String> {
    let mut comparer = Comparer::default();
    comparer.path.push(Step::Function(a.name.to_string()));
    comparer.function(a, b)
}

/// A step of a path to a node.
enum Step {
    Function(String),
    Field(&'static str),
    Item(&'static str, usize),
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Function(name) => f.write_str(name),
            Self::Field(name) => write!(f, ".{name}"),
            Self::Item(name, index) => write!(f, ".{name}[{index}]"),
        }
    }
}

#[derive(Default)]
struct Comparer {
    vars: HashMap<Var, Var>,
    vars_back: HashMap<Var, Var>,
    buffers: HashMap<Buffer, Buffer>,
    buffers_back: HashMap<Buffer, Buffer>,
    /// Pairs of nodes that were found equal. They stay equal, because each variable is bound once.
    equal: HashSet<(usize, usize)>,
    path: Vec<Step>,
}

impl Comparer {
    fn differ(&self, a: &dyn fmt::Display, b: &dyn fmt::Display) -> Outcome {
        let path: String = self.path.iter().map(Step::to_string).collect();
        Err(format!("{path}: {a} in the first, {b} in the second"))
    }

    fn within(&mut self, step: Step, inner: impl FnOnce(&mut Self) -> Outcome) -> Outcome {
        if self.path.len() > LEVELS_MAX {
            return self.differ(&"nests too deep", &"nests too deep");
        }
        self.path.push(step);
        inner(self)?;
        self.path.pop();
        Ok(())
    }

    fn same<T: PartialEq + fmt::Debug>(&mut self, what: &'static str, a: &T, b: &T) -> Outcome {
        if a == b {
            return Ok(());
        }
        self.within(Step::Field(what), |c| c.differ(&format!("{a:?}"), &format!("{b:?}")))
    }

    fn count(&mut self, what: &'static str, a: usize, b: usize) -> Outcome {
        if a == b {
            return Ok(());
        }
        self.within(Step::Field(what), |c| c.differ(&a, &b))
    }

    fn list<T>(
        &mut self,
        what: &'static str,
        a: &[T],
        b: &[T],
        mut each: impl FnMut(&mut Self, &T, &T) -> Outcome,
    ) -> Outcome {
        self.count(what, a.len(), b.len())?;
        for (index, (a, b)) in a.iter().zip(b).enumerate() {
            self.within(Step::Item(what, index), |c| each(c, a, b))?;
        }
        Ok(())
    }

    fn optional<T>(
        &mut self,
        what: &'static str,
        a: &Option<T>,
        b: &Option<T>,
        each: impl FnOnce(&mut Self, &T, &T) -> Outcome,
    ) -> Outcome {
        match (a, b) {
            (None, None) => Ok(()),
            (Some(a), Some(b)) => self.within(Step::Field(what), |c| each(c, a, b)),
            _ => self.same(what, &a.is_some(), &b.is_some()),
        }
    }

    fn function(&mut self, a: &PrimFunc, b: &PrimFunc) -> Outcome {
        self.same("name", &a.name, &b.name)?;
        self.same("ret", &a.ret, &b.ret)?;
        self.same("s_tir", &a.s_tir, &b.s_tir)?;
        self.list("params", &a.params, &b.params, |c, a, b| match (a, b) {
            (Param::Buffer(a), Param::Buffer(b)) => {
                c.same("name", &a.name, &b.name)?;
                c.buffer(a, b)
            }
            (Param::Var(a), Param::Var(b)) => c.var(a, b),
            _ => c.differ(&format!("{a:?}"), &format!("{b:?}")),
        })?;
        self.attrs("attrs", &a.attrs, &b.attrs)?;
        self.list("alloc_buffers", &a.alloc_buffers, &b.alloc_buffers, Self::buffer)?;
        self.within(Step::Field("body"), |c| c.stmt(&a.body, &b.body))
    }

    /// Compares two variables: they correspond if they did before, or if neither corresponds to
    /// another yet.
    fn var(&mut self, a: &Var, b: &Var) -> Outcome {
        match (self.vars.get(a), self.vars_back.get(b)) {
            (Some(found), _) if found == b => Ok(()),
            (None, None) if a.dtype == b.dtype && a.pointer == b.pointer => {
                self.vars.insert(a.clone(), b.clone());
                self.vars_back.insert(b.clone(), a.clone());
                Ok(())
            }
            _ => self.differ(&format!("{a:?}"), &format!("{b:?}")),
        }
    }

    /// Forgets the correspondence of two variables that a `Let` binds, because the same `Let` may
    /// occur in several places.
    fn unbind(&mut self, a: &Var, b: &Var) {
        if let Some(partner) = self.vars.remove(a) {
            self.vars_back.remove(&partner);
        }
        if let Some(partner) = self.vars_back.remove(b) {
            self.vars.remove(&partner);
        }
    }

    fn buffer(&mut self, a: &Buffer, b: &Buffer) -> Outcome {
        match (self.buffers.get(a), self.buffers_back.get(b)) {
            (Some(found), _) if found == b => return Ok(()),
            (None, None) => {}
            _ => return self.differ(&format!("buffer {}", a.name), &format!("buffer {}", b.name)),
        }
        self.same("dtype", &a.dtype, &b.dtype)?;
        self.same("scope", &a.scope, &b.scope)?;
        self.same("data_alignment_bytes", &a.data_alignment_bytes, &b.data_alignment_bytes)?;
        self.same("offset_factor", &a.offset_factor, &b.offset_factor)?;
        self.within(Step::Field("data"), |c| c.var(&a.data, &b.data))?;
        self.list("shape", &a.shape, &b.shape, Self::expr)?;
        self.list("strides", &a.strides, &b.strides, Self::expr)?;
        self.optional("elem_offset", &a.elem_offset, &b.elem_offset, Self::expr)?;
        self.buffers.insert(a.clone(), b.clone());
        self.buffers_back.insert(b.clone(), a.clone());
        Ok(())
    }

    fn attrs(&mut self, what: &'static str, a: &Attrs, b: &Attrs) -> Outcome {
        self.within(Step::Field(what), |c| {
            let names = |attrs: &Attrs| attrs.keys().cloned().collect::<Vec<_>>();
            c.same("names", &names(a), &names(b))?;
            for (index, (a, b)) in a.values().zip(b.values()).enumerate() {
                c.within(Step::Item("value", index), |c| c.attr_value(a, b))?;
            }
            Ok(())
        })
    }

    fn attr_value(&mut self, a: &AttrValue, b: &AttrValue) -> Outcome {
        match (a, b) {
            (AttrValue::Expr(a), AttrValue::Expr(b)) => self.expr(a, b),
            (AttrValue::List(a), AttrValue::List(b)) => self.list("item", a, b, Self::attr_value),
            (AttrValue::Map(a), AttrValue::Map(b)) => self.attrs("map", a, b),
            _ if a == b => Ok(()),
            _ => self.differ(&format!("{a:?}"), &format!("{b:?}")),
        }
    }

    fn region(&mut self, a: &BufferRegion, b: &BufferRegion) -> Outcome {
        self.within(Step::Field("buffer"), |c| c.buffer(&a.buffer, &b.buffer))?;
        self.list("region", &a.region, &b.region, Self::range)
    }

    fn range(&mut self, a: &Range, b: &Range) -> Outcome {
        self.within(Step::Field("min"), |c| c.expr(&a.min, &b.min))?;
        self.within(Step::Field("extent"), |c| c.expr(&a.extent, &b.extent))
    }

    fn exprs(&mut self, what: &'static str, a: &[Expr], b: &[Expr]) -> Outcome {
        self.list(what, a, b, Self::expr)
    }
}

/// Appends the statements of a sequence, with nested sequences spliced in.
fn flat<'a>(stmt: &'a Stmt, depth: usize, out: &mut Vec<&'a Stmt>) {
    match &stmt.kind {
        StmtKind::Seq(stmts) if depth < LEVELS_MAX => stmts.iter().for_each(|s| flat(s, depth + 1, out)),
        _ => out.push(stmt),
    }
}

#[cfg(test)]
mod tests;

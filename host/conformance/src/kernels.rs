//! Device functions of a case, as passed to the code generator: they show which profiles reached
//! the device (SUITE-S6).

use std::collections::HashSet;
use std::sync::Arc;

use chipdock_host::Compiled;
use chipdock_ir::analysis::{Usage, is_pure};
use chipdock_ir::{Callee, Child, DType, Expr, ExprKind, IrModule, Op, PrimFunc, Stmt, StmtKind, Var};

use crate::group::op::profiles_of;
use crate::{Context, Profile};

/// The device functions of a module.
pub(crate) struct Kernels {
    /// `None` if the target's kind compiles host functions itself.
    functions: Option<Vec<Kernel>>,
}

struct Kernel {
    name: Arc<str>,
    /// Types of the values that the kernel uses, except positions in memory.
    types: HashSet<DType>,
}

impl Kernels {
    /// Finds the device functions of a compilation.
    pub(crate) fn find(compiled: &Compiled) -> Self {
        let mut own = compiled
            .lowered_devices
            .iter()
            .filter(|(target, _)| target.kind().name == compiled.target.kind().name);
        Self { functions: own.next().map(|(_, module)| kernels(module)) }
    }

    /// Records with the case the profiles that the function `name`, and those whose names begin
    /// with it, do not exercise.
    pub(crate) fn tell(&self, c: &Context, name: &str) {
        c.shows_nothing_of(self.untested(name));
    }

    fn untested(&self, name: &str) -> Vec<Profile> {
        let Some(functions) = &self.functions else { return Vec::new() };
        let belongs = |kernel: &&Kernel| {
            kernel.name.strip_prefix(name).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        let own: Vec<&Kernel> = functions.iter().filter(belongs).collect();
        if own.is_empty() {
            return Profile::ALL.to_vec();
        }
        let shown = profiles_of(own.iter().flat_map(|kernel| kernel.types.iter().copied()));
        let of_types = profiles_of(DType::SCALARS.iter().copied()).into_iter();
        of_types.filter(|profile| !shown.contains(profile)).collect()
    }
}

fn kernels(module: &IrModule) -> Vec<Kernel> {
    let kernel = |function: &PrimFunc| {
        let usage = Usage::of(&function.body);
        let mut types = Types { usage, found: HashSet::new(), seen: HashSet::new() };
        types.stmt(&function.body);
        Kernel { name: Arc::clone(&function.name), types: types.found }
    };
    module.functions.iter().map(kernel).collect()
}

/// Collects the types of the values that a function uses. Positions in memory are not counted,
/// because every language has an index type.
struct Types {
    usage: Usage,
    found: HashSet<DType>,
    /// Expressions already visited, as a position or as a value.
    seen: HashSet<(usize, bool)>,
}

impl Types {
    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Store { buffer, value, indices, predicate } => {
                self.found.insert(buffer.dtype.scalar());
                indices.iter().for_each(|index| self.expr(index, true));
                [Some(value), predicate.as_ref()].into_iter().flatten().for_each(|e| self.expr(e, false));
                return;
            }
            StmtKind::Bind { var, value } if self.is_dead(var, value) => return,
            StmtKind::AllocBuffer { buffer, .. } => {
                self.found.insert(buffer.dtype.scalar());
                return;
            }
            StmtKind::For { var, .. } => {
                self.found.insert(var.dtype);
            }
            _ => {}
        }
        stmt.for_each_child(&mut |child| match child {
            Child::Expr(e) => self.expr(e, false),
            Child::Stmt(inner) => self.stmt(inner),
        });
    }

    fn is_dead(&self, var: &Var, value: &Expr) -> bool {
        !self.usage.uses(var.address()) && is_pure(value)
    }

    fn expr(&mut self, e: &Expr, is_position: bool) {
        if !self.seen.insert((e.address(), is_position)) {
            return;
        }
        if !is_position {
            self.found.insert(e.dtype.scalar());
        }
        match &e.kind {
            ExprKind::Load { buffer, indices, predicate } => {
                self.found.insert(buffer.dtype.scalar());
                indices.iter().for_each(|index| self.expr(index, true));
                predicate.iter().for_each(|predicate| self.expr(predicate, false));
            }
            ExprKind::Let { var, value, body } if self.is_dead(var, value) => self.expr(body, is_position),
            ExprKind::Call { callee: Callee::Op(Op::HandleAddByteOffset), args } => {
                args.iter().for_each(|arg| self.expr(arg, true));
            }
            _ => e.for_each_child(&mut |child| self.expr(child, is_position)),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn of_text(text: &str) -> Kernels {
        let text = format!("@T.prim_func(s_tir=True)\ndef {text}");
        Kernels { functions: Some(kernels(&chipdock_script::parse(&text, "f").unwrap())) }
    }

    /// SUITE-S6: whose functions are there.
    #[test]
    fn a_function_has_the_kernels_of_its_name() {
        let kernel = |name: &str| Kernel { name: name.into(), types: HashSet::new() };
        let all = Kernels { functions: Some(vec![kernel("f12_kernel"), kernel("f3_part_kernel_1")]) };
        assert!(
            all.untested("f12").len() < Profile::ALL.len() && all.untested("f3").len() < Profile::ALL.len()
        );
        assert_eq!(all.untested("f1"), Profile::ALL, "f12 is another function");
        assert_eq!(Kernels { functions: Some(Vec::new()) }.untested("f0"), Profile::ALL);
        assert_eq!(Kernels { functions: None }.untested("f0"), [], "a host's functions are the target's own");
    }

    /// SUITE-S6: a type that no value has, but in positions.
    #[test]
    fn a_value_of_another_type_shows_nothing_of_it() {
        let untested = |text: &str| {
            let text =
                format!("f_kernel(A: T.Buffer((8,), \"float32\"), B: T.Buffer((8,), \"int64\")):\n{text}");
            of_text(&text).untested("f")
        };
        let types = [Profile::Float16, Profile::Bfloat16, Profile::Float64, Profile::Int64];
        assert_eq!(untested("    for i in range(8):\n        A[T.Cast(\"int64\", i)] = T.float32(1)"), types);
        assert_eq!(
            untested("    x: T.let[T.float64] = T.Cast(\"float64\", A[1])\n    A[0] = T.float32(1)"),
            types,
            "nobody reads it"
        );
        let moved = "    V = T.decl_buffer((2,), data=T.handle_add_byte_offset(A.data, T.int64(8)))\n    V[0] = T.float32(1)";
        assert_eq!(untested(moved), types, "a position in bytes");
        let shows = |text: &str, profile| !untested(text).contains(&profile);
        assert!(shows("    for i in range(T.int64(8)):\n        A[i] = T.float32(1)", Profile::Int64));
        assert!(shows("    A[B[0]] = T.float32(1)", Profile::Int64), "the position is read from memory");
        assert!(shows("    B[0] = B[1]", Profile::Int64));
        assert!(shows(
            "    A[0] = T.Cast(\"float32\", T.Cast(\"float64\", A[1]) / T.float64(3))",
            Profile::Float64
        ));
        assert!(shows(
            "    L = T.alloc_buffer((8,), \"float16\")\n    A[0] = T.float32(1)",
            Profile::Float16
        ));
        assert!(shows(
            "    if T.Cast(\"bfloat16\", A[0]) < T.bfloat16(1):\n        A[0] = T.float32(1)",
            Profile::Bfloat16
        ));
    }
}

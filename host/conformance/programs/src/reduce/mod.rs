//! Reduces a module that has a property, usually that a check fails on it.

mod candidates;
mod edit;
mod inputs;
mod weight;

use chipdock_ir::validate::validate;
use chipdock_ir::{Attrs, IrModule, PrimFunc, Stage};

use crate::Case;
use weight::{Weight, weight};

/// Reduces a module as long as it keeps a property.
///
/// The property is only evaluated on modules that validate. The reducer removes functions,
/// statements and expressions, makes loops serial and short, and replaces blocks by their bodies
/// and expressions by parts or constants. The parameters do not change, so that arguments still
/// fit.
///
/// ```
/// use chipdock_ir::{BinaryOp, ExprKind};
/// use chipdock_programs::{Options, arbitrary, reduce};
///
/// let divides = |module: &chipdock_ir::IrModule| {
///     let mut found = false;
///     for function in &module.functions {
///         function.body.walk_exprs(&mut |e| found |= matches!(e.kind, ExprKind::Binary(BinaryOp::FloorDiv, ..)));
///     }
///     found
/// };
/// let module = (0..).map(|seed| arbitrary(seed, &Options::default()).module).find(divides).unwrap();
/// let small = reduce(&module, &mut |module| divides(module));
/// assert!(divides(&small) && chipdock_ir::print::module(&small).lines().count() < 40);
/// ```
pub fn reduce(module: &IrModule, fails: &mut dyn FnMut(&IrModule) -> bool) -> IrModule {
    let mut reducer = Reducer::new(module.clone(), fails);
    while reducer.round() {}
    reducer.module
}

/// Reduces a case as long as it keeps a property. The property is only evaluated on cases that
/// validate and, if the given case runs without an error, also run without one.
///
/// Works like [`reduce`], and also removes unneeded parameters, reduces sizes and simplifies
/// inputs.
pub fn reduce_case(case: &Case, fails: &mut dyn FnMut(&Case) -> bool) -> Case {
    let mut case = case.clone();
    let runs = case.run(&case.module).is_ok();
    loop {
        let before = weight(&case.module) + inputs::weight(&case);
        let mut ask =
            |candidate: &Case| (!runs || candidate.run(&candidate.module).is_ok()) && fails(candidate);
        let module = reduce(&case.module, &mut |module| {
            let candidate = Case { module: module.clone(), ..case.clone() };
            ask(&candidate)
        });
        case.module = module;
        case = inputs::simplify(case, &mut |candidate| is_valid(&candidate.module) && ask(candidate));
        if weight(&case.module) + inputs::weight(&case) >= before {
            return case;
        }
    }
}

fn is_valid(module: &IrModule) -> bool {
    validate(module, Stage::Blocks).is_ok()
}

struct Reducer<'f> {
    module: IrModule,
    weight: Weight,
    fails: &'f mut dyn FnMut(&IrModule) -> bool,
}

impl<'f> Reducer<'f> {
    fn new(module: IrModule, fails: &'f mut dyn FnMut(&IrModule) -> bool) -> Self {
        let weight = weight(&module);
        Self { module, weight, fails }
    }

    /// Accepts a candidate if it is smaller and has the property.
    fn take(&mut self, candidate: IrModule) -> bool {
        let weight = weight(&candidate);
        let better = weight < self.weight && is_valid(&candidate) && (self.fails)(&candidate);
        if better {
            self.module = candidate;
            self.weight = weight;
        }
        better
    }

    fn take_function(&mut self, at: usize, function: PrimFunc) -> bool {
        let mut candidate = self.module.clone();
        candidate.functions[at] = function;
        self.take(candidate)
    }

    /// Tries every kind of reduction once; returns true if one succeeded.
    fn round(&mut self) -> bool {
        let before = self.weight;
        self.functions();
        for at in 0..self.module.functions.len() {
            self.notes(at);
            self.statements(at);
            self.allocations(at);
            self.expressions(at);
        }
        self.weight < before
    }

    fn functions(&mut self) {
        let mut at = 0;
        while at < self.module.functions.len() {
            let mut candidate = self.module.clone();
            candidate.functions.remove(at);
            if !self.take(candidate) {
                at += 1;
            }
        }
        self.take(IrModule { attrs: Attrs::new(), ..self.module.clone() });
    }

    fn notes(&mut self, at: usize) {
        let function = self.module.functions[at].clone();
        self.take_function(at, PrimFunc { attrs: Attrs::new(), ..function });
    }

    fn allocations(&mut self, at: usize) {
        let mut index = 0;
        while index < self.module.functions[at].alloc_buffers.len() {
            let mut function = self.module.functions[at].clone();
            function.alloc_buffers.remove(index);
            if !self.take_function(at, function) {
                index += 1;
            }
        }
    }

    fn statements(&mut self, at: usize) {
        let mut position = 0;
        while let Some(stmt) = edit::stmt(&self.module.functions[at].body, position) {
            let mut taken = false;
            for candidate in candidates::of_stmt(&stmt) {
                let function = self.module.functions[at].clone();
                let body = edit::with_stmt(&function.body, position, &candidate);
                if self.take_function(at, PrimFunc { body, ..function }) {
                    taken = true;
                    break;
                }
            }
            if !taken {
                position += 1;
            }
        }
    }

    fn expressions(&mut self, at: usize) {
        let mut position = 0;
        while let Some(expr) = edit::expr(&self.module.functions[at].body, position) {
            let mut taken = false;
            for candidate in candidates::of_expr(&expr) {
                let function = self.module.functions[at].clone();
                let body = edit::with_expr(&function.body, position, &candidate);
                if self.take_function(at, PrimFunc { body, ..function }) {
                    taken = true;
                    break;
                }
            }
            if !taken {
                position += 1;
            }
        }
    }
}

//! Reduction of the inputs: unneeded parameters, sizes, and values.

use std::collections::HashMap;

use chipdock_interpret::{Arg, Array};
use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    BinaryOp, Buffer, BufferNode, DType, Expr, ExprKind, IrModule, Param, PrimFunc, Stmt, StmtKind, Var,
};

use super::weight::Weight;
use crate::Case;

/// Returns the weight of the arguments, from the numbers of elements and of nonzero values.
pub(crate) fn weight(case: &Case) -> Weight {
    let of = |arg: &Arg| match arg {
        Arg::Tensor(array) => {
            2 * array.n_lanes() + array.to_f64().iter().filter(|value| **value != 0.0).count()
        }
        Arg::Int(value) => usize::from(*value != 0),
        Arg::Float(value) => usize::from(*value != 0.0),
    };
    case.args.iter().map(|arg| of(arg) as Weight).sum()
}

/// Removes parameters, reduces sizes and simplifies values, as long as `ask` accepts the result.
pub(crate) fn simplify(mut case: Case, ask: &mut dyn FnMut(&Case) -> bool) -> Case {
    let mut at = 0;
    while at < case.args.len() {
        match without(&case, at).filter(|candidate| ask(candidate)) {
            Some(smaller) => case = smaller,
            None => at += 1,
        }
    }
    for (var, value) in sizes(&case) {
        for smaller in smaller(value) {
            let candidate = resized(&case, &var, smaller);
            if let Some(candidate) = candidate.filter(|candidate| ask(candidate)) {
                case = candidate;
                break;
            }
        }
    }
    for value in constants(&case) {
        for smaller in smaller(value) {
            let candidate = with_constant(&case, value, smaller);
            if let Some(candidate) = candidate.filter(|candidate| ask(candidate)) {
                case = candidate;
                break;
            }
        }
    }
    for at in 0..case.args.len() {
        for value in [0.0, 1.0, 2.0] {
            let candidate = filled(&case, at, value);
            if weight(&candidate) < weight(&case) && ask(&candidate) {
                case = candidate;
                break;
            }
        }
    }
    case
}

fn smaller(value: i128) -> impl Iterator<Item = i128> {
    [1, 2, value / 2, value - 1].into_iter().filter(move |smaller| *smaller > 0 && *smaller < value)
}

fn kernel(case: &Case) -> Option<&PrimFunc> {
    case.module.function(&case.function)
}

fn with_kernel(case: &Case, change: impl FnOnce(&mut PrimFunc)) -> IrModule {
    let mut module = case.module.clone();
    if let Some(function) = module.functions.iter_mut().find(|function| *function.name == *case.function) {
        change(function);
    }
    module
}

/// Returns the case without a parameter and its argument.
fn without(case: &Case, at: usize) -> Option<Case> {
    kernel(case).filter(|kernel| at < kernel.params.len())?;
    let module = with_kernel(case, |kernel| drop(kernel.params.remove(at)));
    let mut args = case.args.clone();
    args.remove(at);
    Some(Case { module, args, ..case.clone() })
}

/// Returns the case with one argument filled with a single value.
fn filled(case: &Case, at: usize, value: f64) -> Case {
    let mut case = case.clone();
    match &mut case.args[at] {
        Arg::Tensor(array) => {
            let (dtype, shape) = (array.dtype, array.shape.clone());
            *array = Array::from_f64(dtype, &shape, &vec![value; array.n_lanes()]);
        }
        Arg::Int(number) => *number = value as i128,
        Arg::Float(number) => *number = value,
    }
    case
}

/// Returns the symbolic sizes with their values, from shapes in which they occur alone.
fn sizes(case: &Case) -> HashMap<Var, i128> {
    let mut found = HashMap::new();
    for (buffer, array) in tensors(case) {
        for (extent, length) in buffer.shape.iter().zip(&array.shape) {
            if let ExprKind::Var(var) = &extent.kind {
                found.insert(var.clone(), *length as i128);
            }
        }
    }
    found
}

fn tensors(case: &Case) -> Vec<(Buffer, &Array)> {
    let params = kernel(case).into_iter().flat_map(|kernel| &kernel.params);
    let pairs = params.zip(&case.args);
    pairs
        .filter_map(|pair| match pair {
            (Param::Buffer(buffer), Arg::Tensor(array)) => Some((buffer.clone(), array)),
            _ => None,
        })
        .collect()
}

/// Returns the constants above 1 that are extents of parameters.
fn constants(case: &Case) -> Vec<i128> {
    let mut found: Vec<i128> = Vec::new();
    for (buffer, _) in tensors(case) {
        for value in buffer.shape.iter().filter_map(Expr::as_int).filter(|value| *value > 1) {
            if !found.contains(&value) {
                found.push(value);
            }
        }
    }
    found
}

fn value_of(expr: &Expr, sizes: &HashMap<Var, i128>) -> Option<i128> {
    match &expr.kind {
        ExprKind::Int(value) => Some(*value),
        ExprKind::Var(var) => sizes.get(var).copied(),
        ExprKind::Binary(op, a, b) => {
            let (a, b) = (value_of(a, sizes)?, value_of(b, sizes)?);
            match op {
                BinaryOp::Add => a.checked_add(b),
                BinaryOp::Sub => a.checked_sub(b),
                BinaryOp::Mul => a.checked_mul(b),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns the arguments cut to the shapes that the parameters have with these sizes.
fn cut(case: &Case, sizes: &HashMap<Var, i128>) -> Option<Vec<Arg>> {
    let kernel = kernel(case)?;
    let mut args = Vec::new();
    for (param, arg) in kernel.params.iter().zip(&case.args) {
        args.push(match (param, arg) {
            (Param::Buffer(buffer), Arg::Tensor(array)) => {
                let shape = buffer
                    .shape
                    .iter()
                    .map(|extent| value_of(extent, sizes).and_then(|value| usize::try_from(value).ok()));
                Arg::Tensor(part(array, &shape.collect::<Option<Vec<usize>>>()?))
            }
            _ => arg.clone(),
        });
    }
    Some(args)
}

/// Copies the first elements along each axis; fills up with zeros.
fn part(array: &Array, shape: &[usize]) -> Array {
    let mut out = Array::zeros(array.dtype, shape);
    let size_bytes = array.dtype.size_bytes();
    let lanes = usize::from(array.dtype.lanes);
    for element in 0..out.n_lanes() / lanes.max(1) {
        let position = out.position(element * lanes);
        let inside = position.iter().zip(&array.shape).all(|(at, extent)| at < extent);
        if !inside || position.len() != array.shape.len() {
            continue;
        }
        let from = position.iter().zip(&array.shape).fold(0, |sum, (at, extent)| sum * extent + at);
        let source = array.data.get(from * size_bytes..(from + 1) * size_bytes);
        let place = out.data.get_mut(element * size_bytes..(element + 1) * size_bytes);
        if let (Some(source), Some(place)) = (source, place) {
            place.copy_from_slice(source);
        }
    }
    out
}

fn resized(case: &Case, var: &Var, value: i128) -> Option<Case> {
    let mut sizes = sizes(case);
    sizes.insert(var.clone(), value);
    let args = cut(case, &sizes)?;
    Some(Case { args, ..case.clone() })
}

/// Replaces a constant by another, wherever it counts elements or iterations.
fn with_constant(case: &Case, old: i128, new: i128) -> Option<Case> {
    let mut swap = Swap { old, new, buffers: HashMap::new() };
    let functions = case.module.functions.iter().map(|function| {
        let params = function.params.iter().map(|param| match param {
            Param::Buffer(buffer) => Param::Buffer(swap.buffer(buffer)),
            Param::Var(_) => param.clone(),
        });
        let params = params.collect();
        let alloc_buffers = function.alloc_buffers.iter().map(|buffer| swap.buffer(buffer)).collect();
        let body = swap.stmt(&function.body);
        // Accesses refer to the replaced buffers.
        let mut substitution = Substitution::new();
        for (from, to) in &swap.buffers {
            substitution.map_buffer(from, to);
        }
        PrimFunc { params, alloc_buffers, body: substitution.stmt(&body), ..function.clone() }
    });
    let module = IrModule { functions: functions.collect(), attrs: case.module.attrs.clone() };
    let changed = Case { module, ..case.clone() };
    let args = cut(&changed, &sizes(case))?;
    Some(Case { args, ..changed })
}

struct Swap {
    old: i128,
    new: i128,
    buffers: HashMap<Buffer, Buffer>,
}

impl Swap {
    fn expr(&self, expr: &Expr) -> Expr {
        let counts = expr.dtype == DType::INT32 || expr.dtype == DType::INT64;
        if counts && expr.as_int() == Some(self.old) {
            return Expr::int(self.new, expr.dtype);
        }
        expr.map_children(&mut |child| self.expr(child))
    }

    fn buffer(&mut self, buffer: &Buffer) -> Buffer {
        let list = |list: &[Expr]| list.iter().map(|e| self.expr(e)).collect::<Vec<_>>();
        let (shape, strides) = (list(&buffer.shape), list(&buffer.strides));
        let elem_offset = buffer.elem_offset.as_ref().map(|e| self.expr(e));
        let new = Buffer::from_node(BufferNode { shape, strides, elem_offset, ..BufferNode::clone(buffer) });
        self.buffers.insert(buffer.clone(), new.clone());
        new
    }

    fn stmt(&mut self, stmt: &Stmt) -> Stmt {
        match &stmt.kind {
            StmtKind::AllocBuffer { buffer, .. } | StmtKind::DeclBuffer { buffer, .. } => {
                self.buffer(buffer);
            }
            StmtKind::BlockRealize { block, .. } => {
                for buffer in &block.alloc_buffers {
                    self.buffer(buffer);
                }
                for view in &block.match_buffers {
                    self.buffer(&view.buffer);
                }
            }
            _ => {}
        }
        let this = std::cell::RefCell::new(self);
        stmt.map_children(&mut |e| this.borrow().expr(e), &mut |s| this.borrow_mut().stmt(s))
    }
}

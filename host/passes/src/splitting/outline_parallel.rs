//! Outlining of parallel loops to functions that a pool of threads runs.

use std::collections::HashSet;
use std::sync::Arc;

use chipdock_ir::subst::Substitution;
use chipdock_ir::{
    AttrNode, AttrValue, Attrs, BinaryOp, Buffer, Callee, Child, CompareOp, DType, Expr, ExprKind, ForKind,
    IrModule, Op, Param, PrimFunc, Span, Stmt, StmtKind, StorageScope, StructField, TargetCapabilities, Var,
    attr,
};

use crate::PassError;
use crate::simplify::{self, Ranges};
use crate::splitting::capture::{Captured, copy};
use crate::walk::{any_stmt, depends_on_memory};
use crate::work;

/// Outlines each outermost parallel loop to two functions and a launch of them
/// ([`Op::ParallelLaunch`]), for a target that names that op in its `native_ops`; for other targets
/// the loop remains.
///
/// * `f_compute_region0_(first, count, captured...) -> int32` runs `count` iterations from the
///   `first` on, one after the other. Variables that the loop uses and does not bind are its
///   parameters. It is never inlined into the function that launches it ([`attr::NO_INLINE`]), and
///   has [`attr::NOALIAS`] if `f` has it and each pointer among its parameters is a parameter of
///   `f`, or memory that `f` allocates or has as a constant.
/// * `f_compute_task0_(task_id, tasks_count, data) -> int32` is the launched function: it
///   determines its share of the iterations, the first `extent mod tasks_count` tasks taking one
///   more than the others, and calls the region.
///
/// The captured variables are stored at `data`, 16 bytes each, as the value of a TVM-FFI Any (the
/// other half of it is not written): integers and booleans as int64, floats as float64, pointers. A
/// vector is stored in a buffer of its own.
///
/// There are at most as many tasks as iterations. The annotation [`attr::GRAIN`] of a loop, a
/// number or an expression that reads no memory, is the least number of iterations that pay for a
/// task: there are at most `extent // grain` tasks, and at least one; a grain below 1 counts as 1,
/// and "auto" is an estimate from the loop's body (`work`). Without an iteration nothing is
/// launched, and a single task runs in the thread that reaches the loop, as a plain call of the
/// region. If a task fails, the function that launches it fails with that error. Parallel loops
/// within a parallel loop become serial: the outer one already keeps the threads busy, or is too
/// short for that. A launch within a region can still occur if the region calls another function of
/// the module; pools run it inline. A note around a loop that its stores need not stay in caches
/// ([`attr::NONTEMPORAL`]) is around its body in the region.
///
/// # Before and after
///
/// ```text
/// for i in T.parallel(n):       if n > 0:
///     B[i] = A[i]          ->       if n == 1:
///                                       if f_compute_region0_(0, n, n, A, B) != 0: T.tvm_throw_last_error()
///                                   else:
///                                       captured = T.alloc_buffer((6,), "int64")
///                                       T.tvm_struct_set(captured.data, 0, 15, n) ... A, B
///                                       if T.TVMBackendParallelLaunch("f_compute_task0_", captured.data, n) != 0:
///                                           T.tvm_throw_last_error()
/// ```
/// With `annotations={"chipdock.grain": 1000}`:
/// ```text
/// if n > 0:
///     tasks = max(n // 1000, 1)
///     if tasks == 1: ... else: ... T.TVMBackendParallelLaunch("f_compute_task0_", captured.data, tasks)
/// ```
///
/// # Requires / # Ensures
///
/// Requires host functions with flattened buffers, made by `make_packed_api`. If the target
/// supports the op, no parallel loop is left.
///
/// # Errors
///
/// The caller's: a grain that is neither an integer, an integer expression that reads no memory,
/// nor "auto".
pub fn outline_parallel(module: &IrModule, capabilities: &TargetCapabilities) -> Result<IrModule, PassError> {
    if !capabilities.execution.has_native(Op::ParallelLaunch) {
        return Ok(module.clone());
    }
    let mut functions = Vec::with_capacity(module.functions.len());
    for function in &module.functions {
        let is_parallel = |kind: &StmtKind| matches!(kind, StmtKind::For { kind: ForKind::Parallel, .. });
        if !any_stmt(&function.body, &mut |kind| is_parallel(kind)) {
            functions.push(function.clone());
            continue;
        }
        let own = own_memory(function);
        let mut outliner =
            Outliner { function, own, ranges: Ranges::new(), regions: Vec::new(), notes: Vec::new() };
        let body = outliner.stmt(&function.body)?;
        functions.append(&mut outliner.regions);
        functions.push(PrimFunc { body, ..function.clone() });
    }
    Ok(IrModule { functions, attrs: module.attrs.clone() })
}

/// Data variables of parameters, of allocations and of constants: no two of them share memory that
/// is written if parameters do not.
fn own_memory(function: &PrimFunc) -> HashSet<Var> {
    let params = function.params.iter().map(|param| match param {
        Param::Var(var) => var.clone(),
        Param::Buffer(buffer) => buffer.data.clone(),
    });
    let mut own: HashSet<Var> = params.collect();
    function.body.walk(&mut |child| {
        if let Child::Stmt(stmt) = child
            && let StmtKind::AllocBuffer { buffer, .. } | StmtKind::DeclBuffer { buffer, .. } = &stmt.kind
            && (matches!(stmt.kind, StmtKind::AllocBuffer { .. }) || stmt.as_constant().is_some())
        {
            own.insert(buffer.data.clone());
        }
    });
    own
}

/// A parallel loop.
struct Loop<'a> {
    var: &'a Var,
    min: &'a Expr,
    extent: &'a Expr,
    step: Option<&'a Expr>,
    annotations: &'a Attrs,
    body: &'a Stmt,
    span: Span,
}

struct Outliner<'a> {
    function: &'a PrimFunc,
    own: HashSet<Var>,
    /// Known ranges of the function's variables.
    ranges: Ranges,
    /// The functions that loops were outlined to.
    regions: Vec<PrimFunc>,
    /// Notes around the current statement that are about the loops in it too:
    /// [`attr::NONTEMPORAL`], innermost last.
    notes: Vec<(AttrNode, Expr)>,
}

impl Outliner<'_> {
    fn stmt(&mut self, stmt: &Stmt) -> Result<Stmt, PassError> {
        match &stmt.kind {
            StmtKind::Bind { var, value } if value.dtype.is_integer() && value.dtype.is_scalar() => {
                let (low, high) = self.ranges.of(value);
                self.ranges.set(var, low, high);
            }
            StmtKind::For { var, min, extent, kind, step, annotations, body } => {
                self.ranges.set_loop(var, min, extent, step.as_ref());
                let is_parallel = *kind == ForKind::Parallel;
                if is_parallel && extent.as_int().is_none_or(|extent| extent > 1) {
                    let (step, span) = (step.as_ref(), stmt.span);
                    return self.outlined(&Loop { var, min, extent, step, annotations, body, span });
                }
                if is_parallel {
                    return self.children(&one_by_one(stmt));
                }
                if let Some(note) = nontemporal(annotations) {
                    return self.noted((AttrNode::None, note), stmt);
                }
            }
            StmtKind::Attr { node, key, value, .. } if **key == *attr::NONTEMPORAL => {
                return self.noted((node.clone(), value.clone()), stmt);
            }
            _ => {}
        }
        self.children(stmt)
    }

    fn noted(&mut self, note: (AttrNode, Expr), stmt: &Stmt) -> Result<Stmt, PassError> {
        self.notes.push(note);
        let result = self.children(stmt);
        self.notes.pop();
        result
    }

    /// The body of a loop with the notes around the loop that are about it.
    fn with_notes(&self, body: &Stmt) -> Stmt {
        let used = Captured::of(body).vars;
        self.notes.iter().rev().fold(body.clone(), |body, (node, value)| {
            let is_about = match node {
                AttrNode::Var(var) => used.contains(var),
                AttrNode::Buffer(buffer) => used.contains(&buffer.data),
                AttrNode::None | AttrNode::Reducer(_) => true,
            };
            if !is_about {
                return body;
            }
            let (node, key, value) = (node.clone(), attr::NONTEMPORAL.into(), value.clone());
            Stmt::new(StmtKind::Attr { node, key, value, body })
        })
    }

    fn children(&mut self, stmt: &Stmt) -> Result<Stmt, PassError> {
        stmt.try_map_children(&mut |e| Ok(e.clone()), &mut |s| self.stmt(s))
    }

    fn outlined(&mut self, of: &Loop<'_>) -> Result<Stmt, PassError> {
        let grain = self.grain(of)?;
        let mut stmts = Vec::new();
        let min = settled(of.min, "first", &mut stmts);
        let extent = settled(of.extent, "extent", &mut stmts);
        let tasks = tasks(&extent, grain);
        if tasks.as_int() == Some(1) {
            return Ok(one_after_the_other(of));
        }
        let body = self.with_notes(of.body);
        let region = Region::of(&Loop { body: &body, ..*of }, &min, &extent, &self.ranges);
        let number = self.regions.len() / 2;
        let [region_name, task_name] =
            ["region", "task"].map(|part| Arc::from(format!("{}{part}{number}_", self.function.name)));
        let own = self.region(&region, Arc::clone(&region_name));
        let task = self.task(&region, Arc::clone(&region_name), Arc::clone(&task_name), &extent);
        self.regions.extend([own, task]);
        let mut launch: Vec<Stmt> = region.spilled().collect();
        let tasks = settled(&tasks, "tasks", &mut launch);
        let all = region.launch(task_name, &extent, tasks.clone());
        launch.push(if tasks.as_int().is_some() {
            all
        } else {
            let share = [Expr::int(0, extent.dtype), extent.clone()];
            let args = share.into_iter().chain(region.outer.iter().map(Var::expr)).collect();
            let alone = throw_unless_zero(call(region_name, args));
            Stmt::if_then(is(CompareOp::Eq, &tasks, 1), alone, Some(all))
        });
        let launch = Stmt::seq(launch);
        stmts.push(if extent.as_int().is_some() {
            launch
        } else {
            Stmt::if_then(is(CompareOp::Gt, &extent, 0), launch, None)
        });
        Ok(spanned(&Stmt::new(StmtKind::Seq(stmts)), of.span))
    }

    /// The grain that the loop states.
    fn grain(&self, of: &Loop<'_>) -> Result<Option<Expr>, PassError> {
        let refuse = |what: &str| {
            let message = format!(
                "the annotation \"{}\" of loop {} is {what}; expected an integer, an integer expression that reads \
                 no memory, or \"auto\"",
                attr::GRAIN,
                of.var.name
            );
            Err(PassError::caller("outline_parallel", &self.function.name, message).at(of.span))
        };
        match of.annotations.get(attr::GRAIN) {
            None => Ok(None),
            Some(AttrValue::Int(grain)) => Ok(Some(Expr::int((*grain).into(), DType::INT64))),
            Some(AttrValue::Expr(grain)) if grain.dtype.is_integer() && grain.dtype.is_scalar() => {
                if depends_on_memory(grain) {
                    return refuse("an expression that reads memory");
                }
                Ok(Some(grain.clone()))
            }
            Some(AttrValue::Expr(grain)) => refuse(&format!("an expression of type {}", grain.dtype)),
            Some(AttrValue::Str(text)) if **text == *work::AUTO => Ok(Some(work::grain(of.var, of.body))),
            Some(_) => refuse("no number"),
        }
    }

    /// Builds the function that runs some iterations.
    fn region(&self, region: &Region, name: Arc<str>) -> PrimFunc {
        let mut substitution = Substitution::new().fresh();
        let params: Vec<Var> = region.params().map(copy).collect();
        for (old, new) in region.params().zip(&params) {
            substitution.map_var(old, new.expr());
        }
        let success = Stmt::new(StmtKind::Return(Some(Expr::i32(0))));
        let known = region.known.iter().cloned();
        let stmts = known.chain([region.body.clone(), success]);
        let body = substitution.stmt(&Stmt::seq(stmts));
        let is_own =
            |var: &Var| self.own.contains(var) || region.vectors.iter().any(|(_, spill)| spill.data == *var);
        let no_alias = region.outer.iter().filter(|var| var.dtype.is_handle()).all(is_own);
        let mut attrs = self.attrs();
        attrs.insert(attr::NO_INLINE.into(), AttrValue::Bool(true));
        if let Some(noalias) = self.function.attrs.get(attr::NOALIAS).filter(|_| no_alias) {
            attrs.insert(attr::NOALIAS.into(), noalias.clone());
        }
        internal(name, params, attrs, body)
    }

    /// Builds the function that is launched.
    fn task(&self, region: &Region, callee: Arc<str>, name: Arc<str>, extent: &Expr) -> PrimFunc {
        let [id, count] = ["task_id", "tasks_count"].map(|name| Var::new(name, DType::INT32));
        let data = Var::new("data", DType::HANDLE);
        let mut stmts = Vec::new();
        let mut bind = |name: &str, value: Expr| {
            let var = Var::new(name, value.dtype);
            stmts.push(Stmt::new(StmtKind::Bind { var: var.clone(), value }));
            var.expr()
        };
        let slots = region.slots(extent);
        let n = match slots.iter().position(|var| is_var(extent, var)) {
            Some(slot) => bind("extent", get(&data, slot, extent.dtype)),
            None => extent.clone(),
        };
        let dtype = extent.dtype;
        let [id_wide, count_wide] =
            [&id, &count].map(|var| if dtype == DType::INT32 { var.expr() } else { var.expr().cast(dtype) });
        let each = bind("each", Expr::binary(BinaryOp::Div, n.clone(), count_wide.clone()));
        let more = bind("more", Expr::binary(BinaryOp::Mod, n, count_wide));
        let first = &(&id_wide * &each) + &Expr::binary(BinaryOp::Min, id_wide.clone(), more.clone());
        let takes_more = Expr::compare(CompareOp::Lt, id_wide, more);
        let own = &each + &Expr::select(takes_more, Expr::int(1, dtype), Expr::int(0, dtype));
        let mut args = vec![bind("first", first), bind("count", own)];
        for (slot, var) in region.outer.iter().enumerate() {
            let taken = copy(var);
            let value = get(&data, slot, var.dtype);
            stmts.push(Stmt::new(StmtKind::Bind { var: taken.clone(), value }));
            args.push(taken.expr());
        }
        stmts.push(Stmt::new(StmtKind::Return(Some(call(callee, args)))));
        internal(name, vec![id, count, data], self.attrs(), Stmt::seq(stmts))
    }

    /// The function's attributes that also apply to the new functions.
    fn attrs(&self) -> Attrs {
        let mut attrs = self.function.attrs.clone();
        attrs.remove(attr::NOALIAS);
        attrs.remove(attr::NO_INLINE);
        attrs
    }
}

/// The parts of a loop that becomes a function.
struct Region {
    /// The index of the first iteration to run, and the number of iterations.
    share: [Var; 2],
    /// Captured variables: scalars and pointers; a vector is replaced by a pointer to its buffer.
    outer: Vec<Var>,
    /// The parameters for `outer`.
    inner: Vec<Var>,
    /// Captured vectors, and the buffers that store them.
    vectors: Vec<(Var, Buffer)>,
    /// Statements that compute the loop's variables from the parameters.
    known: Vec<Stmt>,
    /// The loop over the share.
    body: Stmt,
}

impl Region {
    fn of(of: &Loop<'_>, min: &Expr, extent: &Expr, ranges: &Ranges) -> Self {
        let dtype = extent.dtype;
        let share = ["first", "count"].map(|name| Var::new(name, dtype));
        let (_, most) = ranges.of(extent);
        let first = Var::new("first", dtype);
        let value = within(share[0].expr(), (0, most.max(1) - 1));
        let known = Stmt::new(StmtKind::Bind { var: first.clone(), value });
        let most = most.max(1);
        let moved = match of.step {
            Some(step) => &first.expr() * step,
            None => first.expr(),
        };
        let start = if min.as_int() == Some(0) { moved } else { min + &moved };
        // Clamped to the number of iterations: ranges known for the loop's variable also hold for
        // this one.
        let end = min.as_int().map(|min| min + most).filter(|_| of.step.is_none());
        let left = match end.filter(|end| dtype.integer_range().is_some_and(|(_, greatest)| *end <= greatest))
        {
            Some(end) => Expr::int(end, dtype) - start.clone(),
            None => Expr::int(most, dtype) - first.expr(),
        };
        let count = Expr::binary(BinaryOp::Min, share[1].expr(), left);
        let body = Stmt::new(StmtKind::For {
            var: of.var.clone(),
            min: start,
            extent: count,
            kind: ForKind::Serial,
            step: of.step.cloned(),
            annotations: without_grain(of.annotations),
            body: serial(of.body),
        });
        let body = body.with_span(of.span);
        let found = Captured::of(&body);
        let known = [known].into_iter().chain(found.declarations()).collect();
        let (outer, inner, vectors) = Default::default();
        let mut region = Self { share: share.clone(), outer, inner, vectors, known, body };
        for var in found.vars.iter().filter(|var| **var != share[1] && **var != first) {
            region.capture(var, ranges);
        }
        region
    }

    fn capture(&mut self, var: &Var, ranges: &Ranges) {
        let (outer, inner) = if !var.dtype.is_scalar() {
            let shape = vec![Expr::int(var.dtype.lanes.into(), DType::INT64)];
            let spill = Buffer::new(Arc::clone(&var.name), shape, var.dtype.scalar(), StorageScope::GLOBAL);
            let data = spill.data.clone();
            let value = Expr::load(&spill, vec![lanes(var.dtype)]);
            self.known.push(Stmt::new(StmtKind::DeclBuffer { buffer: spill.clone(), data: None }));
            self.known.push(Stmt::new(StmtKind::Bind { var: var.clone(), value }));
            self.vectors.push((var.clone(), spill));
            (data.clone(), data)
        } else if var.dtype.is_integer() && within(var.expr(), ranges.of(&var.expr())) != var.expr() {
            let given = copy(var);
            let value = within(given.expr(), ranges.of(&var.expr()));
            // Shapes of buffers refer to it.
            self.known.insert(0, Stmt::new(StmtKind::Bind { var: var.clone(), value }));
            (var.clone(), given)
        } else {
            (var.clone(), var.clone())
        };
        self.outer.push(outer);
        self.inner.push(inner);
    }

    fn params(&self) -> impl Iterator<Item = &Var> {
        self.share.iter().chain(&self.inner)
    }

    /// The values stored at the task's data, in order: the region's captures, and the extent if
    /// only the task needs it.
    fn slots(&self, extent: &Expr) -> Vec<Var> {
        let mut slots = self.outer.clone();
        if let ExprKind::Var(var) = &extent.kind
            && !slots.contains(var)
        {
            slots.push(var.clone());
        }
        slots
    }

    /// Stores the captured values and launches the tasks.
    fn launch(&self, task: Arc<str>, extent: &Expr, tasks: Expr) -> Stmt {
        let slots = self.slots(extent);
        let n_words = Expr::int(2 * slots.len().max(1) as i128, DType::INT64);
        let packed = Buffer::new("captured", vec![n_words], DType::INT64, StorageScope::GLOBAL);
        let mut stmts = vec![allocation(&packed)];
        stmts.extend(slots.iter().enumerate().map(|(slot, var)| set(&packed, slot, var.expr())));
        let args = vec![Expr::str(task), packed.data.expr(), tasks];
        stmts.push(throw_unless_zero(Expr::call(Op::ParallelLaunch, args, DType::INT32)));
        Stmt::seq(stmts)
    }

    /// Allocates buffers for the vectors and stores the vectors in them.
    fn spilled(&self) -> impl Iterator<Item = Stmt> {
        self.vectors.iter().flat_map(|(vector, spill)| {
            [allocation(spill), Stmt::store(spill, vec![lanes(vector.dtype)], vector.expr())]
        })
    }
}

fn is_var(value: &Expr, var: &Var) -> bool {
    matches!(&value.kind, ExprKind::Var(found) if found == var)
}

/// The value clamped to its known bounds, which makes them explicit in the code.
fn within(value: Expr, (low, high): (i128, i128)) -> Expr {
    let dtype = value.dtype;
    let Some((least, most)) = dtype.integer_range() else { return value };
    let value = if low > least { Expr::binary(BinaryOp::Max, value, Expr::int(low, dtype)) } else { value };
    if high < most { Expr::binary(BinaryOp::Min, value, Expr::int(high, dtype)) } else { value }
}

/// Indices of all lanes of a vector in its buffer.
fn lanes(dtype: DType) -> Expr {
    Expr::int(0, DType::INT64).ramp(Expr::int(1, DType::INT64), dtype.lanes)
}

/// Makes all parallel loops of the statement serial.
fn serial(stmt: &Stmt) -> Stmt {
    let stmt = stmt.map_children(&mut Expr::clone, &mut serial);
    match &stmt.kind {
        StmtKind::For { kind: ForKind::Parallel, .. } => one_by_one(&stmt),
        _ => stmt,
    }
}

/// Makes a loop serial.
fn one_by_one(stmt: &Stmt) -> Stmt {
    let mut kind = stmt.kind.clone();
    if let StmtKind::For { kind, annotations, .. } = &mut kind {
        *kind = ForKind::Serial;
        *annotations = without_grain(annotations);
    }
    Stmt::new(kind).with_span(stmt.span)
}

/// The loop itself, serial, for a loop of a single task.
fn one_after_the_other(of: &Loop<'_>) -> Stmt {
    Stmt::new(StmtKind::For {
        var: of.var.clone(),
        min: of.min.clone(),
        extent: of.extent.clone(),
        kind: ForKind::Serial,
        step: of.step.cloned(),
        annotations: without_grain(of.annotations),
        body: serial(of.body),
    })
    .with_span(of.span)
}

/// The request of a loop that its stores bypass the caches.
fn nontemporal(annotations: &Attrs) -> Option<Expr> {
    match annotations.get(attr::NONTEMPORAL)? {
        AttrValue::Int(value) => Some(Expr::int((*value).into(), DType::INT64)),
        AttrValue::Bool(value) => Some(Expr::bool(*value)),
        AttrValue::Expr(value) => Some(value.clone()),
        _ => None,
    }
}

fn without_grain(annotations: &Attrs) -> Attrs {
    let mut annotations = annotations.clone();
    annotations.remove(attr::GRAIN);
    annotations
}

/// The greatest number of tasks of a loop, an int32 of at least 1 if there is an iteration.
fn tasks(extent: &Expr, grain: Option<Expr>) -> Expr {
    let tasks = match grain.filter(|grain| grain.as_int().is_none_or(|grain| grain > 1)) {
        None => extent.clone(),
        Some(grain) => {
            let wide = DType::INT64;
            let grain = Expr::binary(BinaryOp::Max, converted(grain, wide), Expr::int(1, wide));
            let tasks = Expr::binary(BinaryOp::Div, converted(extent.clone(), wide), grain);
            simplify::expr(&Expr::binary(BinaryOp::Max, tasks, Expr::int(1, wide)))
        }
    };
    if tasks.dtype == DType::INT32 {
        return tasks;
    }
    let most = Expr::int(i32::MAX.into(), tasks.dtype);
    simplify::expr(&Expr::binary(BinaryOp::Min, tasks, most).cast(DType::INT32))
}

/// Returns a constant or a variable as it is, and binds any other value to a variable first.
fn settled(value: &Expr, name: &str, before: &mut Vec<Stmt>) -> Expr {
    if value.as_int().is_some() || matches!(value.kind, ExprKind::Var(_)) {
        return value.clone();
    }
    let var = Var::new(name, value.dtype);
    before.push(Stmt::new(StmtKind::Bind { var: var.clone(), value: value.clone() }));
    var.expr()
}

/// The types through which a value is converted to the form stored at the task's data. A half is
/// converted through float32, as everywhere.
fn steps(dtype: DType) -> [DType; 2] {
    match dtype {
        dtype if dtype.is_handle() => [dtype, dtype],
        dtype if dtype.is_float() && dtype.bits == 16 => [DType::FLOAT32, DType::FLOAT64],
        dtype if dtype.is_float() => [dtype, DType::FLOAT64],
        _ => [dtype, DType::INT64],
    }
}

fn field(slot: usize, handle: &Var) -> [Expr; 3] {
    let field = Expr::i32(StructField::AnyValue as i32);
    [handle.expr(), Expr::int(slot as i128, DType::INT32), field]
}

fn set(packed: &Buffer, slot: usize, value: Expr) -> Stmt {
    let [handle, index, field] = field(slot, &packed.data);
    let value = steps(value.dtype).into_iter().fold(value, converted);
    Stmt::new(StmtKind::Evaluate(Expr::call(Op::StructSet, vec![handle, index, field, value], DType::HANDLE)))
}

fn get(data: &Var, slot: usize, dtype: DType) -> Expr {
    let [start, end] = steps(dtype);
    let value = Expr::call(Op::StructGet, field(slot, data).into(), end);
    [start, dtype].into_iter().fold(value, converted)
}

fn converted(value: Expr, dtype: DType) -> Expr {
    if value.dtype == dtype { value } else { value.cast(dtype) }
}

fn allocation(buffer: &Buffer) -> Stmt {
    Stmt::new(StmtKind::AllocBuffer { buffer: buffer.clone(), annotations: Attrs::new() })
}

fn is(op: CompareOp, value: &Expr, constant: i128) -> Expr {
    Expr::compare(op, value.clone(), Expr::int(constant, value.dtype))
}

fn call(name: Arc<str>, args: Vec<Expr>) -> Expr {
    Expr::new(ExprKind::Call { callee: Callee::Global(name), args }, DType::INT32)
}

fn throw_unless_zero(call: Expr) -> Stmt {
    let throw = Expr::call(Op::ThrowLastError, Vec::new(), DType::HANDLE);
    Stmt::if_then(is(CompareOp::Ne, &call, 0), Stmt::new(StmtKind::Evaluate(throw)), None)
}

/// Sets the span of the statement and of those in it that have none.
fn spanned(stmt: &Stmt, span: Span) -> Stmt {
    let stmt = stmt.map_children(&mut Expr::clone, &mut |s| spanned(s, span));
    if stmt.span == Span::NONE { stmt.with_span(span) } else { stmt }
}

/// Builds a function that is called only within the module.
fn internal(name: Arc<str>, params: Vec<Var>, mut attrs: Attrs, body: Stmt) -> PrimFunc {
    attrs.insert(attr::CALLING_CONV.into(), AttrValue::Int(0));
    PrimFunc {
        name,
        params: params.into_iter().map(Param::Var).collect(),
        ret: Some(DType::INT32),
        attrs,
        s_tir: false,
        alloc_buffers: Vec::new(),
        body,
    }
}

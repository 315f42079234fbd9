//! Separation of device functions from host functions.

mod kernel;
mod long;
mod scalars;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use chipdock_ir::{
    AttrNode, AttrValue, Attrs, Buffer, Child, Expr, ExprKind, IrModule, PrimFunc, Stmt, StmtKind,
    StorageRank, TargetCapabilities, Var, attr,
};

use crate::PassError;
use crate::splitting::callees::Callees;
use crate::walk::{Starts, any_stmt, binds_threads, called_functions, starts};
use kernel::Region;

pub(crate) const PASS: &str = "split_host_device";

/// Outlines each launch of each function to a kernel, `f_kernel`, `f_kernel_1` and so on, and
/// leaves a call that launches it in its place.
///
/// For a host target there is nothing to outline: the module is the host's.
///
/// # Before and after
///
/// ```text
/// def f(A: T.Buffer((n,))):                      def f(A: T.Buffer((n,))):
///     for bx in T.thread_binding(n // 64, ...):      T.tvm_call_packed("f_kernel", A.data, n, n // 64, 64)
///         for tx in T.thread_binding(64, ...):   def f_kernel(A: T.handle("float32"), n: T.int32):
///             A[bx * 64 + tx] = ...          ->      bx = T.launch_thread("blockIdx.x", n // 64)
///                                                    tx = T.launch_thread("threadIdx.x", 64)
///                                                    A[bx * 64 + tx] = ...
/// ```
///
/// The arguments of a launch are the kernel's (data pointers in the order of the function's
/// parameters, then scalars), then the extent of each axis, at least 0, then the bytes of dynamic
/// shared memory if there is any. A scalar of float16 or bfloat16 is passed as float32.
///
/// A constant that a kernel reads (IR-B8) is declared in the kernel, and is no argument; a host
/// function keeps it where it reads it itself.
///
/// A launch of a device without thread axes (IR-K8) has no extents: the kernel's body is the
/// launch's.
///
/// ```text
/// def f(A: T.Buffer((n,))):                      def f(A: T.Buffer((n,))):
///     with T.attr({"device_scope": 0}):             T.tvm_call_packed("f_kernel", A.data, n)
///         for i in range(n):                 ->  def f_kernel(A: T.handle("float32"), n: T.int32):
///             A[i] = ...                             for i in range(n):
///                                                        A[i] = ...
/// ```
///
/// If the target has no integers of 64 bits, a size (a free variable of the shapes, strides and
/// offsets of the function's tensors) is passed as int32, and the host function fails with a
/// ValueError if the size does not fit; another integer of 64 bits is passed as two uint32, `x_low`
/// and `x_high`. Indices have 32 bits there: a buffer of the host function with 2^31 elements or
/// more, its offset and lanes included, two for an integer of 64 bits, is refused; one of a size
/// known only when it is called, by a ValueError.
///
/// # Requires / # Ensures
///
/// Requires the guarantees of `verify_memory`, explicit barriers, and no virtual threads. Host
/// functions have no thread axis, no memory but global, and the attribute [`attr::DEVICE`] in place
/// of [`attr::TARGET`]: their tensors are the device's, whether they launch anything or not.
/// Kernels, and copies of the functions that they call, have [`attr::TARGET`] and come after all
/// host functions.
///
/// # Errors
///
/// The caller's: a launch whose extents are not known where it starts, or differ on one axis;
/// threads in a function that a kernel calls. The target's: threads on a host; a kernel that would
/// need a vector parameter; a buffer of constant size with more elements than its indices reach.
pub fn split_host_device(
    module: &IrModule,
    capabilities: &TargetCapabilities,
) -> Result<IrModule, PassError> {
    if capabilities.is_host {
        return host_alone(module, capabilities);
    }
    let mut names: HashSet<Arc<str>> = module.functions.iter().map(|f| Arc::clone(&f.name)).collect();
    let (mut hosts, mut kernels) = (Vec::new(), Vec::new());
    for function in &module.functions {
        if is_kernel(function) {
            kernels.push(function.clone());
            continue;
        }
        let mut split = Split {
            function,
            capabilities,
            names: &mut names,
            kernels: Vec::new(),
            next: 0,
            passed: Vec::new(),
            constants: constants_of(&function.body),
        };
        let body = split.stmt(&moved_inside(&function.body, starts(capabilities)))?;
        let checks = split.passed.iter().filter_map(|var| scalars::check(var, function, capabilities));
        let body = without_unread(&Stmt::seq(checks.chain([body])), &split.constants);
        kernels.append(&mut split.kernels);
        let mut attrs = function.attrs.clone();
        attrs.remove(attr::TARGET);
        attrs.insert(attr::DEVICE.into(), device(capabilities));
        hosts.push(PrimFunc { body, attrs, ..function.clone() });
    }
    let called = callees(module, &kernels, starts(capabilities))?;
    let all = Callees::of(module);
    let by_kernels: HashSet<&Arc<str>> = called.iter().map(|callee| &callee.name).collect();
    // Functions that kernels call are host functions too, unless they touch memory that only a
    // device can access.
    hosts.retain(|function| {
        !by_kernels.contains(&function.name) || is_public(function) || all.is_arithmetic(&function.name)
    });
    hosts.extend(called.into_iter().map(|callee| with_target(callee, capabilities)));
    hosts.extend(kernels.into_iter().map(|kernel| with_target(&kernel, capabilities)));
    Ok(IrModule { functions: hosts, attrs: module.attrs.clone() })
}

/// Returns true if a function was a kernel in the input.
pub(crate) fn is_kernel(function: &PrimFunc) -> bool {
    function.attrs.get(attr::CALLING_CONV) == Some(&AttrValue::Int(2))
}

fn is_public(function: &PrimFunc) -> bool {
    matches!(function.attrs.get(attr::IS_GLOBAL_FUNC), Some(AttrValue::Bool(true) | AttrValue::Int(1)))
        || function.attrs.contains_key(attr::GLOBAL_SYMBOL)
}

fn with_target(function: &PrimFunc, capabilities: &TargetCapabilities) -> PrimFunc {
    let mut attrs = function.attrs.clone();
    attrs.insert(attr::TARGET.into(), AttrValue::Target(Arc::clone(&capabilities.target)));
    PrimFunc { attrs, ..function.clone() }
}

/// The device of a host function's tensors, as an attribute.
fn device(capabilities: &TargetCapabilities) -> AttrValue {
    let number = if capabilities.device.is_assigned { 0 } else { capabilities.device.device_type.into() };
    let entries = [
        ("name", AttrValue::Str(capabilities.device.name.as_str().into())),
        ("type", AttrValue::Int(number)),
        ("opaque_handles", AttrValue::Bool(capabilities.memory.opaque_handles)),
    ];
    AttrValue::Map(entries.into_iter().map(|(name, value)| (name.into(), value)).collect::<BTreeMap<_, _>>())
}

fn host_alone(module: &IrModule, capabilities: &TargetCapabilities) -> Result<IrModule, PassError> {
    for function in &module.functions {
        if any_stmt(&function.body, &mut binds_threads) {
            let message = format!(
                "{} has loops bound to threads, which target \"{}\" does not launch; build it for a target with threads",
                function.name, capabilities.target.kind
            );
            return Err(PassError::target(PASS, &function.name, message));
        }
    }
    Ok(module.clone())
}

/// The functions of the module that kernels call, directly or indirectly.
fn callees<'m>(
    module: &'m IrModule,
    kernels: &[PrimFunc],
    starts: Starts,
) -> Result<Vec<&'m PrimFunc>, PassError> {
    let functions = module.by_name();
    let mut known = HashSet::new();
    let (mut found, mut open): (Vec<&PrimFunc>, Vec<&PrimFunc>) = (Vec::new(), kernels.iter().collect());
    while let Some(function) = open.pop() {
        for name in called_functions(&function.body) {
            let Some(callee) = functions.get(&*name).copied() else { continue };
            if !known.insert(Arc::clone(&name)) {
                continue;
            }
            if any_stmt(&callee.body, &mut |kind| starts(kind)) {
                let message = format!(
                    "{name}, which a launch of {} calls, launches threads itself; expected a function that one thread runs",
                    function.name
                );
                return Err(PassError::caller(PASS, &function.name, message));
            }
            found.push(callee);
            open.push(callee);
        }
    }
    Ok(found)
}

/// Moves shared, local and warp memory that is allocated around a launch into each launch that uses
/// it.
fn moved_inside(body: &Stmt, starts: Starts) -> Stmt {
    match &body.kind {
        StmtKind::Seq(stmts) => {
            let (mut inner, mut result) = (HashMap::new(), Vec::with_capacity(stmts.len()));
            for stmt in stmts.iter().map(|stmt| moved_inside(stmt, starts)) {
                match inner_memory(&stmt).cloned() {
                    Some(data) => drop(inner.insert(data, (inner.len(), stmt))),
                    None if inner.is_empty() => result.push(stmt),
                    None => result.push(with_allocations(&stmt, &inner, starts)),
                }
            }
            Stmt::seq(result).with_span(body.span)
        }
        kind if starts(kind) => body.clone(),
        _ => body.map_children(&mut Expr::clone, &mut |stmt| moved_inside(stmt, starts)),
    }
}

/// The data variable of an allocation that is not global.
fn inner_memory(stmt: &Stmt) -> Option<&Var> {
    match &stmt.kind {
        StmtKind::AllocBuffer { buffer, .. } if buffer.scope.rank != StorageRank::Global => {
            Some(&buffer.data)
        }
        _ => None,
    }
}

/// Inserts each allocation at the start of each launch within the statement that uses its memory,
/// the last one first.
fn with_allocations(stmt: &Stmt, inner: &HashMap<Var, (usize, Stmt)>, starts: Starts) -> Stmt {
    match &stmt.kind {
        kind if starts(kind) => {
            let used = crate::splitting::capture::Captured::of(stmt).vars;
            let mut used: Vec<&(usize, Stmt)> = used.iter().filter_map(|var| inner.get(var)).collect();
            if used.is_empty() {
                return stmt.clone();
            }
            used.sort_unstable_by_key(|(number, _)| std::cmp::Reverse(*number));
            stmt.map_children(&mut Expr::clone, &mut |body| {
                let used = used.iter().map(|(_, allocation)| allocation.clone());
                Stmt::seq(used.chain([body.clone()]))
            })
        }
        // A second launch has memory of its own, and a view of it would have two sources.
        StmtKind::DeclBuffer { .. } => stmt.clone(),
        _ => stmt.map_children(&mut Expr::clone, &mut |child| with_allocations(child, inner, starts)),
    }
}

struct Split<'a> {
    function: &'a PrimFunc,
    capabilities: &'a TargetCapabilities,
    names: &'a mut HashSet<Arc<str>>,
    kernels: Vec<PrimFunc>,
    /// Number of the next kernel, for its name.
    next: usize,
    /// Variables that are passed to kernels, each once.
    passed: Vec<Var>,
    /// The constants of the function, by their data variables.
    constants: Constants,
}

/// Removes the constants, and views of them, that nothing in the body uses.
fn without_unread(body: &Stmt, constants: &Constants) -> Stmt {
    if constants.is_empty() {
        return body.clone();
    }
    let mut used = HashSet::new();
    body.walk(&mut |child| match child {
        Child::Expr(expr) => expr.walk(&mut |e| match &e.kind {
            ExprKind::Var(var) => drop(used.insert(var.clone())),
            ExprKind::Load { buffer, .. } => drop(used.insert(buffer.data.clone())),
            _ => {}
        }),
        Child::Stmt(stmt) => {
            if let StmtKind::Attr { node: AttrNode::Buffer(buffer), .. } = &stmt.kind {
                used.insert(buffer.data.clone());
            }
        }
    });
    fn without(stmt: &Stmt, gone: &dyn Fn(&Var) -> bool) -> Stmt {
        match &stmt.kind {
            StmtKind::DeclBuffer { buffer, .. } if gone(&buffer.data) => Stmt::nop(),
            StmtKind::Seq(stmts) => Stmt::seq(stmts.iter().map(|s| without(s, gone))).with_span(stmt.span),
            _ => stmt.map_children(&mut Expr::clone, &mut |s| without(s, gone)),
        }
    }
    without(body, &|var| constants.contains_key(var) && !used.contains(var))
}

/// Constants by their data variables: the statements that declare them.
type Constants = HashMap<Var, Stmt>;

fn constants_of(body: &Stmt) -> Constants {
    let mut found = HashMap::new();
    body.walk(&mut |child| {
        if let Child::Stmt(stmt) = child
            && let Some((buffer, _)) = stmt.as_constant()
        {
            found.insert(buffer.data.clone(), stmt.clone());
        }
    });
    found
}

impl Split<'_> {
    fn stmt(&mut self, stmt: &Stmt) -> Result<Stmt, PassError> {
        if starts(self.capabilities)(&stmt.kind) {
            return self.launch(stmt).map_err(|error| error.at(stmt.span));
        }
        if let StmtKind::AllocBuffer { buffer, annotations } = &stmt.kind {
            let mut annotations: Attrs = annotations.clone();
            annotations.insert(attr::DEVICE_MEMORY.into(), AttrValue::Bool(true));
            let kind = StmtKind::AllocBuffer { buffer: buffer.clone(), annotations };
            return self.checked(buffer, Stmt::new(kind).with_span(stmt.span));
        }
        if let StmtKind::DeclBuffer { buffer, .. } = &stmt.kind {
            return self.checked(buffer, stmt.clone());
        }
        if let StmtKind::Seq(stmts) = &stmt.kind {
            // One sequence: what a declaration binds is bound until its end.
            let stmts: Vec<Stmt> = stmts.iter().map(|stmt| self.stmt(stmt)).collect::<Result<_, _>>()?;
            return Ok(Stmt::seq(stmts).with_span(stmt.span));
        }
        let this = RefCell::new(self);
        stmt.try_map_children(&mut |e| Ok(e.clone()), &mut |s| this.borrow_mut().stmt(s))
    }

    /// A declaration after the check of its size, if it needs one.
    fn checked(&self, buffer: &Buffer, declared: Stmt) -> Result<Stmt, PassError> {
        let check = long::check(buffer, self.function, self.capabilities);
        let check = check.map_err(|error| error.at(declared.span))?;
        Ok(Stmt::seq(check.into_iter().chain([declared])))
    }

    fn launch(&mut self, stmt: &Stmt) -> Result<Stmt, PassError> {
        let name = self.name();
        let region = Region::of(self.function, stmt)?;
        for var in region.captured().iter().filter(|var| !self.constants.contains_key(*var)) {
            if !self.passed.contains(var) {
                self.passed.push(var.clone());
            }
        }
        let (kernel, call) = region.outlined(self.function, &name, self.capabilities, &self.constants)?;
        self.kernels.push(kernel);
        Ok(Stmt::new(StmtKind::Evaluate(call)).with_span(stmt.span))
    }

    fn name(&mut self) -> Arc<str> {
        let base = format!("{}_kernel", self.function.name);
        loop {
            let name: Arc<str> = match self.next {
                0 => base.as_str().into(),
                number => format!("{base}_{number}").into(),
            };
            self.next += 1;
            if self.names.insert(Arc::clone(&name)) {
                return name;
            }
        }
    }
}

//! Checks of modules and functions: names, parameters, sizes, calls of each other.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::call::is_c_name;
use super::expr::is_index;
use super::{Checker, DIAGNOSTICS_MAX};
use crate::limits::{PARAMS_MAX, SIZES_MAX};
use crate::print::names::RESERVED;
use crate::{
    AttrValue, Buffer, Diagnostic, ExprKind, IrModule, Param, PrimFunc, Span, Stage, Stmt, StmtKind,
    StorageRank, Var, attr,
};

/// The prefix of the entry functions of host modules.
const ENTRY_PREFIX: &str = "__tvm_ffi_";

/// Returns all problems of a module of bounded size.
pub(super) fn module(module: &IrModule, stage: Stage) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    let mut names = HashSet::new();
    let functions = module.by_name();
    for function in &module.functions {
        let mut checker = Checker::new(&functions, function, stage);
        if !names.insert(&function.name) {
            checker.at("", format!("there are two functions `{}`", function.name));
        }
        checker.function();
        problems.append(&mut checker.problems);
        if problems.len() >= DIAGNOSTICS_MAX {
            return problems;
        }
    }
    // Attributes of the module are outside of every function: no variable is in scope there.
    let nobody = crate::build::function("").finish();
    let mut checker = Checker::new(&functions, &nobody, stage);
    checker.annotations(&module.attrs);
    problems.append(&mut checker.problems);
    if let Some(cycle) = recursion(module) {
        let message = format!("functions call each other in a circle: {}", cycle.join(" calls "));
        problems.push(Diagnostic { function: "".into(), span: Span::NONE, node: String::new(), message });
    }
    problems
}

/// Returns the names of the functions that a function calls.
fn callees(function: &PrimFunc) -> Vec<Arc<str>> {
    let mut out = Vec::new();
    function.body.walk_exprs(&mut |e| {
        out.extend(e.called().cloned());
    });
    out
}

/// Returns a cycle of calls, with the first function at both ends.
fn recursion(module: &IrModule) -> Option<Vec<String>> {
    let calls: HashMap<Arc<str>, Vec<Arc<str>>> =
        module.functions.iter().map(|f| (Arc::clone(&f.name), callees(f))).collect();
    let mut done = HashSet::new();
    for function in &module.functions {
        // The path so far; each function with the number of its calls that were followed.
        let mut path = vec![(Arc::clone(&function.name), 0)];
        let mut on_path = HashSet::from([Arc::clone(&function.name)]);
        while let Some((name, next)) = path.last_mut() {
            let name = Arc::clone(name);
            let callee = calls.get(&name).and_then(|list| list.get(*next)).cloned();
            *next += 1;
            match callee {
                None => {
                    on_path.remove(&name);
                    done.insert(name);
                    path.pop();
                }
                Some(callee) if done.contains(&callee) => {}
                Some(callee) if on_path.insert(Arc::clone(&callee)) => path.push((callee, 0)),
                Some(callee) => {
                    let start = path.iter().position(|(name, _)| *name == callee).unwrap_or(0);
                    let cycle = path[start..].iter().map(|(name, _)| name).chain([&callee]);
                    return Some(cycle.map(|name| name.to_string()).collect());
                }
            }
        }
    }
    None
}

/// Returns true if every path through the statement ends with `return`.
fn always_returns(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Return(_) => true,
        StmtKind::Seq(stmts) => stmts.iter().any(always_returns),
        StmtKind::If { then, otherwise: Some(otherwise), .. } => {
            always_returns(then) && always_returns(otherwise)
        }
        StmtKind::Attr { body, .. } => always_returns(body),
        _ => false,
    }
}

impl Checker<'_> {
    pub(super) fn function(&mut self) {
        let function = self.function;
        self.function_name(&function.name);
        self.params();
        self.attributes();
        if let Some(ret) = function.ret
            && (super::expr::type_problem(ret).is_some() || !ret.is_scalar() || ret.is_storage())
        {
            self.at("", format!("a function returns a scalar or nothing, found {ret}"));
        }
        if function.ret.is_some() && !always_returns(&function.body) {
            self.at("", "a path through the function ends without `return`, though it has a result");
        }
        if self.stage >= Stage::Flattened && !function.alloc_buffers.is_empty() {
            self.at("", "a function of this stage has no root block to allocate buffers");
        }
        for buffer in &function.alloc_buffers {
            self.allocate(buffer);
        }
        self.body(&function.body);
    }

    fn function_name(&mut self, name: &str) {
        if !is_c_name(name) || RESERVED.contains(&name) {
            let text =
                "expected letters, digits and _, not a digit first, and no word of Python's or of the script";
            self.at("", format!("\"{name}\" cannot name a function; {text}"));
        } else if name.starts_with('_') {
            let entry = self.stage == Stage::Host && name.len() > ENTRY_PREFIX.len();
            if !(entry && name.starts_with(ENTRY_PREFIX)) {
                self.at(
                    "",
                    format!("\"{name}\" cannot name a function; names that start with _ are reserved"),
                );
            }
        }
    }

    fn params(&mut self) {
        let function = self.function;
        let count = function.params.len();
        // Passes make functions that also take sizes and all that a part of a function uses as
        // parameters.
        if self.stage < Stage::Device && count > PARAMS_MAX {
            let text = "pass values of one type in a buffer, or split the function";
            self.at(
                "",
                format!("the function has {count} parameters; expected at most {PARAMS_MAX}: {text}"),
            );
        }
        let mut names = HashSet::new();
        for param in &function.params {
            let name = param.name();
            let public = self.stage <= Stage::Scheduled || matches!(param, Param::Buffer(_));
            if public && (!is_c_name(name) || RESERVED.contains(&&**name)) {
                self.at(name, format!("\"{name}\" cannot name a parameter; expected letters, digits and _"));
            }
            if public && !names.insert(Arc::clone(name)) {
                self.at(name, format!("there are two parameters `{name}`"));
            }
            if let Param::Var(var) = param {
                self.bind(var);
                if !var.dtype.is_scalar() {
                    let text =
                        format!("parameter `{name}`: expected a scalar or a handle, found {}", var.dtype);
                    self.at(name, text);
                } else if let Some(dtype) = storage_type(var) {
                    let text =
                        format!("parameter `{name}`: expected a buffer of {dtype}, found {}", kind_of(var));
                    self.at(name, text);
                }
            }
        }
        let buffers: Vec<&Buffer> = function
            .params
            .iter()
            .filter_map(|param| match param {
                Param::Buffer(buffer) => Some(buffer),
                Param::Var(_) => None,
            })
            .collect();
        self.sizes(&buffers);
        for buffer in buffers {
            self.declare(buffer, true);
            let name = &buffer.name;
            if self.stage >= Stage::Device {
                self.at(
                    name,
                    format!("parameter `{name}`: functions of this stage take pointers, not buffers"),
                );
            }
            if !matches!(buffer.scope.rank, StorageRank::Global | StorageRank::Other) {
                self.at(
                    name,
                    format!("parameter `{name}`: a caller has no memory in scope `{}`", buffer.scope),
                );
            }
        }
    }

    /// Checks the free variables of the parameters' shapes, strides and offsets: each occurs bare
    /// somewhere, which binds it.
    fn sizes(&mut self, buffers: &[&Buffer]) {
        let parts = || {
            buffers.iter().flat_map(|buffer| {
                buffer
                    .shape
                    .iter()
                    .chain(&buffer.strides)
                    .chain(&buffer.elem_offset)
                    .map(move |e| (*buffer, e))
            })
        };
        let bare: HashSet<Var> = parts()
            .filter_map(|(_, e)| match &e.kind {
                ExprKind::Var(var) => Some(var.clone()),
                _ => None,
            })
            .collect();
        let mut inner = HashSet::new();
        let mut count = 0_usize;
        for (buffer, part) in parts() {
            let mut free = Vec::new();
            part.walk(&mut |e| match &e.kind {
                ExprKind::Var(var) => free.push(var.clone()),
                ExprKind::Let { var, .. } => drop(inner.insert(var.clone())),
                _ => {}
            });
            for var in free {
                if self.vars.contains(&var) || inner.contains(&var) {
                    continue;
                }
                if !bare.contains(&var) {
                    let (size, name) = (&var.name, &buffer.name);
                    self.at_expr(
                        part,
                        format!(
                            "size `{size}` of parameter `{name}` stands bare in no shape, so that nothing binds it; \
                             give a parameter whose extent is `{size}`, or pass it as a scalar parameter"
                        ),
                    );
                }
                if !is_index(var.dtype) {
                    let text = format!("size `{}`: expected int32 or int64, found {}", var.name, var.dtype);
                    self.at_expr(part, text);
                }
                self.bind(&var);
                count += 1;
            }
        }
        if self.stage < Stage::Device && count > SIZES_MAX {
            let text = "make some extents constant or equal, or split the function";
            self.at("", format!("the parameters bind {count} sizes; expected at most {SIZES_MAX}: {text}"));
        }
    }

    fn attributes(&mut self) {
        let function = self.function;
        self.annotations(&function.attrs);
        for (name, value) in &function.attrs {
            let (fits, wanted) = match &**name {
                attr::NOALIAS | attr::IS_GLOBAL_FUNC | attr::IS_ENTRY_FUNC => {
                    (matches!(value, AttrValue::Bool(_) | AttrValue::Int(0 | 1)), "a boolean")
                }
                attr::GLOBAL_SYMBOL => (
                    matches!(value, AttrValue::Str(symbol) if is_c_name(symbol)),
                    "a string that names a C function",
                ),
                attr::TARGET => (matches!(value, AttrValue::Target(_)), "a target"),
                attr::CALLING_CONV => (matches!(value, AttrValue::Int(0..=2)), "0, 1 or 2"),
                attr::KERNEL_LAUNCH_PARAMS => (
                    matches!(value, AttrValue::List(items)
                        if items.iter().all(|item| matches!(item, AttrValue::Str(_)))),
                    "a list of strings",
                ),
                attr::DEVICE => (
                    matches!(value, AttrValue::Map(map)
                        if matches!(map.get("name"), Some(AttrValue::Str(_)))
                            && matches!(map.get("type"), Some(AttrValue::Int(0..=0x7fff_ffff)))),
                    "a map with `name`, a string, and `type`, a device type",
                ),
                _ => (true, ""),
            };
            if !fits {
                self.at("", format!("attribute \"{name}\": expected {wanted}, found {value:?}"));
            }
        }
    }
}

/// Returns the storage type that a variable has or points to.
fn storage_type(var: &Var) -> Option<crate::DType> {
    let dtype = var.pointer.as_ref().map_or(var.dtype, |pointer| pointer.element);
    dtype.is_storage().then_some(dtype)
}

fn kind_of(var: &Var) -> &'static str {
    if var.dtype.is_handle() { "a pointer" } else { "a scalar" }
}

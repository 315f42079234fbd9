//! Whole modules.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use chipdock_ir::analysis::Usage;
use chipdock_ir::{AttrValue, DType, Diagnostic, IrModule, Param, PrimFunc, Span, attr};

use crate::checks::plan;
use crate::debug::{Debug, first_line};
use crate::layout::Layout;
use crate::writer::{Surroundings, Writer};
use crate::{CallingConv, LlvmTarget};

/// Options of the writer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// Whether instructions have the lines of their statements as debug information.
    pub debug: bool,
    /// The file that the lines refer to.
    pub file: Option<&'a str>,
}

/// The text of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The text of one LLVM module.
    pub text: String,
    /// Functions that are called from outside, in the module's order.
    pub functions: Vec<LlvmFunction>,
}

/// A function that is called from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LlvmFunction {
    /// Name in the module.
    pub name: Arc<str>,
    /// Symbol of the function.
    pub symbol: String,
    /// `calling_conv` of the IR: 1 packed C function, 2 device kernel.
    pub calling_conv: i64,
    /// Types of the parameters.
    pub params: Vec<DType>,
    /// Thread axes and further launch parameters of a kernel, in order.
    pub launch_params: Vec<String>,
}

/// Writes a module for a target.
///
/// The module must be lowered to the stage that the target declares: no blocks, buffers with one
/// axis, arbitrary names of variables.
///
/// # Errors
///
/// Everything that is not supported, as [`unsupported`] lists it. No text is returned then.
pub fn write_module(
    module: &IrModule,
    target: &dyn LlvmTarget,
    options: &Options<'_>,
) -> Result<Text, Vec<Diagnostic>> {
    let (text, diagnostics) = write(module, target, options);
    if diagnostics.is_empty() { Ok(text) } else { Err(diagnostics) }
}

/// Lists every node of the module that is not supported, each once: the errors of [`write_module`].
#[must_use]
pub fn unsupported(module: &IrModule, target: &dyn LlvmTarget) -> Vec<Diagnostic> {
    write(module, target, &Options::default()).1
}

fn write(module: &IrModule, target: &dyn LlvmTarget, options: &Options<'_>) -> (Text, Vec<Diagnostic>) {
    let (symbols, mut diagnostics) = name_functions(module, target);
    let by_name = module.by_name();
    let mut bodies = String::new();
    let (mut around, mut debug) = (Surroundings::default(), Debug::default());
    if let Some(first) = module.functions.first() {
        let mut writer = Writer::new(target, options, &symbols, module, &by_name, first);
        let unneeded = writer.make_plans();
        for function in &module.functions {
            if unneeded.contains(&function.name) {
                continue;
            }
            writer.begin(function);
            bodies.push('\n');
            bodies.push_str(&writer.function());
        }
        diagnostics.append(&mut writer.diagnostics);
        (around, debug) = (writer.around, writer.lines);
    }
    let functions = module.functions.iter().filter_map(|function| outside(function, &symbols)).collect();
    (Text { text: assemble(target, around, &debug, &bodies), functions }, diagnostics)
}

impl Writer<'_> {
    /// Decides which checks are tables (rule LLVM-V14), and returns the functions that only tables
    /// continue in.
    fn make_plans(&mut self) -> HashSet<Arc<str>> {
        let is_little = !self.target.data_layout().starts_with('E');
        if self.target.pointer_bits() != 64 || !is_little {
            return HashSet::new();
        }
        let (mut called, mut gone_to) = (HashSet::new(), HashSet::new());
        for function in &self.module.functions {
            // Checks written in the source keep their lines.
            let keeps_lines = self.options.debug && first_line(&function.body) > 0;
            match plan(self.functions, function, Layout::new(self.target)).filter(|_| !keeps_lines) {
                Some(plan) => {
                    gone_to.extend(plan.callees().cloned());
                    called.extend(plan.called());
                    self.plans.insert(Arc::clone(&function.name), plan);
                }
                None => called.extend(Usage::of(&function.body).called),
            }
        }
        let is_inner = |name: &Arc<str>| {
            self.functions.get(&**name).is_some_and(|callee| calling_conv(callee) == CallingConv::Internal)
        };
        gone_to.retain(|name| !called.contains(name) && is_inner(name));
        gone_to
    }
}

/// Assembles the parts of a module in order.
fn assemble(target: &dyn LlvmTarget, around: Surroundings, debug: &Debug, bodies: &str) -> String {
    let mut text = String::new();
    if !target.data_layout().is_empty() {
        text.push_str(&format!("target datalayout = \"{}\"\n", target.data_layout()));
    }
    text.push_str(&format!("target triple = \"{}\"\n", target.triple()));
    for global in around.globals.values() {
        text.push('\n');
        text.push_str(global.trim_end());
    }
    text.push('\n');
    text.push_str(bodies);
    for helper in around.helpers.values() {
        text.push('\n');
        text.push_str(helper.trim_end());
        text.push('\n');
    }
    text.push('\n');
    for declaration in around.declarations.values() {
        text.push_str(declaration);
        text.push('\n');
    }
    let attributes: Vec<String> =
        target.function_attributes().iter().map(|(name, value)| format!(" \"{name}\"=\"{value}\"")).collect();
    text.push_str(&format!("\nattributes #0 = {{ nounwind{} }}\n", attributes.concat()));
    text.push_str(&debug.names(around.metadata.len()));
    for (number, node) in around.metadata.iter().chain(&debug.flags()).enumerate() {
        text.push_str(&format!("!{number} = {node}\n"));
    }
    text
}

/// Reads the calling convention of a function.
pub(crate) fn calling_conv(function: &PrimFunc) -> CallingConv {
    match function.attrs.get(attr::CALLING_CONV) {
        Some(AttrValue::Int(1)) => CallingConv::Packed,
        Some(AttrValue::Int(2)) => CallingConv::Kernel,
        _ => CallingConv::Internal,
    }
}

fn outside(function: &PrimFunc, symbols: &HashMap<Arc<str>, String>) -> Option<LlvmFunction> {
    let calling_conv = match calling_conv(function) {
        CallingConv::Internal => return None,
        CallingConv::Packed => 1,
        CallingConv::Kernel => 2,
    };
    let params = function.params.iter().map(|param| match param {
        Param::Buffer(_) => DType::HANDLE,
        Param::Var(var) => var.dtype,
    });
    let launch_params = match function.attrs.get(attr::KERNEL_LAUNCH_PARAMS) {
        Some(AttrValue::List(list)) => list
            .iter()
            .filter_map(|value| if let AttrValue::Str(text) = value { Some(text.to_string()) } else { None })
            .collect(),
        _ => Vec::new(),
    };
    Some(LlvmFunction {
        name: Arc::clone(&function.name),
        symbol: symbols.get(&function.name)?.clone(),
        calling_conv,
        params: params.collect(),
        launch_params,
    })
}

/// Chooses the symbol of each function: its own if it may be called from outside, otherwise one
/// that no helper and no C function has.
fn name_functions(
    module: &IrModule,
    target: &dyn LlvmTarget,
) -> (HashMap<Arc<str>, String>, Vec<Diagnostic>) {
    let (mut symbols, mut diagnostics) = (HashMap::new(), Vec::new());
    let mut taken = BTreeSet::new();
    let (inner, outer): (Vec<_>, Vec<_>) =
        module.functions.iter().partition(|function| calling_conv(function) == CallingConv::Internal);
    for function in outer {
        let symbol = match function.attrs.get(attr::GLOBAL_SYMBOL) {
            Some(AttrValue::Str(symbol)) => symbol,
            _ => &function.name,
        };
        let is_good = !symbol.is_empty()
            && symbol.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.$".contains(&byte))
            && !symbol.as_bytes()[0].is_ascii_digit()
            && !symbol.starts_with("llvm.")
            && !symbol.starts_with("cd.");
        if !is_good || !taken.insert(symbol.to_string()) {
            diagnostics.push(Diagnostic {
                function: Arc::clone(&function.name),
                span: Span::NONE,
                node: String::new(),
                message: format!(
                    "target {}: \"{symbol}\" cannot name a function here; expected letters, digits, `_`, `.` and `$`, no digit first, and no other function of that name",
                    target.name()
                ),
            });
        }
        symbols.insert(Arc::clone(&function.name), symbol.to_string());
    }
    for (number, function) in inner.into_iter().enumerate() {
        let is_plain = function.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let own = if is_plain { format!("cd.f.{}", function.name) } else { format!("cd.n.{number}") };
        symbols.insert(Arc::clone(&function.name), own);
    }
    (symbols, diagnostics)
}

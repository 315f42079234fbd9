//! Whole modules.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chipdock_ir::analysis::Usage;
use chipdock_ir::{AttrValue, DType, Diagnostic, IrModule, Param, PrimFunc, Span, attr};

use crate::names::{Names, is_identifier};
use crate::writer::{Functions, Named, Writer};
use crate::{Dialect, Prelude};

/// The text of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The text of one file.
    pub text: String,
    /// Functions that are called from outside, in the module's order.
    pub functions: Vec<SourceFunction>,
}

impl Source {
    /// The functions that are called from outside: their names in the text, and their counterparts
    /// in the module that was written.
    pub fn functions_of<'m>(&self, module: &'m IrModule) -> impl Iterator<Item = (&str, &'m PrimFunc)> {
        let by_name = module.by_name();
        self.functions
            .iter()
            .filter_map(move |function| Some((function.symbol.as_str(), *by_name.get(&*function.name)?)))
    }
}

/// A function that is called from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFunction {
    /// Name in the module.
    pub name: Arc<str>,
    /// Name in the text.
    pub symbol: String,
    /// `calling_conv` of the IR: 1 packed C function, 2 device kernel.
    pub calling_conv: i64,
    /// Types of the parameters.
    pub params: Vec<DType>,
    /// Thread axes and further launch parameters of a kernel, in order.
    pub launch_params: Vec<String>,
}

/// Writes a module in a dialect.
///
/// The module must be lowered to the stage that the target declares: no blocks, buffers with one
/// axis, arbitrary names of variables. Functions that are called are written before their callers.
///
/// # Errors
///
/// Everything that the dialect refuses, as [`unsupported`] lists it. No text is returned then.
pub fn write_module(module: &IrModule, dialect: &dyn Dialect) -> Result<Source, Vec<Diagnostic>> {
    let (source, diagnostics) = write(module, dialect);
    if diagnostics.is_empty() { Ok(source) } else { Err(diagnostics) }
}

/// Lists every node of the module that the dialect does not support, each once: the errors of
/// [`write_module`].
#[must_use]
pub fn unsupported(module: &IrModule, dialect: &dyn Dialect) -> Vec<Diagnostic> {
    write(module, dialect).1
}

fn write(module: &IrModule, dialect: &dyn Dialect) -> (Source, Vec<Diagnostic>) {
    let usages: Vec<Usage> = module.functions.iter().map(|function| Usage::of(&function.body)).collect();
    let (functions, mut diagnostics) = name_functions(module, dialect);
    let called: HashSet<&Arc<str>> = usages.iter().flat_map(|usage| &usage.called).collect();
    let (order, is_cyclic) = callees_first(module, &usages);
    let mut prelude = Prelude::default();
    let mut bodies = String::new();
    if let Some(function) = is_cyclic {
        diagnostics.push(diagnostic(function, dialect, "calls itself, perhaps through others".to_owned()));
    }
    if let Some(first) = order.first() {
        let mut writer = Writer::new(dialect, module, &functions, &module.functions[*first]);
        for index in order {
            let function = &module.functions[index];
            let Some(named) = functions.get(&function.name) else { continue };
            writer.begin(function);
            writer.function(&named.symbol, called.contains(&function.name));
            writer.text.line("\n");
        }
        bodies = writer.text.finish();
        prelude = writer.prelude;
        diagnostics.append(&mut writer.diagnostics);
    }
    let mut text = dialect.header(&prelude);
    for definition in prelude.texts().iter().filter(|text| !text.is_empty()) {
        text.push_str(definition.trim_end());
        text.push('\n');
    }
    if !bodies.is_empty() {
        text.push('\n');
        text.push_str(bodies.trim_end());
        text.push('\n');
    }
    let outside = module.functions.iter().filter_map(|function| outside(function, &functions)).collect();
    (Source { text, functions: outside }, diagnostics)
}

fn calling_conv(function: &PrimFunc) -> i64 {
    match function.attrs.get(attr::CALLING_CONV) {
        Some(AttrValue::Int(value)) => *value,
        _ => 0,
    }
}

fn outside(function: &PrimFunc, functions: &Functions<'_>) -> Option<SourceFunction> {
    let calling_conv = calling_conv(function);
    if calling_conv == 0 {
        return None;
    }
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
    Some(SourceFunction {
        name: Arc::clone(&function.name),
        symbol: functions.get(&function.name)?.symbol.clone(),
        calling_conv,
        params: params.collect(),
        launch_params,
    })
}

fn diagnostic(function: &PrimFunc, dialect: &dyn Dialect, message: String) -> Diagnostic {
    Diagnostic {
        function: Arc::clone(&function.name),
        span: Span::NONE,
        node: String::new(),
        message: format!("target {}: {message}", dialect.name()),
    }
}

/// Chooses the text name of each function: its own if it may be called from outside, otherwise a
/// similar one.
fn name_functions<'m>(module: &'m IrModule, dialect: &dyn Dialect) -> (Functions<'m>, Vec<Diagnostic>) {
    let mut names = Names::default();
    let (mut functions, mut diagnostics) = (HashMap::new(), Vec::new());
    let prefix = dialect.helper_prefix();
    let is_free = |name: &str| {
        is_identifier(name) && !dialect.is_reserved(name) && (prefix.is_empty() || !name.starts_with(prefix))
    };
    let (outer, inner): (Vec<_>, Vec<_>) = module.functions.iter().partition(|f| calling_conv(f) != 0);
    for function in outer.into_iter().chain(inner) {
        let symbol = match function.attrs.get(attr::GLOBAL_SYMBOL) {
            Some(AttrValue::Str(symbol)) if calling_conv(function) != 0 => symbol,
            _ => &function.name,
        };
        let symbol = if is_free(symbol) && names.take(symbol) {
            symbol.to_string()
        } else if calling_conv(function) == 0 {
            names.declare(&format!("f_{}", function.name))
        } else {
            let message = format!(
                "\"{symbol}\" cannot name a function here; expected letters, digits and underscores, no digit first, no reserved word, and no other function of that name"
            );
            diagnostics.push(diagnostic(function, dialect, message));
            names.declare("f")
        };
        functions.insert(Arc::clone(&function.name), Named { symbol, function });
    }
    (functions, diagnostics)
}

/// Orders the functions so that callees come first; also returns a function that takes part in a
/// cycle.
///
/// The order is that of sweeps over the module, each of which takes every function whose callees
/// were taken before; the sweep of each function is worked out from its callees', once.
fn callees_first<'m>(module: &'m IrModule, usages: &[Usage]) -> (Vec<usize>, Option<&'m PrimFunc>) {
    let index_of: HashMap<&Arc<str>, usize> =
        module.functions.iter().enumerate().map(|(index, function)| (&function.name, index)).collect();
    let callees: Vec<HashSet<usize>> = usages
        .iter()
        .map(|usage| usage.called.iter().filter_map(|name| index_of.get(name).copied()).collect())
        .collect();
    let mut callers = vec![Vec::new(); callees.len()];
    for (caller, needs) in callees.iter().enumerate() {
        needs.iter().for_each(|need| callers[*need].push(caller));
    }
    let mut missing: Vec<usize> = callees.iter().map(HashSet::len).collect();
    let mut sweep = vec![0_usize; callees.len()];
    let mut ready: Vec<usize> = (0..callees.len()).filter(|index| missing[*index] == 0).collect();
    let mut next = 0;
    while let Some(need) = ready.get(next).copied() {
        next += 1;
        for caller in &callers[need] {
            // A callee after its caller in the module is visited too late for the same sweep.
            sweep[*caller] = sweep[*caller].max(sweep[need] + usize::from(need > *caller));
            missing[*caller] -= 1;
            if missing[*caller] == 0 {
                ready.push(*caller);
            }
        }
    }
    let mut order = ready;
    order.sort_unstable_by_key(|index| (sweep[*index], *index));
    let left = (0..callees.len()).filter(|index| missing[*index] > 0);
    let cyclic = left.clone().next().map(|index| &module.functions[index]);
    order.extend(left);
    (order, cyclic)
}

//! State of the writer of one module.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chipdock_ir::analysis::{Positions, Ranges, Sharing, Usage};
use chipdock_ir::{Diagnostic, Expr, IrModule, PrimFunc, Span, Stmt, Var};

use crate::memory::Memory;
use crate::names::Names;
use crate::streams::has_streams;
use crate::text::Text;
use crate::views::has_viewed_arguments;
use crate::{Answer, Code, Dialect, Prelude, Refusal};

/// A variable in the text.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) code: Code,
    /// For a pointer: its declared element type.
    pub(crate) element: Option<chipdock_ir::DType>,
}

/// A function of the module.
#[derive(Clone, Debug)]
pub(crate) struct Named<'m> {
    /// Its name in the text.
    pub(crate) symbol: String,
    pub(crate) function: &'m PrimFunc,
}

/// The functions of a module, by name.
pub(crate) type Functions<'m> = HashMap<Arc<str>, Named<'m>>;

/// Names of shared nodes by address; the flag distinguishes the wide form of an index from the
/// value.
pub(crate) type Shared = HashMap<(usize, bool), Code>;

/// Writes functions one after the other.
pub(crate) struct Writer<'a> {
    pub(crate) dialect: &'a dyn Dialect,
    pub(crate) functions: &'a Functions<'a>,
    /// Whether some function of the module is called with a pointer to memory of another type.
    pub(crate) has_viewed_arguments: bool,
    /// Reserved words, functions, and names that earlier functions declared at module scope.
    module_names: Arc<HashSet<String>>,
    /// Names that the current function declared at module scope.
    new_module_names: Vec<String>,
    pub(crate) prelude: Prelude,
    pub(crate) text: Text,
    pub(crate) diagnostics: Vec<Diagnostic>,
    reported: HashSet<(Arc<str>, String, String)>,
    // Of the current function:
    pub(crate) function: &'a PrimFunc,
    pub(crate) usage: Usage,
    pub(crate) memory: Memory,
    pub(crate) names: Names,
    pub(crate) ranges: Ranges,
    pub(crate) vars: HashMap<usize, Known>,
    /// Data variables that are declared elsewhere than at their allocation.
    pub(crate) hoisted: HashSet<usize>,
    pub(crate) positions: Positions,
    // Of the current statement:
    pub(crate) sharing: Sharing,
    pub(crate) shared: Vec<Shared>,
    /// Addresses of loads that were made before their conditions, and of expressions that were
    /// searched for such loads.
    pub(crate) loaded: HashSet<usize>,
    pub(crate) looked: HashSet<(usize, bool)>,
    /// Memory whose stores need not stay in caches, by data variable; `None` is any memory.
    pub(crate) streams: Vec<Option<usize>>,
    /// Whether some stores of the function need not stay in caches.
    pub(crate) has_streams: bool,
    /// Number of conditions, within the current loop, that decide whether the current expression is
    /// evaluated.
    pub(crate) conditions: usize,
    /// Whether compilers may turn these conditions into masks.
    pub(crate) may_be_masked: bool,
    /// Whether the loop has loads under such conditions.
    pub(crate) has_masked_loads: bool,
    /// Current nesting depth of expressions.
    pub(crate) depth: usize,
    /// Whether constants are stored in variables.
    pub(crate) names_constants: bool,
    /// Current nesting depth of statements.
    pub(crate) levels: usize,
    /// Source position of the current statement: the only known one for expressions that stand in
    /// several places.
    pub(crate) place: Span,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(
        dialect: &'a dyn Dialect,
        module: &'a IrModule,
        functions: &'a Functions<'a>,
        function: &'a PrimFunc,
    ) -> Self {
        Self {
            dialect,
            functions,
            has_viewed_arguments: has_viewed_arguments(module),
            module_names: Arc::new(functions.values().map(|named| named.symbol.clone()).collect()),
            new_module_names: Vec::new(),
            prelude: Prelude::default(),
            text: Text::default(),
            diagnostics: Vec::new(),
            reported: HashSet::new(),
            function,
            usage: Usage::default(),
            memory: Memory::default(),
            names: Names::default(),
            ranges: Ranges::default(),
            vars: HashMap::new(),
            hoisted: HashSet::new(),
            positions: Positions::default(),
            sharing: Sharing::default(),
            shared: Vec::new(),
            loaded: HashSet::new(),
            looked: HashSet::new(),
            streams: Vec::new(),
            has_streams: false,
            conditions: 0,
            may_be_masked: false,
            has_masked_loads: false,
            depth: 0,
            names_constants: false,
            levels: 0,
            place: Span::NONE,
        }
    }

    /// Drops the state of the last function and begins another.
    pub(crate) fn begin(&mut self, function: &'a PrimFunc) {
        self.function = function;
        self.usage = Usage::of(&function.body);
        // The last function's names are dropped first: the set then has no other owner, and nothing
        // is copied.
        self.names = Names::default();
        Arc::make_mut(&mut self.module_names).extend(self.new_module_names.drain(..));
        self.names = Names::within(Arc::clone(&self.module_names));
        self.ranges = Ranges::default();
        self.vars.clear();
        self.hoisted.clear();
        self.positions = Positions::default();
        self.streams.clear();
        self.has_streams = has_streams(&function.body);
        self.conditions = 0;
        self.may_be_masked = false;
        self.has_masked_loads = false;
        self.depth = 0;
        self.place = Span::NONE;
    }

    /// Declares a new name in the current function.
    pub(crate) fn declare(&mut self, hint: &str) -> String {
        let prefix = self.dialect.helper_prefix();
        if prefix.is_empty() || !hint.trim_start_matches('_').starts_with(prefix) {
            // A reserved word is taken at the first attempt; the second appends a number to it.
            for _ in 0..2 {
                let name = self.names.declare(hint);
                if !self.dialect.is_reserved(&name) {
                    return name;
                }
            }
        }
        // No dialect reserves names that begin like this.
        self.names.declare(&format!("v_{hint}"))
    }

    /// Declares a new name at module scope, different from every name of the current function and
    /// of later ones.
    pub(crate) fn declare_in_module(&mut self, hint: &str) -> String {
        // A name that is unique in this function differs from module-scope declarations of earlier
        // functions and from functions.
        let name = self.declare(hint);
        self.new_module_names.push(name.clone());
        name
    }

    /// Records the text of a variable.
    pub(crate) fn know(&mut self, var: &Var, code: Code) {
        let element = var.pointer.as_ref().map(|pointer| pointer.element);
        self.vars.insert(var.address(), Known { code, element });
    }

    /// Reports an unsupported node; each node and message once per function.
    pub(crate) fn report(&mut self, span: Span, node: String, message: String) {
        let key = (Arc::clone(&self.function.name), node.clone(), message.clone());
        let span = if span == Span::NONE { self.place } else { span };
        if self.reported.insert(key) {
            let function = Arc::clone(&self.function.name);
            self.diagnostics.push(Diagnostic { function, span, node, message });
        }
    }

    /// Reports the dialect's refusal of an expression.
    pub(crate) fn refuse(&mut self, e: &Expr, message: impl Into<String>) {
        let message = format!("target {}: {}", self.dialect.name(), message.into());
        self.report(e.span, chipdock_ir::print::expr_line(e), message);
    }

    /// Reports the dialect's refusal of a statement.
    pub(crate) fn refuse_stmt(&mut self, s: &Stmt, message: impl Into<String>) {
        let message = format!("target {}: {}", self.dialect.name(), message.into());
        self.report(s.span, chipdock_ir::print::stmt_line(s), message);
    }

    /// Returns the answer, or reports the refusal and returns a placeholder: writing goes on, so
    /// that every refusal is found.
    pub(crate) fn expect(&mut self, e: &Expr, answer: Answer<Code>) -> Code {
        match answer {
            Ok(code) => code,
            Err(Refusal(message)) => {
                self.refuse(e, message);
                Code::primary("0")
            }
        }
    }

    /// Returns the answer for a statement, or reports the refusal.
    pub(crate) fn expect_stmt<T>(&mut self, s: &Stmt, answer: Answer<T>) -> Option<T> {
        match answer {
            Ok(value) => Some(value),
            Err(Refusal(message)) => {
                self.refuse_stmt(s, message);
                None
            }
        }
    }
}

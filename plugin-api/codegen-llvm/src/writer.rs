//! State of the writer of one module: instructions, blocks, declarations around functions.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Display;
use std::sync::Arc;

use chipdock_ir::analysis::{Positions, Ranges, Usage};
use chipdock_ir::{DType, Diagnostic, Expr, Functions, IrModule, PrimFunc, Span, Stmt, Var};

use crate::checks::Plan;
use crate::control::Targets;
use crate::debug::Debug;
use crate::environment::Failure;
use crate::function::Facts;
use crate::value::Value;
use crate::{Answer, LlvmTarget, Options, Refusal};

/// A basic block's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Label(String);

impl Label {
    /// The label with exactly this name, which occurs once.
    pub(crate) fn named(name: &str) -> Self {
        Self(name.to_owned())
    }

    /// The label as an operand: `label %then4`.
    pub(crate) fn operand(&self) -> String {
        format!("label %{}", self.0)
    }

    /// The label within a `phi`: `%then4`.
    pub(crate) fn name(&self) -> String {
        format!("%{}", self.0)
    }
}

/// Declarations and definitions around the functions, each once.
#[derive(Debug, Default)]
pub(crate) struct Surroundings {
    /// `declare` lines by name. One is enough, as each call states the types of its arguments.
    pub(crate) declarations: BTreeMap<String, String>,
    /// Globals and types by name, in the order of their names.
    pub(crate) globals: BTreeMap<String, String>,
    /// Functions that the writer itself adds, by name.
    pub(crate) helpers: BTreeMap<String, String>,
    /// Metadata nodes: `!7` is the one at 7.
    pub(crate) metadata: Vec<String>,
    known_metadata: HashMap<String, usize>,
    /// Names of constant texts, by content.
    pub(crate) texts: HashMap<Vec<u8>, String>,
}

impl Surroundings {
    /// The number of a metadata node with that text (`!{...}`, `!DILocation(...)`); equal texts
    /// share one, except `distinct` ones.
    pub(crate) fn metadata(&mut self, text: String) -> usize {
        if let Some(known) = self.known_metadata.get(&text) {
            return *known;
        }
        let number = self.metadata.len();
        if !text.starts_with("distinct") {
            self.known_metadata.insert(text.clone(), number);
        }
        self.metadata.push(text);
        number
    }
}

/// Writes functions one after the other.
pub(crate) struct Writer<'a> {
    pub(crate) target: &'a dyn LlvmTarget,
    pub(crate) options: &'a Options<'a>,
    /// The symbols of the module's functions, by their names in the module.
    pub(crate) symbols: &'a HashMap<Arc<str>, String>,
    pub(crate) module: &'a IrModule,
    /// Functions of the module.
    pub(crate) functions: &'a Functions<'a>,
    /// Tables of functions, by name.
    pub(crate) plans: HashMap<Arc<str>, Plan<'a>>,
    pub(crate) around: Surroundings,
    pub(crate) diagnostics: Vec<Diagnostic>,
    reported: HashSet<(Arc<str>, String, String)>,
    // Of the current function:
    pub(crate) function: &'a PrimFunc,
    pub(crate) usage: Usage,
    pub(crate) ranges: Ranges,
    pub(crate) positions: Positions,
    /// Values of variables, by address.
    pub(crate) vars: HashMap<usize, Value>,
    /// Values that LLVM must not reorder, and for how many operations (rule LLVM-V7).
    pub(crate) rounded: HashMap<String, u8>,
    /// Allocations at the start of the function.
    pub(crate) entry: String,
    /// The instructions written so far, from the second block on.
    pub(crate) text: String,
    temporaries: usize,
    labels: usize,
    block: Label,
    is_open: bool,
    /// Exits of the function through assertions.
    pub(crate) failure: Failure,
    pub(crate) facts: Facts,
    /// Calls whose result is returned in a block of its own.
    pub(crate) tails: Vec<(&'a Expr, Label)>,
    /// The enclosing loops, innermost last.
    pub(crate) loops: Vec<Targets>,
    pub(crate) lines: Debug,
    /// Targets of stores that bypass the caches: a data variable, or everything.
    pub(crate) streams: Vec<Option<usize>>,
    /// Whether the process may use tiles, where their shape is set.
    pub(crate) may_use_tiles: Option<Value>,
    /// Metadata of accesses through buffers that overlap no other, by data variable.
    pub(crate) scopes: HashMap<usize, String>,
    /// `, !dbg !7` for the current statement, or nothing (rule LLVM-V11).
    pub(crate) debug: String,
    // Of the current statement:
    /// Values of nodes by address, the innermost scope last: a value computed in a block that may
    /// not run is unknown after it. The flag distinguishes the 64-bit form of a position from the
    /// value.
    pub(crate) known: Vec<HashMap<(usize, bool), Value>>,
    /// Number of calls with an effect written so far.
    pub(crate) effects: usize,
    /// Current nesting depth of expressions.
    pub(crate) depth: usize,
    /// Current nesting depth of statements.
    pub(crate) levels: usize,
    /// Source position of the current statement.
    pub(crate) place: Span,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(
        target: &'a dyn LlvmTarget,
        options: &'a Options<'a>,
        symbols: &'a HashMap<Arc<str>, String>,
        module: &'a IrModule,
        functions: &'a Functions<'a>,
        function: &'a PrimFunc,
    ) -> Self {
        Self {
            target,
            options,
            symbols,
            module,
            functions,
            plans: HashMap::new(),
            around: Surroundings::default(),
            diagnostics: Vec::new(),
            reported: HashSet::new(),
            function,
            usage: Usage::default(),
            ranges: Ranges::default(),
            positions: Positions::default(),
            vars: HashMap::new(),
            rounded: HashMap::new(),
            entry: String::new(),
            text: String::new(),
            temporaries: 0,
            labels: 0,
            block: Label("entry".to_owned()),
            is_open: true,
            failure: Failure::default(),
            facts: Facts::default(),
            tails: Vec::new(),
            loops: Vec::new(),
            lines: Debug::default(),
            streams: Vec::new(),
            may_use_tiles: None,
            scopes: HashMap::new(),
            debug: String::new(),
            known: vec![HashMap::new()],
            effects: 0,
            depth: 0,
            levels: 0,
            place: Span::NONE,
        }
    }

    /// Drops the state of the last function and begins another, in its block `body`; `entry` has
    /// its allocations.
    pub(crate) fn begin(&mut self, function: &'a PrimFunc) {
        self.function = function;
        self.usage = Usage::of(&function.body);
        self.ranges = Ranges::default();
        self.positions = Positions::default();
        self.vars.clear();
        self.rounded.clear();
        self.entry.clear();
        self.text.clear();
        self.temporaries = 0;
        self.labels = 0;
        self.failure = Failure::default();
        self.loops.clear();
        self.tails.clear();
        self.streams.clear();
        self.may_use_tiles = None;
        self.scopes.clear();
        self.known = vec![HashMap::new()];
        self.depth = 0;
        self.levels = 0;
        self.place = Span::NONE;
        self.debug.clear();
        let body = Label("body".to_owned());
        self.start(&body);
    }

    // -- instructions -----------------------------------------------------------------------------

    /// A new name for a value, `%12`.
    pub(crate) fn temporary(&mut self) -> String {
        self.temporaries += 1;
        format!("%t{}", self.temporaries)
    }

    /// Writes an instruction with a result, and returns the result's name. Instructions after a
    /// jump are not written.
    pub(crate) fn instruction(&mut self, text: impl Display) -> String {
        let name = self.temporary();
        self.effect(format_args!("{name} = {text}"));
        name
    }

    /// Writes an instruction without a result.
    pub(crate) fn effect(&mut self, text: impl Display) {
        if self.is_open {
            let line = format!("  {text}{}\n", self.debug);
            self.text.push_str(&line);
        }
    }

    /// Writes an instruction whose value has a type of the IR.
    pub(crate) fn compute(&mut self, dtype: DType, text: impl Display) -> Value {
        Value::new(self.instruction(text), dtype)
    }

    /// Allocates memory of the function, at its start, and returns a pointer to it.
    pub(crate) fn alloca(&mut self, llvm_type: &str, alignment_bytes: usize) -> String {
        let name = self.temporary();
        self.entry.push_str(&format!("  {name} = alloca {llvm_type}, align {alignment_bytes}\n"));
        name
    }

    /// Declares a function of LLVM's or of C's: `declare("float", "llvm.sqrt.f32", "float")`.
    /// Returns `@llvm.sqrt.f32`.
    pub(crate) fn declare(&mut self, ret: &str, name: &str, params: &str) -> String {
        if !self.around.declarations.contains_key(name) && !self.symbols.values().any(|known| known == name) {
            let line = format!("declare {ret} @{name}({params})");
            self.around.declarations.insert(name.to_owned(), line);
        }
        format!("@{name}")
    }

    /// Calls an intrinsic on values of the result's type: `intrinsic("fma", dtype, &[a, b, c])`.
    /// The name is given without `llvm.` and without the type.
    pub(crate) fn intrinsic(&mut self, name: &str, flags: &str, dtype: DType, args: &[Value]) -> Value {
        let llvm_type = crate::types::register(dtype);
        let params = vec![llvm_type.as_str(); args.len()].join(", ");
        let callee =
            self.declare(&llvm_type, &format!("llvm.{name}.{}", crate::types::mangled(dtype)), &params);
        let args: Vec<String> = args.iter().map(Value::typed).collect();
        let flags = if flags.is_empty() { String::new() } else { format!("{flags} ") };
        self.compute(dtype, format_args!("call {flags}{llvm_type} {callee}({})", args.join(", ")))
    }

    // -- blocks -----------------------------------------------------------------------------------

    /// A new block's name.
    pub(crate) fn label(&mut self, hint: &str) -> Label {
        self.labels += 1;
        Label(format!("{hint}{}", self.labels))
    }

    /// The current block, for a `phi`.
    pub(crate) fn block(&self) -> Label {
        self.block.clone()
    }

    /// Returns true if the current block has no jump at its end yet.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Begins a block. The previous one must have ended.
    pub(crate) fn start(&mut self, label: &Label) {
        self.text.push_str(&format!("{}:\n", label.0));
        self.block = label.clone();
        self.is_open = true;
    }

    /// Ends the block with a terminator.
    pub(crate) fn terminate(&mut self, text: impl Display) {
        self.effect(text);
        self.is_open = false;
    }

    /// Ends the block with a jump.
    pub(crate) fn jump(&mut self, to: &Label) {
        self.terminate(format_args!("br {}", to.operand()));
    }

    /// Ends the block with a conditional branch.
    pub(crate) fn branch(&mut self, condition: &Value, then: &Label, otherwise: &Label) {
        self.terminate(format_args!("br i1 {}, {}, {}", condition.text, then.operand(), otherwise.operand()));
    }

    // -- nodes ------------------------------------------------------------------------------------

    /// The value of a node, if this statement has already computed it.
    pub(crate) fn known(&self, key: (usize, bool)) -> Option<Value> {
        self.known.iter().rev().find_map(|scope| scope.get(&key)).cloned()
    }

    /// Records a node's value for the current scope.
    pub(crate) fn remember(&mut self, key: (usize, bool), value: &Value) {
        if let Some(scope) = self.known.last_mut() {
            scope.insert(key, value.clone());
        }
    }

    /// Records the value of a variable.
    pub(crate) fn know(&mut self, var: &Var, value: Value) {
        self.vars.insert(var.address(), value);
    }

    // -- refusals ---------------------------------------------------------------------------------

    /// Reports an unsupported node; each node and message once per function.
    pub(crate) fn report(&mut self, span: Span, node: String, message: String) {
        let message = format!("target {}: {message}", self.target.name());
        let key = (Arc::clone(&self.function.name), node.clone(), message.clone());
        let span = if span == Span::NONE { self.place } else { span };
        if self.reported.insert(key) {
            let function = Arc::clone(&self.function.name);
            self.diagnostics.push(Diagnostic { function, span, node, message });
        }
    }

    /// Reports the refusal of an expression; returns a placeholder of its type, so that every
    /// refusal is found.
    pub(crate) fn refuse(&mut self, e: &Expr, message: impl Into<String>) -> Value {
        self.report(e.span, chipdock_ir::print::expr_line(e), message.into());
        Value::new("poison", e.dtype)
    }

    /// Reports the refusal of a statement.
    pub(crate) fn refuse_stmt(&mut self, s: &Stmt, message: impl Into<String>) {
        self.report(s.span, chipdock_ir::print::stmt_line(s), message.into());
    }

    /// Returns the answer, or reports the refusal and returns a placeholder.
    pub(crate) fn expect(&mut self, e: &Expr, answer: Answer<Value>) -> Value {
        match answer {
            Ok(value) => value,
            Err(Refusal(message)) => self.refuse(e, message),
        }
    }
}

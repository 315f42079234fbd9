//! The state of a reader, and the module level: imports, constants, classes, functions.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chipdock_ir::limits::{DEPTH_MAX, NODES_MAX};
use chipdock_ir::{
    Attrs, Block, Buffer, BufferRegion, DType, Diagnostic, Expr, ExprKind, IrModule, IterVar,
    MatchBufferRegion, Param, PrimFunc, Span, Stmt, Var,
};
use rustpython_ruff_python_ast as ast;
use rustpython_ruff_text_size::{Ranged, TextRange};

use crate::error::nearest;
use crate::guard::NESTING_MAX;
use crate::imports;
use crate::metadata::Metadata;
use crate::source::Source;
use crate::value::{Scopes, Value};
use crate::{ScriptError, ScriptErrors};

/// Number of errors after which the rest is not reported.
const ERRORS_MAX: usize = 20;

/// Error that was already reported.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Failed;

pub(crate) type Result<T> = std::result::Result<T, Failed>;

/// Signature of a function, known before its body is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signature {
    pub(crate) ret: Option<DType>,
    pub(crate) arity: usize,
    /// Whether it returns a value whose type is not declared.
    pub(crate) unsaid: bool,
}

/// A parameter, while the body may still turn a handle into a buffer.
#[derive(Clone, Debug)]
pub(crate) enum Slot {
    Param(Param),
    Handle(Var),
}

/// A block that is being read.
#[derive(Default)]
pub(crate) struct BlockState {
    pub(crate) iter_vars: Vec<IterVar>,
    pub(crate) iter_values: Vec<Expr>,
    pub(crate) predicate: Option<Expr>,
    pub(crate) reads: Option<Vec<BufferRegion>>,
    pub(crate) writes: Option<Vec<BufferRegion>>,
    pub(crate) init: Option<Stmt>,
    pub(crate) alloc_buffers: Vec<Buffer>,
    pub(crate) match_buffers: Vec<MatchBufferRegion>,
    pub(crate) annotations: Attrs,
}

impl BlockState {
    pub(crate) fn finish(self, name: Arc<str>, body: Stmt) -> (Block, Vec<Expr>, Expr) {
        let block = Block {
            name,
            iter_vars: self.iter_vars,
            reads: self.reads,
            writes: self.writes,
            init: self.init,
            alloc_buffers: self.alloc_buffers,
            match_buffers: self.match_buffers,
            annotations: self.annotations,
            body,
        };
        (block, self.iter_values, self.predicate.unwrap_or_else(|| Expr::bool(true)))
    }
}

/// The function that is being read.
#[derive(Default)]
pub(crate) struct FunctionState {
    pub(crate) s_tir: bool,
    pub(crate) attrs: Attrs,
    pub(crate) slots: Vec<Slot>,
    /// Position of each parameter, by its name.
    pub(crate) param_names: HashMap<String, usize>,
    pub(crate) ret: Option<DType>,
    /// Whether the return type is undeclared: the first returned value determines it.
    pub(crate) ret_unsaid: bool,
    pub(crate) alloc_buffers: Vec<Buffer>,
    /// Surrounding blocks, innermost last.
    pub(crate) blocks: Vec<BlockState>,
    /// First value and extent of the surrounding loops.
    pub(crate) loops: Vec<(Var, Expr, Expr)>,
    /// Notes about buffers that are not declared yet, by the buffer's name.
    pub(crate) late: HashMap<String, Vec<(Arc<str>, Expr, Span)>>,
    /// Symbolic sizes that the body declares, by name.
    pub(crate) declared: HashMap<String, DType>,
}

/// Parser of one file.
pub(crate) struct Parser<'s> {
    pub(crate) source: &'s Source<'s>,
    pub(crate) errors: Vec<ScriptError>,
    pub(crate) warnings: Vec<Diagnostic>,
    /// Full dotted name of each imported name.
    imports: HashMap<String, String>,
    /// The name that functions of the module are called through.
    pub(crate) class_names: HashSet<String>,
    pub(crate) signatures: HashMap<String, Signature>,
    pub(crate) scopes: Scopes,
    /// Whether `tir` instead of `tirx` was imported: then every function is one of blocks.
    legacy: bool,
    pub(crate) function: FunctionState,
    depth: usize,
    /// Number of nodes that names and shapes copied into expressions so far.
    copies: u64,
    /// Sizes of the module, by name.
    pub(crate) symbols: Vec<(Arc<str>, DType)>,
    /// Functions read so far.
    names: HashSet<Arc<str>>,
    module: IrModule,
}

impl<'s> Parser<'s> {
    pub(crate) fn new(source: &'s Source<'s>) -> Self {
        let mut scopes = Scopes::default();
        scopes.push();
        Self {
            source,
            errors: Vec::new(),
            warnings: Vec::new(),
            imports: ["T", "I", "tvm"].map(|name| (name.to_owned(), name.to_owned())).into(),
            class_names: HashSet::from(["cls".to_owned()]),
            signatures: HashMap::new(),
            scopes,
            legacy: false,
            function: FunctionState::default(),
            depth: 0,
            copies: 0,
            symbols: Vec::new(),
            names: HashSet::new(),
            module: IrModule::default(),
        }
    }

    /// Reports an error.
    pub(crate) fn fail(&mut self, at: impl Ranged, message: impl Into<String>) -> Failed {
        if self.errors.len() < ERRORS_MAX {
            self.errors.push(self.source.error(at.range(), message.into()));
        }
        Failed
    }

    /// Returns true when no more errors are kept, so that no message need be made.
    pub(crate) fn is_full(&self) -> bool {
        self.errors.len() >= ERRORS_MAX
    }

    pub(crate) fn span(&self, at: &impl Ranged) -> Span {
        self.source.span(at.start())
    }

    /// Runs `f` one nesting level deeper, unless that is too deep.
    pub(crate) fn nested<T>(&mut self, at: TextRange, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= NESTING_MAX {
            return Err(self.fail(at, format!("this nests deeper than {NESTING_MAX} levels")));
        }
        self.depth += 1;
        let result = f(self);
        self.depth -= 1;
        result
    }

    /// Counts the nodes of a name's value, so that no short text makes a module too large to walk:
    /// copies of copies double.
    pub(crate) fn copied(&mut self, value: &Value, at: &impl Ranged) -> Result<()> {
        match value {
            Value::Expr(expr) if matches!(expr.kind, ExprKind::Var(_)) => Ok(()),
            Value::Expr(expr) => {
                let mut nodes = NODES_MAX.saturating_sub(self.copies);
                let before = nodes;
                let whole = count(expr, 0, &mut nodes);
                self.copies += before - nodes;
                if whole {
                    return Ok(());
                }
                Err(self.too_many_copies(at))
            }
            Value::List(items) => {
                self.copies = self.copies.saturating_add(items.len() as u64);
                if self.copies > NODES_MAX {
                    return Err(self.too_many_copies(at));
                }
                items.iter().try_for_each(|item| self.copied(item, at))
            }
            _ => Ok(()),
        }
    }

    /// Counts the sizes of the module, of which each function has its own.
    pub(crate) fn copied_symbols(&mut self, at: &ast::StmtFunctionDef) -> Result<()> {
        // Making a variable costs more than looking at a node.
        self.copies = self.copies.saturating_add(8 * self.symbols.len() as u64);
        if self.copies > NODES_MAX { Err(self.too_many_copies(&at.name)) } else { Ok(()) }
    }

    fn too_many_copies(&mut self, at: &impl Ranged) -> Failed {
        let message = format!(
            "what this name stands for nests deeper than {DEPTH_MAX} levels, or with all other uses of names \
                     makes more than {NODES_MAX} nodes; bind it to a variable, as x: T.let = ..."
        );
        self.fail(at.range(), message)
    }

    /// Returns a counted copy of a part of another expression.
    pub(crate) fn copy(&mut self, expr: &Expr, at: &impl Ranged) -> Result<Expr> {
        self.copied(&Value::Expr(expr.clone()), at)?;
        Ok(expr.clone())
    }

    /// Returns the dotted name of an expression below `T` or `I`, as `T.axis.spatial`, however that
    /// was imported.
    pub(crate) fn path(&self, expr: &ast::Expr) -> Option<String> {
        imports::short(&self.dotted(expr)?)
    }

    /// Returns a name and its attributes in full, as `tvm.script.tirx.exp`.
    pub(crate) fn dotted(&self, expr: &ast::Expr) -> Option<String> {
        match expr {
            ast::Expr::Name(name) if self.scopes.find(&name.id).is_none() => {
                self.imports.get(name.id.as_str()).cloned()
            }
            ast::Expr::Attribute(attribute) => self.dotted_attribute(attribute),
            _ => None,
        }
    }

    pub(crate) fn dotted_attribute(&self, attribute: &ast::ExprAttribute) -> Option<String> {
        let mut path = self.dotted(&attribute.value)?;
        path.push('.');
        path.push_str(&attribute.attr.id);
        Some(path)
    }

    pub(crate) fn is_import(&self, name: &str) -> bool {
        self.imports.contains_key(name)
    }

    /// Reads the module.
    pub(crate) fn module(
        mut self,
        body: &[ast::Stmt],
    ) -> std::result::Result<(IrModule, Vec<Diagnostic>), ScriptErrors> {
        self.collect(body);
        for stmt in body {
            // A failure was reported; the next statement is still read.
            let _ = self.top(stmt);
        }
        if self.module.functions.is_empty() && self.errors.is_empty() {
            let end = TextRange::default();
            self.fail(end, "no function found; expected `@I.ir_module` over a class, or `@T.prim_func`");
        }
        if self.errors.is_empty() {
            Ok((self.module, self.warnings))
        } else {
            Err(ScriptErrors::new(self.errors))
        }
    }

    fn import(&mut self, names: &[ast::Alias], from: &str) {
        for alias in names {
            let full = format!("{from}{}", alias.name.id);
            let (name, full) = match &alias.asname {
                Some(name) => (name.id.to_string(), full),
                // `import tvm.script` gives a name to `tvm`.
                None if from.is_empty() => {
                    let first = full.split('.').next().unwrap_or_default().to_owned();
                    (first.clone(), first)
                }
                None => (alias.name.id.to_string(), full),
            };
            self.legacy |= imports::is_legacy(&full);
            if imports::is_known(&full) {
                self.imports.insert(name, full);
            } else {
                self.imports.remove(&name);
                self.scopes.define(name, Value::Foreign);
            }
        }
    }

    /// Records imports, names of classes, and return types of functions, before any body is read.
    fn collect(&mut self, body: &[ast::Stmt]) {
        for stmt in body {
            match stmt {
                ast::Stmt::Import(import) => self.import(&import.names, ""),
                ast::Stmt::ImportFrom(import) => {
                    let module = import.module.as_ref().map(|name| name.id.to_string()).unwrap_or_default();
                    self.import(&import.names, &format!("{module}."));
                }
                ast::Stmt::ClassDef(class) => {
                    self.class_names.insert(class.name.id.to_string());
                    self.collect(&class.body);
                }
                ast::Stmt::FunctionDef(function) => {
                    let ret = function.returns.as_ref().and_then(|returns| self.return_type(returns));
                    let arity = function.parameters.len();
                    let unsaid = function.returns.is_none() && returns_value(&function.body);
                    let signature = Signature { ret, arity, unsaid };
                    self.signatures.insert(function.name.id.to_string(), signature);
                }
                _ => {}
            }
        }
    }

    fn return_type(&self, returns: &ast::Expr) -> Option<DType> {
        let path = self.path(match returns {
            ast::Expr::Call(call) => &call.func,
            other => other,
        })?;
        crate::names::dtype(path.strip_prefix("T.")?)
    }

    fn top(&mut self, stmt: &ast::Stmt) -> Result<()> {
        match stmt {
            ast::Stmt::Import(_) | ast::Stmt::ImportFrom(_) | ast::Stmt::Pass(_) => Ok(()),
            ast::Stmt::Expr(expr) if expr.value.is_string_literal_expr() => Ok(()),
            ast::Stmt::Expr(expr) => self.module_call(&expr.value),
            ast::Stmt::ClassDef(class) => self.class(class),
            ast::Stmt::FunctionDef(function) => self.function_def(function),
            ast::Stmt::Assign(assign) => self.constant(assign),
            // Code that runs when the file is a program is not the kernel's.
            ast::Stmt::If(choice) if is_main_guard(&choice.test) => Ok(()),
            other => Err(self.fail(
                other,
                "not allowed at the level of a module; expected imports, constants, a class under \
                 `@I.ir_module`, or functions under `@T.prim_func`",
            )),
        }
    }

    /// Defines `NAME = constant`; another value is accepted until it is used.
    fn constant(&mut self, assign: &ast::StmtAssign) -> Result<()> {
        let [ast::Expr::Name(target)] = assign.targets.as_slice() else {
            return Err(self.fail(assign, "expected `NAME = constant` at the level of a module"));
        };
        let known = self.errors.len();
        let value = match &*assign.value {
            ast::Expr::Call(call) if matches!(&*call.func, ast::Expr::Name(f) if f.id == "TypeVar") => {
                self.symbols.push((target.id.as_str().into(), DType::INT64));
                Value::Symbol(DType::INT64)
            }
            ast::Expr::Call(call) if is_load_json(&call.func) => return self.load_json(target, call),
            value => self.value(value).unwrap_or(Value::Foreign),
        };
        self.errors.truncate(known);
        let value = match value {
            Value::Buffer(_) | Value::Scalar(_) | Value::Failed => Value::Foreign,
            value => value,
        };
        self.scopes.define(target.id.as_str(), value);
        Ok(())
    }

    /// `metadata = tvm.ir.load_json("""…""")`
    fn load_json(&mut self, target: &ast::ExprName, call: &ast::ExprCall) -> Result<()> {
        self.scopes.define(target.id.as_str(), Value::Failed);
        let [text] = self.bind(call, "tvm.ir.load_json", ["json_str"], 1)?;
        let at = self.required(text)?;
        let text = self.string(at)?;
        match Metadata::read(&text) {
            Ok(metadata) => {
                self.scopes.define(target.id.as_str(), Value::Metadata(Arc::new(metadata)));
                Ok(())
            }
            Err(why) => Err(self.fail(at, format!("tvm.ir.load_json: {why}"))),
        }
    }

    fn class(&mut self, class: &ast::StmtClassDef) -> Result<()> {
        let decorated = class.decorator_list.iter().any(|decorator| {
            let expr = match &decorator.expression {
                ast::Expr::Call(call) => &*call.func,
                other => other,
            };
            self.path(expr).as_deref() == Some("I.ir_module")
        });
        // Without a decorator, as TVM prints some modules: a class of functions is one.
        let has_functions = class.body.iter().any(|stmt| matches!(stmt, ast::Stmt::FunctionDef(_)));
        let is_module = decorated || class.decorator_list.is_empty() && has_functions;
        if !is_module {
            return Err(self.fail(&class.name, "expected `@I.ir_module` over this class"));
        }
        for stmt in &class.body {
            let _ = self.top(stmt);
        }
        Ok(())
    }

    fn module_call(&mut self, expr: &ast::Expr) -> Result<()> {
        if let ast::Expr::Call(call) = expr {
            match self.path(&call.func).as_deref() {
                Some("I.module_attrs") => {
                    let [attrs] = self.bind(call, "I.module_attrs", ["attrs"], 1)?;
                    let attrs = self.attrs(self.required(attrs)?)?;
                    self.module.attrs.extend(attrs);
                    return Ok(());
                }
                Some("I.module_global_infos") => {
                    return Err(self.fail(call, "I.module_global_infos is not supported"));
                }
                _ => {}
            }
        }
        Err(self.fail(expr, "expected `I.module_attrs({...})` or a function under `@T.prim_func`"))
    }

    fn function_def(&mut self, function: &ast::StmtFunctionDef) -> Result<()> {
        let decorated = self.decorators(function);
        // The rest is still read, for its own errors.
        let options = decorated.unwrap_or(FunctionOptions { s_tir: true, private: false });
        let depth_of_names = {
            self.scopes.push();
            self.scopes.depth()
        };
        let function_ir = self.function(function, options);
        self.scopes.truncate(depth_of_names - 1);
        (self.function, self.depth) = (FunctionState::default(), 0);
        decorated?;
        let function_ir: PrimFunc = function_ir?;
        if !self.names.insert(Arc::clone(&function_ir.name)) {
            let message = format!("the module has a function {} already", function_ir.name);
            return Err(self.fail(&function.name, message));
        }
        self.module.functions.push(function_ir);
        Ok(())
    }

    fn decorators(&mut self, function: &ast::StmtFunctionDef) -> Result<FunctionOptions> {
        let mut options = FunctionOptions { s_tir: self.legacy, private: false };
        let mut found = false;
        for decorator in &function.decorator_list {
            let (expr, call) = match &decorator.expression {
                ast::Expr::Call(call) => (&*call.func, Some(call)),
                other => (other, None),
            };
            if self.path(expr).as_deref() != Some("T.prim_func") {
                let meant = matches!(expr, ast::Expr::Name(name) if name.id == "prim_func");
                let hint = if meant { "did you mean" } else { "expected" };
                let end = if meant { "?" } else { "" };
                return Err(self.fail(decorator, format!("unknown decorator; {hint} `@T.prim_func`{end}")));
            }
            found = true;
            let Some(call) = call else { continue };
            const NAMES: [&str; 4] = ["private", "s_tir", "check_well_formed", "persistent"];
            let given = self.bind(call, "T.prim_func", NAMES, 0)?;
            for (name, value) in NAMES.into_iter().zip(given) {
                let Some(value) = value else { continue };
                let ast::Expr::BooleanLiteral(literal) = value else {
                    return Err(self.fail(value, format!("{name}: expected True or False")));
                };
                match name {
                    "private" => options.private = literal.value,
                    "s_tir" => options.s_tir = literal.value || self.legacy,
                    _ => {}
                }
            }
        }
        if !found {
            let message = "expected `@T.prim_func` or `@T.prim_func(s_tir=True)` over this function";
            return Err(self.fail(&function.name, message));
        }
        Ok(options)
    }

    /// Returns the message for an unknown name below a namespace.
    pub(crate) fn unknown_path(&self, path: &str) -> String {
        if self.is_full() {
            return String::new();
        }
        if let Some(reason) = path.strip_prefix("T.").and_then(crate::left_out::reason) {
            return format!("{path} is left out: {reason}");
        }
        if let Some(place) = path.strip_prefix("T.").and_then(crate::names::place) {
            return format!("{path} does not stand here; it stands {place}");
        }
        let near = match path.strip_prefix("T.") {
            Some(name) if crate::names::meant(name).is_some() => {
                crate::names::meant(name).map(|meant| format!("T.{meant}"))
            }
            Some(name) => nearest(name, crate::names::known()).map(|near| format!("T.{near}")),
            None => nearest(path, ["I.ir_module", "I.module_attrs"]).map(str::to_owned),
        };
        // A name is no better than itself.
        match near.filter(|near| near != path) {
            Some(near) => format!("{path} is not known or not supported; did you mean {near}?"),
            None => format!("{path} is not known or not supported"),
        }
    }
}

/// Subtracts the nodes of an expression from `left`; returns false when they are too many, or nest
/// too deep.
fn count(expr: &Expr, depth: usize, left: &mut u64) -> bool {
    if *left == 0 || depth > DEPTH_MAX {
        return false;
    }
    *left -= 1;
    let mut whole = true;
    expr.for_each_child(&mut |child| whole = whole && count(child, depth + 1, left));
    whole
}

/// Returns true if a function returns a value somewhere.
fn returns_value(body: &[ast::Stmt]) -> bool {
    use ast::visitor::{Visitor, walk_stmt};
    struct Returns(bool);
    impl<'a> Visitor<'a> for Returns {
        fn visit_stmt(&mut self, stmt: &'a ast::Stmt) {
            self.0 = self.0 || matches!(stmt, ast::Stmt::Return(node) if node.value.is_some());
            walk_stmt(self, stmt);
        }

        fn visit_expr(&mut self, _: &'a ast::Expr) {}
    }
    let mut returns = Returns(false);
    returns.visit_body(body);
    returns.0
}

/// Options in the decorator of a function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FunctionOptions {
    pub(crate) s_tir: bool,
    pub(crate) private: bool,
}

/// Returns true for `tvm.ir.load_json`, which needs no import.
fn is_load_json(function: &ast::Expr) -> bool {
    let ast::Expr::Attribute(load) = function else { return false };
    let ast::Expr::Attribute(ir) = &*load.value else { return false };
    load.attr.id == "load_json"
        && ir.attr.id == "ir"
        && matches!(&*ir.value, ast::Expr::Name(name) if name.id == "tvm")
}

fn is_main_guard(test: &ast::Expr) -> bool {
    matches!(test, ast::Expr::Compare(compare)
        if matches!(&*compare.left, ast::Expr::Name(name) if name.id == "__name__"))
}

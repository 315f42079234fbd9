//! Compiles the tree to [`crate::code`]: variables become registers, buffers become views, and
//! malformed code is found before the run.

mod expr;
mod fold;
mod host;
mod op;
mod packed;
mod stmt;
mod sync;
mod threads;
mod walk;

use std::collections::HashMap;
use std::sync::Arc;

use crate::code::{Function, Inst, NONE, OperandLayout, ParamCode, Reg, ViewInfo};
use crate::error::{ErrorKind, InterpretError};
use crate::scalar::Lane;
use chipdock_ir::{Buffer, DType, Expr, ExprKind, IrModule, Param, PrimFunc, Span, StorageRank, Var};

/// The greatest nesting of expressions and statements; the compiler is recursive.
const DEPTH_MAX: usize = 600;
/// The greatest number of instructions of a function: a shared node counts at each use.
const INSTRUCTIONS_MAX: usize = 1 << 22;
/// The greatest number of registers of a function.
const REGISTERS_MAX: u32 = 1 << 22;

type Compiled<T> = Result<T, Box<InterpretError>>;

/// Compiles a function and all that it calls; the first result is the function of that name.
pub(crate) fn compile(module: &IrModule, name: &str) -> Compiled<Vec<Function>> {
    let mut names: Vec<Arc<str>> = Vec::new();
    let Some(entry) = module.function(name) else {
        let known = module.functions.iter().map(|function| function.name.to_string()).collect();
        let kind = ErrorKind::UnknownFunction { name: name.to_owned(), known };
        return Err(Box::new(InterpretError::new(&Arc::from(""), Span::NONE, kind)));
    };
    names.push(Arc::clone(&entry.name));
    let mut functions = Vec::new();
    while let Some(name) = names.get(functions.len()).cloned() {
        // A callee was looked up when its call was compiled.
        let Some(function) = module.function(&name) else { break };
        // Compiled once to learn the constants, which take the first registers, and once more with
        // room for them.
        let n_constants = Compiler::run(module, function, &mut names, 0)?.constants.len() as u32;
        functions.push(Compiler::run(module, function, &mut names, n_constants)?);
    }
    Ok(functions)
}

struct Compiler<'m, 'n> {
    module: &'m IrModule,
    function: &'m PrimFunc,
    /// Every function found so far, by its number.
    names: &'n mut Vec<Arc<str>>,
    out: Function,
    constants: HashMap<u64, Reg>,
    vars: HashMap<Var, Reg>,
    buffers: HashMap<Buffer, u32>,
    /// Buffers by data variable.
    by_data: HashMap<Var, u32>,
    /// Loop variables and axes with a known range, both ends included.
    ranges: HashMap<Var, (i128, i128)>,
    undo: Vec<Undo>,
    next: Reg,
    span: Span,
    depth: usize,
    loops: Vec<Loop>,
    /// For each open branch, the number of surrounding loops, and whether code within leaves the
    /// branch.
    branches: Vec<(usize, bool)>,
    /// Whether the innermost block has reduction axes.
    reduces: bool,
    /// New values of reductions that are bound to names before they are stored.
    sums: HashMap<Var, fold::NamedSum>,
    /// Properties of the function's threads.
    threads: threads::Knowledge,
}

/// An action at the end of a scope.
enum Undo {
    Var(Var, Option<Reg>),
    Buffer(Buffer, Option<u32>),
    Data(Var, Option<u32>),
}

/// An open loop: jumps whose targets are set at its ends.
#[derive(Default)]
struct Loop {
    breaks: Vec<usize>,
    continues: Vec<usize>,
}

impl<'m, 'n> Compiler<'m, 'n> {
    fn run(
        module: &'m IrModule,
        function: &'m PrimFunc,
        names: &'n mut Vec<Arc<str>>,
        n_constants: u32,
    ) -> Compiled<Function> {
        let out = Function {
            name: Arc::clone(&function.name),
            params: Vec::new(),
            ret: function.ret,
            n_regs: n_constants as usize,
            constants: Vec::new(),
            code: Vec::new(),
            spans: Vec::new(),
            lists: Vec::new(),
            views: Vec::new(),
            folds: Vec::new(),
            axes: Vec::new(),
            failures: Vec::new(),
            traps: Vec::new(),
            launches: Vec::new(),
            waits: Vec::new(),
            tolerant: Vec::new(),
            calls: Vec::new(),
            texts: Vec::new(),
            arrays: Vec::new(),
            warp_size: 32,
        };
        let mut compiler = Self {
            module,
            function,
            names,
            out,
            constants: HashMap::new(),
            vars: HashMap::new(),
            buffers: HashMap::new(),
            by_data: HashMap::new(),
            ranges: HashMap::new(),
            undo: Vec::new(),
            next: n_constants,
            span: Span::NONE,
            depth: 0,
            loops: Vec::new(),
            branches: Vec::new(),
            reduces: false,
            sums: HashMap::new(),
            threads: threads::Knowledge::collect(function),
        };
        compiler.out.warp_size = compiler.threads.warp_size;
        compiler.params()?;
        for buffer in &function.alloc_buffers {
            compiler.allocate(buffer)?;
        }
        compiler.body(&function.body)?;
        compiler.emit(Inst::Return { src: NONE })?;
        Ok(compiler.out)
    }

    // Errors.

    fn error(&self, kind: ErrorKind) -> Box<InterpretError> {
        Box::new(InterpretError::new(&self.function.name, self.span, kind))
    }

    fn malformed<T>(&self, what: impl Into<String>) -> Compiled<T> {
        Err(self.error(ErrorKind::Malformed { what: what.into() }))
    }

    /// Emits code that ends the run: unsupported code is an error only if it is reached.
    fn trap(&mut self, what: impl Into<String>) -> Compiled<()> {
        let trap = self.out.traps.len() as u32;
        self.out.traps.push(what.into());
        self.emit(Inst::Trap { trap }).map(drop)
    }

    fn lane(&self, dtype: DType) -> Compiled<Lane> {
        match Lane::of(dtype) {
            Some(lane) => Ok(lane),
            None => self.malformed(format!("the interpreter does not compute with {dtype}")),
        }
    }

    /// Compiles one level deeper in the tree.
    fn nested<T>(&mut self, run: impl FnOnce(&mut Self) -> Compiled<T>) -> Compiled<T> {
        if self.depth >= DEPTH_MAX {
            return self.malformed(format!("it is nested deeper than {DEPTH_MAX} nodes"));
        }
        self.depth += 1;
        let result = run(self);
        self.depth -= 1;
        result
    }

    // Code.

    fn emit(&mut self, inst: Inst) -> Compiled<usize> {
        if self.out.code.len() >= INSTRUCTIONS_MAX {
            return self.malformed(format!("the function needs more than {INSTRUCTIONS_MAX} instructions"));
        }
        self.out.code.push(inst);
        self.out.spans.push(self.span);
        Ok(self.out.code.len() - 1)
    }

    fn here(&self) -> u32 {
        self.out.code.len() as u32
    }

    /// Sets a jump's target to the next instruction.
    fn land(&mut self, at: usize) {
        let here = self.here();
        if let Some(inst) = self.out.code.get_mut(at) {
            match inst {
                Inst::Jump { to } | Inst::UnlessFirst { to, .. } => *to = here,
                Inst::Branch { otherwise, .. } => *otherwise = here,
                Inst::WhileTest { end, .. } | Inst::LoopBegin { end, .. } => *end = here,
                _ => {}
            }
        }
    }

    fn reserve(&mut self, lanes: u16) -> Compiled<Reg> {
        let reg = self.next;
        let next = reg.saturating_add(u32::from(lanes.max(1)));
        if next > REGISTERS_MAX {
            return self.malformed(format!("the function needs more than {REGISTERS_MAX} registers"));
        }
        self.next = next;
        self.out.n_regs = self.out.n_regs.max(next as usize);
        Ok(reg)
    }

    fn constant(&mut self, bits: u64) -> Reg {
        if let Some(&reg) = self.constants.get(&bits) {
            return reg;
        }
        let reg = self.constants.len() as Reg;
        self.constants.insert(bits, reg);
        self.out.constants.push(bits);
        reg
    }

    fn list(&mut self, regs: &[Reg]) -> u32 {
        let start = self.out.lists.len() as u32;
        self.out.lists.extend_from_slice(regs);
        start
    }

    // Scopes.

    fn bind(&mut self, var: &Var, reg: Reg) {
        let old = self.vars.insert(var.clone(), reg);
        self.undo.push(Undo::Var(var.clone(), old));
        // A variable that is bound again has another value.
        self.ranges.remove(var);
    }

    fn scope<T>(&mut self, run: impl FnOnce(&mut Self) -> Compiled<T>) -> Compiled<T> {
        let (mark, next) = (self.undo.len(), self.next);
        let result = run(self);
        self.next = next;
        for undo in self.undo.drain(mark..).rev() {
            match undo {
                Undo::Var(var, old) => restore(&mut self.vars, var, old),
                Undo::Buffer(buffer, old) => restore(&mut self.buffers, buffer, old),
                Undo::Data(var, old) => restore(&mut self.by_data, var, old),
            }
        }
        result
    }

    fn new_view(&mut self, buffer: &Buffer) -> Compiled<u32> {
        let lane = self.lane(buffer.dtype)?;
        let view = self.out.views.len() as u32;
        self.out.views.push(ViewInfo {
            name: Arc::clone(&buffer.name),
            lane,
            lanes: u32::from(buffer.dtype.lanes.max(1)),
            rank: buffer.shape.len() as u32,
            dtype: buffer.dtype,
            shared: false,
            private: self.threads.launches && buffer.scope.rank == StorageRank::Local,
        });
        let old = self.buffers.insert(buffer.clone(), view);
        self.undo.push(Undo::Buffer(buffer.clone(), old));
        let old = self.by_data.insert(buffer.data.clone(), view);
        self.undo.push(Undo::Data(buffer.data.clone(), old));
        Ok(view)
    }

    /// Records that a view's memory may be written.
    fn share(&mut self, view: u32) {
        if let Some(info) = self.out.views.get_mut(view as usize) {
            info.shared = !info.private;
        }
    }

    // Buffers.

    /// Compiles the extents, strides and offset of a buffer to a list of registers.
    fn form(&mut self, buffer: &Buffer) -> Compiled<(u32, OperandLayout)> {
        if !buffer.strides.is_empty() && buffer.strides.len() != buffer.shape.len() {
            return self.malformed(format!(
                "buffer {} has {} extents and {} strides",
                buffer.name,
                buffer.shape.len(),
                buffer.strides.len()
            ));
        }
        let mut regs = Vec::new();
        for size in buffer.shape.iter().chain(&buffer.strides).chain(&buffer.elem_offset) {
            regs.push(self.size(size)?);
        }
        let form = OperandLayout {
            rank: buffer.shape.len() as u32,
            has_strides: !buffer.strides.is_empty(),
            has_offset: buffer.elem_offset.is_some(),
        };
        Ok((self.list(&regs), form))
    }

    /// Compiles an integer scalar: an extent, a stride, an index.
    fn size(&mut self, size: &Expr) -> Compiled<Reg> {
        if !size.dtype.is_integer() || !size.dtype.is_scalar() {
            return self.malformed(format!("expected a scalar integer for a size, found {}", size.dtype));
        }
        self.expr(size)
    }

    fn allocate(&mut self, buffer: &Buffer) -> Compiled<()> {
        let (list, form) = self.form(buffer)?;
        let view = self.new_view(buffer)?;
        let data = self.reserve(1)?;
        let rank = buffer.scope.rank;
        if !self.threads.is_open() {
            self.emit(Inst::Allocate { view, list, form, data })?;
            if matches!(rank, StorageRank::Shared | StorageRank::Warp | StorageRank::Local) {
                self.threads.outer.push((view, data, rank));
            }
        } else if rank == StorageRank::Local {
            self.emit(Inst::Allocate { view, list, form, data })?;
        } else {
            if rank == StorageRank::Other {
                self.trap(format!(
                    "memory of the scope \"{}\" in a launch: nobody says whose it is",
                    buffer.scope
                ))?;
            }
            self.emit(Inst::AllocateOnce { view, list, form, data, rank })?;
        }
        self.bind(&buffer.data, data);
        Ok(())
    }

    fn declare(&mut self, buffer: &Buffer, data: Option<&Expr>) -> Compiled<u32> {
        let data = match data {
            Some(data) if data.dtype.is_handle() => Some(self.expr(data)?),
            Some(data) => {
                return self
                    .malformed(format!("expected a handle for a buffer's data, found {}", data.dtype));
            }
            None => self.vars.get(&buffer.data).copied(),
        };
        let Some(data) = data else {
            return self.malformed(format!("nothing gives buffer {} its memory", buffer.name));
        };
        if self.vars.get(&buffer.data) != Some(&data) {
            self.bind(&buffer.data, data);
        }
        if let Some(&first) = self.by_data.get(&buffer.data) {
            self.share(first);
        }
        let (list, form) = self.form(buffer)?;
        let view = self.new_view(buffer)?;
        self.share(view);
        self.emit(Inst::Declare { view, list, form, data })?;
        Ok(view)
    }

    /// Returns the view of a buffer that is declared, or whose data variable is known.
    fn view(&mut self, buffer: &Buffer) -> Compiled<u32> {
        match self.buffers.get(buffer) {
            Some(&view) => Ok(view),
            None if self.vars.contains_key(&buffer.data) => self.declare(buffer, None),
            None => self.malformed(format!("buffer {} is used where it is not declared", buffer.name)),
        }
    }

    // Parameters.

    fn params(&mut self) -> Compiled<()> {
        let function = self.function;
        for param in &function.params {
            let code = match param {
                Param::Buffer(buffer) => {
                    let view = self.new_view(buffer)?;
                    let data = self.reserve(1)?;
                    self.bind(&buffer.data, data);
                    ParamCode::Tensor { view, data }
                }
                Param::Var(var) if var.dtype.is_scalar() => {
                    let lane = self.lane(var.dtype)?;
                    let reg = self.reserve(1)?;
                    self.bind(var, reg);
                    ParamCode::Scalar { reg, dtype: var.dtype, lane }
                }
                Param::Var(var) => {
                    return self.malformed(format!("parameter {} is a vector, {}", var.name, var.dtype));
                }
            };
            self.out.params.push((Arc::clone(param.name()), code));
        }
        let buffers: Vec<&Buffer> = function
            .params
            .iter()
            .filter_map(|param| match param {
                Param::Buffer(buffer) => Some(buffer),
                Param::Var(_) => None,
            })
            .collect();
        for buffer in &buffers {
            self.bind_sizes(buffer)?;
        }
        for buffer in &buffers {
            self.check_sizes(buffer)?;
            if let (Some(offset), Some(&view)) = (&buffer.elem_offset, self.buffers.get(*buffer)) {
                let src = self.size(offset)?;
                self.emit(Inst::BeginCheck { src, view })?;
            }
        }
        Ok(())
    }

    /// Binds the variables that occur bare in a buffer's shape, strides and offset.
    fn bind_sizes(&mut self, buffer: &Buffer) -> Compiled<()> {
        let Some(&view) = self.buffers.get(buffer) else { return Ok(()) };
        if !buffer.strides.is_empty() && buffer.strides.len() != buffer.shape.len() {
            return self.malformed(format!("buffer {} needs one stride per axis", buffer.name));
        }
        for (sizes, is_stride) in [(&buffer.shape, false), (&buffer.strides, true)] {
            for (axis, size) in sizes.iter().enumerate() {
                if let Some(var) = self.unbound(size) {
                    let dst = self.reserve(1)?;
                    self.emit(Inst::Dim { dst, view, axis: axis as u32, is_stride })?;
                    self.bind(&var, dst);
                }
            }
        }
        if let Some(var) = buffer.elem_offset.as_ref().and_then(|offset| self.unbound(offset)) {
            let zero = self.constant(0);
            self.bind(&var, zero);
        }
        Ok(())
    }

    fn unbound(&self, size: &Expr) -> Option<Var> {
        match &size.kind {
            ExprKind::Var(var) if !self.vars.contains_key(var) => Some(var.clone()),
            _ => None,
        }
    }

    /// Emits checks of the extents and strides of a view against its buffer's.
    fn check_sizes(&mut self, buffer: &Buffer) -> Compiled<()> {
        let Some(&view) = self.buffers.get(buffer) else { return Ok(()) };
        for (sizes, is_stride) in [(&buffer.shape, false), (&buffer.strides, true)] {
            for (axis, size) in sizes.iter().enumerate() {
                let src = self.size(size)?;
                self.emit(Inst::DimCheck { src, view, axis: axis as u32, is_stride })?;
            }
        }
        self.emit(Inst::Compact { view })?;
        Ok(())
    }
}

fn restore<K: std::hash::Hash + Eq, V>(map: &mut HashMap<K, V>, key: K, old: Option<V>) {
    match old {
        Some(old) => map.insert(key, old),
        None => map.remove(&key),
    };
}

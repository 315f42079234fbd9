//! The machine: runs compiled code on registers and memory.
//!
//! A [`Frame`] is the state of one thread of execution: position, registers, views. [`Machine`]
//! holds the state that threads share. So a thread may stop anywhere (a barrier, a branch to be
//! tried) and continue later.

mod branch;
mod host;
mod launch;
mod ops;
mod packed;
mod view;
mod wait;
mod warp;

use std::collections::HashMap;
use std::sync::Arc;

use crate::Limits;
use crate::bound::{ANY, Num};
use crate::code::{Fold, Function, Inst, MessagePart, NONE, Reg};
use crate::error::{ErrorKind, InterpretError};
use crate::kernels::{Binary, Ternary, Unary};
use crate::memory::{Clock, Memory};
use crate::scalar::{self, Lane};

pub(crate) use branch::Undo;
pub(crate) use view::View;

pub(crate) type Stop<T> = Result<T, Box<InterpretError>>;

/// The way in which a piece of code ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// Reached the position at which it was to stop.
    Stopped,
    /// The function returned, with the value in this register or none.
    Returned(Reg),
    /// The thread waits at that place.
    Waiting(u32),
    /// The thread ended.
    Ended,
}

/// The state of one thread of execution.
pub(crate) struct Frame<'c> {
    pub(crate) function: &'c Function,
    /// Position at which it continues.
    pub(crate) position: usize,
    pub(crate) regs: Vec<u64>,
    /// A bound per register; empty in a run without bounds.
    pub(crate) bounds: Vec<f64>,
    pub(crate) views: Vec<View>,
    /// Whether the value that it passes to its wait was never written (INT-I10).
    undefined: bool,
}

impl<'c> Frame<'c> {
    pub(crate) fn new(function: &'c Function, with_bounds: bool) -> Self {
        let n_regs = function.n_regs.max(function.constants.len());
        let mut regs = vec![0; n_regs];
        regs[..function.constants.len()].copy_from_slice(&function.constants);
        let bounds = if with_bounds { vec![0.0; n_regs] } else { Vec::new() };
        let views = function.views.iter().map(|_| View::default()).collect();
        Self { function, position: 0, regs, bounds, views, undefined: false }
    }

    #[inline(always)]
    pub(crate) fn get(&self, reg: Reg) -> u64 {
        self.regs[reg as usize]
    }

    #[inline(always)]
    pub(crate) fn num<const B: bool>(&self, reg: Reg) -> Num {
        (self.regs[reg as usize], if B { self.bounds[reg as usize] } else { 0.0 })
    }

    #[inline(always)]
    pub(crate) fn set<const B: bool>(&mut self, reg: Reg, (value, bound): Num) {
        self.regs[reg as usize] = value;
        if B {
            self.bounds[reg as usize] = bound;
        }
    }

    #[inline(always)]
    fn bound<const B: bool>(&self, reg: Reg) -> f64 {
        if B { self.bounds[reg as usize] } else { 0.0 }
    }

    fn list(&self, start: u32, n: u32) -> &'c [Reg] {
        self.function.lists.get(start as usize..(start + n) as usize).unwrap_or_default()
    }

    #[inline(always)]
    fn unary<const B: bool>(&mut self, op: &Unary, dst: Reg, a: Reg, lanes: u32) {
        for lane in 0..lanes {
            let result =
                if B { (op.bounded)(self.num::<B>(a + lane)) } else { ((op.plain)(self.get(a + lane)), 0.0) };
            self.set::<B>(dst + lane, result);
        }
    }

    #[inline(always)]
    fn binary<const B: bool>(&mut self, op: &Binary, dst: Reg, a: Reg, b: Reg, lanes: u32) {
        for lane in 0..lanes {
            let result = if B {
                (op.bounded)(self.num::<B>(a + lane), self.num::<B>(b + lane))
            } else {
                ((op.plain)(self.get(a + lane), self.get(b + lane)), 0.0)
            };
            self.set::<B>(dst + lane, result);
        }
    }

    fn ternary<const B: bool>(&mut self, op: &Ternary, dst: Reg, [a, b, c]: [Reg; 3], lanes: u32) {
        for lane in 0..lanes {
            let result = if B {
                (op.bounded)(self.num::<B>(a + lane), self.num::<B>(b + lane), self.num::<B>(c + lane))
            } else {
                ((op.plain)(self.get(a + lane), self.get(b + lane), self.get(c + lane)), 0.0)
            };
            self.set::<B>(dst + lane, result);
        }
    }

    fn copy<const B: bool>(&mut self, dst: Reg, src: Reg, lanes: u32) {
        for lane in 0..lanes {
            let value = self.num::<B>(src + lane);
            self.set::<B>(dst + lane, value);
        }
    }

    fn fill<const B: bool>(&mut self, dst: Reg, src: Reg, lanes: u32) {
        let value = self.num::<B>(src);
        for lane in 0..lanes {
            self.set::<B>(dst + lane, value);
        }
    }

    fn ramp<const B: bool>(&mut self, dst: Reg, [base, stride]: [Reg; 2], lanes: u32, add: &Binary) {
        let (mut value, stride) = (self.num::<B>(base), self.num::<B>(stride));
        for lane in 0..lanes {
            self.set::<B>(dst + lane, value);
            value = if B { (add.bounded)(value, stride) } else { ((add.plain)(value.0, stride.0), 0.0) };
        }
    }

    fn select<const B: bool>(&mut self, dst: Reg, [condition, a, b]: [Reg; 3], lanes: u32, lane: Lane) {
        for at in 0..lanes {
            let (chosen, other) =
                if self.get(condition + at) != 0 { (a + at, b + at) } else { (b + at, a + at) };
            let mut value = self.num::<B>(chosen);
            if B && self.bound::<B>(condition + at) > 0.0 {
                value.1 = branch::cover(lane, value, self.num::<B>(other));
            }
            self.set::<B>(dst + at, value);
        }
    }

    /// Reads bits as another type; `lanes` counts the narrower type's, in either direction.
    fn reinterpret<const B: bool>(&mut self, dst: Reg, src: Reg, [from, to]: [Lane; 2], lanes: u32) {
        let (from_bytes, to_bytes) = (from.size_bytes(), to.size_bytes());
        let n_bytes = lanes as usize * from_bytes.min(to_bytes);
        let mut bytes = vec![0; n_bytes];
        let mut bound = 0.0_f64;
        for (reg, chunk) in (src..).zip(bytes.chunks_exact_mut(from_bytes)) {
            from.write(chunk, self.get(reg));
            bound = bound.max(self.bound::<B>(reg));
        }
        // No bound passes through bits, except for the same type.
        let bound = if bound == 0.0 || from == to { bound } else { ANY };
        for (reg, chunk) in (dst..).zip(bytes.chunks_exact(to_bytes)) {
            self.set::<B>(reg, (to.read(chunk), bound));
        }
    }
}

/// The state that threads of execution share.
pub(crate) struct Machine<'c> {
    pub(crate) functions: &'c [Function],
    pub(crate) memory: Memory,
    pub(crate) clock: Clock,
    pub(crate) limits: Limits,
    pub(crate) steps_left: u64,
    calls: usize,
    /// Whether control flow took a way that cannot be bounded: then nothing that was written has a
    /// bound.
    pub(crate) lost: bool,
    /// Elements that stores overwrote while a branch is being tried.
    pub(crate) undo: Vec<Undo>,
    /// Number of branches being tried.
    pub(crate) trials: u32,
    /// Whether accesses are not recorded for the detection of races.
    pub(crate) quiet: bool,
    /// Memory of the running launch of which several threads share one instance.
    instances: launch::Instances,
    /// The memory of constants that were reached, by the address of their bytes.
    pub(crate) constants: HashMap<usize, usize>,
    /// Workspaces that are not freed yet.
    pub(crate) workspaces: Vec<usize>,
    /// Time at which the last launch ended.
    launched: u64,
}

impl<'c> Machine<'c> {
    pub(crate) fn new(functions: &'c [Function], limits: Limits, with_bounds: bool) -> Self {
        Self {
            functions,
            memory: Memory::new(limits.memory_bytes_max, with_bounds),
            clock: Clock::default(),
            limits,
            steps_left: limits.steps_max,
            calls: 0,
            lost: false,
            undo: Vec::new(),
            trials: 0,
            quiet: false,
            instances: launch::Instances::default(),
            constants: HashMap::new(),
            workspaces: Vec::new(),
            launched: 0,
        }
    }

    /// Takes the bytes of a piece of memory, and the bounds of its elements.
    pub(crate) fn take(&mut self, space: usize) -> (Vec<u8>, Vec<f64>) {
        let Some(space) = self.memory.spaces.get_mut(space) else { return Default::default() };
        let is_dirty = space.dirty;
        let (bytes, mut bounds) = std::mem::take(space).into_parts();
        if self.lost && is_dirty {
            bounds.fill(ANY);
        }
        (bytes, bounds)
    }

    /// Makes an error at the running instruction.
    #[cold]
    pub(crate) fn error(&self, frame: &Frame<'c>, kind: ErrorKind) -> Box<InterpretError> {
        let at = frame.position.saturating_sub(1);
        let span = frame.function.spans.get(at).copied().unwrap_or_default();
        let mut error = Box::new(InterpretError::new(&frame.function.name, span, kind));
        error.thread = self.clock.threads.as_ref().map(|threads| Box::new(threads.current()));
        error
    }

    #[inline(always)]
    fn step(&mut self, frame: &Frame<'c>) -> Stop<()> {
        if self.steps_left == 0 {
            return Err(self.error(frame, ErrorKind::StepLimit { steps_max: self.limits.steps_max }));
        }
        self.steps_left -= 1;
        Ok(())
    }

    /// Runs a frame until it returns or reaches `stop`.
    #[expect(clippy::too_many_lines, reason = "one arm per instruction; splitting it costs the dispatch")]
    pub(crate) fn execute<const B: bool>(&mut self, frame: &mut Frame<'c>, stop: usize) -> Stop<Flow> {
        let code: &'c [Inst] = &frame.function.code;
        loop {
            if frame.position == stop {
                return Ok(Flow::Stopped);
            }
            let Some(&inst) = code.get(frame.position) else { return Ok(Flow::Returned(NONE)) };
            frame.position += 1;
            match inst {
                Inst::Binary { op, dst, a, b, lanes } => frame.binary::<B>(op, dst, a, b, lanes),
                Inst::Load { dst, view, index, lanes, predicate } => {
                    if let Err(error) = self.load::<B>(frame, dst, view, (index, lanes), predicate) {
                        self.tolerate(frame, error)?;
                    }
                }
                Inst::Store { src, view, index, lanes, predicate, fold } => {
                    let fold: Option<&Fold> = frame.function.folds.get(fold as usize);
                    self.store::<B>(frame, src, view, (index, lanes), predicate, fold)?;
                }
                Inst::LoopNext { var, counter, step, add, body } => {
                    let left = frame.get(counter) - 1;
                    frame.regs[counter as usize] = left;
                    if left > 0 {
                        self.step(frame)?;
                        frame.regs[var as usize] = (add.plain)(frame.get(var), frame.get(step));
                        frame.position = body as usize;
                    }
                }
                Inst::UnlessFirst { list, n_pairs, to } => {
                    let mut pairs = frame.list(list, 2 * n_pairs).chunks_exact(2);
                    if B && frame.list(list, 2 * n_pairs).iter().any(|&reg| frame.bound::<B>(reg) > 0.0) {
                        self.lost = true;
                    }
                    if pairs.any(|pair| frame.get(pair[0]) != frame.get(pair[1])) {
                        frame.position = to as usize;
                    }
                }
                Inst::Branch { condition, otherwise, join, dst, lanes, lane, escapes } => {
                    let ambiguous = B && frame.bound::<B>(condition) > 0.0;
                    if ambiguous && !escapes {
                        self.try_both(frame, otherwise as usize, join as usize, (dst, lanes, lane))?;
                    } else {
                        self.lost |= ambiguous;
                        if frame.get(condition) == 0 {
                            frame.position = otherwise as usize;
                        }
                    }
                }
                Inst::Jump { to } => frame.position = to as usize,
                Inst::Move { dst, src, lanes } => frame.copy::<B>(dst, src, lanes),
                Inst::Unary { op, dst, a, lanes } => frame.unary::<B>(op, dst, a, lanes),
                Inst::Ternary { op, dst, a, b, c, lanes } => frame.ternary::<B>(op, dst, [a, b, c], lanes),
                Inst::Select { dst, condition, a, b, lanes, lane } => {
                    frame.select::<B>(dst, [condition, a, b], lanes, lane);
                }
                Inst::Fill { dst, src, lanes } => frame.fill::<B>(dst, src, lanes),
                Inst::Ramp { dst, base, stride, lanes, add } => {
                    frame.ramp::<B>(dst, [base, stride], lanes, add);
                }
                Inst::Reinterpret { dst, src, from, to, lanes } => {
                    frame.reinterpret::<B>(dst, src, [from, to], lanes);
                }
                Inst::LoopBegin { counter, min, extent, end } => {
                    self.lost |= B && frame.bound::<B>(extent) + frame.bound::<B>(min) > 0.0;
                    let extent = frame.get(extent);
                    frame.regs[counter as usize] = extent;
                    if (extent as i64) <= 0 {
                        frame.position = end as usize;
                    } else {
                        self.step(frame)?;
                    }
                }
                Inst::WhileTest { condition, end } => {
                    self.lost |= B && frame.bound::<B>(condition) > 0.0;
                    if frame.get(condition) == 0 {
                        frame.position = end as usize;
                    }
                }
                Inst::WhileNext { to } => {
                    self.step(frame)?;
                    frame.position = to as usize;
                }
                Inst::StepCheck { src } => {
                    self.lost |= B && frame.bound::<B>(src) > 0.0;
                    let step = frame.get(src) as i64;
                    if step < 1 {
                        return Err(self.error(frame, ErrorKind::BadStep { step }));
                    }
                }
                Inst::ParallelBegin => self.clock.begin(),
                Inst::ParallelIteration => self.clock.iterate(),
                Inst::ParallelEnd => self.clock.end(),
                Inst::AxisCheck { value, min, extent, axis } => {
                    self.check_axis(frame, [value, min, extent], axis)?
                }
                Inst::Address { dst, view, index } => self.address::<B>(frame, dst, view, index)?,
                Inst::Allocate { view, list, form, data } => {
                    self.allocate::<B>(frame, view, list, form, data)?
                }
                Inst::Declare { view, list, form, data } => {
                    self.declare::<B>(frame, view, list, form, data)?
                }
                Inst::Match { view, source, list, data, offset } => {
                    self.match_region::<B>(frame, [view, source], list, [data, offset])?;
                }
                Inst::Dim { dst, view, axis, is_stride } => {
                    self.dim::<B>(frame, dst, view, (axis, is_stride))?
                }
                Inst::DimCheck { src, view, axis, is_stride } => {
                    self.check_dim(frame, src, view, (axis, is_stride))?;
                }
                Inst::BeginCheck { src, view } => self.check_begin(frame, src, view)?,
                Inst::Compact { view } => self.compact(frame, view)?,
                Inst::Call { function, list, n_args, dst, lanes } => {
                    self.step(frame)?;
                    self.call::<B>(frame, function, frame.list(list, 2 * n_args), (dst, lanes))?;
                }
                Inst::Return { src } => return Ok(Flow::Returned(src)),
                Inst::Fail { failure } => return Err(self.fail(frame, failure)),
                Inst::Trap { trap } => {
                    let what = frame.function.traps.get(trap as usize).cloned().unwrap_or_default();
                    return Err(self.error(frame, ErrorKind::Unsupported { what }));
                }
                Inst::Launch { launch } => self.launch::<B>(frame, launch)?,
                Inst::AllocateOnce { view, list, form, data, rank } => {
                    self.allocate_once::<B>(frame, (view, rank), list, form, data)?;
                }
                Inst::Wait { wait } => return Ok(Flow::Waiting(wait)),
                Inst::ThreadEnd => return Ok(Flow::Ended),
                Inst::Assume { condition } => {
                    if frame.get(condition) == 0 {
                        return Err(self.error(frame, ErrorKind::Assumption));
                    }
                }
                Inst::Atomic { add, dst, address, value, lane } => {
                    self.atomic::<B>(frame, add, [dst, address, value], lane)?;
                }
                Inst::LoadAt { dst, address, lane } => self.load_at::<B>(frame, dst, address, lane)?,
                Inst::StoreAt { src, address, lane } => self.store_at::<B>(frame, src, address, lane)?,
                Inst::Workspace { dst, size } => self.workspace::<B>(frame, dst, size)?,
                Inst::FreeWorkspace { data } => self.free_workspace(frame, data)?,
                Inst::CallHost { call } => self.call_host::<B>(frame, call)?,
                Inst::Constant { dst, constant } => self.constant::<B>(frame, dst, constant)?,
                Inst::Text { dst, text } => self.text::<B>(frame, dst, text)?,
                Inst::QMultiplyShift { dst, list, lanes, per_axis } => {
                    frame.q_multiply_shift::<B>(dst, list, lanes, per_axis);
                }
                Inst::DotAdd { dst, list, lanes, dot } => frame.dot_add::<B>(dst, list, lanes, dot),
                Inst::Dp4a { dst, a, b, sum, is_signed } => {
                    frame.dp4a::<B>(dst, [a, b, sum], is_signed);
                }
            }
        }
    }

    fn check_axis(&self, frame: &Frame<'c>, [value, min, extent]: [Reg; 3], axis: u32) -> Stop<()> {
        let (value, min, extent) = (frame.get(value) as i64, frame.get(min) as i64, frame.get(extent) as i64);
        if value >= min && value.wrapping_sub(min) < extent {
            return Ok(());
        }
        let names = frame.function.axes.get(axis as usize).cloned();
        let (block, axis) = names.unwrap_or_else(|| (Arc::from(""), Arc::from("")));
        Err(self.error(frame, ErrorKind::AxisOutOfDomain { block, axis, value, min, extent }))
    }

    fn fail(&self, frame: &Frame<'c>, failure: u32) -> Box<InterpretError> {
        let Some(failure) = frame.function.failures.get(failure as usize) else {
            return self.error(frame, ErrorKind::Unsupported { what: "an unknown failure".into() });
        };
        let mut message = String::new();
        for part in &failure.parts {
            match part {
                MessagePart::Text(text) => message.push_str(text),
                MessagePart::Number(reg, dtype) => {
                    message.push_str(&scalar::to_int(frame.get(*reg), *dtype).to_string());
                }
            }
        }
        self.error(frame, ErrorKind::Assertion { kind: Arc::clone(&failure.kind), message })
    }

    /// Runs a frame from its position to the function's end.
    pub(crate) fn finish<const B: bool>(&mut self, frame: &mut Frame<'c>) -> Stop<Option<Num>> {
        let open = self.clock.depth();
        let flow = self.execute::<B>(frame, usize::MAX)?;
        self.clock.close(open);
        for view in &frame.views {
            if let Some(space) = view.owned {
                self.memory.release(space);
            }
        }
        match flow {
            Flow::Returned(reg) if reg != NONE => Ok(Some(frame.num::<B>(reg))),
            Flow::Returned(_) | Flow::Stopped => Ok(None),
            Flow::Waiting(_) | Flow::Ended => {
                let what = "what threads do together outside of a launch".into();
                Err(self.error(frame, ErrorKind::Unsupported { what }))
            }
        }
    }

    fn call<const B: bool>(
        &mut self,
        caller: &mut Frame<'c>,
        function: u32,
        args: &[Reg],
        (dst, lanes): (Reg, u32),
    ) -> Stop<()> {
        if self.calls >= self.limits.calls_max {
            return Err(self.error(caller, ErrorKind::DepthLimit { calls_max: self.limits.calls_max }));
        }
        let functions = self.functions;
        let Some(function) = functions.get(function as usize) else {
            let what = "a call of a function that was not compiled".into();
            return Err(self.error(caller, ErrorKind::Unsupported { what }));
        };
        let mut frame = Frame::new(function, B);
        for ((name, param), arg) in function.params.iter().zip(args.chunks_exact(2)) {
            self.pass::<B>(caller, &mut frame, (name, param), (arg[0] == 1, arg[1]))?;
        }
        self.calls += 1;
        let returned = self.finish::<B>(&mut frame)?;
        self.calls -= 1;
        if lanes > 0
            && let Some(value) = returned
        {
            caller.set::<B>(dst, value);
        } else if function.ret.is_some() {
            let what = format!("{} ended without the value that it returns", function.name);
            return Err(self.error(caller, ErrorKind::Malformed { what }));
        }
        Ok(())
    }
}

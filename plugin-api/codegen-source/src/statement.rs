//! Statements and buffers.

use chipdock_ir::analysis::{Sharing, is_pure};
use chipdock_ir::{
    Buffer, Callee, ConstantData, DType, Expr, ExprKind, ForKind, Op, Span, Stmt, StmtKind, Var,
};

use crate::conditional::stays_a_loop;
use crate::streams::{is_annotated, is_request};
use crate::views::is_viewed;
use crate::writer::{Known, Writer};
use crate::{
    Access, AllocationPlace, Answer, Assertion, Barrier, Code, ConstantArray, Infix, MessagePart, Place,
    Precedence, Refusal,
};

/// The parts of a loop.
struct Loop<'a> {
    var: &'a Var,
    min: &'a Expr,
    extent: &'a Expr,
    step: Option<&'a Expr>,
    kind: ForKind,
    body: &'a Stmt,
}

impl<'a> Writer<'a> {
    // -- buffers ----------------------------------------------------------------------------------

    /// The place of a load or store.
    pub(crate) fn access(
        &mut self,
        span: Span,
        buffer: &'a Buffer,
        indices: &'a [Expr],
        predicate: Option<&'a Expr>,
        dtype: DType,
    ) -> Answer<Access> {
        let _ = span;
        let [index] = indices else {
            return Err(Refusal::new(format!(
                "buffer {} has {} axes; flatten it to one before code is generated",
                buffer.name,
                indices.len()
            )));
        };
        let Some(Known { code: base, element }) = self.vars.get(&buffer.data.address()).cloned() else {
            return Err(Refusal::new(format!("the memory of buffer {} is not known here", buffer.name)));
        };
        let lanes = buffer.dtype.lanes;
        let contiguous = match &index.kind {
            ExprKind::Ramp { base, stride, .. } if stride.as_int() == Some(1) => Some(base),
            _ => None,
        };
        let is_plain = lanes == 1 && buffer.strides.iter().all(|stride| stride.as_int() == Some(1));
        let place = match contiguous {
            Some(start) if is_plain => {
                let start = self.index(start);
                Place::Contiguous(self.offset(buffer, start, 1)?)
            }
            _ if !index.dtype.is_scalar() => {
                if !is_plain || buffer.elem_offset.is_some() {
                    return Err(Refusal::new(format!(
                        "a vector index into buffer {}, which has a stride, an offset or vector elements",
                        buffer.name
                    )));
                }
                let (indices, dtype) = self.vector_index(index);
                Place::Lanes(indices, dtype)
            }
            _ => {
                let index = self.index(index);
                let index = self.offset(buffer, index, lanes)?;
                if lanes == 1 { Place::Element(index) } else { Place::Contiguous(index) }
            }
        };
        let predicate = predicate.map(|predicate| self.settled(predicate));
        let (scope, uses) = (buffer.scope.clone(), self.memory.uses(buffer.data.address()));
        let is_streamed = self.is_streamed(buffer.data.address());
        Ok(Access { base, base_element: element, dtype, scope, uses, place, predicate, is_streamed })
    }

    /// An index in units of `lanes` with the buffer's stride and offset applied.
    fn offset(&mut self, buffer: &'a Buffer, index: Code, lanes: u16) -> Answer<Code> {
        let wide = self.dialect.index_type();
        let mut index = index;
        let strides = buffer.strides.iter().filter(|stride| stride.as_int() != Some(1));
        let lanes_factor = (lanes > 1).then(|| Code::primary(lanes.to_string()));
        for factor in
            strides.map(|stride| self.index(stride)).collect::<Vec<_>>().into_iter().chain(lanes_factor)
        {
            let left = self.dialect.cast_bits(&index, wide, &mut self.prelude)?;
            index = Code::infix(Infix::Mul, &left, &factor);
        }
        if let Some(offset) = buffer.elem_offset.as_ref().filter(|offset| offset.as_int() != Some(0)) {
            let offset = self.index(offset);
            let left = self.dialect.cast_bits(&offset, wide, &mut self.prelude)?;
            index = Code::infix(Infix::Add, &left, &index);
        }
        Ok(index)
    }

    fn declare_buffer(&mut self, s: &Stmt, buffer: &'a Buffer, data: Option<&'a Expr>) {
        let Some(data) = data else { return };
        let address = buffer.data.address();
        if matches!(&data.kind, ExprKind::Var(var) if var.address() == address) || !self.usage.uses(address) {
            return;
        }
        let code = match &data.kind {
            ExprKind::ConstantData(bytes) => match self.constant_array(s, buffer, bytes) {
                Some(code) => code,
                // Refused once, here, and not at each access too.
                None => Code::primary("0"),
            },
            _ => self.value(data),
        };
        let name = self.declare(&buffer.name);
        let pointer = buffer.data.pointer.clone().unwrap_or(chipdock_ir::PointerType {
            element: buffer.dtype.scalar(),
            scope: buffer.scope.clone(),
        });
        let code = self.pointer_as(data, code, Some(&pointer));
        let answer = self.dialect.pointer_type(Some(&pointer), &mut self.prelude);
        if let Some(pointer) = self.expect_stmt(s, answer) {
            let line = self.dialect.variable(&pointer, &name, Some(&code));
            self.text.line(line);
        }
        // The bytes of a constant are integers elsewhere.
        let is_view = s.as_constant().is_some() || is_viewed(data, Some(&pointer));
        let element = (!is_view).then_some(pointer.element);
        self.vars.insert(address, Known { code: Code::primary(name), element });
    }

    fn constant_array(&mut self, s: &Stmt, buffer: &Buffer, data: &ConstantData) -> Option<Code> {
        let array = ConstantArray {
            name: &buffer.name,
            element: buffer.dtype.scalar(),
            alignment_bytes: buffer.data_alignment_bytes.max(64),
            data,
        };
        let answer = self.dialect.constant_array(&array, &mut self.prelude);
        self.expect_stmt(s, answer)
    }

    // -- statements -------------------------------------------------------------------------------

    /// Starts the next statement: analyses sharing in its expressions.
    fn expressions<'e>(&mut self, roots: impl IntoIterator<Item = &'e Expr, IntoIter: Clone>) {
        let roots = roots.into_iter();
        self.fence_before(roots.clone());
        self.sharing = Sharing::of(roots);
        self.shared = vec![Default::default()];
        self.loaded.clear();
        self.looked.clear();
    }

    pub(crate) fn stmt(&mut self, s: &'a Stmt) {
        if self.levels > crate::DEPTH_MAX {
            return self.refuse_stmt(s, format!("statements nested deeper than {} levels", crate::DEPTH_MAX));
        }
        self.levels += 1;
        let around = if s.span == Span::NONE { self.place } else { s.span };
        let around = std::mem::replace(&mut self.place, around);
        if s.span != Span::NONE
            && !matches!(s.kind, StmtKind::Seq(_) | StmtKind::Attr { .. })
            && let Some(place) = self.dialect.place(Some(s.span.line))
        {
            self.text.line(place);
        }
        self.stmt_kind(s);
        self.place = around;
        self.levels -= 1;
    }

    fn stmt_kind(&mut self, s: &'a Stmt) {
        match &s.kind {
            StmtKind::Seq(stmts) => stmts.iter().for_each(|s| self.stmt(s)),
            StmtKind::Bind { var, value } => {
                self.expressions([value]);
                self.bind(var, value);
            }
            StmtKind::Store { buffer, indices, value, predicate } => {
                self.expressions(indices.iter().chain(predicate).chain([value]));
                self.store(s, buffer, indices, value, predicate.as_ref());
            }
            StmtKind::AllocBuffer { buffer, .. } => {
                let address = buffer.data.address();
                if self.usage.uses(address) && !self.hoisted.contains(&address) {
                    let answer = self.allocate(buffer, AllocationPlace::Here);
                    if let Some(line) = self.expect_stmt(s, answer) {
                        self.text.line(line);
                    }
                }
            }
            StmtKind::DeclBuffer { buffer, data } => {
                self.expressions(data);
                self.declare_buffer(s, buffer, data.as_ref());
            }
            StmtKind::For { var, min, extent, kind, step, annotations, body } => {
                let around = self.streams.len();
                self.streams.extend(is_annotated(annotations).then_some(None));
                self.for_loop(s, &Loop { var, min, extent, step: step.as_ref(), kind: *kind, body });
                self.streams.truncate(around);
            }
            StmtKind::While { condition, body } => self.while_loop(condition, body),
            StmtKind::If { condition, then, otherwise } => self.if_else(condition, then, otherwise.as_ref()),
            StmtKind::BlockRealize { block, .. } => {
                self.refuse_stmt(s, format!("block {}; lower blocks before code is generated", block.name));
            }
            StmtKind::Evaluate(value) => self.evaluate(s, value),
            StmtKind::Assert { condition, kind, message } => self.assert(s, condition, kind, message),
            StmtKind::Attr { node, key, value, body } if is_request(key, value) => self.streamed(node, body),
            StmtKind::Attr { body, .. } => self.stmt(body),
            StmtKind::LaunchThread { var, axis, extent, body } => self.thread(s, var, *axis, extent, body),
            StmtKind::Return(value) => self.ret(value.as_ref()),
            StmtKind::Break => self.text.line("break;"),
            StmtKind::Continue => self.text.line("continue;"),
        }
    }

    fn store(
        &mut self,
        s: &Stmt,
        buffer: &'a Buffer,
        indices: &'a [Expr],
        value: &'a Expr,
        predicate: Option<&'a Expr>,
    ) {
        let code = self.settled(value);
        let access = self.access(s.span, buffer, indices, predicate, value.dtype);
        let answer = access.and_then(|access| self.dialect.store(&access, &code, &mut self.prelude));
        if let Some(line) = self.expect_stmt(s, answer) {
            self.text.line(line);
        }
    }

    fn evaluate(&mut self, s: &Stmt, value: &'a Expr) {
        if let ExprKind::Call { callee: Callee::Op(Op::StorageSync), args } = &value.kind {
            let scope = match args.first().map(|arg| &arg.kind) {
                Some(ExprKind::Str(scope)) => scope,
                _ => "",
            };
            let barrier = Barrier { scope, orders_global: self.memory.orders_global };
            let answer = self.dialect.barrier(&barrier, &mut self.prelude);
            if let Some(line) = self.expect_stmt(s, answer) {
                self.text.line(line);
            }
            return;
        }
        if is_pure(value) {
            return;
        }
        if self.calling_conv() == crate::function::KERNEL {
            match &value.kind {
                ExprKind::Call { callee: Callee::Op(Op::ThreadReturn), .. } => {
                    return self.text.line("return;");
                }
                ExprKind::Call { callee: Callee::Op(Op::Assume), .. } => return,
                _ => {}
            }
        }
        self.expressions([value]);
        let code = self.value(value);
        let line = self.dialect.discard(&code, value.dtype);
        self.text.line(line);
    }

    fn assert(&mut self, s: &Stmt, condition: &'a Expr, kind: &str, message: &'a [Expr]) {
        self.expressions([condition].into_iter().chain(message));
        let condition = self.value(condition);
        let mut parts = Vec::with_capacity(message.len());
        for part in message {
            parts.push(match &part.kind {
                ExprKind::Str(text) => MessagePart::Text(text.to_string()),
                _ => MessagePart::Integer(self.value(part), part.dtype),
            });
        }
        let location = s.span.within(&self.function.name);
        let (location, ret) = (location.as_str(), self.function.ret);
        let assertion = Assertion { condition: &condition, kind, message: &parts, location, ret };
        let answer = self.dialect.assert(&assertion, &mut self.prelude);
        if let Some(line) = self.expect_stmt(s, answer) {
            self.text.line(line);
        }
    }

    fn ret(&mut self, value: Option<&'a Expr>) {
        self.expressions(value);
        match value {
            Some(value) if self.function.ret.is_some() => {
                let code = self.settled(value);
                self.store_fence();
                self.text.line(format!("return {};", code.text));
            }
            _ => {
                self.store_fence();
                self.text.line("return;");
            }
        }
    }

    fn if_else(&mut self, condition: &'a Expr, then: &'a Stmt, otherwise: Option<&'a Stmt>) {
        self.expressions([condition]);
        let condition = self.value(condition);
        self.text.open(&format!("if ({})", condition.text));
        self.conditions += 1;
        self.stmt(then);
        if let Some(otherwise) = otherwise.filter(|s| !s.is_nop()) {
            self.text.reopen("else");
            self.stmt(otherwise);
        }
        self.conditions -= 1;
        self.text.close("");
    }

    fn while_loop(&mut self, condition: &'a Expr, body: &'a Stmt) {
        let mark = self.text.mark();
        self.expressions([condition]);
        let condition = self.value(condition);
        let lines = self.text.take_from(mark);
        if lines.is_empty() {
            self.text.open(&format!("while ({})", condition.text));
        } else {
            self.text.open("while (true)");
            self.text.put(lines);
            self.text.open(&format!("if ({})", Code::not(&condition).text));
            self.text.line("break;");
            self.text.close("");
        }
        self.loop_body(true, body);
        self.text.close("");
    }

    // -- loops ------------------------------------------------------------------------------------

    fn for_loop(&mut self, s: &Stmt, l: &Loop<'a>) {
        if let ForKind::ThreadBinding(axis) = l.kind {
            return self.thread(s, l.var, axis, l.extent, l.body);
        }
        self.expressions([l.min, l.extent].into_iter().chain(l.step));
        let answer = self.dialect.value_type(l.var.dtype, &mut self.prelude);
        let Some(value_type) = self.expect_stmt(s, answer) else { return };
        let bounds = self.ranges.of_loop_variable(l.min, l.extent, l.step);
        let counts_by_itself = l.step.is_none_or(|step| step.as_int() == Some(1)) && self.end_fits(l);
        if l.kind == ForKind::Unrolled {
            let hint = self.dialect.unroll_hint(l.extent.as_int(), &mut self.prelude);
            self.text.line(hint);
        }
        if counts_by_itself {
            self.plain_loop(l, &value_type, bounds);
        } else {
            self.counted_loop(s, l, &value_type, bounds);
        }
    }

    /// Returns true if the value after the last one fits the loop variable's type.
    fn end_fits(&mut self, l: &Loop<'a>) -> bool {
        let most = l.var.dtype.integer_range().map_or(0, |range| range.1);
        self.ranges.of_loop(l.min, l.extent).is_some_and(|(_, end)| end <= most)
    }

    fn plain_loop(&mut self, l: &Loop<'a>, value_type: &str, bounds: Option<(i128, i128)>) {
        let start = self.loop_bound(l.min, value_type, "start");
        let min = l.min.as_int();
        let known = min.zip(l.extent.as_int()).and_then(|(min, extent)| min.checked_add(extent));
        let end = match (min, known) {
            (Some(0), _) => self.loop_bound(l.extent, value_type, "end"),
            (_, Some(end)) => {
                let answer = self.dialect.integer(end, l.var.dtype);
                self.expect(l.extent, answer)
            }
            _ => {
                let extent = self.value(l.extent);
                let name = self.declare("end");
                let sum = Code::infix(Infix::Add, &start, &extent);
                self.text.line(self.dialect.constant(value_type, &name, &sum));
                Code::primary(name)
            }
        };
        let name = self.declare(&l.var.name);
        self.text.open(&self.dialect.for_loop(value_type, &name, &start, &end));
        self.enter_loop(l, Code::primary(name), bounds);
    }

    /// A loop that counts its iterations, for a variable that may wrap at its end or has a step.
    fn counted_loop(&mut self, s: &Stmt, l: &Loop<'a>, value_type: &str, bounds: Option<(i128, i128)>) {
        let start = self.loop_bound(l.min, value_type, "start");
        let end = self.loop_bound(l.extent, value_type, "end");
        let step = l.step.map(|step| self.loop_bound(step, value_type, "step"));
        let unsigned = if l.var.dtype.bits > 32 { DType::UINT64 } else { DType::UINT32 };
        let counter = self.declare(&format!("{}_count", l.var.name));
        let answer = self.dialect.integer(0, l.var.dtype);
        let zero = self.expect(l.extent, answer);
        self.text.open(&self.dialect.for_loop(value_type, &counter, &zero, &end));
        let cast =
            |writer: &mut Self, code: &Code| writer.dialect.cast_bits(code, unsigned, &mut writer.prelude);
        let answer = cast(self, &Code::primary(counter)).and_then(|counter| {
            let offset = match &step {
                Some(step) => Code::infix(Infix::Mul, &counter, &cast(self, step)?),
                None => counter,
            };
            let sum = Code::infix(Infix::Add, &cast(self, &start)?, &offset);
            self.dialect.cast_bits(&sum, l.var.dtype, &mut self.prelude)
        });
        let Some(value) = self.expect_stmt(s, answer) else { return };
        let name = self.declare(&l.var.name);
        self.text.line(self.dialect.constant(value_type, &name, &value));
        self.enter_loop(l, Code::primary(name), bounds);
    }

    fn enter_loop(&mut self, l: &Loop<'a>, name: Code, bounds: Option<(i128, i128)>) {
        self.know(l.var, name);
        if let Some(bounds) = bounds {
            self.ranges.bind(l.var, bounds);
        }
        self.positions.bind(l.var);
        self.loop_body(stays_a_loop(l.kind, l.extent), l.body);
        self.text.close("");
    }

    /// A bound evaluated before the first iteration: a name or a constant.
    fn loop_bound(&mut self, e: &'a Expr, value_type: &str, hint: &str) -> Code {
        let code = self.value(e);
        if matches!(e.kind, ExprKind::Var(_) | ExprKind::Int(_)) && code.precedence >= Precedence::Unary {
            return code;
        }
        let name = self.declare(hint);
        self.text.line(self.dialect.constant(value_type, &name, &code));
        Code::primary(name)
    }
}

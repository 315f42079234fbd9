//! Interaction of compiled code with its caller and its host: arguments, errors, workspace, other
//! functions.

use std::sync::Arc;

use chipdock_ir::op::Threads;
use chipdock_ir::{Callee, DType, Expr, ExprKind, Op, Stmt, StructField, attr, environment};

use crate::control::Edges;
use crate::environment::{Helper, Message};
use crate::layout::Layout;
use crate::types;
use crate::value::Value;
use crate::writer::Writer;
use crate::{Answer, Refusal};
use chipdock_ir::analysis::is_cheap;

impl<'a> Writer<'a> {
    /// The value of an op that touches structs, errors, workspace, other functions or memory;
    /// `None` for any other.
    pub(crate) fn runtime_op(&mut self, e: &'a Expr, op: Op, args: &'a [Expr]) -> Option<Value> {
        let answer = match op {
            Op::StructGet => self.struct_get(e, args),
            Op::StructSet => self.struct_set(e, args),
            Op::HandleLoad => self.handle_load(e, args),
            Op::Isnullptr => self.is_null(args),
            Op::HandleAddByteOffset => self.add_offset(args),
            Op::AddressOf => return Some(self.address_of(e, args)),
            Op::AllocateWorkspace | Op::FreeWorkspace => self.workspace(op, args),
            Op::ThrowLastError => self.throw_last_error(),
            Op::CallPacked => self.call_packed(args),
            Op::ParallelLaunch => self.parallel_launch(args),
            Op::AtomicAdd => self.atomic_add(args),
            Op::StorageSync => Err(Refusal::new("a barrier is a statement, no value")),
            _ if op.threads() != Threads::Alone => Err(Refusal::new(format!(
                "has no {}: there are neither threads nor warps; build the kernel for a target with threads",
                op.name()
            ))),
            _ => return None,
        };
        Some(self.expect(e, answer))
    }

    fn argument(&mut self, op: Op, args: &'a [Expr], position: usize) -> Answer<Value> {
        match args.get(position) {
            Some(arg) if !matches!(arg.kind, ExprKind::Str(_)) => Ok(self.value(arg)),
            _ => Err(Refusal::new(format!("{} takes a value as argument {position}", op.name()))),
        }
    }

    /// An argument that must be a pointer.
    fn handle(&mut self, op: Op, args: &'a [Expr], position: usize) -> Answer<Value> {
        let value = self.argument(op, args, position)?;
        if value.dtype.is_handle() && value.dtype.is_scalar() {
            return Ok(value);
        }
        Err(Refusal::new(format!("{} takes a handle as argument {position}, not {}", op.name(), value.dtype)))
    }

    /// A pointer moved on by a number of bytes.
    fn bytes_behind(&mut self, base: &Value, offset: &Value) -> Value {
        if offset.text == "0" {
            return base.clone();
        }
        self.compute(DType::HANDLE, format_args!("getelementptr i8, ptr {}, {}", base.text, offset.typed()))
    }

    // -- structs ----------------------------------------------------------------------------------

    /// The address of a field of the struct that a handle points to, the field, and its type.
    fn field(&mut self, op: Op, args: &'a [Expr], any_value: DType) -> Answer<(Value, StructField, DType)> {
        let base = self.handle(op, args, 0)?;
        let field = args.get(2).and_then(Expr::as_int).and_then(StructField::by_code).ok_or_else(|| {
            Refusal::new(format!("{} takes a constant that names a field as argument 2", op.name()))
        })?;
        let index = args.get(1).ok_or_else(|| Refusal::new(format!("{} takes an index", op.name())))?;
        let (size_bytes, offset, dtype) = Layout::new(self.target).field(field, any_value);
        let constant = index.as_int().and_then(|index| index.checked_mul(size_bytes)?.checked_add(offset));
        let at = match constant.and_then(|bytes| i64::try_from(bytes).ok()) {
            Some(bytes) => self.bytes_behind(&base, &Value::new(bytes.to_string(), DType::INT64)),
            None => {
                let index = self.position(index);
                let scaled = format!("mul {}, {size_bytes}", index.typed());
                let scaled = self.compute(DType::INT64, scaled);
                let first = self.bytes_behind(&base, &scaled);
                self.bytes_behind(&first, &Value::new(offset.to_string(), DType::INT64))
            }
        };
        Ok((at, field, dtype))
    }

    fn struct_get(&mut self, e: &'a Expr, args: &'a [Expr]) -> Answer<Value> {
        let (at, field, dtype) = self.field(Op::StructGet, args, e.dtype)?;
        if field == StructField::Address {
            return Ok(at);
        }
        let (llvm_type, align) = (types::register(dtype), Layout::new(self.target).align(dtype));
        let value = self.compute(dtype, format_args!("load {llvm_type}, ptr {}, align {align}", at.text));
        Ok(self.cast(&value, e.dtype))
    }

    fn struct_set(&mut self, e: &'a Expr, args: &'a [Expr]) -> Answer<Value> {
        let value = match args.get(3).map(|arg| &arg.kind) {
            Some(ExprKind::Str(text)) => {
                Value::new(self.constant_text("text", text.as_bytes()), DType::HANDLE)
            }
            _ => self.argument(Op::StructSet, args, 3)?,
        };
        let (at, field, dtype) = self.field(Op::StructSet, args, value.dtype)?;
        let value = self.cast(&value, dtype);
        let layout = Layout::new(self.target);
        if field == StructField::AnyValue && dtype.is_handle() && layout.pointer_bytes < 8 {
            // All of a packed value is written: the bytes after a pointer of 32 bits are zero.
            let wide = self.compute(DType::INT64, format_args!("ptrtoint ptr {} to i64", value.text));
            self.effect(format_args!(
                "store {}, ptr {}, align {}",
                wide.typed(),
                at.text,
                layout.align(wide.dtype)
            ));
            return Ok(Value::new("null", e.dtype));
        }
        let align = layout.align(dtype);
        self.effect(format_args!("store {}, ptr {}, align {align}", value.typed(), at.text));
        Ok(Value::new("null", e.dtype))
    }

    /// The value at a number of bytes from a handle, without regard to alignment.
    fn handle_load(&mut self, e: &'a Expr, args: &'a [Expr]) -> Answer<Value> {
        let base = self.handle(Op::HandleLoad, args, 0)?;
        let offset = self.argument(Op::HandleLoad, args, 1)?;
        if !e.dtype.is_scalar() {
            return Err(Refusal::new(format!("has no {} of {}", Op::HandleLoad.name(), e.dtype)));
        }
        let at = self.bytes_behind(&base, &offset);
        let llvm_type = types::memory(e.dtype);
        let loaded = format!("load {llvm_type}, ptr {}, align 1", at.text);
        if e.dtype.is_bool() {
            let byte = self.compute(DType::UINT8, loaded);
            return Ok(self.bool_from_byte(byte));
        }
        Ok(self.compute(e.dtype, loaded))
    }

    fn is_null(&mut self, args: &'a [Expr]) -> Answer<Value> {
        let handle = self.handle(Op::Isnullptr, args, 0)?;
        Ok(self.compute(DType::BOOL, format_args!("icmp eq ptr {}, null", handle.text)))
    }

    fn add_offset(&mut self, args: &'a [Expr]) -> Answer<Value> {
        let handle = self.handle(Op::HandleAddByteOffset, args, 0)?;
        let offset = self.argument(Op::HandleAddByteOffset, args, 1)?;
        Ok(self.bytes_behind(&handle, &offset))
    }

    fn address_of(&mut self, e: &'a Expr, args: &'a [Expr]) -> Value {
        match args.first().map(|arg| &arg.kind) {
            Some(ExprKind::Load { buffer, indices, predicate }) => {
                self.address(e, buffer, indices, predicate.as_ref())
            }
            _ => self.refuse(e, "has address_of of a buffer element only"),
        }
    }

    // -- errors -----------------------------------------------------------------------------------

    fn returns_status(&self, what: &str) -> Answer<()> {
        if self.function.ret == Some(DType::INT32) {
            return Ok(());
        }
        Err(Refusal::new(format!("has {what} only in a function that returns int32, 0 or -1")))
    }

    fn throw_last_error(&mut self) -> Answer<Value> {
        self.returns_status(Op::ThrowLastError.name())?;
        self.leave_function(Some(&Value::new("-1", DType::INT32)));
        let dead = self.label("dead");
        self.start(&dead);
        Ok(Value::new("null", DType::HANDLE))
    }

    /// Leaves the function with an error unless the condition holds. All assertions of a function
    /// leave it through one block, which receives the message's text and its integers, to keep the
    /// code for errors small.
    pub(crate) fn assert(&mut self, s: &'a Stmt, condition: &'a Expr, kind: &str, message: &'a [Expr]) {
        if let Err(refusal) = self.returns_status("an assertion") {
            self.refuse_stmt(s, refusal.0);
        }
        let (mut text, mut integers) = (Message::new(kind, &s.span.within(&self.function.name)), Vec::new());
        for part in message {
            match &part.kind {
                ExprKind::Str(part) => text.text(part),
                _ if part.dtype.is_scalar() && (part.dtype.is_integer() || part.dtype.is_bool()) => {
                    text.integer(part.dtype == DType::UINT64);
                    integers.push(part);
                }
                _ => self
                    .refuse_stmt(s, format!("has messages of strings and integers, not of {}", part.dtype)),
            }
        }
        let message = self.constant_text("message", &text.bytes());
        let fine = self.label("fine");
        // A function that is hardly ever called can afford to compute the integers in advance.
        let is_ready = self.is_set(attr::COLD) && integers.iter().all(|part| is_cheap(part));
        let is_direct = integers.is_empty() || is_ready;
        let fails = if is_direct { self.failure.label() } else { self.label("worded") };
        if is_direct {
            self.put_integers(&integers);
        }
        let mut edges = Edges::to_unlikely(&fails);
        self.branch_on(condition, &fine, &fails, &mut edges);
        if is_direct {
            self.failure.from.extend(edges.from.into_iter().map(|from| (message.clone(), from)));
        } else {
            self.start(&fails);
            self.known.push(Default::default());
            self.put_integers(&integers);
            self.known.pop();
            self.failure.from.push((message, self.block()));
            let to = self.failure.label();
            self.jump(&to);
        }
        self.start(&fine);
    }

    /// Stores integers for the message of a failed assertion.
    fn put_integers(&mut self, integers: &[&'a Expr]) {
        self.failure.make_room(integers.len());
        for (number, part) in integers.iter().enumerate() {
            let value = self.value(part);
            let value = self.cast(&value, DType::INT64);
            let values = Value::new(self.failure.values_operand(), DType::HANDLE);
            let bytes = Value::new((8 * number).to_string(), DType::INT64);
            let at = self.bytes_behind(&values, &bytes).text;
            self.effect(format_args!("store {}, ptr {at}, align 8", value.typed()));
        }
    }

    /// Writes the block through which assertions leave the function, once all are known.
    pub(crate) fn finish_failures(&mut self) {
        if self.failure.from.is_empty() {
            return;
        }
        let label = self.failure.label();
        let from = std::mem::take(&mut self.failure.from);
        self.start(&label);
        let from: Vec<String> =
            from.iter().map(|(message, origin)| format!("[ {message}, {} ]", origin.name())).collect();
        let message = self.instruction(format_args!("phi ptr {}", from.join(", ")));
        self.helper(Helper::Fail);
        let values = self.failure.values_operand();
        let status = self.compute(
            DType::INT32,
            format_args!("call i32 @{}(ptr {message}, ptr {values})", Helper::Fail.symbol()),
        );
        self.leave_function(Some(&status));
        self.entry.push_str(&self.failure.allocation());
    }

    // -- workspace, calls -------------------------------------------------------------------------

    /// Device type and id as arguments.
    fn device(&mut self, op: Op, args: &'a [Expr]) -> Answer<String> {
        let (kind, id) = (self.argument(op, args, 0)?, self.argument(op, args, 1)?);
        let (kind, id) = (self.cast(&kind, DType::INT32), self.cast(&id, DType::INT32));
        Ok(format!("{}, {}", kind.typed(), id.typed()))
    }

    fn workspace(&mut self, op: Op, args: &'a [Expr]) -> Answer<Value> {
        let device = self.device(op, args)?;
        if op == Op::AllocateWorkspace {
            let size = self.argument(op, args, 2)?;
            let size = self.cast(&size, DType::INT64);
            self.helper(Helper::AllocateWorkspace);
            return Ok(self.compute(
                DType::HANDLE,
                format_args!(
                    "call noalias align 64 ptr @{}({}, {})",
                    Helper::AllocateWorkspace.symbol(),
                    device,
                    size.typed()
                ),
            ));
        }
        let data = self.handle(op, args, 2)?;
        self.helper(Helper::FreeWorkspace);
        Ok(self.compute(
            DType::INT32,
            format_args!("call i32 @{}({}, {})", Helper::FreeWorkspace.symbol(), device, data.typed()),
        ))
    }

    /// A packed call of an imported function: its name, the packed values, their number.
    fn call_packed(&mut self, args: &'a [Expr]) -> Answer<Value> {
        let Some(ExprKind::Str(name)) = args.first().map(|arg| &arg.kind) else {
            return Err(Refusal::new("has packed calls of functions by name only"));
        };
        if args.len() != 3 {
            return Err(Refusal::new(
                "has packed calls of a buffer of values only; lower with make_packed_api",
            ));
        }
        let values = self.handle(Op::CallPacked, args, 1)?;
        let count = self.argument(Op::CallPacked, args, 2)?;
        let count = self.cast(&count, DType::INT32);
        let name = self.constant_text("name", name.as_bytes());
        // Equal names are one constant, and so share one cache.
        let kept = format!("{name}.kept");
        let definition = || format!("{kept} = internal global ptr null, align 8\n");
        self.around.globals.entry(kept.clone()).or_insert_with(definition);
        self.helper(Helper::CallPacked);
        Ok(self.compute(
            DType::INT32,
            format_args!(
                "call i32 @{}(ptr {kept}, ptr {name}, {}, {})",
                Helper::CallPacked.symbol(),
                values.typed(),
                count.typed()
            ),
        ))
    }

    /// Runs a function of the module as tasks on the host's threads.
    fn parallel_launch(&mut self, args: &'a [Expr]) -> Answer<Value> {
        let op = Op::ParallelLaunch;
        let body = match args.first().map(|arg| &arg.kind) {
            Some(ExprKind::Str(name)) => self.symbols.get(name).cloned(),
            _ => None,
        };
        let Some(body) = body else {
            return Err(Refusal::new("has parallel launches of functions of the module only"));
        };
        let (data, tasks) = (self.handle(op, args, 1)?, self.argument(op, args, 2)?);
        let tasks = self.cast(&tasks, DType::INT32);
        self.helper(Helper::ParallelLaunch);
        Ok(self.compute(
            DType::INT32,
            format_args!(
                "call i32 @{}(ptr @{body}, {}, {})",
                Helper::ParallelLaunch.symbol(),
                data.typed(),
                tasks.typed()
            ),
        ))
    }

    /// Calls a function of the module and returns its result.
    pub(crate) fn call_function(&mut self, e: &'a Expr, name: &Arc<str>, args: &'a [Expr]) -> Value {
        let Some(symbol) = self.symbols.get(name).cloned() else {
            return self.refuse(e, format!("the module has no function {name}"));
        };
        let args: Vec<String> = args.iter().map(|arg| self.value(arg).typed()).collect();
        let ret = self.functions.get(&**name).and_then(|function| function.ret);
        let call = |ret: &str| format!("call {ret} @{symbol}({})", args.join(", "));
        match ret {
            Some(ret) => self.compute(ret, call(&types::register(ret))),
            None => {
                self.effect(call("void"));
                Value::new("null", e.dtype)
            }
        }
    }

    /// A call of [`chipdock_ir::environment`], with a name or with integers as arguments.
    fn environment_call(&mut self, e: &'a Expr, helper: Helper, count: usize, args: &'a [Expr]) -> Value {
        let mut values = Vec::new();
        for arg in args {
            values.push(match &arg.kind {
                ExprKind::Str(text) if helper == Helper::DeviceType => {
                    format!("ptr {}", self.constant_text("text", text.as_bytes()))
                }
                _ if arg.dtype == DType::INT32 && helper == Helper::SetDevice => self.value(arg).typed(),
                _ => {
                    return self
                        .refuse(e, "other arguments than this call of the environment takes".to_owned());
                }
            });
        }
        if values.len() != count || e.dtype != DType::INT32 {
            return self.refuse(e, "other arguments than this call of the environment takes".to_owned());
        }
        self.helper(helper);
        self.compute(DType::INT32, format_args!("call i32 @{}({})", helper.symbol(), values.join(", ")))
    }

    /// Calls a C function and returns its result; the parameter types are those of the arguments.
    pub(crate) fn call_extern(&mut self, e: &'a Expr, name: &Arc<str>, args: &'a [Expr]) -> Value {
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit());
        if !is_name {
            return self.refuse(e, format!("cannot call \"{name}\": it is no name of a C function"));
        }
        let helper = match &**name {
            environment::DEVICE_TYPE => Some((Helper::DeviceType, 1)),
            environment::SET_DEVICE => Some((Helper::SetDevice, 2)),
            environment::GO_ON => Some((Helper::GoOn, 0)),
            _ => None,
        };
        if let Some((helper, count)) = helper {
            return self.environment_call(e, helper, count, args);
        }
        let (mut params, mut values) = (Vec::new(), Vec::new());
        for arg in args {
            if let ExprKind::Str(text) = &arg.kind {
                params.push("ptr".to_owned());
                values.push(format!("ptr {}", self.constant_text("text", text.as_bytes())));
                continue;
            }
            let value = self.value(arg);
            if !passes_to_c(value.dtype) {
                return self.refuse(e, format!("cannot pass {} to the C function {name}", value.dtype));
            }
            let (llvm_type, extension) = (types::register(value.dtype), self.extension(value.dtype));
            params.push(format!("{llvm_type}{extension}"));
            values.push(format!("{llvm_type}{extension} {}", value.text));
        }
        if !passes_to_c(e.dtype) {
            return self.refuse(e, format!("cannot take {} from the C function {name}", e.dtype));
        }
        let ret = format!("{} {}", self.extension(e.dtype), types::register(e.dtype)).trim_start().to_owned();
        let callee = self.declare(&ret, name, &params.join(", "));
        let pure = match &e.kind {
            ExprKind::Call { callee: Callee::Extern { pure: true, .. }, .. } => {
                " memory(none) nounwind willreturn"
            }
            _ => " nounwind",
        };
        self.compute(e.dtype, format_args!("call {ret} {callee}({}){pure}", values.join(", ")))
    }

    /// C's attribute for an integer argument narrower than a register: ` signext`, ` zeroext`, or
    /// nothing.
    pub(crate) fn extension(&self, dtype: DType) -> &'static str {
        crate::layout::extension(self.target, dtype)
    }

    // -- atomics ----------------------------------------------------------------------------------

    /// An atomic addition that returns the previous value.
    fn atomic_add(&mut self, args: &'a [Expr]) -> Answer<Value> {
        let address = self.handle(Op::AtomicAdd, args, 0)?;
        let addend = self.argument(Op::AtomicAdd, args, 1)?;
        let dtype = addend.dtype;
        let is_known = matches!(dtype.bits, 16 | 32 | 64) && (dtype.is_float() || dtype.is_integer());
        if !dtype.is_scalar() || !is_known {
            return Err(Refusal::new(format!("has no {} of {dtype}", Op::AtomicAdd.name())));
        }
        if types::is_half(dtype) {
            return Ok(self.atomic_add_half(&address, &addend));
        }
        let how = if dtype.is_float() { "fadd" } else { "add" };
        Ok(self.compute(
            dtype,
            format_args!(
                "atomicrmw {how} ptr {}, {} monotonic, align {}",
                address.text,
                addend.typed(),
                dtype.lane_size_bytes()
            ),
        ))
    }

    /// Adds halves with a compare-and-exchange loop.
    fn atomic_add_half(&mut self, address: &Value, addend: &Value) -> Value {
        let dtype = addend.dtype;
        let (again, done) = (self.label("again"), self.label("added"));
        let first =
            self.instruction(format_args!("load atomic i16, ptr {} monotonic, align 2", address.text));
        let before = self.block();
        self.jump(&again);
        self.start(&again);
        let (old, seen) = (self.temporary(), self.temporary());
        let phi_at = self.text.len();
        let wide = [&Value::new(old.clone(), dtype), addend].map(|half| self.widened(half));
        let sum = self.operation("fadd", &wide[0], &wide[1]);
        let sum = self.cast(&sum, dtype);
        let pair = self.instruction(format_args!(
            "cmpxchg weak ptr {}, i16 {old}, i16 {} monotonic monotonic, align 2",
            address.text, sum.text
        ));
        self.effect(format_args!("{seen} = extractvalue {{ i16, i1 }} {pair}, 0"));
        let is_done = self.instruction(format_args!("extractvalue {{ i16, i1 }} {pair}, 1"));
        let last = self.block();
        self.terminate(format_args!("br i1 {is_done}, {}, {}", done.operand(), again.operand()));
        let phi = format!(
            "  {old} = phi i16 [ {first}, {} ], [ {seen}, {} ]{}\n",
            before.name(),
            last.name(),
            self.debug
        );
        self.text.insert_str(phi_at, &phi);
        self.start(&done);
        Value::new(old, dtype)
    }
}

/// Returns true for types that C has as parameters and results.
fn passes_to_c(dtype: DType) -> bool {
    dtype.is_scalar() && !types::is_half(dtype)
}

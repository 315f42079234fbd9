//! The packed entry: a few conditions that usual arguments satisfy, then the computation.

use std::collections::BTreeMap;
use std::sync::Arc;

use chipdock_ir::{
    AttrValue, Attrs, Buffer, Callee, CompareOp, DType, Expr, ExprKind, Op, Param, PrimFunc, Stmt, StmtKind,
    StructField, TargetCapabilities, Var, attr,
};

use super::arguments::{
    Argument, ArgumentKind, Arguments, SymbolPlace, TYPE_BOOL, TYPE_DLTENSOR, TYPE_FLOAT, TYPE_INT,
    TYPE_OBJECT, TYPE_POINTER, TYPE_TENSOR, TensorFields, bitand, equal, int64, is_null, places, type_code,
    wanted_strides, wide,
};
use super::calls::{allocation, result_buffer, result_value, throw_unless_zero};
use super::device::Device;
use super::{checked_name, compute_name};
use crate::simplify;
use chipdock_ir::subst::Substitution;

/// Size in bytes of the device in a DLTensor, type and id together; ndim and dtype follow it, in
/// eight bytes too.
const DEVICE_SIZE_BYTES: i128 = 8;

struct EntryBuilder<'a> {
    arguments: &'a Arguments<'a>,
    capabilities: &'a TargetCapabilities,
    device: Device,
    args: Var,
    num_args: Var,
    result: Var,
    fields: Vec<Option<TensorFields>>,
    stmts: Vec<Stmt>,
}

/// The function `__tvm_ffi_<name>`.
pub(super) fn function(
    arguments: &Arguments,
    capabilities: &TargetCapabilities,
    is_entry: bool,
    attrs: &Attrs,
) -> PrimFunc {
    let handle = |name: &str| Var::new(name, DType::HANDLE);
    let (self_handle, args, result) = (handle("self_handle"), handle("args"), handle("result"));
    let num_args = Var::new("num_args", DType::INT32);
    let fields = arguments.args.iter().map(Argument::fields).collect();
    let mut entry = EntryBuilder {
        arguments,
        capabilities,
        device: Device::for_function(arguments.function, capabilities),
        args: args.clone(),
        num_args: num_args.clone(),
        result: result.clone(),
        fields,
        stmts: Vec::new(),
    };
    match entry.device.number() {
        Some(number) => entry.fast(number),
        // The device type must be requested at run time.
        None => entry.stmts.push(entry.not_fast()),
    }
    let symbol: Arc<str> = format!("__tvm_ffi_{}", arguments.function.name).into();
    let params = [self_handle, args, num_args, result].map(Param::Var).to_vec();
    // The computation has parameters with the same variables: a variable belongs to one function.
    let body = Substitution::new().fresh().stmt(&Stmt::seq(std::mem::take(&mut entry.stmts)));
    let attrs = entry_attrs(arguments, &symbol, is_entry, attrs);
    PrimFunc {
        name: symbol,
        params,
        ret: Some(DType::INT32),
        attrs,
        s_tir: false,
        alloc_buffers: Vec::new(),
        body,
    }
}

/// Returns the status of the computation; if the function has a value, it is stored in the packed
/// result.
pub(super) fn call_compute(arguments: &Arguments, fields: &[Option<TensorFields>], result: &Var) -> Stmt {
    let own = arguments.args.iter().map(|arg| match (&arg.kind, fields[arg.index].as_ref()) {
        (ArgumentKind::Tensor(_), Some(fields)) => fields.data.expr(),
        (ArgumentKind::Tensor(buffer), None) => buffer.data.expr(),
        (ArgumentKind::Scalar(var), _) => var.expr(),
    });
    let value = arguments.function.ret.map(|dtype| result_buffer("value".to_owned(), dtype));
    let symbols = arguments.symbols.iter().map(|symbol| symbol.var.expr());
    let first = fields.iter().flatten().next().filter(|_| arguments.device_id.is_some());
    let device_id = first.map(|fields| fields.field(StructField::DeviceId, DType::INT32));
    let args =
        own.chain(symbols).chain(device_id).chain(value.iter().map(|value| value.data.expr())).collect();
    let callee = Callee::Global(compute_name(&arguments.function.name));
    let call = Expr::new(ExprKind::Call { callee, args }, DType::INT32);
    let Some(value) = value else { return Stmt::new(StmtKind::Return(Some(call))) };
    let set = |field: StructField, value: Expr| {
        let args = vec![result.expr(), Expr::i32(0), Expr::i32(field as i32), value];
        Stmt::new(StmtKind::Evaluate(Expr::call(Op::StructSet, args, DType::HANDLE)))
    };
    let (type_index, wide) = match value.dtype {
        dtype if dtype.is_float() => (TYPE_FLOAT, DType::FLOAT64),
        dtype if dtype.is_bool() => (TYPE_BOOL, DType::INT64),
        _ => (TYPE_INT, DType::INT64),
    };
    Stmt::seq([
        allocation(&value),
        throw_unless_zero(call),
        set(StructField::AnyTypeIndex, Expr::i32(type_index)),
        set(StructField::AnyPadding, Expr::int(0, DType::UINT32)),
        set(StructField::AnyValue, result_value(&value).cast(wide)),
        Stmt::new(StmtKind::Return(Some(Expr::i32(0)))),
    ])
}

fn entry_attrs(arguments: &Arguments, symbol: &Arc<str>, is_entry: bool, attrs: &Attrs) -> Attrs {
    let text = |text: &Arc<str>| AttrValue::Str(Arc::clone(text));
    let types = arguments.arg_types.iter().map(|name| AttrValue::Str(name.as_str().into()));
    let mut new: Attrs = [
        (attr::CALLING_CONV, AttrValue::Int(1)),
        (attr::GLOBAL_SYMBOL, text(symbol)),
        (attr::SOURCE_NAME, text(&arguments.function.name)),
        (attr::SIGNATURE, text(&arguments.signature)),
        (attr::ARG_TYPES, AttrValue::List(types.collect())),
    ]
    .into_iter()
    .map(|(name, value)| (name.into(), value))
    .collect();
    if is_entry {
        new.insert(attr::IS_ENTRY_FUNC.into(), AttrValue::Bool(true));
    }
    if let Some(target) = attrs.get(attr::TARGET) {
        new.insert(attr::TARGET.into(), target.clone());
    }
    new
}

impl EntryBuilder<'_> {
    /// The fast path for a device of that type.
    fn fast(&mut self, device_type: i32) {
        self.count();
        for arg in &self.arguments.args {
            match arg.kind {
                ArgumentKind::Tensor(buffer) => self.tensor(arg, buffer, device_type),
                ArgumentKind::Scalar(var) => self.scalar(arg, var),
            }
        }
        self.relations();
        if !self.device.opaque_handles {
            self.alignments();
        }
        self.stmts.push(call_compute(self.arguments, &self.fields, &self.result));
    }

    fn bind(&mut self, var: &Var, value: Expr) {
        self.stmts.push(Stmt::new(StmtKind::Bind { var: var.clone(), value }));
    }

    fn not_fast(&self) -> Stmt {
        let callee = Callee::Global(checked_name(&self.arguments.function.name));
        let result = self.arguments.result.as_ref().map(|_| self.result.expr());
        let args = [self.args.expr(), self.num_args.expr()].into_iter().chain(result).collect();
        let call = Expr::new(ExprKind::Call { callee, args }, DType::INT32);
        Stmt::new(StmtKind::Return(Some(call)))
    }

    fn unless(&self, condition: Expr) -> Stmt {
        let condition = simplify::expr(&condition);
        if condition.as_int() == Some(1) {
            return Stmt::nop();
        }
        let likely = Expr::call(Op::Likely, vec![condition], DType::BOOL);
        Stmt::if_then(likely.logical_not(), self.not_fast(), None)
    }

    /// Continues if the condition holds.
    fn expect(&mut self, condition: Expr) {
        let stmt = self.unless(condition);
        if !stmt.is_nop() {
            self.stmts.push(stmt);
        }
    }

    /// Continues if all of the int64 values are 0: one comparison for many conditions.
    fn expect_zero(&mut self, differences: Vec<Expr>) {
        if let Some(all) = join(differences) {
            self.expect(equal(all, int64(0)));
        }
    }

    fn count(&mut self) {
        let count = Expr::int(self.arguments.args.len() as i128, DType::INT32);
        let mut condition = equal(self.num_args.expr(), count);
        if !self.arguments.args.is_empty() {
            condition = bitand([condition, is_null(self.args.expr()).logical_not()]);
        }
        self.expect(condition);
    }

    fn scalar(&mut self, arg: &Argument, var: &Var) {
        let type_index = Var::new(format!("{}_type_index", arg.name), DType::INT32);
        self.bind(&type_index, arg.type_index(&self.args));
        if var.dtype.is_float() {
            self.expect(equal(type_index.expr(), Expr::i32(TYPE_FLOAT)));
            self.bind(var, arg.value(&self.args, DType::FLOAT64).cast(var.dtype));
            return;
        }
        let accepted = accepted_type(&arg.kind, &type_index.expr());
        let fits =
            in_range(&arg.value(&self.args, DType::INT64), var.dtype).filter(|_| !var.dtype.is_handle());
        self.expect(bitand([accepted].into_iter().chain(fits)));
        self.bind(var, scalar_value(arg, var.dtype, &self.args, &type_index));
    }

    /// Checks one tensor after the other, so that few values are live at once.
    fn tensor(&mut self, arg: &Argument, buffer: &Buffer, device_type: i32) {
        let Some(fields) = self.fields[arg.index].take() else { return };
        let type_index = Var::new(format!("{}_type_index", arg.name), DType::INT32);
        self.bind(&type_index, arg.type_index(&self.args));
        // Two branches, of which the second is hardly ever taken: compilers then know the offset
        // below on each path.
        let is = |index: i32| equal(type_index.expr(), Expr::i32(index));
        let other = self.unless(is(TYPE_DLTENSOR));
        let is_object = Expr::call(Op::Likely, vec![is(TYPE_TENSOR)], DType::BOOL);
        self.stmts.push(Stmt::if_then(is_object.logical_not(), other, None));
        self.expect(is_null(arg.value(&self.args, DType::HANDLE)).logical_not());
        self.bind(&fields.handle, arg.tensor(&self.args, &type_index));
        let load = |offset: i128| {
            Expr::call(Op::HandleLoad, vec![fields.handle.expr(), int64(offset)], DType::INT64)
        };
        // The first device of the type is on the fast path; the detailed check accepts any, as long
        // as all tensors are on it.
        let device = i128::from(device_type as u32);
        // A DLTensor begins with a pointer.
        let device_offset_bytes = i128::from(self.capabilities.memory.pointer_bits / 8);
        self.expect_zero(vec![
            differs(load(device_offset_bytes + DEVICE_SIZE_BYTES), int64(header(buffer))),
            differs(load(device_offset_bytes), int64(device)),
        ]);
        let data = fields.field(StructField::Data, DType::HANDLE);
        let mut pointers = vec![is_null(data).logical_not()];
        if !buffer.shape.is_empty() {
            self.bind(&fields.shape, fields.field(StructField::Shape, DType::HANDLE));
            self.bind(&fields.strides, fields.field(StructField::Strides, DType::HANDLE));
            pointers.push(is_null(fields.shape.expr()).logical_not());
        }
        self.expect(bitand(pointers));
        self.bind(&fields.data, fields.data_value(buffer));
        self.extents(arg, buffer, &fields);
        self.fields[arg.index] = Some(fields);
    }

    /// Checks a tensor's extents and strides as far as they depend only on it and on symbols known
    /// so far.
    fn extents(&mut self, arg: &Argument, buffer: &Buffer, fields: &TensorFields) {
        let arguments = self.arguments;
        let mut differences = Vec::new();
        for symbol in arguments.symbols_of(arg.index) {
            let value = simplify::expr(&fields.place(buffer, symbol.place));
            match symbol.place {
                SymbolPlace::Stride(_) => {
                    self.expect(in_range(&value, symbol.var.dtype).unwrap_or_else(|| Expr::bool(true)))
                }
                _ => differences.extend(past_range(&value, symbol.var.dtype)),
            }
            self.bind(&symbol.var, simplify::expr(&value.cast(symbol.var.dtype)));
        }
        if buffer.elem_offset.is_some()
            && let Some(whole) = whole_offset(fields, buffer)
        {
            self.expect(whole);
        }
        for (place, wanted) in places(buffer).filter(|(place, _)| !matches!(place, SymbolPlace::Stride(_))) {
            if !arguments.gives(arg.index, place) && arguments.known_by(wanted, arg.index) {
                differences.push(differs(fields.place(buffer, place), simplify::expr(&wide(wanted))));
            }
        }
        self.expect_zero(differences);
        self.strides(arg, buffer, fields);
    }

    /// Checks for no strides, or the wanted ones. Rare strides that are valid all the same are left
    /// to the detailed check.
    fn strides(&mut self, arg: &Argument, buffer: &Buffer, fields: &TensorFields) {
        let mut differences = Vec::new();
        for (axis, wanted) in wanted_strides(buffer).into_iter().enumerate() {
            if !self.arguments.gives(arg.index, SymbolPlace::Stride(axis))
                && self.arguments.known_by(&wanted, arg.index)
            {
                differences.push(differs(fields.stride(axis), wanted));
            }
        }
        let Some(all) = join(differences) else { return };
        let stated = self.unless(equal(all, int64(0)));
        let none = fields.no_strides();
        if buffer.strides.is_empty() {
            let some = Expr::call(Op::Likely, vec![none.logical_not()], DType::BOOL);
            self.stmts.push(Stmt::if_then(some, stated, None));
        } else {
            // Compact strides may be the declared ones: the detailed check decides.
            self.expect(none.logical_not());
            self.stmts.push(stated);
        }
    }

    /// Checks that every first element is aligned to its lane's size: the bits of all addresses are
    /// joined, with one mask for each size.
    fn alignments(&mut self) {
        let mut groups: BTreeMap<usize, Vec<Expr>> = BTreeMap::new();
        for (arg, buffer) in self.arguments.tensors() {
            let Some(fields) = self.fields[arg.index].as_ref() else { continue };
            let size = buffer.dtype.lane_size_bytes();
            groups.entry(size).or_default().push(fields.address(buffer));
        }
        let rests = groups.into_iter().filter(|(size, _)| *size > 1).filter_map(|(size, addresses)| {
            let mask = Expr::int(size as i128 - 1, DType::UINT64);
            Some(Expr::call(Op::BitwiseAnd, vec![join(addresses)?, mask], DType::UINT64))
        });
        let rests = rests.reduce(|a, b| Expr::call(Op::BitwiseOr, vec![a, b], DType::UINT64));
        if let Some(rests) = rests {
            self.expect(equal(rests, Expr::int(0, DType::UINT64)));
        }
    }

    /// Checks that depend on a symbol of a later tensor.
    fn relations(&mut self) {
        let arguments = self.arguments;
        let mut differences = Vec::new();
        for (arg, buffer) in arguments.tensors() {
            let Some(fields) = self.fields[arg.index].as_ref() else { continue };
            for (place, wanted) in
                places(buffer).filter(|(place, _)| !matches!(place, SymbolPlace::Stride(_)))
            {
                if !arguments.known_by(wanted, arg.index) {
                    differences.push(differs(fields.place(buffer, place), simplify::expr(&wide(wanted))));
                }
            }
            for (axis, wanted) in wanted_strides(buffer).into_iter().enumerate() {
                if !arguments.known_by(&wanted, arg.index) {
                    // Absent strides are compact, which may or may not be the declared ones.
                    let found = if buffer.strides.is_empty() {
                        let either = vec![fields.no_strides(), wanted.clone(), fields.stride(axis)];
                        Expr::call(Op::IfThenElse, either, DType::INT64)
                    } else {
                        fields.place(buffer, SymbolPlace::Stride(axis))
                    };
                    differences.push(differs(found, wanted));
                }
            }
        }
        self.expect_zero(differences);
    }
}

/// 0 if both int64 are equal.
fn differs(found: Expr, wanted: Expr) -> Expr {
    if wanted.as_int() == Some(0) {
        return found;
    }
    Expr::call(Op::BitwiseXor, vec![found, wanted], DType::INT64)
}

/// The bitwise or of all values, which have one type.
fn join(all: Vec<Expr>) -> Option<Expr> {
    /// Number of values in a row: rows of rows nest no deeper than expressions may, however many
    /// values there are.
    const ROW_LEN: usize = 64;
    let either = |a: Expr, b: Expr| {
        let dtype = a.dtype;
        Expr::call(Op::BitwiseOr, vec![a, b], dtype)
    };
    let rows: Vec<Expr> = all.chunks(ROW_LEN).filter_map(|row| row.iter().cloned().reduce(either)).collect();
    if rows.len() > ROW_LEN { join(rows) } else { rows.into_iter().reduce(either) }
}

/// 0 if an int64 is between 0 and the greatest value of the type.
fn past_range(value: &Expr, dtype: DType) -> Option<Expr> {
    let bits = if dtype.is_uint() { dtype.bits.min(63) } else { dtype.bits - 1 };
    Some(Expr::call(Op::ShiftRight, vec![value.clone(), int64(bits.into())], DType::INT64))
}

fn place_is_stride(place: SymbolPlace) -> bool {
    matches!(place, SymbolPlace::Stride(_))
}

/// ndim and dtype of the buffer as the eight bytes in which a DLTensor stores them.
fn header(buffer: &Buffer) -> i128 {
    let dtype = buffer.dtype;
    let ndim = buffer.shape.len() as i128;
    ndim | type_code(dtype) << 32 | i128::from(dtype.bits) << 40 | i128::from(dtype.lanes) << 48
}

/// The condition that a declared offset is a whole number of elements.
pub(super) fn whole_offset(fields: &TensorFields, buffer: &Buffer) -> Option<Expr> {
    let size = buffer.dtype.size_bytes() as i128;
    let bytes = fields.field(StructField::ByteOffset, DType::UINT64);
    let rest = Expr::binary(chipdock_ir::BinaryOp::Mod, bytes, Expr::int(size, DType::UINT64));
    (size > 1).then(|| equal(rest, Expr::int(0, DType::UINT64)))
}

/// The condition that the parameter accepts an argument of that type index.
pub(super) fn accepted_type(kind: &ArgumentKind, type_index: &Expr) -> Expr {
    let is = |index: i32| equal(type_index.clone(), Expr::i32(index));
    let any = |list: &[i32]| {
        let all = list.iter().map(|index| is(*index));
        all.reduce(|a, b| Expr::call(Op::BitwiseOr, vec![a, b], DType::BOOL))
            .unwrap_or_else(|| Expr::bool(true))
    };
    match kind {
        ArgumentKind::Tensor(_) => any(&[TYPE_DLTENSOR, TYPE_TENSOR]),
        // A typed pointer points to elements, never to a tensor or an object.
        ArgumentKind::Scalar(var) if var.pointer.is_some() => any(&[0, TYPE_POINTER]),
        ArgumentKind::Scalar(var) if var.dtype.is_handle() => {
            let object = Expr::compare(CompareOp::Ge, type_index.clone(), Expr::i32(TYPE_OBJECT));
            Expr::call(Op::BitwiseOr, vec![any(&[0, TYPE_POINTER, TYPE_DLTENSOR]), object], DType::BOOL)
        }
        ArgumentKind::Scalar(var) if var.dtype.is_float() => any(&[TYPE_FLOAT, TYPE_INT, TYPE_BOOL]),
        ArgumentKind::Scalar(_) => any(&[TYPE_INT, TYPE_BOOL]),
    }
}

/// The condition that an int64 argument fits the type of its parameter; `None` if every value does.
pub(super) fn in_range(value: &Expr, dtype: DType) -> Option<Expr> {
    let (low, high) = dtype.integer_range()?;
    let (least, most) = DType::INT64.integer_range()?;
    if low <= least && high >= most {
        return None;
    }
    // One unsigned comparison: value - low <= high - low, since both limits fit.
    let high = high.min(most);
    let shifted = (value.clone() - int64(low)).cast(DType::UINT64);
    let shifted = simplify::expr(&shifted);
    Some(Expr::compare(CompareOp::Le, shifted, Expr::int(high - low, DType::UINT64)))
}

/// The argument as a value of the parameter's type. A float parameter accepts an integer too.
pub(super) fn scalar_value(arg: &Argument, dtype: DType, args: &Var, type_index: &Var) -> Expr {
    if dtype.is_handle() {
        return arg.value(args, DType::HANDLE);
    }
    let int = arg.value(args, DType::INT64);
    if !dtype.is_float() {
        return int.cast(dtype);
    }
    let is_float = equal(type_index.expr(), Expr::i32(TYPE_FLOAT));
    let float = arg.value(args, DType::FLOAT64);
    let either = vec![is_float, float, int.cast(DType::FLOAT64)];
    Expr::call(Op::IfThenElse, either, DType::FLOAT64).cast(dtype)
}

/// The condition that the int64 value of a place fits its symbol. Extents and offsets are not
/// negative.
pub(super) fn symbol_fits(value: &Expr, dtype: DType, place: SymbolPlace) -> Option<Expr> {
    if place_is_stride(place) {
        return in_range(value, dtype);
    }
    let (_, high) = dtype.integer_range()?;
    let high = high.min(i128::from(i64::MAX));
    let unsigned = value.clone().cast(DType::UINT64);
    Some(Expr::compare(CompareOp::Le, unsigned, Expr::int(high, DType::UINT64)))
}

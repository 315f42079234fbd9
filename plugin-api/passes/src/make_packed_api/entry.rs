//! The packed entry: fast conditions, then the computation.

use std::sync::Arc;

use chipdock_ir::{
    AttrValue, Attrs, Buffer, Callee, CompareOp, DType, Expr, ExprKind, Op, Param, PrimFunc, Stmt, StmtKind,
    StructField, TargetFacts, Var, attr,
};

use super::arguments::{
    ArgumentKind, Arguments, Place, TYPE_BOOL, TYPE_DLTENSOR, TYPE_FLOAT, TYPE_INT, TYPE_OBJECT,
    TYPE_POINTER, TYPE_TENSOR, TensorFields, bitand, equal, int64, is_null, places, type_code,
    wanted_strides, wide,
};
use super::{check_name, compute_name};
use crate::simplify;
use crate::substitute::Substitution;

/// Where DLTensor keeps its device, both numbers in eight bytes.
const DEVICE_OFFSET_BYTES: i128 = 8;
/// Where DLTensor keeps ndim and dtype, eight bytes together.
const NDIM_OFFSET_BYTES: i128 = 16;

struct Entry<'a> {
    arguments: &'a Arguments<'a>,
    facts: &'a TargetFacts,
    args: Var,
    num_args: Var,
    fields: Vec<Option<TensorFields>>,
    type_indices: Vec<Var>,
    stmts: Vec<Stmt>,
}

/// The function `__tvm_ffi_<name>`.
pub(super) fn function(
    arguments: &Arguments,
    facts: &TargetFacts,
    is_entry: bool,
    attrs: &Attrs,
) -> PrimFunc {
    let handle = |name: &str| Var::new(name, DType::HANDLE);
    let (self_handle, args, result) = (handle("self_handle"), handle("args"), handle("result"));
    let num_args = Var::new("num_args", DType::INT32);
    let fields = arguments.args.iter().map(|arg| match arg.kind {
        ArgumentKind::Tensor(_) => Some(TensorFields::new(arg.name)),
        ArgumentKind::Scalar(_) => None,
    });
    let type_index =
        |arg: &super::arguments::Argument| Var::new(format!("{}_type_index", arg.name), DType::INT32);
    let mut entry = Entry {
        arguments,
        facts,
        args: args.clone(),
        num_args: num_args.clone(),
        fields: fields.collect(),
        type_indices: arguments.args.iter().map(type_index).collect(),
        stmts: Vec::new(),
    };
    entry.count();
    entry.types();
    entry.headers();
    entry.contents();
    entry.call();
    let symbol: Arc<str> = format!("__tvm_ffi_{}", arguments.function.name).into();
    let params = [self_handle, args, num_args, result].map(Param::Var).to_vec();
    // The computation has the same variables as parameters: a variable belongs to one function.
    let body = Substitution::fresh().stmt(&Stmt::seq(std::mem::take(&mut entry.stmts)));
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

impl Entry<'_> {
    fn bind(&mut self, var: &Var, value: Expr) {
        self.stmts.push(Stmt::new(StmtKind::Bind { var: var.clone(), value }));
    }

    fn call_check(&self) -> Expr {
        let callee = Callee::Global(check_name(&self.arguments.function.name));
        Expr::new(ExprKind::Call { callee, args: vec![self.args.expr(), self.num_args.expr()] }, DType::INT32)
    }

    /// Where `condition` does not hold nothing can go on: the check says what is wrong.
    fn demand(&mut self, condition: Expr) {
        let fail = Stmt::seq([
            Stmt::new(StmtKind::Evaluate(self.call_check())),
            Stmt::new(StmtKind::Return(Some(Expr::i32(-1)))),
        ]);
        self.unless(condition, fail);
    }

    /// Where `condition` does not hold the check decides.
    fn expect(&mut self, condition: Expr) {
        let wrong = Expr::compare(CompareOp::Ne, self.call_check(), Expr::i32(0));
        let fail = Stmt::new(StmtKind::Return(Some(Expr::i32(-1))));
        self.unless(condition, Stmt::if_then(wrong, fail, None));
    }

    fn unless(&mut self, condition: Expr, otherwise: Stmt) {
        let condition = simplify::expr(&condition);
        if condition.as_int() != Some(1) {
            let likely = Expr::call(Op::Likely, vec![condition], DType::BOOL);
            self.stmts.push(Stmt::if_then(likely.logical_not(), otherwise, None));
        }
    }

    fn count(&mut self) {
        let count = Expr::int(self.arguments.args.len() as i128, DType::INT32);
        let mut condition = equal(self.num_args.expr(), count);
        if !self.arguments.args.is_empty() {
            condition = bitand([condition, is_null(self.args.expr()).logical_not()]);
        }
        self.demand(condition);
    }

    fn types(&mut self) {
        let arguments = self.arguments;
        let mut conditions = Vec::new();
        for arg in &arguments.args {
            let type_index = self.type_indices[arg.index].clone();
            self.bind(&type_index, arg.type_index(&self.args));
            conditions.push(self.type_condition(arg, &type_index));
        }
        self.demand(bitand(conditions));
        for arg in &arguments.args {
            match arg.kind {
                ArgumentKind::Tensor(_) => {
                    let tensor = arg.tensor(&self.args, &self.type_indices[arg.index]);
                    if let Some(handle) = self.fields[arg.index].as_ref().map(|fields| fields.handle.clone())
                    {
                        self.bind(&handle, tensor);
                    }
                }
                ArgumentKind::Scalar(var) => {
                    let value = scalar_value(arg, var.dtype, &self.args, &self.type_indices[arg.index]);
                    self.bind(var, value);
                }
            }
        }
    }

    fn type_condition(&self, arg: &super::arguments::Argument, type_index: &Var) -> Expr {
        match arg.kind {
            ArgumentKind::Tensor(_) => {
                let present = is_null(arg.value(&self.args, DType::HANDLE)).logical_not();
                bitand([accepted_type(&arg.kind, &type_index.expr()), present])
            }
            ArgumentKind::Scalar(var) => {
                let accepted = accepted_type(&arg.kind, &type_index.expr());
                match in_range(&arg.value(&self.args, DType::INT64), var.dtype) {
                    Some(fits) => bitand([accepted, fits]),
                    None => accepted,
                }
            }
        }
    }

    fn headers(&mut self) {
        let mut conditions = Vec::new();
        let mut first: Option<Expr> = None;
        for (arg, buffer) in self.arguments.tensors() {
            let Some(fields) = self.fields[arg.index].as_ref() else { continue };
            let load = |offset: i128, dtype: DType| {
                Expr::call(Op::HandleLoad, vec![fields.handle.expr(), int64(offset)], dtype)
            };
            conditions.push(equal(
                load(NDIM_OFFSET_BYTES, DType::UINT64),
                Expr::int(header(buffer), DType::UINT64),
            ));
            if !buffer.shape.is_empty() {
                conditions.push(is_null(fields.field(StructField::Shape, DType::HANDLE)).logical_not());
            }
            match &first {
                None => {
                    let device_type = load(DEVICE_OFFSET_BYTES, DType::INT32);
                    conditions.push(equal(device_type, Expr::i32(self.facts.device_type)));
                    first = Some(load(DEVICE_OFFSET_BYTES, DType::UINT64));
                }
                Some(first) => {
                    conditions.push(equal(load(DEVICE_OFFSET_BYTES, DType::UINT64), first.clone()))
                }
            }
        }
        if !conditions.is_empty() {
            self.expect(bitand(conditions));
        }
        for (arg, _) in self.arguments.tensors() {
            if let Some(fields) = self.fields[arg.index].as_ref() {
                let (shape, strides) = (fields.shape.clone(), fields.strides.clone());
                let shape_value = fields.field(StructField::Shape, DType::HANDLE);
                let strides_value = fields.field(StructField::Strides, DType::HANDLE);
                self.bind(&shape, shape_value);
                self.bind(&strides, strides_value);
            }
        }
    }

    fn contents(&mut self) {
        let arguments = self.arguments;
        let mut conditions = Vec::new();
        for symbol in &arguments.symbols {
            let (ArgumentKind::Tensor(buffer), Some(fields)) =
                (&arguments.args[symbol.arg].kind, self.fields[symbol.arg].as_ref())
            else {
                continue;
            };
            let value = fields.place(buffer, symbol.place);
            conditions.extend(symbol_fits(&value, symbol.var.dtype, symbol.place));
            self.bind(&symbol.var, simplify::expr(&value.cast(symbol.var.dtype)));
        }
        for (arg, buffer) in arguments.tensors() {
            let Some(fields) = self.fields[arg.index].as_ref() else { continue };
            for (place, wanted) in places(buffer) {
                let gives = |s: &super::arguments::Symbol| s.arg == arg.index && s.place == place;
                if place_is_stride(place) || arguments.symbols.iter().any(gives) {
                    continue;
                }
                conditions.push(equal(fields.place(buffer, place), simplify::expr(&wide(wanted))));
            }
            if buffer.elem_offset.is_some() {
                conditions.extend(whole_offset(fields, buffer));
            }
            let given = |axis: usize| {
                let place = Place::Stride(axis);
                arguments.symbols.iter().any(|s| s.arg == arg.index && s.place == place)
            };
            conditions.extend(strides_condition(fields, buffer, &given));
            conditions.push(is_null(fields.field(StructField::Data, DType::HANDLE)).logical_not());
            let zero = || Expr::int(0, DType::UINT64);
            conditions.extend(fields.misalignment(buffer).map(|rest| equal(rest, zero())));
        }
        if !conditions.is_empty() {
            self.expect(bitand(conditions));
        }
    }

    fn call(&mut self) {
        let arguments = self.arguments;
        let own = arguments.args.iter().map(|arg| match (&arg.kind, self.fields[arg.index].as_ref()) {
            (ArgumentKind::Tensor(buffer), Some(fields)) => fields.data_for(buffer),
            (ArgumentKind::Tensor(buffer), None) => buffer.data.expr(),
            (ArgumentKind::Scalar(var), _) => var.expr(),
        });
        let args = own.chain(arguments.symbols.iter().map(|symbol| symbol.var.expr())).collect();
        let callee = Callee::Global(compute_name(&arguments.function.name));
        let call = Expr::new(ExprKind::Call { callee, args }, DType::INT32);
        self.stmts.push(Stmt::new(StmtKind::Return(Some(call))));
    }
}

fn place_is_stride(place: Place) -> bool {
    matches!(place, Place::Stride(_))
}

/// ndim and dtype of the buffer as the eight bytes that a DLTensor has them in.
fn header(buffer: &Buffer) -> i128 {
    let dtype = buffer.dtype;
    let ndim = buffer.shape.len() as i128;
    ndim | type_code(dtype) << 32 | i128::from(dtype.bits) << 40 | i128::from(dtype.lanes) << 48
}

/// No strides, or those wanted. Rare strides that are right all the same are left to the check.
fn strides_condition(fields: &TensorFields, buffer: &Buffer, given: &dyn Fn(usize) -> bool) -> Option<Expr> {
    let wanted = wanted_strides(buffer);
    let all = wanted
        .iter()
        .enumerate()
        .filter(|(axis, _)| !given(*axis))
        .map(|(axis, stride)| equal(fields.stride(axis), stride.clone()));
    let all: Vec<Expr> = all.collect();
    if all.is_empty() {
        return None;
    }
    let stated = bitand(all);
    // A buffer with declared strides takes a tensor without any only where compact ones are the same: the check knows.
    Some(if buffer.strides.is_empty() {
        fields.no_strides().or(stated)
    } else {
        fields.no_strides().logical_not().and(stated)
    })
}

/// A declared offset is a whole number of elements.
pub(super) fn whole_offset(fields: &TensorFields, buffer: &Buffer) -> Option<Expr> {
    let size = buffer.dtype.size_bytes() as i128;
    let bytes = fields.field(StructField::ByteOffset, DType::UINT64);
    let rest = Expr::binary(chipdock_ir::BinaryOp::Mod, bytes, Expr::int(size, DType::UINT64));
    (size > 1).then(|| equal(rest, Expr::int(0, DType::UINT64)))
}

/// Whether an argument of that type index is taken for the parameter at all.
pub(super) fn accepted_type(kind: &ArgumentKind, type_index: &Expr) -> Expr {
    let is = |index: i32| equal(type_index.clone(), Expr::i32(index));
    let any = |list: &[i32]| {
        let all = list.iter().map(|index| is(*index));
        all.reduce(|a, b| Expr::call(Op::BitwiseOr, vec![a, b], DType::BOOL))
            .unwrap_or_else(|| Expr::bool(true))
    };
    match kind {
        ArgumentKind::Tensor(_) => any(&[TYPE_DLTENSOR, TYPE_TENSOR]),
        ArgumentKind::Scalar(var) if var.dtype.is_handle() => {
            let object = Expr::compare(CompareOp::Ge, type_index.clone(), Expr::i32(TYPE_OBJECT));
            Expr::call(Op::BitwiseOr, vec![any(&[0, TYPE_POINTER, TYPE_DLTENSOR]), object], DType::BOOL)
        }
        ArgumentKind::Scalar(var) if var.dtype.is_float() => any(&[TYPE_FLOAT, TYPE_INT, TYPE_BOOL]),
        ArgumentKind::Scalar(_) => any(&[TYPE_INT, TYPE_BOOL]),
    }
}

/// Whether an int64 argument fits the type of its parameter; `None` where every one does.
pub(super) fn in_range(value: &Expr, dtype: DType) -> Option<Expr> {
    let (low, high) = dtype.integer_range()?;
    let (least, most) = DType::INT64.integer_range()?;
    if low <= least && high >= most {
        return None;
    }
    // One unsigned comparison: value - low <= high - low, where both limits fit.
    let high = high.min(most);
    let shifted = (value.clone() - int64(low)).cast(DType::UINT64);
    let shifted = simplify::expr(&shifted);
    Some(Expr::compare(CompareOp::Le, shifted, Expr::int(high - low, DType::UINT64)))
}

/// The argument as a value of the parameter's type. A float parameter takes an integer too.
pub(super) fn scalar_value(
    arg: &super::arguments::Argument,
    dtype: DType,
    args: &Var,
    type_index: &Var,
) -> Expr {
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

/// Whether the int64 value of a place fits its symbol. Extents and offsets are not negative.
pub(super) fn symbol_fits(value: &Expr, dtype: DType, place: Place) -> Option<Expr> {
    if place_is_stride(place) {
        return in_range(value, dtype);
    }
    let (_, high) = dtype.integer_range()?;
    let high = high.min(i128::from(i64::MAX));
    let unsigned = value.clone().cast(DType::UINT64);
    Some(Expr::compare(CompareOp::Le, unsigned, Expr::int(high, DType::UINT64)))
}

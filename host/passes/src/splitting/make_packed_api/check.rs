//! The detailed check, in TVM's order except that constant extents are checked before the strides
//! derived from them; each failure names the parameter, and what was expected and found. The
//! computation is called last.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chipdock_ir::{
    AttrValue, Attrs, Buffer, Callee, CompareOp, DType, Expr, ExprKind, Param, PrimFunc, Stmt, StmtKind,
    StructField, TargetCapabilities, Var, attr,
};

use super::arguments::{
    Argument, ArgumentKind, Arguments, Symbol, SymbolPlace, TYPE_BOOL, TYPE_FLOAT, TYPE_INT, TYPE_TENSOR,
    TensorFields, equal, int64, is_null, origins, places, type_code, wanted_strides, wide,
};
use super::checked_name;
use super::device::Device;
use super::entry::{accepted_type, in_range, scalar_value, symbol_fits, whole_offset};
use super::signature::text;
use crate::simplify;
use chipdock_ir::subst::Substitution;

const WHEN_CALLING: &str = " when calling:\n  `";
const TYPE_ERROR: &str = "TypeError";
const VALUE_ERROR: &str = "ValueError";

/// Names of type indices that are often passed by mistake (TVM-FFI's numbers).
const TYPE_NAMES: &[(i32, &str)] = &[
    (0, "None"),
    (TYPE_INT, "int"),
    (TYPE_BOOL, "bool"),
    (TYPE_FLOAT, "float"),
    (4, "a pointer"),
    (7, "Tensor"),
    (8, "str"),
    (11, "str"),
    (65, "str"),
    (68, "a function"),
    (TYPE_TENSOR, "Tensor"),
    (71, "an array"),
];

/// Names of DLPack's type codes; the number of bits is appended, except for the last one.
const CODE_NAMES: &[(i128, &str)] = &[(0, "int"), (1, "uint"), (2, "float"), (4, "bfloat")];

struct Check<'a> {
    arguments: &'a Arguments<'a>,
    device: Device,
    device_type: Expr,
    args: Var,
    origins: HashMap<Var, String>,
    fields: Vec<Option<TensorFields>>,
    type_indices: Vec<Var>,
    stmts: Vec<Stmt>,
}

/// The function `<name>_checked_`, preceded by one function for each kind of parameter that reports
/// a type mismatch.
pub(super) fn functions(
    arguments: &Arguments,
    capabilities: &TargetCapabilities,
    attrs: &Attrs,
) -> Vec<PrimFunc> {
    let mut functions: Vec<PrimFunc> = Vec::new();
    let mut known = HashSet::new();
    for arg in &arguments.args {
        if known.insert(expected_type(&arg.kind)) {
            functions.push(mismatch(arguments, &arg.kind, attrs));
        }
    }
    functions.push(checked(arguments, capabilities, attrs));
    functions
}

fn checked(arguments: &Arguments, capabilities: &TargetCapabilities, attrs: &Attrs) -> PrimFunc {
    let args = Var::new("args", DType::HANDLE);
    let num_args = Var::new("num_args", DType::INT32);
    let type_index = |arg: &Argument| Var::new(format!("{}_type_index", arg.name), DType::INT32);
    let device = Device::for_function(arguments.function, capabilities);
    let (known, device_type) = device.type_value();
    let mut check = Check {
        arguments,
        device,
        device_type,
        args: args.clone(),
        origins: origins(arguments),
        fields: arguments.args.iter().map(Argument::fields).collect(),
        type_indices: arguments.args.iter().map(type_index).collect(),
        stmts: Vec::new(),
    };
    check.count(&num_args);
    if !known.is_nop() {
        check.stmts.push(known);
    }
    check.types();
    check.headers();
    check.constant_extents();
    check.symbols();
    check.contents();
    check.offsets();
    let result = Var::new("result", DType::HANDLE);
    check.stmts.push(super::entry::call_compute(arguments, &check.fields, &result));
    // The entry binds the same symbols: a variable belongs to one function.
    let body = Substitution::new().fresh().stmt(&Stmt::seq(std::mem::take(&mut check.stmts)));
    let result = arguments.result.as_ref().map(|_| result);
    let params = [args, num_args].into_iter().chain(result).collect();
    cold(checked_name(&arguments.function.name), params, body, attrs)
}

/// Builds a function that is hardly ever called.
fn cold(name: Arc<str>, params: Vec<Var>, body: Stmt, attrs: &Attrs) -> PrimFunc {
    let mut new: Attrs = [(attr::CALLING_CONV, AttrValue::Int(0)), (attr::COLD, AttrValue::Bool(true))]
        .into_iter()
        .map(|(name, value)| (name.into(), value))
        .collect();
    if let Some(target) = attrs.get(attr::TARGET) {
        new.insert(attr::TARGET.into(), target.clone());
    }
    PrimFunc {
        name,
        params: params.into_iter().map(Param::Var).collect(),
        ret: Some(DType::INT32),
        attrs: new,
        s_tir: false,
        alloc_buffers: Vec::new(),
        body,
    }
}

/// The type that a parameter accepts, in one word.
fn expected_type(kind: &ArgumentKind) -> &'static str {
    match kind {
        ArgumentKind::Tensor(_) => "Tensor",
        ArgumentKind::Scalar(var) if var.dtype.is_handle() => "pointer",
        ArgumentKind::Scalar(var) if var.dtype.is_float() => "float",
        ArgumentKind::Scalar(var) if var.dtype.is_bool() => "bool",
        ArgumentKind::Scalar(_) => "int",
    }
}

fn mismatch_name(function: &str, expected: &str) -> Arc<str> {
    format!("{function}_expected_{expected}_").into()
}

/// The function `<name>_expected_<type>_(argument, type_index)`, which always fails.
fn mismatch(arguments: &Arguments, kind: &ArgumentKind, attrs: &Attrs) -> PrimFunc {
    let expected = expected_type(kind);
    let argument = Var::new("argument", DType::INT32);
    let type_index = Var::new("type_index", DType::INT32);
    let message = |found: String, number: Option<Expr>| {
        let mut parts = vec![
            Expr::str("Mismatched type on argument #"),
            argument.expr(),
            Expr::str(WHEN_CALLING),
            Expr::str(Arc::clone(&arguments.shown)),
            Expr::str(format!("`,\n  expected {expected}, but got {found}")),
        ];
        parts.extend(number);
        parts
    };
    let rejected = TYPE_NAMES
        .iter()
        .filter(|(index, _)| simplify::expr(&accepted_type(kind, &Expr::i32(*index))).as_int() != Some(1));
    let mut stmts: Vec<Stmt> = rejected
        .map(|(index, name)| {
            failure_if(
                equal(type_index.expr(), Expr::i32(*index)),
                TYPE_ERROR,
                message((*name).to_owned(), None),
            )
        })
        .collect();
    let rest = message("a value with type index ".to_owned(), Some(type_index.expr()));
    stmts.push(failure_if(Expr::bool(true), TYPE_ERROR, rest));
    stmts.push(Stmt::new(StmtKind::Return(Some(Expr::i32(-1)))));
    let name = mismatch_name(&arguments.function.name, expected);
    cold(name, vec![argument, type_index], Stmt::seq(stmts), attrs)
}

impl Check<'_> {
    fn bind(&mut self, var: &Var, value: Expr) {
        self.stmts.push(Stmt::new(StmtKind::Bind { var: var.clone(), value }));
    }

    /// Builds a message: `what`, the signature, then `expectation` with the found values.
    fn message(&self, what: String, expectation: String, found: &[Expr]) -> Vec<Expr> {
        let mut parts = vec![
            Expr::str(what),
            Expr::str(WHEN_CALLING),
            Expr::str(Arc::clone(&self.arguments.shown)),
            Expr::str(format!("`,\n  {expectation}")),
        ];
        parts.extend(found.iter().cloned());
        parts
    }

    fn assert(&mut self, condition: Expr, kind: &str, message: Vec<Expr>) {
        let condition = simplify::expr(&condition);
        if condition.as_int() != Some(1) {
            self.stmts.push(Stmt::new(StmtKind::Assert { condition, kind: kind.into(), message }));
        }
    }

    /// Phase 1: the number of arguments.
    fn count(&mut self, num_args: &Var) {
        let expected = self.arguments.args.len();
        let message =
            self.message(format!("Expected {expected} arguments"), "but got ".into(), &[num_args.expr()]);
        self.assert(equal(num_args.expr(), Expr::int(expected as i128, DType::INT32)), TYPE_ERROR, message);
        if expected > 0 {
            let message =
                self.message("args pointer is NULL".into(), "expected a non-NULL pointer".into(), &[]);
            self.assert(is_null(self.args.expr()).logical_not(), TYPE_ERROR, message);
        }
    }

    /// Phase 2: the type of every argument, before any pointer is read; values of scalars.
    fn types(&mut self) {
        let arguments = self.arguments;
        for arg in &arguments.args {
            let type_index = self.type_indices[arg.index].clone();
            self.bind(&type_index, arg.type_index(&self.args));
            self.type_of(arg, &type_index);
            match arg.kind {
                ArgumentKind::Tensor(_) => {
                    let expectation = "expected Tensor, but got a NULL pointer".into();
                    let message = self.message(mismatched_type(arg), expectation, &[]);
                    let value = arg.value(&self.args, DType::HANDLE);
                    self.assert(is_null(value).logical_not(), TYPE_ERROR, message);
                    let tensor = arg.tensor(&self.args, &type_index);
                    if let Some(handle) = self.fields[arg.index].as_ref().map(|fields| fields.handle.clone())
                    {
                        self.bind(&handle, tensor);
                    }
                }
                ArgumentKind::Scalar(var) => self.scalar(arg, var, &type_index),
            }
        }
    }

    /// Fails with an error if the type of the argument is not the parameter's.
    fn type_of(&mut self, arg: &Argument, type_index: &Var) {
        let expected = expected_type(&arg.kind);
        let accepted = simplify::expr(&accepted_type(&arg.kind, &type_index.expr()));
        let callee = Callee::Global(mismatch_name(&self.arguments.function.name, expected));
        let args = vec![Expr::int(arg.index as i128, DType::INT32), type_index.expr()];
        let call = Expr::new(ExprKind::Call { callee, args }, DType::INT32);
        let leave = Stmt::new(StmtKind::Return(Some(call)));
        self.stmts.push(Stmt::if_then(accepted.logical_not(), leave, None));
    }

    fn scalar(&mut self, arg: &Argument, var: &Var, type_index: &Var) {
        if !var.dtype.is_float()
            && let Some(fits) = in_range(&arg.value(&self.args, DType::INT64), var.dtype)
        {
            let (low, high) = var.dtype.integer_range().unwrap_or_default();
            let message = self.message(
                format!("Invalid {} on argument #{}", arg.name, arg.index),
                format!("expected {} between {low} and {high}, but got ", var.dtype),
                &[arg.value(&self.args, DType::INT64)],
            );
            self.assert(fits, VALUE_ERROR, message);
        }
        let value = scalar_value(arg, var.dtype, &self.args, type_index);
        self.bind(var, value);
    }

    /// Phase 3: rank, dtype and device type of each tensor.
    fn headers(&mut self) {
        let arguments = self.arguments;
        for (arg, buffer) in arguments.tensors() {
            let Some(fields) = self.fields[arg.index].take() else { continue };
            let expected = buffer.shape.len();
            let ndim = fields.field(StructField::Ndim, DType::INT32);
            let message = self.message(
                self.mismatched(arg, "ndim"),
                format!("expected {expected}, but got "),
                std::slice::from_ref(&ndim),
            );
            self.assert(equal(ndim, Expr::int(expected as i128, DType::INT32)), VALUE_ERROR, message);
            self.dtype(arg, buffer, &fields);
            let device_type = fields.field(StructField::DeviceType, DType::INT32);
            let what = self.mismatched(arg, "device_type");
            let name = &self.device.name;
            let message = match self.device.number() {
                Some(number) => self.message(
                    what,
                    format!("expected {name} (device type {number}), but got device type "),
                    std::slice::from_ref(&device_type),
                ),
                None => {
                    let found =
                        [self.device_type.clone(), Expr::str("), but got device type "), device_type.clone()];
                    self.message(what, format!("expected {name} (device type "), &found)
                }
            };
            self.assert(equal(device_type, self.device_type.clone()), VALUE_ERROR, message);
            self.bind(&fields.shape, fields.field(StructField::Shape, DType::HANDLE));
            self.bind(&fields.strides, fields.field(StructField::Strides, DType::HANDLE));
            self.bind(&fields.data, fields.data_value(buffer));
            if expected > 0 {
                let message = self.message(
                    self.mismatched(arg, "shape"),
                    format!("expected {expected} extents, but got a NULL pointer"),
                    &[],
                );
                self.assert(is_null(fields.shape.expr()).logical_not(), VALUE_ERROR, message);
            }
            self.fields[arg.index] = Some(fields);
        }
    }

    fn dtype(&mut self, arg: &Argument, buffer: &Buffer, fields: &TensorFields) {
        let byte = |value: i128, dtype: DType| Expr::int(value, dtype);
        let code = fields.field(StructField::TypeCode, DType::UINT8);
        let bits = fields.field(StructField::TypeBits, DType::UINT8);
        let lanes = fields.field(StructField::TypeLanes, DType::UINT16);
        let one_lane = equal(lanes.clone(), byte(1, DType::UINT16));
        let right = equal(code.clone(), byte(type_code(buffer.dtype), DType::UINT8))
            .and(equal(bits.clone(), byte(buffer.dtype.bits.into(), DType::UINT8)))
            .and(equal(lanes.clone(), byte(buffer.dtype.lanes.into(), DType::UINT16)));
        let expectation = format!("expected {}, but got ", buffer.dtype);
        let as_int = |e: &Expr| e.clone().cast(DType::INT32);
        let mut named = Vec::new();
        for (number, name) in CODE_NAMES {
            let mine = equal(code.clone(), byte(*number, DType::UINT8)).and(one_lane.clone());
            let message =
                self.message(self.mismatched(arg, "dtype"), format!("{expectation}{name}"), &[as_int(&bits)]);
            named.push(failure_if(mine, TYPE_ERROR, message));
        }
        let is_bool = equal(code.clone(), byte(6, DType::UINT8)).and(one_lane);
        let message = self.message(self.mismatched(arg, "dtype"), format!("{expectation}bool"), &[]);
        named.push(failure_if(is_bool, TYPE_ERROR, message));
        let mut found = vec![as_int(&code), Expr::str(" of "), as_int(&bits), Expr::str(" bits and ")];
        found.extend([as_int(&lanes), Expr::str(" lanes")]);
        let message =
            self.message(self.mismatched(arg, "dtype"), format!("{expectation}dtype code "), &found);
        named.push(failure_if(Expr::bool(true), TYPE_ERROR, message));
        self.stmts.push(Stmt::if_then(right.logical_not(), Stmt::seq(named), None));
    }

    /// Phase 4, first: the value of each symbol.
    fn symbols(&mut self) {
        let arguments = self.arguments;
        for symbol in &arguments.symbols {
            let arg = &arguments.args[symbol.arg];
            let ArgumentKind::Tensor(buffer) = arg.kind else { continue };
            let Some(fields) = self.fields[symbol.arg].take() else { continue };
            if symbol.place == SymbolPlace::Offset {
                self.whole_offset(arg, buffer, &fields);
            }
            let value = simplify::expr(&fields.place(buffer, symbol.place));
            if let Some(fits) = symbol_fits(&value, symbol.var.dtype, symbol.place) {
                let message = self.message(
                    format!("Invalid {} on argument #{}", symbol.place.name(arg.name), arg.index),
                    range_words(symbol),
                    std::slice::from_ref(&value),
                );
                self.assert(fits, VALUE_ERROR, message);
            }
            self.bind(&symbol.var, simplify::expr(&value.cast(symbol.var.dtype)));
            self.fields[symbol.arg] = Some(fields);
        }
    }

    fn whole_offset(&mut self, arg: &Argument, buffer: &Buffer, fields: &TensorFields) {
        if let Some(whole) = whole_offset(fields, buffer) {
            let message = self.message(
                format!("Invalid {}.byte_offset on argument #{}", arg.name, arg.index),
                format!("expected a multiple of {} bytes, but got ", buffer.dtype.size_bytes()),
                &[fields.field(StructField::ByteOffset, DType::UINT64)],
            );
            self.assert(whole, VALUE_ERROR, message);
        }
    }

    /// Phase 4: symbolic extents, strides, the device id, data.
    fn contents(&mut self) {
        let arguments = self.arguments;
        let mut first: Option<(String, Expr)> = None;
        for (arg, buffer) in arguments.tensors() {
            let Some(fields) = self.fields[arg.index].take() else { continue };
            for (place, wanted) in places(buffer) {
                if matches!(place, SymbolPlace::Shape(_))
                    && wanted.as_int().is_none()
                    && !arguments.gives(arg.index, place)
                {
                    self.must_match(arg, &fields, buffer, place, wanted);
                }
            }
            self.strides(arg, buffer, &fields);
            let device_id = fields.field(StructField::DeviceId, DType::INT32);
            match &first {
                None => first = Some((format!("{}.device_id", arg.name), device_id)),
                Some((name, expected)) => {
                    let found = [expected.clone(), Expr::str("), but got "), device_id.clone()];
                    let what = self.mismatched(arg, "device_id");
                    let message = self.message(what, format!("expected to match {name} ("), &found);
                    let condition = equal(device_id, expected.clone());
                    self.assert(condition, VALUE_ERROR, message);
                }
            }
            let empty = is_empty(buffer, &fields);
            let data = is_null(fields.field(StructField::Data, DType::HANDLE)).logical_not();
            let message = self.message(
                format!("{} data pointer is NULL on argument #{}", arg.name, arg.index),
                "expected non-NULL data pointer".into(),
                &[],
            );
            self.assert(empty.clone().or(data), VALUE_ERROR, message);
            self.alignment(arg, buffer, &fields, empty);
            self.fields[arg.index] = Some(fields);
        }
    }

    fn must_match(
        &mut self,
        arg: &Argument,
        fields: &TensorFields,
        buffer: &Buffer,
        place: SymbolPlace,
        wanted: &Expr,
    ) {
        let found = simplify::expr(&fields.place(buffer, place));
        let value = simplify::expr(&wide(wanted));
        let what = format!("Mismatched {} on argument #{}", place.name(arg.name), arg.index);
        let origin = match &wanted.kind {
            ExprKind::Var(var) => self.origins.get(var).cloned(),
            _ => None,
        };
        let expectation = match origin {
            Some(origin) => format!("expected to match {origin} ("),
            None => format!("expected {} (", text(wanted, 0)),
        };
        let parts = [value.clone(), Expr::str("), but got "), found.clone()];
        let message = self.message(what, expectation, &parts);
        self.assert(equal(found, value), VALUE_ERROR, message);
    }

    /// Explicit strides must be the wanted ones, except if an axis has fewer than two elements:
    /// there no stride is ever used. An empty tensor may have any strides.
    fn strides(&mut self, arg: &Argument, buffer: &Buffer, fields: &TensorFields) {
        let wanted = wanted_strides(buffer);
        let declared = !buffer.strides.is_empty();
        let mut stated = Vec::new();
        for (axis, stride) in wanted.iter().enumerate() {
            if self.arguments.gives(arg.index, SymbolPlace::Stride(axis)) {
                continue;
            }
            let found = if declared {
                simplify::expr(&fields.place(buffer, SymbolPlace::Stride(axis)))
            } else {
                fields.stride(axis)
            };
            let short = Expr::compare(CompareOp::Lt, fields.extent(axis), int64(2));
            let expectation = if declared { "expected " } else { "expected to be compact array, that is " };
            let parts = [stride.clone(), Expr::str(", but got "), found.clone()];
            let what = format!("Mismatched {}.strides on argument #{}", arg.name, arg.index);
            let message = self.message(what, format!("{expectation}{}.strides[{axis}] = ", arg.name), &parts);
            let right = simplify::expr(&short.or(equal(found, stride.clone())));
            stated.push(Stmt::new(StmtKind::Assert { condition: right, kind: VALUE_ERROR.into(), message }));
        }
        if stated.is_empty() {
            return;
        }
        let asked = if declared { Expr::bool(true) } else { fields.no_strides().logical_not() };
        let asked = simplify::expr(&asked.and(is_empty(buffer, fields).logical_not()));
        let stated = Stmt::seq(stated);
        self.stmts.push(if asked.as_int() == Some(1) { stated } else { Stmt::if_then(asked, stated, None) });
    }

    fn alignment(&mut self, arg: &Argument, buffer: &Buffer, fields: &TensorFields, empty: Expr) {
        let Some(rest) = fields.misalignment(buffer).filter(|_| !self.device.opaque_handles) else { return };
        let message = self.message(
            format!("Misaligned {}.data on argument #{}", arg.name, arg.index),
            format!(
                "expected data plus byte_offset to be a multiple of {} bytes, but got one that is beyond by ",
                buffer.dtype.lane_size_bytes()
            ),
            std::slice::from_ref(&rest),
        );
        self.assert(empty.or(equal(rest, Expr::int(0, DType::UINT64))), VALUE_ERROR, message);
    }

    fn constant_extents(&mut self) {
        let arguments = self.arguments;
        for (arg, buffer) in arguments.tensors() {
            let Some(fields) = self.fields[arg.index].take() else { continue };
            for (axis, wanted) in buffer.shape.iter().enumerate() {
                let Some(constant) = wanted.as_int() else { continue };
                let found = fields.extent(axis);
                let message = self.message(
                    format!("Invalid {} on argument #{}", SymbolPlace::Shape(axis).name(arg.name), arg.index),
                    format!("expected {constant}, but got "),
                    std::slice::from_ref(&found),
                );
                self.assert(equal(found, int64(constant)), VALUE_ERROR, message);
            }
            self.fields[arg.index] = Some(fields);
        }
    }

    /// Phase 5: offsets that a buffer declares. Any other offset is added to the pointer.
    fn offsets(&mut self) {
        let arguments = self.arguments;
        for (arg, buffer) in arguments.tensors() {
            let Some(fields) = self.fields[arg.index].take() else { continue };
            for (place, wanted) in places(buffer) {
                if place == SymbolPlace::Offset && !arguments.gives(arg.index, place) {
                    self.whole_offset(arg, buffer, &fields);
                    self.must_match(arg, &fields, buffer, place, wanted);
                }
            }
            self.fields[arg.index] = Some(fields);
        }
    }

    fn mismatched(&self, arg: &Argument, field: &str) -> String {
        format!("Mismatched {}.{field} on argument #{}", arg.name, arg.index)
    }
}

fn mismatched_type(arg: &Argument) -> String {
    format!("Mismatched type on argument #{}", arg.index)
}

fn range_words(symbol: &Symbol) -> String {
    let high = symbol.var.dtype.integer_range().map_or(0, |(_, high)| high);
    match symbol.place {
        SymbolPlace::Stride(_) => format!("expected {} ({}), but got ", symbol.var.name, symbol.var.dtype),
        _ => format!("expected {} between 0 and {high} ({}), but got ", symbol.var.name, symbol.var.dtype),
    }
}

/// Fails if the condition holds.
fn failure_if(condition: Expr, kind: &str, message: Vec<Expr>) -> Stmt {
    Stmt::new(StmtKind::Assert {
        condition: simplify::expr(&condition.logical_not()),
        kind: kind.into(),
        message,
    })
}

/// The condition that the tensor argument has no elements.
fn is_empty(buffer: &Buffer, fields: &TensorFields) -> Expr {
    let some_constant_zero = buffer.shape.iter().any(|extent| extent.as_int() == Some(0));
    let symbolic = buffer.shape.iter().enumerate().filter(|(_, extent)| extent.as_int().is_none());
    let zeros = symbolic.map(|(axis, _)| equal(fields.extent(axis), int64(0)));
    zeros.reduce(Expr::or).filter(|_| !some_constant_zero).unwrap_or_else(|| Expr::bool(some_constant_zero))
}

//! The arguments of a function: their positions, and the argument that determines each symbol.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chipdock_ir::{BinaryOp, Buffer, DType, Expr, ExprKind, Op, Param, PrimFunc, StructField, TypeCode, Var};

use super::PASS;
use super::signature::{arg_type, shown, signature};
use crate::PassError;
use crate::simplify;
use crate::walk::unused_name;

/// Type index of an integer argument (TVM-FFI's numbers).
pub(super) const TYPE_INT: i32 = 1;
/// Type index of a boolean argument.
pub(super) const TYPE_BOOL: i32 = 2;
/// Type index of a float argument.
pub(super) const TYPE_FLOAT: i32 = 3;
/// Type index of a pointer.
pub(super) const TYPE_POINTER: i32 = 4;
/// Type index of a borrowed tensor.
pub(super) const TYPE_DLTENSOR: i32 = 7;
/// Type index of a borrowed text that ends with NUL.
pub(super) const TYPE_STRING: i32 = 8;
/// Type index of a tensor object.
pub(super) const TYPE_TENSOR: i32 = 70;
/// The first type index of an object.
pub(super) const TYPE_OBJECT: i32 = 64;
/// Offset in bytes of the tensor in a tensor object.
const TENSOR_OFFSET_BYTES: i128 = 24;

/// The arguments of a function.
pub(super) struct Arguments<'a> {
    pub(super) function: &'a PrimFunc,
    pub(super) signature: Arc<str>,
    /// The signature as messages repeat it.
    pub(super) shown: Arc<str>,
    pub(super) arg_types: Vec<String>,
    pub(super) args: Vec<Argument<'a>>,
    /// Symbols of shapes, strides and offsets that are not parameters, in the order of their first
    /// occurrence.
    pub(super) symbols: Vec<Symbol>,
    /// The argument that determines each variable: a scalar itself, a symbol by its place.
    given_by: HashMap<Var, usize>,
    /// The places that determine symbols.
    giving: HashSet<(usize, SymbolPlace)>,
    /// The id of the tensors' device, if the function was compiled for one.
    pub(super) device_id: Option<Var>,
    /// The buffer into which the computation stores the function's return value.
    pub(super) result: Option<Buffer>,
}

/// A parameter and the position of its argument.
pub(super) struct Argument<'a> {
    pub(super) index: usize,
    pub(super) name: &'a Arc<str>,
    pub(super) kind: ArgumentKind<'a>,
}

pub(super) enum ArgumentKind<'a> {
    Tensor(&'a Buffer),
    Scalar(&'a Var),
}

/// A variable whose value comes from the first tensor that has it as a plain extent, stride or
/// offset.
pub(super) struct Symbol {
    pub(super) var: Var,
    pub(super) arg: usize,
    pub(super) place: SymbolPlace,
}

/// The place of a symbol in a tensor.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum SymbolPlace {
    Shape(usize),
    Stride(usize),
    Offset,
}

impl SymbolPlace {
    /// Formats the place as in `A.shape[0]`.
    pub(super) fn name(self, tensor: &str) -> String {
        match self {
            Self::Shape(axis) => format!("{tensor}.shape[{axis}]"),
            Self::Stride(axis) => format!("{tensor}.strides[{axis}]"),
            Self::Offset => format!("{tensor}.byte_offset"),
        }
    }
}

impl<'a> Arguments<'a> {
    pub(super) fn from_function(function: &'a PrimFunc) -> Result<Self, PassError> {
        let args: Vec<Argument<'a>> = function.params.iter().enumerate().map(Argument::from_param).collect();
        let symbols = symbols(&args);
        let has_tensor = args.iter().any(|arg| matches!(arg.kind, ArgumentKind::Tensor(_)));
        let device_id = (has_tensor && super::device::is_of_device(function))
            .then(|| Var::new(unused_name(function, "device_id"), DType::INT32));
        let scalars = args.iter().filter_map(|arg| match arg.kind {
            ArgumentKind::Scalar(var) => Some((var.clone(), arg.index)),
            ArgumentKind::Tensor(_) => None,
        });
        let arguments = Self {
            function,
            signature: signature(function).into(),
            shown: shown(function).into(),
            arg_types: function.params.iter().map(arg_type).collect(),
            given_by: scalars.chain(symbols.iter().map(|symbol| (symbol.var.clone(), symbol.arg))).collect(),
            giving: symbols.iter().map(|symbol| (symbol.arg, symbol.place)).collect(),
            args,
            symbols,
            device_id,
            result: function
                .ret
                .map(|dtype| super::calls::result_buffer(unused_name(function, "result"), dtype)),
        };
        arguments.every_symbol_is_given()?;
        Ok(arguments)
    }

    /// The parameters of the computation: a pointer or a scalar for each argument, then the
    /// symbols, the id of the device, and the pointer for the return value.
    pub(super) fn compute_params(&self) -> Vec<Var> {
        let own = self.args.iter().map(|arg| match arg.kind {
            ArgumentKind::Tensor(buffer) => buffer.data.clone(),
            ArgumentKind::Scalar(var) => var.clone(),
        });
        let result = self.result.iter().map(|result| result.data.clone());
        let symbols = self.symbols.iter().map(|symbol| symbol.var.clone());
        own.chain(symbols).chain(self.device_id.clone()).chain(result).collect()
    }

    pub(super) fn tensors(&self) -> impl Iterator<Item = (&Argument<'a>, &'a Buffer)> {
        self.args.iter().filter_map(|arg| match arg.kind {
            ArgumentKind::Tensor(buffer) => Some((arg, buffer)),
            ArgumentKind::Scalar(_) => None,
        })
    }

    /// Returns true if that place determines a symbol.
    pub(super) fn gives(&self, arg: usize, place: SymbolPlace) -> bool {
        self.giving.contains(&(arg, place))
    }

    /// The symbols that an argument determines.
    pub(super) fn symbols_of(&self, arg: usize) -> &[Symbol] {
        let first = self.symbols.partition_point(|symbol| symbol.arg < arg);
        let count = self.symbols[first..].partition_point(|symbol| symbol.arg == arg);
        &self.symbols[first..first + count]
    }

    /// Returns true if every symbol of the expression is determined by an argument up to `arg`.
    pub(super) fn known_by(&self, expr: &Expr, arg: usize) -> bool {
        let mut known = true;
        expr.walk(&mut |e| {
            if let ExprKind::Var(var) = &e.kind {
                known &= self.given_by.get(var).is_some_and(|given| *given <= arg);
            }
        });
        known
    }

    fn every_symbol_is_given(&self) -> Result<(), PassError> {
        let known: HashSet<Var> = self.compute_params().into_iter().collect();
        for (arg, buffer) in self.tensors() {
            for (place, expr) in places(buffer) {
                let mut missing = None;
                expr.walk(&mut |e| match &e.kind {
                    ExprKind::Var(var) if !known.contains(var) => missing = Some(var.clone()),
                    _ => {}
                });
                if let Some(var) = missing {
                    return Err(PassError::caller(
                        PASS,
                        &self.function.name,
                        format!(
                            "the symbol {} in {} is given by no parameter; expected a parameter of that name, or a \
                             buffer with an axis of exactly that extent",
                            var.name,
                            place.name(arg.name)
                        ),
                    ));
                }
            }
        }
        Ok(())
    }
}

impl<'a> Argument<'a> {
    fn from_param((index, param): (usize, &'a Param)) -> Self {
        let kind = match param {
            Param::Buffer(buffer) => ArgumentKind::Tensor(buffer),
            Param::Var(var) => ArgumentKind::Scalar(var),
        };
        Self { index, name: param.name(), kind }
    }

    /// The fields of a tensor argument; `None` for a scalar.
    pub(super) fn fields(&self) -> Option<TensorFields> {
        match self.kind {
            ArgumentKind::Tensor(buffer) => Some(TensorFields::new(self.name, buffer)),
            ArgumentKind::Scalar(_) => None,
        }
    }

    pub(super) fn type_index(&self, args: &Var) -> Expr {
        struct_get(&args.expr(), self.index, StructField::AnyTypeIndex, DType::INT32)
    }

    pub(super) fn value(&self, args: &Var, dtype: DType) -> Expr {
        struct_get(&args.expr(), self.index, StructField::AnyValue, dtype)
    }

    /// Pointer to the tensor: the value itself, or a part of a tensor object.
    pub(super) fn tensor(&self, args: &Var, type_index: &Var) -> Expr {
        let is_object = equal(type_index.expr(), Expr::i32(TYPE_TENSOR));
        let offset = Expr::select(is_object, int64(TENSOR_OFFSET_BYTES), int64(0));
        Expr::call(Op::HandleAddByteOffset, vec![self.value(args, DType::HANDLE), offset], DType::HANDLE)
    }
}

/// Extents, strides and offset of a buffer, each with its place.
pub(super) fn places(buffer: &Buffer) -> impl Iterator<Item = (SymbolPlace, &Expr)> {
    let shape = buffer.shape.iter().enumerate().map(|(axis, e)| (SymbolPlace::Shape(axis), e));
    let strides = buffer.strides.iter().enumerate().map(|(axis, e)| (SymbolPlace::Stride(axis), e));
    shape.chain(strides).chain(buffer.elem_offset.iter().map(|e| (SymbolPlace::Offset, e)))
}

fn symbols(args: &[Argument]) -> Vec<Symbol> {
    let mut known: HashSet<&Var> = args
        .iter()
        .filter_map(|arg| match arg.kind {
            ArgumentKind::Scalar(var) => Some(var),
            ArgumentKind::Tensor(_) => None,
        })
        .collect();
    let mut symbols: Vec<Symbol> = Vec::new();
    for arg in args {
        let ArgumentKind::Tensor(buffer) = arg.kind else { continue };
        for (place, expr) in places(buffer) {
            if let ExprKind::Var(var) = &expr.kind
                && known.insert(var)
            {
                symbols.push(Symbol { var: var.clone(), arg: arg.index, place });
            }
        }
    }
    symbols
}

/// Fields of a tensor whose handle was checked.
pub(super) struct TensorFields {
    pub(super) handle: Var,
    pub(super) shape: Var,
    pub(super) strides: Var,
    /// The data pointer of the computation: the first element's address; an offset that the buffer
    /// declares is not included but stays in its index.
    pub(super) data: Var,
}

impl TensorFields {
    fn new(name: &str, buffer: &Buffer) -> Self {
        let int64s = |what: &str| {
            Var::pointer(format!("{name}_{what}"), DType::INT64, chipdock_ir::StorageScope::GLOBAL)
        };
        let handle = Var::new(format!("{name}_handle"), DType::HANDLE);
        let element = if buffer.dtype.is_storage() { DType::UINT8 } else { buffer.dtype };
        let data = Var::pointer(format!("{name}_data"), element, buffer.scope.clone());
        Self { handle, shape: int64s("shape"), strides: int64s("strides"), data }
    }

    pub(super) fn field(&self, field: StructField, dtype: DType) -> Expr {
        struct_get(&self.handle.expr(), 0, field, dtype)
    }

    pub(super) fn extent(&self, axis: usize) -> Expr {
        struct_get(&self.shape.expr(), axis, StructField::Int64Element, DType::INT64)
    }

    pub(super) fn stride(&self, axis: usize) -> Expr {
        struct_get(&self.strides.expr(), axis, StructField::Int64Element, DType::INT64)
    }

    pub(super) fn no_strides(&self) -> Expr {
        is_null(self.strides.expr())
    }

    /// Address of the first element: data plus offset.
    fn first_element(&self) -> Expr {
        let offset = self.field(StructField::ByteOffset, DType::UINT64).cast(DType::INT64);
        let data = self.field(StructField::Data, DType::HANDLE);
        Expr::call(Op::HandleAddByteOffset, vec![data, offset], DType::HANDLE)
    }

    /// The value of [`TensorFields::data`].
    pub(super) fn data_value(&self, buffer: &Buffer) -> Expr {
        if buffer.elem_offset.is_some() {
            self.field(StructField::Data, DType::HANDLE)
        } else {
            self.first_element()
        }
    }

    /// Address of the first element, as uint64.
    pub(super) fn address(&self, buffer: &Buffer) -> Expr {
        let first = if buffer.elem_offset.is_some() { self.first_element() } else { self.data.expr() };
        Expr::call(Op::Reinterpret, vec![first], DType::UINT64)
    }

    /// The offset of the first element from a multiple of its lane's size, as uint64.
    pub(super) fn misalignment(&self, buffer: &Buffer) -> Option<Expr> {
        let size = buffer.dtype.lane_size_bytes();
        let mask = Expr::int(size as i128 - 1, DType::UINT64);
        (size > 1).then(|| Expr::call(Op::BitwiseAnd, vec![self.address(buffer), mask], DType::UINT64))
    }

    /// The value of a symbol's place, as int64. A tensor without strides has compact ones.
    pub(super) fn place(&self, buffer: &Buffer, place: SymbolPlace) -> Expr {
        match place {
            SymbolPlace::Shape(axis) => self.extent(axis),
            SymbolPlace::Stride(axis) => {
                let compact = (axis + 1..buffer.shape.len())
                    .map(|axis| self.extent(axis))
                    .reduce(|a, b| a * b)
                    .unwrap_or_else(|| int64(1));
                Expr::call(Op::IfThenElse, vec![self.no_strides(), compact, self.stride(axis)], DType::INT64)
            }
            SymbolPlace::Offset => {
                let bytes = self.field(StructField::ByteOffset, DType::UINT64).cast(DType::INT64);
                if buffer.dtype.is_sub_byte() {
                    return bytes * int64(8 / i128::from(buffer.dtype.bits));
                }
                let size = buffer.dtype.size_bytes() as i128;
                Expr::binary(BinaryOp::Div, bytes, int64(size))
            }
        }
    }
}

/// Compact strides of a buffer as int64 expressions over its symbols.
pub(super) fn compact_strides(buffer: &Buffer) -> Vec<Expr> {
    let mut stride = int64(1);
    let mut strides = Vec::with_capacity(buffer.shape.len());
    for extent in buffer.shape.iter().rev() {
        strides.push(stride.clone());
        stride = simplify::expr(&(wide(extent) * stride));
    }
    strides.reverse();
    strides
}

/// Strides that the tensor must have: the declared ones, or compact ones.
pub(super) fn wanted_strides(buffer: &Buffer) -> Vec<Expr> {
    if buffer.strides.is_empty() {
        compact_strides(buffer)
    } else {
        buffer.strides.iter().map(wide).collect()
    }
}

/// The expression computed in int64, so that no part of it wraps at a smaller width.
pub(super) fn wide(expr: &Expr) -> Expr {
    match &expr.kind {
        ExprKind::Int(value) => int64(*value),
        ExprKind::Binary(op, a, b) => Expr::binary(*op, wide(a), wide(b)),
        ExprKind::Cast(inner) if inner.dtype.is_integer() && inner.dtype.bits <= expr.dtype.bits => {
            wide(inner)
        }
        _ => expr.clone().cast(DType::INT64),
    }
}

/// DLPack's code of a type.
pub(super) fn type_code(dtype: DType) -> i128 {
    match dtype.code {
        TypeCode::Int => 0,
        TypeCode::UInt => 1,
        TypeCode::Float => 2,
        TypeCode::Handle => 3,
        TypeCode::BFloat => 4,
        TypeCode::Bool => 6,
        TypeCode::Float8E4M3Fn => 10,
        TypeCode::Float8E5M2 => 12,
    }
}

/// A map from each symbol to a description of its place.
pub(super) fn origins(arguments: &Arguments) -> HashMap<Var, String> {
    let named = arguments.symbols.iter().filter_map(|symbol| {
        let arg = arguments.args.get(symbol.arg)?;
        Some((symbol.var.clone(), symbol.place.name(arg.name)))
    });
    let scalars = arguments.args.iter().filter_map(|arg| match arg.kind {
        ArgumentKind::Scalar(var) => Some((var.clone(), arg.name.to_string())),
        ArgumentKind::Tensor(_) => None,
    });
    named.chain(scalars).collect()
}

pub(super) fn int64(value: i128) -> Expr {
    Expr::int(value, DType::INT64)
}

pub(super) fn equal(a: Expr, b: Expr) -> Expr {
    Expr::compare(chipdock_ir::CompareOp::Eq, a, b)
}

pub(super) fn is_null(handle: Expr) -> Expr {
    Expr::call(Op::Isnullptr, vec![handle], DType::BOOL)
}

pub(super) fn struct_get(handle: &Expr, index: usize, field: StructField, dtype: DType) -> Expr {
    let index = Expr::int(index as i128, DType::INT32);
    Expr::call(Op::StructGet, vec![handle.clone(), index, Expr::i32(field as i32)], dtype)
}

/// The conjunction of the conditions, evaluated without branches.
pub(super) fn bitand(conditions: impl IntoIterator<Item = Expr>) -> Expr {
    conditions
        .into_iter()
        .reduce(|a, b| Expr::call(Op::BitwiseAnd, vec![a, b], DType::BOOL))
        .unwrap_or_else(|| Expr::bool(true))
}

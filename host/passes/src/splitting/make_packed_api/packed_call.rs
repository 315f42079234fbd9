//! Packed calls: the values of their arguments in memory, and their tensor arguments.

use chipdock_ir::{
    Buffer, Callee, DType, Expr, ExprKind, Op, PrimFunc, Stmt, StmtKind, StorageScope, StructField,
};

use super::PASS;
use super::arguments::{
    TYPE_BOOL, TYPE_DLTENSOR, TYPE_FLOAT, TYPE_INT, TYPE_POINTER, TYPE_STRING, type_code,
};
use super::calls::{allocation, throw_unless_zero};
use super::device::is_of_device;
use crate::PassError;

/// DLPack's device type of the processor that runs the code.
const DEVICE_CPU: i32 = 1;
/// Size in bytes of a DLTensor with pointers of 64 bits; it is smaller with shorter pointers.
const TENSOR_BYTES: i128 = 48;

/// A lowered packed call.
pub(super) struct PackedCall {
    /// 16 bytes for each argument, and for the result after them.
    pub(super) values: Buffer,
    /// Allocations for the call: the values, and for each tensor its header, extents and strides.
    pub(super) allocations: Vec<Stmt>,
    /// Sets the arguments and makes the call; if it fails, so does this function.
    pub(super) stmts: Vec<Stmt>,
}

impl PackedCall {
    pub(super) fn lower(function: &PrimFunc, args: &[Expr]) -> Result<Self, PassError> {
        let caller = |message: &str| PassError::caller(PASS, &function.name, message.to_owned());
        let Some((name, given)) = args.split_first() else {
            return Err(caller("expected the name of a packed function"));
        };
        let count = given.len() as i128;
        let values = words("packed", 2 * (count + 1));
        let mut call = Self { allocations: vec![allocation(&values)], values, stmts: Vec::new() };
        for (slot, value) in given.iter().enumerate() {
            let (type_index, value) = match value.dtype {
                _ if matches!(&value.kind, ExprKind::Str(text) if text.contains('\0')) => {
                    return Err(caller(
                        "a string of a packed call ends at its first NUL; expected one without",
                    ));
                }
                _ if matches!(value.kind, ExprKind::Str(_)) => (Expr::i32(TYPE_STRING), value.clone()),
                dtype if dtype.is_handle() => match &value.kind {
                    ExprKind::Call { callee: Callee::Op(Op::StackMakeArray), args } => {
                        if is_of_device(function) {
                            return Err(caller(
                                "a packed call with a tensor is of the host: the function that is called does not have the \
                                 device's memory; compile this function for a target of the host",
                            ));
                        }
                        (Expr::i32(TYPE_DLTENSOR), call.tensor(slot, args))
                    }
                    _ => {
                        let null = Expr::call(Op::Isnullptr, vec![value.clone()], DType::BOOL);
                        (Expr::select(null, Expr::i32(0), Expr::i32(TYPE_POINTER)), value.clone())
                    }
                },
                dtype if dtype.is_float() => (Expr::i32(TYPE_FLOAT), value.clone().cast(DType::FLOAT64)),
                dtype if dtype.is_bool() => (Expr::i32(TYPE_BOOL), value.clone().cast(DType::INT64)),
                _ => (Expr::i32(TYPE_INT), value.clone().cast(DType::INT64)),
            };
            call.value(slot, type_index, value);
        }
        call.value(given.len(), Expr::i32(0), Expr::int(0, DType::INT64));
        let lowered = vec![name.clone(), call.values.data.expr(), Expr::int(count, DType::INT32)];
        call.stmts.push(throw_unless_zero(Expr::call(Op::CallPacked, lowered, DType::INT32)));
        Ok(call)
    }

    fn value(&mut self, slot: usize, type_index: Expr, value: Expr) {
        let values = self.values.clone();
        self.set(&values, slot, StructField::AnyTypeIndex, type_index);
        self.set(&values, slot, StructField::AnyPadding, Expr::int(0, DType::UINT32));
        self.set(&values, slot, StructField::AnyValue, value);
    }

    /// Builds a tensor on the processor from the arguments of `T.tvm_stack_make_array`; returns its
    /// address.
    fn tensor(&mut self, slot: usize, args: &[Expr]) -> Expr {
        let tensor = words(&format!("tensor{slot}"), TENSOR_BYTES / 8);
        self.allocations.push(allocation(&tensor));
        let [data, shape, strides, axes, zero, offset] = args else { return tensor.data.expr() };
        let dtype = zero.dtype;
        // Fields that are not set are null: a compact tensor has no strides.
        for word in 0..TENSOR_BYTES / 8 {
            let index = vec![Expr::int(word, DType::INT64)];
            self.stmts.push(Stmt::store(&tensor, index, Expr::int(0, DType::INT64)));
        }
        let shape = self.sizes(&format!("shape{slot}"), shape);
        let strides = self.sizes(&format!("strides{slot}"), strides);
        let offset = offset.clone().cast(DType::INT64) * Expr::int(dtype.size_bytes() as i128, DType::INT64);
        let pointers = [(StructField::Shape, shape), (StructField::Strides, strides)];
        for (field, value) in pointers.into_iter().filter_map(|(field, value)| Some((field, value?))) {
            self.set(&tensor, 0, field, value);
        }
        for (field, value) in [
            (StructField::Data, data.clone()),
            (StructField::DeviceType, Expr::i32(DEVICE_CPU)),
            (StructField::DeviceId, Expr::i32(0)),
            (StructField::Ndim, axes.clone()),
            (StructField::TypeCode, Expr::int(type_code(dtype), DType::UINT8)),
            (StructField::TypeBits, Expr::int(i128::from(dtype.bits), DType::UINT8)),
            (StructField::TypeLanes, Expr::int(i128::from(dtype.lanes), DType::UINT16)),
            (StructField::ByteOffset, offset.cast(DType::UINT64)),
        ] {
            self.set(&tensor, 0, field, value);
        }
        tensor.data.expr()
    }

    /// Stores extents or strides to memory; `None` if the argument is not a shape.
    fn sizes(&mut self, name: &str, sizes: &Expr) -> Option<Expr> {
        let ExprKind::Call { callee: Callee::Op(Op::StackMakeShape), args } = &sizes.kind else {
            return None;
        };
        // An empty shape has an address too.
        let buffer = words(name, (args.len() as i128).max(1));
        self.allocations.push(allocation(&buffer));
        for (axis, size) in args.iter().enumerate() {
            let index = vec![Expr::int(axis as i128, DType::INT64)];
            self.stmts.push(Stmt::store(&buffer, index, size.clone().cast(DType::INT64)));
        }
        Some(buffer.data.expr())
    }

    fn set(&mut self, buffer: &Buffer, slot: usize, field: StructField, value: Expr) {
        let slot = Expr::int(slot as i128, DType::INT32);
        let args = vec![buffer.data.expr(), slot, Expr::i32(field as i32), value];
        self.stmts.push(Stmt::new(StmtKind::Evaluate(Expr::call(Op::StructSet, args, DType::HANDLE))));
    }
}

/// A buffer of `count` words of 64 bits.
fn words(name: &str, count: i128) -> Buffer {
    Buffer::new(name, vec![Expr::int(count, DType::INT64)], DType::INT64, StorageScope::GLOBAL)
}

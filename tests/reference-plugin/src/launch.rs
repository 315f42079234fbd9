//! What is queued: the function on the interpreter, with the memory that it was given.
//!
//! Its tensors are read when the work begins, and of those only bytes that it changed are written when it ends. Two
//! streams that touch the same bytes, one writing, without an order between them are their caller's mistake, as on any
//! device; whoever touches other bytes of the same data space is not disturbed.

use std::sync::Arc;

use chipdock_ir::interpret::{Arg, Array, ErrorKind as Interpreted, InterpretError, Interpreter, Limits};
use chipdock_ir::{DType, IrModule, Param};
use chipdock_plugin_api::{Any, AnyView, Error, ErrorKind, TensorView, abi, bail, ensure};

use crate::hardware::Device;
use crate::memory::Block;

/// A kernel that runs longer does not end.
const STEPS_MAX: u64 = 1 << 31;

/// A range of a data space, with the extents of the tensor that lies there.
pub(crate) struct Space {
    block: Arc<Block>,
    offset: usize,
    size: usize,
    shape: Vec<usize>,
}

/// An argument that was checked.
pub(crate) enum Argument {
    Tensor(Space),
    /// What a pointer points to, as bytes; nothing for null.
    Pointer(Option<Space>),
    Int(i128),
    Float(f64),
}

/// A call that is queued.
pub(crate) struct Launch {
    pub(crate) device: Arc<Device>,
    pub(crate) module: Arc<IrModule>,
    pub(crate) function: Arc<str>,
    pub(crate) arguments: Vec<Argument>,
}

impl Space {
    /// Where a compact tensor lies.
    pub(crate) fn of(device: &Device, tensor: TensorView<'_>, _has_offset: bool) -> Result<Self, Error> {
        let shape: Vec<usize> =
            tensor.shape().iter().map(|extent| usize::try_from(*extent).unwrap_or(usize::MAX)).collect();
        let size = tensor.size_bytes()?;
        let handle = tensor.data().addr();
        if size == 0 {
            return Ok(Self { block: Arc::new(Block::empty()), offset: 0, size: 0, shape });
        }
        ensure!(handle != 0, ErrorKind::VALUE_ERROR, "data pointer is NULL: expected a data space");
        let (block, offset) = device.memory.range(handle, tensor.byte_offset(), size)?;
        Ok(Self { block, offset, size: size as usize, shape })
    }

    fn whole(block: Arc<Block>, offset: usize) -> Self {
        let size = block.size_bytes() - offset;
        Self { block, offset, size, shape: vec![size] }
    }
}

impl Argument {
    /// A number of the declared type; the check before has held it against its range.
    pub(crate) fn scalar(dtype: DType, view: AnyView<'_>) -> Result<Self, Error> {
        if dtype.is_float() {
            return Ok(Self::Float(view.to::<f64>()?));
        }
        let value = view.to::<i64>()?;
        Ok(Self::Int(if dtype.is_bool() { i128::from(value != 0) } else { i128::from(value) }))
    }

    /// What a pointer, or a tensor given for one, points to: its data space from there to the end.
    pub(crate) fn pointer(
        device: &Device,
        view: AnyView<'_>,
        tensor: Option<TensorView<'_>>,
    ) -> Result<Self, Error> {
        let raw = view.into_raw();
        let handle = match (tensor, raw.type_index) {
            (Some(tensor), _) => tensor.data().addr(),
            // SAFETY: the payload of an opaque pointer.
            (None, abi::CHIPDOCK_TYPE_OPAQUE_PTR) => unsafe { raw.value.v_ptr }.addr(),
            _ => 0,
        };
        if handle == 0 {
            return Ok(Self::Pointer(None));
        }
        let (block, offset) = device.memory.range(handle, tensor.map_or(0, TensorView::byte_offset), 0)?;
        Ok(Self::Pointer(Some(Space::whole(block, offset))))
    }

    fn space(&self) -> Option<&Space> {
        match self {
            Self::Tensor(space) | Self::Pointer(Some(space)) => Some(space),
            _ => None,
        }
    }
}

impl Launch {
    /// Does it.
    pub(crate) fn run(&self) -> Result<Any, Error> {
        self.device.check()?;
        let Some(function) = self.module.function(&self.function) else {
            bail!(ErrorKind::INTERNAL, "the function {} was lost; this is a bug", self.function);
        };
        let mut args = Vec::with_capacity(self.arguments.len());
        for (argument, param) in self.arguments.iter().zip(&function.params) {
            args.push(match argument {
                Argument::Tensor(space) | Argument::Pointer(Some(space)) => {
                    let dtype = match param {
                        Param::Buffer(buffer) => buffer.dtype,
                        Param::Var(_) => DType::UINT8,
                    };
                    let data = space.block.read(space.offset, space.size)?;
                    Arg::Tensor(Array { dtype, shape: space.shape.clone(), data })
                }
                Argument::Pointer(None) => Arg::Tensor(Array::zeros(DType::UINT8, &[0])),
                Argument::Int(value) => Arg::Int(*value),
                Argument::Float(value) => Arg::Float(*value),
            });
        }
        let before: Vec<Option<Vec<u8>>> = args
            .iter()
            .map(|arg| if let Arg::Tensor(array) = arg { Some(array.data.clone()) } else { None })
            .collect();
        let limits = Limits { steps_max: STEPS_MAX, ..Limits::default() };
        let interpreter = Interpreter::new(&self.module).with_limits(limits);
        let outcome = interpreter.run(&self.function, &mut args).map_err(|error| raised(&error))?;
        for ((argument, arg), before) in self.arguments.iter().zip(&args).zip(before) {
            if let (Some(space), Arg::Tensor(after), Some(before)) = (argument.space(), arg, before) {
                write_changes(space, &before, &after.data)?;
            }
        }
        Ok(outcome.returned.map_or(Any::NONE, |(value, _)| returned(&value)))
    }
}

/// Writes the runs of bytes that are others now.
fn write_changes(space: &Space, before: &[u8], after: &[u8]) -> Result<(), Error> {
    let size = before.len().min(after.len());
    let mut start = 0;
    while start < size {
        if before[start] == after[start] {
            start += 1;
            continue;
        }
        let length = before[start..size].iter().zip(&after[start..size]).take_while(|(a, b)| a != b).count();
        space.block.write(space.offset + start, &after[start..start + length])?;
        start += length;
    }
    Ok(())
}

fn returned(value: &Array) -> Any {
    if value.dtype.is_float() {
        return Any::from(value.float(0).unwrap_or_default());
    }
    let number = value.int(0).unwrap_or_default();
    if value.dtype.is_bool() { Any::from(number != 0) } else { Any::from(number as i64) }
}

/// An interpreter's error as one of the boundary.
pub(crate) fn raised(error: &InterpretError) -> Error {
    let kind = match &error.kind {
        // What an assertion says is the kernel's own.
        Interpreted::Assertion { kind, message } => {
            return Error::new(ErrorKind::new(kind.to_string()), message.clone());
        }
        Interpreted::UnknownFunction { .. } => ErrorKind::NOT_FOUND,
        Interpreted::OutOfBounds { .. } | Interpreted::OutsideMemory { .. } => ErrorKind::INDEX_ERROR,
        Interpreted::Unsupported { .. } => ErrorKind::UNSUPPORTED,
        Interpreted::MemoryLimit { .. } => ErrorKind::OUT_OF_MEMORY,
        Interpreted::Malformed { .. } | Interpreted::Status { .. } => ErrorKind::INTERNAL,
        _ => ErrorKind::VALUE_ERROR,
    };
    Error::new(kind, error.to_string())
}

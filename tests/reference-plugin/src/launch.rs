//! A queued call: runs the function in the interpreter, on the memory of its arguments.
//!
//! Tensors are read when the work begins; when it ends, only the bytes that it changed are written.
//! Two streams that touch the same bytes, at least one of them writing, without an order between
//! them are a mistake of the caller, as on any device; work on other bytes of the same data space
//! is not affected.

use std::ops::Range;
use std::sync::Arc;

use chipdock_interpret::{Arg, Array, ErrorKind as Interpreted, InterpretError, Interpreter, Limits};
use chipdock_ir::{Buffer, DType, IrModule, Param, PrimFunc};
use chipdock_plugin_api::{Any, AnyView, Error, ErrorKind, TensorView, abi, bail, ensure};

use crate::fault;
use crate::hardware::Device;
use crate::memory::Block;
use crate::views;

/// Number of steps after which a kernel counts as endless.
const STEPS_MAX: u64 = 1 << 31;

/// Location of a tensor, or of the memory that a pointer points to.
pub(crate) struct Space {
    pub(crate) block: Arc<Block>,
    /// The range of the block that it may touch.
    pub(crate) range: Range<usize>,
    /// Position that its data pointer points to: the first element, or the base of the declared
    /// offset.
    pub(crate) pointer: usize,
    pub(crate) byte_offset: usize,
    pub(crate) shape: Vec<usize>,
    pub(crate) strides: Vec<i64>,
}

/// A checked argument.
pub(crate) enum Argument {
    Tensor(Space),
    /// The memory that a pointer points to, as bytes; `None` for null.
    Pointer(Option<Space>),
    Int(i128),
    Float(f64),
}

/// A queued call.
pub(crate) struct Launch {
    pub(crate) device: Arc<Device>,
    pub(crate) module: Arc<IrModule>,
    pub(crate) function: Arc<str>,
    pub(crate) arguments: Vec<Argument>,
}

/// Returns the range of bytes that elements of this size touch, counted from the first element:
/// first byte, and one past the last.
fn span(shape: &[usize], strides: &[i64], item_bytes: usize) -> (i128, i128) {
    let (mut low, mut high) = (0_i128, 0_i128);
    for (extent, stride) in shape.iter().zip(strides) {
        let reach = (*extent as i128 - 1) * i128::from(*stride);
        if reach < 0 { low += reach } else { high += reach }
    }
    (low * item_bytes as i128, (high + 1) * item_bytes as i128)
}

/// Returns the offset of a tensor's first element from its data pointer.
fn first_byte(tensor: TensorView<'_>) -> u64 {
    // Fault against C.20: the offset is ignored.
    if fault::is("byte-offset-ignored") { 0 } else { tensor.byte_offset() }
}

fn compact_strides(shape: &[usize]) -> Vec<i64> {
    let mut strides = vec![1_i64; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis].saturating_mul(i64::try_from(shape[axis]).unwrap_or(i64::MAX));
    }
    strides
}

impl Space {
    /// Locates a tensor that is the argument for a buffer.
    pub(crate) fn locate(device: &Device, tensor: TensorView<'_>, buffer: &Buffer) -> Result<Self, Error> {
        let extents = tensor.shape().iter().map(|extent| usize::try_from(*extent).unwrap_or(usize::MAX));
        let shape: Vec<usize> = extents.collect();
        let declared = tensor.strides().filter(|_| !buffer.strides.is_empty());
        let strides = declared.map_or_else(|| compact_strides(&shape), <[i64]>::to_vec);
        let byte_offset = usize::try_from(first_byte(tensor)).unwrap_or(usize::MAX);
        if tensor.size_bytes()? == 0 {
            let block = Arc::new(Block::empty());
            return Ok(Self { block, range: 0..0, pointer: 0, byte_offset, shape, strides });
        }
        let handle = tensor.data().addr();
        ensure!(handle != 0, ErrorKind::VALUE_ERROR, "expected non-NULL data pointer");
        let (low, high) = span(&shape, &strides, buffer.dtype.size_bytes());
        let first = first_byte(tensor);
        let start = u64::try_from(i128::from(first) + low);
        let size = u64::try_from(high - low);
        let (Ok(start), Ok(size)) = (start, size) else {
            bail!(
                ErrorKind::INDEX_ERROR,
                "expected a tensor within its data space, found byte {low} before it"
            );
        };
        let (block, inner) = device.memory.range(handle, start, size)?;
        // `inner` is where the range starts in the block.
        let base = inner - start as usize;
        let pointer = if buffer.elem_offset.is_some() { base } else { base + byte_offset };
        Ok(Self { block, range: inner..inner + size as usize, pointer, byte_offset, shape, strides })
    }

    fn whole(block: Arc<Block>, start: usize) -> Self {
        let range = start..block.size_bytes();
        let shape = vec![range.len()];
        Self { block, range, pointer: start, byte_offset: 0, shape, strides: vec![1] }
    }

    /// Returns true if both are in the same block.
    pub(crate) fn is_same_block(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.block, &other.block)
    }
}

impl Argument {
    /// Reads a number of the declared type; its range has been checked before.
    pub(crate) fn scalar(dtype: DType, view: AnyView<'_>) -> Result<Self, Error> {
        if dtype.is_float() {
            return Ok(Self::Float(view.to::<f64>()?));
        }
        let value = view.to::<i64>()?;
        Ok(Self::Int(if dtype.is_bool() { i128::from(value != 0) } else { i128::from(value) }))
    }

    /// Locates the memory of a pointer, or of a tensor passed for one: its data space from that
    /// position to the end.
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

    /// Returns its location, if the argument is memory.
    pub(crate) fn space(&self) -> Option<&Space> {
        match self {
            Self::Tensor(space) | Self::Pointer(Some(space)) => Some(space),
            _ => None,
        }
    }
}

/// A memory argument of the interpreter: the bytes that were read, and the location to which
/// changes are written back.
struct Taken<'a> {
    argument: usize,
    block: &'a Block,
    range: Range<usize>,
    before: Vec<u8>,
}

impl Launch {
    /// Runs the call.
    pub(crate) fn run(&self) -> Result<Any, Error> {
        self.device.check()?;
        let Some(function) = self.module.function(&self.function) else {
            bail!(ErrorKind::INTERNAL, "the function {} was lost; this is a bug", self.function);
        };
        if views::is_plain(function, &self.arguments) {
            self.run_plain(function)
        } else {
            self.run_views(function)
        }
    }

    fn run_plain(&self, function: &PrimFunc) -> Result<Any, Error> {
        let (mut args, mut taken) = (Vec::new(), Vec::new());
        for (index, (argument, param)) in self.arguments.iter().zip(&function.params).enumerate() {
            args.push(match argument {
                Argument::Tensor(space) | Argument::Pointer(Some(space)) => {
                    let dtype = match param {
                        Param::Buffer(buffer) => buffer.dtype,
                        Param::Var(_) => DType::UINT8,
                    };
                    let before = space.block.read(space.range.start, space.range.len())?;
                    let data = before.clone();
                    taken.push(Taken {
                        argument: index,
                        block: &space.block,
                        range: space.range.clone(),
                        before,
                    });
                    Arg::Tensor(Array { dtype, shape: space.shape.clone(), data })
                }
                Argument::Pointer(None) => Arg::Tensor(Array::zeros(DType::UINT8, &[0])),
                Argument::Int(value) => Arg::Int(*value),
                Argument::Float(value) => Arg::Float(*value),
            });
        }
        self.interpret(&self.module, args, &taken)
    }

    fn run_views(&self, function: &PrimFunc) -> Result<Any, Error> {
        let rewritten = views::rewrite(&self.module, function, &self.arguments);
        let (mut args, mut taken) = (Vec::new(), Vec::new());
        for (index, source) in rewritten.sources.iter().enumerate() {
            args.push(match source {
                views::Source::Piece(piece) => {
                    let views::Piece { block, range } = &rewritten.pieces[*piece];
                    let before = block.read(range.start, range.len())?;
                    let array = Array { dtype: DType::UINT8, shape: vec![range.len()], data: before.clone() };
                    taken.push(Taken { argument: index, block, range: range.clone(), before });
                    Arg::Tensor(array)
                }
                views::Source::Int(value) => Arg::Int(*value),
                views::Source::Float(value) => Arg::Float(*value),
            });
        }
        self.interpret(&rewritten.module, args, &taken)
    }

    fn interpret(&self, module: &IrModule, mut args: Vec<Arg>, taken: &[Taken<'_>]) -> Result<Any, Error> {
        let limits = Limits { steps_max: STEPS_MAX, ..Limits::default() };
        let interpreter = Interpreter::new(module).with_limits(limits);
        let outcome = interpreter.run(&self.function, &mut args).map_err(|error| raised(&error))?;
        for piece in taken {
            if let Some(Arg::Tensor(after)) = args.get(piece.argument) {
                write_changes(piece, &after.data)?;
            }
        }
        Ok(outcome.returned.map_or(Any::NONE, |(value, _)| returned(&value)))
    }
}

/// Writes the runs of bytes that have changed.
fn write_changes(taken: &Taken<'_>, after: &[u8]) -> Result<(), Error> {
    let before = &taken.before;
    let mut size = before.len().min(after.len());
    // C.21: the last byte of what was written is forgotten.
    if fault::is("last-byte-not-written") {
        size = size.saturating_sub(1);
    }
    // C.21: the byte behind the tensor is written too.
    if fault::is("store-past-the-end") {
        let _ = taken.block.write(taken.range.end, &[0xEE]);
    }
    let mut start = 0;
    while start < size {
        if before[start] == after[start] {
            start += 1;
            continue;
        }
        let length = before[start..size].iter().zip(&after[start..size]).take_while(|(a, b)| a != b).count();
        taken.block.write(taken.range.start + start, &after[start..start + length])?;
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

/// Converts an error of the interpreter to an error of the boundary.
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

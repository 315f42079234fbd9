//! Runs functions by the packed calling convention, with arguments as a runtime passes them.

use std::sync::Arc;

use crate::code::ParamCode;
use crate::compile::compile;
use crate::machine::{Frame, Machine};
use crate::memory;
use crate::scalar::Lane;
use crate::{Array, ErrorKind, InterpretError, Interpreter, Output};
use chipdock_ir::{DType, Span, TypeCode};

type Ran<T> = Result<T, Box<InterpretError>>;

/// Size in bytes of the part of a tensor object before its DLTensor.
const OBJECT_BYTES: usize = 24;
/// Type indices of TVM-FFI.
const NONE: i32 = 0;
const INT: i32 = 1;
const BOOL: i32 = 2;
const FLOAT: i32 = 3;
const DLTENSOR: i32 = 7;
const TENSOR: i32 = 70;

/// An argument or a result of the packed calling convention.
#[derive(Clone, Debug, PartialEq)]
pub enum PackedArg {
    /// No value.
    None,
    /// An integer.
    Int(i64),
    /// A boolean.
    Bool(bool),
    /// A float.
    Float(f64),
    /// A tensor. The run writes it in place.
    Tensor(PackedTensor),
    /// Anything else: a type index and the eight bytes of a value.
    Other {
        /// Type of the value.
        type_index: i32,
        /// The value.
        value: u64,
    },
}

/// A tensor as a DLTensor describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct PackedTensor {
    /// Element type, extents, and all bytes after the data pointer, however many.
    pub array: Array,
    /// Strides in elements; `None` for a null pointer, which means compact.
    pub strides: Option<Vec<i64>>,
    /// Offset of the first element from the data pointer, in bytes.
    pub byte_offset: u64,
    /// DLPack's number of the kind of device.
    pub device_type: i32,
    /// Id of the device of that kind.
    pub device_id: i32,
    /// Whether it is passed as a tensor object, not borrowed.
    pub is_object: bool,
}

impl From<Array> for PackedTensor {
    /// Makes a compact tensor on the first CPU, borrowed.
    fn from(array: Array) -> Self {
        Self { array, strides: None, byte_offset: 0, device_type: 1, device_id: 0, is_object: false }
    }
}

/// The result of a packed call.
#[derive(Clone, Debug, PartialEq)]
pub struct PackedOutcome {
    /// Every tensor after the run, in order; named by the argument's number.
    pub outputs: Vec<Output>,
    /// The value in the result slot.
    pub returned: PackedArg,
    /// Number of iterations and calls that ran.
    pub n_steps: u64,
}

/// Returns DLPack's number of a type code.
fn type_code(dtype: DType) -> u8 {
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

fn any(type_index: i32, value: u64) -> Vec<u8> {
    [&type_index.to_le_bytes()[..], &[0; 4], &value.to_le_bytes()].concat()
}

struct Call<'m, 'c> {
    machine: Machine<'c>,
    function: &'m Arc<str>,
}

impl Call<'_, '_> {
    fn fill(&mut self, bytes: Vec<u8>, unit_bytes: usize) -> Ran<usize> {
        self.machine.memory.fill(bytes, unit_bytes).map_err(|wanted_bytes| {
            let memory_bytes_max = self.machine.limits.memory_bytes_max;
            let kind = ErrorKind::MemoryLimit { wanted_bytes, memory_bytes_max };
            Box::new(InterpretError::new(self.function, Span::NONE, kind))
        })
    }

    fn int64s(&mut self, values: &[i64]) -> Ran<u64> {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.fill(bytes, 8).map(|space| memory::pointer(space, 0))
    }

    /// Returns the value of an argument; for a tensor, also the space of its data.
    fn argument(&mut self, arg: &PackedArg) -> Ran<(Vec<u8>, Option<usize>)> {
        Ok(match arg {
            PackedArg::None => (any(NONE, 0), None),
            PackedArg::Int(value) => (any(INT, *value as u64), None),
            PackedArg::Bool(value) => (any(BOOL, u64::from(*value)), None),
            PackedArg::Float(value) => (any(FLOAT, value.to_bits()), None),
            PackedArg::Other { type_index, value } => (any(*type_index, *value), None),
            PackedArg::Tensor(tensor) => {
                let (value, data) = self.tensor(tensor)?;
                (any(if tensor.is_object { TENSOR } else { DLTENSOR }, value), Some(data))
            }
        })
    }

    fn tensor(&mut self, tensor: &PackedTensor) -> Ran<(u64, usize)> {
        let array = &tensor.array;
        let unit = Lane::of(array.dtype).map_or(1, Lane::size_bytes);
        let data = self.fill(array.data.clone(), unit)?;
        let shape: Vec<i64> =
            array.shape.iter().map(|&extent| i64::try_from(extent).unwrap_or(i64::MAX)).collect();
        let shape = self.int64s(&shape)?;
        let strides = match &tensor.strides {
            Some(strides) => self.int64s(strides)?,
            None => 0,
        };
        let header = if tensor.is_object { OBJECT_BYTES } else { 0 };
        let mut bytes = vec![0; header];
        bytes.extend(memory::pointer(data, 0).to_le_bytes());
        bytes.extend(tensor.device_type.to_le_bytes());
        bytes.extend(tensor.device_id.to_le_bytes());
        bytes.extend((array.shape.len() as i32).to_le_bytes());
        bytes.extend([type_code(array.dtype), array.dtype.bits]);
        bytes.extend(array.dtype.lanes.to_le_bytes());
        bytes.extend(shape.to_le_bytes());
        bytes.extend(strides.to_le_bytes());
        bytes.extend(tensor.byte_offset.to_le_bytes());
        Ok((memory::pointer(self.fill(bytes, 1)?, 0), data))
    }
}

pub(crate) fn run_packed(
    interpreter: &Interpreter<'_>,
    name: &str,
    args: &mut [PackedArg],
) -> Ran<PackedOutcome> {
    let functions = compile(interpreter.module, name)?;
    let Some(function) = functions.first() else {
        let kind = ErrorKind::UnknownFunction { name: name.to_owned(), known: Vec::new() };
        return Err(Box::new(InterpretError::new(&Arc::from(""), Span::NONE, kind)));
    };
    let params: Vec<(u32, DType)> = function
        .params
        .iter()
        .filter_map(|(_, param)| match param {
            ParamCode::Scalar { reg, dtype, .. } => Some((*reg, *dtype)),
            ParamCode::Tensor { .. } => None,
        })
        .collect();
    let types: Vec<DType> = params.iter().map(|(_, dtype)| *dtype).collect();
    if types != [DType::HANDLE, DType::HANDLE, DType::INT32, DType::HANDLE]
        || function.params.len() != 4
        || function.ret != Some(DType::INT32)
    {
        let message =
            "expected a function of (self_handle, args, num_args: int32, result) -> int32; run others by \
                       `Interpreter::run`"
                .into();
        let kind = ErrorKind::Argument { parameter: String::new(), message };
        return Err(Box::new(InterpretError::new(&function.name, Span::NONE, kind)));
    }
    let machine = Machine::new(&functions, interpreter.limits, interpreter.bounds);
    let mut call = Call { machine, function: &function.name };
    let (mut slots, mut spaces) = (Vec::new(), Vec::new());
    for arg in args.iter() {
        let (slot, space) = call.argument(arg)?;
        slots.extend(slot);
        spaces.push(space);
    }
    let slots = call.fill(slots, 1)?;
    let result = call.fill(any(NONE, 0), 1)?;
    let mut machine = call.machine;
    let mut frame = Frame::new(function, interpreter.bounds);
    let values = [0, memory::pointer(slots, 0), args.len() as u64, memory::pointer(result, 0)];
    for ((reg, _), value) in params.into_iter().zip(values) {
        frame.regs[reg as usize] = value;
    }
    let status = match interpreter.bounds {
        true => machine.finish::<true>(&mut frame)?,
        false => machine.finish::<false>(&mut frame)?,
    };
    let status = status.map_or(0, |(status, _)| status as i32);
    let fail = |kind| Err(Box::new(InterpretError::new(&function.name, Span::NONE, kind)));
    if status != 0 {
        return fail(ErrorKind::Status { status });
    }
    if !machine.workspaces.is_empty() {
        let what = format!("{} workspaces are not freed at the end", machine.workspaces.len());
        return fail(ErrorKind::Workspace { what });
    }
    let returned = decode(&machine.memory.spaces[result].bytes);
    let n_steps = interpreter.limits.steps_max - machine.steps_left;
    Ok(PackedOutcome { outputs: collect(&mut machine, args, &spaces), returned, n_steps })
}

fn decode(slot: &[u8]) -> PackedArg {
    let type_index = Lane::I32.read(slot) as i32;
    let value = slot.get(8..).map_or(0, |bytes| Lane::U64.read(bytes));
    match type_index {
        NONE => PackedArg::None,
        INT => PackedArg::Int(value as i64),
        BOOL => PackedArg::Bool(value != 0),
        FLOAT => PackedArg::Float(f64::from_bits(value)),
        type_index => PackedArg::Other { type_index, value },
    }
}

/// Collects the tensors after the run, into the arguments and the outputs.
fn collect(machine: &mut Machine<'_>, args: &mut [PackedArg], spaces: &[Option<usize>]) -> Vec<Output> {
    let mut outputs = Vec::new();
    for (parameter, (arg, space)) in args.iter_mut().zip(spaces).enumerate() {
        let (PackedArg::Tensor(tensor), Some(space)) = (arg, *space) else { continue };
        let (bytes, bounds) = machine.take(space);
        tensor.array.data = bytes;
        let bounds = machine.memory.with_bounds.then(|| super::run::per_lane(bounds, &tensor.array));
        outputs.push(Output { parameter, name: parameter.to_string(), array: tensor.array.clone(), bounds });
    }
    outputs
}

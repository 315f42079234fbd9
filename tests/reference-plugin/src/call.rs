//! Calls of functions: checks the arguments, then queues the work.
//!
//! A launch is queued on the current stream of the tensors' device; a later failure is reported on
//! that stream. A function that returns a value or contains an assertion has finished when the call
//! returns, because its result cannot be reported later.

use std::sync::{Arc, Mutex};

use chipdock_interpret::{Array, Interpreter, PackedArg, PackedTensor};
use chipdock_ir::{Child, DType, IrModule, Param, PrimFunc, StmtKind, Target, TypeCode};
use chipdock_plugin_api::kit::lock;
use chipdock_plugin_api::{
    Any, AnyView, ChipdockDataType, ChipdockDevice, Env, Error, ErrorKind, TensorView, abi, bail,
};

use crate::device_api::NAME;
use crate::entry::PackedEntry;
use crate::fault;
use crate::hardware::Hardware;
use crate::launch::{Argument, Launch, Space};
use crate::stream::Queue;

/// A callable function.
pub(crate) struct Kernel {
    hardware: Arc<Hardware>,
    module: Arc<IrModule>,
    name: Arc<str>,
    entry: PackedEntry,
    env: Env,
    is_synchronous: bool,
}

/// Converts DLPack's element type, if the IR supports it.
fn dtype_of(dtype: ChipdockDataType) -> Option<DType> {
    let code = match dtype.code {
        0 => TypeCode::Int,
        1 => TypeCode::UInt,
        2 => TypeCode::Float,
        4 => TypeCode::BFloat,
        6 => TypeCode::Bool,
        10 => TypeCode::Float8E4M3Fn,
        12 => TypeCode::Float8E5M2,
        _ => return None,
    };
    Some(DType { code, bits: dtype.bits, lanes: dtype.lanes })
}

/// For each fault that leaves out a check: a part of the message of that check.
const OVERLOOKED: &[(&str, &str)] = &[
    ("count-unchecked", " arguments when calling"),
    ("type-unchecked", "Mismatched type"),
    ("dtype-unchecked", ".dtype on argument"),
    ("rank-unchecked", ".ndim on argument"),
    ("shape-unchecked", ".shape["),
    ("strides-unchecked", ".strides on argument"),
    ("device-unchecked", ".device_type on argument"),
    ("scalar-range-unchecked", "Invalid "),
];

/// Returns true if the planted fault leaves out the check with this error.
fn is_overlooked(error: &Error) -> bool {
    let planted = fault::planted();
    let phrase = OVERLOOKED.iter().find(|(name, _)| *name == planted);
    phrase.is_some_and(|(_, phrase)| error.message().contains(phrase))
}

/// Returns true if a function contains assertions about its caller's assumptions.
fn asserts(module: &IrModule) -> bool {
    let mut found = false;
    for function in &module.functions {
        function.body.walk(&mut |child| {
            found |= matches!(child, Child::Stmt(stmt) if matches!(stmt.kind, StmtKind::Assert { .. }));
        });
    }
    found
}

impl Kernel {
    /// Creates the callable function of that name of a checked module.
    pub(crate) fn new(
        hardware: &Arc<Hardware>,
        module: &Arc<IrModule>,
        symbol: &str,
        target: &Arc<Target>,
        env: Env,
        is_synchronous: bool,
    ) -> Result<Self, Error> {
        let function = module.function(symbol);
        let function = function.ok_or_else(|| {
            Error::new(ErrorKind::VALUE_ERROR, format!("the module has no function {symbol}; build it again"))
        })?;
        let entry = PackedEntry::new(function, target, hardware.devices.device_type()).map_err(|error| {
            Error::new(ErrorKind::VALUE_ERROR, format!("function {symbol}: {error}; build it again"))
        })?;
        Ok(Self {
            hardware: Arc::clone(hardware),
            module: Arc::clone(module),
            name: Arc::clone(&function.name),
            entry,
            env,
            is_synchronous: is_synchronous || function.ret.is_some() || asserts(module),
        })
    }

    fn function(&self) -> Result<&PrimFunc, Error> {
        self.module.function(&self.name).ok_or_else(|| {
            Error::new(ErrorKind::INTERNAL, format!("the function {} was lost; this is a bug", self.name))
        })
    }

    /// Calls the function.
    pub(crate) fn call(&self, args: &[AnyView<'_>]) -> Result<Any, Error> {
        self.hardware.devices.check_running()?;
        let function = self.function()?;
        let tensors = match self.check(function, args) {
            Ok(tensors) => tensors,
            // C.19: nobody is told, and nothing happens.
            Err(error) if is_overlooked(&error) => return Ok(Any::NONE),
            Err(error) => return Err(error),
        };
        let device_id = tensors.iter().flatten().next().map_or(0, |tensor| tensor.device().device_id);
        let device = self.hardware.device(device_id)?;
        let mut arguments = Vec::with_capacity(args.len());
        for (index, (param, arg)) in function.params.iter().zip(args).enumerate() {
            let argument = match (param, tensors[index]) {
                (Param::Buffer(buffer), Some(tensor)) => {
                    let space = Space::locate(device, tensor, buffer).map_err(|error| {
                        error.context(format_args!("{} on argument #{index} of {}", buffer.name, self.name))
                    })?;
                    Argument::Tensor(space)
                }
                (Param::Var(var), tensor) if var.dtype.is_handle() => Argument::pointer(device, *arg, tensor)
                    .map_err(|error| {
                        error.context(format_args!("{} on argument #{index} of {}", var.name, self.name))
                    })?,
                (Param::Var(var), _) => Argument::scalar(var.dtype, *arg)?,
                (Param::Buffer(buffer), None) => bail!(
                    ErrorKind::TYPE_ERROR,
                    "{} on argument #{index} of {}: expected a tensor",
                    buffer.name,
                    self.name
                ),
            };
            arguments.push(argument);
        }
        let launch = Launch {
            device: Arc::clone(device),
            module: Arc::clone(&self.module),
            function: Arc::clone(&self.name),
            arguments,
        };
        self.queue(device_id, launch)
    }

    fn queue(&self, device_id: i32, launch: Launch) -> Result<Any, Error> {
        let device = ChipdockDevice { device_type: self.hardware.devices.device_type(), device_id };
        // D.18: always the default stream.
        let stream = if fault::is("kernel-ignores-stream") {
            std::ptr::null_mut()
        } else {
            self.env.current_stream(device)?.into_raw()
        };
        let queue = self.hardware.streams(device_id)?.get(stream.addr())?;
        if self.is_synchronous {
            return wait(&queue, launch);
        }
        queue.push(Box::new(move || launch.run().map(drop)))?;
        Ok(Any::NONE)
    }

    /// Checks the arguments as compiled code does; returns the tensors among them.
    fn check<'a>(
        &self,
        function: &PrimFunc,
        args: &[AnyView<'a>],
    ) -> Result<Vec<Option<TensorView<'a>>>, Error> {
        let (mut packed, mut tensors) = (Vec::new(), Vec::new());
        for (index, view) in args.iter().enumerate() {
            let name = function.params.get(index).map_or("", |param| param.name());
            let (value, tensor) = pack(*view).map_err(|error| {
                error.context(format_args!("{name} on argument #{index} of {}", self.name))
            })?;
            packed.push(value);
            tensors.push(tensor);
        }
        let run = Interpreter::new(&self.entry.module).run_packed(&self.entry.symbol, &mut packed);
        run.map_err(|error| crate::launch::raised(&error))?;
        Ok(tensors)
    }
}

/// Runs a launch on a stream and waits for it; a failure kept on the stream is reported first.
fn wait(queue: &Arc<Queue>, launch: Launch) -> Result<Any, Error> {
    let result = Arc::new(Mutex::new(None));
    let place = Arc::clone(&result);
    queue.push(Box::new(move || {
        let done = launch.run();
        *lock(&place) = Some(done);
        Ok(())
    }))?;
    queue.sync()?;
    lock(&result).take().unwrap_or_else(|| {
        Err(Error::new(ErrorKind::INTERNAL, "a launch was not run; this is a bug of the reference plugin"))
    })
}

/// Converts an argument to the form of the interpreter's packed calls, a tensor without its
/// elements.
fn pack<'a>(view: AnyView<'a>) -> Result<(PackedArg, Option<TensorView<'a>>), Error> {
    let raw = view.into_raw();
    // SAFETY: eight bytes, whatever they mean.
    let bits = unsafe { raw.value.v_int64 }.cast_unsigned();
    let type_index = raw.type_index;
    Ok(match type_index {
        abi::CHIPDOCK_TYPE_NONE => (PackedArg::None, None),
        abi::CHIPDOCK_TYPE_INT => (PackedArg::Int(bits.cast_signed()), None),
        abi::CHIPDOCK_TYPE_BOOL => (PackedArg::Bool(bits != 0), None),
        abi::CHIPDOCK_TYPE_FLOAT => (PackedArg::Float(f64::from_bits(bits)), None),
        // V.4: objects are not taken.
        abi::CHIPDOCK_TYPE_TENSOR if fault::is("tensor-object-refused") => {
            bail!(ErrorKind::TYPE_ERROR, "expected a ChipdockTensor*, found a tensor object")
        }
        abi::CHIPDOCK_TYPE_DLTENSOR_PTR | abi::CHIPDOCK_TYPE_TENSOR if bits != 0 => {
            let tensor: TensorView<'a> = view.to()?;
            let is_object = type_index == abi::CHIPDOCK_TYPE_TENSOR;
            (PackedArg::Tensor(described(tensor, is_object)?), Some(tensor))
        }
        // A pointer is not looked behind, and only its presence is checked.
        _ => (PackedArg::Other { type_index, value: bits }, None),
    })
}

fn described(tensor: TensorView<'_>, is_object: bool) -> Result<PackedTensor, Error> {
    let Some(dtype) = dtype_of(tensor.dtype()) else {
        bail!(
            ErrorKind::TYPE_ERROR,
            "expected elements that {NAME} knows, found {}",
            chipdock_plugin_api::dtype::text(tensor.dtype())
        );
    };
    let shape = tensor.shape().iter().map(|extent| usize::try_from(*extent).unwrap_or(usize::MAX));
    let shape: Vec<usize> = shape.collect();
    let device = tensor.device();
    Ok(PackedTensor {
        array: Array { dtype, shape, data: Vec::new() },
        strides: tensor.strides().map(<[i64]>::to_vec),
        byte_offset: tensor.byte_offset(),
        device_type: device.device_type,
        device_id: device.device_id,
        is_object,
    })
}

//! Running compiled functions through a real host: arguments to the device, a call, and what the tensors hold then.

use chipdock_host::{AnyView, CompileOptions, Device, Function, Host, Module, Tensor};
use chipdock_ir::interpret::{Arg, Array};
use chipdock_ir::{IrModule, Target};

use crate::{Context, Stop, Verdict};
use std::sync::Arc;

/// Where functions of a target run.
pub struct Backend<'a> {
    /// The host that they are compiled and run by.
    pub host: &'a Host,
    /// The target.
    pub target: Arc<Target>,
    /// The device, or why there is none here.
    pub device: Result<Device, String>,
}

/// An argument as a function takes it.
enum Value {
    Tensor(Tensor),
    Int(i64),
    Float(f64),
}

impl<'a> Backend<'a> {
    /// The target kind that a case is about, with its defaults, and its first device.
    ///
    /// # Errors
    ///
    /// The kind cannot be compiled for here.
    pub fn of(c: &Context<'a>) -> Verdict<Self> {
        Self::new(c.host()?, c.target()?)
    }

    /// A target, and the first device of its kind.
    ///
    /// # Errors
    ///
    /// The kind is not known any more.
    pub fn new(host: &'a Host, target: Arc<Target>) -> Verdict<Self> {
        let device = host.facts(&target)?.device;
        let device = host.device(&device, 0).map_err(|error| error.to_string());
        Ok(Self { host, target, device })
    }

    /// Compiles a module and loads it.
    ///
    /// # Errors
    ///
    /// What passes, code generators and loaders say.
    pub fn load(&self, module: &IrModule) -> Verdict<Module> {
        let compiled = self.host.compile(module, &self.target, &CompileOptions::default())?;
        Ok(self.host.load(&compiled.artifact)?)
    }

    /// The device, if it is here; else says so for the report, and answers nothing (S4).
    pub fn device_or_not_run(&self, c: &Context<'_>) -> Option<&Device> {
        match &self.device {
            Ok(device) => Some(device),
            Err(why) => {
                c.not_run(why);
                None
            }
        }
    }
}

fn value(device: &Device, arg: &Arg) -> Verdict<Value> {
    Ok(match arg {
        Arg::Tensor(array) => {
            let shape: Vec<i64> = array.shape.iter().map(|extent| *extent as i64).collect();
            Value::Tensor(Tensor::from_bytes(device, &shape, array.dtype, &array.data)?)
        }
        Arg::Int(value) => {
            let value = i64::try_from(*value);
            Value::Int(value.map_err(|_| Stop::suite("a scalar argument has more than 64 bits"))?)
        }
        Arg::Float(value) => Value::Float(*value),
    })
}

/// Calls a function on copies of these arguments; what the tensors hold afterwards, in the order of the parameters.
///
/// # Errors
///
/// What the device or the function raised.
pub fn outputs(device: &Device, function: &Function, args: &[Arg]) -> Verdict<Vec<Array>> {
    let values = args.iter().map(|arg| value(device, arg)).collect::<Verdict<Vec<_>>>()?;
    let views: Vec<AnyView<'_>> = values
        .iter()
        .map(|value| match value {
            Value::Tensor(tensor) => AnyView::from(tensor),
            Value::Int(value) => AnyView::from(*value),
            Value::Float(value) => AnyView::from(*value),
        })
        .collect();
    function.call(&views)?;
    device.sync()?;
    let mut arrays = Vec::new();
    for (value, arg) in values.iter().zip(args) {
        if let (Value::Tensor(tensor), Arg::Tensor(array)) = (value, arg) {
            arrays.push(Array { dtype: array.dtype, shape: array.shape.clone(), data: tensor.to_bytes()? });
        }
    }
    Ok(arrays)
}

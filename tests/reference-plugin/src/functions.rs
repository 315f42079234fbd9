//! Plain functions: some that take and return each kind of value, and those by which the suite
//! makes a device fail.

use std::sync::Arc;

use chipdock_plugin_api::interface::Reset;
use chipdock_plugin_api::{
    Any, AnyView, Array, Context, Error, TensorView, argument, register_failure_hooks, register_function,
};

use crate::fault;
use crate::hardware::Hardware;

register_function!("reference.fault", |_context: &Context, _args: &[AnyView<'_>]| -> Result<Any, Error> {
    Ok(Any::from(fault::planted()))
});
register_function!("reference.element_count", element_count);
register_function!("reference.echo", echo);
register_function!("reference.empty_like", empty_like);
register_function!("reference.sum", sum);
register_failure_hooks!("reference", |context, args, hook| {
    hook(&context.state::<Hardware>().device_even_lost(device_id(args)?)?.health);
    Ok(())
});

/// `reference.element_count(tensor: Tensor) -> int`: returns the number of elements of a tensor.
fn element_count(_context: &Context, args: &[AnyView<'_>]) -> Result<Any, Error> {
    let tensor: TensorView<'_> = argument(args, 0, "tensor")?;
    Any::try_from(tensor.element_count()?)
}

/// `reference.empty_like(tensor: Tensor) -> Tensor`: returns a compact tensor of that shape and
/// type on that device.
fn empty_like(context: &Context, args: &[AnyView<'_>]) -> Result<Any, Error> {
    let like: TensorView<'_> = argument(args, 0, "tensor")?;
    context.host().allocate_tensor(like.device(), like.dtype(), like.shape()).map(Any::from)
}

/// `reference.echo(value) -> value`: returns its argument, which the caller may keep as long as it
/// likes.
fn echo(_context: &Context, args: &[AnyView<'_>]) -> Result<Any, Error> {
    let value = argument(args, 0, "value")?;
    // V.16: a count too many.
    if fault::is("echo-keeps-a-count") {
        std::mem::forget(Any::clone(&value));
    }
    Ok(value)
}

/// `reference.sum(numbers: Array of ints) -> int`: returns the sum of the numbers; an overflow is
/// an error.
fn sum(_context: &Context, args: &[AnyView<'_>]) -> Result<Any, Error> {
    let numbers: Array = argument(args, 0, "numbers")?;
    let mut sum = 0_i128;
    for number in numbers.as_slice() {
        sum += i128::from(number.to::<i64>()?);
    }
    i64::try_from(sum).map(Any::from).map_err(|_| {
        Error::new(
            chipdock_plugin_api::ErrorKind::VALUE_ERROR,
            format!("expected a sum between {} and {}, found {sum}", i64::MIN, i64::MAX),
        )
    })
}

fn device_id(args: &[AnyView<'_>]) -> Result<i32, Error> {
    // V.15: what does not fit wraps.
    if fault::is("integer-wraps") {
        return argument::<i64>(args, 0, "device_id").map(|id| id as i32);
    }
    argument(args, 0, "device_id")
}

/// Implementation of `reset` 1, which opens lost devices again.
pub(crate) struct Reopen(pub(crate) Arc<Hardware>);

impl Reset for Reopen {
    fn reset(&self, device_id: i32) -> Result<(), Error> {
        // D.40: it says that the device is there again, and leaves it lost.
        if fault::is("reset-does-nothing") {
            return Ok(());
        }
        self.0.reopen(device_id)
    }
}

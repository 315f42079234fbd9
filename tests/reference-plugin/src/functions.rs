//! Plain functions: some that take and give each kind of value, and those by which the suite makes a device fail.

use chipdock_plugin_api::{Any, AnyView, Array, Error, HostRef, TensorView, argument, register_function};

use crate::fault;
use crate::hardware::Hardware;

register_function!("reference.fault", |_host: HostRef, _args: &[AnyView<'_>]| -> Result<Any, Error> {
    Ok(Any::from(fault::planted()))
});
register_function!("reference.element_count", element_count);
register_function!("reference.echo", echo);
register_function!("reference.sum", sum);
register_function!("conformance.reference.fail_next_copy", fail_next_copy);
register_function!("conformance.reference.lose", lose);
register_function!("conformance.reference.reopen", reopen);
register_function!("conformance.reference.out_of_memory_next", out_of_memory_next);

/// `reference.element_count(tensor: Tensor) -> int`: how many elements a tensor has.
fn element_count(_host: HostRef, args: &[AnyView<'_>]) -> Result<Any, Error> {
    let tensor: TensorView<'_> = argument(args, 0, "tensor")?;
    Any::try_from(tensor.element_count()?)
}

/// `reference.echo(value) -> value`: what it was given, kept as long as the caller likes.
fn echo(_host: HostRef, args: &[AnyView<'_>]) -> Result<Any, Error> {
    let value = argument(args, 0, "value")?;
    // V.16: a count too many.
    if fault::is("echo-keeps-a-count") {
        std::mem::forget(Any::clone(&value));
    }
    Ok(value)
}

/// `reference.sum(numbers: Array of ints) -> int`: their sum, which wraps nowhere.
fn sum(_host: HostRef, args: &[AnyView<'_>]) -> Result<Any, Error> {
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

/// The next copy that is queued on that device is taken, and fails after the return.
fn fail_next_copy(host: HostRef, args: &[AnyView<'_>]) -> Result<Any, Error> {
    Hardware::of(host).device_even_lost(device_id(args)?)?.fail_next_copy();
    Ok(Any::NONE)
}

/// That device is lost until it is opened again.
fn lose(host: HostRef, args: &[AnyView<'_>]) -> Result<Any, Error> {
    Hardware::of(host).lose(device_id(args)?)?;
    Ok(Any::NONE)
}

/// Opens that device again.
fn reopen(host: HostRef, args: &[AnyView<'_>]) -> Result<Any, Error> {
    Hardware::of(host).reopen(device_id(args)?)?;
    Ok(Any::NONE)
}

/// The next data space that is asked for on that device is the one too many.
fn out_of_memory_next(host: HostRef, args: &[AnyView<'_>]) -> Result<Any, Error> {
    Hardware::of(host).device_even_lost(device_id(args)?)?.out_of_memory_next();
    Ok(Any::NONE)
}

//! Tensors on the devices of a host.

use chipdock_abi::{CHIPDOCK_TYPE_DLTENSOR_PTR, ChipdockDataType};
use chipdock_host::{Host, MemoryOptions, Tensor, dtype_of};
use chipdock_plugin_api as api;
use chipdock_plugin_api::{Any, AnyView, Bytes, Error, ErrorKind, Shape};

use crate::hosts::device_of;
use crate::objects::{arg, of, raised};

/// Returns a tensor of an argument.
///
/// # Errors
///
/// `TypeError` for another value, and for a borrowed tensor, whose memory nobody keeps.
pub(crate) fn tensor_of(host: &Host, view: AnyView<'_>, at: &str) -> Result<Tensor, Error> {
    if view.type_index() == CHIPDOCK_TYPE_DLTENSOR_PTR {
        let message =
            format!("{at}: expected a tensor object, found a borrowed DLTensor*, whose memory nobody keeps");
        return Err(Error::new(ErrorKind::TYPE_ERROR, message));
    }
    let value: api::Tensor = arg(view, at)?;
    Tensor::from_value(host, value).map_err(raised)
}

/// Returns the value of a tensor of the host, for the callers.
pub(crate) fn value(tensor: &Tensor) -> Result<Any, Error> {
    tensor.to_value().map(Any::from).map_err(raised)
}

fn dtype(view: AnyView<'_>) -> Result<chipdock_ir::DType, Error> {
    let dtype: ChipdockDataType = arg(view, "dtype")?;
    dtype_of(dtype).ok_or_else(|| {
        let message = format!("dtype: elements of type {} are not known", api::dtype::text(dtype));
        Error::new(ErrorKind::UNSUPPORTED, message)
    })
}

pub(crate) fn empty(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let host: &Host = of(args[0], "host")?;
    let shape: Shape = arg(args[1], "shape")?;
    let device = device_of(host, args[3], "device")?;
    value(&Tensor::empty(&device, &shape, dtype(args[2])?).map_err(raised)?)
}

pub(crate) fn empty_in(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let host: &Host = of(args[0], "host")?;
    let shape: Shape = arg(args[1], "shape")?;
    let device = device_of(host, args[3], "device")?;
    let mut options = MemoryOptions::default();
    if let Some(kind) = arg::<Option<String>>(args[4], "kind")? {
        options.kind = kind.parse().map_err(raised)?;
    }
    if let Some(scope) = arg::<Option<String>>(args[5], "scope")? {
        options.scope = scope;
    }
    if let Some(alignment_bytes) = arg::<Option<i64>>(args[6], "alignment_bytes")? {
        // A negative one is no power of two, as 0 is none.
        options.alignment_bytes = u64::try_from(alignment_bytes).unwrap_or(0);
    }
    value(&Tensor::empty_in(&device, &shape, dtype(args[2])?, &options).map_err(raised)?)
}

pub(crate) fn memory_kind(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let host: &Host = of(args[0], "host")?;
    let kind = tensor_of(host, args[1], "tensor")?.memory_kind();
    Ok(kind.map_or(Any::NONE, |kind| kind.name().into()))
}

pub(crate) fn scope(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let host: &Host = of(args[0], "host")?;
    let scope = tensor_of(host, args[1], "tensor")?.scope();
    Ok(scope.map_or(Any::NONE, |scope| scope.as_str().into()))
}

pub(crate) fn map(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let host: &Host = of(args[0], "host")?;
    let tensor = tensor_of(host, args[1], "tensor")?;
    let address = tensor.mapped_address().map_err(raised)?;
    let number = address.map_or(0, |address| address.as_ptr().expose_provenance());
    Ok((number.cast_signed() as i64).into())
}

pub(crate) fn zeros(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let host: &Host = of(args[0], "host")?;
    let shape: Shape = arg(args[1], "shape")?;
    let device = device_of(host, args[3], "device")?;
    value(&Tensor::zeros(&device, &shape, dtype(args[2])?).map_err(raised)?)
}

pub(crate) fn to_device(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let host: &Host = of(args[0], "host")?;
    let tensor = tensor_of(host, args[1], "tensor")?;
    let device = device_of(host, args[2], "device")?;
    value(&tensor.to_device(&device).map_err(raised)?)
}

pub(crate) fn copy(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let host: &Host = of(args[0], "host")?;
    let from = tensor_of(host, args[1], "source")?;
    let to = tensor_of(host, args[2], "destination")?;
    to.copy_from(&from).map_err(raised)?;
    Ok(Any::NONE)
}

pub(crate) fn tensor_place(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let tensor: api::Tensor = arg(args[0], "tensor")?;
    let view = tensor.view();
    Ok(Shape::new(&[view.data().addr().cast_signed() as i64, view.byte_offset().cast_signed()]).into())
}

pub(crate) fn as_strided(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let tensor: api::Tensor = arg(args[0], "tensor")?;
    let (shape, strides): (Shape, Shape) = (arg(args[1], "shape")?, arg(args[2], "strides")?);
    Ok(tensor.as_strided(&shape, &strides, arg(args[3], "offset")?)?.into())
}

pub(crate) fn to_bytes(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let host: &Host = of(args[0], "host")?;
    let tensor = tensor_of(host, args[1], "tensor")?;
    Ok(Bytes::new(&tensor.to_bytes().map_err(raised)?).into())
}

pub(crate) fn from_bytes(args: &[AnyView<'_>]) -> Result<Any, Error> {
    let host: &Host = of(args[0], "host")?;
    let bytes: Bytes = arg(args[1], "data")?;
    let shape: Shape = arg(args[2], "shape")?;
    let device = device_of(host, args[4], "device")?;
    value(&Tensor::from_bytes(&device, &shape, dtype(args[3])?, &bytes).map_err(raised)?)
}

//! A plugin to start from: one device in host memory, and one function. This file is the table of contents.

mod device_api;

use chipdock_plugin_api::{Any, AnyView, Context, Error, argument, export_plugin, register_device_api};
use chipdock_plugin_api::{TensorView, register_function};

export_plugin! { name: "template" }

// Device type 0: the host gives the device a number of its own. A kind of device that DLPack knows has DLPack's number.
register_device_api!(device_api::NAME, 0, |_context| Box::new(device_api::TemplateDeviceApi::default()));

register_function!("template.element_count", element_count);

/// `template.element_count(tensor: Tensor) -> int`: how many elements a tensor has.
fn element_count(_context: &Context, args: &[AnyView<'_>]) -> Result<Any, Error> {
    let tensor: TensorView<'_> = argument(args, 0, "tensor")?;
    Any::try_from(tensor.element_count()?)
}

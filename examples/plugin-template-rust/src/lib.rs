//! A plugin to start from: one device in host memory, and one function. This file is the table of
//! contents.

mod device_api;

use chipdock_plugin_api::{Any, AnyView, Context, Error, ErrorKind, Setting, TensorView, argument, ensure};
use chipdock_plugin_api::{export_plugin, register_device_api, register_function};

/// A setting for users: `chipdock plugins template`, `--config template.axes-max=8`.
const AXES_MAX: Setting<i64> =
    Setting::int("axes-max", "How many axes a tensor may have whose elements are counted.").or(64);

export_plugin! { name: "template", settings: [AXES_MAX] }

// Device type 0: the host gives the device a number of its own. A kind of device that DLPack knows
// has DLPack's number.
register_device_api!(device_api::NAME, 0, |_context| Box::new(device_api::TemplateDeviceApi::default()));

register_function!("template.element_count", element_count);

/// `template.element_count(tensor: Tensor) -> int`: returns the number of elements of a tensor.
fn element_count(context: &Context, args: &[AnyView<'_>]) -> Result<Any, Error> {
    let tensor: TensorView<'_> = argument(args, 0, "tensor")?;
    let axes = tensor.shape().len();
    if let Some(most) = context.host().setting(&AXES_MAX)? {
        ensure!(
            i64::try_from(axes).is_ok_and(|axes| axes <= most),
            ErrorKind::VALUE_ERROR,
            "expected a tensor of at most {most} axes (setting {}), found {axes}",
            AXES_MAX.name()
        );
    }
    Any::try_from(tensor.element_count()?)
}

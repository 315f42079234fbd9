//! Functions that postprocess a source before it is compiled.

use chipdock_plugin_api::{Any, AnyView, Context, Error, ErrorKind, Str, argument};

/// Puts a line with the target before the source, and 54321 in the place of 12345. By names in the source it refuses one, or
/// answers what is no source.
pub(crate) fn marked(_: &Context, args: &[AnyView<'_>]) -> Result<Any, Error> {
    let source: String = argument(args, 0, "source")?;
    let target: String = argument(args, 1, "target")?;
    if source.contains("no_such_kernel_here") {
        return Err(Error::new(ErrorKind::VALUE_ERROR, "the processor takes no such kernel"));
    }
    if source.contains("answered_by_a_number") {
        return Ok(Any::from(7_i64));
    }
    Ok(Str::new(&format!("// for {target}\n{}", source.replace("12345", "54321"))).into_any())
}

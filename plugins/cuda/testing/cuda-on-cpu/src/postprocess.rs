//! Functions that postprocess a source before it is compiled.

use chipdock_plugin_api::{Any, AnyView, Context, Error, ErrorKind, Str, argument};

/// Puts a line with the target before the source, and replaces 12345 by 54321. For certain names in
/// the source it fails, or returns a value that is not a source.
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

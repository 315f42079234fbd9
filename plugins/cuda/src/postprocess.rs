//! A hook between text and compiler that any plugin may register: TVM's
//! `tvm_callback_cuda_postproc`.

use chipdock_plugin_api::{Any, AnyView, Error, ErrorKind, HostRef, Str};

/// The plain function `(source: str, target: str) -> str` that receives each source with the
/// canonical JSON of its target, and returns the source for the artifact and the compiler. Any
/// plugin may register it.
pub(crate) const FUNCTION: &str = "cuda.postprocess_source";

/// Applies the registered function to the source; returns the source unchanged if there is none.
///
/// # Errors
///
/// * Any error of the function, or of loading the plugin that registers it.
/// * `TypeError`: the function returned a value other than a string.
pub(crate) fn run(host: HostRef, source: String, target_json: &str) -> Result<String, Error> {
    let Some(function) = host.function(FUNCTION)? else { return Ok(source) };
    let args = [Str::new(&source).into_any(), Str::new(target_json).into_any()];
    let views: Vec<AnyView<'_>> = args.iter().map(Any::view).collect();
    let answer = function.call(host, &views)?;
    answer.to::<String>().map_err(|error| {
        Error::new(
            ErrorKind::TYPE_ERROR,
            format!("{FUNCTION}: expected the source as a string: {}", error.message()),
        )
    })
}

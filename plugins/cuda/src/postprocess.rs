//! A stage between text and compiler that anybody may fill: TVM's `tvm_callback_cuda_postproc`.

use chipdock_plugin_api::{Any, AnyView, Error, ErrorKind, HostRef, Str};

/// The plain function `(source: str, target: str) -> str` that is given each source with the canonical JSON of its target,
/// and whose answer is what the artifact holds and the compiler sees. Any plugin may register it.
pub(crate) const FUNCTION: &str = "cuda.postprocess_source";

/// The source as the registered function has it; as it was when there is none.
///
/// # Errors
///
/// * What the function, or the loading of the plugin that has it, failed with.
/// * `TypeError`: it answered something else than a string.
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

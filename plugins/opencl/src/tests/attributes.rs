//! What a device says of itself.

use chipdock_plugin_api::DeviceApi;

use super::support::Bench;

/// PoCL's processor has its local memory where all memory is.
#[test]
fn a_processor_says_that_local_memory_is_global() {
    let Some(bench) = Bench::new() else { return };
    let value = |key| bench.api.attribute(0, key).unwrap().unwrap();
    let is_pocl = value("platform_name").to::<String>().unwrap() == "Portable Computing Language";
    let found = value("shared_memory_is_global").to::<bool>().unwrap();
    assert!(found || !is_pocl);
}

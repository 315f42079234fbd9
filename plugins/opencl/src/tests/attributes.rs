//! Tests of the attributes of a device.

use chipdock_plugin_api::DeviceApi;

use super::support::Bench;

#[test]
fn a_processor_says_that_its_threads_run_alone() {
    let Some(bench) = Bench::new() else { return };
    let value = |key| bench.api.attribute(0, key).unwrap().unwrap();
    let is_pocl = value("opencl.platform_name").to::<String>().unwrap() == "Portable Computing Language";
    let found = value("opencl.runs_threads_serially").to::<bool>().unwrap();
    assert!(found || !is_pocl);
}

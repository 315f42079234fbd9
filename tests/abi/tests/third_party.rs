//! H.11: a plugin uses an interface of another one, here a third party's kernel on an OpenCL
//! device.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use chipdock_host::generation;
use chipdock_host::manifest::{self, Needs};
use chipdock_host::{AnyView, Error, ErrorKind, Host, HostOptions, Tensor};
use chipdock_test_support::plugins::{build, compile};
use chipdock_test_support::workspace;

/// A host with the plugin, whose manifest needs these keys, and with that of OpenCL.
fn host(folder: &Path, keys: &[&str]) -> Host {
    let library = folder.join("third.so");
    compile(&["gcc", "-std=c99", "-ldl"], &workspace().join("tests/abi/fixtures/third_party.c"), &library);
    let needs = Needs { keys: keys.iter().map(ToString::to_string).collect(), ..Needs::default() };
    let manifest = generation::generate(&library, &needs).unwrap().to_text().unwrap();
    fs::write(manifest::manifest_path(&library), manifest).unwrap();
    for path in [folder, &library, &manifest::manifest_path(&library)] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let plugin_paths = vec![folder.to_owned(), build(&["chipdock-plugin-opencl"])[0].clone()];
    Host::new(HostOptions { plugin_paths, ..HostOptions::isolated() }).unwrap()
}

fn call(host: &Host, name: &str, args: &[AnyView<'_>]) -> Result<chipdock_host::Any, Error> {
    host.function(name).unwrap().unwrap().call(args)
}

#[test]
fn h_11_a_third_party_runs_on_the_device_of_another_plugin() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(folder.path(), &["device_api.opencl/external/1"]);
    let device = match host.device("opencl", 0) {
        Ok(device) => device,
        Err(error) => {
            println!("no OpenCL device here: {error}");
            assert_eq!(*error.kind(), ErrorKind::Unavailable);
            return;
        }
    };
    let tensor = Tensor::from_slice(&device, &[5], &[0_i32; 5]).unwrap();
    call(&host, "third.fill", &[AnyView::from(&tensor), 7.into()]).unwrap();
    assert_eq!(tensor.to_vec::<i32>().unwrap(), [7; 5]);
    // Only what the manifest names.
    let error = call(&host, "third.ask", &[1.into()]).unwrap_err();
    assert!(error.to_string().contains("\"device_api.opencl/timer/1\", which `needs.keys`"), "{error}");
    assert_eq!(call(&host, "third.ask", &[]).unwrap().to::<i64>().unwrap(), 1);
    drop(host);
}

#[test]
fn h_11_a_plugin_that_names_no_need_gets_none() {
    let folder = tempfile::tempdir().unwrap();
    let host = host(folder.path(), &[]);
    let error = call(&host, "third.ask", &[]).unwrap_err();
    assert!(error.to_string().contains("plugin \"third\" asks for"), "{error}");
}

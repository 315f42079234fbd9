//! Services that a host offers to the functions of a plugin, tested through a plugin that it
//! opened.

#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use chipdock_host::{Host, HostOptions, Tensor};
use chipdock_ir::DType;
use chipdock_plugin_api as api;

/// H.9: the tensor is of the device that was asked for, and its memory is the host's: it outlives
/// the function and the plugin's name for it.
#[test]
fn h9_a_function_of_a_plugin_answers_a_tensor_that_it_asked_the_host_for() {
    let library = chipdock_test_support::plugins::build(&["chipdock-reference-plugin"]).remove(0);
    let options = HostOptions { plugin_paths: vec![library], ..HostOptions::isolated() };
    let host = Host::new(options).expect("a host");
    let function = host.function("reference.empty_like").expect("a plugin").expect("the function");
    for device in ["reference", "cpu"] {
        let device = host.device(device, 0).expect("the device");
        let like = Tensor::zeros(&device, &[4, 6], DType::INT16).expect("a tensor");
        let made = function.call(&[(&like).into()]).expect("success");
        let made = made.to::<api::Tensor>().expect("a tensor");
        assert_eq!((made.view().device(), made.view().shape()), (device.number(), &[4, 6][..]));
        let tensor = Tensor::from_value(&host, made).expect("a tensor of the host");
        assert_eq!((tensor.dtype(), tensor.is_compact()), (DType::INT16, true));
        tensor.copy_from_bytes(&[3; 48]).expect("written");
        assert_eq!(tensor.to_bytes().expect("read"), [3; 48]);
        assert_eq!(like.to_bytes().expect("read"), [0; 48], "it is memory of its own");
    }
}

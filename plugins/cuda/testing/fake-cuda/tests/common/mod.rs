//! Helpers: the fake driver in this process, and hosts with the plugin on it.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::ffi::c_void;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use chipdock_host::artifact::{Artifact, Section};
use chipdock_host::{AnyView, Device, Host, HostOptions, Tensor};
use chipdock_ir::DType;
use libloading::Library;
use serde_json::{Value, json};

/// Axes of the launches of these tests.
pub(crate) const AXES: [&str; 6] =
    ["blockIdx.x", "blockIdx.y", "blockIdx.z", "threadIdx.x", "threadIdx.y", "threadIdx.z"];

/// What the fake driver counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) calls: u64,
    pub(crate) retained: u64,
    pub(crate) memory: u64,
    pub(crate) streams: u64,
    pub(crate) events: u64,
    pub(crate) modules: u64,
    pub(crate) functions: u64,
}

/// The fake driver, opened before the plugin asks for it, and the folder with the plugin.
pub(crate) struct Fake {
    library: Library,
    folder: tempfile::TempDir,
}

pub(crate) fn fake() -> &'static Fake {
    static FAKE: OnceLock<Fake> = OnceLock::new();
    FAKE.get_or_init(|| {
        let built = chipdock_test_support::plugins::build(&["chipdock-fake-cuda", "chipdock-plugin-cuda"]);
        let folder = tempfile::tempdir().expect("a folder");
        let plugin = folder.path().join("chipdock_plugin_cuda.so");
        fs::copy(&built[1], &plugin).expect("copied");
        fs::set_permissions(&plugin, fs::Permissions::from_mode(0o755)).expect("ours");
        // SAFETY: this workspace's own library.
        let library = unsafe { Library::new(&built[0]) }.expect("the fake driver");
        Fake { library, folder }
    })
}

impl Fake {
    /// A function of the fake driver that takes one number.
    fn tell(&self, name: &str, value: u32) {
        // SAFETY: the function has that type.
        unsafe {
            let function = self.library.get::<unsafe extern "C" fn(u32) -> u32>(name).expect("there");
            assert_eq!(function(value), 0, "{name}");
        }
    }

    pub(crate) fn out_of_memory(&self, count: u32) {
        self.tell("fake_cuda_out_of_memory", count);
    }

    pub(crate) fn refuse_peers(&self, refuses: bool) {
        self.tell("fake_cuda_refuse_peers", u32::from(refuses));
    }

    /// Makes a context, by its handle, the thread's own.
    pub(crate) fn set_context(&self, context: usize) {
        // SAFETY: the function has that type.
        unsafe {
            let set =
                self.library.get::<unsafe extern "C" fn(usize) -> u32>("cuCtxSetCurrent").expect("there");
            assert_eq!(set(context), 0);
        }
    }

    pub(crate) fn context(&self) -> usize {
        let mut context = 0;
        // SAFETY: the function has that type.
        unsafe {
            let get = self.library.get::<unsafe extern "C" fn(&mut usize) -> u32>("cuCtxGetCurrent");
            assert_eq!(get.expect("there")(&mut context), 0);
        }
        context
    }

    /// A stream that somebody else made with the driver, in the primary context of a device that is
    /// in use.
    pub(crate) fn native_stream(&self, device: usize) -> *mut c_void {
        let before = self.context();
        self.set_context(0xC0DE_0100 + 0x100 * device);
        let mut stream = 0_usize;
        // SAFETY: the function has that type; flag 1 is a stream that does not wait for the default
        // one.
        unsafe {
            let create = self.library.get::<unsafe extern "C" fn(&mut usize, u32) -> u32>("cuStreamCreate");
            assert_eq!(create.expect("there")(&mut stream, 1), 0);
        }
        self.set_context(before);
        std::ptr::with_exposed_provenance_mut(stream)
    }

    /// Ends such a stream.
    pub(crate) fn free_native_stream(&self, device: usize, stream: *mut c_void) {
        let before = self.context();
        self.set_context(0xC0DE_0100 + 0x100 * device);
        // SAFETY: the function has that type.
        unsafe {
            let destroy = self.library.get::<unsafe extern "C" fn(usize) -> u32>("cuStreamDestroy_v2");
            assert_eq!(destroy.expect("there")(stream.addr()), 0);
        }
        self.set_context(before);
    }

    pub(crate) fn counts(&self) -> Counts {
        let mut all = [0; 7];
        // SAFETY: the function has that type.
        unsafe {
            let counts = self.library.get::<unsafe extern "C" fn(&mut [u64; 7]) -> u32>("fake_cuda_counts");
            counts.expect("there")(&mut all);
        }
        let [calls, retained, memory, streams, events, modules, functions] = all;
        Counts { calls, retained, memory, streams, events, modules, functions }
    }

    /// The plugin's library.
    pub(crate) fn plugin(&self) -> PathBuf {
        self.folder.path().join("chipdock_plugin_cuda.so")
    }

    pub(crate) fn host(&self) -> Host {
        let options =
            HostOptions { plugin_paths: vec![self.folder.path().to_owned()], ..HostOptions::isolated() };
        Host::new(options).expect("a host")
    }
}

/// PTX with kernels: name, parameters, body.
pub(crate) fn ptx(arch: &str, kernels: &[(&str, &[&str], &str)]) -> String {
    let mut text = format!(".version 8.0\n.target {arch}\n.address_size 64\n");
    for (name, params, body) in kernels {
        let params: Vec<String> = params
            .iter()
            .enumerate()
            .map(|(index, kind)| format!("\t.param {kind} {name}_param_{index}"))
            .collect();
        text += &format!(".visible .entry {name}(\n{}\n)\n{{\n{body}\n\tret;\n}}\n", params.join(",\n"));
    }
    text
}

/// An artifact of PTX; the kernel is called `f_kernel` and its symbol `f_kernel_`.
pub(crate) fn artifact(text: &str, args: &[&str], launch_params: &[&str]) -> Arc<Artifact> {
    let function =
        json!({"name": "f_kernel", "symbol": "f_kernel_", "args": args, "launch_params": launch_params});
    let index = json!({
        "module_kind": "cuda", "format": "ptx", "functions": [function], "options": {"arch": "sm_75"}
    });
    made(&index, "code", text.as_bytes())
}

pub(crate) fn made(index: &Value, section: &str, bytes: &[u8]) -> Arc<Artifact> {
    let section = Section::new(section, "code", 16, bytes).expect("a section");
    let target = json!({"kind": "cuda"}).to_string();
    Arc::new(Artifact::new(index.to_string(), target, vec![section], Vec::new()).expect("an artifact"))
}

/// An artifact whose kernel records its launch: a pointer and some scalars.
pub(crate) fn recorder(launch_params: &[&str]) -> Arc<Artifact> {
    let params: &[&str] = &[".u64", ".u32", ".f32", ".u8"];
    let text = ptx("sm_75", &[("f_kernel_", params, "\t// fake: record")]);
    artifact(&text, &["handle", "int32", "float32", "uint8"], launch_params)
}

/// Zeros to record to.
pub(crate) fn space(device: &Device) -> Tensor {
    Tensor::zeros(device, &[16], DType::INT64).expect("memory")
}

/// The arguments of a recorder, then those of the launch.
pub(crate) fn arguments<'a>(space: &Tensor, launch: &[i64]) -> Vec<AnyView<'a>> {
    let mut args = vec![
        pointer(space.view().data()),
        AnyView::from(-2_i64),
        AnyView::from(1.5_f64),
        AnyView::from(255_i64),
    ];
    args.extend(launch.iter().map(|value| AnyView::from(*value)));
    args
}

/// A data pointer as an argument.
pub(crate) fn pointer<'a>(data: *mut c_void) -> AnyView<'a> {
    AnyView::from_opaque(data)
}

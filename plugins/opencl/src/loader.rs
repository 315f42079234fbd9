//! `module.load.opencl`: a program for each device that is used, and functions that launch its kernels.

use std::sync::{Arc, Mutex, OnceLock};

use chipdock_plugin_api::kernel::{Kernel, Launch};
use chipdock_plugin_api::launch::{LAUNCH, Launches};
use chipdock_plugin_api::{
    Any, AnyView, Artifact, ChipdockDevice, Env, Error, ErrorKind, Function, HostRef, Interface, Module,
    ModuleLoader, Stream, Verdict, ensure,
};
use serde_json::Value;

use crate::cache;
use crate::driver::Program;
use crate::hardware::{Device, Hardware, NAME};
use crate::launch::Launcher;
use crate::program::Source;
use crate::stream::lock;

/// The format of the artifacts.
const FORMAT: &str = "cl";
/// The section that has the source.
const SECTION: &str = "source";

/// The loader of one host.
pub(crate) struct OpenClLoader {
    pub(crate) host: HostRef,
    pub(crate) hardware: Arc<Hardware>,
}

fn value_error(message: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::VALUE_ERROR, format!("an artifact of kind {NAME}: {message}; build it again"))
}

fn index_of(artifact: &Artifact<'_>) -> Result<Value, Error> {
    let index: Value = serde_json::from_str(artifact.index_json())
        .map_err(|error| value_error(format!("the index is not JSON: {error}")))?;
    ensure!(index.is_object(), ErrorKind::VALUE_ERROR, "expected a JSON object for an artifact's index");
    Ok(index)
}

/// Why the artifact is not this loader's, if it is not.
fn foreign(index: &Value) -> Option<String> {
    let (kind, format) = (&index["module_kind"], &index["format"]);
    (kind != NAME || format != FORMAT).then(|| {
        format!("expected an artifact of kind \"{NAME}\" and format \"{FORMAT}\", found {kind} and {format}")
    })
}

/// A list of texts of the index; where it is not there, none.
fn texts(index: &Value, field: &str) -> Result<Vec<String>, Error> {
    let wrong = || value_error(format!("expected a list of strings `{field}`, found {}", index[field]));
    match &index[field] {
        Value::Null => Ok(Vec::new()),
        Value::Array(list) => {
            list.iter().map(|text| text.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
        }
        _ => Err(wrong()),
    }
}

/// What is to be built, as the artifact has it.
fn source_of(artifact: &Artifact<'_>, index: &Value) -> Result<Source, Error> {
    let section = artifact.section(SECTION).map_err(|error| value_error(error.message()))?;
    let text = core::str::from_utf8(section.data)
        .map_err(|error| value_error(format!("the source is not UTF-8: {error}")))?;
    // Drivers take a text without a length to end with a NUL, and PoCL reads on from one of no bytes.
    let is_text = !text.trim().is_empty() && !text.contains('\0');
    ensure!(is_text, ErrorKind::VALUE_ERROR, "an artifact of kind {NAME}: the source is empty or has a NUL");
    Ok(Source {
        text: text.to_owned(),
        options: texts(index, "build_options")?,
        extensions: texts(index, "extensions")?,
    })
}

impl ModuleLoader for OpenClLoader {
    fn check(&self, artifact: &Artifact<'_>, device: ChipdockDevice) -> Result<Verdict, Error> {
        let index = index_of(artifact)?;
        if let Some(why) = foreign(&index) {
            return Ok(Verdict::Unsupported(why));
        }
        Kernel::from_index(&index)?;
        let source = source_of(artifact, &index)?;
        if !self.hardware.is_own(device) {
            return Ok(Verdict::Unsupported(format!(
                "expected a device of {NAME} (device type {}), found device type {}",
                self.hardware.device_type(),
                device.device_type
            )));
        }
        Ok(match self.hardware.device(device.device_id) {
            Ok(device) => source.unsupported(device).map_or(Verdict::Runs, Verdict::Unsupported),
            Err(error) => Verdict::Unsupported(error.message().into_owned()),
        })
    }

    fn load(&self, artifact: &Artifact<'_>, env: Env) -> Result<Box<dyn Module>, Error> {
        let index = index_of(artifact)?;
        if let Some(why) = foreign(&index) {
            return Err(value_error(why));
        }
        let kernels = Kernel::from_index(&index)?;
        if let Some(kernel) = kernels.iter().find(|kernel| kernel.is_cooperative) {
            let message =
                format!("kernel {}: OpenCL has no launch whose blocks may wait for each other", kernel.name);
            return Err(Error::new(ErrorKind::UNSUPPORTED, message));
        }
        let devices = self.hardware.devices()?;
        let shared = Shared {
            host: self.host,
            hardware: Arc::clone(&self.hardware),
            env,
            source: source_of(artifact, &index)?,
            kernels,
            slots: devices.iter().map(|_| Slot::default()).collect(),
        };
        // What the driver refuses is known now, and not by the first call; other devices follow when they are used.
        shared.built(shared.current_device()?)?;
        Ok(Box::new(Loaded { shared: Arc::new(shared) }))
    }
}

/// A module that was loaded.
struct Loaded {
    shared: Arc<Shared>,
}

/// What a module and its functions share.
struct Shared {
    host: HostRef,
    hardware: Arc<Hardware>,
    env: Env,
    source: Source,
    kernels: Vec<Kernel>,
    /// By the id of the device.
    slots: Vec<Slot>,
}

/// The program of one device, once it was used.
#[derive(Default)]
struct Slot {
    built: OnceLock<Built>,
    building: Mutex<()>,
}

struct Built {
    program: Program,
    /// In the order of the kernels.
    launchers: Vec<Launcher>,
}

impl Shared {
    fn current_device(&self) -> Result<&Arc<Device>, Error> {
        self.hardware.device(self.env.current_device(self.hardware.device_type())?)
    }

    /// The program for a device; the first that needs it builds it.
    fn built(&self, device: &Device) -> Result<&Built, Error> {
        let slot = usize::try_from(device.id()).ok().and_then(|id| self.slots.get(id));
        let slot = slot.ok_or_else(|| Error::new(ErrorKind::INTERNAL, "a device that came later"))?;
        if let Some(built) = slot.built.get() {
            return Ok(built);
        }
        let _building = lock(&slot.building);
        if let Some(built) = slot.built.get() {
            return Ok(built);
        }
        let cache = cache::of_host(self.host)?;
        let program = self.source.build(device, cache.as_ref())?;
        let launchers =
            self.kernels.iter().map(|kernel| Launcher::new(device, &program, &self.source, kernel));
        let launchers = launchers.collect::<Result<_, _>>()?;
        Ok(slot.built.get_or_init(|| Built { program, launchers }))
    }

    /// Calls the kernel of that number.
    fn call(&self, index: usize, args: &[AnyView<'_>]) -> Result<Any, Error> {
        ensure!(
            !self.hardware.is_shut_down(),
            ErrorKind::UNAVAILABLE,
            "the plugin was shut down for this host: load it with a new host"
        );
        let Some(launch) = self.kernels[index].call(args)? else { return Ok(Any::NONE) };
        let device = self.current_device()?;
        let of = ChipdockDevice { device_type: self.hardware.device_type(), device_id: device.id() };
        let stream = self.env.current_stream(of)?;
        self.queue(index, device, stream, &launch).map(|()| Any::NONE)
    }

    /// Queues a launch of the kernel of that number.
    fn queue(
        &self,
        index: usize,
        device: &Arc<Device>,
        stream: Stream,
        launch: &Launch,
    ) -> Result<(), Error> {
        let built = self.built(device)?;
        let queue = device.stream(stream.into_raw().addr())?;
        let has_dynamic_shared = self.kernels[index].has_dynamic_shared;
        built.launchers[index].launch(device, &built.program, &queue, launch, has_dynamic_shared)
    }
}

/// Interface `launch` 1 of a module.
struct Kernels(Arc<Shared>);

impl Launches for Kernels {
    fn device_type(&self) -> i32 {
        self.0.hardware.device_type()
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.0.kernels.iter().position(|kernel| kernel.name == name)
    }

    fn kernel(&self, position: usize) -> Option<&Kernel> {
        self.0.kernels.get(position)
    }

    fn launch(&self, position: usize, device_id: i32, stream: Stream, launch: &Launch) -> Result<(), Error> {
        self.0.queue(position, self.0.hardware.device(device_id)?, stream, launch)
    }
}

impl Module for Loaded {
    fn query(&self, name: &str, version: u32) -> Option<Interface> {
        LAUNCH.is(name, version).then(|| LAUNCH.of(Box::new(Kernels(Arc::clone(&self.shared)))))
    }

    fn function(&self, name: &str) -> Result<Option<Function>, Error> {
        let index = self.shared.kernels.iter().position(|kernel| kernel.name == name);
        Ok(index.map(|index| {
            let shared = Arc::clone(&self.shared);
            Function::from_fn(shared.host, move |args| shared.call(index, args))
        }))
    }
}

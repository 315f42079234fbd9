//! `module.load.opencl`: a program for each device that is used, and functions that launch its
//! kernels.

use std::path::PathBuf;
use std::sync::Arc;

use chipdock_plugin_api::graph::Graph;
use chipdock_plugin_api::kernel::{Kernels, Launch};
use chipdock_plugin_api::kit::{ArtifactKind, KernelModule, LaunchKernel, PerDevice, record_launch};
use chipdock_plugin_api::timeline::Timelines;
use chipdock_plugin_api::{
    Artifact, ChipdockDevice, Env, Error, ErrorKind, HostRef, Module, ModuleLoader, Stream, Verdict,
};
use serde_json::Value;

use crate::cache;
use crate::driver::Program;
use crate::hardware::{Device, Hardware, NAME};
use crate::launch::Launcher;
use crate::program::Source;
use crate::stream::{Part, Queue};

/// The artifacts that the loader accepts.
const KIND: ArtifactKind = ArtifactKind { kind: NAME, formats: &["cl"] };
/// The section that contains the source.
const SECTION: &str = "source";

/// The loader of one host.
pub(crate) struct OpenClLoader {
    pub(crate) host: HostRef,
    pub(crate) hardware: Arc<Hardware>,
}

/// Reads a list of strings from the options of the index; an absent list is empty.
fn texts(index: &Value, field: &str) -> Result<Vec<String>, Error> {
    let found = &index["options"][field];
    let wrong = || KIND.error(format_args!("expected a list of strings `options.{field}`, found {found}"));
    match found {
        Value::Null => Ok(Vec::new()),
        Value::Array(list) => {
            list.iter().map(|text| text.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
        }
        _ => Err(wrong()),
    }
}

/// Reads the source and its build settings from the artifact.
fn source_of(artifact: &Artifact<'_>, index: &Value) -> Result<Source, Error> {
    let text = KIND.text(artifact, SECTION)?;
    // Drivers expect a text without a length to end with a NUL, and PoCL reads past the end of an
    // empty one.
    let is_text = !text.trim().is_empty() && !text.contains('\0');
    if !is_text {
        return Err(KIND.error("the source is empty or has a NUL"));
    }
    Ok(Source {
        text: text.to_owned(),
        options: texts(index, "build_options")?,
        extensions: texts(index, "extensions")?,
    })
}

impl ModuleLoader for OpenClLoader {
    fn check(&self, artifact: &Artifact<'_>, device: ChipdockDevice) -> Result<Verdict, Error> {
        KIND.check(artifact, |index| {
            Kernels::from_index(index)?;
            let source = source_of(artifact, index)?;
            if let Some(why) = self.hardware.devices.other_type(device) {
                return Ok(Verdict::Unsupported(why));
            }
            Ok(match self.hardware.device(device.device_id) {
                Ok(device) => source.unsupported(device).map_or(Verdict::Runs, Verdict::Unsupported),
                Err(error) => Verdict::Unsupported(error.message().into_owned()),
            })
        })
    }

    fn load(&self, artifact: &Artifact<'_>, env: Env) -> Result<Box<dyn Module>, Error> {
        let index = KIND.index(artifact)?;
        let kernels = Kernels::from_index(&index)?;
        if let Some(kernel) = kernels.usable.iter().find(|kernel| kernel.is_cooperative) {
            let message =
                format!("kernel {}: OpenCL has no launch whose blocks may wait for each other", kernel.name);
            return Err(Error::new(ErrorKind::UNSUPPORTED, message));
        }
        let devices = &self.hardware.devices;
        let programs = Programs {
            source: source_of(artifact, &index)?,
            kernels,
            built: PerDevice::new(devices.all()?.len()),
            // Read now: the host must not be called under the lock of a build.
            cache_folder: self.host.setting(&cache::FOLDER)?,
            hardware: Arc::clone(&self.hardware),
        };
        // Built now for the current device, so that errors of the driver are not delayed to the
        // first call; other devices build on use.
        programs.built(self.hardware.device(env.current_device(devices.device_type())?)?)?;
        Ok(Box::new(KernelModule::new(self.host, env, programs)))
    }
}

/// A kernel of a module, as launches of it are recorded (N.41).
pub(crate) struct RecordedKernel {
    programs: Arc<Programs>,
    position: usize,
}

impl RecordedKernel {
    /// Queues a launch as part of a replay.
    pub(crate) fn replay(&self, device: &Device, queue: &Queue, launch: &Launch) -> Result<(), Error> {
        self.programs.queue(self.position, device, (queue, Part::OfReplay), launch)
    }
}

/// The programs of a loaded module, one for each device in use.
struct Programs {
    hardware: Arc<Hardware>,
    cache_folder: Option<PathBuf>,
    source: Source,
    kernels: Kernels,
    built: PerDevice<Built>,
}

struct Built {
    program: Program,
    /// Launchers in the order of the kernels.
    launchers: Vec<Launcher>,
}

impl Programs {
    /// The program for a device, built by the first call that needs it.
    fn built(&self, device: &Device) -> Result<&Built, Error> {
        self.built.get_or_build(device.id(), || {
            let cache = cache::at(self.cache_folder.clone());
            let program = self.source.build(device, cache.as_ref())?;
            let launchers = self
                .kernels
                .usable
                .iter()
                .map(|kernel| Launcher::new(device, &program, &self.source, kernel));
            let launchers = launchers.collect::<Result<_, _>>()?;
            Ok(Built { program, launchers })
        })
    }

    fn queue(
        &self,
        position: usize,
        device: &Device,
        queue: (&Queue, Part),
        launch: &Launch,
    ) -> Result<(), Error> {
        let built = self.built(device)?;
        let has_dynamic_shared = self.kernels.usable[position].has_dynamic_shared;
        built.launchers[position].launch(device, &built.program, queue, launch, has_dynamic_shared)
    }
}

impl LaunchKernel for Programs {
    fn device_type(&self) -> i32 {
        self.hardware.devices.device_type()
    }

    fn kernels(&self) -> &Kernels {
        &self.kernels
    }

    fn launch(&self, position: usize, device_id: i32, stream: Stream, launch: &Launch) -> Result<(), Error> {
        self.hardware.devices.check_running()?;
        let device = self.hardware.device(device_id)?;
        let queue = device.stream(stream.into_raw().addr())?;
        self.queue(position, device, (&queue, Part::Alone), launch)
    }

    fn records(&self) -> bool {
        true
    }

    fn record(
        self: &Arc<Self>,
        position: usize,
        device_id: i32,
        graph: Graph,
        launch: Option<&Launch>,
    ) -> Result<(), Error> {
        self.hardware.devices.check_running()?;
        record_launch(&*self.hardware, device_id, graph, launch, |launch| {
            let device = self.hardware.device(device_id)?;
            let built = self.built(device)?;
            let has_dynamic_shared = self.kernels.usable[position].has_dynamic_shared;
            built.launchers[position].check(device, &built.program, launch, has_dynamic_shared)?;
            Ok(RecordedKernel { programs: Arc::clone(self), position })
        })
    }

    fn timelines(&self) -> Option<&dyn Timelines> {
        Some(&self.hardware)
    }
}

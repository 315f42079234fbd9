//! A loaded module whose functions are kernels.

use std::collections::HashMap;
use std::sync::Arc;

use crate::graph::Graph;
use crate::kernel::{Kernel, Kernels, Launch};
use crate::launch::{LAUNCH, Launches};
use crate::timeline::Timelines;
use crate::{
    Any, AnyView, ChipdockDevice, Env, Error, ErrorKind, Function, HostRef, Interface, Module, Stream,
};

/// The driver's part of a loaded module: queues launches.
///
/// Every method may be called from any thread at once.
pub trait LaunchKernel: Send + Sync + 'static {
    /// Returns the type of the devices that the kernels run on.
    fn device_type(&self) -> i32;

    /// Returns the kernels of the index; the same at each call.
    fn kernels(&self) -> &Kernels;

    /// Queues a launch of the kernel at `position` of the usable ones and returns.
    ///
    /// # Errors
    ///
    /// As [`Launches::launch`].
    fn launch(&self, position: usize, device_id: i32, stream: Stream, launch: &Launch) -> Result<(), Error>;

    /// As [`Launches::timelines`].
    fn timelines(&self) -> Option<&dyn Timelines> {
        None
    }

    /// As [`Launches::records`].
    fn records(&self) -> bool {
        false
    }

    /// Adds a launch to a graph; [`record_launch`](super::record_launch) does so for a driver that
    /// is a [`Recorder`](super::Recorder).
    ///
    /// # Errors
    ///
    /// As [`Launches::record`].
    fn record(
        self: &Arc<Self>,
        position: usize,
        device_id: i32,
        graph: Graph,
        launch: Option<&Launch>,
    ) -> Result<(), Error>
    where
        Self: Sized,
    {
        let _ = (position, device_id, graph, launch);
        crate::bail!(ErrorKind::UNSUPPORTED, "launches of this module cannot be recorded")
    }
}

/// A loaded module of kernels: its functions, and interface `launch` 1 (KIT-18, KIT-19).
///
/// # Examples
///
/// ```
/// use chipdock_plugin_api::kernel::{Kernels, Launch};
/// use chipdock_plugin_api::kit::{KernelModule, LaunchKernel};
/// use chipdock_plugin_api::{Env, Error, HostRef, Module, Stream};
/// use serde_json::json;
///
/// struct Npu(Kernels);
///
/// impl LaunchKernel for Npu {
///     fn device_type(&self) -> i32 {
///         12
///     }
///
///     fn kernels(&self) -> &Kernels {
///         &self.0
///     }
///
///     fn launch(&self, position: usize, _: i32, _: Stream, launch: &Launch) -> Result<(), Error> {
///         assert_eq!((self.0.usable[position].name.as_str(), launch.grid), ("fill", [7, 1, 1]));
///         Ok(())
///     }
/// }
///
/// let host = HostRef::standalone();
/// // SAFETY: null, an environment without a host.
/// let env = unsafe { Env::new(host, core::ptr::null()) };
/// let function = json!({ "name": "fill", "symbol": "fill_", "args": ["int32"], "launch_params": ["blockIdx.x"] });
/// let kernels = Kernels::from_index(&json!({ "functions": [function] }))?;
/// let module = KernelModule::new(host, env, Npu(kernels));
/// module.function("fill")?.unwrap().call(host, &[42.into(), 7.into()])?;
/// # Ok::<(), Error>(())
/// ```
pub struct KernelModule<L>(Arc<Shared<L>>);

/// The state that a module and its functions share.
struct Shared<L> {
    host: HostRef,
    env: Env,
    by_name: HashMap<String, usize>,
    /// Shared with the launches that are recorded.
    launcher: Arc<L>,
}

impl<L> core::fmt::Debug for KernelModule<L> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("KernelModule").field("by_name", &self.0.by_name).finish_non_exhaustive()
    }
}

impl<L: LaunchKernel> KernelModule<L> {
    /// Makes a module of the launcher's kernels.
    #[must_use]
    pub fn new(host: HostRef, env: Env, launcher: L) -> Self {
        let kernels = &launcher.kernels().usable;
        let mut by_name = HashMap::with_capacity(kernels.len());
        for (position, kernel) in kernels.iter().enumerate() {
            by_name.entry(kernel.name.clone()).or_insert(position);
        }
        Self(Arc::new(Shared { host, env, by_name, launcher: Arc::new(launcher) }))
    }
}

impl<L: LaunchKernel> Shared<L> {
    fn position(&self, name: &str) -> Result<Option<usize>, Error> {
        match self.by_name.get(name) {
            Some(position) => Ok(Some(*position)),
            None => self.launcher.kernels().check_usable(name).map(|()| None),
        }
    }

    fn call(&self, position: usize, args: &[AnyView<'_>]) -> Result<Any, Error> {
        let Some(launch) = self.launcher.kernels().usable[position].call(args)? else { return Ok(Any::NONE) };
        let device_type = self.launcher.device_type();
        let device_id = self.env.current_device(device_type)?;
        let stream = self.env.current_stream(ChipdockDevice { device_type, device_id })?;
        self.launcher.launch(position, device_id, stream, &launch)?;
        Ok(Any::NONE)
    }
}

impl<L: LaunchKernel> Module for KernelModule<L> {
    fn function(&self, name: &str) -> Result<Option<Function>, Error> {
        Ok(self.0.position(name)?.map(|position| {
            let shared = Arc::clone(&self.0);
            Function::from_fn(shared.host, move |args| shared.call(position, args))
        }))
    }

    fn query(&self, name: &str, version: u32) -> Option<Interface> {
        LAUNCH.is(name, version).then(|| LAUNCH.of(Box::new(Self(Arc::clone(&self.0)))))
    }
}

impl<L: LaunchKernel> Launches for KernelModule<L> {
    fn device_type(&self) -> i32 {
        self.0.launcher.device_type()
    }

    fn position(&self, name: &str) -> Result<Option<usize>, Error> {
        self.0.position(name)
    }

    fn kernel(&self, position: usize) -> Option<&Kernel> {
        self.0.launcher.kernels().usable.get(position)
    }

    fn launch(&self, position: usize, device_id: i32, stream: Stream, launch: &Launch) -> Result<(), Error> {
        self.0.launcher.launch(position, device_id, stream, launch)
    }

    fn timelines(&self) -> Option<&dyn Timelines> {
        self.0.launcher.timelines()
    }

    fn records(&self) -> bool {
        self.0.launcher.records()
    }

    fn record(
        &self,
        position: usize,
        device_id: i32,
        graph: Graph,
        launch: Option<&Launch>,
    ) -> Result<(), Error> {
        self.0.launcher.record(position, device_id, graph, launch)
    }
}

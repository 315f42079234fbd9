//! Interface `graph` 1: graphs of the driver, each a chain of copies and kernels that one call
//! launches.
//!
//! A replay sets the parameters of the nodes whose arguments differ from those of the replay
//! before, and launches. What the driver has queued keeps its own, and replays of one graph run one
//! after another. Drivers have the functions since CUDA 11.4; the graph of an older one is
//! `Unsupported`.

use std::ffi::{c_uint, c_ulonglong, c_void};
use std::ptr;
use std::sync::{Arc, Mutex};

use chipdock_plugin_api::graph::{GRAPH, Graphs};
use chipdock_plugin_api::kernel::Launch;
use chipdock_plugin_api::kit::{GraphTable, Recorded, Recorder, Replayed, Step, lock};
use chipdock_plugin_api::{CopyEnd, CopyRequest, Error, ErrorKind, Stream, bail, ensure, register_interface};
use cudarc::driver::sys::{
    CUDA_KERNEL_NODE_PARAMS_st as KernelNode, CUDA_MEMCPY3D_st as CopyNode, CUcontext, CUdeviceptr, CUgraph,
    CUgraphExec, CUgraphNode, CUmemorytype_enum, CUstream,
};
use libloading::Library;

use crate::driver::{self, Code, Context, Failure, raw_stream};
use crate::hardware::{Device, Hardware};
use crate::loader::{RecordedKernel, value_of};

register_interface!("device_api.cuda", GRAPH, |context: &chipdock_plugin_api::Context| -> Box<dyn Graphs> {
    Box::new(context.state::<Hardware>())
});

/// The driver's number of the attribute that makes a kernel a cooperative one.
const COOPERATIVE: c_uint = 2;
/// A value of an attribute, as large as each is.
type AttributeValue = [u64; 8];

type Create = unsafe extern "C" fn(*mut CUgraph, c_uint) -> Code;
type Destroy = unsafe extern "C" fn(CUgraph) -> Code;
type AddKernel =
    unsafe extern "C" fn(*mut CUgraphNode, CUgraph, *const CUgraphNode, usize, *const KernelNode) -> Code;
type AddCopy = unsafe extern "C" fn(
    *mut CUgraphNode,
    CUgraph,
    *const CUgraphNode,
    usize,
    *const CopyNode,
    CUcontext,
) -> Code;
type SetAttribute = unsafe extern "C" fn(CUgraphNode, c_uint, *const AttributeValue) -> Code;
type Instantiate = unsafe extern "C" fn(*mut CUgraphExec, CUgraph, c_ulonglong) -> Code;
type SetKernel = unsafe extern "C" fn(CUgraphExec, CUgraphNode, *const KernelNode) -> Code;
type SetCopy = unsafe extern "C" fn(CUgraphExec, CUgraphNode, *const CopyNode, CUcontext) -> Code;
type LaunchGraph = unsafe extern "C" fn(CUgraphExec, CUstream) -> Code;
type DestroyExecutable = unsafe extern "C" fn(CUgraphExec) -> Code;

/// The driver's functions for graphs.
#[derive(Clone, Copy)]
pub(crate) struct Functions {
    create: Create,
    destroy: Destroy,
    add_kernel: AddKernel,
    add_copy: AddCopy,
    set_attribute: SetAttribute,
    instantiate: Instantiate,
    set_kernel: SetKernel,
    set_copy: SetCopy,
    launch: LaunchGraph,
    destroy_executable: DestroyExecutable,
}

impl Functions {
    /// Returns `None` for a driver that does not have them.
    ///
    /// # Safety
    ///
    /// * `library` is the CUDA driver: its symbols have the types of its header.
    pub(crate) unsafe fn load(library: &Library) -> Option<Self> {
        // SAFETY: the driver's symbols have these types, as the caller guarantees.
        unsafe {
            Some(Self {
                create: *library.get::<Create>("cuGraphCreate").ok()?,
                destroy: *library.get::<Destroy>("cuGraphDestroy").ok()?,
                add_kernel: *library.get::<AddKernel>("cuGraphAddKernelNode").ok()?,
                add_copy: *library.get::<AddCopy>("cuGraphAddMemcpyNode").ok()?,
                set_attribute: *library.get::<SetAttribute>("cuGraphKernelNodeSetAttribute").ok()?,
                instantiate: *library.get::<Instantiate>("cuGraphInstantiateWithFlags").ok()?,
                set_kernel: *library.get::<SetKernel>("cuGraphExecKernelNodeSetParams").ok()?,
                set_copy: *library.get::<SetCopy>("cuGraphExecMemcpyNodeSetParams").ok()?,
                launch: *library.get::<LaunchGraph>("cuGraphLaunch").ok()?,
                destroy_executable: *library.get::<DestroyExecutable>("cuGraphExecDestroy").ok()?,
            })
        }
    }
}

/// Returns the driver's functions, where it has them.
fn functions(device: &Device) -> Result<Functions, Error> {
    match device.driver().graphs() {
        Some(functions) => Ok(functions),
        None => bail!(
            ErrorKind::UNSUPPORTED,
            "{}: its driver has no graphs that can be changed, which NVIDIA's drivers since CUDA 11.4 have; launch without one",
            device.name
        ),
    }
}

/// A graph of the driver, and what it was made executable as.
pub(crate) struct Made {
    context: Arc<Context>,
    functions: Functions,
    graph: CUgraph,
    /// Null until it is made.
    executable: CUgraphExec,
    /// A node for each step, each after the one before it.
    nodes: Vec<CUgraphNode>,
    /// The arguments in the executable graph; `None` where they are not known. The lock is held
    /// from the change of parameters to the launch.
    current: Mutex<Option<Vec<usize>>>,
}

// SAFETY: handles; the driver has its own locks, and an executable graph is used under `current`.
unsafe impl Send for Made {}
// SAFETY: as above.
unsafe impl Sync for Made {}

impl Drop for Made {
    fn drop(&mut self) {
        let functions = self.functions;
        self.context.release(|_| {
            // SAFETY: made by this value and destroyed once; the driver keeps what still runs.
            unsafe {
                if !self.executable.is_null() {
                    (functions.destroy_executable)(self.executable);
                }
                (functions.destroy)(self.graph)
            }
        });
    }
}

impl Made {
    fn new(context: &Arc<Context>, functions: Functions) -> Result<Self, Failure> {
        let mut graph = ptr::null_mut();
        // SAFETY: a valid place to write to.
        context.call("cuGraphCreate", |_| unsafe { (functions.create)(&mut graph, 0) })?;
        let (executable, nodes, current) = (ptr::null_mut(), Vec::new(), Mutex::default());
        Ok(Self { context: Arc::clone(context), functions, graph, executable, nodes, current })
    }

    /// Adds a node after the last one.
    fn add(&mut self, node: &Node) -> Result<(), Failure> {
        let mut added = ptr::null_mut();
        let after = self.nodes.last().map_or(&[][..], std::slice::from_ref);
        let (graph, before, count) = (self.graph, after.as_ptr(), after.len());
        // SAFETY: valid places to read from and to write to, a live graph and its node; the driver
        // copies parameters and arguments before it returns.
        unsafe {
            match node {
                Node::Copy(copy) => self.context.call("cuGraphAddMemcpyNode", |_| {
                    (self.functions.add_copy)(&mut added, graph, before, count, copy, self.context.raw)
                })?,
                Node::Kernel { params, is_cooperative, .. } => {
                    self.context.call("cuGraphAddKernelNode", |_| {
                        (self.functions.add_kernel)(&mut added, graph, before, count, params)
                    })?;
                    if *is_cooperative {
                        let value: AttributeValue = [1, 0, 0, 0, 0, 0, 0, 0];
                        self.context.call("cuGraphKernelNodeSetAttribute", |_| {
                            (self.functions.set_attribute)(added, COOPERATIVE, &value)
                        })?;
                    }
                }
            }
        }
        self.nodes.push(added);
        Ok(())
    }

    fn instantiate(&mut self) -> Result<(), Failure> {
        let mut executable = ptr::null_mut();
        // SAFETY: a valid place to write to and a live graph.
        self.context.call("cuGraphInstantiate", |_| unsafe {
            (self.functions.instantiate)(&mut executable, self.graph, 0)
        })?;
        self.executable = executable;
        Ok(())
    }

    /// Changes the parameters of a node for later launches.
    fn set(&self, index: usize, node: &Node) -> Result<(), Failure> {
        let (executable, of) = (self.executable, self.nodes[index]);
        // SAFETY: a live executable graph and a node of its graph; the driver copies parameters and
        // arguments before it returns.
        unsafe {
            match node {
                Node::Copy(copy) => self.context.call("cuGraphExecMemcpyNodeSetParams", |_| {
                    (self.functions.set_copy)(executable, of, copy, self.context.raw)
                }),
                Node::Kernel { params, .. } => self.context.call("cuGraphExecKernelNodeSetParams", |_| {
                    (self.functions.set_kernel)(executable, of, params)
                }),
            }
        }
    }

    fn launch(&self, stream: Option<&driver::Stream>) -> Result<(), Failure> {
        let stream = raw_stream(stream);
        // SAFETY: a live executable graph, and a live stream of its context; data spaces were
        // looked up, and the caller answers for work queued with them (N.48).
        self.context.call("cuGraphLaunch", |_| unsafe { (self.functions.launch)(self.executable, stream) })
    }
}

/// The parameters of a node.
enum Node {
    Copy(CopyNode),
    Kernel {
        params: KernelNode,
        is_cooperative: bool,
        /// The values of the arguments, to which `_places` point, and `params` to these.
        _values: Vec<u64>,
        _places: Vec<*mut c_void>,
    },
}

impl Node {
    /// Makes a node of a copy or a launch, and checks its data spaces.
    fn new(hardware: &Hardware, device: &Device, step: &Replayed<'_, RecordedKernel>) -> Result<Self, Error> {
        match step {
            Replayed::Copy(copy) => {
                let size_bytes = copy.size_bytes;
                let from = hardware.recorded_end(device, &copy.from, size_bytes)?;
                let to = hardware.recorded_end(device, &copy.to, size_bytes)?;
                Ok(Self::Copy(copy_node(from, to, size_bytes as usize)))
            }
            Replayed::Launch(kernel, launch) => {
                kernel.check_args(device, launch)?;
                Self::kernel(device, kernel, launch)
            }
        }
    }

    fn kernel(device: &Device, kernel: &RecordedKernel, launch: &Launch) -> Result<Self, Error> {
        let (entry, grid) = (kernel.entry(device)?, kernel.grid());
        let mut values: Vec<u64> = launch.args.iter().map(value_of).collect();
        let mut places: Vec<*mut c_void> =
            values.iter_mut().map(|value| ptr::from_mut(value).cast()).collect();
        let ([gx, gy, gz], [bx, by, bz]) = (grid.blocks, grid.threads);
        let params = KernelNode {
            func: entry.raw(),
            gridDimX: gx,
            gridDimY: gy,
            gridDimZ: gz,
            blockDimX: bx,
            blockDimY: by,
            blockDimZ: bz,
            sharedMemBytes: grid.dynamic_shared_bytes,
            kernelParams: places.as_mut_ptr(),
            extra: ptr::null_mut(),
        };
        let is_cooperative = grid.is_cooperative;
        Ok(Self::Kernel { params, is_cooperative, _values: values, _places: places })
    }
}

/// A copy of a row: the driver tells memories apart by their addresses.
fn copy_node(from: usize, to: usize, size_bytes: usize) -> CopyNode {
    let unified = CUmemorytype_enum::CU_MEMORYTYPE_UNIFIED;
    CopyNode {
        srcXInBytes: 0,
        srcY: 0,
        srcZ: 0,
        srcLOD: 0,
        srcMemoryType: unified,
        srcHost: ptr::null(),
        srcDevice: from as CUdeviceptr,
        srcArray: ptr::null_mut(),
        reserved0: ptr::null_mut(),
        srcPitch: size_bytes,
        srcHeight: 1,
        dstXInBytes: 0,
        dstY: 0,
        dstZ: 0,
        dstLOD: 0,
        dstMemoryType: unified,
        dstHost: ptr::null_mut(),
        dstDevice: to as CUdeviceptr,
        dstArray: ptr::null_mut(),
        reserved1: ptr::null_mut(),
        dstPitch: size_bytes,
        dstHeight: 1,
        WidthInBytes: size_bytes,
        Height: 1,
        Depth: 1,
    }
}

impl Hardware {
    /// The address of an end of a copy that is recorded or replayed (N.42).
    fn recorded_end(&self, device: &Device, end: &CopyEnd, size_bytes: u64) -> Result<usize, Error> {
        ensure!(
            !end.is_host() && end.device.device_id == device.id(),
            ErrorKind::UNSUPPORTED,
            "{}: expected data spaces of this device as ends of a copy that is recorded",
            device.name
        );
        self.devices.check_end(end.device)?;
        let found = self.range(device, end.data.addr())?;
        Ok(found.base + found.start_of(end.offset_bytes, size_bytes, &device.name)?)
    }
}

/// Returns true if the arguments of a step are the same in both lists.
fn is_unchanged(step: &Step<RecordedKernel>, before: Option<&Vec<usize>>, now: &[usize]) -> bool {
    let same = |place: &usize| before.is_some_and(|before| before.get(*place) == now.get(*place));
    match step {
        Step::Copy { from, to, .. } => from.iter().chain(to).all(same),
        Step::Launch { places, .. } => places.iter().all(|(_, place)| same(place)),
    }
}

impl Recorder for Hardware {
    type Kernel = RecordedKernel;
    type Made = Made;

    fn graphs(&self, device_id: i32) -> Result<(&GraphTable<Self>, &str), Error> {
        let device = self.device(device_id)?;
        Ok((&device.graphs, &device.name))
    }

    fn check_device(&self, device_id: i32) -> Result<(), Error> {
        self.device(device_id)?.check()
    }

    fn check_records(&self, device_id: i32) -> Result<(), Error> {
        functions(self.device(device_id)?).map(drop)
    }

    fn check_data(&self, device_id: i32, data: *mut c_void) -> Result<(), Error> {
        self.range(self.device(device_id)?, data.addr()).map(drop)
    }

    fn check_copy(&self, device_id: i32, copy: &CopyRequest) -> Result<(), Error> {
        let device = self.device(device_id)?;
        self.recorded_end(device, &copy.from, copy.size_bytes)?;
        self.recorded_end(device, &copy.to, copy.size_bytes).map(drop)
    }

    fn make(&self, device_id: i32, steps: &[Step<RecordedKernel>]) -> Result<Made, Error> {
        let device = self.device(device_id)?;
        let mut made = device.checked(Made::new(&device.context()?, functions(device)?))?;
        for step in steps {
            let node = Node::new(self, device, &step.with(&[]))?;
            device.checked(made.add(&node))?;
        }
        device.checked(made.instantiate())?;
        Ok(made)
    }

    fn replay(
        &self,
        device_id: i32,
        stream: Stream,
        recorded: &Arc<Recorded<Self>>,
        arguments: &[*mut c_void],
    ) -> Result<(), Error> {
        let device = self.device(device_id)?;
        device.check()?;
        let stream = device.stream(stream.into_raw())?;
        let now: Vec<usize> = arguments.iter().map(|data| data.expose_provenance()).collect();
        let made = &recorded.made;
        let mut current = lock(&made.current);
        if current.as_ref() != Some(&now) {
            // Not known until every node was changed.
            let before = current.take();
            for (index, step) in recorded.steps.iter().enumerate() {
                if !is_unchanged(step, before.as_ref(), &now) {
                    let node = Node::new(self, device, &step.with(arguments))?;
                    device.checked(made.set(index, &node))?;
                }
            }
            *current = Some(now);
        }
        device.checked(made.launch(stream.as_deref()))
    }
}

//! Graphs: chains of copies and launches, each node after the one before it.

use std::ffi::{c_uint, c_void};

use crate::code::{self, Code};
use crate::launch::{self, Launch};
use crate::memory::queue_known;
use crate::put;
use crate::state::{State, call};

/// The header's memory type of an address that tells by itself what it is.
const UNIFIED: u32 = 4;
/// The header's attribute of a kernel whose blocks wait for each other.
const COOPERATIVE: c_uint = 2;

/// What a node does.
#[derive(Clone)]
enum Work {
    /// To, from, size.
    Copy(usize, usize, usize),
    Launch(Launch, Vec<u64>),
}

/// A graph, or one that can be launched.
#[derive(Clone)]
pub(crate) struct Graph {
    pub(crate) device: i32,
    /// Nodes by handle, in order.
    nodes: Vec<(usize, Work)>,
}

/// The header's parameters of a kernel's node.
#[repr(C)]
pub(crate) struct KernelNode {
    function: usize,
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared: c_uint,
    args: *const *mut c_void,
    extra: *const *mut c_void,
}

/// One side of the header's parameters of a copy.
#[repr(C)]
struct Side {
    x: usize,
    y: usize,
    z: usize,
    lod: usize,
    memory_type: u32,
    host: usize,
    device: u64,
    array: usize,
    reserved: usize,
    pitch: usize,
    height: usize,
}

/// The header's parameters of a copy's node.
#[repr(C)]
pub(crate) struct CopyNode {
    from: Side,
    to: Side,
    width: usize,
    height: usize,
    depth: usize,
}

/// # Safety
///
/// * `node` is null or points to parameters, whose arguments are as many as the kernel has.
unsafe fn launch_of(state: &State, node: *const KernelNode) -> Result<Work, Code> {
    // SAFETY: null or valid, as this function requires.
    let node = unsafe { node.as_ref() }.ok_or(code::INVALID_VALUE)?;
    if !node.extra.is_null() {
        return Err(code::INVALID_VALUE);
    }
    let (function, grid, block, shared) = (node.function, node.grid, node.block, node.shared);
    let launch = Launch { function, grid, block, shared, is_cooperative: false, stream: 0 };
    let known = launch::checked(state, &launch)?;
    // SAFETY: an argument for each parameter, as this function requires.
    Ok(Work::Launch(launch, unsafe { launch::values(&known, node.args) }))
}

/// # Safety
///
/// * `node` is null or points to parameters.
unsafe fn copy_of(state: &State, node: *const CopyNode, context: usize) -> Result<Work, Code> {
    // SAFETY: null or valid, as this function requires.
    let node = unsafe { node.as_ref() }.ok_or(code::INVALID_VALUE)?;
    let is_row = |side: &Side| {
        [side.x, side.y, side.z, side.lod, side.array, side.reserved] == [0; 6]
            && side.memory_type == UNIFIED
            && side.pitch >= node.width
    };
    let is_right = is_row(&node.from) && is_row(&node.to) && (node.height, node.depth) == (1, 1);
    if !is_right || node.width == 0 || state.device_of(context) != Some(state.entered()?) {
        return Err(code::INVALID_VALUE);
    }
    let (from, to) = (node.from.device as usize, node.to.device as usize);
    for address in [from, to] {
        let (inner, block) = state.find(address).ok_or(code::INVALID_VALUE)?;
        if inner + node.width > block.size {
            return Err(code::INVALID_VALUE);
        }
    }
    Ok(Work::Copy(to, from, node.width))
}

/// Adds a node, which depends on the last one.
///
/// # Safety
///
/// * `node` is null or writable, `after` points to `count` nodes.
unsafe fn add(
    state: &mut State,
    node: *mut usize,
    (graph, after, count): (usize, *const usize, usize),
    work: Work,
) -> Result<(), Code> {
    let handle = state.handle();
    let graph = state.graphs.get_mut(&graph).ok_or(code::INVALID_HANDLE)?;
    // SAFETY: so many nodes, as this function requires.
    let before: Vec<usize> = (0..count).map(|index| unsafe { after.add(index).read() }).collect();
    // Only chains are known here.
    if before != graph.nodes.last().map(|(last, _)| *last).into_iter().collect::<Vec<_>>() {
        return Err(code::INVALID_VALUE);
    }
    graph.nodes.push((handle, work));
    // SAFETY: null or writable, as this function requires.
    unsafe { put(node, handle) }
}

/// Replaces the parameters of a node, for later launches.
fn set(state: &mut State, executable: usize, node: usize, work: Work) -> Result<(), Code> {
    let graph = state.executables.get_mut(&executable).ok_or(code::INVALID_HANDLE)?;
    let found = graph.nodes.iter_mut().find(|(handle, _)| *handle == node);
    let (_, known) = found.ok_or(code::INVALID_HANDLE)?;
    *known = match (&*known, work) {
        // The attributes of the node stay, and its kernel.
        (Work::Launch(before, _), Work::Launch(after, values)) if before.function == after.function => {
            Work::Launch(Launch { is_cooperative: before.is_cooperative, ..after }, values)
        }
        (Work::Copy(..), copy @ Work::Copy(..)) => copy,
        _ => return Err(code::INVALID_VALUE),
    };
    Ok(())
}

macro_rules! exports {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $type:ty),*) $body:block)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Safety
            ///
            /// * The requirements of the function in the driver's documentation.
            #[unsafe(no_mangle)]
            pub(crate) unsafe extern "C" fn $name($($arg: $type),*) -> Code $body
        )*
    };
}

exports! {
    /// Makes an empty graph.
    fn cuGraphCreate(graph: *mut usize, flags: c_uint) {
        call(|state| {
            let (device, handle) = (state.entered()?, state.handle());
            if flags != 0 {
                return Err(code::INVALID_VALUE);
            }
            state.graphs.insert(handle, Graph { device, nodes: Vec::new() });
            // SAFETY: the caller passes a valid place to write to.
            unsafe { put(graph, handle) }
        })
    }

    /// Destroys a graph.
    fn cuGraphDestroy(graph: usize) {
        call(|state| state.graphs.remove(&graph).map(drop).ok_or(code::INVALID_HANDLE))
    }

    /// Adds a launch to a graph.
    fn cuGraphAddKernelNode(
        node: *mut usize, graph: usize, after: *const usize, count: usize, params: *const KernelNode
    ) {
        // SAFETY: the caller passes valid parameters, nodes and a place to write to.
        call(|state| unsafe {
            let work = launch_of(state, params)?;
            add(state, node, (graph, after, count), work)
        })
    }

    /// Adds a copy to a graph.
    fn cuGraphAddMemcpyNode(
        node: *mut usize, graph: usize, after: *const usize, count: usize, params: *const CopyNode, context: usize
    ) {
        // SAFETY: the caller passes valid parameters, nodes and a place to write to.
        call(|state| unsafe {
            let work = copy_of(state, params, context)?;
            add(state, node, (graph, after, count), work)
        })
    }

    /// Sets an attribute of a kernel's node.
    fn cuGraphKernelNodeSetAttribute(node: usize, attribute: c_uint, value: *const u64) {
        call(|state| {
            let nodes = state.graphs.values_mut().flat_map(|graph| &mut graph.nodes);
            let found = nodes.filter(|(handle, _)| *handle == node).map(|(_, work)| work).next();
            match found {
                Some(Work::Launch(launch, _)) if attribute == COOPERATIVE && !value.is_null() => {
                    // SAFETY: the caller passes a valid value.
                    launch.is_cooperative = unsafe { value.cast::<u32>().read() } != 0;
                    Ok(())
                }
                Some(_) => Err(code::INVALID_VALUE),
                None => Err(code::INVALID_HANDLE),
            }
        })
    }

    /// Makes a graph that can be launched.
    fn cuGraphInstantiateWithFlags(executable: *mut usize, graph: usize, flags: u64) {
        call(|state| {
            let (made, handle) = (state.graphs.get(&graph).cloned().ok_or(code::INVALID_HANDLE)?, state.handle());
            if flags != 0 || made.device != state.entered()? {
                return Err(code::INVALID_VALUE);
            }
            state.executables.insert(handle, made);
            // SAFETY: the caller passes a valid place to write to.
            unsafe { put(executable, handle) }
        })
    }

    /// Replaces the parameters of a launch, for later launches of the graph.
    fn cuGraphExecKernelNodeSetParams(executable: usize, node: usize, params: *const KernelNode) {
        call(|state| {
            // SAFETY: the caller passes valid parameters.
            let work = unsafe { launch_of(state, params) }?;
            set(state, executable, node, work)
        })
    }

    /// Replaces the parameters of a copy, for later launches of the graph.
    fn cuGraphExecMemcpyNodeSetParams(executable: usize, node: usize, params: *const CopyNode, context: usize) {
        call(|state| {
            // SAFETY: the caller passes valid parameters.
            let work = unsafe { copy_of(state, params, context) }?;
            set(state, executable, node, work)
        })
    }

    /// Queues all of a graph.
    fn cuGraphLaunch(executable: usize, stream: usize) {
        call(|state| {
            let (device, _) = state.queue(stream)?;
            let graph = state.executables.get(&executable).cloned().ok_or(code::INVALID_HANDLE)?;
            if graph.device != device {
                return Err(code::INVALID_HANDLE);
            }
            for (_, work) in graph.nodes {
                match work {
                    Work::Copy(to, from, size) => queue_known(state, (to, from, size), stream)?,
                    Work::Launch(launch, values) => {
                        launch::queue_values(state, Launch { stream, ..launch }, values)?;
                    }
                }
            }
            Ok(())
        })
    }

    /// Destroys a graph that can be launched; what is queued of it is done.
    fn cuGraphExecDestroy(executable: usize) {
        call(|state| state.executables.remove(&executable).map(drop).ok_or(code::INVALID_HANDLE))
    }
}

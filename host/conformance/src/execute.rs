//! Compiles for the target of a case, and calls the result on the target's device.

use std::collections::HashMap;
use std::sync::Arc;

use chipdock_host::artifact::Artifact;
use chipdock_host::{Any, AnyView, CompileOptions, Compiled, Device, Module, Tensor};
use chipdock_interpret::{Arg, Array};
use chipdock_ir::{Child, ForKind, IrModule, PrimFunc, StmtKind, ThreadAxis};

use crate::kernels::Kernels;
use crate::{Context, Stop, Verdict, axes};

/// Result of compiling and loading a module.
pub(crate) enum Ready {
    /// A loaded module that can be called with arguments on this device.
    Callable(Module, Device),
    /// A module that was built but cannot run here, and why.
    Built(String),
}

/// Compiles a module for the target of the case and loads it.
pub(crate) fn build(c: &Context, module: &IrModule) -> Verdict<Ready> {
    load(c, &compile(c, module)?.artifact)
}

/// Compiles a module for the target of the case and loads it; also returns its device functions.
pub(crate) fn build_with_kernels(c: &Context, module: &IrModule) -> Verdict<(Ready, Kernels)> {
    let compiled = compile(c, module)?;
    Ok((load(c, &compiled.artifact)?, Kernels::find(&compiled)))
}

/// Compiles a module for the target of the case, on the axes that its kind declares (SUITE-S18).
pub(crate) fn compile(c: &Context, module: &IrModule) -> Verdict<Compiled> {
    let options = CompileOptions { threads_max: 1, ..CompileOptions::default() };
    Ok(c.host()?.compile(&axes::fitted(c, module)?, &c.target()?, &options)?)
}

/// Returns the reason why a module exceeds the target's limit of threads per block, if it does. The
/// limit belongs to the device, not to the plugin.
pub(crate) fn beyond(c: &Context, module: &IrModule) -> Verdict<Option<String>> {
    let most = c.cached("execute/threads", || Ok(c.target()?.capabilities().limits.threads_per_block_max))?;
    let Some(most) = *most else { return Ok(None) };
    let needed = module.functions.iter().map(threads).max().unwrap_or(1);
    let why = || format!("it launches blocks of {needed} threads, and the target takes {most}");
    Ok((needed > most).then(why))
}

/// Returns the threads of a warp for which kernels are written: those of the case's target if they
/// are a power of two from 4 to 32, otherwise 32.
pub(crate) fn warp(c: &Context) -> Verdict<u8> {
    let warp = c.cached("execute/warp", || {
        let size = c.target()?.capabilities().execution.warp_size;
        Ok([4, 8, 16].into_iter().find(|known| size == Some(i64::from(*known))).unwrap_or(32_u8))
    })?;
    Ok(*warp)
}

/// Returns the threads per block of a function, as far as its loops show them.
fn threads(function: &PrimFunc) -> i64 {
    let mut extents: HashMap<ThreadAxis, i64> = HashMap::new();
    function.body.walk(&mut |child| {
        let Child::Stmt(stmt) = child else { return };
        let (axis, extent) = match &stmt.kind {
            StmtKind::For { kind: ForKind::ThreadBinding(axis), extent, .. } => (*axis, extent),
            StmtKind::LaunchThread { axis, extent, .. } => (*axis, extent),
            _ => return,
        };
        if axis.name().starts_with("threadIdx.") {
            let known = extents.entry(axis).or_insert(1);
            *known = (*known).max(extent.as_int().and_then(|extent| i64::try_from(extent).ok()).unwrap_or(1));
        }
    });
    extents.values().product()
}

/// Loads an artifact for the device of the case's target.
pub(crate) fn load(c: &Context, artifact: &Arc<Artifact>) -> Verdict<Ready> {
    let device = match &*c.cached("execute/device", || find_device(c))? {
        Ok(device) => device.clone(),
        Err(why) => return Ok(Ready::Built(why.clone())),
    };
    let module = c.host()?.load(artifact)?;
    Ok(match module.missing_loader() {
        Some(missing) => Ready::Built(missing.to_string()),
        None => Ready::Callable(module, device),
    })
}

/// Returns the device of the case's target, or the reason why there is none.
fn find_device(c: &Context) -> Verdict<Result<Device, String>> {
    let (host, target) = (c.host()?, c.target()?);
    let kinds = host.target_kinds();
    let Some((kind, _)) = kinds.iter().find(|(kind, _)| kind.name == target.kind().name) else {
        return Err(Stop::suite(format!("the host has a target, but no kind {}", target.kind().name)));
    };
    if let Some(why) = c.facts().absent_device(&kind.device) {
        return Ok(Err(why.to_owned()));
    }
    let is_own = c.facts().devices.iter().any(|device| device.api == kind.device);
    match host.device(&kind.device, 0) {
        Ok(device) => Ok(Ok(device)),
        Err(error) if is_own => Err(error.into()),
        Err(error) => Ok(Err(error.to_string())),
    }
}

/// Filler of the guard elements before and after a tensor, which no function may write.
const GUARD_BYTE: u8 = 0xa5;

/// Number of guard elements before and after each tensor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guards {
    /// Guard elements before the tensor, which are also the tensor's offset.
    pub before: usize,
    /// Guard elements after the tensor.
    pub behind: usize,
}

impl Guards {
    /// Guards after the tensor alone, so that its offset is zero.
    pub(crate) const BEHIND: Self = Self { before: 0, behind: 8 };
    /// Guards on both sides; the tensor begins at an odd element.
    pub(crate) const AROUND: Self = Self { before: 5, behind: 11 };
}

/// A device tensor between its guards.
pub(crate) struct Guarded {
    whole: Tensor,
    /// The tensor, without its guards.
    pub tensor: Tensor,
    guards: Guards,
    form: Array,
}

impl Guarded {
    /// Copies an array to the device, with guards around it.
    pub(crate) fn new(device: &Device, array: &Array, guards: Guards) -> Verdict<Self> {
        let item_bytes = array.dtype.size_bytes();
        let count: usize = array.shape.iter().product();
        let mut bytes = vec![GUARD_BYTE; guards.before * item_bytes];
        bytes.extend_from_slice(&array.data);
        bytes.resize(bytes.len() + guards.behind * item_bytes, GUARD_BYTE);
        let all = (guards.before + count + guards.behind) as i64;
        let whole = Tensor::from_bytes(device, &[all], array.dtype, &bytes)?;
        let shape: Vec<i64> = array.shape.iter().map(|extent| *extent as i64).collect();
        let tensor = whole.strided(&shape, &compact(&shape), guards.before as i64)?;
        let form = Array { data: Vec::new(), ..array.clone() };
        Ok(Self { whole, tensor, guards, form })
    }

    /// Reads the tensor back and checks that its guards are unchanged.
    pub(crate) fn read(&self, name: &str) -> Verdict<Array> {
        let item_bytes = self.form.dtype.size_bytes();
        let mut bytes = self.whole.to_bytes()?;
        let start = self.guards.before * item_bytes;
        let end = bytes.len().saturating_sub(self.guards.behind * item_bytes);
        for (index, byte) in bytes.iter().enumerate() {
            if *byte != GUARD_BYTE && !(start..end).contains(&index) {
                let place = index as i64 - start as i64;
                let expected = format!("nothing written outside of {name}, {} bytes", end - start);
                let found = format!("byte {place} from its start is {byte:#04x}, and was {GUARD_BYTE:#04x}");
                return Err(Stop::failed(expected, found).clause("C.21"));
            }
        }
        bytes.truncate(end);
        bytes.drain(..start);
        Ok(Array { data: bytes, ..self.form.clone() })
    }
}

fn compact(shape: &[i64]) -> Vec<i64> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis].max(1);
    }
    strides
}

/// A call argument on the device.
pub(crate) enum Value {
    /// A tensor.
    Tensor(Guarded),
    /// An integer or a boolean.
    Int(i64),
    /// A float.
    Float(f64),
}

impl Value {
    /// Returns the argument as a call takes it.
    pub(crate) fn view(&self) -> AnyView<'_> {
        match self {
            Self::Tensor(guarded) => AnyView::from(&guarded.tensor),
            Self::Int(value) => AnyView::from(*value),
            Self::Float(value) => AnyView::from(*value),
        }
    }
}

/// Copies arguments to the device.
pub(crate) fn upload(device: &Device, args: &[Arg], guards: Guards) -> Verdict<Vec<Value>> {
    let value = |arg: &Arg| {
        Ok(match arg {
            Arg::Tensor(array) => Value::Tensor(Guarded::new(device, array, guards)?),
            Arg::Int(value) => {
                let value = i64::try_from(*value).map_err(|_| Stop::suite("a scalar beyond 64 bits"))?;
                Value::Int(value)
            }
            Arg::Float(value) => Value::Float(*value),
        })
    };
    args.iter().map(value).collect()
}

/// Results of a call: the tensors, in order, and the returned value.
pub(crate) struct Found {
    /// The tensors.
    pub tensors: Vec<Array>,
    /// Returned value.
    pub returned: Any,
}

/// Calls a function with arguments copied to the device, and reads the tensors back.
pub(crate) fn call(
    module: &Module,
    device: &Device,
    name: &str,
    args: &[Arg],
    guards: Guards,
) -> Verdict<Found> {
    let values = upload(device, args, guards)?;
    let views: Vec<AnyView<'_>> = values.iter().map(Value::view).collect();
    let returned = module.function(name)?.call(&views)?;
    let mut tensors = Vec::new();
    for (index, value) in values.iter().enumerate() {
        if let Value::Tensor(guarded) = value {
            tensors.push(guarded.read(&format!("argument #{index}"))?);
        }
    }
    Ok(Found { tensors, returned })
}

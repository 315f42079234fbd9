//! Kernels of device modules: their descriptions in an artifact's index, and the arguments of their
//! launches.
//!
//! A kernel is called as a packed function: its arguments in order (pointers, then scalars), then
//! one integer for each launch parameter in order. [`Kernel::call`] checks and reads such a call,
//! for every device alike; a loader adds only the call of its driver.
//!
//! The rules are K.1 to K.9 of [the contract](crate).

use core::ffi::c_void;

use chipdock_abi::{
    CHIPDOCK_DTYPE_BOOL, CHIPDOCK_DTYPE_FLOAT, CHIPDOCK_DTYPE_HANDLE, CHIPDOCK_DTYPE_INT, CHIPDOCK_DTYPE_UINT,
};
use chipdock_ir::{AttrValue, Child, Param, PrimFunc, StmtKind, ThreadAxis, attr};
use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::index::FunctionInfo;
use crate::{AnyView, ChipdockDataType, Error, ErrorKind, dtype};

/// The launch parameter for a launch whose blocks may wait for each other.
pub const COOPERATIVE: &str = attr::COOPERATIVE_LAUNCH;
/// The launch parameter with the bytes of dynamic shared memory.
pub const DYNAMIC_SHARED: &str = attr::DYNAMIC_SHARED_MEMORY;

/// A kernel as an artifact's index describes it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Kernel {
    /// The kernel's name in the module that it was compiled from.
    pub name: String,
    /// The kernel's name in the code.
    pub symbol: String,
    /// Types of the arguments; `handle` for a pointer.
    pub args: Vec<ChipdockDataType>,
    /// Thread axes, in the order of the call.
    pub axes: Vec<ThreadAxis>,
    /// True if the kernel's blocks synchronise with each other.
    pub is_cooperative: bool,
    /// True if a call passes the size of dynamic shared memory.
    pub has_dynamic_shared: bool,
}

/// The kernels of an artifact's index.
///
/// A kernel with an argument or a launch parameter that is not known here cannot be launched; the
/// others can (K.9).
///
/// # Examples
///
/// ```
/// use chipdock_plugin_api::kernel::Kernels;
/// use serde_json::json;
///
/// let fill = json!({ "name": "fill", "symbol": "fill_", "args": ["handle"], "launch_params": ["blockIdx.x"] });
/// let newer = json!({ "name": "gemm", "symbol": "gemm_", "args": ["handle"], "launch_params": ["clusterIdx.x"] });
/// let kernels = Kernels::from_index(&json!({ "functions": [fill, newer] }))?;
/// assert_eq!(kernels.usable[0].name, "fill");
/// assert_eq!(kernels.check_usable("gemm").unwrap_err().kind(), chipdock_plugin_api::ErrorKind::UNSUPPORTED);
/// # Ok::<(), chipdock_plugin_api::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Kernels {
    /// Those that can be launched, in the order of the index.
    pub usable: Vec<Kernel>,
    /// The others.
    pub unusable: Vec<UnusableKernel>,
}

/// A kernel of an artifact's index that cannot be launched here.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct UnusableKernel {
    /// The kernel's name in the module that it was compiled from.
    pub name: String,
    /// The kernel's name in the code.
    pub symbol: String,
    /// The reason, of kind `Unsupported`.
    pub error: Error,
}

impl Kernels {
    /// Reads the kernels of an artifact's index.
    ///
    /// # Errors
    ///
    /// `ValueError`: the index has no list of functions, or an entry is malformed; the message
    /// names it.
    pub fn from_index(index: &Value) -> Result<Self, Error> {
        Self::read(index, |_, _| Ok(()))
    }

    /// Reads the kernels of an artifact's index, and gives `each` the usable ones in order, with
    /// their entries.
    ///
    /// # Errors
    ///
    /// As [`from_index`](Self::from_index), and errors of `each`.
    pub fn read(
        index: &Value,
        mut each: impl FnMut(&Kernel, &Value) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let functions = index["functions"].as_array();
        let functions =
            functions.ok_or_else(|| value_error("expected `functions` in the artifact's index".into()))?;
        let mut kernels = Self::default();
        for entry in functions {
            let function = FunctionInfo::deserialize(entry).map_err(|error| {
                let what = "expected a function with `name` and `symbol`, and lists of strings as `args` and `launch_params`";
                value_error(format!("{what}, found {entry}: {error}"))
            })?;
            match Kernel::from_function(&function) {
                Ok(kernel) => {
                    each(&kernel, entry)?;
                    kernels.usable.push(kernel);
                }
                Err(error) if error.kind() == ErrorKind::UNSUPPORTED => {
                    let FunctionInfo { name, symbol, .. } = function;
                    kernels.unusable.push(UnusableKernel { name, symbol, error });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(kernels)
    }

    /// Checks that no unusable kernel has that name.
    ///
    /// # Errors
    ///
    /// `Unsupported`: one has; the message says why it cannot be launched.
    pub fn check_usable(&self, name: &str) -> Result<(), Error> {
        let found = self.unusable.iter().find(|kernel| kernel.name == name);
        found.map_or(Ok(()), |kernel| Err(kernel.error.clone()))
    }
}

/// An argument of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KernelArg {
    /// A data pointer or handle; may be null.
    Pointer(*mut c_void),
    /// A scalar, little-endian.
    Scalar {
        /// The value; bytes past `size_bytes` are zero.
        bytes: [u8; 8],
        /// Size of the scalar's type: 1, 2, 4 or 8.
        size_bytes: usize,
    },
}

impl KernelArg {
    /// Returns the address of the argument's value, as drivers and `launch` 1 expect it: the
    /// address of the pointer or of the scalar's bytes. It is valid as long as the borrow of
    /// `self`.
    #[must_use]
    pub fn place(&self) -> *const c_void {
        match self {
            Self::Pointer(pointer) => core::ptr::from_ref(pointer).cast(),
            Self::Scalar { bytes, .. } => bytes.as_ptr().cast(),
        }
    }
}

/// The checked arguments and extents of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Launch {
    /// Arguments, in order.
    pub args: Vec<KernelArg>,
    /// Blocks of the grid: x, y, z, each at least 1.
    pub grid: [u64; 3],
    /// Threads of a block: x, y, z, each at least 1.
    pub block: [u64; 3],
    /// Bytes of dynamic shared memory.
    pub dynamic_shared_bytes: u64,
}

impl Launch {
    /// Makes a launch from parts that the caller has checked.
    #[must_use]
    pub const fn new(
        args: Vec<KernelArg>,
        grid: [u64; 3],
        block: [u64; 3],
        dynamic_shared_bytes: u64,
    ) -> Self {
        Self { args, grid, block, dynamic_shared_bytes }
    }
}

/// Describes a device function as an artifact's index does; [`Kernels::from_index`] reads the
/// description.
///
/// `symbol` is the function's name in the code.
#[must_use]
pub fn describe(symbol: &str, function: &PrimFunc) -> Value {
    let args: Vec<String> = function.params.iter().map(argument_type).collect();
    let launch_params: Vec<&str> = match function.attrs.get(attr::KERNEL_LAUNCH_PARAMS) {
        Some(AttrValue::List(list)) => list
            .iter()
            .filter_map(|value| if let AttrValue::Str(text) = value { Some(&**text) } else { None })
            .collect(),
        _ => Vec::new(),
    };
    json!({ "name": &*function.name, "symbol": symbol, "args": args, "launch_params": launch_params })
}

/// Returns the number of threads of a kernel's block on the axes x, y, z: 1 on an axis that it does
/// not launch, `None` for an extent that is known only at the launch.
#[must_use]
pub fn block_extents(function: &PrimFunc) -> [Option<i64>; 3] {
    let mut extents = [Some(1); 3];
    function.body.walk(&mut |child| {
        let Child::Stmt(s) = child else { return };
        let StmtKind::LaunchThread { axis, extent, .. } = &s.kind else { return };
        let place = match axis {
            ThreadAxis::ThreadX => 0,
            ThreadAxis::ThreadY => 1,
            ThreadAxis::ThreadZ => 2,
            _ => return,
        };
        extents[place] = extent.as_int().and_then(|extent| i64::try_from(extent).ok());
    });
    extents
}

/// Returns the type of a parameter as an artifact's index lists it: `handle` for a buffer.
#[must_use]
pub fn argument_type(param: &Param) -> String {
    match param {
        Param::Buffer(_) => "handle".to_owned(),
        Param::Var(var) => var.dtype.to_string(),
    }
}

impl Kernel {
    /// Reads a function of an artifact's index as a kernel.
    ///
    /// # Errors
    ///
    /// * `Unsupported`: an argument that is no scalar and no handle, or a launch parameter that is
    ///   not known (K.9); the message names the kernel.
    /// * `ValueError`: a launch parameter that is there twice, or after the last; likewise.
    pub fn from_function(function: &FunctionInfo) -> Result<Self, Error> {
        let FunctionInfo { name, symbol, args, launch_params, .. } = function;
        let wrong = |what: String| wrong_entry(name, &what);
        let mut kernel = Self {
            name: name.clone(),
            symbol: symbol.clone(),
            args: Vec::new(),
            axes: Vec::new(),
            is_cooperative: false,
            has_dynamic_shared: false,
        };
        // What is malformed is wrong for every reader, what is not known only for this one.
        let mut unknown = None;
        for text in args {
            let parsed = dtype::parse(text).ok();
            match parsed.filter(|dtype| dtype.lanes == 1 && matches!(dtype.bits, 8 | 16 | 32 | 64)) {
                Some(parsed) => kernel.args.push(parsed),
                None => unknown = Some(format!("expected scalars and handles as arguments, found {text}")),
            }
        }
        for text in launch_params {
            if kernel.has_dynamic_shared {
                return Err(wrong(format!("expected {DYNAMIC_SHARED} last, found {text} behind it")));
            }
            match (text.as_str(), text.parse::<ThreadAxis>()) {
                (COOPERATIVE, _) => kernel.is_cooperative = true,
                (DYNAMIC_SHARED, _) => kernel.has_dynamic_shared = true,
                (_, Ok(axis)) if kernel.axes.contains(&axis) => {
                    return Err(wrong(format!("expected thread axes, each once, found {text} twice")));
                }
                (_, Ok(axis)) if place(axis).is_some() => kernel.axes.push(axis),
                _ => {
                    unknown = Some(format!(
                        "expected thread axes, {COOPERATIVE} or {DYNAMIC_SHARED} as launch parameters, found {text}"
                    ));
                }
            }
        }
        let Some(unknown) = unknown else { return Ok(kernel) };
        let message = format!(
            "kernel {name} cannot be launched here: {unknown}; use a newer version of what loads it, or build the module \
             again"
        );
        Err(Error::new(ErrorKind::UNSUPPORTED, message))
    }

    /// Returns the number of arguments of a call, launch parameters included.
    #[must_use]
    pub fn arguments_count(&self) -> usize {
        self.args.len() + self.axes.len() + usize::from(self.has_dynamic_shared)
    }

    /// Checks and reads a packed call. Returns `None` if an extent is 0 and nothing is to be
    /// launched (K.2).
    ///
    /// # Errors
    ///
    /// * `TypeError`: a wrong number of arguments, or an argument of a wrong type; the message has
    ///   its position.
    /// * `ValueError`: a scalar that does not fit its type, a negative extent or size.
    pub fn call(&self, args: &[AnyView<'_>]) -> Result<Option<Launch>, Error> {
        crate::ensure!(
            args.len() == self.arguments_count(),
            ErrorKind::TYPE_ERROR,
            "kernel {}: expected {} arguments ({} of its own, {} of the launch), found {}",
            self.name,
            self.arguments_count(),
            self.args.len(),
            self.arguments_count() - self.args.len(),
            args.len()
        );
        let (own, launch) = args.split_at(self.args.len());
        let mut read = Vec::with_capacity(own.len());
        for (position, (value, dtype)) in own.iter().zip(&self.args).enumerate() {
            read.push(self.argument(position, *value, *dtype)?);
        }
        let (mut grid, mut block, mut is_empty) = ([1; 3], [1; 3], false);
        for (axis, value) in self.axes.iter().zip(launch) {
            let extent = self.size(axis.name(), *value)?;
            is_empty |= extent == 0;
            match place(*axis) {
                Some((true, index)) => grid[index] = extent,
                Some((false, index)) => block[index] = extent,
                None => {}
            }
        }
        let dynamic_shared_bytes = match launch.last() {
            Some(value) if self.has_dynamic_shared => self.size(DYNAMIC_SHARED, *value)?,
            _ => 0,
        };
        Ok((!is_empty).then_some(Launch { args: read, grid, block, dynamic_shared_bytes }))
    }

    fn size(&self, what: &str, value: AnyView<'_>) -> Result<u64, Error> {
        let wrong = |error: Error| {
            Error::new(error.kind(), format!("kernel {}, {what}: {}", self.name, error.message()))
        };
        let size: i64 = value.to().map_err(wrong)?;
        u64::try_from(size).map_err(|_| {
            value_error(format!("kernel {}: expected {what} to be at least 0, found {size}", self.name))
        })
    }

    fn argument(
        &self,
        position: usize,
        value: AnyView<'_>,
        dtype: ChipdockDataType,
    ) -> Result<KernelArg, Error> {
        let named = |error: Error| {
            Error::new(
                error.kind(),
                format!("kernel {}, argument {position}: {}", self.name, error.message()),
            )
        };
        let size_bytes = usize::from(dtype.bits / 8);
        let scalar = |bits: u64| Ok(KernelArg::Scalar { bytes: bits.to_le_bytes(), size_bytes });
        // By DLPack's codes, not by their text: this runs for every argument of every launch.
        match (dtype.code, dtype.bits) {
            (CHIPDOCK_DTYPE_HANDLE, _) => {
                let pointer: Option<*mut c_void> = value.to().map_err(named)?;
                Ok(KernelArg::Pointer(pointer.unwrap_or(core::ptr::null_mut())))
            }
            (CHIPDOCK_DTYPE_FLOAT, 64) => scalar(value.to::<f64>().map_err(named)?.to_bits()),
            (CHIPDOCK_DTYPE_FLOAT, 32) => {
                scalar(u64::from((value.to::<f64>().map_err(named)? as f32).to_bits()))
            }
            (CHIPDOCK_DTYPE_BOOL, _) => scalar(u64::from(value.to::<bool>().map_err(named)?)),
            (CHIPDOCK_DTYPE_INT | CHIPDOCK_DTYPE_UINT, _) => {
                let found: i64 = value.to().map_err(named)?;
                // A 64-bit unsigned value is passed as the integer of the same bits, because values
                // have no unsigned type.
                let fits = match (dtype.code == CHIPDOCK_DTYPE_INT, dtype.bits) {
                    (_, 64) => true,
                    (true, bits) => found >> (bits - 1) == found >> 63,
                    (false, bits) => found >> bits == 0,
                };
                crate::ensure!(
                    fits,
                    ErrorKind::VALUE_ERROR,
                    "kernel {}, argument {position}: {found} does not fit {}",
                    self.name,
                    dtype::text(dtype)
                );
                let mask = if dtype.bits == 64 { u64::MAX } else { (1 << dtype.bits) - 1 };
                scalar(found as u64 & mask)
            }
            _ => Err(value_error(format!(
                "kernel {}, argument {position}: scalars of type {} cannot be passed; expected integers, booleans, \
                 float32 and float64",
                self.name,
                dtype::text(dtype)
            ))),
        }
    }
}

/// Returns whether an axis is of the grid (else of the block), and its index; `None` for virtual
/// threads.
pub(crate) fn place(axis: ThreadAxis) -> Option<(bool, usize)> {
    Some(match axis {
        ThreadAxis::BlockX => (true, 0),
        ThreadAxis::BlockY => (true, 1),
        ThreadAxis::BlockZ => (true, 2),
        ThreadAxis::ThreadX => (false, 0),
        ThreadAxis::ThreadY => (false, 1),
        ThreadAxis::ThreadZ => (false, 2),
        _ => return None,
    })
}

fn wrong_entry(name: &str, what: &str) -> Error {
    value_error(format!("function {name} of the artifact's index: {what}"))
}

fn value_error(message: String) -> Error {
    Error::new(ErrorKind::VALUE_ERROR, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Any;

    fn kernel() -> Kernel {
        let index = json!({ "functions": [{
            "name": "f_kernel", "symbol": "f_kernel_", "args": ["handle", "int32", "float32", "uint8"],
            "launch_params": ["blockIdx.x", "threadIdx.y", DYNAMIC_SHARED]
        }] });
        Kernels::from_index(&index).unwrap().usable.remove(0)
    }

    fn call(values: &[Any]) -> Result<Option<Launch>, Error> {
        let views: Vec<AnyView<'_>> = values.iter().map(Any::view).collect();
        kernel().call(&views)
    }

    fn values(last: &[i64]) -> Vec<Any> {
        let own = [Any::NONE, Any::from(-2_i64), Any::from(1.5_f64), Any::from(255_i64)];
        own.into_iter().chain(last.iter().map(|value| Any::from(*value))).collect()
    }

    #[test]
    fn k1_k3_a_call_is_read_in_order() {
        let launch = call(&values(&[7, 32, 1024])).unwrap().unwrap();
        assert_eq!((launch.grid, launch.block, launch.dynamic_shared_bytes), ([7, 1, 1], [1, 32, 1], 1024));
        assert_eq!(launch.args[0], KernelArg::Pointer(core::ptr::null_mut()));
        let bytes = |bits: u32| u64::from(bits).to_le_bytes();
        assert_eq!(launch.args[1], KernelArg::Scalar { bytes: bytes(-2_i32 as u32), size_bytes: 4 });
        assert_eq!(launch.args[2], KernelArg::Scalar { bytes: bytes(1.5_f32.to_bits()), size_bytes: 4 });
        assert_eq!(launch.args[3], KernelArg::Scalar { bytes: bytes(255), size_bytes: 1 });
    }

    #[test]
    fn k2_an_extent_of_0_launches_nothing() {
        assert_eq!(call(&values(&[0, 32, 0])).unwrap(), None);
        assert_eq!(call(&values(&[7, 0, 0])).unwrap(), None);
        assert!(call(&values(&[7, 1, 0])).unwrap().is_some());
    }

    #[test]
    fn k3_wrong_arguments_are_named() {
        for (position, value, says) in [
            (0, Any::from(1_i64), "argument 0"),
            (1, Any::from(1_i64 << 31), "2147483648 does not fit int32"),
            (2, Any::NONE, "argument 2"),
            (3, Any::from(-1_i64), "-1 does not fit uint8"),
            (4, Any::from(-1_i64), "blockIdx.x to be at least 0, found -1"),
            (6, Any::from(1.5_f64), DYNAMIC_SHARED),
        ] {
            let mut args = values(&[1, 1, 0]);
            args[position] = value;
            let error = call(&args).unwrap_err();
            assert!(error.message().contains(says), "{}", error.message());
        }
        assert!(call(&values(&[1, 1])).unwrap_err().message().contains("expected 7 arguments"));
    }

    #[test]
    fn an_index_that_has_no_kernels_is_refused() {
        for (field, value, says) in [
            ("args", json!([3]), "\"args\":[3]"),
            ("args", json!([3]), "integer `3`, expected a string"),
            ("args", json!(null), "lists of strings as `args`"),
            ("args", json!(null), "null, expected a sequence"),
            ("launch_params", json!(["blockIdx.x", "blockIdx.x"]), "each once, found blockIdx.x twice"),
            ("launch_params", json!(["clusterIdx.x", DYNAMIC_SHARED, "blockIdx.x"]), "last"),
            ("launch_params", json!([DYNAMIC_SHARED, "blockIdx.x"]), "last"),
            ("symbol", json!(null), "null, expected a string"),
        ] {
            let mut entry = json!({ "name": "k", "symbol": "k", "args": [], "launch_params": [] });
            entry[field] = value;
            let error = Kernels::from_index(&json!({ "functions": [entry] })).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::VALUE_ERROR);
            assert!(error.message().contains(says), "{}", error.message());
        }
        assert!(Kernels::from_index(&json!({})).is_err());
    }

    #[test]
    fn k9_what_is_not_known_makes_its_kernel_unusable_alone() {
        let known = json!({ "name": "f", "symbol": "f", "args": [], "launch_params": [] });
        for (field, value, says) in [
            ("args", json!(["float32x4"]), "found float32x4"),
            ("args", json!(["texture2d", "handle"]), "found texture2d"),
            ("launch_params", json!(["vthread.x"]), "found vthread.x"),
            ("launch_params", json!(["clusterIdx.x", "blockIdx.x", DYNAMIC_SHARED]), "found clusterIdx.x"),
        ] {
            let mut newer = json!({ "name": "k", "symbol": "k_", "args": [], "launch_params": [] });
            newer[field] = value;
            let mut seen = Vec::new();
            let kernels = Kernels::read(&json!({ "functions": [newer, known] }), |kernel, entry| {
                seen.push((kernel.name.clone(), entry["symbol"].clone()));
                Ok(())
            });
            let kernels = kernels.unwrap();
            assert_eq!(seen, [("f".to_owned(), json!("f"))]);
            assert_eq!((kernels.usable.len(), kernels.unusable[0].symbol.as_str()), (1, "k_"));
            kernels.check_usable("f").unwrap();
            let error = kernels.check_usable("k").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::UNSUPPORTED);
            let message = error.message();
            assert!(
                message.starts_with("kernel k cannot be launched") && message.contains(says),
                "{message}"
            );
        }
    }
}

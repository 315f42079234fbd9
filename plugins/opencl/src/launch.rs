//! Launches: translation of a call of a kernel to arguments and an index range of the driver.

use std::ffi::CString;
use std::sync::{Arc, Mutex};

use chipdock_plugin_api::kernel::{self, KernelArg, Launch};
use chipdock_plugin_api::kit::lock;
use chipdock_plugin_api::{Error, ErrorKind, ensure};
use opencl3::kernel::{CL_KERNEL_LOCAL_MEM_SIZE, CL_KERNEL_WORK_GROUP_SIZE};

use crate::driver::{Answer, Argument, Kernel, Program};
use crate::error::OrFailed;
use crate::hardware::Device;
use crate::memory::Space;
use crate::program::Source;
use crate::stream::{Part, Queue, Work};
use crate::turns::Turn;

/// A kernel of a program that was built for one device.
pub(crate) struct Launcher {
    name: Arc<str>,
    symbol: CString,
    /// Kernel objects that no call uses: arguments belong to the object, so two calls must not set
    /// them at once.
    idle: Mutex<Vec<Prepared>>,
    /// Maximum number of threads per block for this kernel.
    group_size: u64,
    /// Bytes of local memory that it declares.
    local_bytes: u64,
    /// Present if launches of one kernel must not run at once.
    turn: Option<Arc<Turn>>,
}

/// The value of an argument. A data space is identified by its number: the driver may reuse the
/// handle of a freed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Scalar { bytes: [u8; 8], size_bytes: usize },
    Space(u64),
    Null,
    Local(usize),
}

/// Threads of a launch and of a block.
type Range = ([usize; 3], [usize; 3]);

/// A kernel object and the current values of its arguments: setting one is slow in some drivers,
/// and most stay unchanged.
struct Prepared {
    object: Kernel,
    /// Values by the argument's index.
    values: Vec<Option<Value>>,
}

impl Prepared {
    fn new(object: Kernel, arguments_count: usize) -> Self {
        Self { object, values: vec![None; arguments_count] }
    }

    /// Sets an argument, unless it already has that value.
    fn set(&mut self, index: usize, value: Value, argument: Argument<'_>) -> Answer<()> {
        if self.values[index] != Some(value) {
            self.values[index] = None;
            self.object.set(index, argument)?;
            self.values[index] = Some(value);
        }
        Ok(())
    }
}

impl Launcher {
    /// The kernel of the program with that name.
    ///
    /// # Errors
    ///
    /// `ValueError`: the program has no such kernel, or it takes a different number of arguments.
    pub(crate) fn new(
        device: &Device,
        program: &Program,
        source: &Source,
        described: &kernel::Kernel,
    ) -> Result<Self, Error> {
        let what = || format!("{}: kernel {}", device.name(), described.symbol);
        let symbol = CString::new(described.symbol.as_str())
            .map_err(|_| Error::new(ErrorKind::VALUE_ERROR, "expected a kernel's symbol without a NUL"))?;
        let object = program.kernel(&symbol).or_failed(what)?;
        let expected = described.args.len() + usize::from(described.has_dynamic_shared);
        let found = object.arguments_count().or_failed(what)?;
        ensure!(
            found == expected as u64,
            ErrorKind::VALUE_ERROR,
            "{}: the index has {expected} arguments, and the source {found}; build the artifact again",
            what()
        );
        Ok(Self {
            name: described.name.as_str().into(),
            symbol,
            group_size: object.number(device.raw(), CL_KERNEL_WORK_GROUP_SIZE).or_failed(what)?,
            local_bytes: object.number(device.raw(), CL_KERNEL_LOCAL_MEM_SIZE).or_failed(what)?,
            idle: Mutex::new(vec![Prepared::new(object, expected)]),
            turn: device.turns().map(|turns| turns.of(&source.text, &source.options, &described.symbol)),
        })
    }

    /// Queues a launch.
    ///
    /// # Errors
    ///
    /// * `ValueError`: the launch exceeds limits of the device or the kernel, or the driver rejects
    ///   it.
    /// * `WrongState`: a handle does not belong to a data space of this device.
    /// * A stored failure of earlier work on the stream.
    pub(crate) fn launch(
        &self,
        device: &Device,
        program: &Program,
        (queue, part): (&Queue, Part),
        launch: &Launch,
        has_dynamic_shared: bool,
    ) -> Result<(), Error> {
        self.with(device, program, launch, has_dynamic_shared, |prepared, range| {
            let work = Work::Launch { kernel: Arc::clone(&self.name) };
            queue.submit(part, work, |raw| match &self.turn {
                None => prepared.object.launch(raw, range, None),
                Some(turn) => turn.launch(queue.serial(), |after| prepared.object.launch(raw, range, after)),
            })
        })
    }

    /// Checks a launch as [`launch`](Self::launch) does, and queues nothing.
    ///
    /// # Errors
    ///
    /// As of that, but for what the stream keeps.
    pub(crate) fn check(
        &self,
        device: &Device,
        program: &Program,
        launch: &Launch,
        has_dynamic_shared: bool,
    ) -> Result<(), Error> {
        self.with(device, program, launch, has_dynamic_shared, |_, _| Ok(()))
    }

    /// Calls `body` with a kernel object whose arguments are set, and the range of the launch.
    fn with(
        &self,
        device: &Device,
        program: &Program,
        launch: &Launch,
        has_dynamic_shared: bool,
        body: impl FnOnce(&mut Prepared, Range) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let range = self.range(device, launch)?;
        let spaces = self.spaces(device, launch)?;
        let idle = lock(&self.idle).pop();
        let what = || format!("{}: kernel {}", device.name(), self.name);
        let mut prepared = match idle {
            Some(prepared) => prepared,
            None => {
                let count = launch.args.len() + usize::from(has_dynamic_shared);
                Prepared::new(program.kernel(&self.symbol).or_failed(what)?, count)
            }
        };
        let set = self.set(device, &mut prepared, launch, &spaces, has_dynamic_shared);
        let done = set.and_then(|()| body(&mut prepared, range));
        lock(&self.idle).push(prepared);
        done
    }

    /// The data spaces of the pointers, in order; `None` for null.
    fn spaces(&self, device: &Device, launch: &Launch) -> Result<Vec<Option<Arc<Space>>>, Error> {
        let handles = launch.args.iter().filter_map(|arg| match arg {
            KernelArg::Pointer(pointer) => Some(pointer.addr()),
            _ => None,
        });
        let found = device.spaces.each(handles, device.name());
        found.map_err(|error| error.context(format_args!("kernel {}", self.name)))
    }

    fn set(
        &self,
        device: &Device,
        prepared: &mut Prepared,
        launch: &Launch,
        spaces: &[Option<Arc<Space>>],
        has_dynamic_shared: bool,
    ) -> Result<(), Error> {
        let what = |index: usize| format!("{}: argument {index} of kernel {}", device.name(), self.name);
        let mut spaces = spaces.iter();
        for (index, arg) in launch.args.iter().enumerate() {
            let (value, argument) = match arg {
                KernelArg::Scalar { bytes, size_bytes } => {
                    let value = Value::Scalar { bytes: *bytes, size_bytes: *size_bytes };
                    (value, Argument::Scalar(&bytes[..*size_bytes]))
                }
                KernelArg::Pointer(_) => match spaces.next().and_then(Option::as_ref) {
                    None => (Value::Null, Argument::Null),
                    Some(space) => match space.buffer() {
                        Some(buffer) => (Value::Space(space.number()), Argument::Buffer(buffer)),
                        None => {
                            return Err(Error::new(
                                ErrorKind::VALUE_ERROR,
                                format!(
                                    "{}: kernels do not reach page-locked host memory; copy it",
                                    what(index)
                                ),
                            ));
                        }
                    },
                },
                other => {
                    return Err(Error::new(
                        ErrorKind::UNSUPPORTED,
                        format!("{}: expected a pointer or a scalar, found {other:?}", what(index)),
                    ));
                }
            };
            prepared.set(index, value, argument).or_failed(|| what(index))?;
        }
        if has_dynamic_shared {
            // Drivers do not accept local memory of 0 bytes.
            let bytes = usize::try_from(launch.dynamic_shared_bytes.max(1)).unwrap_or(usize::MAX);
            let index = launch.args.len();
            prepared.set(index, Value::Local(bytes), Argument::Local(bytes)).or_failed(|| what(index))?;
        }
        Ok(())
    }

    /// Threads of the launch and of a block, checked against the limits of the device and the
    /// kernel.
    fn range(&self, device: &Device, launch: &Launch) -> Result<Range, Error> {
        let limits = device.limits();
        let beyond = |what: &str, most: u64, found: u128| {
            Error::new(
                ErrorKind::VALUE_ERROR,
                format!(
                    "{0}: kernel {1}: expected at most {most} {what}, found {found}; launch less, or build the kernel for this device \
                     (--device {0})",
                    device.name(),
                    self.name
                ),
            )
        };
        let threads: u128 = launch.block.iter().map(|extent| u128::from(*extent)).product();
        let most = self.group_size.min(limits.group_size);
        if launch.block.iter().all(|extent| *extent <= limits.group_size) && threads > u128::from(most) {
            return Err(beyond("threads in a block", most, threads));
        }
        let (mut global, mut local) = ([1; 3], [1; 3]);
        for axis in 0..3 {
            let (grid, block, most) = (launch.grid[axis], launch.block[axis], limits.group_sizes[axis]);
            let name = ["x", "y", "z"][axis];
            if block > most {
                return Err(beyond(&format!("threads in a block along {name}"), most, block.into()));
            }
            let all = u128::from(grid) * u128::from(block);
            let all_fit = usize::try_from(all)
                .map_err(|_| beyond(&format!("threads along {name}"), usize::MAX as u64, all))?;
            (global[axis], local[axis]) = (all_fit, block as usize);
        }
        let shared = u128::from(self.local_bytes) + u128::from(launch.dynamic_shared_bytes);
        if shared > u128::from(limits.local_memory_bytes) {
            return Err(beyond("bytes of local memory in a block", limits.local_memory_bytes, shared));
        }
        Ok((global, local))
    }
}

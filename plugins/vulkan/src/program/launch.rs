//! Launches: a call of a kernel checked against limits, made into descriptors and a block of
//! arguments, and recorded (VKMOD-M7).

use std::any::Any;
use std::path::PathBuf;
use std::sync::Arc;

use ash::vk;
use chipdock_plugin_api::abi::CHIPDOCK_DTYPE_INT;
use chipdock_plugin_api::kernel::{Kernel, KernelArg, Launch};
use chipdock_plugin_api::{ChipdockDataType, Error, ErrorKind, bail, ensure};

use super::bindings::{Blocks, Null, Sets};
use super::driver::{Descriptors, Pipeline};
use super::interface::Code;
use super::pipeline::{Pipelines, build};
use crate::artifact::{Block, Interface, Place};
use crate::device::{Device, Gpu, Keep, Queue, Recorded, Space, Work};

/// A module on one device.
pub(crate) struct Built {
    pub(crate) gpu: Arc<Gpu>,
    /// In the order of the usable kernels.
    pub(crate) launchers: Vec<Launcher>,
    null: Null,
}

/// A kernel on one device.
pub(crate) struct Launcher {
    name: Arc<str>,
    args: Vec<ChipdockDataType>,
    pipelines: Pipelines,
    sets: Option<Arc<Sets>>,
    blocks: Option<Arc<Blocks>>,
    block_bytes: usize,
    /// Bytes of shared memory without dynamic shared memory.
    shared_bytes: u64,
}

impl Built {
    /// Makes pipelines and launchers; without `is_pushed` descriptors are always written to sets.
    ///
    /// # Errors
    ///
    /// As [`build`].
    pub(crate) fn new(
        device: &Device,
        gpu: &Arc<Gpu>,
        code: &Code,
        folder: Option<PathBuf>,
        is_pushed: bool,
    ) -> Result<Self, Error> {
        let all = build(device, gpu, code, folder, is_pushed)?;
        let launchers = code
            .kernels
            .usable
            .iter()
            .zip(&code.shared_bytes)
            .zip(all)
            .map(|((kernel, shared), pipelines)| Launcher::new(gpu, kernel, *shared, pipelines));
        Ok(Self { launchers: launchers.collect(), gpu: Arc::clone(gpu), null: Null::default() })
    }

    /// Queues a launch of the kernel at `position`.
    ///
    /// # Errors
    ///
    /// * `ValueError`: the launch exceeds limits of the device, or has other extents than the
    ///   kernel was compiled for.
    /// * `WrongState`: a handle does not belong to a data space of this device.
    /// * The driver's, by kind, and a stored failure of earlier work on the stream.
    pub(crate) fn launch(
        &self,
        position: usize,
        device: &Device,
        queue: &Queue,
        launch: &Launch,
    ) -> Result<(), Error> {
        let (work, keep, call) = self.prepare(position, device, launch)?;
        queue.record(work, keep, |recorded| call.record(recorded))
    }

    /// Checks a launch and prepares everything that can fail; queues nothing.
    ///
    /// # Errors
    ///
    /// As [`launch`](Self::launch), but for those of the stream.
    pub(crate) fn prepare(
        &self,
        position: usize,
        device: &Device,
        launch: &Launch,
    ) -> Result<(Work, Keep, Call), Error> {
        let launcher = &self.launchers[position];
        let what = || format!("{}: kernel {}", device.name(), launcher.name);
        let (keep, call) = launcher.call(device, self, launch).map_err(|error| error.context(what()))?;
        Ok((Work::Launch { kernel: Arc::clone(&launcher.name) }, keep, call))
    }
}

/// What a launch records.
pub(crate) struct Call {
    pipeline: Arc<Pipeline>,
    infos: Vec<vk::DescriptorBufferInfo>,
    /// Push constants.
    block: Vec<u8>,
    set: Option<vk::DescriptorSet>,
    grid: [u32; 3],
}

impl Call {
    /// Records the launch.
    ///
    /// # Errors
    ///
    /// The driver's; then no command was recorded.
    pub(crate) fn record(&self, recorded: &mut Recorded) -> Result<(), Error> {
        self.pipeline.record(recorded, &self.infos, self.set, &self.block, self.grid)
    }
}

impl Launcher {
    fn new(gpu: &Arc<Gpu>, kernel: &Kernel, shared_bytes: u64, pipelines: Pipelines) -> Self {
        let layout = pipelines.layout();
        let (block_bytes, blocks) = match pipelines.interface().block {
            None => (0, None),
            Some(Block::PushConstant { size_bytes }) => (size_bytes, None),
            Some(Block::Uniform { size_bytes, .. }) => (size_bytes, Some(Blocks::new(gpu, size_bytes))),
        };
        Self {
            name: kernel.name.as_str().into(),
            args: kernel.args.clone(),
            sets: (layout.descriptors() == Descriptors::Set).then(|| Sets::new(layout)),
            blocks,
            block_bytes: block_bytes as usize,
            shared_bytes,
            pipelines,
        }
    }

    /// Number of descriptor sets that were made; 0 where descriptors are pushed.
    #[cfg(test)]
    pub(crate) fn sets_count(&self) -> usize {
        self.sets.as_ref().map_or(0, Sets::made_count)
    }

    /// Checks a launch and prepares everything that can fail.
    fn call(&self, device: &Device, built: &Built, launch: &Launch) -> Result<(Keep, Call), Error> {
        let interface = self.pipelines.interface();
        let (grid, elements) = self.extents(device, interface, launch)?;
        let pointers = launch.args.iter().filter_map(|arg| match arg {
            KernelArg::Pointer(pointer) => Some(pointer.addr()),
            _ => None,
        });
        let spaces = device.spaces.each(pointers, device.name())?;
        let (mut infos, mut block) = (Vec::with_capacity(spaces.len() + 1), vec![0; self.block_bytes]);
        let mut keep: Keep = Vec::with_capacity(spaces.len() + 3);
        let mut of_pointers = spaces.into_iter();
        for (index, (arg, place)) in launch.args.iter().zip(&interface.places).enumerate() {
            match (arg, place) {
                (
                    KernelArg::Scalar { bytes, size_bytes },
                    Place::Scalar { offset_bytes, size_bytes: own },
                ) => {
                    let value = extended(*bytes, *size_bytes, self.args[index]);
                    write(&mut block, *offset_bytes, &value[..*own as usize])?;
                }
                (KernelArg::Pointer(_), Place::Buffer { .. }) => {
                    let space = of_pointers.next().flatten();
                    infos.push(self.descriptor(device, built, index, space.as_ref(), &mut keep)?);
                    keep.extend(space.map(any));
                }
                (KernelArg::Pointer(_), Place::Address { address_at, .. }) => {
                    let space = of_pointers.next().flatten();
                    let address = match &space {
                        None => 0,
                        Some(space) => space.address().ok_or_else(|| no_address(index))?,
                    };
                    write(&mut block, *address_at, &address.to_le_bytes())?;
                    keep.extend(space.map(any));
                }
                (other, _) => {
                    bail!(
                        ErrorKind::UNSUPPORTED,
                        "argument {index}: expected a pointer or a scalar, found {other:?}"
                    )
                }
            }
        }
        if let Some(blocks) = &self.blocks {
            let taken = blocks.take(&block)?;
            infos.push(taken.info());
            keep.push(Arc::new(taken));
            block.clear();
        }
        let set = self.sets.as_ref().map(|sets| sets.take(&infos)).transpose()?.map(Arc::new);
        let raw_set = set.as_ref().map(|set| set.raw());
        keep.extend(set.map(any));
        let pipeline = self.pipelines.of(elements)?;
        keep.push(Arc::clone(&pipeline) as Arc<dyn Any + Send + Sync>);
        Ok((keep, Call { pipeline, infos, block, set: raw_set, grid }))
    }

    /// The descriptor of a data space, or of the buffer that stands for null.
    fn descriptor(
        &self,
        device: &Device,
        built: &Built,
        index: usize,
        space: Option<&Arc<Space>>,
        keep: &mut Keep,
    ) -> Result<vk::DescriptorBufferInfo, Error> {
        let limits = &device.limits().properties.limits;
        let Some(space) = space else {
            let null = built.null.get(&built.gpu)?;
            keep.push(Arc::clone(null) as Arc<dyn Any + Send + Sync>);
            return Ok(vk::DescriptorBufferInfo::default().buffer(null.raw()).range(null.size_bytes()));
        };
        let (buffer, offset, size) = space.buffer();
        let most = u64::from(limits.max_storage_buffer_range);
        ensure!(
            size <= most,
            ErrorKind::VALUE_ERROR,
            "argument {index}: expected a data space of at most {most} bytes for a storage buffer, found {size}; build the \
             module with \"buffer_access\": \"address\", or use smaller data spaces"
        );
        let alignment = limits.min_storage_buffer_offset_alignment.max(1);
        ensure!(
            offset.is_multiple_of(alignment),
            ErrorKind::INTERNAL,
            "argument {index}: a data space at offset {offset} of a buffer, expected a multiple of {alignment}"
        );
        Ok(vk::DescriptorBufferInfo::default().buffer(buffer).offset(offset).range(size))
    }

    /// The blocks of the grid, and the elements of dynamic shared memory, checked against limits.
    fn extents(
        &self,
        device: &Device,
        interface: &Interface,
        launch: &Launch,
    ) -> Result<([u32; 3], Option<u32>), Error> {
        let limits = &device.limits().properties.limits;
        let mut grid = [0; 3];
        for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
            let (found, most) = (launch.grid[axis], limits.max_compute_work_group_count[axis]);
            let fits = u32::try_from(found).ok().filter(|blocks| *blocks <= most);
            let Some(fits) = fits else {
                bail!(
                    ErrorKind::VALUE_ERROR,
                    "expected at most {most} blocks along {name}, found {found}; launch fewer, each of which does more"
                );
            };
            grid[axis] = fits;
        }
        let expected = interface.workgroup_size.map(u64::from);
        ensure!(
            launch.block == expected,
            ErrorKind::VALUE_ERROR,
            "expected a block of the {expected:?} threads that it was compiled for, found {:?}",
            launch.block
        );
        let dynamic = launch.dynamic_shared_bytes;
        let shared = interface.dynamic_shared.as_ref().map(|shared| {
            let element = u64::from(shared.element_bytes);
            (dynamic.div_ceil(element).max(1), element)
        });
        let bytes = shared.map_or(dynamic, |(elements, size)| elements.saturating_mul(size));
        let (total, most) = (self.shared_bytes.saturating_add(bytes), limits.max_compute_shared_memory_size);
        ensure!(
            total <= u64::from(most),
            ErrorKind::VALUE_ERROR,
            "expected at most {most} bytes of shared memory in a block, found {total}; ask for less dynamic shared memory"
        );
        // At most as many elements as bytes, which fit.
        Ok((grid, shared.map(|(elements, _)| u32::try_from(elements).unwrap_or(u32::MAX))))
    }
}

fn any<T: Any + Send + Sync>(value: Arc<T>) -> Arc<dyn Any + Send + Sync> {
    value
}

fn no_address(index: usize) -> Error {
    let message = format!("argument {index}: expected memory with an address on the device; copy it");
    Error::new(ErrorKind::VALUE_ERROR, message)
}

/// The bytes of a scalar, extended by its sign (VKART-A2).
fn extended(bytes: [u8; 8], size_bytes: usize, dtype: ChipdockDataType) -> [u8; 8] {
    let mut bytes = bytes;
    let is_negative = size_bytes < 8 && size_bytes > 0 && bytes[size_bytes - 1] & 0x80 != 0;
    if dtype.code == CHIPDOCK_DTYPE_INT && is_negative {
        bytes[size_bytes..].fill(0xFF);
    }
    bytes
}

/// Writes to the block; places were checked when the artifact was read.
fn write(block: &mut [u8], offset_bytes: u32, value: &[u8]) -> Result<(), Error> {
    let at = offset_bytes as usize;
    let Some(place) = block.get_mut(at..at.saturating_add(value.len())) else {
        bail!(ErrorKind::INTERNAL, "a place at {at} of a block of {} bytes; this is a bug", block.len());
    };
    place.copy_from_slice(value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use chipdock_plugin_api::dtype;

    use super::extended;

    #[test]
    fn vkart_a2_scalars_are_extended_by_their_sign() {
        let of = |text: &str, value: i64, size_bytes: usize| {
            let mut bytes = value.to_le_bytes();
            bytes[size_bytes..].fill(0);
            i64::from_le_bytes(extended(bytes, size_bytes, dtype::parse(text).unwrap()))
        };
        assert_eq!((of("int8", -2, 1), of("int16", -300, 2), of("int32", -1, 4)), (-2, -300, -1));
        assert_eq!((of("int8", 127, 1), of("uint8", 255, 1), of("uint16", 65535, 2)), (127, 255, 65535));
        assert_eq!((of("bool", 1, 1), of("int64", i64::MIN, 8)), (1, i64::MIN));
    }
}

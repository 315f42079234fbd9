//! A module on one device: its shader, layouts and pipelines (VKMOD-M5, VKMOD-M6).

use std::collections::HashMap;
use std::ffi::CString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use ash::vk;
use chipdock_plugin_api::files::cache::Key;
use chipdock_plugin_api::kit::lock;
use chipdock_plugin_api::{Error, ErrorKind};

use super::driver::{Descriptors, Layout, Pipeline, PipelineCache, Recipe, Shader};
use super::interface::Code;
use super::{cache, needs};
use crate::artifact::{Block, Interface, Place};
use crate::device::{Device, Gpu};

/// Most pipelines of a kernel that are kept, one for each size of dynamic shared memory.
const SIZES_MAX: usize = 64;

/// The driver's pipeline cache of a module, and its file.
struct Compiled {
    raw: PipelineCache,
    key: Key,
    folder: Option<PathBuf>,
    /// The contents of the file.
    kept: Mutex<Vec<u8>>,
}

impl Compiled {
    /// Reads the file, if it is of this device, and gives it to the driver.
    fn new(device: &Device, gpu: &Arc<Gpu>, code: &Code, folder: Option<PathBuf>) -> Result<Self, Error> {
        let properties = &device.limits().properties;
        let key = cache::key(&code.digest, properties);
        let kept = cache::read(folder.clone(), &key, properties).unwrap_or_default();
        Ok(Self { raw: PipelineCache::new(gpu, &kept)?, key, folder, kept: Mutex::new(kept) })
    }

    /// Writes the file if the driver has added to the cache. A failure only costs time in a later
    /// process.
    fn keep(&self) {
        let Some(cache) = cache::at(self.folder.clone()) else { return };
        let Some(data) = self.raw.data() else { return };
        let mut kept = lock(&self.kept);
        if *kept != data {
            cache.write(&self.key, &data);
            *kept = data;
        }
    }
}

/// What all pipelines of a module on a device are made from.
struct Origin {
    shader: Shader,
    compiled: Compiled,
    /// The size of subgroups that pipelines request.
    required_size: Option<u32>,
    can_be_full: bool,
}

/// The pipelines of a kernel.
pub(super) struct Pipelines {
    origin: Arc<Origin>,
    symbol: CString,
    interface: Interface,
    layout: Arc<Layout>,
    /// That of a kernel without dynamic shared memory.
    only: OnceLock<Arc<Pipeline>>,
    /// By the number of elements of dynamic shared memory.
    by_elements: Mutex<HashMap<u32, Arc<Pipeline>>>,
}

impl Pipelines {
    pub(super) fn interface(&self) -> &Interface {
        &self.interface
    }

    pub(super) fn layout(&self) -> &Arc<Layout> {
        &self.layout
    }

    /// The pipeline for so many elements of dynamic shared memory, made by the first call.
    ///
    /// # Errors
    ///
    /// The driver's, by kind; nothing is kept then.
    pub(super) fn of(&self, elements: Option<u32>) -> Result<Arc<Pipeline>, Error> {
        let Some(key) = elements else {
            if let Some(pipeline) = self.only.get() {
                return Ok(Arc::clone(pipeline));
            }
            let pipeline = self.make(None)?;
            return Ok(Arc::clone(self.only.get_or_init(|| pipeline)));
        };
        let mut by_elements = lock(&self.by_elements);
        if let Some(pipeline) = by_elements.get(&key) {
            return Ok(Arc::clone(pipeline));
        }
        let pipeline = self.make(elements)?;
        if by_elements.len() >= SIZES_MAX {
            // Launches that still run keep theirs.
            by_elements.clear();
        }
        by_elements.insert(key, Arc::clone(&pipeline));
        drop(by_elements);
        self.origin.compiled.keep();
        Ok(pipeline)
    }

    fn make(&self, elements: Option<u32>) -> Result<Arc<Pipeline>, Error> {
        let (origin, shared) = (&self.origin, self.interface.dynamic_shared.as_ref());
        let is_whole = |size: u32| self.interface.workgroup_size[0].is_multiple_of(size);
        let recipe = Recipe {
            shader: &origin.shader,
            cache: &origin.compiled.raw,
            symbol: &self.symbol,
            constant: shared.zip(elements).map(|(shared, elements)| (shared.constant, elements)),
            required_size: origin.required_size,
            has_full_subgroups: origin.can_be_full && origin.required_size.is_some_and(is_whole),
        };
        Ok(Arc::new(Pipeline::new(&self.layout, &recipe)?))
    }
}

/// Makes the pipelines of each kernel of a module on a device; without `is_pushed` descriptors are
/// written to sets.
///
/// # Errors
///
/// * `Unsupported`: the device lacks what the module needs.
/// * The driver's, by kind.
pub(super) fn build(
    device: &Device,
    gpu: &Arc<Gpu>,
    code: &Code,
    folder: Option<PathBuf>,
    is_pushed: bool,
) -> Result<Vec<Pipelines>, Error> {
    let (limits, needs) = (device.limits(), &code.needs);
    if let Some(why) = needs::missing(code, limits, device.name()) {
        return Err(Error::new(ErrorKind::UNSUPPORTED, why));
    }
    let origin = Arc::new(Origin {
        shader: Shader::new(gpu, &code.words)?,
        compiled: Compiled::new(device, gpu, code, folder)?,
        required_size: needs::required_size(needs, limits),
        can_be_full: limits.has_capability("computeFullSubgroups"),
    });
    let all = code.kernels.usable.iter().zip(&code.interfaces).map(|(kernel, interface)| {
        let symbol = CString::new(kernel.symbol.as_str())
            .map_err(|_| Error::new(ErrorKind::VALUE_ERROR, "expected a kernel's symbol without a NUL"))?;
        let pipelines = Pipelines {
            layout: Arc::new(layout(device, gpu, interface, is_pushed)?),
            origin: Arc::clone(&origin),
            interface: interface.clone(),
            only: OnceLock::new(),
            by_elements: Mutex::default(),
            symbol,
        };
        if interface.dynamic_shared.is_none() {
            pipelines.of(None)?;
        }
        Ok(pipelines)
    });
    let all = all.collect::<Result<_, Error>>()?;
    origin.compiled.keep();
    Ok(all)
}

fn layout(device: &Device, gpu: &Arc<Gpu>, interface: &Interface, is_pushed: bool) -> Result<Layout, Error> {
    let is_buffer = |place: &&Place| matches!(place, Place::Buffer { .. });
    let buffers_count = interface.places.iter().filter(is_buffer).count();
    let mut bindings = vec![vk::DescriptorType::STORAGE_BUFFER; buffers_count];
    let constants_bytes = match interface.block {
        None => 0,
        Some(Block::PushConstant { size_bytes }) => size_bytes,
        Some(Block::Uniform { .. }) => {
            bindings.push(vk::DescriptorType::UNIFORM_BUFFER);
            0
        }
    };
    let most = device.limits().properties.max_push_descriptors as usize;
    let descriptors = match bindings.len() {
        0 => Descriptors::None,
        count if is_pushed && gpu.push_descriptor().is_some() && count <= most => Descriptors::Pushed,
        _ => Descriptors::Set,
    };
    Layout::new(gpu, descriptors, bindings, constants_bytes)
}

//! A module on one device: its shader, layouts and pipelines (VKMOD-M5, VKMOD-M6).

use std::collections::HashMap;
use std::ffi::CString;
use std::mem::size_of;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use ash::vk;
use chipdock_plugin_api::files::cache::{Cache, Key};
use chipdock_plugin_api::kit::lock;
use chipdock_plugin_api::{Error, ErrorKind, bail};

use super::cache;
use super::interface::Code;
use super::needs;
use crate::artifact::{Block, Interface, Place};
use crate::device::{Device, Gpu, OrFailed};

/// Most pipelines of a kernel that are kept, one for each size of dynamic shared memory.
const SIZES_MAX: usize = 64;

/// The shader of a module.
struct Shader {
    gpu: Arc<Gpu>,
    raw: vk::ShaderModule,
}

impl Shader {
    fn new(gpu: &Arc<Gpu>, words: &[u32]) -> Result<Self, Error> {
        let info = vk::ShaderModuleCreateInfo::default().code(words);
        // SAFETY: words whose structure was checked; SPIR-V's own rules are the generator's to keep.
        let raw = unsafe { gpu.raw().create_shader_module(&info, None) };
        let raw = raw.or_failed(|| format!("{}: a module of SPIR-V", gpu.name()))?;
        Ok(Self { gpu: Arc::clone(gpu), raw })
    }
}

impl Drop for Shader {
    fn drop(&mut self) {
        // SAFETY: pipelines do not use it once they are made; dropped once.
        unsafe { self.gpu.raw().destroy_shader_module(self.raw, None) };
    }
}

/// How descriptors reach a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Descriptors {
    /// It has none.
    None,
    /// They are pushed into the command buffer.
    Pushed,
    /// They are written to a set.
    Set,
}

/// The layout of a kernel's descriptors and push constants.
pub(crate) struct Layout {
    gpu: Arc<Gpu>,
    pub(super) descriptors: Descriptors,
    pub(super) set: vk::DescriptorSetLayout,
    pub(super) raw: vk::PipelineLayout,
    pub(super) template: vk::DescriptorUpdateTemplate,
    /// Types of the bindings from 0 on.
    pub(super) bindings: Vec<vk::DescriptorType>,
}

impl Layout {
    fn new(device: &Device, gpu: &Arc<Gpu>, interface: &Interface, is_pushed: bool) -> Result<Self, Error> {
        let what = || format!("{}: the layout of a kernel", gpu.name());
        let is_buffer = |place: &&Place| matches!(place, Place::Buffer { .. });
        let buffers_count = interface.places.iter().filter(is_buffer).count();
        let mut bindings = vec![vk::DescriptorType::STORAGE_BUFFER; buffers_count];
        if let Some(Block::Uniform { .. }) = interface.block {
            bindings.push(vk::DescriptorType::UNIFORM_BUFFER);
        }
        let pushed_max = device.limits().properties.max_push_descriptors as usize;
        let descriptors = match bindings.len() {
            0 => Descriptors::None,
            count if is_pushed && gpu.push_descriptor().is_some() && count <= pushed_max => {
                Descriptors::Pushed
            }
            _ => Descriptors::Set,
        };
        let mut layout = Self {
            gpu: Arc::clone(gpu),
            descriptors,
            set: vk::DescriptorSetLayout::null(),
            raw: vk::PipelineLayout::null(),
            template: vk::DescriptorUpdateTemplate::null(),
            bindings,
        };
        let sets = layout.make_set().or_failed(what)?;
        let push_bytes = match interface.block {
            Some(Block::PushConstant { size_bytes }) => size_bytes,
            _ => 0,
        };
        let ranges =
            [vk::PushConstantRange::default().stage_flags(vk::ShaderStageFlags::COMPUTE).size(push_bytes)];
        let ranges = if push_bytes == 0 { &ranges[..0] } else { &ranges[..] };
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(ranges);
        // SAFETY: a live description of live layouts, within the device's limits, which were checked.
        layout.raw = unsafe { gpu.raw().create_pipeline_layout(&info, None) }.or_failed(what)?;
        layout.make_template().or_failed(what)?;
        Ok(layout)
    }

    /// Makes the layout of the set, if there is one.
    fn make_set(&mut self) -> Result<Vec<vk::DescriptorSetLayout>, vk::Result> {
        if self.descriptors == Descriptors::None {
            return Ok(Vec::new());
        }
        let bindings = (0..).zip(&self.bindings).map(|(binding, descriptor_type)| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(binding)
                .descriptor_type(*descriptor_type)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
        });
        let bindings: Vec<_> = bindings.collect();
        let flags = match self.descriptors {
            Descriptors::Pushed => vk::DescriptorSetLayoutCreateFlags::PUSH_DESCRIPTOR_KHR,
            _ => vk::DescriptorSetLayoutCreateFlags::empty(),
        };
        let info = vk::DescriptorSetLayoutCreateInfo::default().flags(flags).bindings(&bindings);
        // SAFETY: a live description.
        self.set = unsafe { self.gpu.raw().create_descriptor_set_layout(&info, None) }?;
        Ok(vec![self.set])
    }

    /// Makes the template by which an array of [`vk::DescriptorBufferInfo`], one for each binding, is written.
    fn make_template(&mut self) -> Result<(), vk::Result> {
        let template_type = match self.descriptors {
            Descriptors::None => return Ok(()),
            Descriptors::Pushed => vk::DescriptorUpdateTemplateType::PUSH_DESCRIPTORS_KHR,
            Descriptors::Set => vk::DescriptorUpdateTemplateType::DESCRIPTOR_SET,
        };
        let stride = size_of::<vk::DescriptorBufferInfo>();
        let entries = self.bindings.iter().enumerate().map(|(binding, descriptor_type)| {
            vk::DescriptorUpdateTemplateEntry::default()
                // At most as many as a set has.
                .dst_binding(binding as u32)
                .descriptor_count(1)
                .descriptor_type(*descriptor_type)
                .offset(binding * stride)
                .stride(stride)
        });
        let entries: Vec<_> = entries.collect();
        let info = vk::DescriptorUpdateTemplateCreateInfo::default()
            .descriptor_update_entries(&entries)
            .template_type(template_type)
            .descriptor_set_layout(self.set)
            .pipeline_bind_point(vk::PipelineBindPoint::COMPUTE)
            .pipeline_layout(self.raw)
            .set(0);
        // SAFETY: a live description of live layouts.
        self.template = unsafe { self.gpu.raw().create_descriptor_update_template(&info, None) }?;
        Ok(())
    }

    pub(super) fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }
}

impl Drop for Layout {
    fn drop(&mut self) {
        let functions = self.gpu.raw();
        // SAFETY: handles that this made or null ones, which are ignored; sets and pipelines keep it alive.
        unsafe {
            functions.destroy_descriptor_update_template(self.template, None);
            functions.destroy_pipeline_layout(self.raw, None);
            functions.destroy_descriptor_set_layout(self.set, None);
        }
    }
}

/// A pipeline; work that was recorded with it keeps it.
pub(crate) struct Pipeline {
    layout: Arc<Layout>,
    raw: vk::Pipeline,
}

impl Pipeline {
    pub(super) fn raw(&self) -> vk::Pipeline {
        self.raw
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        // SAFETY: queued work keeps the pipelines that it uses; dropped once.
        unsafe { self.layout.gpu.raw().destroy_pipeline(self.raw, None) };
    }
}

/// The driver's pipeline cache of a module, and its file.
struct Compiled {
    gpu: Arc<Gpu>,
    raw: vk::PipelineCache,
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
        let kept = cache::at(folder.clone()).and_then(|cache| cache.read(&key));
        let kept = kept.filter(|kept| cache::is_of(kept, properties)).unwrap_or_default();
        let make = |initial: &[u8]| {
            let info = vk::PipelineCacheCreateInfo::default().initial_data(initial);
            // SAFETY: a live description; the data is empty, or was this driver's for this device.
            unsafe { gpu.raw().create_pipeline_cache(&info, None) }
        };
        let raw = make(&kept).or_else(|why| if kept.is_empty() { Err(why) } else { make(&[]) });
        let raw = raw.or_failed(|| format!("{}: a pipeline cache", gpu.name()))?;
        Ok(Self { gpu: Arc::clone(gpu), raw, key, folder, kept: Mutex::new(kept) })
    }

    /// Writes the file if the driver has added to the cache. A failure only costs time in a later process.
    fn keep(&self) {
        let Some(cache): Option<Cache> = cache::at(self.folder.clone()) else { return };
        // SAFETY: a live cache.
        let Ok(data) = (unsafe { self.gpu.raw().get_pipeline_cache_data(self.raw) }) else { return };
        let mut kept = lock(&self.kept);
        if *kept != data {
            cache.write(&self.key, &data);
            *kept = data;
        }
    }
}

impl Drop for Compiled {
    fn drop(&mut self) {
        // SAFETY: pipelines do not use it once they are made; dropped once.
        unsafe { self.gpu.raw().destroy_pipeline_cache(self.raw, None) };
    }
}

/// What all pipelines of a module on a device are made from.
struct Origin {
    shader: Shader,
    compiled: Compiled,
    /// The size of subgroups that pipelines request.
    required_size: Option<u32>,
    has_full_subgroups: bool,
}

impl Origin {
    /// Makes a pipeline; `elements` is the value of the specialisation constant with that number.
    fn pipeline(
        &self,
        layout: &Arc<Layout>,
        symbol: &CString,
        interface: &Interface,
        elements: Option<(u32, u32)>,
    ) -> Result<Arc<Pipeline>, Error> {
        let gpu = &self.shader.gpu;
        let what = || format!("{}: the pipeline of kernel {}", gpu.name(), symbol.to_string_lossy());
        let (constant, value) = elements.unwrap_or_default();
        let entries = [vk::SpecializationMapEntry::default().constant_id(constant).size(size_of::<u32>())];
        let data = value.to_ne_bytes();
        let specialization = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
        let mut size = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default();
        let mut stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(self.shader.raw)
            .name(symbol);
        if elements.is_some() {
            stage = stage.specialization_info(&specialization);
        }
        if let Some(required) = self.required_size {
            size.required_subgroup_size = required;
            if self.has_full_subgroups && interface.workgroup_size[0].is_multiple_of(required) {
                stage = stage.flags(vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS);
            }
            stage = stage.push_next(&mut size);
        }
        let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout.raw);
        // SAFETY: a live description; the entry point and the constant are the shader's, which was checked.
        let made = unsafe { gpu.raw().create_compute_pipelines(self.compiled.raw, &[info], None) };
        let raw = made.map_err(|(_, why)| why).or_failed(what)?;
        let [raw] = raw[..] else { bail!(ErrorKind::INTERNAL, "{}: the driver made none", what()) };
        Ok(Arc::new(Pipeline { layout: Arc::clone(layout), raw }))
    }
}

/// The pipelines of a kernel.
pub(crate) struct Pipelines {
    origin: Arc<Origin>,
    symbol: CString,
    interface: Interface,
    pub(super) layout: Arc<Layout>,
    /// By the number of elements of dynamic shared memory; 0 for a kernel without.
    by_elements: Mutex<HashMap<u32, Arc<Pipeline>>>,
}

impl Pipelines {
    pub(super) fn interface(&self) -> &Interface {
        &self.interface
    }

    /// The pipeline for that much dynamic shared memory, made by the first call.
    ///
    /// # Errors
    ///
    /// The driver's, by kind; nothing is kept then.
    pub(super) fn of(&self, elements: Option<u32>) -> Result<Arc<Pipeline>, Error> {
        let key = elements.unwrap_or(0);
        let mut by_elements = lock(&self.by_elements);
        if let Some(pipeline) = by_elements.get(&key) {
            return Ok(Arc::clone(pipeline));
        }
        let shared = self.interface.dynamic_shared.as_ref();
        let constant = shared.zip(elements).map(|(shared, elements)| (shared.constant, elements));
        let pipeline = self.origin.pipeline(&self.layout, &self.symbol, &self.interface, constant)?;
        if by_elements.len() >= SIZES_MAX {
            // Launches that still run keep theirs.
            by_elements.clear();
        }
        by_elements.insert(key, Arc::clone(&pipeline));
        drop(by_elements);
        if elements.is_some() {
            self.origin.compiled.keep();
        }
        Ok(pipeline)
    }
}

/// Makes the pipelines of each kernel of a module on a device.
///
/// # Errors
///
/// * `Unsupported`: the device lacks what the module needs.
/// * The driver's, by kind.
pub(crate) fn build(
    device: &Device,
    gpu: &Arc<Gpu>,
    code: &Code,
    folder: Option<PathBuf>,
    is_pushed: bool,
) -> Result<Vec<Pipelines>, Error> {
    let (limits, needs) = (device.limits(), &code.needs);
    if let Some(why) = needs::missing(needs, &code.interfaces, limits, device.name()) {
        return Err(Error::new(ErrorKind::UNSUPPORTED, why));
    }
    let origin = Arc::new(Origin {
        shader: Shader::new(gpu, &code.words)?,
        compiled: Compiled::new(device, gpu, code, folder)?,
        required_size: needs::required_size(needs, limits),
        has_full_subgroups: limits.has_capability("computeFullSubgroups"),
    });
    let all = code.kernels.iter().zip(&code.interfaces).map(|(kernel, interface)| {
        let symbol = CString::new(kernel.symbol.as_str())
            .map_err(|_| Error::new(ErrorKind::VALUE_ERROR, "expected a kernel's symbol without a NUL"))?;
        let pipelines = Pipelines {
            layout: Arc::new(Layout::new(device, gpu, interface, is_pushed)?),
            origin: Arc::clone(&origin),
            interface: interface.clone(),
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

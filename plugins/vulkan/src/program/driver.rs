//! The driver's objects of a module, each released once, and its calls: the only module here that
//! calls the driver.
//!
//! Objects keep alive what they were made from. Buffers in descriptors, and sets and pipelines in
//! recorded work, are kept by the work (`launch`); command buffers are those that `Queue::record`
//! passes.

use std::ffi::CStr;
use std::mem::size_of;
use std::sync::Arc;

use ash::vk;
use chipdock_plugin_api::{Error, ErrorKind, bail, ensure};

use crate::device::{Buffer, Gpu, OrFailed, Recorded};

/// The shader of a module.
pub(super) struct Shader {
    gpu: Arc<Gpu>,
    raw: vk::ShaderModule,
}

impl Shader {
    /// Gives words, whose structure was checked, to the driver.
    pub(super) fn new(gpu: &Arc<Gpu>, words: &[u32]) -> Result<Self, Error> {
        let info = vk::ShaderModuleCreateInfo::default().code(words);
        // SAFETY: words whose structure was checked; SPIR-V's own rules are the generator's to
        // keep.
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
pub(super) struct Layout {
    gpu: Arc<Gpu>,
    descriptors: Descriptors,
    set: vk::DescriptorSetLayout,
    raw: vk::PipelineLayout,
    template: vk::DescriptorUpdateTemplate,
    bindings: Vec<vk::DescriptorType>,
    constants_bytes: u32,
}

impl Layout {
    /// Makes a layout of bindings from 0 on, by type, and so many bytes of push constants.
    pub(super) fn new(
        gpu: &Arc<Gpu>,
        descriptors: Descriptors,
        bindings: Vec<vk::DescriptorType>,
        constants_bytes: u32,
    ) -> Result<Self, Error> {
        let what = || format!("{}: the layout of a kernel", gpu.name());
        let mut layout = Self {
            gpu: Arc::clone(gpu),
            descriptors,
            set: vk::DescriptorSetLayout::null(),
            raw: vk::PipelineLayout::null(),
            template: vk::DescriptorUpdateTemplate::null(),
            bindings,
            constants_bytes,
        };
        let sets = layout.make_set().or_failed(what)?;
        let stage = vk::ShaderStageFlags::COMPUTE;
        let ranges = [vk::PushConstantRange::default().stage_flags(stage).size(constants_bytes)];
        let ranges = if constants_bytes == 0 { &ranges[..0] } else { &ranges[..] };
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets).push_constant_ranges(ranges);
        // SAFETY: a live description of live layouts, within the device's limits, which were
        // checked.
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

    /// Makes the template by which an array of [`vk::DescriptorBufferInfo`], one for each binding,
    /// is written.
    fn make_template(&mut self) -> Result<(), vk::Result> {
        let template_type = match self.descriptors {
            Descriptors::None => return Ok(()),
            Descriptors::Pushed => vk::DescriptorUpdateTemplateType::PUSH_DESCRIPTORS_KHR,
            Descriptors::Set => vk::DescriptorUpdateTemplateType::DESCRIPTOR_SET,
        };
        let stride = size_of::<vk::DescriptorBufferInfo>();
        let entries = (0..).zip(&self.bindings).map(|(binding, descriptor_type)| {
            vk::DescriptorUpdateTemplateEntry::default()
                .dst_binding(binding)
                .descriptor_count(1)
                .descriptor_type(*descriptor_type)
                .offset(binding as usize * stride)
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

    pub(super) fn descriptors(&self) -> Descriptors {
        self.descriptors
    }

    /// Checks that there is a description for each binding.
    fn check(&self, infos: &[vk::DescriptorBufferInfo]) -> Result<(), Error> {
        let (expected, found) = (self.bindings.len(), infos.len());
        ensure!(
            expected == found,
            ErrorKind::INTERNAL,
            "{found} descriptors for {expected} bindings; this is a bug"
        );
        Ok(())
    }
}

impl Drop for Layout {
    fn drop(&mut self) {
        let functions = self.gpu.raw();
        // SAFETY: handles that this made, or null ones, which are ignored; sets and pipelines keep
        // it alive.
        unsafe {
            functions.destroy_descriptor_update_template(self.template, None);
            functions.destroy_pipeline_layout(self.raw, None);
            functions.destroy_descriptor_set_layout(self.set, None);
        }
    }
}

/// A pool of descriptor sets, all of which are in use or kept by who made it.
pub(super) struct Pool {
    layout: Arc<Layout>,
    raw: vk::DescriptorPool,
}

impl Pool {
    /// Makes a pool and its sets.
    pub(super) fn new(layout: &Arc<Layout>, count: u32) -> Result<(Self, Vec<vk::DescriptorSet>), Error> {
        let what = || format!("{}: {count} descriptor sets", layout.gpu.name());
        let sizes = [vk::DescriptorType::STORAGE_BUFFER, vk::DescriptorType::UNIFORM_BUFFER].map(|sort| {
            let in_set = layout.bindings.iter().filter(|found| **found == sort).fold(0_u32, |n, _| n + 1);
            vk::DescriptorPoolSize::default().ty(sort).descriptor_count(in_set.saturating_mul(count))
        });
        let sizes: Vec<_> = sizes.into_iter().filter(|size| size.descriptor_count > 0).collect();
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(count).pool_sizes(&sizes);
        // SAFETY: a live description.
        let raw = unsafe { layout.gpu.raw().create_descriptor_pool(&info, None) }.or_failed(what)?;
        let pool = Self { layout: Arc::clone(layout), raw };
        let layouts = vec![layout.set; count as usize];
        let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(raw).set_layouts(&layouts);
        // SAFETY: a live description; the pool has room for exactly these sets.
        let sets = unsafe { layout.gpu.raw().allocate_descriptor_sets(&info) }.or_failed(what)?;
        Ok((pool, sets))
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // SAFETY: sets in use keep the pool's owner alive, so no work uses one; destroyed once,
        // with its sets.
        unsafe { self.layout.gpu.raw().destroy_descriptor_pool(self.raw, None) };
    }
}

/// Writes the descriptors to a set of that layout that no work uses.
pub(super) fn write_set(
    layout: &Layout,
    set: vk::DescriptorSet,
    infos: &[vk::DescriptorBufferInfo],
) -> Result<(), Error> {
    layout.check(infos)?;
    let (functions, infos) = (layout.gpu.raw(), infos.as_ptr().cast());
    // SAFETY: a set that no work uses, and as many descriptions as the template reads.
    unsafe { functions.update_descriptor_set_with_template(set, layout.template, infos) };
    Ok(())
}

/// Writes to the start of a mapped buffer that no work uses.
pub(super) fn write_buffer(buffer: &Buffer, bytes: &[u8]) -> Result<(), Error> {
    let fits = bytes.len() as u64 <= buffer.size_bytes();
    let Some(address) = buffer.mapped().filter(|_| fits) else {
        bail!(
            ErrorKind::INTERNAL,
            "{} bytes for a buffer that the host does not reach; this is a bug",
            bytes.len()
        );
    };
    // SAFETY: mapped memory that is long enough, as was checked, and that no work uses.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), address, bytes.len()) };
    Ok(())
}

/// The driver's pipeline cache of a module.
pub(super) struct PipelineCache {
    gpu: Arc<Gpu>,
    raw: vk::PipelineCache,
}

impl PipelineCache {
    /// Makes a cache of the data that this driver wrote for this device, or an empty one if the
    /// driver rejects it.
    pub(super) fn new(gpu: &Arc<Gpu>, data: &[u8]) -> Result<Self, Error> {
        let make = |data: &[u8]| {
            let info = vk::PipelineCacheCreateInfo::default().initial_data(data);
            // SAFETY: a live description; the data begins with this device's header, and has the
            // digest of what its driver wrote.
            unsafe { gpu.raw().create_pipeline_cache(&info, None) }
        };
        let made = make(data).or_else(|why| if data.is_empty() { Err(why) } else { make(&[]) });
        let raw = made.or_failed(|| format!("{}: a pipeline cache", gpu.name()))?;
        Ok(Self { gpu: Arc::clone(gpu), raw })
    }

    /// The driver's data; `None` if it gives none.
    pub(super) fn data(&self) -> Option<Vec<u8>> {
        // SAFETY: a live cache.
        unsafe { self.gpu.raw().get_pipeline_cache_data(self.raw) }.ok()
    }
}

impl Drop for PipelineCache {
    fn drop(&mut self) {
        // SAFETY: pipelines do not use it once they are made; dropped once.
        unsafe { self.gpu.raw().destroy_pipeline_cache(self.raw, None) };
    }
}

/// What a pipeline is made of besides its layout.
pub(super) struct Recipe<'a> {
    pub(super) shader: &'a Shader,
    pub(super) cache: &'a PipelineCache,
    /// Name of the entry point, which the shader has.
    pub(super) symbol: &'a CStr,
    /// A specialisation constant of 32 bits: its number and its value.
    pub(super) constant: Option<(u32, u32)>,
    /// The size of subgroups that is requested.
    pub(super) required_size: Option<u32>,
    /// Whether blocks consist of whole subgroups.
    pub(super) has_full_subgroups: bool,
}

/// A pipeline.
pub(super) struct Pipeline {
    layout: Arc<Layout>,
    raw: vk::Pipeline,
}

impl Pipeline {
    pub(super) fn new(layout: &Arc<Layout>, recipe: &Recipe<'_>) -> Result<Self, Error> {
        let gpu = &layout.gpu;
        let what = || format!("{}: the pipeline of {}", gpu.name(), recipe.symbol.to_string_lossy());
        let (constant, value) = recipe.constant.unwrap_or_default();
        let entries = [vk::SpecializationMapEntry::default().constant_id(constant).size(size_of::<u32>())];
        let data = value.to_ne_bytes();
        let specialization = vk::SpecializationInfo::default().map_entries(&entries).data(&data);
        let mut size = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default();
        let mut stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(recipe.shader.raw)
            .name(recipe.symbol);
        if recipe.constant.is_some() {
            stage = stage.specialization_info(&specialization);
        }
        if let Some(required) = recipe.required_size {
            size.required_subgroup_size = required;
            stage = stage.push_next(&mut size);
        }
        if recipe.has_full_subgroups {
            stage = stage.flags(vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS);
        }
        let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout.raw);
        // SAFETY: a live description; the entry point and the constant are the shader's, which was
        // checked.
        let made = unsafe { gpu.raw().create_compute_pipelines(recipe.cache.raw, &[info], None) };
        let raw = made.map_err(|(_, why)| why).or_failed(what)?;
        let [raw] = raw[..] else { bail!(ErrorKind::INTERNAL, "{}: the driver made none", what()) };
        Ok(Self { layout: Arc::clone(layout), raw })
    }

    /// Records a launch: descriptors for a layout that pushes them, or a set; push constants; a
    /// grid within the device's limits.
    pub(super) fn record(
        &self,
        recorded: &mut Recorded,
        infos: &[vk::DescriptorBufferInfo],
        set: Option<vk::DescriptorSet>,
        constants: &[u8],
        [x, y, z]: [u32; 3],
    ) -> Result<(), Error> {
        let (layout, point) = (&*self.layout, vk::PipelineBindPoint::COMPUTE);
        let commands = recorded.commands;
        let (functions, push) = (layout.gpu.raw(), layout.gpu.push_descriptor());
        layout.check(infos)?;
        let (expected, found) = (layout.constants_bytes as usize, constants.len());
        ensure!(
            expected == found,
            ErrorKind::INTERNAL,
            "{found} bytes for {expected} bytes of push constants; this is a bug"
        );
        let has_descriptors = match layout.descriptors {
            Descriptors::None => true,
            Descriptors::Pushed => push.is_some(),
            Descriptors::Set => set.is_some(),
        };
        ensure!(has_descriptors, ErrorKind::INTERNAL, "a launch without its descriptors; this is a bug");
        // SAFETY: a command buffer that is recorded; pipeline, layout and set belong together, and
        // the work keeps them; descriptors and constants are as many as the layout has; the grid
        // was checked.
        unsafe {
            if recorded.pipeline != self.raw {
                functions.cmd_bind_pipeline(commands, point, self.raw);
                recorded.pipeline = self.raw;
            }
            match (layout.descriptors, push, set) {
                (Descriptors::Pushed, Some(push), _) => {
                    let infos = infos.as_ptr().cast();
                    push.cmd_push_descriptor_set_with_template(
                        commands,
                        layout.template,
                        layout.raw,
                        0,
                        infos,
                    );
                }
                (_, _, Some(set)) => {
                    functions.cmd_bind_descriptor_sets(commands, point, layout.raw, 0, &[set], &[]);
                }
                _ => {}
            }
            if !constants.is_empty() {
                let stage = vk::ShaderStageFlags::COMPUTE;
                functions.cmd_push_constants(commands, layout.raw, stage, 0, constants);
            }
            functions.cmd_dispatch(commands, x, y, z);
        }
        Ok(())
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        // SAFETY: queued work keeps the pipelines that it uses; dropped once.
        unsafe { self.layout.gpu.raw().destroy_pipeline(self.raw, None) };
    }
}

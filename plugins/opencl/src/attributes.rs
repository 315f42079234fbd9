//! Attributes of a device, under the keys, in the types and in the units of
//! `chipdock_plugin_api::attribute`.

use chipdock_plugin_api::{Any, Error, Shape, attribute};
use opencl3::device::{
    CL_DEVICE_ADDRESS_BITS, CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV, CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV,
    CL_DEVICE_EXTENSIONS, CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, CL_DEVICE_GLOBAL_MEM_SIZE,
    CL_DEVICE_IMAGE_PITCH_ALIGNMENT, CL_DEVICE_LOCAL_MEM_SIZE, CL_DEVICE_MAX_CLOCK_FREQUENCY,
    CL_DEVICE_MAX_COMPUTE_UNITS, CL_DEVICE_MAX_MEM_ALLOC_SIZE, CL_DEVICE_MAX_WORK_GROUP_SIZE,
    CL_DEVICE_MAX_WORK_ITEM_SIZES, CL_DEVICE_MEM_BASE_ADDR_ALIGN, CL_DEVICE_OPENCL_C_VERSION,
    CL_DEVICE_REGISTERS_PER_BLOCK_NV, CL_DEVICE_SINGLE_FP_CONFIG, CL_DEVICE_SVM_CAPABILITIES,
    CL_DEVICE_SVM_FINE_GRAIN_BUFFER, CL_DEVICE_SVM_FINE_GRAIN_SYSTEM, CL_DEVICE_TYPE, CL_DEVICE_TYPE_CPU,
    CL_DEVICE_VENDOR, CL_DEVICE_VERSION, CL_DEVICE_WARP_SIZE_NV, CL_DEVICE_WAVEFRONT_WIDTH_AMD,
    CL_DRIVER_VERSION, CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT,
};

use crate::driver::DeviceId;
use crate::hardware::Device;

/// Properties that are read from a device once: limits for checks of calls, and facts for its
/// compiler.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    pub(crate) memory_bytes: u64,
    /// The largest piece of memory; 0: not known.
    pub(crate) allocation_bytes: u64,
    pub(crate) alignment_bytes: u64,
    pub(crate) local_memory_bytes: u64,
    pub(crate) group_size: u64,
    pub(crate) group_sizes: [u64; 3],
    /// Whether host and device use the same addresses for fine-grained shared memory.
    pub(crate) has_shared_memory: bool,
    /// Whether the device works directly on the host's memory, whoever allocated it.
    pub(crate) has_host_memory: bool,
    /// Whether division and square root of float32 are correctly rounded on request.
    pub(crate) has_correct_division: bool,
    /// Language version as an argument of `-cl-std`, such as `CL1.2`.
    pub(crate) language: String,
    pub(crate) driver_version: String,
    /// Names of extensions, separated by spaces.
    pub(crate) extensions: String,
}

impl Limits {
    /// Reads the properties of a device.
    pub(crate) fn read(id: DeviceId) -> Self {
        let number = |key| id.number(key).unwrap_or(0);
        let sizes = id.sizes(CL_DEVICE_MAX_WORK_ITEM_SIZES).unwrap_or_default();
        let size = |axis: usize| sizes.get(axis).copied().unwrap_or(1);
        Self {
            memory_bytes: number(CL_DEVICE_GLOBAL_MEM_SIZE),
            allocation_bytes: number(CL_DEVICE_MAX_MEM_ALLOC_SIZE),
            // The driver reports bits.
            alignment_bytes: number(CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8,
            local_memory_bytes: number(CL_DEVICE_LOCAL_MEM_SIZE),
            group_size: number(CL_DEVICE_MAX_WORK_GROUP_SIZE),
            group_sizes: [size(0), size(1), size(2)],
            has_shared_memory: number(CL_DEVICE_SVM_CAPABILITIES) & CL_DEVICE_SVM_FINE_GRAIN_BUFFER != 0,
            has_host_memory: number(CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU != 0
                || number(CL_DEVICE_SVM_CAPABILITIES) & CL_DEVICE_SVM_FINE_GRAIN_SYSTEM != 0,
            has_correct_division: number(CL_DEVICE_SINGLE_FP_CONFIG) & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT
                != 0,
            language: language(&id.text(CL_DEVICE_OPENCL_C_VERSION).unwrap_or_default()),
            driver_version: id.text(CL_DRIVER_VERSION).unwrap_or_default(),
            extensions: id.text(CL_DEVICE_EXTENSIONS).unwrap_or_default(),
        }
    }

    /// Returns true if the device supports an extension.
    fn has(&self, extension: &str) -> bool {
        self.extensions.split_whitespace().any(|name| name == extension)
    }
}

/// The value of the compiler option `-cl-std` for `OpenCL C 1.2 …`. It differs from the device's
/// version: PoCL is 3.0 and compiles C 1.2.
fn language(version: &str) -> String {
    format!("CL{}", number_in(version.strip_prefix("OpenCL C ").unwrap_or_default()).unwrap_or("1.2"))
}

/// The version number of a text such as `3.0 PoCL …`.
fn number_in(version: &str) -> Option<&str> {
    version.split_whitespace().next().filter(|number| number.contains('.'))
}

/// The value of an attribute, or `None` if the key is unknown.
pub(crate) fn attribute(device: &Device, key: &str) -> Result<Option<Any>, Error> {
    let (id, limits) = (device.raw(), device.limits());
    let text = |key| id.text(key).ok().filter(|text| !text.is_empty()).map(Any::from);
    let version = id.text(CL_DEVICE_VERSION).unwrap_or_default();
    let version = number_in(version.strip_prefix("OpenCL ").unwrap_or_default());
    Ok(match key {
        attribute::DEVICE_NAME => Some(Any::from(device.found.name.clone())),
        attribute::VENDOR_NAME => text(CL_DEVICE_VENDOR),
        attribute::CHECKED_HANDLES => Some(Any::from(true)),
        attribute::COMPUTE_VERSION => version.map(Any::from),
        attribute::ARCH => capability(id).map(|(major, minor)| Any::from(format!("sm_{major}{minor}"))),
        attribute::DRIVER_VERSION => Some(Any::from(limits.driver_version.clone())),
        attribute::MAX_THREAD_DIMENSIONS => Some(shape(limits.group_sizes)),
        attribute::MAX_GRID_DIMENSIONS => {
            // Threads of a launch are counted in the width of an address; compilers count blocks in
            // an int.
            let most =
                if id.number(CL_DEVICE_ADDRESS_BITS).unwrap_or(0) > 32 { i32::MAX as u64 } else { 1 << 16 };
            Some(shape([most; 3]))
        }
        "opencl.platform_name" => Some(Any::from(device.found.platform_name.clone())),
        "opencl.platform_version" => Some(Any::from(device.found.platform_version.clone())),
        "opencl.device_sort" => Some(Any::from(device.found.sort)),
        "opencl.c_version" => Some(Any::from(limits.language.clone())),
        // Some GPUs have their local memory in global memory too, and still run threads in step.
        "opencl.runs_threads_serially" => Some(Any::from(device.found.sort == "cpu")),
        "opencl.supports_float64" => Some(Any::from(limits.has("cl_khr_fp64"))),
        "opencl.supports_int64_atomics" => Some(Any::from(limits.has("cl_khr_int64_base_atomics"))),
        "opencl.supports_subgroups" => {
            let all = ["cl_khr_subgroups", "cl_khr_subgroup_ballot", "cl_khr_subgroup_shuffle"];
            Some(Any::from(all.into_iter().all(|name| limits.has(name))))
        }
        "opencl.supports_correctly_rounded_divide_sqrt" => Some(Any::from(limits.has_correct_division)),
        "opencl.extensions" => Some(Any::from(limits.extensions.clone())),
        _ => number(device, key, version).map(Any::from),
    })
}

fn number(device: &Device, key: &str, version: Option<&str>) -> Option<i64> {
    let (id, limits) = (device.raw(), device.limits());
    // A driver that does not know the value reports 0.
    let asked = |key| id.number(key).ok().filter(|number| *number > 0);
    let number = match key {
        // D.11: on some processors a group has one item, and is none.
        attribute::MAX_THREADS_PER_BLOCK => Some(limits.group_size).filter(|size| *size > 1),
        attribute::WARP_SIZE => {
            asked(CL_DEVICE_WARP_SIZE_NV).or_else(|| asked(CL_DEVICE_WAVEFRONT_WIDTH_AMD))
        }
        attribute::MAX_SHARED_MEMORY_PER_BLOCK_BYTES => Some(limits.local_memory_bytes),
        attribute::MAX_CLOCK_RATE_KHZ => asked(CL_DEVICE_MAX_CLOCK_FREQUENCY).map(|mhz| mhz * 1000),
        attribute::MULTI_PROCESSOR_COUNT => asked(CL_DEVICE_MAX_COMPUTE_UNITS),
        attribute::MAX_REGISTERS_PER_BLOCK => asked(CL_DEVICE_REGISTERS_PER_BLOCK_NV),
        attribute::API_VERSION => version.and_then(|version| {
            let (major, minor) = version.split_once('.')?;
            Some(major.parse::<u64>().ok()? * 100 + minor.parse::<u64>().ok()? * 10)
        }),
        attribute::CACHE_LINE_SIZE_BYTES => asked(CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE),
        attribute::TOTAL_GLOBAL_MEMORY_BYTES => Some(limits.memory_bytes),
        attribute::IMAGE_PITCH_ALIGNMENT => asked(CL_DEVICE_IMAGE_PITCH_ALIGNMENT),
        "opencl.max_allocation_bytes" => Some(limits.allocation_bytes),
        _ => None,
    };
    number.filter(|number| *number > 0).and_then(|number| i64::try_from(number).ok())
}

/// The compute capability that NVIDIA's driver reports.
fn capability(id: DeviceId) -> Option<(u64, u64)> {
    let major = id.number(CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV).ok()?;
    let minor = id.number(CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV).ok()?;
    (major > 0).then_some((major, minor))
}

fn shape(sizes: [u64; 3]) -> Any {
    Any::from(Shape::new(&sizes.map(|size| i64::try_from(size).unwrap_or(i64::MAX))))
}

//! Vulkan's library, opened at run time, and instances of it, with the validation layer where it is
//! asked for.

use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use ash::{ext, khr, vk};
use chipdock_plugin_api::kit::lock;
use chipdock_plugin_api::process::has_raised_privileges;
use chipdock_plugin_api::{Error, ErrorKind, Setting};
use libloading::Library;

use super::error::name_of;
use super::limits::Limits;

/// The library that finds the drivers, and its package in Debian and Ubuntu.
#[cfg(not(target_os = "macos"))]
const LIBRARY: &str = "libvulkan.so.1";
#[cfg(target_os = "macos")]
const LIBRARY: &str = "libvulkan.1.dylib";
const LIBRARY_PACKAGE: &str = "libvulkan1";
/// The package of drivers, one of them for machines without a GPU.
pub(crate) const DRIVER_PACKAGE: &str = "mesa-vulkan-drivers";
/// The validation layer and its package.
const LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";
const LAYER_PACKAGE: &str = "vulkan-validationlayers";

/// The setting that enables the validation layer.
pub(crate) const VALIDATION: Setting<bool> = Setting::bool(
    "validation",
    "Run everything under VK_LAYER_KHRONOS_validation with synchronization validation; a message fails the next wait. For \
     tests: it is slow.",
)
.or(false);

/// The newest version of Vulkan whose functions are used.
const VERSION: u32 = vk::API_VERSION_1_3;

/// The messages of the validation layer.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    count: AtomicU64,
    first: Mutex<Option<String>>,
}

impl Messages {
    /// The number of messages since the instance was made.
    #[cfg(test)]
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    /// Reports the first message since the last report, once.
    ///
    /// # Errors
    ///
    /// `InternalError` with the message: what the layer finds is a mistake of this plugin or of a
    /// module.
    pub(crate) fn report(&self) -> Result<(), Error> {
        match lock(&self.first).take() {
            None => Ok(()),
            Some(text) => {
                Err(Error::new(ErrorKind::INTERNAL, format!("Vulkan's validation layer reports: {text}")))
            }
        }
    }
}

/// An instance of Vulkan, of one host.
pub(crate) struct Instance {
    raw: ash::Instance,
    version: u32,
    messages: Option<(ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT, Arc<Messages>)>,
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: everything that was made from the instance keeps it alive, so nothing is left;
        // dropped once.
        unsafe {
            if let Some((functions, messenger, _)) = &self.messages {
                functions.destroy_debug_utils_messenger(*messenger, None);
            }
            self.raw.destroy_instance(None);
        }
    }
}

/// A device that was found.
pub(crate) struct Found {
    pub(crate) instance: Arc<Instance>,
    pub(crate) raw: vk::PhysicalDevice,
    pub(crate) limits: Limits,
}

impl Instance {
    /// The functions.
    pub(crate) fn raw(&self) -> &ash::Instance {
        &self.raw
    }

    /// Vulkan's version: that of the loader, but at most the newest that is used.
    pub(crate) fn version(&self) -> u32 {
        self.version
    }

    /// The physical devices of all drivers, in their order.
    pub(crate) fn devices(&self) -> Result<Vec<vk::PhysicalDevice>, vk::Result> {
        // SAFETY: a live instance.
        unsafe { self.raw.enumerate_physical_devices() }
    }

    /// The properties of one of its devices that every version has.
    pub(crate) fn properties(&self, device: vk::PhysicalDevice) -> vk::PhysicalDeviceProperties {
        // SAFETY: a physical device of this instance.
        unsafe { self.raw.get_physical_device_properties(device) }
    }

    /// The extensions of one of its devices.
    pub(crate) fn extensions(
        &self,
        device: vk::PhysicalDevice,
    ) -> Result<Vec<vk::ExtensionProperties>, vk::Result> {
        // SAFETY: a physical device of this instance.
        unsafe { self.raw.enumerate_device_extension_properties(device) }
    }

    /// The messages of the validation layer; `None` if it is off.
    pub(crate) fn messages(&self) -> Option<&Messages> {
        self.messages.as_ref().map(|(.., messages)| &**messages)
    }

    /// Opens the library and makes an instance.
    ///
    /// # Errors
    ///
    /// `Unavailable`: raised privileges, no library, no driver, a driver or layer that fails.
    pub(crate) fn new(has_validation: bool) -> Result<Self, Error> {
        if has_raised_privileges() {
            return Err(raised());
        }
        Self::of(&entry()?, has_validation)
    }

    /// Makes an instance by the functions of a loader.
    ///
    /// # Errors
    ///
    /// `Unavailable`: no driver, a driver or layer that fails.
    pub(crate) fn of(entry: &ash::Entry, has_validation: bool) -> Result<Self, Error> {
        // SAFETY: the loader's function, which takes a place to write to.
        let version = unsafe { entry.try_enumerate_instance_version() }.ok().flatten();
        let version = version.unwrap_or(vk::API_VERSION_1_0);
        if version < vk::API_VERSION_1_1 {
            return Err(unavailable(format!(
                "{LIBRARY} is of Vulkan 1.0; expected 1.1 or later; install a newer `{LIBRARY_PACKAGE}`"
            )));
        }
        let version = version.min(VERSION);
        make(entry, version, has_validation)
    }
}

fn make(entry: &ash::Entry, version: u32, has_validation: bool) -> Result<Instance, Error> {
    // SAFETY: the loader's functions, which take places to write to.
    let (extensions, layers) = unsafe {
        (entry.enumerate_instance_extension_properties(None), entry.enumerate_instance_layer_properties())
    };
    let extensions = extensions.unwrap_or_default();
    let has_extension =
        |name: &CStr| extensions.iter().any(|found| found.extension_name_as_c_str() == Ok(name));
    let mut names: Vec<*const c_char> = Vec::new();
    let mut flags = vk::InstanceCreateFlags::empty();
    if has_extension(khr::portability_enumeration::NAME) {
        // Drivers over another interface, as MoltenVK is, are listed only on request.
        names.push(khr::portability_enumeration::NAME.as_ptr());
        flags |= vk::InstanceCreateFlags::ENUMERATE_PORTABILITY_KHR;
    }
    let mut enabled_layers: Vec<*const c_char> = Vec::new();
    if has_validation {
        let layers = layers.unwrap_or_default();
        if !layers.iter().any(|found| found.layer_name_as_c_str() == Ok(LAYER)) {
            return Err(unavailable(format!(
                "setting `validation` is on, and there is no layer {}; on Debian and Ubuntu `{LAYER_PACKAGE}` brings it",
                LAYER.to_string_lossy()
            )));
        }
        enabled_layers.push(LAYER.as_ptr());
        names.extend([ext::debug_utils::NAME.as_ptr(), ext::validation_features::NAME.as_ptr()]);
    }
    let application = vk::ApplicationInfo::default().application_name(c"chipdock").api_version(version);
    let checks = [vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION];
    let mut features = vk::ValidationFeaturesEXT::default().enabled_validation_features(&checks);
    let mut info = vk::InstanceCreateInfo::default()
        .flags(flags)
        .application_info(&application)
        .enabled_layer_names(&enabled_layers)
        .enabled_extension_names(&names);
    let messages = has_validation.then(Arc::<Messages>::default);
    // Those of the instance's own creation and end come to it, too.
    let mut messenger = messages.as_ref().map(messenger);
    if let Some(messenger) = &mut messenger {
        info = info.push_next(&mut features).push_next(messenger);
    }
    // SAFETY: a live description, whose names are of layers and extensions that were found.
    let raw = unsafe { entry.create_instance(&info, None) }.map_err(no_instance)?;
    let mut instance = Instance { raw, version, messages: None };
    if let Some(messages) = messages {
        instance.messages = Some(listen(entry, &instance.raw, &messages)?);
    }
    Ok(instance)
}

/// The description of a messenger, which counts what the layer reports. The messages live as long
/// as it.
fn messenger(messages: &Arc<Messages>) -> vk::DebugUtilsMessengerCreateInfoEXT<'static> {
    let severity =
        vk::DebugUtilsMessageSeverityFlagsEXT::WARNING | vk::DebugUtilsMessageSeverityFlagsEXT::ERROR;
    vk::DebugUtilsMessengerCreateInfoEXT::default()
        .message_severity(severity)
        .message_type(vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION)
        .pfn_user_callback(Some(heard))
        .user_data(Arc::as_ptr(messages).cast_mut().cast())
}

/// Makes a messenger of an instance.
fn listen(
    entry: &ash::Entry,
    raw: &ash::Instance,
    messages: &Arc<Messages>,
) -> Result<(ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT, Arc<Messages>), Error> {
    let functions = ext::debug_utils::Instance::new(entry, raw);
    // SAFETY: the messenger is destroyed before the instance, and the messages live as long as it.
    let made = unsafe { functions.create_debug_utils_messenger(&messenger(messages), None) };
    let made = made.map_err(|why| unavailable(format!("a messenger: {}", name_of(why))))?;
    Ok((functions, made, Arc::clone(messages)))
}

/// Counts a message.
unsafe extern "system" fn heard(
    _severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _types: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    messages: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the layer passes the messages of `messenger`, which live as long as the instance, and
    // live data.
    let (messages, text) = unsafe {
        let text = data.as_ref().and_then(|data| data.message_as_c_str());
        (messages.cast::<Messages>().as_ref(), text)
    };
    if let Some(messages) = messages {
        let text = text.map(|text| text.to_string_lossy().into_owned()).unwrap_or_default();
        lock(&messages.first).get_or_insert(text);
        messages.count.fetch_add(1, Ordering::Release);
    }
    vk::FALSE
}

/// The functions of the library, which is opened once in a process and never closed: drivers leave
/// threads and handlers behind.
fn entry() -> Result<ash::Entry, Error> {
    static OPENED: OnceLock<Library> = OnceLock::new();
    let library = match OPENED.get() {
        Some(library) => library,
        None => {
            // SAFETY: the system's library of that name, whose initializers are the system's to
            // vouch for.
            let opened = unsafe { Library::new(LIBRARY) }.map_err(|why| no_library(&why))?;
            OPENED.get_or_init(|| opened)
        }
    };
    // SAFETY: the function of that name has that type by Vulkan's specification.
    let function = unsafe { library.get::<vk::PFN_vkGetInstanceProcAddr>(c"vkGetInstanceProcAddr") };
    let get_instance_proc_addr = *function.map_err(|_| {
        unavailable(format!(
            "{LIBRARY} lacks vkGetInstanceProcAddr, which every loader of Vulkan has: it is another library of that name; on Debian \
             and Ubuntu `{LIBRARY_PACKAGE}` brings the loader"
        ))
    })?;
    // SAFETY: the loader's function; the library is never closed.
    Ok(unsafe { ash::Entry::from_static_fn(ash::StaticFn { get_instance_proc_addr }) })
}

fn no_library(error: &libloading::Error) -> Error {
    // The dynamic linker's message is in the source of the error.
    let why = std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
    unavailable(format!(
        "no Vulkan library: tried {LIBRARY}: {why}; on Debian and Ubuntu `{LIBRARY_PACKAGE}` brings it, and the device's \
         driver or `{DRIVER_PACKAGE}` what it finds"
    ))
}

fn no_instance(why: vk::Result) -> Error {
    no_driver(match why {
        vk::Result::ERROR_INCOMPATIBLE_DRIVER => format!("found no usable Vulkan driver ({})", name_of(why)),
        _ => format!("found a driver that makes no instance ({})", name_of(why)),
    })
}

/// The error where drivers make an instance and list no devices.
pub(crate) fn no_devices(why: vk::Result) -> Error {
    no_driver(format!("found no driver that lists a device ({})", name_of(why)))
}

fn no_driver(found: String) -> Error {
    unavailable(format!(
        "{LIBRARY} {found} in /usr/share/vulkan/icd.d, /etc/vulkan/icd.d, or in what VK_ICD_FILENAMES names; install that of \
         the device (on Debian and Ubuntu `{DRIVER_PACKAGE}` brings several, one of them for the processor)"
    ))
}

/// The error for raised privileges. The loader itself then ignores the variables that name drivers
/// and layers; drivers read variables of their own and do not all look.
fn raised() -> Error {
    unavailable(
        "Vulkan is not opened with raised privileges (set-user-id, set-group-id or file capabilities), because its drivers \
         read what variables of the environment name; run without them"
            .to_owned(),
    )
}

pub(crate) fn unavailable(message: String) -> Error {
    Error::new(ErrorKind::UNAVAILABLE, message)
}

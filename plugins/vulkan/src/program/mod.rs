//! Modules of kernels: an artifact, checked and made into pipelines whose launches are recorded.
//!
//! * `interface`: the index of an artifact; `words`: its SPIR-V; `needs`: what they need against a
//!   device.
//! * `pipeline`: a module on one device; `cache`: the driver's pipelines, kept as files.
//! * `launch`: launches; `bindings`: what they bind besides data spaces.
//! * `driver`: the driver's objects and calls.
//!
//! # Rules
//!
//! * **VKMOD-M1** An artifact's index is checked against itself: a place for each argument, of its
//!   kind; places in the block aligned, within it and without overlap; bindings from 0 without
//!   gaps.
//! * **VKMOD-M2** Words that are cut short or altered do not reach the driver: the digest, the
//!   header, instructions that fill the words, SPIR-V's grammar, ids, the order of sections and
//!   whole blocks are checked.
//! * **VKMOD-M3** The words are checked against the index: version, capabilities and extensions
//!   equal `needs`; entry points are the functions, in order, with their workgroup sizes; they use
//!   only resources that a launch binds.
//! * **VKMOD-M4** A device that lacks something that the module needs is refused before the driver,
//!   with the name of the first need that it lacks: `Unsupported`, as a verdict and as an error;
//!   for a capability also with the feature of Vulkan and the target's option. Float controls are
//!   needed for the widths that the words demand. A size of subgroups that is not the device's own
//!   is requested from it if it can be.
//! * **VKMOD-M5** Pipelines are made when a module is loaded, for the device that is current then;
//!   on another device by the first launch there. A kernel with dynamic shared memory has a
//!   pipeline for each size, made by the first launch with it. A device that was opened again gets
//!   new ones.
//! * **VKMOD-M6** The driver's pipeline cache of each module and device is kept as a file, by the
//!   rules of `chipdock_plugin_api::files::cache`; a file that does not begin with the header of
//!   this device, as Vulkan defines it, is not given to the driver.
//! * **VKMOD-M7** A launch is checked against the device's limits and the kernel's block before the
//!   driver. A null pointer binds a buffer of 256 bytes that all null pointers share, or is the
//!   address 0. What a launch binds lives until its work has ended, and is used again then.

mod bindings;
pub(crate) mod cache;
mod driver;
pub(crate) mod interface;
pub(crate) mod launch;
pub(crate) mod needs;
mod pipeline;
pub(crate) mod words;

//! The index of an artifact against the kernels of its module (VKMOD-M1, VKMOD-M3).

use std::collections::BTreeSet;

use chipdock_plugin_api::abi::CHIPDOCK_DTYPE_HANDLE;
use chipdock_plugin_api::kernel::{Kernel, Kernels};
use chipdock_plugin_api::kit::ArtifactKind;
use chipdock_plugin_api::{Artifact, ChipdockDataType, Error, ErrorKind};
use rspirv::spirv::{Capability, ExecutionMode};
use serde::Deserialize;
use serde_json::Value;

use super::words::{Entry, Resource, Shader};
use crate::artifact::{self, Block, CODE, FORMAT, Interface, KIND, Needs, Place};

/// The artifacts that the loader accepts.
pub(crate) const ARTIFACT: ArtifactKind = ArtifactKind { kind: KIND, formats: &[FORMAT] };
/// Greatest size of an element of dynamic shared memory: a vector of 16 elements of 8 bytes.
const ELEMENT_BYTES_MAX: u32 = 128;
/// Alignment to which a block's size may be rounded up.
const BLOCK_ROUNDING_BYTES: u32 = 16;

/// A checked artifact.
#[derive(Debug)]
pub(crate) struct Code {
    /// The words of the module.
    pub(crate) words: Vec<u32>,
    /// The digest of the words, in hexadecimal.
    pub(crate) digest: String,
    pub(crate) kernels: Kernels,
    /// Interfaces, in the order of the usable kernels.
    pub(crate) interfaces: Vec<Interface>,
    pub(crate) needs: Needs,
    /// The float controls that the words demand, each with the width of its floats.
    pub(crate) float_controls: BTreeSet<(ExecutionMode, u32)>,
    /// Bytes of shared memory of each usable kernel, without dynamic shared memory.
    pub(crate) shared_bytes: Vec<u64>,
}

impl Code {
    /// Reads and checks an artifact.
    ///
    /// # Errors
    ///
    /// * `ValueError`: a rule of the artifact is broken; the message names what was expected.
    /// * `Unsupported`: a kernel whose blocks wait for each other.
    pub(crate) fn of(artifact: &Artifact<'_>, index: &Value) -> Result<Self, Error> {
        let needs: Needs = parse(&index["options"]["needs"], "`options.needs`")?;
        let mut interfaces = Vec::new();
        let kernels = Kernels::read(index, |kernel, entry| {
            if kernel.is_cooperative {
                let name = &kernel.name;
                let message =
                    format!("kernel {name}: Vulkan has no launch whose blocks may wait for each other");
                return Err(Error::new(ErrorKind::UNSUPPORTED, message));
            }
            let what = format_args!("`options` of function {}", kernel.name);
            let interface: Interface = parse(&entry["options"], what)?;
            check(kernel, &interface, &needs).map_err(|why| of_kernel(kernel, why))?;
            interfaces.push(interface);
            Ok(())
        })?;
        let bytes = ARTIFACT.section(artifact, CODE)?;
        let digest = artifact::digest(bytes);
        let written = index["options"]["spv_sha256"].as_str().unwrap_or_default();
        if written != digest {
            return Err(
                ARTIFACT.error(format_args!("expected words with the digest {written}, found {digest}"))
            );
        }
        let shader = Shader::read(bytes).map_err(|why| ARTIFACT.error(why))?;
        check_needs(&shader, &needs).map_err(|why| ARTIFACT.error(why))?;
        let unusable: BTreeSet<&str> = kernels.unusable.iter().map(|kernel| kernel.symbol.as_str()).collect();
        let entries = shader.entries.iter().filter(|entry| !unusable.contains(entry.name.as_str()));
        let entries: Vec<&Entry> = entries.collect();
        check_entries(&shader, &entries, &kernels.usable, &interfaces)?;
        let shared_bytes = entries.iter().map(|entry| entry.shared_bytes).collect();
        let (words, float_controls) = (shader.words, shader.float_controls);
        Ok(Self { words, digest, kernels, interfaces, needs, float_controls, shared_bytes })
    }
}

fn parse<T: for<'a> Deserialize<'a>>(value: &Value, what: impl std::fmt::Display) -> Result<T, Error> {
    T::deserialize(value).map_err(|error| ARTIFACT.error(format_args!("{what} of the index: {error}")))
}

fn of_kernel(kernel: &Kernel, why: String) -> Error {
    ARTIFACT.error(format_args!("kernel {}: {why}", kernel.name))
}

/// Checks the interface of a kernel in itself, and against the index's needs.
fn check(kernel: &Kernel, interface: &Interface, needs: &Needs) -> Result<(), String> {
    let (args, places) = (&kernel.args, &interface.places);
    if args.len() != places.len() {
        return Err(format!("expected a place for each of {} arguments, found {}", args.len(), places.len()));
    }
    let (mut buffers_count, mut parts) = (0, Vec::new());
    for (position, (arg, place)) in args.iter().zip(places).enumerate() {
        let expected = scalar_bytes(*arg);
        match (place, expected) {
            (Place::Buffer { binding, .. }, None) if *binding == buffers_count => buffers_count += 1,
            (Place::Address { address_at, .. }, None) => parts.push((*address_at, 8)),
            (Place::Scalar { offset_bytes, size_bytes }, Some(expected)) if *size_bytes == expected => {
                parts.push((*offset_bytes, *size_bytes));
            }
            (found, _) => return Err(format!("the place of argument {position} does not fit it: {found:?}")),
        }
    }
    let end = check_parts(&mut parts)?;
    check_block(interface.block.as_ref(), end, buffers_count, needs)?;
    if buffers_count > needs.storage_buffers {
        return Err(format!("it has {buffers_count} storage buffers, more than `needs` names"));
    }
    if interface.workgroup_size.contains(&0) {
        return Err(format!("expected a workgroup of threads, found {:?}", interface.workgroup_size));
    }
    match &interface.dynamic_shared {
        None => Ok(()),
        Some(_) if !kernel.has_dynamic_shared => {
            Err("it has dynamic shared memory, and no launch parameter for its size".to_owned())
        }
        Some(shared) if shared.element_bytes == 0 || shared.element_bytes > ELEMENT_BYTES_MAX => Err(
            format!("expected elements of 1 to {ELEMENT_BYTES_MAX} bytes, found {}", shared.element_bytes),
        ),
        Some(_) => Ok(()),
    }
}

/// Bytes that a scalar takes in the block; `None` for a pointer.
fn scalar_bytes(arg: ChipdockDataType) -> Option<u32> {
    (arg.code != CHIPDOCK_DTYPE_HANDLE).then_some(if arg.bits > 32 { 8 } else { 4 })
}

/// Checks the parts of a block, (offset, size), and returns their end.
fn check_parts(parts: &mut [(u32, u32)]) -> Result<u32, String> {
    parts.sort_unstable();
    let mut end = 0;
    for (offset, size) in parts.iter().copied() {
        if !offset.is_multiple_of(size) {
            return Err(format!("expected {size} bytes at a multiple of their size, found them at {offset}"));
        }
        if offset < end {
            return Err(format!("two places of the block overlap at {offset}"));
        }
        end = offset.checked_add(size).ok_or_else(|| format!("a place of the block at {offset}"))?;
    }
    Ok(end)
}

fn check_block(block: Option<&Block>, end: u32, buffers_count: u32, needs: &Needs) -> Result<(), String> {
    let size_bytes = match block {
        None => 0,
        Some(Block::PushConstant { size_bytes } | Block::Uniform { size_bytes, .. }) => *size_bytes,
    };
    let most = end.checked_next_multiple_of(BLOCK_ROUNDING_BYTES).unwrap_or(u32::MAX);
    if size_bytes < end || size_bytes > most || !size_bytes.is_multiple_of(4) {
        return Err(format!("expected a block of {end} to {most} bytes, found {size_bytes}"));
    }
    match block {
        Some(_) if size_bytes == 0 => Err("expected no block, since nothing lies in it".to_owned()),
        Some(Block::PushConstant { .. }) if size_bytes > needs.push_constant_bytes => {
            Err(format!("it has {size_bytes} bytes of push constants, more than `needs` names"))
        }
        Some(Block::Uniform { binding, .. }) if *binding != buffers_count => {
            Err(format!("expected the block at binding {buffers_count}, found it at {binding}"))
        }
        _ => Ok(()),
    }
}

/// The module declares what the index says it needs.
fn check_needs(shader: &Shader, needs: &Needs) -> Result<(), String> {
    if shader.version != needs.spirv {
        return Err(format!(
            "expected SPIR-V {:?} as `needs` names it, found {:?}",
            needs.spirv, shader.version
        ));
    }
    let named = needs.capabilities.iter().map(|name| {
        name.parse::<Capability>()
            .map_err(|()| format!("`needs` names {name}, which is no capability of SPIR-V"))
    });
    let named: BTreeSet<Capability> = named.collect::<Result<_, _>>()?;
    if named != shader.capabilities {
        let declared = &shader.capabilities;
        return Err(format!("expected the capabilities {named:?} as `needs` names them, found {declared:?}"));
    }
    let named: BTreeSet<String> = needs.extensions.iter().cloned().collect();
    if named != shader.extensions {
        let declared = &shader.extensions;
        return Err(format!("expected the extensions {named:?} as `needs` names them, found {declared:?}"));
    }
    let shared_bytes = shader.entries.iter().map(|entry| entry.shared_bytes).max().unwrap_or(0);
    if shared_bytes > u64::from(needs.shared_memory_bytes) {
        return Err(format!("it has {shared_bytes} bytes of shared memory, more than `needs` names"));
    }
    Ok(())
}

/// Each usable function is one of the entry points, and uses only what its launches bind.
fn check_entries(
    shader: &Shader,
    entries: &[&Entry],
    kernels: &[Kernel],
    interfaces: &[Interface],
) -> Result<(), Error> {
    let symbols: Vec<&String> = kernels.iter().map(|kernel| &kernel.symbol).collect();
    let names: Vec<&String> = entries.iter().map(|entry| &entry.name).collect();
    if symbols != names || symbols.iter().collect::<BTreeSet<_>>().len() < symbols.len() {
        return Err(
            ARTIFACT.error(format_args!("expected the entry points {symbols:?}, each once, found {names:?}"))
        );
    }
    for ((kernel, interface), entry) in kernels.iter().zip(interfaces).zip(entries) {
        let (expected, found) = (interface.workgroup_size, entry.local_size);
        if expected != found {
            return Err(of_kernel(
                kernel,
                format!("expected a workgroup of {expected:?} threads, found {found:?}"),
            ));
        }
        if let Some(resource) = entry.resources.iter().find(|resource| !is_bound(interface, resource)) {
            return Err(of_kernel(kernel, format!("it uses a resource that no launch binds: {resource:?}")));
        }
        let dynamic =
            interface.dynamic_shared.as_ref().map(|shared| (shared.constant, shared.element_bytes.into()));
        if let Some(found) = entry.dynamic_shared.iter().find(|found| dynamic != Some(**found)) {
            let why = format!(
                "expected dynamic shared memory (constant, bytes of an element) {dynamic:?}, found {found:?}"
            );
            return Err(of_kernel(kernel, why));
        }
        if let Some((constant, _)) = dynamic.filter(|(constant, _)| !shader.constants.contains(constant)) {
            let why = format!("expected a specialisation constant {constant} of 32 bits, found none");
            return Err(of_kernel(kernel, why));
        }
    }
    Ok(())
}

fn is_bound(interface: &Interface, resource: &Resource) -> bool {
    let is_buffer = |binding: u32| {
        interface
            .places
            .iter()
            .any(|place| matches!(place, Place::Buffer { binding: own, .. } if *own == binding))
    };
    match (resource, interface.block.as_ref()) {
        (Resource::Storage { binding }, _) => is_buffer(*binding),
        (
            Resource::Uniform { binding, size_bytes },
            Some(Block::Uniform { binding: own, size_bytes: most }),
        ) => binding == own && *size_bytes <= u64::from(*most),
        (Resource::PushConstant { size_bytes }, Some(Block::PushConstant { size_bytes: most })) => {
            *size_bytes <= u64::from(*most)
        }
        _ => false,
    }
}

//! What a Chipdock plugin writes against: safe traits, registration, values.

#[cfg(feature = "layout-check")]
pub mod attestation;
pub mod attribute;
pub mod cpu;
pub mod dtype;
pub mod slot;
pub mod text;

mod any;
mod codegen;
mod container;
mod convert;
mod device_api;
mod dlpack;
mod error;
mod export;
mod function;
mod host;
mod module;
mod object;
mod registration;
mod session;
mod string;
mod target_kind;
mod tensor;
mod trampoline;

/// The structs of the boundary.
pub use chipdock_abi as abi;

pub use any::{Any, AnyView, argument};
pub use chipdock_abi::{DLDataType, DLDevice, DLTensor};
pub use codegen::{BuildRequest, BuildSession, Codegen, SectionKind, Severity};
pub use container::{Array, Shape};
pub use convert::FromAny;
pub use device_api::{Copy, CopyEnd, DataSpaceKind, DataSpaceRequest, DeviceApi, Stream};
pub use dlpack::Access;
pub use error::{Error, ErrorKind, Fault};
pub use function::Function;
pub use host::{HostRef, LogLevel};
pub use module::{Artifact, EnvRef, Module, ModuleLoader, Section, Verdict};
pub use object::{ObjectRef, WeakRef};
pub use registration::{Interface, PluginFunction, Registration, registrations};
pub use string::{Bytes, Str};
pub use target_kind::{SchemaOnly, TargetKind};
pub use tensor::{CPU, Element, Tensor, TensorParts, TensorView, element_count, size_bytes};

/// What the macros expand to; not for use by hand.
#[doc(hidden)]
pub mod __private {
    #[cfg(feature = "layout-check")]
    pub use abi_stable;
    pub use inventory;

    pub use crate::registration::{init, shutdown};

    /// The one given, or the default.
    #[must_use]
    pub const fn or(given: &[&'static str], default: &'static str) -> &'static str {
        match given {
            [given, ..] => given,
            [] => default,
        }
    }

    /// Whether a plugin may be called that.
    #[must_use]
    pub const fn is_plugin_name(name: &str) -> bool {
        let bytes = name.as_bytes();
        let mut index = 0;
        while index < bytes.len() {
            if !matches!(bytes[index], b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_') {
                return false;
            }
            index += 1;
        }
        !bytes.is_empty()
    }
}

//! The name of a kind of memory, and the place of memory: what a device API is asked for.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, ErrorKind};

/// The scope that every device has.
pub(super) const GLOBAL: &str = "global";

/// A kind of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum MemoryKind {
    /// Memory of the device.
    #[default]
    Device,
    /// Page-locked host memory, which the device copies at full speed.
    Pinned,
    /// Memory of the device that the host reads and writes in place.
    HostVisible,
    /// Memory that host and device reach at one address.
    Unified,
}

impl MemoryKind {
    /// All kinds, in the order of their numbers at the boundary.
    pub const ALL: [Self; 4] = [Self::Device, Self::Pinned, Self::HostVisible, Self::Unified];

    /// Returns the name: `device`, `pinned`, `host-visible` or `unified`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Pinned => "pinned",
            Self::HostVisible => "host-visible",
            Self::Unified => "unified",
        }
    }

    /// Returns the number at the boundary.
    pub(super) const fn raw(self) -> i32 {
        match self {
            Self::Device => chipdock_abi::CHIPDOCK_DATA_SPACE_DEVICE,
            Self::Pinned => chipdock_abi::CHIPDOCK_DATA_SPACE_PINNED,
            Self::HostVisible => chipdock_abi::CHIPDOCK_DATA_SPACE_HOST_VISIBLE,
            Self::Unified => chipdock_abi::CHIPDOCK_DATA_SPACE_UNIFIED,
        }
    }
}

impl fmt::Display for MemoryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for MemoryKind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            Error::new(ErrorKind::Value, format!("expected a kind of memory ({names}), found {name:?}"))
        })
    }
}

/// Where memory is: what was asked of the device API besides the size.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(super) kind: MemoryKind,
    pub(super) scope: String,
    pub(super) alignment_bytes: u64,
}

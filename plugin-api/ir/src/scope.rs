//! Storage scopes and thread axes.

use std::fmt;
use std::str::FromStr;

/// A storage scope: rank and tag, such as `shared.dyn`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StorageScope {
    /// Threads that share the memory.
    pub rank: StorageRank,
    /// The text after the rank, including its dot (`.dyn`); may be empty. An open set: a device may
    /// have its own.
    pub tag: String,
}

/// The threads that share a piece of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StorageRank {
    /// Every thread of the device.
    Global,
    /// The threads of a block.
    Shared,
    /// The threads of a warp.
    Warp,
    /// One thread.
    Local,
    /// A scope of one kind of device, whose full name is in the tag.
    Other,
}

impl StorageScope {
    /// `global`.
    pub const GLOBAL: Self = Self { rank: StorageRank::Global, tag: String::new() };
    /// `local`.
    pub const LOCAL: Self = Self { rank: StorageRank::Local, tag: String::new() };
    /// `shared`.
    pub const SHARED: Self = Self { rank: StorageRank::Shared, tag: String::new() };

    /// Parses a scope; an empty text is `global`. Never fails: an unknown scope has rank
    /// [`StorageRank::Other`].
    #[must_use]
    pub fn parse(text: &str) -> Self {
        if text.is_empty() {
            return Self::GLOBAL;
        }
        let (head, tag) = text.find('.').map_or((text, ""), |dot| text.split_at(dot));
        let rank = match head {
            "global" => StorageRank::Global,
            "shared" => StorageRank::Shared,
            "warp" => StorageRank::Warp,
            "local" => StorageRank::Local,
            _ => return Self { rank: StorageRank::Other, tag: text.to_owned() },
        };
        Self { rank, tag: tag.to_owned() }
    }

    /// Returns true for shared memory whose size is a launch parameter.
    #[must_use]
    pub fn is_dynamic_shared(&self) -> bool {
        self.rank == StorageRank::Shared && self.tag == ".dyn"
    }
}

impl fmt::Display for StorageScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rank = match self.rank {
            StorageRank::Global => "global",
            StorageRank::Shared => "shared",
            StorageRank::Warp => "warp",
            StorageRank::Local => "local",
            StorageRank::Other => "",
        };
        write!(f, "{rank}{}", self.tag)
    }
}

/// A thread axis that a loop may be bound to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ThreadAxis {
    /// `blockIdx.x`
    BlockX,
    /// `blockIdx.y`
    BlockY,
    /// `blockIdx.z`
    BlockZ,
    /// `threadIdx.x`
    ThreadX,
    /// `threadIdx.y`
    ThreadY,
    /// `threadIdx.z`
    ThreadZ,
    /// `vthread.x`: a virtual thread, unrolled into its thread.
    VirtualX,
    /// `vthread.y`
    VirtualY,
    /// `vthread.z`
    VirtualZ,
}

impl ThreadAxis {
    /// Every axis with its name.
    pub const ALL: &'static [(Self, &'static str)] = &[
        (Self::BlockX, "blockIdx.x"),
        (Self::BlockY, "blockIdx.y"),
        (Self::BlockZ, "blockIdx.z"),
        (Self::ThreadX, "threadIdx.x"),
        (Self::ThreadY, "threadIdx.y"),
        (Self::ThreadZ, "threadIdx.z"),
        (Self::VirtualX, "vthread.x"),
        (Self::VirtualY, "vthread.y"),
        (Self::VirtualZ, "vthread.z"),
    ];

    /// Returns the axis' name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(axis, _)| *axis == self).map_or("", |(_, name)| name)
    }
}

impl fmt::Display for ThreadAxis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ThreadAxis {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = if text == "vthread" { "vthread.x" } else { text };
        Self::ALL.iter().find(|(_, name)| *name == text).map(|(axis, _)| *axis).ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|(_, name)| *name).collect();
            format!("unknown thread axis \"{text}\"; expected one of {}", names.join(", "))
        })
    }
}

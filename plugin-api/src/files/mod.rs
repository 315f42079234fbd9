//! Files that a plugin writes: caches, and folders for temporary files; and which file a path led
//! to. Feature `files`.
//!
//! A neighbour is another user of the machine, who may do what the permissions of folders allow, at
//! any moment. Files here are therefore reached by the descriptor of a folder that was checked once
//! and is the user's alone, never a second time by its path; a file is checked after it was opened,
//! and links are not followed.

pub mod cache;
pub mod identity;
pub mod kept;
pub mod scratch;
pub mod whole;

mod folder;
mod tool;

//! Linking of an object into this process without libLLVM.
//!
//! The objects of this kind have few sorts of sections and relocations, and opening libLLVM takes
//! many times as long as linking one. [`Linked`] does what LLVM's linker does for these objects,
//! and leaves all others to it.
//!
//! * **LLLINK-N1** An object was checked before ([`Plan`]): its sections, symbols and relocations
//!   lie within it. Each relocation is written within the section that it is of, whatever its
//!   numbers are.
//! * **LLLINK-N2** What this linker does not know is left to LLVM's, which links the object or says
//!   why it cannot: a relocation of another kind, a value that does not fit into its field, a
//!   symbol in a section that takes no memory. Nothing of the object is kept then.
//! * **LLLINK-N3** No memory is writable and executable at once. Code and constants are written
//!   first and protected after that, before an address is given away; variables stay writable.
//! * **LLLINK-N4** A function or variable of the process that is too far away for a call or an
//!   address is reached through an entry of a table (GOT) beside the code.
//! * **LLLINK-N5** Unwind tables are not loaded, as with LLVM's linker here: nothing unwinds
//!   through compiled code.
//! * **LLLINK-N6** Dropping a [`Linked`] unmaps its memory; that of a forked child is its own.
//! * **LLLINK-N7** gdb learns of an object through libLLVM's list (LLNAME-J2): where its setting is
//!   on, LLVM's linker links.

mod memory;
mod place;
mod relocate;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use crate::llvm::plan::Plan;
use memory::{Memory, Use, page_bytes};

/// An object in the memory of this process. Dropping it frees its code: the owner of an address
/// must also own this.
pub(crate) struct Linked {
    addresses: HashMap<String, usize>,
    _memory: Memory,
}

impl Linked {
    /// Links the object of a plan; `None` if that is for LLVM's linker to do (LLLINK-N2).
    pub(crate) fn new(plan: &Plan<'_>) -> Option<Self> {
        let placed = place::place(plan, page_bytes())?;
        let mut memory = Memory::new(placed.size_bytes())?;
        let base = memory.address();
        placed.write(plan, base as u64, memory.writable())?;
        for (part, uses) in placed.parts().iter().filter(|(_, uses)| *uses != Use::Variables) {
            memory.protect(part.clone(), *uses)?;
        }
        memory.make_visible();
        let addresses = plan
            .wanted
            .iter()
            .map(|name| Some((name.clone(), base.checked_add(placed.place_of(name)?)?)))
            .collect::<Option<_>>()?;
        Some(Self { addresses, _memory: memory })
    }

    /// The addresses of the symbols that the plan wants.
    pub(crate) fn addresses(&self) -> &HashMap<String, usize> {
        &self.addresses
    }
}

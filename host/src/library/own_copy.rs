//! Changes to a library's private copy before it is opened (LIB-6): where its symbols lead, and
//! nothing else of it.
//!
//! A symbol that is local to a library leads where the library's own table says, and nobody else
//! finds it: so a function of the host is given to one copy alone, under a name that the process
//! does not have.

use std::borrow::Cow;

use object::Endianness;
use object::elf::{self, FileHeader64, Sym64};
use object::read::elf::{ElfFile, ProgramHeader as _, Sym as _};

/// Where the fields of a symbol begin: binding and type, visibility, section, value.
const INFO: usize = 4;
const OTHER: usize = 5;
const SECTION: usize = 6;
const VALUE: usize = 8;

/// What is changed in a copy.
#[derive(Debug, Default)]
pub(super) struct Changes<'a> {
    /// Addresses of functions, for undefined symbols of these names.
    pub(super) lead_to: Vec<(&'a str, usize)>,
    /// Symbol that whoever opens the copy does not find.
    pub(super) hidden: Option<&'a str>,
}

impl Changes<'_> {
    /// Returns the bytes of the copy.
    ///
    /// # Errors
    ///
    /// The table of symbols is not the one that the dynamic linker reads.
    pub(super) fn apply<'b>(&self, bytes: &'b [u8]) -> Result<Cow<'b, [u8]>, String> {
        if self.lead_to.is_empty() && self.hidden.is_none() {
            return Ok(Cow::Borrowed(bytes));
        }
        let file: ElfFile<'_, FileHeader64<Endianness>> =
            ElfFile::parse(bytes).map_err(|error| error.to_string())?;
        let endian = file.endian();
        let table = *file.elf_dynamic_symbol_table();
        let start = table.symbols().as_ptr().addr().checked_sub(bytes.as_ptr().addr());
        let start = start.filter(|start| *start < bytes.len() && Some(*start) == symbols_offset(&file));
        let start = start.ok_or("its table of symbols is not the one that a dynamic linker reads")?;
        let mut changed = bytes.to_vec();
        for (index, symbol) in table.symbols().iter().enumerate() {
            let Some(name) =
                table.symbol_name(endian, symbol).ok().and_then(|name| str::from_utf8(name).ok())
            else {
                continue;
            };
            let at = start + index * size_of::<Sym64<Endianness>>();
            let Some(entry) = changed.get_mut(at..at + size_of::<Sym64<Endianness>>()) else {
                return Err("its table of symbols is cut short".to_owned());
            };
            let lead_to = self.lead_to.iter().find(|(known, _)| *known == name);
            if let Some((_, address)) = lead_to.filter(|_| symbol.is_undefined(endian)) {
                entry[INFO] = elf::STB_LOCAL << 4 | elf::STT_FUNC;
                // What a lazy call looks at in place of the binding.
                entry[OTHER] = elf::STV_HIDDEN;
                entry[SECTION..VALUE].copy_from_slice(&elf::SHN_ABS.to_le_bytes());
                entry[VALUE..VALUE + 8].copy_from_slice(&(*address as u64).to_le_bytes());
            } else if self.hidden == Some(name) {
                entry[INFO] = elf::STB_LOCAL << 4 | symbol.st_type();
            }
        }
        Ok(Cow::Owned(changed))
    }
}

/// Returns where the table of symbols that the dynamic linker reads is in the file.
fn symbols_offset(file: &ElfFile<'_, FileHeader64<Endianness>>) -> Option<usize> {
    let endian = file.endian();
    let table = file.elf_dynamic_table().ok()?;
    let address = table.into_iter().find(|entry| entry.tag == elf::DT_SYMTAB)?.val;
    file.elf_program_headers().iter().find_map(|header| {
        let at = address.checked_sub(header.p_vaddr(endian)).filter(|at| *at < header.p_filesz(endian))?;
        let is_loaded = header.p_type(endian) == elf::PT_LOAD;
        is_loaded.then(|| header.p_offset(endian).checked_add(at).and_then(|at| usize::try_from(at).ok()))?
    })
}

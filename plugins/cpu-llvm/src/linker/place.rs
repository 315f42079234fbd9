//! Places of an object's sections in memory, and its bytes there.

use core::ops::Range;
use std::collections::BTreeMap;

use object::elf::{self, FileHeader64, Rela64, SectionHeader64, Sym64};
use object::read::elf::{FileHeader, Rela, SectionHeader, SectionTable, Sym, SymbolTable};
use object::{LittleEndian, SectionIndex, SymbolIndex};

use super::memory::Use;
use super::relocate::{self, Needs, Relocation, STUB_BYTES};
use crate::llvm::plan::Plan;

type Elf = FileHeader64<LittleEndian>;
type Section = SectionHeader64<LittleEndian>;
const ENDIAN: LittleEndian = LittleEndian;
/// A section, its number, and its relocations.
type OfSection<'a> = (&'a Section, SectionIndex, &'a [Rela64<LittleEndian>]);
/// The size in bytes of an entry of the table of addresses.
const ENTRY_BYTES: usize = 8;

/// An object whose sections have places in a memory, which begins with a page.
pub(super) struct Placed<'a> {
    object: &'a [u8],
    machine: u16,
    sections: SectionTable<'a, Elf>,
    symbols: SymbolTable<'a, Elf>,
    /// The place of each section, by its number; `None` for one that takes no memory.
    places: Vec<Option<usize>>,
    /// The places of entries and of stubs, by the numbers of their symbols.
    entries: BTreeMap<usize, usize>,
    stubs: BTreeMap<usize, usize>,
    parts: Vec<(Range<usize>, Use)>,
}

/// Places of memory, given away in order.
struct Room {
    end: usize,
}

impl Room {
    fn take(&mut self, size_bytes: usize, alignment: usize) -> Option<usize> {
        let place = self.end.checked_next_multiple_of(alignment.max(1))?;
        self.end = place.checked_add(size_bytes)?;
        Some(place)
    }
}

/// What a section is for; `None` for one that takes no memory.
fn use_of(section: &Section) -> Option<Use> {
    let has = |flag: u32| section.sh_flags(ENDIAN) & u64::from(flag) != 0;
    if !has(elf::SHF_ALLOC) || section.sh_type(ENDIAN) == elf::SHT_NULL {
        return None;
    }
    Some(match (has(elf::SHF_EXECINSTR), has(elf::SHF_WRITE)) {
        (true, _) => Use::Code,
        (false, true) => Use::Variables,
        (false, false) => Use::Constants,
    })
}

/// Places the object of a plan, for pages of so many bytes; `None` where it is not one that this
/// linker knows.
pub(super) fn place<'a>(plan: &Plan<'a>, page_bytes: usize) -> Option<Placed<'a>> {
    let header = Elf::parse(plan.object).ok()?;
    let sections = header.sections(ENDIAN, plan.object).ok()?;
    let symbols = sections.symbols(ENDIAN, plan.object, elf::SHT_SYMTAB).ok()?;
    let machine = header.e_machine(ENDIAN);
    let is_unwinding = |section: &Section| sections.section_name(ENDIAN, section) == Ok(b".eh_frame");
    let uses: Vec<Option<Use>> =
        sections.iter().map(|section| use_of(section).filter(|_| !is_unwinding(section))).collect();
    let mut places = vec![None; uses.len()];
    let mut placed = Placed {
        object: plan.object,
        machine,
        sections,
        symbols,
        places: Vec::new(),
        entries: BTreeMap::new(),
        stubs: BTreeMap::new(),
        parts: Vec::new(),
    };
    placed.find_needs(&uses)?;
    let mut room = Room { end: 0 };
    for part in [Use::Code, Use::Constants, Use::Variables] {
        let start = room.take(0, page_bytes)?;
        for ((section, used), place) in sections.iter().zip(&uses).zip(&mut places) {
            if *used == Some(part) {
                let size_bytes = usize::try_from(section.sh_size(ENDIAN)).ok()?;
                let alignment = usize::try_from(section.sh_addralign(ENDIAN)).ok()?;
                *place = Some(room.take(size_bytes, alignment)?);
            }
        }
        let (tables, size_bytes) = match part {
            Use::Code => (&mut placed.stubs, STUB_BYTES),
            Use::Constants => (&mut placed.entries, ENTRY_BYTES),
            Use::Variables => (&mut BTreeMap::new(), 1),
        };
        for place in tables.values_mut() {
            *place = room.take(size_bytes, size_bytes)?;
        }
        placed.parts.push((start..room.end, part));
    }
    placed.places = places;
    Some(placed)
}

impl<'a> Placed<'a> {
    pub(super) fn size_bytes(&self) -> usize {
        self.parts.last().map_or(0, |(range, _)| range.end)
    }

    /// The ranges of the memory, each of which begins with a page.
    pub(super) fn parts(&self) -> &[(Range<usize>, Use)] {
        &self.parts
    }

    #[cfg(test)]
    pub(super) fn stubs(&self) -> usize {
        self.stubs.len()
    }

    #[cfg(test)]
    pub(super) fn entries(&self) -> usize {
        self.entries.len()
    }

    /// The place of a symbol that the object defines and shows.
    pub(super) fn place_of(&self, name: &str) -> Option<usize> {
        let is_it = |symbol: &&Sym64<LittleEndian>| {
            symbol.st_bind() != elf::STB_LOCAL
                && symbol.st_shndx(ENDIAN) != elf::SHN_UNDEF
                && self.symbols.symbol_name(ENDIAN, symbol) == Ok(name.as_bytes())
        };
        self.defined(self.symbols.iter().skip(1).find(is_it)?)
    }

    /// The place of a symbol of this object; `None` if its section takes no memory.
    fn defined(&self, symbol: &Sym64<LittleEndian>) -> Option<usize> {
        let section = (*self.places.get(usize::from(symbol.st_shndx(ENDIAN)))?)?;
        section.checked_add(usize::try_from(symbol.st_value(ENDIAN)).ok()?)
    }

    /// The relocations of each section.
    fn relocations(&self) -> Option<Vec<OfSection<'a>>> {
        let mut found = Vec::new();
        for section in self.sections.iter().filter(|section| section.sh_type(ENDIAN) == elf::SHT_RELA) {
            let of = section.info_link(ENDIAN);
            let (relocations, _) = section.rela(ENDIAN, self.object).ok()??;
            found.push((self.sections.section(of).ok()?, of, relocations));
        }
        Some(found)
    }

    /// Finds the symbols that have an entry or a stub, and gives them no place yet.
    fn find_needs(&mut self, uses: &[Option<Use>]) -> Option<()> {
        for (_, of, relocations) in self.relocations()? {
            if uses.get(of.0).copied().flatten().is_none() {
                continue;
            }
            for relocation in relocations {
                let needs = relocate::needs(self.machine, relocation.r_type(ENDIAN, false));
                let Some(index) = relocation.symbol(ENDIAN, false).filter(|_| needs != Needs::Nothing) else {
                    continue;
                };
                let is_far = self.symbols.symbol(index).ok()?.st_shndx(ENDIAN) == elf::SHN_UNDEF;
                if needs == Needs::Stub && !is_far {
                    continue;
                }
                self.entries.insert(index.0, 0);
                if needs == Needs::Stub {
                    self.stubs.insert(index.0, 0);
                }
            }
        }
        Some(())
    }

    /// Writes the object into memory that is mapped at `base`; `None` where a relocation is not one
    /// that this linker knows, and then the memory is to be dropped.
    pub(super) fn write(&self, plan: &Plan<'_>, base: u64, memory: &mut [u8]) -> Option<()> {
        for (section, place) in self.sections.iter().zip(&self.places) {
            let data = section.data(ENDIAN, self.object).ok()?;
            // A section of zeros has no data: the memory is zero.
            if let Some(place) = *place {
                memory.get_mut(place..)?.get_mut(..data.len())?.copy_from_slice(data);
            }
        }
        let address = |place: usize| base.wrapping_add(place as u64);
        for (index, place) in &self.entries {
            let symbol = self.address_of(plan, base, SymbolIndex(*index))?;
            memory.get_mut(*place..)?.get_mut(..ENTRY_BYTES)?.copy_from_slice(&symbol.to_le_bytes());
        }
        for (index, place) in &self.stubs {
            let entry = address(*self.entries.get(index)?);
            let code = relocate::stub(self.machine, address(*place), entry)?;
            memory.get_mut(*place..)?.get_mut(..STUB_BYTES)?.copy_from_slice(&code);
        }
        for (section, of, relocations) in self.relocations()? {
            let Some(start) = self.places.get(of.0).copied().flatten() else { continue };
            let size_bytes = usize::try_from(section.sh_size(ENDIAN)).ok()?;
            let bytes = memory.get_mut(start..)?.get_mut(..size_bytes)?;
            for relocation in relocations {
                let kind = relocation.r_type(ENDIAN, false);
                // Number 0 of both machines: none.
                if kind == elf::R_X86_64_NONE || kind == elf::R_AARCH64_NONE {
                    continue;
                }
                let index = relocation.symbol(ENDIAN, false)?;
                let offset = usize::try_from(relocation.r_offset(ENDIAN)).ok()?;
                let relocation = Relocation {
                    kind,
                    place: address(start.checked_add(offset)?),
                    symbol: self.address_of(plan, base, index)?,
                    addend: relocation.r_addend(ENDIAN),
                    entry: self.entries.get(&index.0).map(|place| address(*place)),
                    stub: self.stubs.get(&index.0).map(|place| address(*place)),
                };
                relocate::apply(self.machine, &relocation, bytes.get_mut(offset..)?)?;
            }
        }
        Some(())
    }

    /// The address of a symbol, of this object or of the process.
    fn address_of(&self, plan: &Plan<'_>, base: u64, index: SymbolIndex) -> Option<u64> {
        let symbol = self.symbols.symbol(index).ok()?;
        if symbol.st_shndx(ENDIAN) != elf::SHN_UNDEF {
            return Some(base.wrapping_add(self.defined(symbol)? as u64));
        }
        let name = self.symbols.symbol_name(ENDIAN, symbol).ok()?;
        plan.external(core::str::from_utf8(name).ok()?).map(|address| address as u64)
    }
}

//! Checks of an object before a linker sees it: LLVM's trusts the offsets in it.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::offset_of;

use object::elf::{self, FileHeader64, Rela64, SectionHeader64, Sym64};
use object::read::elf::{FileHeader, Rela, SectionHeader, SectionTable, Sym, SymbolTable};
use object::{LittleEndian, SectionIndex, SymbolIndex};

type Elf = FileHeader64<LittleEndian>;
const ENDIAN: LittleEndian = LittleEndian;

/// A table of LLVM's about address-significant symbols; the linker ignores it.
const LLVM_ADDRSIG: u32 = 0x6fff_4c03;
/// Maximum size in bytes of a section without contents.
const ZEROS_MAX: u64 = 1 << 30;
/// Maximum alignment of a section: LLVM's linker fails on a larger one.
const ALIGNMENT_MAX: u64 = 4096;

/// Symbols that an object defines and needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Checked {
    /// Global functions and data that it defines.
    pub(crate) defined: BTreeSet<String>,
    /// Defined symbols that are code.
    pub(crate) functions: BTreeSet<String>,
    /// Defined symbols to which a pointer may be written.
    pub(crate) variables: BTreeSet<String>,
    /// Undefined symbols, each once.
    pub(crate) undefined: BTreeSet<String>,
}

/// The name of a machine, given its ELF number.
fn machine_name(machine: u16) -> String {
    match machine {
        elf::EM_X86_64 => "x86-64".to_owned(),
        elf::EM_AARCH64 => "aarch64".to_owned(),
        elf::EM_ARM => "arm".to_owned(),
        elf::EM_RISCV => "riscv".to_owned(),
        elf::EM_386 => "i386".to_owned(),
        other => format!("number {other}"),
    }
}

/// The ELF number of this process' machine, if objects can be linked for it.
pub(crate) const HOST_MACHINE: Option<u16> = if cfg!(target_arch = "x86_64") {
    Some(elf::EM_X86_64)
} else if cfg!(target_arch = "aarch64") {
    Some(elf::EM_AARCH64)
} else {
    None
};

/// Checks an object for this process; the error describes the problem.
pub(crate) fn check(bytes: &[u8]) -> Result<Checked, String> {
    let Some(host) = HOST_MACHINE else {
        return Err(format!("objects are linked on x86-64 and aarch64, this is {}", std::env::consts::ARCH));
    };
    let header = header(bytes, host)?;
    let sections = header.sections(ENDIAN, bytes).map_err(|error| error.to_string())?;
    let mut symbol_tables = Vec::new();
    for (index, section) in sections.enumerate() {
        let name = sections.section_name(ENDIAN, section);
        name.map_err(|error| format!("section {index}: its name cannot be read: {error}"))?;
        check_section(bytes, section).map_err(|why| format!("section {index}: {why}"))?;
        if section.sh_type(ENDIAN) == elf::SHT_SYMTAB {
            symbol_tables.push(index);
        }
    }
    let &[symbol_table] = symbol_tables.as_slice() else {
        return Err(format!("expected one table of symbols, found {}", symbol_tables.len()));
    };
    let symbols =
        sections.symbol_table_by_index(ENDIAN, bytes, symbol_table).map_err(|error| error.to_string())?;
    let checked = check_symbols(&sections, &symbols)?;
    for (index, section) in sections.enumerate() {
        if section.sh_type(ENDIAN) == elf::SHT_RELA {
            check_relocations(bytes, host, &sections, section, symbol_table, symbols.len())
                .map_err(|why| format!("section {index}: {why}"))?;
        }
    }
    Ok(checked)
}

fn header(bytes: &[u8], host: u16) -> Result<&Elf, String> {
    if !bytes.starts_with(&elf::ELFMAG) {
        let start: Vec<u8> = bytes.iter().copied().take(4).collect();
        return Err(format!(
            "expected an ELF object, found {} bytes that begin with {start:02x?}",
            bytes.len()
        ));
    }
    if bytes.get(4) != Some(&elf::ELFCLASS64) || bytes.get(5) != Some(&elf::ELFDATA2LSB) {
        return Err("expected a 64-bit little-endian object".to_owned());
    }
    let header = Elf::parse(bytes).map_err(|error| error.to_string())?;
    if !header.is_supported() || header.e_version(ENDIAN) != u32::from(elf::EV_CURRENT) {
        return Err("expected version 1 of ELF".to_owned());
    }
    let kind = header.e_type(ENDIAN);
    if kind != elf::ET_REL {
        return Err(format!("expected a relocatable object (type 1), found type {kind}"));
    }
    let machine = header.e_machine(ENDIAN);
    if machine != host {
        return Err(format!("expected code for {}, found {}", machine_name(host), machine_name(machine)));
    }
    if usize::from(header.e_shentsize(ENDIAN)) != size_of::<SectionHeader64<LittleEndian>>() {
        return Err("section headers are not of the size of ELF's".to_owned());
    }
    Ok(header)
}

fn check_section(bytes: &[u8], section: &SectionHeader64<LittleEndian>) -> Result<(), String> {
    let flags = section.sh_flags(ENDIAN);
    match section.sh_type(ENDIAN) {
        elf::SHT_NULL => return Ok(()),
        elf::SHT_NOBITS => {
            if flags & u64::from(elf::SHF_ALLOC) == 0 {
                return Err("a section of zeros takes no memory".to_owned());
            }
            let size = section.sh_size(ENDIAN);
            if size > ZEROS_MAX {
                return Err(format!("{size} bytes of zeros, expected at most {ZEROS_MAX}"));
            }
        }
        elf::SHT_PROGBITS
        | elf::SHT_NOTE
        | elf::SHT_STRTAB
        | elf::SHT_SYMTAB
        | elf::SHT_RELA
        | elf::SHT_X86_64_UNWIND
        | LLVM_ADDRSIG => {
            section.data(ENDIAN, bytes).map_err(|error| error.to_string())?;
        }
        other => return Err(format!("its type {other:#x} is not one that compiled kernels have")),
    }
    if section.sh_addr(ENDIAN) != 0 {
        return Err("it has an address already".to_owned());
    }
    let alignment = section.sh_addralign(ENDIAN);
    if alignment != 0 && !alignment.is_power_of_two() || alignment > ALIGNMENT_MAX {
        return Err(format!(
            "expected an alignment of at most {ALIGNMENT_MAX}, a power of two, found {alignment}"
        ));
    }
    let refused = u64::from(elf::SHF_TLS | elf::SHF_GROUP | elf::SHF_COMPRESSED);
    if flags & refused != 0 {
        return Err("thread-local, grouped and compressed sections are not taken".to_owned());
    }
    let both = u64::from(elf::SHF_WRITE | elf::SHF_EXECINSTR);
    if flags & both == both {
        return Err("it is writable code".to_owned());
    }
    Ok(())
}

fn check_symbols(
    sections: &SectionTable<'_, Elf>,
    symbols: &SymbolTable<'_, Elf>,
) -> Result<Checked, String> {
    let mut checked = Checked::default();
    for (index, symbol) in symbols.enumerate().skip(1) {
        let name = symbols.symbol_name(ENDIAN, symbol).map_err(|error| format!("{index}: {error}"))?;
        let name =
            core::str::from_utf8(name).map_err(|_| format!("symbol {index}: its name is not UTF-8"))?;
        let kind = symbol.st_type();
        let is_known = matches!(
            kind,
            elf::STT_NOTYPE | elf::STT_OBJECT | elf::STT_FUNC | elf::STT_SECTION | elf::STT_FILE
        );
        if !is_known || symbol.st_bind() > elf::STB_WEAK {
            return Err(format!("symbol {name}: expected plain code or data, found type {kind}"));
        }
        match symbol.st_shndx(ENDIAN) {
            elf::SHN_ABS if kind == elf::STT_FILE => {}
            elf::SHN_UNDEF if symbol.st_bind() == elf::STB_LOCAL => {
                return Err(format!("symbol {name} is local, and not defined"));
            }
            elf::SHN_UNDEF => {
                checked.undefined.insert(name.to_owned());
            }
            number if number >= elf::SHN_LORESERVE => {
                return Err(format!("symbol {name}: expected one of the sections, found {number:#x}"));
            }
            number => {
                let section = sections
                    .section(SectionIndex(usize::from(number)))
                    .map_err(|error| format!("symbol {name}: {error}"))?;
                define(&mut checked, name, symbol, section)?;
            }
        }
    }
    Ok(checked)
}

fn define(
    checked: &mut Checked,
    name: &str,
    symbol: &Sym64<LittleEndian>,
    section: &SectionHeader64<LittleEndian>,
) -> Result<(), String> {
    let end = symbol.st_value(ENDIAN).checked_add(symbol.st_size(ENDIAN));
    if end.is_none_or(|end| end > section.sh_size(ENDIAN)) {
        return Err(format!("symbol {name} lies outside of its section"));
    }
    if symbol.st_bind() == elf::STB_LOCAL {
        return Ok(());
    }
    if name.is_empty() || !checked.defined.insert(name.to_owned()) {
        return Err(format!("symbol \"{name}\" is defined twice, or has no name"));
    }
    let is_code = section.sh_flags(ENDIAN) & u64::from(elf::SHF_EXECINSTR) != 0;
    if is_code && symbol.st_type() == elf::STT_FUNC {
        checked.functions.insert(name.to_owned());
    }
    let is_writable = section.sh_flags(ENDIAN) & u64::from(elf::SHF_WRITE) != 0;
    let is_aligned = symbol.st_value(ENDIAN).is_multiple_of(8) && section.sh_addralign(ENDIAN) >= 8;
    if is_writable && is_aligned && symbol.st_size(ENDIAN) >= 8 {
        checked.variables.insert(name.to_owned());
    }
    Ok(())
}

fn check_relocations(
    bytes: &[u8],
    host: u16,
    sections: &SectionTable<'_, Elf>,
    section: &SectionHeader64<LittleEndian>,
    symbol_table: SectionIndex,
    symbols_count: usize,
) -> Result<(), String> {
    let size = section.sh_size(ENDIAN);
    let entry = size_of::<Rela64<LittleEndian>>() as u64;
    if section.sh_entsize(ENDIAN) != entry || !size.is_multiple_of(entry) {
        return Err("its entries are not of the size of ELF's".to_owned());
    }
    if section.link(ENDIAN) != symbol_table {
        return Err("its relocations are not of the object's table of symbols".to_owned());
    }
    let target = sections.section(section.info_link(ENDIAN)).map_err(|error| error.to_string())?;
    if target.sh_type(ENDIAN) == elf::SHT_NOBITS || target.sh_type(ENDIAN) == elf::SHT_NULL {
        return Err("its relocations are of a section without contents".to_owned());
    }
    let (relocations, _) = section
        .rela(ENDIAN, bytes)
        .map_err(|error| error.to_string())?
        .ok_or_else(|| "no relocations".to_owned())?;
    for relocation in relocations {
        let kind = relocation.r_type(ENDIAN, false);
        let offset = relocation.r_offset(ENDIAN);
        let Some((before, width)) = extent(host, kind) else {
            return Err(format!("relocation of type {kind} is not one that compiled kernels have"));
        };
        let end = offset.checked_add(width);
        if offset < before || end.is_none_or(|end| end > target.sh_size(ENDIAN)) {
            return Err(format!("a relocation at {offset:#x} lies outside of its section"));
        }
        let symbol = relocation.symbol(ENDIAN, false).unwrap_or(SymbolIndex(0));
        if symbol.0 >= symbols_count {
            return Err(format!("a relocation at {offset:#x} is of symbol {symbol}, which is not there"));
        }
    }
    Ok(())
}

/// Number of bytes before a relocation's position and from it on that the linker reads or writes.
fn extent(host: u16, kind: u32) -> Option<(u64, u64)> {
    if host == elf::EM_X86_64 {
        return Some(match kind {
            elf::R_X86_64_NONE => (0, 0),
            elf::R_X86_64_64 | elf::R_X86_64_PC64 | elf::R_X86_64_GOTOFF64 => (0, 8),
            elf::R_X86_64_PC32
            | elf::R_X86_64_PLT32
            | elf::R_X86_64_GOTPCREL
            | elf::R_X86_64_GOTPC32
            | elf::R_X86_64_32
            | elf::R_X86_64_32S => (0, 4),
            // The preceding instruction is rewritten if the symbol is near.
            elf::R_X86_64_GOTPCRELX => (2, 4),
            elf::R_X86_64_REX_GOTPCRELX => (3, 4),
            _ => return None,
        });
    }
    Some(match kind {
        elf::R_AARCH64_NONE => (0, 0),
        elf::R_AARCH64_ABS64 | elf::R_AARCH64_PREL64 => (0, 8),
        elf::R_AARCH64_ABS32
        | elf::R_AARCH64_PREL32
        | elf::R_AARCH64_ADR_PREL_PG_HI21
        | elf::R_AARCH64_ADR_GOT_PAGE
        | elf::R_AARCH64_ADD_ABS_LO12_NC
        | elf::R_AARCH64_LD64_GOT_LO12_NC
        | elf::R_AARCH64_CALL26
        | elf::R_AARCH64_JUMP26
        | elf::R_AARCH64_LDST8_ABS_LO12_NC
        | elf::R_AARCH64_LDST16_ABS_LO12_NC
        | elf::R_AARCH64_LDST32_ABS_LO12_NC
        | elf::R_AARCH64_LDST64_ABS_LO12_NC
        | elf::R_AARCH64_LDST128_ABS_LO12_NC => (0, 4),
        _ => return None,
    })
}

/// Removes the unwind tables from a checked object.
///
/// Linked code is never unwound through (P8), and LLVM 19 reads beyond the end of a damaged table.
pub(super) fn drop_unwind_tables(object: &mut [u8]) {
    for (at, size) in unwind_fields(object).unwrap_or_default() {
        if let Some(field) = at.checked_add(size).and_then(|end| object.get_mut(at..end)) {
            field.fill(0);
        }
    }
}

/// Offsets and sizes of the fields that mark a section as an unwind table: without its name and its
/// address, a section is not used as one, and without a type it relocates nothing.
fn unwind_fields(object: &[u8]) -> Option<Vec<(usize, usize)>> {
    type Section = SectionHeader64<LittleEndian>;
    let header = Elf::parse(object).ok()?;
    let sections = header.sections(ENDIAN, object).ok()?;
    let first = usize::try_from(header.e_shoff(ENDIAN)).ok()?;
    let mut fields = Vec::new();
    for (index, section) in sections.enumerate() {
        let at = first.checked_add(index.0 * size_of::<Section>())?;
        match sections.section_name(ENDIAN, section) {
            Ok(b".eh_frame") => {
                fields.extend([
                    (at + offset_of!(Section, sh_name), 4),
                    (at + offset_of!(Section, sh_flags), 8),
                ]);
            }
            Ok(b".rela.eh_frame") => fields.push((at + offset_of!(Section, sh_type), 4)),
            _ => {}
        }
    }
    Some(fields)
}

/// A function of an object, possibly an internal one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) name: String,
    /// Index of its section, and its offset in the section.
    pub(super) section: usize,
    pub(super) offset: usize,
    pub(super) size_bytes: u64,
    pub(super) is_global: bool,
}

/// The functions of a checked object.
pub(super) fn functions(object: &[u8]) -> Vec<Function> {
    fn read(object: &[u8]) -> Option<Vec<Function>> {
        let sections = Elf::parse(object).ok()?.sections(ENDIAN, object).ok()?;
        let symbols = sections.symbols(ENDIAN, object, elf::SHT_SYMTAB).ok()?;
        let function = |symbol: &Sym64<LittleEndian>| {
            let section = symbol.st_shndx(ENDIAN);
            let is_here = section != elf::SHN_UNDEF && section < elf::SHN_LORESERVE;
            let name = symbols.symbol_name(ENDIAN, symbol).ok()?;
            (is_here && symbol.st_type() == elf::STT_FUNC).then(|| Function {
                name: String::from_utf8_lossy(name).into_owned(),
                section: usize::from(section),
                offset: symbol.st_value(ENDIAN) as usize,
                size_bytes: symbol.st_size(ENDIAN),
                is_global: symbol.st_bind() != elf::STB_LOCAL,
            })
        };
        Some(symbols.iter().filter_map(function).collect())
    }
    read(object).unwrap_or_default()
}

/// Writes the addresses of its code sections into a checked object. Other sections are marked as
/// not loaded, since their addresses are unknown.
pub(super) fn place_sections(object: &mut [u8], places: &BTreeMap<usize, usize>) {
    type Section = SectionHeader64<LittleEndian>;
    let fields = || {
        let header = Elf::parse(&*object).ok()?;
        let sections = header.sections(ENDIAN, &*object).ok()?;
        let first = usize::try_from(header.e_shoff(ENDIAN)).ok()?;
        let field = |(index, section): (SectionIndex, &Section)| {
            let at = first + index.0 * size_of::<Section>();
            match places.get(&index.0) {
                Some(place) => (at + offset_of!(Section, sh_addr), *place as u64),
                None => {
                    let flags = section.sh_flags(ENDIAN) & !u64::from(elf::SHF_ALLOC);
                    (at + offset_of!(Section, sh_flags), flags)
                }
            }
        };
        Some(sections.enumerate().map(field).collect::<Vec<_>>())
    };
    for (at, value) in fields().unwrap_or_default() {
        if let Some(field) = object.get_mut(at..at + 8) {
            field.copy_from_slice(&value.to_le_bytes());
        }
    }
}

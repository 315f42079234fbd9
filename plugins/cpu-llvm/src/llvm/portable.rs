//! Checks of an object for any machine, before linkers see it.

use object::Endianness;
use object::elf::{self, FileHeader32, FileHeader64};
use object::read::elf::{FileHeader, SectionHeader, Sym};

/// First bytes of objects that are not ELF: WebAssembly, Mach-O of 64 and 32 bits, COFF for x86-64,
/// AArch64, x86 and ARM.
const OTHER_FORMATS: &[&[u8]] = &[
    b"\0asm",
    &[0xcf, 0xfa, 0xed, 0xfe],
    &[0xce, 0xfa, 0xed, 0xfe],
    &[0x64, 0x86],
    &[0x64, 0xaa],
    &[0x4c, 0x01],
    &[0xc4, 0x01],
];

/// Checks that an object is relocatable, that its sections and names lie within it, and that these
/// symbols, and besides them at most the variable of the environment, are visible in it; the error
/// describes the problem. Of formats other than ELF only the first bytes are examined.
pub(crate) fn check(bytes: &[u8], symbols: &[&str]) -> Result<(), String> {
    if !bytes.starts_with(&elf::ELFMAG) {
        if OTHER_FORMATS.iter().any(|start| bytes.starts_with(start)) {
            return Ok(());
        }
        let start = &bytes[..bytes.len().min(4)];
        return Err(format!("expected an object, found {} bytes that begin with {start:02x?}", bytes.len()));
    }
    match bytes.get(4) {
        Some(&elf::ELFCLASS32) => check_elf::<FileHeader32<Endianness>>(bytes, symbols),
        Some(&elf::ELFCLASS64) => check_elf::<FileHeader64<Endianness>>(bytes, symbols),
        other => Err(format!("expected an ELF object of 32 or 64 bits, found class {other:?}")),
    }
}

fn check_elf<Elf: FileHeader<Endian = Endianness>>(bytes: &[u8], symbols: &[&str]) -> Result<(), String> {
    let text = |error: object::Error| error.to_string();
    let header = Elf::parse(bytes).map_err(text)?;
    if !header.is_supported() {
        return Err("expected version 1 of ELF".to_owned());
    }
    let endian = header.endian().map_err(text)?;
    let kind = header.e_type(endian);
    if kind != elf::ET_REL {
        return Err(format!("expected a relocatable object (type 1), found type {kind}"));
    }
    let sections = header.sections(endian, bytes).map_err(text)?;
    for (index, section) in sections.enumerate() {
        let is_there = sections.section_name(endian, section).and(section.data(endian, bytes));
        is_there.map_err(|error| format!("section {index}: {error}"))?;
    }
    let table = sections.symbols(endian, bytes, elf::SHT_SYMTAB).map_err(text)?;
    let mut missing: Vec<&str> = symbols.to_vec();
    for (index, symbol) in table.enumerate().skip(1) {
        let name = table.symbol_name(endian, symbol).map_err(|error| format!("symbol {index}: {error}"))?;
        let is_visible = matches!(symbol.st_visibility(), elf::STV_DEFAULT | elf::STV_PROTECTED);
        let is_defined = symbol.st_shndx(endian) != elf::SHN_UNDEF;
        if symbol.st_bind() == elf::STB_LOCAL || !is_defined || !is_visible {
            continue;
        }
        let is_own = symbols.iter().any(|known| known.as_bytes() == name);
        if !is_own && name != ENVIRONMENT {
            return Err(format!(
                "it defines the visible symbol {}; expected those of the index",
                String::from_utf8_lossy(name)
            ));
        }
        missing.retain(|known| known.as_bytes() != name);
    }
    match missing.first() {
        Some(name) => Err(format!("it defines no visible symbol {name}, which the index has")),
        None => Ok(()),
    }
}

/// The variable that leads to the environment (X.3).
const ENVIRONMENT: &[u8] = b"__chipdock_env";

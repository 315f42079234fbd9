//! Contents of a library's ELF file that the cases of this group check; parsed by the `object`
//! crate without running anything.

use object::LittleEndian;
use object::elf::{self, FileHeader64};
use object::read::elf::{FileHeader as _, ProgramHeader as _, Sym as _};
use object::read::{Error, SymbolIndex};

use crate::{Context, Stop, Verdict};

/// A symbol that the library exports or imports.
pub(super) struct Symbol {
    pub(super) name: String,
    pub(super) is_function: bool,
    pub(super) is_weak: bool,
    /// The library that provides the symbol, according to the symbol's version.
    pub(super) from: Option<String>,
}

/// Contents of a library's file.
#[derive(Default)]
pub(super) struct Image {
    pub(super) kind: u16,
    pub(super) machine: u16,
    pub(super) os_abi: u8,
    pub(super) exports: Vec<Symbol>,
    pub(super) undefined: Vec<Symbol>,
    /// Entries of `DT_NEEDED`.
    pub(super) needed: Vec<String>,
    /// Entries of `DT_RPATH` and `DT_RUNPATH`, split into folders.
    pub(super) search_paths: Vec<String>,
    /// Names of dynamic entries and flags that affect more than the library itself.
    pub(super) reaching: Vec<String>,
    pub(super) has_code_relocations: bool,
    pub(super) has_static_tls: bool,
    /// Whether the stack is executable; `None` if the file does not say.
    pub(super) stack: Option<bool>,
    /// Addresses of segments that are both writable and executable.
    pub(super) writable_code: Vec<u64>,
    /// Required symbol versions, such as `GLIBC_2.34`.
    pub(super) versions: Vec<String>,
}

type Header = FileHeader64<LittleEndian>;

const END: LittleEndian = LittleEndian;

/// Flags of `DT_FLAGS_1` that affect more than the library itself.
const FLAGS: &[(u32, &str)] = &[
    (elf::DF_1_GLOBAL, "flag global (-z global)"),
    (elf::DF_1_INTERPOSE, "flag interpose (-z interpose)"),
    (elf::DF_1_INITFIRST, "flag first (-z initfirst)"),
    (elf::DF_1_NOOPEN, "flag no-open (-z nodlopen)"),
    (elf::DF_1_NODEFLIB, "flag no default libraries (-z nodefaultlib)"),
];

/// Tags of libraries that are searched before or instead of this library.
const TAGS: &[(i64, &str)] = &[
    (elf::DT_AUDIT, "DT_AUDIT"),
    (elf::DT_DEPAUDIT, "DT_DEPAUDIT"),
    (elf::DT_FILTER, "DT_FILTER"),
    (elf::DT_AUXILIARY, "DT_AUXILIARY"),
];

/// Reads the library of a case.
///
/// # Errors
///
/// The file is no library as required by P1.6.
pub(super) fn image(c: &Context) -> Verdict<Image> {
    let bytes = std::fs::read(c.library())
        .map_err(|error| Stop::suite(format!("{}: {error}", c.library().display())))?;
    let is_64_bit_little_endian = bytes.starts_with(b"\x7fELF\x02\x01\x01");
    if !is_64_bit_little_endian {
        let found = format!("a file that begins with {:02x?}", &bytes[..bytes.len().min(7)]);
        return Err(Stop::failed("a 64-bit little-endian ELF file", found).clause("P1.6"));
    }
    read(&bytes).map_err(|error| Stop::failed("an ELF file that can be read", error).clause("P1.6"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn read(bytes: &[u8]) -> Result<Image, Error> {
    let header = Header::parse(bytes)?;
    let mut image = Image {
        kind: header.e_type(END),
        machine: header.e_machine(END),
        os_abi: header.e_ident().os_abi,
        ..Image::default()
    };
    for segment in header.program_headers(END, bytes)? {
        let flags = segment.p_flags(END);
        let is_executable = flags & elf::PF_X != 0;
        match segment.p_type(END) {
            elf::PT_GNU_STACK => image.stack = Some(is_executable),
            elf::PT_LOAD if is_executable && flags & elf::PF_W != 0 => {
                image.writable_code.push(segment.p_vaddr(END));
            }
            _ => {}
        }
    }
    dynamic(&mut image, header, bytes)?;
    symbols(&mut image, header, bytes)?;
    Ok(image)
}

fn dynamic(image: &mut Image, header: &Header, bytes: &[u8]) -> Result<(), Error> {
    let table = header.sections(END, bytes)?.dynamic_table(END, bytes)?;
    for entry in &table {
        let string = || table.string(entry).map(text);
        match entry.tag {
            elf::DT_NEEDED => image.needed.push(string()?),
            elf::DT_RPATH | elf::DT_RUNPATH => {
                image.search_paths.extend(string()?.split(':').map(str::to_owned));
            }
            elf::DT_TEXTREL => image.has_code_relocations = true,
            elf::DT_FLAGS => {
                image.has_code_relocations |= entry.val & u64::from(elf::DF_TEXTREL) != 0;
                image.has_static_tls |= entry.val & u64::from(elf::DF_STATIC_TLS) != 0;
            }
            elf::DT_FLAGS_1 => {
                let set = FLAGS.iter().filter(|(flag, _)| entry.val & u64::from(*flag) != 0);
                image.reaching.extend(set.map(|(_, name)| (*name).to_owned()));
            }
            tag => {
                if let Some((_, name)) = TAGS.iter().find(|(known, _)| *known == tag) {
                    image.reaching.push(format!("{name} {}", string()?));
                }
            }
        }
    }
    Ok(())
}

fn symbols(image: &mut Image, header: &Header, bytes: &[u8]) -> Result<(), Error> {
    let sections = header.sections(END, bytes)?;
    let table = sections.symbols(END, bytes, elf::SHT_DYNSYM)?;
    let versions = sections.versions(END, bytes)?;
    for (index, symbol) in table.enumerate() {
        if index == SymbolIndex(0) || symbol.st_bind() == elf::STB_LOCAL {
            continue;
        }
        let version = match &versions {
            Some(versions) => versions.version(versions.version_index(END, index))?,
            None => None,
        };
        let found = Symbol {
            name: text(table.symbol_name(END, symbol)?),
            is_function: symbol.st_type() == elf::STT_FUNC,
            is_weak: symbol.st_bind() == elf::STB_WEAK,
            from: version.and_then(|version| version.file()).map(text),
        };
        if !symbol.is_undefined(END) {
            let is_visible = matches!(symbol.st_visibility(), elf::STV_DEFAULT | elf::STV_PROTECTED);
            if is_visible {
                image.exports.push(found);
            }
            continue;
        }
        if let Some(version) = version.filter(|_| !found.is_weak) {
            image.versions.push(text(version.name()));
        }
        image.undefined.push(found);
    }
    Ok(())
}

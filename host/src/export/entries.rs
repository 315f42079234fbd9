//! Entries before the functions of an object that needs more than every processor has (EXPORT-R8).
//!
//! The functions of such an object get other names, and the library defines theirs.

use chipdock_plugin_api::object_code::needs;
use object::read::elf::{ElfFile64, FileHeader as _, Sym as _};
use object::{LittleEndian, Object as _, ObjectSymbol as _, elf};

use super::parts::broken_object;
use crate::compile::artifact::ArtifactIndex;
use crate::error::{Error, ErrorKind};
use crate::library::FUNCTION;

/// Prefix of the other names, as long as [`FUNCTION`], so that a name changes in its place.
const BEHIND: &str = "__tvm_cpu_";
const _: () = assert!(BEHIND.len() == FUNCTION.len());

/// Returns the name of the function behind the entry of a symbol.
pub(super) fn behind(symbol: &str) -> String {
    symbol.replacen(FUNCTION, BEHIND, 1)
}

/// Gives the functions of an object that names extensions their other names; returns false, with
/// the object as it was, for one that names none.
///
/// # Errors
///
/// `BrokenPlugin`: the object is damaged. `Unsupported`: the text of a name is also that of another
/// symbol.
pub(super) fn rename(object: &mut [u8], index: &ArtifactIndex) -> Result<bool, Error> {
    let damaged = |why: &str| broken_object(&index.module_kind, &format!("is damaged: {why}"));
    let found = Names::of(object).map_err(|error| damaged(&error.to_string()))?;
    let Some(Names { start, offsets }) = found else { return Ok(false) };
    let symbols: Vec<&str> = index.functions.iter().map(|function| function.symbol.as_str()).collect();
    let mut places = Vec::new();
    for (offset, name) in offsets.iter().filter(|(_, name)| symbols.contains(&name.as_str())) {
        // Names may end alike, and then share their text.
        let is_shared = |(other, text): &&(usize, String)| {
            (offset + 1..offset + BEHIND.len()).contains(other)
                || (*other + 1..=other + text.len()).contains(offset)
        };
        if let Some((_, other)) = offsets.iter().find(is_shared) {
            let message = format!("symbols `{name}` and `{other}` of the object share their text");
            return Err(Error::new(ErrorKind::Unsupported, message).hint("rename one of the two functions"));
        }
        places.push(start.saturating_add(*offset));
    }
    for place in places {
        let name = object.get_mut(place..place.saturating_add(FUNCTION.len()));
        match name.filter(|name| *name == FUNCTION.as_bytes()) {
            Some(name) => name.copy_from_slice(BEHIND.as_bytes()),
            None => return Err(damaged("its names are not where its symbols say")),
        }
    }
    Ok(true)
}

/// The names of an object's symbols.
struct Names {
    /// Where their texts begin in the file.
    start: usize,
    /// Where each is, from there on.
    offsets: Vec<(usize, String)>,
}

impl Names {
    /// Reads them; `None` where the object names no extensions.
    fn of(bytes: &[u8]) -> object::Result<Option<Self>> {
        let file = ElfFile64::<LittleEndian>::parse(bytes)?;
        if !file.symbols().any(|symbol| symbol.is_definition() && symbol.name() == Ok(needs::SYMBOL)) {
            return Ok(None);
        }
        let sections = file.elf_header().sections(LittleEndian, bytes)?;
        let table = sections.symbols(LittleEndian, bytes, elf::SHT_SYMTAB)?;
        let texts = sections.section(table.string_section())?;
        let start = usize::try_from(texts.sh_offset.get(LittleEndian)).unwrap_or(usize::MAX);
        let offsets = file.symbols().filter_map(|symbol| {
            let offset = usize::try_from(symbol.elf_symbol().st_name(LittleEndian)).ok()?;
            Some((offset, symbol.name().ok()?.to_owned()))
        });
        Ok(Some(Self { start, offsets: offsets.filter(|(_, name)| !name.is_empty()).collect() }))
    }
}

#[cfg(test)]
mod tests {
    use object::write::{Object, Symbol, SymbolSection};
    use object::{Architecture, BinaryFormat, Endianness, SymbolFlags, SymbolKind, SymbolScope};
    use serde_json::json;

    use super::*;

    /// An object that defines these symbols.
    fn object(names: &[&str]) -> Vec<u8> {
        let mut object = Object::new(BinaryFormat::Elf, Architecture::X86_64, Endianness::Little);
        let section = object.section_id(object::write::StandardSection::Text);
        for name in names {
            object.add_symbol(Symbol {
                name: name.as_bytes().to_vec(),
                value: 0,
                size: 0,
                kind: SymbolKind::Text,
                scope: SymbolScope::Dynamic,
                weak: false,
                section: SymbolSection::Section(section),
                flags: SymbolFlags::None,
            });
        }
        object.write().unwrap()
    }

    fn index(names: &[&str]) -> ArtifactIndex {
        let functions: Vec<_> =
            names.iter().map(|name| json!({"name": name, "symbol": format!("{FUNCTION}{name}")})).collect();
        serde_json::from_value(json!({"module_kind": "k", "format": "o", "functions": functions})).unwrap()
    }

    fn names(object: &[u8]) -> Vec<String> {
        let file = ElfFile64::<LittleEndian>::parse(object).unwrap();
        file.symbols()
            .filter_map(|symbol| Some(symbol.name().ok()?.to_owned()))
            .filter(|name| !name.is_empty())
            .collect()
    }

    #[test]
    fn r8_functions_of_an_object_with_needs_are_renamed() {
        let plain = object(&["__tvm_ffi_f", "__tvm_ffi_other"]);
        let mut same = plain.clone();
        assert!(!rename(&mut same, &index(&["f"])).unwrap());
        assert!(same == plain, "one that names no extensions stays as it is");
        let mut changed = object(&["__tvm_ffi_f", "__tvm_ffi_other", needs::SYMBOL]);
        assert!(rename(&mut changed, &index(&["f"])).unwrap());
        assert_eq!(names(&changed), ["__tvm_cpu_f", "__tvm_ffi_other", needs::SYMBOL]);
        assert_eq!(behind("__tvm_ffi_f"), "__tvm_cpu_f");
    }

    #[test]
    fn r8_names_that_share_their_text_are_refused() {
        for other in ["ffi_f", "m__tvm_ffi_f"] {
            let mut shared = object(&["__tvm_ffi_f", other, needs::SYMBOL]);
            let before = shared.clone();
            let error = rename(&mut shared, &index(&["f"])).unwrap_err();
            assert_eq!(*error.kind(), ErrorKind::Unsupported);
            assert!(error.to_string().contains(other), "{error}");
            assert!(shared == before, "nothing is changed by halves");
        }
        // An end that is not in the part that changes may be shared.
        let mut ends = object(&["__tvm_ffi_long_f", "_f", needs::SYMBOL]);
        assert!(rename(&mut ends, &index(&["long_f"])).unwrap());
        assert_eq!(names(&ends)[1], "_f");
    }

    #[test]
    fn r8_a_damaged_object_is_the_plugins_fault() {
        let error = rename(&mut [0; 16], &index(&["f"])).unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::BrokenPlugin);
    }

    /// EXPORT-R8, M.20: the run time asks for every extension that a code generator may name, and
    /// for no other.
    #[test]
    fn r8_the_run_time_knows_every_extension() {
        let text = include_str!("runtime.c");
        let (_, tables) = text.split_once("// ---- The processor (R8) ----").unwrap();
        let (x86, aarch64) = tables.split_once("#elif defined(__aarch64__)").unwrap();
        for (table, known) in [(x86, needs::X86), (aarch64, needs::AARCH64)] {
            let mut found: Vec<&str> =
                table.split("{\"").skip(1).map(|row| row.split_once('"').unwrap().0).collect();
            let mut expected: Vec<&str> = known.iter().map(|extension| extension.name).collect();
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected);
        }
    }
}

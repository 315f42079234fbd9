//! Entries before the functions of an object that needs more than every processor has (EXPORT-R8).
//!
//! The functions of such an object get other names, and the library defines theirs.

use object::read::elf::{ElfFile64, FileHeader as _, Sym as _};
use object::{LittleEndian, Object as _, ObjectSymbol as _, elf};

use crate::error::{Error, ErrorKind};
use crate::library::FUNCTION;

/// Prefix of the other names, as long as [`FUNCTION`], so that a name changes in its place.
const BEHIND: &str = "__tvm_cpu_";
const _: () = assert!(BEHIND.len() == FUNCTION.len());

/// Returns the name of the function behind the entry of a symbol.
pub(super) fn behind(symbol: &str) -> String {
    symbol.replacen(FUNCTION, BEHIND, 1)
}

/// Gives the functions of an object that names extensions their other names; returns false, with the object as it was, for one
/// that names none.
///
/// # Errors
///
/// `Unsupported`: the text of a name is also that of another symbol.
pub(super) fn rename(object: &mut [u8], symbols: &[&str]) -> Result<bool, Error> {
    let Some(places) = places(object, symbols)? else { return Ok(false) };
    for place in places {
        object[place..place + BEHIND.len()].copy_from_slice(BEHIND.as_bytes());
    }
    Ok(true)
}

/// Returns the offsets of the names in the file; `None` where the object names no extensions.
fn places(bytes: &[u8], symbols: &[&str]) -> Result<Option<Vec<usize>>, Error> {
    let damaged = |why: String| Error::new(ErrorKind::Value, format!("the object is damaged: {why}"));
    let file = ElfFile64::<LittleEndian>::parse(bytes).map_err(|error| damaged(error.to_string()))?;
    let has_needs = |symbol: object::read::elf::ElfSymbol<'_, '_, _>| {
        symbol.is_definition() && symbol.name() == Ok(chipdock_plugin_api::object_code::needs::SYMBOL)
    };
    if !file.symbols().any(has_needs) {
        return Ok(None);
    }
    let names = {
        let sections =
            file.elf_header().sections(LittleEndian, bytes).map_err(|error| damaged(error.to_string()))?;
        let table = sections
            .symbols(LittleEndian, bytes, elf::SHT_SYMTAB)
            .map_err(|error| damaged(error.to_string()))?;
        let strings = sections.section(table.string_section()).map_err(|error| damaged(error.to_string()))?;
        usize::try_from(strings.sh_offset.get(LittleEndian)).unwrap_or(usize::MAX)
    };
    let offsets: Vec<(usize, &str)> = file
        .symbols()
        .filter_map(|symbol| {
            let offset = usize::try_from(symbol.elf_symbol().st_name(LittleEndian)).ok()?;
            Some((offset, symbol.name().ok()?))
        })
        .collect();
    let mut places = Vec::new();
    for (offset, name) in offsets.iter().filter(|(_, name)| symbols.contains(name)) {
        // Names may end alike, and then share their text.
        let within = |other: &usize| *other > *offset && *other < offset + BEHIND.len();
        let clash = offsets.iter().find(|(other, _)| within(other));
        let prefixed =
            offsets.iter().find(|(other, longer)| other < offset && other + longer.len() > *offset);
        if let Some((_, other)) = clash.or(prefixed) {
            let message = format!("symbols `{name}` and `{other}` of the object share their text");
            return Err(Error::new(ErrorKind::Unsupported, message).hint("rename one of the two functions"));
        }
        places.push(names.saturating_add(*offset));
    }
    let is_there =
        |place: &usize| bytes.get(*place..place.saturating_add(FUNCTION.len())) == Some(FUNCTION.as_bytes());
    match places.iter().all(is_there) {
        true => Ok(Some(places)),
        false => Err(damaged("its names are not where its symbols say".to_owned())),
    }
}

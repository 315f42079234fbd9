//! `__tvm_ffi__library_bin`: the modules that are embedded in a library, as TVM-FFI lays them out.
//!
//! Little-endian: the number of bytes that follow; the tree of imports in compressed rows, as two
//! vectors of `u64` (where the imports of each module begin, and the imports); then for each module
//! its kind, and unless that is `_lib` its bytes. A vector, a text and bytes have their length
//! before them.

use std::ops::Range;

use super::LIBRARY_KIND;
use crate::bounds::NAME_BYTES_MAX;

/// Greatest number of modules, and of imports of all of them: a library has one for each device
/// that it was built for.
pub(super) const MODULES_MAX: usize = 4096;
/// Greatest depth of the tree, as of imported artifacts.
const NESTING_MAX: usize = 16;

/// A module of a blob.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Module {
    pub(super) kind: String,
    /// Its bytes within the blob; `None` for the library itself.
    pub(super) payload: Option<Range<usize>>,
    /// Modules that it imports.
    pub(super) imports: Vec<usize>,
}

/// Reads the modules of a blob, which begins with its size, from the bytes of the file that follow
/// its address.
///
/// # Errors
///
/// The first thing that is not as described above.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<Module>, String> {
    let mut reader = Reader { bytes, at: 0 };
    let size = reader.count("its size")?;
    let end = reader.at.checked_add(size).filter(|end| *end <= bytes.len());
    let end =
        end.ok_or_else(|| format!("it claims {size} bytes, the file has {} there", bytes.len() - reader.at))?;
    reader.bytes = &bytes[..end];
    let starts = reader.numbers("the tree of imports")?;
    let imports = reader.numbers("the imports")?;
    let mut modules = Vec::new();
    while reader.at < end {
        if modules.len() >= MODULES_MAX {
            return Err(format!("it has more than {MODULES_MAX} modules"));
        }
        modules.push(reader.module()?);
    }
    connect(&mut modules, &starts, &imports)?;
    check_tree(&modules)?;
    Ok(modules)
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn take(&mut self, size: usize, what: &str) -> Result<Range<usize>, String> {
        let end = self.at.checked_add(size).filter(|end| *end <= self.bytes.len());
        let range = self.at..end.ok_or_else(|| format!("it is cut short in {what}"))?;
        self.at = range.end;
        Ok(range)
    }

    fn count(&mut self, what: &str) -> Result<usize, String> {
        let range = self.take(8, what)?;
        let number =
            self.bytes[range].iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        usize::try_from(number).map_err(|_| format!("{what} has the number {number}"))
    }

    fn numbers(&mut self, what: &str) -> Result<Vec<usize>, String> {
        let count = self.count(what)?;
        if count > MODULES_MAX + 1 {
            return Err(format!("{what} has {count} entries; expected at most {}", MODULES_MAX + 1));
        }
        (0..count).map(|_| self.count(what)).collect()
    }

    fn module(&mut self) -> Result<Module, String> {
        let size = self.count("a module's kind")?;
        if size > NAME_BYTES_MAX {
            return Err(format!("a module's kind has {size} bytes; expected at most {NAME_BYTES_MAX}"));
        }
        let range = self.take(size, "a module's kind")?;
        let kind = std::str::from_utf8(&self.bytes[range]).ok();
        let kind = kind.filter(|kind| !kind.is_empty() && !kind.contains(char::is_control));
        let kind = kind.ok_or("a module's kind is no printable text")?.to_owned();
        if kind == LIBRARY_KIND {
            return Ok(Module { kind, payload: None, imports: Vec::new() });
        }
        let what = format!("the bytes of module kind \"{kind}\"");
        let size = self.count(&what)?;
        Ok(Module { kind, payload: Some(self.take(size, &what)?), imports: Vec::new() })
    }
}

fn connect(modules: &mut [Module], starts: &[usize], imports: &[usize]) -> Result<(), String> {
    if modules.is_empty() {
        return Err("it has no module".to_owned());
    }
    if starts.len() != modules.len() + 1 {
        let (rows, count) = (starts.len(), modules.len());
        return Err(format!("its tree has {rows} rows for {count} modules; expected one more than modules"));
    }
    if modules.iter().filter(|module| module.kind == LIBRARY_KIND).count() > 1 {
        return Err("it has the library itself twice".to_owned());
    }
    let is_whole = starts.first() == Some(&0) && starts.last() == Some(&imports.len());
    if !is_whole || starts.windows(2).any(|pair| pair[0] > pair[1]) {
        return Err("the rows of its tree do not follow one another".to_owned());
    }
    let count = modules.len();
    if let Some(import) = imports.iter().find(|import| **import >= count) {
        return Err(format!("it imports module {import} of {count}"));
    }
    for (module, row) in modules.iter_mut().zip(starts.windows(2)) {
        module.imports = imports[row[0]..row[1]].to_vec();
    }
    Ok(())
}

/// Checks that the modules form a tree below module 0, in which a module may hang on several.
fn check_tree(modules: &[Module]) -> Result<(), String> {
    // Longest path to each module; a longer one than there may be is a cycle, or too deep.
    let mut depths: Vec<Option<usize>> = vec![None; modules.len()];
    let mut next = vec![0];
    depths[0] = Some(0);
    // Each step lengthens a path, of which there are at most `NESTING_MAX` lengths.
    while let Some(index) = next.pop() {
        let depth = depths[index].unwrap_or_default() + 1;
        for import in &modules[index].imports {
            if depth > NESTING_MAX {
                return Err(format!("its modules import one another, or more than {NESTING_MAX} deep"));
            }
            if depths[*import].is_none_or(|known| known < depth) {
                depths[*import] = Some(depth);
                next.push(*import);
            }
        }
    }
    if let Some(index) = depths.iter().position(Option::is_none) {
        return Err(format!("no module imports its module {index}"));
    }
    // What walks the tree meets a module once for each path to it.
    let mut order: Vec<usize> = (0..modules.len()).collect();
    order.sort_by_key(|index| depths[*index]);
    let mut paths = vec![0_usize; modules.len()];
    paths[0] = 1;
    for index in order {
        for import in &modules[index].imports {
            paths[*import] = paths[*import].saturating_add(paths[index]);
        }
    }
    match paths.iter().fold(0_usize, |all, count| all.saturating_add(*count)) {
        0..=MODULES_MAX => Ok(()),
        _ => Err(format!("its modules import one another in more than {MODULES_MAX} ways")),
    }
}

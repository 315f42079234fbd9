//! Makes the stacks written by a worker's handlers readable: functions by name, without the suite's
//! own frames (SUITE-S9).

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use object::{Object as _, ObjectSymbol as _, SymbolKind};

use super::signals::{END, MARK};

/// Bytes of a worker's standard error that are kept with a death.
const REST_BYTES: usize = 4 << 10;
/// Maximum number of frames that are shown.
const N_FRAMES: usize = 40;
/// Size limit of libraries that are read for function names (SUITE-S12).
const LIBRARY_BYTES: u64 = 96 << 20;

/// Parts of a worker's standard error.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Written {
    /// Number of the signal that the stack was written for.
    pub(super) signal: Option<i32>,
    /// Frames of the stack as written, innermost first.
    pub(super) frames: Vec<String>,
    /// End of the rest of the output.
    pub(super) rest: String,
}

impl Written {
    /// Extracts the first stack from the text.
    pub(super) fn parse(text: &str) -> Self {
        let mut written = Self::default();
        let mut rest = Vec::new();
        let mut within = false;
        for line in text.lines() {
            if let Some((_, number)) = line.split_once(MARK) {
                within = true;
                written.signal = written.signal.or_else(|| number.trim().parse().ok());
            } else if line.ends_with(END) {
                within = false;
            } else if within {
                written.frames.push(line.to_owned());
            } else {
                rest.push(line);
            }
        }
        let rest = rest.join("\n");
        let rest: String = rest.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
        let rest = rest.trim();
        let from = rest.len().saturating_sub(REST_BYTES);
        let from = (from..=rest.len()).find(|from| rest.is_char_boundary(*from)).unwrap_or_default();
        rest[from..].clone_into(&mut written.rest);
        written
    }
}

/// One frame as `backtrace_symbols_fd` writes it: `file(function+0x1) [0x2]`, `file(+0x1) [0x2]`,
/// or `[0x2]`.
#[derive(Debug, PartialEq, Eq)]
struct Frame<'a> {
    file: &'a str,
    function: &'a str,
    offset: u64,
    line: &'a str,
}

impl<'a> Frame<'a> {
    fn parse(line: &'a str) -> Self {
        let parse = || {
            let (file, rest) = line.rsplit_once('(')?;
            let (inner, _) = rest.split_once(')')?;
            let (function, offset) = inner.rsplit_once("+0x")?;
            Some(Self { file, function, offset: u64::from_str_radix(offset, 16).ok()?, line })
        };
        parse().unwrap_or(Self { file: "", function: "", offset: 0, line })
    }

    fn is_of(&self, executable: &Path) -> bool {
        Path::new(self.file).file_name() == executable.file_name()
    }

    fn is_system(&self) -> bool {
        let name = self.file.rsplit('/').next().unwrap_or_default();
        ["libc.so", "libc-", "libpthread", "ld-linux", "ld-musl"].iter().any(|known| name.starts_with(known))
    }

    fn readable(&self) -> String {
        let name = self.file.rsplit('/').next().unwrap_or_default();
        let demangled = |name: &str| format!("{:#}", rustc_demangle::demangle(name));
        match (self.file.is_empty(), self.function.is_empty()) {
            (true, _) => self.line.to_owned(),
            (_, false) => format!("{} +{:#x} ({name})", demangled(self.function), self.offset),
            (_, true) => match symbol(Path::new(self.file), self.offset) {
                Some((function, offset)) => format!("{} +{offset:#x} ({name})", demangled(&function)),
                None => format!("{name} +{:#x}", self.offset),
            },
        }
    }
}

/// Names the frames, leaving out those of the handler and of the suite below the plugin.
pub(super) fn readable(frames: &[String], executable: &Path) -> Vec<String> {
    let mut frames: Vec<Frame<'_>> = frames.iter().map(|line| Frame::parse(line)).collect();
    // The handler is part of the suite, and the system called it.
    let own = frames.iter().take_while(|frame| frame.is_of(executable)).count();
    frames.drain(..own);
    if own > 0 && frames.first().is_some_and(Frame::is_system) {
        frames.remove(0);
    }
    let is_below = |frame: &Frame<'_>| frame.is_of(executable) || frame.is_system();
    let above = frames.len() - frames.iter().rev().take_while(|frame| is_below(frame)).count();
    let n_shown = if above == 0 { frames.len() } else { above };
    let mut shown: Vec<String> = frames.iter().take(n_shown.min(N_FRAMES)).map(Frame::readable).collect();
    if n_shown < frames.len() {
        shown.push("called by the suite".to_owned());
    }
    shown
}

/// Addresses, sizes and names of functions, sorted.
type Names = Arc<Vec<(u64, u64, String)>>;

/// Returns the function at an offset into a library, and the offset within the function.
fn symbol(library: &Path, offset: u64) -> Option<(String, u64)> {
    static LIBRARIES: Mutex<Option<HashMap<PathBuf, Names>>> = Mutex::new(None);
    let mut libraries = LIBRARIES.lock().unwrap_or_else(PoisonError::into_inner);
    let libraries = libraries.get_or_insert_default();
    let names =
        libraries.entry(library.to_owned()).or_insert_with(|| Arc::new(names(library).unwrap_or_default()));
    let after = names.partition_point(|(address, ..)| *address <= offset);
    let (address, size, name) = names.get(after.checked_sub(1)?)?;
    (offset - address < (*size).max(1)).then(|| (name.clone(), offset - address))
}

fn names(library: &Path) -> Option<Vec<(u64, u64, String)>> {
    if std::fs::metadata(library).ok()?.len() > LIBRARY_BYTES {
        return None;
    }
    let bytes = std::fs::read(library).ok()?;
    let file = object::File::parse(&*bytes).ok()?;
    let functions = file.symbols().filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0);
    let mut names: Vec<_> = functions
        .filter_map(|symbol| Some((symbol.address(), symbol.size(), symbol.name().ok()?.to_owned())))
        .collect();
    names.sort();
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
said before

@chipdock-stack 11
/bin/chipdock(+0x10) [0x1]
/bin/chipdock(+0x20) [0x2]
/lib/x86_64-linux-gnu/libc.so.6(+0x3c050) [0x3]
/plugins/libnpu.so(+0x30) [0x4]
/bin/chipdock(+0x40) [0x5]
/plugins/libnpu.so(start_copy+0x8) [0x6]
/bin/chipdock(+0x50) [0x7]
/lib/x86_64-linux-gnu/libc.so.6(__libc_start_main+0x85) [0x8]
@chipdock-stack-end
said \u{7}after";

    /// SUITE-S9: the stack is taken out of what the worker printed, and begins in the plugin.
    #[test]
    fn a_stack_is_taken_out_of_the_text() {
        let written = Written::parse(TEXT);
        assert_eq!((written.signal, written.frames.len()), (Some(11), 8));
        assert_eq!(written.rest, "said before\n\nsaid after");
        let readable = readable(&written.frames, Path::new("/elsewhere/chipdock"));
        let expected =
            ["libnpu.so +0x30", "chipdock +0x40", "start_copy +0x8 (libnpu.so)", "called by the suite"];
        assert_eq!(readable, expected);
    }

    /// SUITE-S12: what a worker printed is cut, whatever it was.
    #[test]
    fn printed_output_is_truncated() {
        let written = Written::parse(&"ä".repeat(REST_BYTES));
        assert!(written.rest.len() <= REST_BYTES && !written.rest.is_empty());
    }
}

//! Who is named when a process ends by a signal: from the call that was under way, and from the
//! place of the instruction.
//!
//! * **BLAME-B1** The plugin in whose library the instruction lies; of an `abort`, the plugin that
//!   called it, or this command. Where that plugin was not the one that was being called, both are
//!   named.
//! * **BLAME-B2** A compiled function is named by its own name, together with the plugin through
//!   which it was called.
//! * **BLAME-B3** Where the instruction lies in another library, that one is named, and the plugin
//!   that was being called at the time, without a word on whose fault it is: memory may have been
//!   damaged by anybody before. What the C library says of a damaged heap is passed on.
//! * **BLAME-B4** All of it is found out in a signal's handler, without memory and without locks; a
//!   child tells its supervisor.

use std::sync::atomic::{AtomicUsize, Ordering};

use chipdock_host::calling::{self, FUNCTION, Note, PluginLibrary};
use chipdock_supervise::{Given, MapReader, Meaning, OwnMemory, Spot, abort_message, signal_name};

/// Number of SIGABRT, on every system.
const SIGABRT: i32 = 6;
/// Greatest length of a path, or of a message of the C library, in bytes.
const TEXT_BYTES: usize = 400;
/// Greatest number of mappings of plugins that are looked at.
const RANGES_MAX: usize = 128;
/// Greatest number of words of a stack that are searched for the plugin that called: 32 KiB.
const STACK_WORDS_MAX: usize = 4096;

/// What is known of an end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scene<'a> {
    /// The plugin that was being called, and its call.
    pub(crate) note: Option<(&'a str, &'a str)>,
    /// The plugin whose code ran.
    pub(crate) owner: Option<&'a str>,
    /// The file in which the instruction lies; empty where it is not known, or memory without a
    /// file.
    pub(crate) library: &'a str,
    /// Whether that is this command itself.
    pub(crate) is_own: bool,
    /// What the C library says of the heap; empty where it says nothing.
    pub(crate) heap: &'a str,
}

/// Whom the reader turns to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// The plugin's maintainer.
    Plugin,
    /// Whoever wrote the function.
    Function,
    /// It is not known.
    Nobody,
    /// This command.
    Command,
}

impl<'a> Scene<'a> {
    /// Makes the scene of a call alone.
    pub(crate) fn of_call(note: Option<(&'a str, &'a str)>) -> Self {
        Self { note, ..Self::default() }
    }

    /// Writes the sentence: `plugin "toy" crashed (SIGSEGV) in `init``. `how` is the middle of it,
    /// in parts. Returns whom it is about.
    pub(crate) fn write(&self, how: &[&str], put: &mut dyn FnMut(&str)) -> Whose {
        let mut all = |parts: &[&[&str]]| parts.iter().copied().flatten().for_each(|part| put(part));
        let (during, whose) = match (self.owner, self.note) {
            (Some(owner), Some((plugin, call))) if owner == plugin && self.heap.is_empty() => {
                all(&[&["plugin \"", owner, "\" "], how, &[" in `", call, "`"]]);
                return Whose::Plugin;
            }
            (Some(owner), note) if self.heap.is_empty() => {
                all(&[&["plugin \"", owner, "\" "], how, &[" outside of its calls"]]);
                (note, Whose::Plugin)
            }
            (_, note) if !self.heap.is_empty() => {
                all(&[&["this command "], how, &[" on damaged memory (", self.heap, ")"]]);
                (note, Whose::Nobody)
            }
            (_, Some((plugin, call))) if call.starts_with(FUNCTION) => {
                let function = call.strip_prefix(FUNCTION).unwrap_or_default();
                all(&[&["function \"", function, "\" "], how, &[", called through plugin \"", plugin, "\""]]);
                if !self.library.is_empty() && !self.is_own {
                    all(&[&["; the address lies in ", self.library]]);
                }
                return Whose::Function;
            }
            (_, note) if !self.library.is_empty() && !self.is_own => {
                all(&[&[self.library, " "], how]);
                (note, Whose::Nobody)
            }
            (_, Some(note)) if self.is_own => {
                all(&[&["this command "], how]);
                (Some(note), Whose::Nobody)
            }
            (_, Some((plugin, call))) => {
                all(&[&["plugin \"", plugin, "\" "], how, &[" in `", call, "`"]]);
                return Whose::Plugin;
            }
            (_, None) => {
                all(&[&["this command "], how]);
                return Whose::Command;
            }
        };
        if let Some((plugin, call)) = during {
            all(&[&[" while plugin \"", plugin, "\" was called in `", call, "`"]]);
        }
        whose
    }
}

/// The words for a signal, in parts.
pub(crate) fn how(signal: i32) -> [&'static str; 4] {
    [Meaning::of(signal).words(), " (", signal_name(signal), ")"]
}

/// Mappings of libraries of plugins: start, end, and the place of the library in the list.
static RANGES: [[AtomicUsize; 3]; RANGES_MAX] = [const { [const { AtomicUsize::new(0) }; 3] }; RANGES_MAX];

/// What looking needs: more than a handler's stack may have.
struct Eyes {
    maps: MapReader,
    library: [u8; TEXT_BYTES],
    heap: [u8; TEXT_BYTES],
}

static EYES: Given<Eyes> =
    Given::new(Eyes { maps: MapReader::new(), library: [0; TEXT_BYTES], heap: [0; TEXT_BYTES] });

/// Looks at the place where a signal was raised. It runs in a signal's handler (BLAME-B4).
pub(crate) fn look(note: Option<&'static Note>, signal: i32, spot: Option<Spot>) -> Scene<'static> {
    let note = note.map(|note| (note.plugin(), note.call()));
    let Some(spot) = spot.filter(|_| Meaning::of(signal) == Meaning::Crash) else {
        return Scene::of_call(note);
    };
    // One thread looks, once: the ranges are its alone, too.
    let Some(Eyes { maps, library, heap }) = EYES.take() else { return Scene::of_call(note) };
    let own_code = look as *const () as usize;
    let (mut n_path, mut n_ranges, mut own_range) = (0, 0, (0, 0));
    maps.each(&mut |mapping| {
        let holds = |address: usize| (mapping.start..mapping.end).contains(&address);
        if holds(own_code) {
            own_range = (mapping.start, mapping.end);
        }
        if holds(spot.instruction) && mapping.path.starts_with(b"/") {
            n_path = copied(mapping.path, library);
        }
        let Some(at) = PluginLibrary::all().position(|library| is_path_of(library, mapping.path)) else {
            return;
        };
        if let Some(range) = RANGES.get(n_ranges) {
            let values = [mapping.start, mapping.end, at];
            range.iter().zip(values).for_each(|(place, value)| place.store(value, Ordering::Relaxed));
            n_ranges += 1;
        }
    });
    let mut is_own = (own_range.0..own_range.1).contains(&spot.instruction);
    let said = if signal == SIGABRT { abort_message(heap).len() } else { 0 };
    let n_heap = visible(heap, said);
    let heap = text(heap, n_heap);
    // A failed assertion, or `*** stack smashing detected ***`, is of the code that ran.
    let heap = if heap.contains("Assertion") || heap.starts_with("***") { "" } else { heap };
    let mut owner = plugin_at(spot.instruction, n_ranges);
    // What a function calls is its own doing; another thread has no note, and may be a plugin's.
    let is_function = calling::here().is_some_and(|note| note.call().starts_with(FUNCTION));
    if owner.is_none() && signal == SIGABRT && heap.is_empty() && !is_function {
        match caller(spot.stack, n_ranges, own_range) {
            Some(Caller::Plugin(plugin)) => owner = Some(plugin),
            Some(Caller::Command) => is_own = true,
            None => {}
        }
    }
    Scene { note, owner, library: text(library, n_path), is_own, heap }
}

fn text(bytes: &'static [u8], n_bytes: usize) -> &'static str {
    std::str::from_utf8(bytes.get(..n_bytes).unwrap_or_default()).unwrap_or_default()
}

fn is_path_of(library: &PluginLibrary, path: &[u8]) -> bool {
    use std::os::unix::ffi::OsStrExt as _;
    let known = library.path().as_os_str().as_bytes();
    path == known || path.strip_suffix(b" (deleted)").is_some_and(|path| path == known)
}

/// Copies a path, as far as it fits; what could steer a terminal becomes `?`.
fn copied(from: &[u8], to: &mut [u8]) -> usize {
    let n_bytes = from.len().min(to.len());
    to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
    visible(to, n_bytes)
}

fn visible(text: &mut [u8], n_bytes: usize) -> usize {
    let n_bytes = n_bytes.min(text.len());
    text.iter_mut().take(n_bytes).filter(|byte| !matches!(byte, b' '..=b'~')).for_each(|byte| *byte = b'?');
    n_bytes
}

fn plugin_at(address: usize, n_ranges: usize) -> Option<&'static str> {
    let found = RANGES.iter().take(n_ranges).find_map(|range| {
        let [start, end, at] = [0, 1, 2].map(|field: usize| range[field].load(Ordering::Relaxed));
        (start..end).contains(&address).then_some(at)
    })?;
    PluginLibrary::all().nth(found).map(PluginLibrary::plugin)
}

/// The code that called `abort`.
enum Caller {
    Plugin(&'static str),
    Command,
}

/// Returns the plugin of the nearest address on the stack that lies in one's library, or this
/// command where there is none.
fn caller(stack: usize, n_ranges: usize, own_range: (usize, usize)) -> Option<Caller> {
    const AT_ONCE: usize = 16;
    let memory = OwnMemory::open()?;
    let mut words = [0; AT_ONCE];
    let mut command = None;
    for part in 0..STACK_WORDS_MAX / AT_ONCE {
        let n_words = memory.read(stack.checked_add(part * size_of_val(&words))?, &mut words);
        if n_words == 0 {
            break;
        }
        let words = words.iter().take(n_words);
        if let Some(plugin) = words.clone().find_map(|word| plugin_at(*word, n_ranges)) {
            return Some(Caller::Plugin(plugin));
        }
        if words.clone().any(|word| (own_range.0..own_range.1).contains(word)) {
            command = Some(Caller::Command);
        }
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(scene: Scene<'_>) -> (String, Whose) {
        let mut text = String::new();
        let whose = scene.write(&how(11), &mut |part| text.push_str(part));
        (text, whose)
    }

    /// BLAME-B1 to BLAME-B3.
    #[test]
    fn who_is_named_follows_from_the_place() {
        let init = Some(("toy", "init"));
        let function = Some(("c", "function add"));
        let scene = |note, owner, library, heap| Scene { note, owner, library, is_own: false, heap };
        for (scene, expected, whose) in [
            (
                scene(init, Some("toy"), "/toy.so", ""),
                "plugin \"toy\" crashed (SIGSEGV) in `init`",
                Whose::Plugin,
            ),
            (
                scene(init, Some("other"), "/other.so", ""),
                "plugin \"other\" crashed (SIGSEGV) outside of its calls while plugin \"toy\" was called in `init`",
                Whose::Plugin,
            ),
            (
                scene(None, Some("other"), "/other.so", ""),
                "plugin \"other\" crashed (SIGSEGV) outside of its calls",
                Whose::Plugin,
            ),
            (
                scene(function, None, "", ""),
                "function \"add\" crashed (SIGSEGV), called through plugin \"c\"",
                Whose::Function,
            ),
            (
                scene(function, None, "/k.so", ""),
                "function \"add\" crashed (SIGSEGV), called through plugin \"c\"; the address lies in /k.so",
                Whose::Function,
            ),
            (
                scene(init, None, "/libc.so.6", ""),
                "/libc.so.6 crashed (SIGSEGV) while plugin \"toy\" was called in `init`",
                Whose::Nobody,
            ),
            (scene(None, None, "/libc.so.6", ""), "/libc.so.6 crashed (SIGSEGV)", Whose::Nobody),
            (
                scene(init, None, "/libc.so.6", "free(): invalid pointer"),
                "this command crashed (SIGSEGV) on damaged memory (free(): invalid pointer) while plugin \"toy\" was called \
                 in `init`",
                Whose::Nobody,
            ),
            (
                Scene { is_own: true, ..scene(init, None, "/chipdock", "") },
                "this command crashed (SIGSEGV) while plugin \"toy\" was called in `init`",
                Whose::Nobody,
            ),
            (scene(init, None, "", ""), "plugin \"toy\" crashed (SIGSEGV) in `init`", Whose::Plugin),
            (
                Scene { is_own: true, ..scene(None, None, "/chipdock", "") },
                "this command crashed (SIGSEGV)",
                Whose::Command,
            ),
        ] {
            assert_eq!(said(scene), (expected.to_owned(), whose));
        }
    }

    #[test]
    fn a_path_steers_no_terminal() {
        let mut into = [0; 8];
        let n_bytes = copied(b"/a\x1b[\xe2\x80\xae/long", &mut into);
        assert_eq!(into.get(..n_bytes).unwrap(), b"/a?[???/");
    }
}

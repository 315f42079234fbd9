//! Records which plugin function is being called, for a program that must report why the process
//! ended.
//!
//! * **CALLING-N1** Before each call that crosses the boundary, calls of compiled functions
//!   included, the calling thread's note names the plugin and the function; afterwards the note is
//!   as it was before.
//! * **CALLING-N2** That costs one store. A note is made once for each plugin and function, and
//!   lives as long as the process.
//! * **CALLING-N3** Notes may be read in a signal's handler. This library installs none: whether a
//!   signal ends the process, and how that is reported, is the program's decision.
//! * **CALLING-N4** A thread that runs part of a parallel loop has the note of the thread that
//!   started the loop.
//! * **CALLING-N5** A program may have one thread watched, mostly the one that does its work: its
//!   note is read on threads without one, such as those that a plugin started, and each change of
//!   it may be reported to another process.
//! * **CALLING-N6** Beside the notes there is a list of the libraries of plugins that this process
//!   opens, each from before its first code runs: a program finds the plugin by the address at
//!   which the process ended. It may be read in a signal's handler, too.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering, compiler_fence};

use chipdock_plugin_api::kit::{PerProcess, carried, lock};

/// The plugin and the function of a call.
#[derive(Debug)]
pub struct Note {
    plugin: Box<str>,
    call: Box<str>,
    /// Whether a warning about this function was given.
    has_warned: AtomicBool,
}

/// Prefix of the call in the note of a compiled function; its name follows.
pub const FUNCTION: &str = "function ";

/// A plugin's library that this process opens (CALLING-N6).
#[derive(Debug)]
pub struct PluginLibrary {
    plugin: Box<str>,
    path: PathBuf,
    next: *const Self,
}

/// The library that was opened last; each has the one before it.
static LIBRARIES: AtomicPtr<PluginLibrary> = AtomicPtr::new(ptr::null_mut());

impl PluginLibrary {
    /// Adds the library of a plugin that is about to be opened.
    pub(crate) fn add(plugin: &str, path: &Path) {
        let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
        if Self::all().any(|known| known.path == path && *known.plugin == *plugin) {
            return;
        }
        let added = Box::leak(Box::new(Self { plugin: plugin.into(), path, next: ptr::null() }));
        let mut next = LIBRARIES.load(Ordering::Acquire);
        loop {
            added.next = next;
            match LIBRARIES.compare_exchange_weak(next, added, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return,
                Err(other) => next = other,
            }
        }
    }

    /// Lists the libraries, the last one first. Needs no memory and no lock.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        // SAFETY: null, or a library that `add` leaked, which does not change once it is in the
        // list.
        let known = |library: *const Self| unsafe { library.as_ref() };
        std::iter::successors(known(LIBRARIES.load(Ordering::Acquire)), move |library| known(library.next))
    }

    /// Returns the plugin's name.
    #[must_use]
    pub fn plugin(&self) -> &str {
        &self.plugin
    }

    /// Returns the library's path, links followed.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Callback for each change of the watched thread's note.
pub type Told = fn(Option<&'static Note>);

impl Note {
    /// Returns the note for this plugin and function.
    pub(crate) fn of(plugin: &str, call: &str) -> &'static Self {
        type Key = (Box<str>, Box<str>);
        static NOTES: PerProcess<Mutex<BTreeMap<Key, &'static Note>>> = PerProcess::new(carried);
        let mut notes = lock(NOTES.of_this());
        let make = || -> &'static Self {
            Box::leak(Box::new(Self {
                plugin: plugin.into(),
                call: call.into(),
                has_warned: AtomicBool::new(false),
            }))
        };
        notes.entry((plugin.into(), call.into())).or_insert_with(make)
    }

    /// Returns the plugin's name.
    #[must_use]
    pub fn plugin(&self) -> &str {
        &self.plugin
    }

    /// Returns true for the first caller, who warns about this function.
    pub(crate) fn is_first_warning(&self) -> bool {
        !self.has_warned.swap(true, Ordering::Relaxed)
    }

    /// Returns the function's name, after the key that it belongs to where it has one:
    /// `device_api.toy: sync_stream`.
    #[must_use]
    pub fn call(&self) -> &str {
        &self.call
    }
}

struct Here {
    note: AtomicPtr<Note>,
    is_watched: Cell<bool>,
    told: Cell<Option<Told>>,
}

thread_local! {
    /// Has no destructor and is initialised at compile time: a handler may read it.
    static HERE: Here = const {
        Here { note: AtomicPtr::new(ptr::null_mut()), is_watched: Cell::new(false), told: Cell::new(None) }
    };
}

/// The note of the watched thread.
static WATCHED: AtomicPtr<Note> = AtomicPtr::new(ptr::null_mut());

/// Watches this thread from now on, and no other (CALLING-N5). `told` is called at each change, on
/// this thread: it must be quick, and must not call the host.
pub fn watch_this_thread(told: Option<Told>) {
    HERE.with(|here| {
        here.is_watched.set(true);
        here.told.set(told);
        WATCHED.store(here.note.load(Ordering::Relaxed), Ordering::Relaxed);
    });
}

/// Returns the note of this thread, or else that of the watched one. Needs no memory and no lock
/// (CALLING-N3).
#[must_use]
pub fn current() -> Option<&'static Note> {
    here().or_else(|| as_note(WATCHED.load(Ordering::Relaxed)))
}

/// Returns the note of this thread alone. Needs no memory and no lock (CALLING-N3).
#[must_use]
pub fn here() -> Option<&'static Note> {
    as_note(HERE.with(|here| here.note.load(Ordering::Relaxed)))
}

fn as_note(note: *mut Note) -> Option<&'static Note> {
    // SAFETY: null, or a note that `Note::of` leaked.
    unsafe { note.as_ref() }
}

fn set(here: &Here, note: *mut Note) {
    here.note.store(note, Ordering::Relaxed);
    if here.is_watched.get() {
        WATCHED.store(note, Ordering::Relaxed);
        if let Some(told) = here.told.get() {
            told(as_note(note));
        }
    }
    // A handler on this thread sees the note of the next call.
    compiler_fence(Ordering::SeqCst);
}

/// A call in progress. Restores the previous note when it is dropped.
pub(crate) struct Calling {
    before: *mut Note,
    /// This thread's: a second look for it would cost a call in a library. Not sent to other
    /// threads.
    here: *const Here,
}

impl Calling {
    /// Sets this thread's note.
    #[inline]
    pub(crate) fn enter(note: &'static Note) -> Self {
        Self::resume(Some(note))
    }

    /// Gives this thread the note of another, on whose behalf it works (CALLING-N4).
    #[inline]
    pub(crate) fn resume(note: Option<&'static Note>) -> Self {
        HERE.with(|here| {
            let before = here.note.load(Ordering::Relaxed);
            set(here, note.map_or(ptr::null_mut(), |note| ptr::from_ref(note).cast_mut()));
            Self { before, here }
        })
    }
}

impl Drop for Calling {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: it has no destructor and lives as long as its thread, on which this is.
        set(unsafe { &*self.here }, self.before);
    }
}

/// The notes for the functions of one table, by name.
pub(crate) struct TableNotes(Vec<(&'static str, &'static Note)>);

impl TableNotes {
    pub(crate) fn of(plugin: &str, key: &str, functions: &[&'static str]) -> Self {
        Self(functions.iter().map(|name| (*name, Note::of(plugin, &format!("{key}: {name}")))).collect())
    }

    /// Returns the note of a function; `None` for one that is not listed.
    pub(crate) fn of_function(&self, function: &str) -> Option<&'static Note> {
        self.0.iter().find(|(name, _)| *name == function).map(|(_, note)| *note)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    /// CALLING-N1, CALLING-N2: a call inside of another has its own note, and each is made once.
    #[test]
    fn a_note_is_put_back() {
        let (one, two) = (Note::of("a", "device_api.a: sync"), Note::of("b", "init"));
        assert!(ptr::eq(one, Note::of("a", "device_api.a: sync")));
        assert!(here().is_none());
        let outer = Calling::enter(one);
        {
            let _inner = Calling::enter(two);
            assert_eq!((here().unwrap().plugin(), here().unwrap().call()), ("b", "init"));
        }
        assert_eq!(here().unwrap().call(), "device_api.a: sync");
        drop(outer);
        assert!(here().is_none());
    }

    /// CALLING-N1: also when the call ends by a panic of ours.
    #[test]
    fn a_note_is_put_back_by_unwinding() {
        let unwound = std::panic::catch_unwind(|| {
            let _calling = Calling::enter(Note::of("a", "x"));
            std::panic::resume_unwind(Box::new(()));
        });
        assert!(unwound.is_err() && here().is_none());
    }

    /// CALLING-N4, CALLING-N5: a thread without a note has the watched one's; one that works for
    /// another has that one's.
    #[test]
    fn other_threads_have_the_watched_note() {
        static TOLD: AtomicUsize = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            let worker = scope.spawn(|| {
                watch_this_thread(Some(|note| {
                    TOLD.fetch_add(1 + usize::from(note.is_some()), Ordering::Relaxed);
                }));
                let _calling = Calling::enter(Note::of("watched", "run"));
                std::thread::scope(|scope| {
                    let of_other = scope.spawn(|| {
                        let mine = here();
                        let seen = current().map(Note::plugin);
                        let _calling = Calling::resume(Some(Note::of("mine", "run")));
                        (mine.is_none(), seen, current().map(Note::plugin))
                    });
                    of_other.join().unwrap()
                })
            });
            assert_eq!(worker.join().unwrap(), (true, Some("watched"), Some("mine")));
        });
        assert_eq!(TOLD.load(Ordering::Relaxed), 3, "told of the call, and of its end");
    }

    /// CALLING-N6: each library once, the last one first; a link is the file that it leads to.
    #[test]
    fn libraries_are_listed() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("real.so"), folder.path().join("link.so"));
        std::fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let file = file.canonicalize().unwrap();
        let found = || {
            let all = PluginLibrary::all().filter(|library| library.path() == file);
            all.map(PluginLibrary::plugin).collect::<Vec<_>>()
        };
        PluginLibrary::add("listed", &link);
        PluginLibrary::add("listed", &link);
        assert_eq!(found(), ["listed"]);
        PluginLibrary::add("renamed", &file);
        assert_eq!(found(), ["renamed", "listed"]);
    }

    /// CALLING-N2: what it costs, for whoever runs it with `--nocapture`.
    #[test]
    fn setting_it_is_cheap() {
        let note = Note::of("a", "cheap");
        let started = std::time::Instant::now();
        for _ in 0..1_000_000 {
            let _calling = std::hint::black_box(Calling::enter(note));
        }
        let each = started.elapsed() / 1_000_000;
        println!("a note set and put back: {each:?}");
        assert!(each < std::time::Duration::from_micros(1), "{each:?}");
    }
}

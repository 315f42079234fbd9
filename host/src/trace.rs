//! Spans and events of [`tracing`](https://docs.rs/tracing) by which a program observes the host's
//! work.
//!
//! A span is a piece of work with a beginning and an end; an event is a line of the log. A program
//! that wants them installs a subscriber of `tracing`; this library installs none. The command's
//! `--verbose` and `--trace` are such subscribers.
//!
//! * **SP1 Names.** The spans are those of the table below, with these names, levels and fields. A
//!   span or field may be added in any version; one of these is removed or renamed with a line in
//!   the changelog.
//! * **SP2 Nesting.** A span is entered once, by the thread that does the work, and ends on that
//!   thread when the work ends, whether it succeeded or failed. So the spans of one thread nest.
//! * **SP3 Plugins.** Each call of a function of a plugin is in a span whose field `plugin` is the
//!   plugin's name: `plugin_call`, `device_call`, `call` or `launch`. Calls that bypass the host
//!   are not seen: compiled code that calls its imports through a pointer,
//!   [`Function::value`](crate::Function::value), and a plugin's own actions.
//! * **SP4 Log.** Each line of the log is an event at its level (an error at `error`, a warning at
//!   `warn`, and so on) with the field `message`; a line of a plugin has the field `plugin` too.
//!   [`LogSink`](crate::LogSink) gets the same lines.
//! * **SP5 Cost.** Where no subscriber wants a level, a span or event of that level costs one load
//!   of a word that is never written, and computes no field. Work that may be done millions of
//!   times is at level `trace`.
//!
//! | Span | Level | Fields | Work |
//! |---|---|---|---|
//! | `discover` | info | `candidates` | the search for plugins when a host is made |
//! | `manifest` | debug | `path` | one manifest is read |
//! | `open_plugin` | info | `plugin`, `library` | a plugin is checked, opened, and registers what it has |
//! | `target` | info | `kind` | a target is completed and checked |
//! | `compile` | info | `target`, `cached` | all of [`Host::compile`](crate::Host::compile) |
//! | `validate` | debug | | the module is checked against the IR's rules |
//! | `lower` | info | `stage` | the passes up to a stage |
//! | `pass` | debug | `pass`, `functions`, `statements`, `expressions`, `functions_after`, `statements_after`, `expressions_after` | one pass, with the size of the module before and after it |
//! | `write_ir` | debug | `target`, `size_bytes` | the module is written for a code generator |
//! | `build` | info | `target` | one module becomes an artifact |
//! | `find_build` | debug | `found` | the compile cache is asked |
//! | `keep_build` | debug | | the artifact goes to the compile cache |
//! | `export` | info | | an artifact becomes a library or an archive: its object, and the linking |
//! | `load` | info | `kind` | an artifact is made runnable, and what it imports |
//! | `find_function` | debug | `function` | a function is looked up by name |
//! | `plugin_call` | debug | `call`, `plugin` | a call of a plugin, as `target.build.c: build` |
//! | `device_call` | trace | `call`, `plugin` | a call of a device API, as `device_api.cpu: allocate_data_space` |
//! | `call` | trace | `function`, `plugin` | a call of a function: [`Function::call`](crate::Function::call) |
//! | `launch` | trace | `kernel`, `plugin` | a kernel is queued on a device |
//! | `task` | trace | `task`, `count` | one task of a parallel loop, on the thread that runs it |

use tracing::Level;

pub(crate) use crate::log::event;

/// Returns true if a subscriber wants level trace (SP5).
#[inline]
pub(crate) fn is_wanted() -> bool {
    tracing::level_enabled!(Level::TRACE)
}

#[cfg(test)]
mod tests;

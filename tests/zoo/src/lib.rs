//! A zoo of broken plugins, each wrong in one way, and the expected result of every command beside
//! each.
//!
//! `zoo.h` is a complete plugin that is correct in every table; a file of `faults/` includes it and
//! replaces one part. [`files`] contains the faults of files: libraries that are not libraries,
//! manifests with false statements. `outcomes.toml` states the expected result of each command
//! beside each fault; all others must be as beside `healthy.c`.
//!
//! Each plugin is in its own folder, which `--plugin` names; beside the command is the good plugin
//! `c` with its target kind, and every host has the device `cpu`. Every command must keep these
//! rules beside every fault, and [`judge`] checks them:
//!
//! * **ZOO-Z1 It ends**, in bounded time, and by itself; if a plugin crashed the process, standard
//!   error names the plugin and the called function. The only exception is `hangs` in the table:
//!   without `--isolate` a call that hangs must be ended by the user.
//! * **ZOO-Z2 The good is unharmed.** `c` is ready, opened and usable, `cpu` has its device, `c` is
//!   the default target, and its results are right. If a manifest claims a name of `c`, only that
//!   name is unusable, and this is reported.
//! * **ZOO-Z3 A result is a result.** Standard output is empty or one JSON document of the
//!   command's own schema, whatever a plugin prints.
//! * **ZOO-Z4 Nothing is forged.** No control character reaches either stream, and no line of a
//!   plugin looks like a line of the command.
//! * **ZOO-Z5 It is bounded.** At most [`judge::TEXT_BYTES_MAX`] bytes of text are printed, and at
//!   most [`judge::MEMORY_BYTES_MAX`] bytes of memory are used, including the plugin's own; by the
//!   conformance suite, which calls a plugin from several threads at once,
//!   [`judge::SUITE_MEMORY_BYTES_MAX`].
//! * **ZOO-Z6 Files are whole or not there.** A command that failed has written nothing, in its
//!   folder or elsewhere; one that ended with 0 has written all files, and they are right.
//! * **ZOO-Z7 A failure says so.** An exit code that is not 0 has an `error:` line; the suite has a
//!   verdict, and says of no plugin what it did not do.

pub mod cage;
pub mod compiled;
pub mod files;
pub mod judge;
pub mod table;
pub mod watch;

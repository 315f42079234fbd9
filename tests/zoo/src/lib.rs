//! A zoo of broken plugins, each wrong in one way, and the result of every command beside each.
//!
//! `zoo.h` is a whole plugin that is correct in every table; a file of `faults/` includes it and replaces one thing. [`files`]
//! has the faults of files: files that are no libraries, manifests that do not match. `outcomes.toml` defines the result of
//! each command beside each fault; a command that it does not name must end as it does beside `healthy.c`.
//!
//! Each plugin is in a folder of its own that `--plugin` names; beside the command is the good plugin `c` with its target kind,
//! and every host has the device `cpu`. The rules that every command keeps beside every fault, checked by [`judge`]:
//!
//! * **ZOO-Z1 It ends**, in bounded time, and by itself; where a plugin crashed the process, standard error names the plugin
//!   and the call. Only `hangs` in the table is an exception: without `--isolate` the user must end a call that hangs.
//! * **ZOO-Z2 The good is unharmed.** `c` is ready, opened and usable, `cpu` has its device, `c` is the default target, and `c`
//!   computes correct results. Where a manifest claims a name of `c`, only that name is unusable, and this is reported.
//! * **ZOO-Z3 A result is a result.** Standard output is empty or one JSON document of the command's own schema, whatever a
//!   plugin prints.
//! * **ZOO-Z4 Nothing is forged.** No control character reaches either stream, and no line of a plugin looks like one of
//!   the command.
//! * **ZOO-Z5 It is bounded.** At most [`judge::TEXT_BYTES_MAX`] of text is printed, and at most
//!   [`judge::MEMORY_BYTES_MAX`] of memory is used, the plugin's own included.
//! * **ZOO-Z6 Files are whole or absent.** A command that failed has written nothing, where it was started or elsewhere; one
//!   that ended with 0 has written all its files, with the correct content.
//! * **ZOO-Z7 A failure says so.** An exit code that is not 0 has an `error:` line.

pub mod cage;
pub mod compiled;
pub mod files;
pub mod judge;
pub mod table;
pub mod watch;

//! A zoo of broken plugins, each wrong in one way, and what every command makes of each.
//!
//! `zoo.h` is a whole plugin that is right in every table; a file of `faults/` includes it and replaces one thing.
//! [`files`] has what is wrong with files: libraries that are none, manifests that lie. `outcomes.toml` says what each
//! command is to make of each fault; what it does not name is to be as it is beside `healthy.c`.
//!
//! Each plugin lies in a folder of its own that `--plugin` names; beside the command lies the good plugin `c` with its
//! target kind, and every host has the device `cpu`. What every command keeps beside every fault, and [`judge`] checks:
//!
//! * **ZOO-Z1 It ends**, in bounded time, and by itself; where a plugin crashed the process, standard error names the plugin
//!   and what was called. Only `hangs` in the table excepts one: without `--isolate` a call that hangs is the user's to
//!   end.
//! * **ZOO-Z2 The good is unharmed.** `c` is ready, opened and usable, `cpu` has its device, `c` is the default target, and
//!   what `c` computes is right. Where a manifest claims a name of `c`, that name alone is nobody's, and it is said.
//! * **ZOO-Z3 A result is a result.** Standard output is empty or one JSON document of the command's own schema, whatever a
//!   plugin prints.
//! * **ZOO-Z4 Nothing is forged.** No control character reaches either stream, and no line is a plugin's own that looks like
//!   the command's.
//! * **ZOO-Z5 It is bounded.** Of text no more than [`judge::TEXT_BYTES_MAX`] comes out, and no more than
//!   [`judge::MEMORY_BYTES_MAX`] of memory is used, what the plugin itself takes included.
//! * **ZOO-Z6 Files are whole or not there.** A command that failed has written nothing, where it was started or elsewhere; one
//!   that ended with 0 has written all, and it is right.
//! * **ZOO-Z7 A failure says so.** An exit code that is not 0 has an `error:` line.

pub mod cage;
pub mod compiled;
pub mod files;
pub mod judge;
pub mod table;
pub mod watch;

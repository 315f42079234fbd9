//! Supervised child processes: work that may crash, hang or end its process is done in a child, and
//! its supervisor reports the outcome.
//!
//! The child is a program, mostly this one again with a hidden command. For a single answer use
//! [`ask`]; for a longer conversation use [`Child`].
//!
//! # Rules
//!
//! * **CHILD-V1 Apart.** A child is in a process group of its own and leaves no core file. It
//!   reports through a pipe that is neither standard input, output nor error, so that what a plugin
//!   prints disturbs nothing. Of the other descriptors that its supervisor made it inherits those
//!   that it is given by [`Start::share`], no other.
//! * **CHILD-V2 Dies with its supervisor.** The kernel kills a child when the thread that started
//!   it ends (`PR_SET_PDEATHSIG`), and a child whose supervisor is gone before that is set never
//!   runs its program. That holds for the child, not for what it starts.
//! * **CHILD-V3 Stays with its thread.** As the thread that starts a child is the one that it dies
//!   with, a [`Child`] cannot be sent to another thread. Dropped, it is ended.
//! * **CHILD-V4 Messages are lines.** A message is one line. A longer line than
//!   [`Start::line_bytes_max`] is dropped whole, and never kept.
//! * **CHILD-V5 Everything is bounded.** Of standard error the last [`TAIL_BYTES`] are kept; a pipe
//!   that somebody fills or keeps open neither blocks the supervisor nor makes it wait longer than
//!   the child lives.
//! * **CHILD-V6 The whole group ends.** When a child ends, or is ended, what is left of its group
//!   is killed before its number is given back. A process that left the group, or that the kernel
//!   cannot end, is left behind and not waited for.
//! * **CHILD-V7 How it ended** is one of [`Ended`]: by itself with a code, by a signal, silent past
//!   its deadline, or never started. A report counts only when the process ended by itself with
//!   code 0, as [`ask`] has it.
//! * **CHILD-V8 Many at once** run on so many threads, or as many as the machine gives; results
//!   come in the order of the pieces, whatever ended first.
//! * **CHILD-V9 The last note.** A child given a [`Notebook`] writes there what it is about to do;
//!   the supervisor reads it after the child is gone, however it went: by `_exit`, too, which
//!   nothing within it can notice.
//! * **CHILD-V10 Last words.** A program without a supervisor may say something before a signal
//!   ends it, any but SIGKILL and those that it was started to ignore, on the stack that is kept
//!   for handlers and with what a handler may do, in one write; the signal then does its work. A
//!   call of `exit` that is not the program's own ends with a code that the program chose. `_exit`
//!   is not noticed.
//! * **CHILD-V11 Where it was.** A message about a signal may say where the thread was that raised
//!   it: the address, its stack, and what is mapped there are read as a handler may. A child tells
//!   its supervisor so by its notebook ([`tell_of_crashes`]).
//!
//! # Where is what
//!
//! | Module | Content |
//! |---|---|
//! | `child`, `crowd` | a child and its deadline, many at once; `lines`, `notebook`: what it says |
//! | `inside` | the child's own side |
//! | `words`, `handler`, `signals`, `maps`, `aborted` | what is said when a signal ends a process |

mod aborted;
mod child;
mod crowd;
mod handler;
mod inside;
mod lines;
mod maps;
mod notebook;
mod signals;
mod words;

pub use aborted::abort_message;
pub use child::{Asked, Child, Ended, Next, Outcome, Start, ask};
pub use crowd::{in_order, spread};
pub use handler::Given;
pub use inside::{Inside, leave, leave_printed, raised};
pub use lines::{Lines, TAIL_BYTES, Tail};
pub use maps::{MapReader, Mapping, OwnMemory, Spot};
pub use notebook::{Notebook, anonymous};
pub use signals::{Meaning, make_file_limit_an_error, signal_name};
pub use words::{Fate, OwnEnd, Speak, Tell, Words, speak_at_the_end, tell_of_crashes};

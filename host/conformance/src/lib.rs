//! The conformance suite: one command that takes any plugin's `.so` and proves what it does.
//!
//! `chipdock conformance PLUGIN.so` is its only front end. A vendor builds nothing and links nothing: the suite opens the
//! library as a host does, calls its tables, compiles with its code generators and runs on its devices. Every [`Case`]
//! names the clause of the contract (front page of `chipdock-plugin-api`) that it tests.
//!
//! ```text
//! supervisor                                    worker (a process, many cases)
//!   probe ───────────────────────────────────▶   open, register, count devices      → Facts
//!   cases × registrations = instances
//!   batch of instances ──────────────────────▶   begin, run, end; begin, run, …     → Verdicts
//!   death, silence: charged to the case that had begun; the rest goes to a new worker
//!   expectations, claims, levels              → Report → terminal, JSON, JUnit, HTML, card
//! ```
//!
//! # Rules
//!
//! Cases:
//!
//! - **S1 Ids.** A case's id is `group/name[/parameters]`; an instance of it is `id@registration`, or `id` alone when it is
//!   about the plugin as a whole. Ids never change meaning; they have letters, digits, `-`, `_`, `.`, `+`, `/` and `@` only.
//! - **S2 One list.** The list of cases is the same in every run, process and machine: it depends on the suite and on the
//!   seeds asked for, never on the plugin. What of it applies follows from what the plugin registers.
//! - **S3 Clauses.** Every case names a clause that the front page of `chipdock-plugin-api` has. A clause without a case
//!   is listed by `--coverage`, with who checks it instead.
//! - **S4 Evidence.** A case passes by what it saw. One that could only build, because what runs the result is not here,
//!   says so ([`Status::Built`]); one that could do nothing is [`Status::Absent`] with the reason. Neither is a pass.
//! - **S5 Independence.** A case leaves the plugin as it found it: it frees what it made. Cases in one worker share the
//!   opened library, never a data space or a stream.
//!
//! Claims and expectations:
//!
//! - **S6 Profiles.** A case that needs more than every plugin has names one [`Profile`] or several. It is claimed when
//!   all of them are, and counts for those that are not otherwise. What is claimed must pass. What is not claimed runs all
//!   the same and must answer `Unsupported`, all cases of the profile alike: some passing and some refused is a failure, all
//!   passing is a claim left out, reported as stale. What a profile is about happens on the device: a case for a target kind
//!   that is no host, and that passes, says nothing of what did not come to its device functions, and its report leaves
//!   those profiles out. That is all of them where it has no such function, for the host alone computes it; and it is
//!   `float16`, `bfloat16`, `float64` or `int64` where no value that they use, as the code generator was given them, has the
//!   type, but positions in memory. What is refused counts all the same. A claim of which all cases say nothing is stale.
//! - **S7 Expectations.** `unsupported` and the expected ways to fail stand in the plugin's expectations file with a reason
//!   and an issue or a date. Such cases run all the same; one that passes is stale; a date that has passed no longer counts.
//! - **S8 Availability.** Whether a device is there is found out once, by the probe; a case that finds none later fails.
//!
//! Isolation:
//!
//! - **S9 Blame.** A crash, an abort, an exit or a silence past its deadline is charged to the case that had begun, with the
//!   signal and the stack where it could be had; between two cases it is charged to the one that ended last. The run goes on
//!   with the next case, in a new process, after one that asks whether the plugin is still well: each device takes memory,
//!   keeps it and gives it back. Where it does not, that is a failure of its own, `load/health-after/` and the case's id.
//! - **S10 Again.** What failed is run once more alone. What fails again is a failure; what then passes is repeated after
//!   those that came before it: failing there it depends on the order, else it is flaky. All three are failures.
//! - **S11 The report is ours.** A worker reports through a pipe of its own with a token; what a plugin prints, forks,
//!   closes, installs or changes cannot reach it. A message without the token, or from another process, does not count.
//!   What a case leaves changed of its thread (P10.10) fails it, and is put back before the next.
//! - **S12 Bounded.** The supervisor holds one report per instance, with texts cut; of what a worker prints to its standard
//!   error it reads all and keeps the end, and nothing goes to a file.
//!
//! Answers:
//!
//! - **S13 Levels.** [`Level::Loadable`]; on it [`Level::Device`] and [`Level::Codegen`], each by itself;
//!   [`Level::Full`] is all of them and everything else that is registered. A level is reached when each of its cases ended
//!   as it should, and one at least ran.
//! - **S14 Exit codes.** 0 all as expected, 1 a failure, 2 usage, 3 the plugin was refused, 4 no device and nothing beyond
//!   Loadable could run, 5 a crash or a hang, 6 stale expectations, 7 the suite's own fault; of several the first of
//!   7, 2, 3, 5, 1, 6, 4, 0.
//! - **S15 Repeatable.** Every failure carries the command that repeats it alone. Random cases carry their seeds in their
//!   ids. A program that fails is made small and written as one file.
//! - **S16 Settings.** What the user sets (`--config`) every host answers that the plugin under test meets, but for those of
//!   the cases about settings; the user's file of settings is not read. Report and card say what was set: a card with settings
//!   is another claim than one without.

mod batch;
pub mod bytes;
pub mod card;
pub mod case;
pub mod clauses;
pub mod context;
pub mod damage;
mod execute;
pub mod expectations;
pub mod facts;
mod group;
pub mod guarded;
mod kernels;
pub mod list;
pub mod ops;
pub mod raw;
pub mod report;
pub mod run;
mod script;
pub mod stop;

pub use case::{Case, Cases, Group, Instance, Level, Profile, Subject};
pub use context::Context;
pub use facts::Facts;
pub use group::all as cases;
pub use group::fuzz::{Replayed, replay};
pub use report::{Report, Status};
pub use stop::{Failure, Stop, Verdict};

/// The version of the suite: of its list of cases and what they hold. It stands in every report and card.
pub const SUITE_VERSION: &str = "1.0.0";

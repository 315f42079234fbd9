//! The conformance suite: one command that tests any plugin's `.so` against the contract.
//!
//! `chipdock conformance PLUGIN.so` is its only front end. A vendor builds nothing and links
//! nothing: the suite opens the library as a host does, calls its tables, compiles with its code
//! generators and runs on its devices. Every [`Case`] names the clause of the contract (front page
//! of `chipdock-plugin-api`) that it tests.
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
//! - **SUITE-S1 Ids.** A case's id is `group/name[/parameters]`; an instance of it is
//!   `id@registration`, or `id` alone when it is about the plugin as a whole. Ids never change
//!   meaning; they have letters, digits, `-`, `_`, `.`, `+`, `/` and `@` only.
//! - **SUITE-S2 One list.** The list of cases is the same in every run, process and machine: it
//!   depends on the suite and on the requested seeds, never on the plugin. The plugin's
//!   registrations decide which cases apply.
//! - **SUITE-S3 Clauses.** Every case names a clause of the front page of `chipdock-plugin-api`.
//!   `--coverage` lists the clauses without a case, each with its checker.
//! - **SUITE-S4 Evidence.** A case passes only by observation. A case that could only build,
//!   because nothing here can run the result, is [`Status::Built`]; one that could do nothing is
//!   [`Status::Absent`] with the reason. Neither is a pass.
//! - **SUITE-S5 Independence.** A case leaves the plugin unchanged: it frees every object that it
//!   made. Cases in one worker share the opened library, never a data space or a stream.
//!
//! Claims and expectations:
//!
//! - **SUITE-S6 Profiles.** A case that needs an optional feature names one or several
//!   [`Profile`]s. The case is *claimed* when all of them are claimed; otherwise it counts for
//!   those that are not. Every case runs. Its result means:
//!
//!   | | all cases pass | some pass, some are refused | all are refused (`Unsupported`) | all are silent |
//!   |---|---|---|---|---|
//!   | profile claimed | as expected | each refusal is a failure | each is a failure | the claim is stale |
//!   | profile not claimed | a missing claim, reported as stale | a failure | as expected | nothing |
//!
//!   A profile that is about a device ([`Profile::is_of_device`]) is no missing claim of a plugin
//!   that registers no device API: its cases pass on another plugin's device.
//!
//!   A case is *silent* about a profile when it passes but does not exercise it on the device. This
//!   applies to target kinds that are no host, and the case's report leaves such profiles out: all
//!   of them, where the case has no device function, because only the host computes; and `float16`,
//!   `bfloat16`, `float64` or `int64`, where no value in the device functions that the code
//!   generator was given has that type, positions in memory not counted. A refusal is never silent.
//! - **SUITE-S7 Expectations.** The plugin's expectations file lists cases expected to be
//!   `unsupported` or to fail, with a reason and an issue or a date. They run like all others; an
//!   expectation whose case passes is stale; one past its date is ignored.
//! - **SUITE-S8 Availability.** The probe determines once whether there is a device; a case that
//!   finds none later fails.
//!
//! Isolation:
//!
//! - **SUITE-S9 Blame.** A crash, an abort, an exit or a timeout is attributed to the running case,
//!   with the signal and, where it is available, the stack; between two cases it is attributed to
//!   the one that ended last. The run continues with the next case in a new process, after a health
//!   check of the plugin: each device allocates memory, keeps its contents and frees it. If that
//!   fails, it is a failure of its own, `load/health-after/` and the case's id.
//! - **SUITE-S10 Again.** A failed case is run once more alone. If it fails again it is a failure;
//!   if it passes, it is repeated after the cases that preceded it, and a kernel together with
//!   those that followed it too: if it fails there it is order-dependent, else flaky. All three are
//!   failures.
//! - **SUITE-S11 The report is ours.** A worker reports through a private pipe with a token, beyond
//!   the reach of anything that a plugin prints, forks, closes, installs or changes. A message
//!   without the token, or from another process, is ignored. A case that leaves its thread changed
//!   (P10.10) fails, and the thread is restored before the next.
//! - **SUITE-S12 Bounded.** The supervisor keeps one report per instance, with texts cut to a
//!   bound; it reads all of a worker's standard error, keeps its end, and writes nothing to a file.
//!   A registration beyond the host's bounds (a name of 1 KiB, a schema of 1 MiB, 4,096
//!   registrations) is refused as the host refuses it.
//!
//! Answers:
//!
//! - **SUITE-S13 Levels.** [`Level::Device`] and [`Level::Codegen`] each require
//!   [`Level::Loadable`], not each other; [`Level::Full`] is all of them and everything else that
//!   is registered. A level is *reached* when each of its cases ended as expected and cases of each
//!   of its groups passed ([`report::LevelState`]). It is *built only* if there is a group whose
//!   code was built and of which no case passed, *not run* if there is one of which cases were
//!   absent and none passed.
//! - **SUITE-S14 Exit codes.** 0 all as expected, 1 a failure, 2 usage, 3 the plugin was refused, 4
//!   no device and nothing beyond Loadable could run, 5 a crash or a hang, 6 stale expectations, 7
//!   the suite's own fault; of several the first of 7, 2, 3, 5, 1, 6, 4, 0.
//! - **SUITE-S15 Repeatable.** Every failure comes with the command that repeats it alone. Ids of
//!   random cases contain their seeds. A failing program is reduced and written as one file.
//! - **SUITE-S16 Settings.** Settings given with `--config` are answered by every host that the
//!   plugin under test meets, except in cases about settings; the user's settings file is not read.
//!   Report and card list them: a card with settings makes a different claim from one without.
//! - **SUITE-S17 Shared modules.** Kernels whose cases one worker runs are built in one module if
//!   they need the same profiles; kernels of other cases are not built. Where that module cannot be
//!   built, each is built alone. If the process ends or hangs in that build, the rest of the
//!   worker's cases run with modules of their own, so that the kernel to blame is found; if none
//!   is, the case that had begun is charged (SUITE-S9).
//! - **SUITE-S18 Axes.** A kernel of the suite is bound to the thread axes that the target kind
//!   declares, and to no others: its loops over those are serial. Where threads work together, so
//!   that a serial loop would compute something else, and where a kind declares no axes and the
//!   kernel is one of several threads, the case is [`Status::Absent`] if it is claimed, else
//!   unsupported. A claim of which no case ran is stale.

mod axes;
mod batch;
pub mod bytes;
pub mod card;
pub mod case;
pub mod clauses;
pub mod context;
mod execute;
pub mod expectations;
pub mod facts;
mod group;
pub mod guarded;
mod heap;
mod hosts;
mod kernels;
pub mod list;
pub mod ops;
pub mod report;
pub mod run;
mod script;
pub mod settings;
pub mod stop;

pub use case::{Case, Cases, Group, Instance, Level, Profile, Subject};
pub use context::Context;
pub use facts::Facts;
pub use group::all as cases;
pub use group::fuzz::{Replayed, replay};
pub use report::{Report, Status};
pub use stop::{Failure, Stop, Verdict};

/// Version of the suite: of its list of cases and their checks. Recorded in every report and card.
pub const SUITE_VERSION: &str = "1.0.0";

//! Random programs compared with the interpreter; a failing program is reduced and written to one
//! file.

mod attempt;
mod needs;
mod replay;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use chipdock_ir::{DType, Op};
use chipdock_programs::{Case as Program, Options, arbitrary, reduce_case};

use crate::case::Seeds;
use crate::execute;
use crate::{Cases, Context, Group, Profile, Stop, Subject, Verdict};
use attempt::{Failed, attempt};

pub use replay::{Replayed, replay};

/// Time limit of the reducer.
const REDUCING_MAX: Duration = Duration::from_secs(10);

/// A family of programs.
#[derive(Clone, Copy, Debug)]
enum Family {
    /// Programs that need no profile, except where the seed requires one.
    Plain,
    /// Programs with everything except threads.
    Wide,
    /// Programs that need no profile except threads.
    Threads,
}

impl Family {
    fn name(self) -> &'static str {
        match self {
            Self::Plain => "program",
            Self::Wide => "wide",
            Self::Threads => "threads",
        }
    }

    /// Returns true if a program with these needs belongs to the family; otherwise it duplicates a
    /// plain program.
    fn has(self, profiles: &[Profile]) -> bool {
        match self {
            Self::Plain => true,
            Self::Wide => !profiles.is_empty(),
            Self::Threads => profiles.contains(&Profile::GpuThreads),
        }
    }

    /// Returns the generator options of the family. No family has calls of C functions, which
    /// devices lack, nor the magnitude of an unsigned integer, which TVMScript cannot express, so
    /// that a file would hold a different program.
    fn options(self) -> Options {
        let unsigned = DType::SCALARS.iter().filter(|dtype| dtype.is_uint());
        let all = Options {
            externs: false,
            without: unsigned.map(|dtype| (Op::Abs, *dtype)).collect(),
            ..Options::default()
        };
        let is_plain = |dtype: &DType| !needs::of_type(*dtype);
        let types = || DType::SCALARS.iter().copied().filter(is_plain).collect();
        let plain = || Options { types: types(), vectors: false, atomics: false, ..all.clone() };
        match self {
            Self::Plain => plain(),
            Self::Wide => all,
            Self::Threads => Options { threads: true, ..plain() },
        }
    }
}

pub(super) fn add(cases: &mut Cases, seeds: &Seeds) {
    // A code generator may start a compiler for each program, so the families that need profiles
    // have a quarter as many.
    let few = seeds.programs.div_ceil(4);
    for (family, count) in [(Family::Plain, seeds.programs), (Family::Wide, few), (Family::Threads, few)] {
        let options = family.options();
        let mut left = count;
        for seed in seeds.first..seeds.first.saturating_add(seeds.programs) {
            if left == 0 {
                break;
            }
            let profiles = needs::of_program(&arbitrary(seed, &options).module);
            if !family.has(&profiles) {
                continue;
            }
            left -= 1;
            let (name, options) = (format!("{}/seed-{seed}", family.name()), options.clone());
            cases
                .case(Group::Fuzz, name, "C.30", Subject::Codegen)
                .profile(profiles)
                .deadline(60)
                .run(move |c| run(c, family, seed, &options));
        }
    }
}

/// Returns the options with warps of that many threads. A seed's program then computes the same, on
/// as many threads.
fn of_warps(options: &Options, warp: u8) -> Options {
    Options { warps: Some(warp), ..options.clone() }
}

fn run(c: &Context<'_>, family: Family, seed: u64, options: &Options) -> Verdict {
    let program = arbitrary(seed, &of_warps(options, execute::warp(c)?));
    let file = c.repros().join(format!("{}-{}-seed-{seed}.py", c.registration(), family.name()));
    let title = format!("fuzz/{}/seed-{seed}, target kind {}", family.name(), c.registration());
    // Written before the run: after a crash the file holds the unreduced program.
    write(&file, &title, "it was running when its process ended", &program)?;
    let ended = match attempt(c, &program) {
        Err(Failed { what, stop: Stop::Failed(_) }) => {
            let (small, last) = reduced(c, &program, what);
            let last = last.note(format!("{} lines are left of seed {seed}", small.text().lines().count()));
            write(&file, &title, &format!("{last:?}"), &small)?;
            c.left_repro(&file);
            return Err(last);
        }
        other => other.map_err(|failed| failed.stop),
    };
    std::fs::remove_file(&file).map_err(|error| Stop::suite(format!("{}: {error}", file.display())))?;
    ended
}

/// Reduces a program as long as it fails in the same way; returns the program and its failure.
fn reduced(c: &Context<'_>, program: &Program, what: &'static str) -> (Program, Stop) {
    let until = Instant::now() + REDUCING_MAX;
    let mut last = None;
    let mut fails = |candidate: &Program| {
        if Instant::now() > until {
            return false;
        }
        match attempt(c, candidate) {
            Err(Failed { what: found, stop: stop @ Stop::Failed(_) }) if found == what => {
                last = Some(stop);
                true
            }
            _ => false,
        }
    };
    // A program that fails only sometimes is not reduced.
    if !fails(program) {
        let stop =
            Stop::failed("the same program to end the same way twice", "it failed, and then it passed");
        return (program.clone(), stop.clause("C.21"));
    }
    let small = reduce_case(program, &mut fails);
    let stop = last.unwrap_or_else(|| Stop::suite("the reducer lost the failure"));
    (small, stop)
}

/// Writes a program to a file, with a description of its failure.
fn write(file: &Path, title: &str, why: &str, program: &Program) -> Verdict {
    let mut text =
        format!("# {title}\n# Repeat: chipdock conformance PLUGIN.so --repro {}\n", file.display());
    for line in why.lines().take(40) {
        text.push_str(&format!("# {line}\n"));
    }
    text.push_str(&program.file());
    let folder: PathBuf = file.parent().map(Path::to_owned).unwrap_or_default();
    let written = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(file, text));
    written.map_err(|error| Stop::suite(format!("{}: {error}", file.display())))
}

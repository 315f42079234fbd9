//! `chipdock conformance`: the suite over one plugin.

use chipdock_conformance::case::Seeds;
use chipdock_conformance::expectations::Expectations;
use chipdock_conformance::run::{self, Options};
use chipdock_conformance::{Group, Level, Report, Status, cases};

use crate::args::{ConformanceArgs, ConformanceWorkerArgs, GlobalArgs, LevelArg};
use crate::progress::Progress;
use crate::report::{Failure, Result};
use crate::{output, table};

/// The hidden command of a worker.
pub(crate) const WORKER: &str = "__conformance-worker";

/// Runs the suite.
pub(crate) fn run(args: &ConformanceArgs, global: &GlobalArgs) -> Result<()> {
    if args.list {
        return list();
    }
    let Some(library) = &args.library else {
        return Err(Failure::input("no plugin is given").help("chipdock conformance PLUGIN.so"));
    };
    let executable = std::env::current_exe().unwrap_or_else(|_| "chipdock".into());
    let options = Options {
        library: library.clone(),
        worker: (executable, vec![WORKER.to_owned()]),
        level: match args.level {
            LevelArg::Loadable => Level::Loadable,
            LevelArg::Device => Level::Device,
            LevelArg::Codegen => Level::Codegen,
            LevelArg::Full => Level::Full,
        },
        filters: args.filter.clone(),
        expectations: Expectations::default(),
        companions: global.plugins.clone(),
        trust: global.allow_path.clone(),
        seeds: Seeds::default(),
        jobs: 2,
        patience: 1.0,
        again: true,
        repro_folder: ".".into(),
        repeat: Vec::new(),
    };
    let progress = Progress::new(global);
    let report = run::supervise(&options, &mut |event| progress.step(format!("{event:?}")));
    drop(progress);
    show(&report.map_err(|error| Failure::work(error.to_string()))?)
}

fn show(report: &Report) -> Result<()> {
    let mut rows = table::new(&["GROUP", "CASES", "PASSED"]);
    for group in Group::ALL {
        let n = report.cases.iter().filter(|case| case.group == *group).count();
        rows.add_row([
            group.name().to_owned(),
            n.to_string(),
            report.count(Some(*group), Status::Passed).to_string(),
        ]);
    }
    let mut text = table::text(&rows);
    for case in report.unfine() {
        text.push_str(&format!("{} {} {:?} {:?}\n", case.status.name(), case.id, case.failure, case.death));
    }
    output::print(&text)
}

fn list() -> Result<()> {
    let all = cases(&Seeds::default());
    let text: String = all.iter().map(|case| format!("{}  {}\n", case.id, case.clause)).collect();
    output::print(&(text + &format!("{} cases\n", all.len())))
}

/// Does the job of a worker.
pub(crate) fn worker(args: &ConformanceWorkerArgs) -> Result<()> {
    run::work(&args.job).map_err(Failure::work)
}

//! Prints and reads modules at every stage, which must be equal afterwards.

use std::sync::Arc;

use chipdock_ir::{IrModule, Stage, equal, print};
use chipdock_passes::{LowerOptions, Scheduling, lower};
use chipdock_script::parse_at;
use chipdock_test_support::CorpusFile;
use chipdock_test_support::lists::List;

use crate::support::{counted, host_capabilities, parallel_host_capabilities, read, without_threads};

const CHECK: &str = "modules_of_every_stage_read_back";

pub(crate) fn tests(list: List, corpus: &[CorpusFile]) -> List {
    list.each(CHECK, corpus, modules_of_every_stage_read_back)
}

/// Prints, reads, compares, and prints again.
fn round_trip(module: &IrModule, stage: Stage) -> Result<(), String> {
    let printed = print::module(module);
    let read = parse_at(&printed, "printed.py", stage).map_err(|errors| format!("{errors}\n{printed}"))?;
    equal::modules(module, &read).map_err(|why| format!("read back it differs: {why}\n{printed}"))?;
    let twice = print::module(&read);
    if twice == printed { Ok(()) } else { Err(format!("printed again it differs:\n{printed}\n{twice}")) }
}

fn modules_of_every_stage_read_back(file: &CorpusFile) -> Result<(), String> {
    let module = read(file)?;
    let mut done = 0;
    if module.functions.iter().all(without_threads) {
        let (capabilities, parallel) =
            (Arc::new(host_capabilities()), Arc::new(parallel_host_capabilities()));
        let stages = [Stage::Scheduled, Stage::Flattened, Stage::Host].map(|stage| (stage, &capabilities));
        for (stage, capabilities) in stages.into_iter().chain([(Stage::Host, &parallel)]) {
            let options = LowerOptions {
                stage,
                schedule: Scheduling::Auto,
                ..LowerOptions::new(Arc::clone(capabilities))
            };
            let Ok(lowered) = lower(&module, &options) else { continue };
            round_trip(&lowered.module, stage).map_err(|why| format!("at {stage:?}: {why}"))?;
            done += 1;
        }
    }
    counted(CHECK, file, done)
}

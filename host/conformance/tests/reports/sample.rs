//! Made-up reports: one with every status and field, and one with hostile texts.

#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a test fails by panicking")]

use chipdock_conformance::case::{Seeds, instances};
use chipdock_conformance::facts::{DeviceFacts, Registration};
use chipdock_conformance::report::{
    CaseReport, Death, LevelReport, LevelState, Machine, ProfileReport, SCHEMA, StaleReport,
};
use chipdock_conformance::{Facts, Failure, Group, Level, Profile, Report, SUITE_VERSION, Status, Subject};

/// A text that would be markup, an end of CDATA, an escape for a terminal, or no text at all.
pub(crate) const HOSTILE: &str = "<script>alert(1)</script>]]><!-- --> & \"quoted\" 'single' \x1b[2J\x07\0\u{7f} \u{202e}txt\u{fffe} `|`\nline two";

pub(crate) fn case(id: &str, clause: &str, status: Status) -> CaseReport {
    let group = Group::by_name(id.split('/').next().unwrap_or_default()).expect("a group");
    CaseReport {
        id: id.to_owned(),
        group,
        clause: clause.to_owned(),
        profiles: Vec::new(),
        status,
        seconds: 0.012,
        reason: String::new(),
        failure: None,
        death: None,
        repro: String::new(),
        repeat: String::new(),
    }
}

fn failed(id: &str, clause: &str, status: Status, expected: &str, found: &str) -> CaseReport {
    let failure = Failure { expected: expected.to_owned(), found: found.to_owned(), ..Failure::default() };
    let repeat = format!("chipdock conformance libnpu.so --filter '{id}'");
    CaseReport { failure: Some(failure), repeat, ..case(id, clause, status) }
}

fn died(id: &str, clause: &str, status: Status, death: Death) -> CaseReport {
    let repeat = format!("chipdock conformance libnpu.so --filter '{id}'");
    CaseReport { death: Some(death), repeat, ..case(id, clause, status) }
}

fn with(reason: &str, case: CaseReport) -> CaseReport {
    CaseReport { reason: reason.to_owned(), ..case }
}

fn all_kinds() -> Vec<CaseReport> {
    let mut cases = vec![
        case("image/exports", "P1.5", Status::Passed),
        case("load/entry/twice", "P1.2", Status::Passed),
        case("query/exist/first@npu", "D.3", Status::Passed),
    ];
    let sizes = [0, 1, 3, 63, 64, 65, 4095, 4096, 4097, 65_536];
    cases.extend(sizes.map(|n| case(&format!("copy/h2d/{n}-bytes-at-0@npu"), "D.8", Status::Passed)));
    cases.extend(sizes.map(|n| {
        let found = format!("byte {} is 0, the one before it {}", n.max(1) - 1, n % 251);
        failed(
            &format!("copy/d2d/{n}-bytes-at-1@npu"),
            "D.8",
            Status::Failed,
            "every byte as it was written",
            &found,
        )
    }));
    let segfault = Death {
        signal: Some(11),
        exit_code: None,
        text: "killed by signal 11 (SIGSEGV)".to_owned(),
        backtrace: vec![
            "#0 npu_copy at npu/src/copy.c:88".to_owned(),
            "#1 npu_copy_data in libnpu.so+0x41c0".to_owned(),
            "#2 chipdock_conformance::raw::device::Device::copy".to_owned(),
        ],
        stderr: "npu: copying 4096 bytes\nnpu: no such handle\n".to_owned(),
    };
    cases.push(died("misuse/free-twice@npu", "D.5", Status::Crashed, segfault));
    let silent = Death { text: "silent for 20 s".to_owned(), ..Death::default() };
    cases.push(CaseReport { seconds: 20.0, ..died("stream/sync/other@npu", "D.8", Status::Hung, silent) });
    cases.push(failed("threads/copies@npu", "P10.1", Status::Flaky, "1024 equal words", "1023 equal words"));
    cases.push(failed("memory/churn@npu", "D.4", Status::OrderDependent, "aligned to 256", "aligned to 64"));
    cases.push(with(
        "passes since 1.4; issue 7 expected a failure",
        case("memory/align/4096@npu", "D.4", Status::Stale),
    ));
    cases.push(with(
        "off by 3 ulp near 11",
        failed("op/exp/float16@npu", "C.1", Status::Expected, "2.5", "2.501"),
    ));
    cases.push(CaseReport {
        profiles: vec![Profile::Float64],
        ..with("no float64 on this target", case("op/add/float64@npu", "C.1", Status::Unsupported))
    });
    cases.push(with("no device of npu-b here", case("kernel/matmul@npu-b", "C.1", Status::Absent)));
    cases.push(with("nothing loads the kind npu-b here", case("kernel/softmax@npu-b", "C.1", Status::Built)));
    let mut fuzz = failed("fuzz/seed-17@npu", "C.1", Status::Failed, "A[3] = 0.5", "A[3] = 0.25");
    fuzz.repro = "./seed-17.py".to_owned();
    if let Some(failure) = &mut fuzz.failure {
        failure.note = "made small from 41 statements to 2".to_owned();
        failure.clause = Some("C.5".to_owned());
    }
    cases.push(fuzz);
    cases.push(with("no numpy here", case("soak/copies@npu", "P7.7", Status::SuiteFault)));
    cases
}

fn facts() -> Facts {
    let register = |subject, name: &str| Registration { subject, name: name.to_owned() };
    let absent = DeviceFacts {
        api: "npu-b".to_owned(),
        absent: "no card in any slot".to_owned(),
        ..DeviceFacts::default()
    };
    let device = DeviceFacts {
        api: "npu".to_owned(),
        count: 2,
        device_name: "Model A".to_owned(),
        driver_version: "5.3.1".to_owned(),
        ..DeviceFacts::default()
    };
    Facts {
        name: "npu".to_owned(),
        version: "1.4.0".to_owned(),
        build_id: "2027-01-01-a1".to_owned(),
        abi: "1.0".to_owned(),
        registered: vec![
            register(Subject::DeviceApi, "npu"),
            register(Subject::DeviceApi, "npu-b"),
            register(Subject::TargetKind, "npu"),
            register(Subject::Codegen, "npu"),
        ],
        devices: vec![device, absent],
        ..Facts::default()
    }
}

/// A report with every status, field and section.
pub(crate) fn sample() -> Report {
    let profile = |profile, claimed, n_cases, n_passed, n_unsupported, problem: &str| ProfileReport {
        profile,
        claimed,
        n_cases,
        n_passed,
        n_unsupported,
        problem: problem.to_owned(),
    };
    let level = |level, state, note: &str| LevelReport { level, state, note: note.to_owned() };
    Report {
        schema: SCHEMA.to_owned(),
        suite_version: SUITE_VERSION.to_owned(),
        library: "libnpu.so".to_owned(),
        sha256: "3f".repeat(32),
        plugin: facts(),
        refused: String::new(),
        machine: Machine {
            os: "linux".to_owned(),
            arch: "x86_64".to_owned(),
            cpu: "A processor of 8 cores".to_owned(),
            n_threads: 8,
            kernel: "6.1.0".to_owned(),
        },
        level: Level::Full,
        filters: Vec::new(),
        settings: Vec::new(),
        claims: vec![Profile::Float16, Profile::SeveralStreams],
        seed: 0,
        programs: 4,
        started_unix: 1_800_000_000,
        seconds: 161.4,
        cases: all_kinds(),
        profiles: vec![
            profile(Profile::Float16, true, 40, 40, 0, ""),
            profile(Profile::Float64, false, 40, 0, 40, ""),
            profile(Profile::SeveralStreams, true, 9, 8, 1, "claimed, and 1 of 9 cases is refused"),
        ],
        levels: vec![
            level(Level::Loadable, LevelState::Reached, ""),
            level(Level::Device, LevelState::NotReached, "14 cases are not as they should be"),
            level(
                Level::Codegen,
                LevelState::NotReached,
                "1 case is not as it should be; 1 is an expected failure",
            ),
            level(Level::Full, LevelState::NotReached, ""),
        ],
        stale: vec![StaleReport {
            what: "memory/align/4096*".to_owned(),
            why: "memory/align/4096@npu passes; take the line out".to_owned(),
        }],
        notes: vec!["no stacks: ptrace is not allowed here".to_owned()],
        faults: Vec::new(),
        exit: 7,
    }
}

/// The same in good health: all as expected.
pub(crate) fn healthy() -> Report {
    let mut report = sample();
    report.cases.retain(|case| case.status.is_fine());
    report.profiles.truncate(2);
    report.claims.truncate(1);
    report
        .levels
        .iter_mut()
        .for_each(|level| (level.state, level.note) = (LevelState::Reached, String::new()));
    (report.stale, report.notes, report.exit) = (Vec::new(), Vec::new(), 0);
    report
}

/// A whole run in which everything passed that there is, so that its card's counts are those of the
/// list of cases.
pub(crate) fn whole() -> Report {
    let mut report = healthy();
    let seeds = Seeds { first: report.seed, programs: report.programs };
    let all = instances(&chipdock_conformance::cases(&seeds), &report.plugin);
    report.cases = all.iter().map(|run| case(&run.id, run.case.clause, Status::Passed)).collect();
    report
}

/// Every text is hostile, wherever a plugin, a user or a file may put one.
pub(crate) fn hostile() -> Report {
    let mut report = sample();
    let bad = || HOSTILE.to_owned();
    report.plugin.name = bad();
    report.plugin.version = bad();
    report.plugin.build_id = bad();
    report.plugin.abi = bad();
    report.library = bad();
    (report.machine.cpu, report.machine.kernel) = (bad(), bad());
    report.filters = vec![bad()];
    for registration in &mut report.plugin.registered {
        registration.name = bad();
    }
    for device in &mut report.plugin.devices {
        (device.api, device.device_name, device.driver_version) = (bad(), bad(), bad());
        device.absent = if device.count == 0 { bad() } else { String::new() };
    }
    for case in &mut report.cases {
        case.id = format!("{}{HOSTILE}", case.id);
        case.reason = if case.reason.is_empty() { String::new() } else { bad() };
        case.repeat = if case.repeat.is_empty() { String::new() } else { bad() };
        if let Some(failure) = &mut case.failure {
            (failure.expected, failure.found, failure.note) = (bad(), bad(), bad());
            failure.clause = Some(bad());
        }
        if let Some(death) = &mut case.death {
            (death.text, death.stderr, death.backtrace) = (bad(), bad(), vec![bad(), bad()]);
        }
    }
    report.levels.iter_mut().for_each(|level| level.note = bad());
    report.profiles.iter_mut().for_each(|profile| profile.problem = bad());
    report.stale.iter_mut().for_each(|stale| (stale.what, stale.why) = (bad(), bad()));
    (report.notes, report.faults, report.refused) = (vec![bad()], vec![bad()], bad());
    report
}

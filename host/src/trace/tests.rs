use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use chipdock_plugin_api as api;
use chipdock_test_support::spans::seen;

use super::*;
use crate::{Function, Host, HostOptions, LogLevel};

/// Name to level and fields, as the table of the front page has them.
fn listed() -> BTreeMap<String, (String, Vec<String>)> {
    let rows = include_str!("../trace.rs").lines().filter_map(|line| line.strip_prefix("//! | `"));
    let row = |row: &str| {
        let (name, rest) = row.split_once('`').unwrap();
        let cells: Vec<&str> = rest.split('|').map(str::trim).collect();
        let fields = cells[2].split(", ").filter(|field| !field.is_empty());
        let fields = fields.map(|field| field.trim_matches('`').to_owned()).collect();
        (name.to_owned(), (cells[1].to_owned(), fields))
    };
    rows.map(row).collect()
}

/// The spans that the sources of a folder make: after the name each field, which ends with `=`
/// where it has a value.
fn made(folder: &Path, found: &mut BTreeMap<String, (String, Vec<String>)>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            made(&entry, found);
        } else if entry.extension().is_some_and(|ending| ending == "rs") && !entry.ends_with("tests.rs") {
            let text = fs::read_to_string(&entry).unwrap();
            let mut pieces = text.split("_span!(");
            let mut before = pieces.next().unwrap();
            for piece in pieces {
                let level = before.rsplit(|c: char| !c.is_alphanumeric()).next().unwrap().to_owned();
                let mut depth = 1;
                let end = piece.find(|c: char| {
                    depth += i32::from(c == '(') - i32::from(c == ')');
                    depth == 0
                });
                let mut parts =
                    piece[..end.unwrap()].split(',').map(str::trim).filter(|part| !part.is_empty());
                let name = parts.next().unwrap().trim_matches('"').to_owned();
                let field =
                    |part: &str| part.split('=').next().unwrap().trim().trim_start_matches('%').to_owned();
                found.insert(name, (level, parts.map(field).collect()));
                before = piece;
            }
        }
    }
}

/// SP1: the table is what the host and the passes do.
#[test]
fn sp1_the_table_lists_every_span() {
    let mut found = BTreeMap::new();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    made(&here.join("src"), &mut found);
    made(&here.join("../host/passes/src"), &mut found);
    assert_eq!(listed(), found);
    assert!(found.len() > 15, "{found:?}");
}

/// SP3: the plugin's name is in the span of a call, and the call is in the span of what it is for.
#[test]
fn sp3_a_call_of_a_plugin_names_it() {
    let host = Host::new(HostOptions::isolated()).unwrap();
    let (_, spans) = seen(Level::TRACE, || host.device("cpu", 0).unwrap().attribute("vendor"));
    let calls: Vec<_> = spans.iter().filter(|span| span.name == "device_call").collect();
    assert_eq!(calls.len(), 2, "{spans:?}");
    for (call, function) in calls.iter().zip(["device_count", "attribute"]) {
        assert_eq!(call.fields["call"], format!("device_api.cpu: {function}"));
        assert_eq!(call.fields["plugin"], crate::HOST_PLUGIN);
    }
    let (_, spans) = seen(Level::DEBUG, || host.device("cpu", 0).unwrap().attribute("vendor"));
    assert!(spans.is_empty(), "SP5: {spans:?}");
}

/// SP2: what begins ends, whether it succeeded or failed. That spans nest is checked by who
/// collects them.
#[test]
fn sp2_spans_nest() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("toy.so", ""), ("toy.chipdock.json", "{}")] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let options = HostOptions { plugin_paths: vec![folder.path().to_owned()], ..HostOptions::isolated() };
    let (host, spans) = seen(Level::TRACE, || Host::new(options).unwrap());
    assert_eq!(spans[0].name, "discover");
    assert_eq!(spans[0].fields["candidates"], "1");
    assert!(spans.iter().any(|span| span.name == "manifest" && span.within == ["discover"]), "{spans:?}");
    let (_, spans) = seen(Level::TRACE, || host.target(r#"{"kind": "none"}"#).unwrap_err());
    assert_eq!(spans[0].name, "target");
    let (_, spans) = seen(Level::DEBUG, || drop(host));
    let calls: Vec<&str> = spans.iter().map(|span| &*span.fields["call"]).collect();
    assert_eq!((calls[0], calls.last()), ("shutdown", Some(&"release")), "{spans:?}");
}

/// SP4: a line is an event at its level, with the plugin's name as a field; the sink gets it as
/// before.
#[test]
fn sp4_the_log_is_events() {
    let lines: Arc<Mutex<Vec<(LogLevel, String)>>> = Arc::default();
    let sink = Arc::clone(&lines);
    let log = Arc::new(move |level, line: &str| sink.lock().unwrap().push((level, line.to_owned())));
    let host = Host::new(HostOptions { log, ..HostOptions::isolated() }).unwrap();
    let services = host.0.services;
    let levels = [LogLevel::Error, LogLevel::Warning, LogLevel::Info, LogLevel::Debug];
    let (_, events) = seen(Level::TRACE, || {
        for level in levels {
            services.log(level, "from the host {}");
            services.log.write_of(Some("toy"), level, "from toy");
        }
    });
    let expected = [Level::ERROR, Level::WARN, Level::INFO, Level::DEBUG];
    for (index, (level, expected)) in levels.into_iter().zip(expected).enumerate() {
        let [of_host, of_toy] = [&events[2 * index], &events[2 * index + 1]];
        assert_eq!((of_host.level, &*of_host.fields["message"]), (expected, "from the host {}"));
        assert!(!of_host.fields.contains_key("plugin"));
        assert_eq!((of_toy.level, &*of_toy.fields["message"]), (expected, "from toy"));
        assert_eq!(of_toy.fields["plugin"], "toy");
        let lines = lines.lock().unwrap();
        assert_eq!(lines[2 * index], (level, "from the host {}".to_owned()));
        assert_eq!(lines[2 * index + 1], (level, "toy: from toy".to_owned()));
    }
}

/// SP5: what the look at who listens costs a call, for whoever runs it with `--nocapture`: medians
/// of alternate rounds.
#[test]
fn sp5_a_call_that_nobody_wants_is_as_quick() {
    const CALLS: u32 = 100_000;
    let host = Host::new(HostOptions::isolated()).unwrap();
    // SAFETY: H.1, the table of this host lives as long as the process.
    let of_host = unsafe { api::HostRef::new(host.0.services.table()) };
    let nothing = api::Function::from_fn(of_host, |_| Ok(api::Any::NONE));
    let function = Function::new(&host, "toy", "nothing", nothing);
    let each = |call: &dyn Fn()| {
        let started = Instant::now();
        (0..CALLS).for_each(|_| call());
        started.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS)
    };
    let mut rounds: [Vec<f64>; 2] = Default::default();
    for _ in 0..31 {
        rounds[0].push(each(&|| drop(std::hint::black_box(function.call(&[])))));
        rounds[1].push(each(&|| drop(std::hint::black_box(function.call_now(&[])))));
    }
    let [asked, bare] = rounds.map(|mut times| {
        times.sort_by(f64::total_cmp);
        (times[times.len() / 2], times[0])
    });
    println!(
        "a call: {:.2} ns (least {:.2}); without the look: {:.2} ns ({:.2})",
        asked.0, asked.1, bare.0, bare.1
    );
    // The least times, and a wide bound, as this machine has other work.
    assert!(asked.1 < 2.0 * bare.1, "{asked:?} {bare:?}");
    let (_, spans) = seen(Level::TRACE, || function.call(&[]));
    assert_eq!(spans[0].name, "call");
    assert_eq!((&*spans[0].fields["function"], &*spans[0].fields["plugin"]), ("nothing", "toy"));
}

//! A host of this process opens each library and makes the calls of the cases: Chipdock's row of
//! the table (INTEROP-J3).

use chipdock_host::{Host, HostOptions};
use chipdock_test_interop::libraries::{EXPORTERS, build, kernels, module};
use chipdock_test_interop::table::{self, Counts, OWN};
use chipdock_test_interop::{cases, own};
use chipdock_test_support::command::Scratch;

#[test]
fn a_host_calls_every_library() {
    let folder = Scratch::new();
    let (interpreted, all) = (module(), cases::all());
    let cases: Vec<_> = all.iter().map(|case| (case, case.outcome(&interpreted))).collect();
    let (mut counts, mut wrong) = (Counts::new(), Vec::new());
    for exporter in EXPORTERS {
        let path = build(&folder, *exporter, &kernels(), None);
        let host = Host::new(HostOptions { threads: Some(2), ..HostOptions::isolated() }).expect("a host");
        let module = host.open(&path).expect("opened");
        for (kind, (case, outcome)) in
            own::KINDS.iter().flat_map(|kind| cases.iter().map(move |case| (*kind, case)))
        {
            let Some(answer) = own::call(&module, case, kind) else { continue };
            let result = case.judge(outcome.as_ref(), &answer);
            let count = counts.entry((OWN.to_owned(), exporter.name, kind)).or_default();
            count.0 += usize::from(result.is_ok());
            count.1 += 1;
            if let Err(why) = result {
                wrong.push(format!("{}: {why}", case.title(exporter.name, kind)));
            }
        }
    }
    assert!(wrong.is_empty(), "{} calls:\n{}", wrong.len(), wrong.join("\n"));
    table::check_own(&counts).unwrap_or_else(|error| panic!("{error}"));
}

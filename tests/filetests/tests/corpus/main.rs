//! The corpus as a list of tests: one for each check and file. `counts.txt` contains the number of
//! checks in each file.

mod bad;
mod device;
mod packed;
mod passes;
mod round_trip;
mod schedule;
mod script;
mod support;
mod thread_passes;
mod threads;

use std::process::ExitCode;

use chipdock_test_support::lists::List;
use chipdock_test_support::{corpus, counts, filetests, scripts};

fn main() -> ExitCode {
    let corpus = corpus().expect("the corpus");
    let bad = scripts(&filetests().join("bad"), "").expect("the bad files");
    let passes = scripts(&filetests().join("passes"), "passes/").expect("what passes are given");
    let list = script::tests(List::new(), &corpus);
    let list = bad::tests(list, &bad);
    let list = round_trip::tests(list, &corpus);
    let list = passes::tests(list, &corpus, &passes);
    let list = thread_passes::tests(list, &corpus, &passes);
    let list = schedule::tests(list, &corpus, &passes);
    let list = packed::tests(list, &corpus);
    let list = device::tests(list, &corpus);
    let list = threads::tests(list, &corpus);
    let names = list.names();
    list.one("counts_are_of_tests", move || counts::no_line_is_left(&filetests().join("counts.txt"), &names))
        .run()
}

//! What the guide shows is what happens.
//!
//! `BLESS=1` replaces each output that differs by what the command prints. Whoever does that puts
//! `...` and `[..]` back where it differs from run to run, and reads the difference.

use std::fs;

use chipdock_guide_tests::{Mark, Page, agrees, blessed, docs, host_c, is_quoted, pages, readme, root, run};
use chipdock_test_support::is_blessing;

/// How many blocks nobody runs, each with its reason in the page. A new one is counted here, or
/// made to run.
const NOT_RUN: usize = 9;

/// The guide, the README, and that of the host in C.
fn all() -> impl Iterator<Item = Page> {
    pages().into_iter().chain([readme(), host_c()])
}

/// Runs the sessions of one page and compares what they print.
fn check(name: &str) {
    let page = all().find(|page| page.name == name).expect("the page");
    let outcomes = run(&page);
    assert!(!outcomes.is_empty(), "{name} has no session");
    let (mut findings, mut differing) = (Vec::new(), Vec::new());
    for (index, (command, outcome)) in outcomes.iter().enumerate() {
        let place = format!("{name}:{}: $ {}", command.line, command.text);
        let is_asked = outcomes.get(index + 1).is_some_and(|(next, _)| next.text == "echo $?");
        if outcome.code != 0 && !is_asked {
            findings.push(format!("{place}\nexit code {}:\n{}", outcome.code, outcome.printed.join("\n")));
        } else if !command.shown.is_empty() && !agrees(&command.shown, &outcome.printed) {
            differing.push((command, outcome));
            if is_blessing() {
                continue;
            }
            let (shown, printed) = (command.shown.join("\n"), outcome.printed.join("\n"));
            findings.push(format!("{place}\nthe page shows:\n{shown}\nit prints:\n{printed}"));
        }
    }
    if is_blessing() {
        let folder = if page.name.ends_with("README.md") { root() } else { docs() };
        fs::write(folder.join(&page.name), blessed(&page, &differing)).expect("the page is writable");
    }
    assert!(findings.is_empty(), "{}", findings.join("\n\n"));
}

/// One test for each page with sessions, so that they run side by side;
/// `each_page_with_a_session_is_run` checks that none is forgotten.
macro_rules! sessions {
    ($($test:ident $page:literal)*) => {
        const PAGES: &[&str] = &[$($page),*];
        $(#[test]
        fn $test() {
            check($page);
        })*
    };
}

sessions! {
    first_kernel "first-kernel.md"
    targets_and_devices "targets-and-devices.md"
    troubleshooting "troubleshooting.md"
    backend_c "backend-c.md"
    backend_rust "backend-rust.md"
    conformance "conformance.md"
    contract "contract.md"
    ir "ir.md"
    schedules "schedules.md"
    readme_session "README.md"
    host_c_session "examples/host-c/README.md"
}

#[test]
fn each_page_with_a_session_is_run() {
    for page in all() {
        let has = page.blocks.iter().any(|block| block.language == "console" && block.mark.is_none());
        assert_eq!(has, PAGES.contains(&page.name.as_str()), "{}: see `sessions!`", page.name);
    }
}

#[test]
fn each_block_is_checked_or_says_why_not() {
    let mut not_run = Vec::new();
    for page in all() {
        for block in &page.blocks {
            let place = format!("{}:{}", page.name, block.line);
            match (&block.mark, block.language.as_str()) {
                (Some(Mark::NotRun(reason)), _) => not_run.push(format!("{place}: {reason}")),
                (Some(Mark::File(path)), _) => {
                    let text = fs::read_to_string(root().join(path)).expect(path);
                    assert!(is_quoted(&block.lines, &text), "{place}: this does not stand in {path}");
                }
                (Some(Mark::SavedAs(_)), _) | (None, "console" | "text" | "") => {}
                (None, language) => {
                    panic!("{place}: a block of `{language}` says neither its file nor why not")
                }
            }
        }
    }
    assert_eq!(not_run.len(), NOT_RUN, "not run:\n{}", not_run.join("\n"));
}

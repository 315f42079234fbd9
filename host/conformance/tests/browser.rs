//! The HTML report in a real browser: it runs without an error, shows the counts of the report,
//! fits narrow and wide windows in light and dark mode, and is not blank.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::Command;

use crate::sample::{healthy, hostile, sample, whole};
use chipdock_conformance::report::html;
use chipdock_conformance::{Report, Status};
use serde_json::Value;

/// Names under which it is installed.
const BROWSERS: &[&str] = &["chromium", "chromium-browser", "google-chrome"];
/// Widths of windows, in pixels.
const WIDTHS: &[u32] = &[400, 800, 1400];

/// The browser; none where it is not installed, which is a failure where the tests' needs were
/// installed.
fn browser() -> Option<&'static str> {
    let found = BROWSERS.iter().find(|name| Command::new(name).arg("--version").output().is_ok());
    if found.is_none() {
        let names = BROWSERS.join(", ");
        chipdock_test_support::setup::missing(&format!(
            "the page of the conformance suite in a browser: none of {names}"
        ));
    }
    found.copied()
}

/// Runs the browser over a file and answers what it prints.
fn run(browser: &str, folder: &Path, file: &Path, more: &[&str]) -> String {
    let mut command = Command::new(browser);
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run"]);
    command.args(["--disable-dev-shm-usage", "--virtual-time-budget=4000", "--timeout=60000"]);
    command.arg(format!("--user-data-dir={}", folder.join("profile").display())).args(more);
    let output = command.arg(format!("file://{}", file.display())).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// Puts the page into frames of every width, unfolds everything in them, and notes what came of it.
fn measured(browser: &str, report: &Report) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let watch = "<script>var wrong = []; addEventListener('error', (e) => wrong.push(e.message)); \
                 addEventListener('securitypolicyviolation', (e) => wrong.push('policy: ' + e.violatedDirective));\
                 console.error = (...words) => wrong.push(words.join(' '));</script>";
    let page = html::render(report).replacen("<title>", &format!("{watch}<title>"), 1);
    let frames: String = WIDTHS
        .iter()
        .map(|width| {
            let page = page.replace('&', "&amp;").replace('"', "&quot;");
            format!("<iframe width={width} height=900 style=\"border:0\" srcdoc=\"{page}\"></iframe>")
        })
        .collect();
    let script = "addEventListener('load', () => { const all = [...document.querySelectorAll('iframe')].map((frame) => { \
        const page = frame.contentDocument, root = page.documentElement; \
        const folded = [root.scrollWidth, root.clientWidth]; \
        page.querySelectorAll('details').forEach((one) => one.open = true); \
        const text = (name) => page.querySelector(name)?.textContent ?? ''; \
        const shown = () => [...page.querySelectorAll('.cases tbody tr')].filter((row) => !row.hidden).length; \
        const rows = shown(); const filter = page.querySelector('.filter input'); let filtered = -1; \
        if (filter) { filter.value = 'query/ d.3'; filter.dispatchEvent(new Event('input', {bubbles: true})); filtered = shown(); } \
        return { folded, open: [root.scrollWidth, root.clientWidth], rows, filtered, wrong: frame.contentWindow.wrong, \
          verdict: text('.verdict h2'), all: text('.matrix tr[data-group=all] td'), \
          policy: page.querySelectorAll('meta[http-equiv]').length, \
          failures: page.querySelectorAll('.failure').length, alerts: page.querySelectorAll('dd script, code script').length }; }); \
        document.body.innerHTML = ''; const out = document.createElement('pre'); out.id = 'out'; \
        out.textContent = JSON.stringify(all); document.body.append(out); });";
    let file = folder.path().join("frames.html");
    let text = format!("<!doctype html><meta charset=utf-8><body>{frames}<script>{script}</script>");
    std::fs::write(&file, text).unwrap();
    let dom = run(browser, folder.path(), &file, &["--window-size=1600,1000", "--dump-dom"]);
    let start =
        dom.find("<pre id=\"out\">").unwrap_or_else(|| panic!("nothing was measured: {dom:.2000}")) + 14;
    let json = &dom[start..start + dom[start..].find("</pre>").unwrap()];
    let json = json.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    serde_json::from_str(&json).unwrap()
}

#[test]
fn a_browser_shows_the_page_as_it_is_meant() {
    let Some(browser) = browser() else { return };
    let many = Report { cases: whole().cases, ..healthy() };
    for (name, report) in [("sample", sample()), ("healthy", many), ("hostile", hostile())] {
        let found = measured(browser, &report);
        for (frame, width) in found.as_array().unwrap().iter().zip(WIDTHS) {
            let about = format!("{name} at {width}: {frame:#}");
            assert_eq!(frame["wrong"], serde_json::json!([]), "no error: {about}");
            for state in ["folded", "open"] {
                let (scroll, client) = (frame[state][0].as_u64().unwrap(), frame[state][1].as_u64().unwrap());
                assert_eq!(client, u64::from(*width), "{about}");
                assert!(scroll <= client, "wider than the window, {state}: {about}");
            }
            assert_eq!(frame["rows"], report.cases.len(), "{about}");
            let fits =
                report.cases.iter().filter(|case| case.id.starts_with("query/") && case.clause == "D.3");
            if name != "hostile" {
                assert_eq!(frame["filtered"], fits.count(), "the filter works: {about}");
            }
            let all = frame["all"].as_str().unwrap().replace(',', "");
            assert_eq!(all, report.cases.len().to_string(), "{about}");
            assert_eq!(frame["failures"], report.unfine().count(), "{about}");
            assert_eq!((&frame["policy"], &frame["alerts"]), (&Value::from(1), &Value::from(0)), "{about}");
            let says = if report.exit == 0 { "All as expected" } else { "The suite itself is at fault" };
            assert!(frame["verdict"].as_str().unwrap().starts_with(says), "{about}");
        }
    }
}

#[test]
fn a_picture_of_the_page_is_not_blank() {
    let Some(browser) = browser() else { return };
    let folder = tempfile::tempdir().unwrap();
    // Where to keep the pictures, for whoever wants to look at them.
    let kept = std::env::var_os("CHIPDOCK_TEST_PICTURES").map(std::path::PathBuf::from);
    let pictures = kept.as_deref().unwrap_or(folder.path());
    let picture = |name: &str, text: &str, dark: bool| {
        let file = folder.path().join("page.html");
        std::fs::write(&file, text).unwrap();
        let place = pictures.join(format!("{name}.png"));
        let scheme = if dark {
            "--blink-settings=preferredColorScheme=0"
        } else {
            "--blink-settings=preferredColorScheme=1"
        };
        let shot = format!("--screenshot={}", place.display());
        run(browser, folder.path(), &file, &["--window-size=1100,1800", scheme, &shot]);
        std::fs::read(&place).unwrap()
    };
    let blank = picture("blank", "<!doctype html><title>blank</title>", false);
    let failing = Report {
        cases: sample().cases.into_iter().filter(|case| case.status != Status::Failed).collect(),
        ..sample()
    };
    let pages = [("sample", sample()), ("failing", failing), ("healthy", healthy())];
    let mut seen: Vec<Vec<u8>> = vec![blank.clone()];
    for (name, report) in pages {
        for dark in [false, true] {
            let name = format!("{name}-{}", if dark { "dark" } else { "light" });
            let found = picture(&name, &html::render(&report), dark);
            // Letters do not compress as a blank page does.
            assert!(found.len() > 5 * blank.len() && found.len() > 30_000, "{name}: {} bytes", found.len());
            assert!(seen.iter().all(|other| *other != found), "{name} looks as another does");
            seen.push(found);
        }
    }
}

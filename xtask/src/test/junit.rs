//! Reads the tests of a run from the report in JUnit's form that the test runner writes.

use std::fs;
use std::path::Path;

use crate::commands::Result;

/// A test that ran.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Test {
    /// The crate, and the binary where it has several: `chipdock-cli-tests::it`.
    pub(crate) binary: String,
    pub(crate) name: String,
    pub(crate) seconds: f64,
    /// Why it failed, in its own words, if it did.
    pub(crate) failure: Option<String>,
}

/// Reads a report.
///
/// # Errors
///
/// The file cannot be read, or is no such report.
pub(crate) fn tests(path: &Path) -> Result<Vec<Test>> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    parse(&text).map_err(|why| format!("{}: {why}", path.display()))
}

fn parse(text: &str) -> Result<Vec<Test>> {
    let document = roxmltree::Document::parse(text).map_err(|error| error.to_string())?;
    let cases = document.descendants().filter(|node| node.has_tag_name("testcase"));
    cases
        .map(|case| {
            let attribute =
                |name: &str| case.attribute(name).ok_or_else(|| format!("a testcase without {name}"));
            let seconds = attribute("time")?;
            Ok(Test {
                binary: attribute("classname")?.to_owned(),
                name: attribute("name")?.to_owned(),
                seconds: seconds.parse().map_err(|_| format!("a time is {seconds}"))?,
                failure: failure(&case),
            })
        })
        .collect()
}

/// Returns what a failed test said: the text of the report's element, or its message where it has
/// no text.
fn failure(case: &roxmltree::Node<'_, '_>) -> Option<String> {
    let is_failure =
        |child: &roxmltree::Node<'_, '_>| child.has_tag_name("failure") || child.has_tag_name("error");
    let failure = case.children().find(is_failure)?;
    let text = failure.text().map(str::trim).filter(|text| !text.is_empty());
    Some(text.or(failure.attribute("message")).unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    const REPORT: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="nextest-run" tests="2" failures="1" errors="0" time="2.5">
  <testsuite name="chipdock-host" tests="1" disabled="0" errors="0" failures="0">
    <testcase name="cache::tests::a_&lt;b&gt;" classname="chipdock-host" time="0.015"></testcase>
  </testsuite>
  <testsuite name="chipdock-cli-tests::it" tests="1" disabled="0" errors="0" failures="1">
    <testcase name="cli_run::runs" classname="chipdock-cli-tests::it" time="2.485">
      <failure message="it panicked" type="test failure">why</failure>
    </testcase>
    <testcase name="cli_run::ends" classname="chipdock-cli-tests::it" time="0.1">
      <failure message="it was killed" type="test abort"/>
    </testcase>
  </testsuite>
</testsuites>"#;

    #[test]
    fn tests_are_read_with_times_and_failures() {
        let found = parse(REPORT).unwrap();
        let names: Vec<(&str, &str, f64, Option<&str>)> = found
            .iter()
            .map(|test| (test.binary.as_str(), test.name.as_str(), test.seconds, test.failure.as_deref()))
            .collect();
        let expected = [
            ("chipdock-host", "cache::tests::a_<b>", 0.015, None),
            ("chipdock-cli-tests::it", "cli_run::runs", 2.485, Some("why")),
            ("chipdock-cli-tests::it", "cli_run::ends", 0.1, Some("it was killed")),
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn another_file_is_no_report() {
        for (text, why) in [
            ("", "root"),
            ("<testsuites><testcase/></testsuites>", "without time"),
            (r#"<a><testcase name="a" classname="b" time="long"/></a>"#, "a time is long"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}

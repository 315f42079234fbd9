//! Expectations file of a plugin: the profiles that it claims, and the cases that it does not pass,
//! with reasons (SUITE-S6, SUITE-S7).
//!
//! ```toml
//! # Beside the library, as NAME.expectations.toml, or given by --expectations.
//! claims = ["float16", "several-streams"]
//!
//! [[case]]
//! match = "op/exp/float16*@npu"       # a glob over ids
//! status = "fail"                     # unsupported, fail, crash or hang
//! reason = "off by 3 ulp near 11"
//! issue = "https://example.org/issues/7"   # an issue, or `until` with a date; after it the line no longer counts
//! until = "2027-03-31"
//! device = "*Model A*"                # only for devices of this name; likewise `driver`
//! ```

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::{Facts, Profile};

/// Expected result of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Permanently answered with `Unsupported`.
    Unsupported,
    /// Failure of the case.
    Fail,
    /// Crash of the process.
    Crash,
    /// No end before the deadline.
    Hang,
}

/// One expectation of the file.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// Glob over ids, as written.
    pub pattern: String,
    /// Expected result.
    pub status: Outcome,
    /// Reason for the expectation.
    pub reason: String,
    /// Issue that tracks it; may be empty.
    pub issue: String,
    /// Last day on which the expectation applies, as `YYYY-MM-DD`; may be empty.
    pub until: String,
    matcher: GlobMatcher,
    device: Option<GlobMatcher>,
    driver: Option<GlobMatcher>,
}

/// Claims and expectations of a plugin.
#[derive(Clone, Debug, Default)]
pub struct Expectations {
    /// Profiles that the plugin claims.
    pub claims: Vec<Profile>,
    /// Cases that the plugin does not pass.
    pub cases: Vec<Expectation>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    claims: Vec<String>,
    /// Read by the project's tests; ignored here.
    #[serde(default, rename = "tests")]
    _tests: IgnoredAny,
    #[serde(default, rename = "case")]
    cases: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(rename = "match")]
    pattern: String,
    status: Outcome,
    reason: String,
    #[serde(default)]
    issue: String,
    #[serde(default)]
    until: String,
    device: Option<String>,
    driver: Option<String>,
}

fn glob(pattern: &str) -> Result<GlobMatcher, String> {
    let glob = GlobBuilder::new(pattern).literal_separator(false).build();
    Ok(glob.map_err(|error| format!("\"{pattern}\" is no pattern: {error}"))?.compile_matcher())
}

impl Expectations {
    /// Reads an expectations file.
    ///
    /// # Errors
    ///
    /// The first problem, with the name of the file and the place.
    pub fn read(path: &Path) -> Result<Self, String> {
        /// Enough for about one line for each case.
        const SIZE_BYTES_MAX: u64 = 4 << 20;
        let text = chipdock_host::files::read_regular_text(path, SIZE_BYTES_MAX)
            .map_err(|error| format!("{}: {}", path.display(), error.message()))?;
        Self::parse(&text).map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Parses the text of an expectations file.
    ///
    /// # Errors
    ///
    /// The first problem.
    pub fn parse(text: &str) -> Result<Self, String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
        let profile = |name: &String| {
            let known = || Profile::ALL.iter().map(|known| known.name()).collect::<Vec<_>>().join(", ");
            Profile::by_name(name)
                .ok_or_else(|| format!("claims: no profile \"{name}\"; expected one of {}", known()))
        };
        let claims = file.claims.iter().map(profile).collect::<Result<_, _>>()?;
        let cases = file.cases.into_iter().map(Expectation::new).collect::<Result<_, _>>()?;
        Ok(Self { claims, cases })
    }

    /// Returns the first expectation that matches an instance and applies to these devices today
    /// (`YYYY-MM-DD`).
    #[must_use]
    pub fn about(&self, id: &str, facts: &Facts, today: &str) -> Option<&Expectation> {
        self.cases.iter().find(|case| case.matcher.is_match(id) && case.is_in_force(facts, today))
    }
}

impl Expectation {
    fn new(entry: Entry) -> Result<Self, String> {
        let about = |what: &str| format!("the case \"{}\": {what}", entry.pattern);
        if entry.reason.trim().is_empty() {
            return Err(about("expected a reason"));
        }
        let is_date = |text: &str| {
            let digits =
                |range: std::ops::Range<usize>| text.as_bytes()[range].iter().all(u8::is_ascii_digit);
            text.len() == 10 && text.is_ascii() && digits(0..4) && digits(5..7) && digits(8..10)
        };
        if entry.issue.is_empty() && entry.until.is_empty() {
            return Err(about("expected an `issue`, or a date in `until`"));
        }
        if !entry.until.is_empty() && !is_date(&entry.until) {
            return Err(about("`until` is a date as 2027-03-31"));
        }
        Ok(Self {
            matcher: glob(&entry.pattern)?,
            device: entry.device.as_deref().map(glob).transpose()?,
            driver: entry.driver.as_deref().map(glob).transpose()?,
            pattern: entry.pattern,
            status: entry.status,
            reason: entry.reason,
            issue: entry.issue,
            until: entry.until,
        })
    }

    /// Returns true if the pattern matches an instance's id, whatever the device.
    #[must_use]
    pub fn matches(&self, id: &str) -> bool {
        self.matcher.is_match(id)
    }

    /// Returns true if the expectation applies to these devices on that day.
    #[must_use]
    pub fn is_in_force(&self, facts: &Facts, today: &str) -> bool {
        let any = |glob: &Option<GlobMatcher>, text: fn(&crate::facts::DeviceFacts) -> &str| {
            glob.as_ref().is_none_or(|glob| facts.devices.iter().any(|device| glob.is_match(text(device))))
        };
        (self.until.is_empty() || self.until.as_str() >= today)
            && any(&self.device, |device| &device.device_name)
            && any(&self.driver, |device| &device.driver_version)
    }
}

//! The table of expected results: `outcomes.toml`.
//!
//! ```toml
//! [fault]
//! "check devices" = "0 signal 11 … SIGSEGV"
//! run = "SIGSEGV zoo … init"
//! ```
//!
//! A key names commands; a value states how each must end (an exit code, a signal, `hangs`, or
//! `any` if nothing is promised) and the text that its output must contain, every part between `…`.
//! `+files` at the end means that the fault happens after the work, whose files exist and are
//! right. Commands that are not named end as beside the healthy plugin.

use std::collections::BTreeMap;

use crate::cage::KINDS;
use crate::watch::Ended;

/// Expected end of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Exactly this end.
    So(Ended),
    /// Any end: nothing is promised.
    Any,
}

/// Expected result of a command beside a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Expected end.
    pub end: End,
    /// Whether its files exist although the command does not succeed.
    pub has_files: bool,
    /// Parts that its output must contain.
    pub says: Vec<String>,
}

impl Wanted {
    /// Reads an expected result: an end, and the parts that the output must contain.
    ///
    /// # Errors
    ///
    /// The end is none.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (end, says) = text.split_once(' ').unwrap_or((text, ""));
        let (end, has_files) = end.strip_suffix("+files").map_or((end, false), |end| (end, true));
        let end = match end {
            "hangs" => End::So(Ended::Never),
            "any" => End::Any,
            "SIGSEGV" => End::So(Ended::Signal(libc::SIGSEGV)),
            "SIGABRT" => End::So(Ended::Signal(libc::SIGABRT)),
            "SIGKILL" => End::So(Ended::Signal(libc::SIGKILL)),
            code => End::So(Ended::Code(code.parse().map_err(|_| format!("no end of a command: {code:?}"))?)),
        };
        let says =
            says.split('…').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect();
        Ok(Self { end, has_files, says })
    }

    /// Returns true if the command is expected to hang.
    #[must_use]
    pub fn hangs(&self) -> bool {
        self.end == End::So(Ended::Never)
    }

    /// Returns the same with another deadline in its texts, where the table has 1 s.
    #[must_use]
    pub fn within(&self, deadline: u32) -> Self {
        let replaced = |part: &String| {
            part.replace("within 1 s", &format!("within {deadline} s"))
                .replace("--deadline, 1 s", &format!("--deadline, {deadline} s"))
        };
        let says = self.says.iter().map(replaced);
        Self { says: says.collect(), ..self.clone() }
    }

    /// Returns true if the command is ended by its deadline, or hangs.
    #[must_use]
    pub fn waits(&self) -> bool {
        self.hangs()
            || self.says.iter().any(|part| {
                ["did not come back", "longer than --deadline"].iter().any(|late| part.contains(late))
            })
    }
}

/// The whole table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// Expected results by fault and command.
    cells: BTreeMap<String, BTreeMap<String, Wanted>>,
    /// Expectations that are not met yet, as `fault command`, with the reason.
    pub pending: BTreeMap<String, String>,
}

impl Table {
    /// Reads the table.
    ///
    /// # Errors
    ///
    /// The table is wrong; the message says what and where.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut rows: BTreeMap<String, BTreeMap<String, String>> =
            toml::from_str(text).map_err(|error| error.to_string())?;
        let pending = rows.remove("pending").unwrap_or_default();
        let mut cells = BTreeMap::new();
        for (fault, row) in rows {
            let mut parsed = BTreeMap::new();
            for (commands, text) in row {
                let wanted = Wanted::parse(&text).map_err(|error| format!("{fault}: {error}"))?;
                for command in commands.split(' ') {
                    if !KINDS.iter().any(|kind| kind.name == command) {
                        return Err(format!("{fault}: there is no command {command:?}"));
                    }
                    if parsed.insert(command.to_owned(), wanted.clone()).is_some() {
                        return Err(format!("{fault}: {command} stands there twice"));
                    }
                }
            }
            cells.insert(fault, parsed);
        }
        Ok(Self { cells, pending })
    }

    /// Returns the expected result of a command beside a fault; `None` if it is as beside the
    /// healthy plugin. A command with text output has the expectations of the same command with
    /// JSON, in other words.
    #[must_use]
    pub fn wanted(&self, fault: &str, command: &str) -> Option<Wanted> {
        let row = self.cells.get(fault)?;
        row.get(command).cloned().or_else(|| {
            let json = row.get(command.strip_suffix("-text")?)?;
            Some(Wanted { says: Vec::new(), ..json.clone() })
        })
    }

    /// Returns the faults that the table names.
    pub fn faults(&self) -> impl Iterator<Item = &str> {
        self.cells.keys().map(String::as_str)
    }
}

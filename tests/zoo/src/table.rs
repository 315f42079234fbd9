//! Table of expected results: `outcomes.toml`.
//!
//! ```toml
//! [fault]
//! "check devices" = "0 signal 11 … SIGSEGV"
//! run = "SIGSEGV zoo … init"
//! ```
//!
//! A key names commands; a value is the expected end of each (an exit code, a signal, `hangs`, or `any` where nothing is
//! guaranteed) and the expected output, with `…` between its parts. Where `+files` follows, the failure comes after the work,
//! whose files are there and correct. A command that is not named ends as beside the healthy plugin.

use std::collections::BTreeMap;

use crate::cage::KINDS;
use crate::watch::Ended;

/// How a command is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// So, and no other way.
    So(Ended),
    /// Nothing is promised.
    Any,
}

/// What is wanted of a command beside a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// How it ends.
    pub end: End,
    /// Whether its files are there although it does not end well.
    pub has_files: bool,
    /// What it says.
    pub says: Vec<String>,
}

impl Wanted {
    fn parse(text: &str) -> Result<Self, String> {
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

    /// Whether it is to hang.
    #[must_use]
    pub fn hangs(&self) -> bool {
        self.end == End::So(Ended::Never)
    }

    /// Whether the command is ended by its deadline, or hangs.
    #[must_use]
    pub fn waits(&self) -> bool {
        self.hangs() || self.says.iter().any(|part| part.contains("did not come back"))
    }
}

/// The whole table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// By fault and command.
    cells: BTreeMap<String, BTreeMap<String, Wanted>>,
    /// What does not hold yet, as `fault command`, with the reason.
    pub pending: BTreeMap<String, String>,
}

impl Table {
    /// Reads the table.
    ///
    /// # Errors
    ///
    /// What is wrong with it, and where.
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

    /// What is wanted of a command beside a fault; `None`: as beside the healthy plugin. What is said to a person is wanted
    /// as the JSON of the same command is, in other words.
    #[must_use]
    pub fn wanted(&self, fault: &str, command: &str) -> Option<Wanted> {
        let row = self.cells.get(fault)?;
        row.get(command).cloned().or_else(|| {
            let json = row.get(command.strip_suffix("-text")?)?;
            Some(Wanted { says: Vec::new(), ..json.clone() })
        })
    }

    /// The faults that it names.
    pub fn faults(&self) -> impl Iterator<Item = &str> {
        self.cells.keys().map(String::as_str)
    }
}

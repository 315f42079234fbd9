//! Listings of what a run would execute: cases by group and level, and clauses by number of cases
//! (SUITE-S2, SUITE-S3).

use globset::GlobBuilder;
use serde::Serialize;

use crate::case::{Instance, Seeds, instances};
use crate::report::grid::{Grid, Paint, Tint, count, harmless, plain, several, wrapped};
use crate::report::verdict::level_name;
use crate::{Case, Facts, Group, Level, Profile, SUITE_VERSION, Subject, cases, clauses};

/// The schema of [`List`] as JSON.
pub const LIST_SCHEMA: &str = "chipdock.conformance-list/1";
/// The schema of [`Coverage`] as JSON.
pub const COVERAGE_SCHEMA: &str = "chipdock.conformance-coverage/1";

/// Numbers of cases and runs of one group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GroupCount {
    /// The group.
    pub group: Group,
    /// Level that the group belongs to.
    pub level: Level,
    /// Number of cases in the list.
    pub n_cases: usize,
    /// Number of runs with this plugin: one for each registration that a case applies to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_instances: Option<usize>,
}

/// Numbers of cases and runs at one level.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LevelCount {
    /// The level.
    pub level: Level,
    /// Number of cases in the list, including those of lower levels.
    pub n_cases: usize,
    /// Number of runs with this plugin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_instances: Option<usize>,
}

/// One listed case or instance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// Id of the case, or of the instance if there is a plugin.
    pub id: String,
    /// Clause that the case tests.
    pub clause: String,
    /// Profiles that the case needs; all of them must be supported.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<Profile>,
}

/// Cases that have nothing to run on, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Omitted {
    /// Number of cases.
    pub n_cases: usize,
    /// Reason why they do not apply or cannot run.
    pub why: String,
}

/// List of the cases that a run would execute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct List {
    /// Always [`LIST_SCHEMA`].
    pub schema: String,
    /// Always [`SUITE_VERSION`].
    pub suite_version: String,
    /// Name of the plugin, if one was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin: Option<String>,
    /// Number of cases.
    pub n_cases: usize,
    /// Number of runs with this plugin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_instances: Option<usize>,
    /// Numbers by group.
    pub groups: Vec<GroupCount>,
    /// Numbers by level.
    pub levels: Vec<LevelCount>,
    /// Cases that do not apply to the plugin.
    pub not_applicable: Vec<Omitted>,
    /// Cases that apply but have nothing to run on here.
    pub absent: Vec<Omitted>,
    /// Every listed case or instance.
    pub cases: Vec<Listed>,
}

/// Selection of the cases to list.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Random programs of the run.
    pub seeds: &'a Seeds,
    /// Level of the run.
    pub level: Level,
    /// Globs over ids; an empty list selects all.
    pub filters: &'a [String],
    /// Facts about the plugin, if one was given.
    pub facts: Option<&'a Facts>,
}

impl List {
    /// Lists what a run would execute.
    ///
    /// # Errors
    ///
    /// A filter is no valid pattern.
    pub fn new(wanted: &Wanted<'_>) -> Result<Self, String> {
        let matches = matcher(wanted.filters)?;
        let mut all = cases(wanted.seeds);
        all.retain(|case| wanted.level.includes(case.group.level()));
        let runs = wanted.facts.map(|facts| {
            let mut runs = instances(&all, facts);
            runs.retain(|run| matches(&run.id));
            runs
        });
        // A filter may name one registration, so with a plugin the matching instances decide which
        // cases are listed.
        match &runs {
            Some(runs) if !wanted.filters.is_empty() => {
                let ids: std::collections::HashSet<&str> =
                    runs.iter().map(|run| run.case.id.as_str()).collect();
                all.retain(|case| ids.contains(case.id.as_str()) || matches(&case.id));
            }
            _ => all.retain(|case| matches(&case.id)),
        }
        let n_of = |level: Level| all.iter().filter(|case| level.includes(case.group.level())).count();
        let runs_of = |pick: &dyn Fn(&Instance) -> bool| {
            runs.as_ref().map(|runs| runs.iter().filter(|run| pick(run)).count())
        };
        let groups = Group::ALL.iter().map(|group| GroupCount {
            group: *group,
            level: group.level(),
            n_cases: all.iter().filter(|case| case.group == *group).count(),
            n_instances: runs_of(&|run| run.case.group == *group),
        });
        let levels =
            Level::ALL.iter().filter(|level| wanted.level.includes(**level)).map(|level| LevelCount {
                level: *level,
                n_cases: n_of(*level),
                n_instances: runs_of(&|run| level.includes(run.case.group.level())),
            });
        Ok(Self {
            schema: LIST_SCHEMA.to_owned(),
            suite_version: SUITE_VERSION.to_owned(),
            plugin: wanted.facts.map(|facts| facts.name.clone()),
            n_cases: all.len(),
            n_instances: runs.as_ref().map(Vec::len),
            groups: groups.filter(|group| group.n_cases > 0).collect(),
            levels: levels.collect(),
            not_applicable: wanted.facts.map(|facts| not_applicable(&all, facts)).unwrap_or_default(),
            absent: wanted
                .facts
                .map(|facts| absent(runs.as_deref().unwrap_or_default(), facts))
                .unwrap_or_default(),
            cases: match &runs {
                Some(runs) => runs.iter().map(|run| listed(&run.id, &run.case)).collect(),
                None => all.iter().map(|case| listed(&case.id, case)).collect(),
            },
        })
    }

    /// Formats the list for users, with every case if `each`. Ends with a newline.
    #[must_use]
    pub fn text(&self, each: bool, paint: Paint) -> String {
        let mut text = String::new();
        if each {
            let mut grid = Grid::new(&["CASE", "CLAUSE", "PROFILES"]);
            for case in &self.cases {
                let profiles: Vec<&str> = case.profiles.iter().map(|profile| profile.name()).collect();
                grid.row(vec![plain(harmless(&case.id)), plain(&case.clause), plain(profiles.join(", "))]);
            }
            text += &(grid.text(paint, 0) + "\n");
        }
        let with_runs = self.n_instances.is_some();
        let header: &[&str] = if with_runs {
            &["GROUP", "#CASES", "#RUNS", "LEVEL", "ABOUT"]
        } else {
            &["GROUP", "#CASES", "LEVEL", "ABOUT"]
        };
        let mut grid = Grid::new(header);
        let runs = |n: Option<usize>| n.map(|n| plain(count(n)));
        for group in &self.groups {
            let mut row = vec![plain(group.group.name()), plain(count(group.n_cases))];
            row.extend(runs(group.n_instances));
            row.extend([plain(level_name(group.level)), (group.group.doc().to_owned(), Tint::Faint)]);
            grid.row(row);
        }
        let mut row = vec![("all".to_owned(), Tint::Strong), (count(self.n_cases), Tint::Strong)];
        row.extend(self.n_instances.map(|n| (count(n), Tint::Strong)));
        grid.row(row);
        text += &(grid.text(paint, 0) + "\n");
        let header: &[&str] = if with_runs { &["LEVEL", "#CASES", "#RUNS"] } else { &["LEVEL", "#CASES"] };
        let mut grid = Grid::new(header);
        for level in &self.levels {
            let mut row = vec![plain(level_name(level.level)), plain(count(level.n_cases))];
            row.extend(runs(level.n_instances));
            grid.row(row);
        }
        text += &grid.text(paint, 0);
        for (what, list) in
            [("do not apply", &self.not_applicable), ("will find nothing to run on", &self.absent)]
        {
            for omitted in list {
                let n = several(omitted.n_cases, "case", "cases");
                text += &format!("\n{} {what}: {}\n", n, harmless(&omitted.why).replace('\n', " "));
            }
        }
        text
    }
}

fn listed(id: &str, case: &Case) -> Listed {
    Listed { id: id.to_owned(), clause: case.clause.to_owned(), profiles: case.profiles.clone() }
}

/// Returns a predicate that is true for ids that match any of these globs; without globs, for every
/// id.
///
/// # Errors
///
/// A filter is no valid pattern.
pub fn matcher(filters: &[String]) -> Result<impl Fn(&str) -> bool + use<>, String> {
    let glob = |filter: &String| {
        let glob = GlobBuilder::new(filter).literal_separator(false).build();
        glob.map(|glob| glob.compile_matcher())
            .map_err(|error| format!("\"{filter}\" is no pattern: {error}"))
    };
    let globs = filters.iter().map(glob).collect::<Result<Vec<_>, _>>()?;
    Ok(move |id: &str| globs.is_empty() || globs.iter().any(|glob| glob.is_match(id)))
}

fn not_applicable(all: &[Case], facts: &Facts) -> Vec<Omitted> {
    let sorts = [
        (Subject::DeviceApi, "device API"),
        (Subject::TargetKind, "target kind"),
        (Subject::Codegen, "code generator"),
        (Subject::Loader, "module loader"),
        (Subject::Function, "function"),
    ];
    let none = sorts.iter().filter(|(subject, _)| facts.registrations(*subject).next().is_none());
    let omitted = none.map(|(subject, name)| Omitted {
        n_cases: all.iter().filter(|case| case.subject == *subject).count(),
        why: format!("it registers no {name}"),
    });
    omitted.filter(|omitted| omitted.n_cases > 0).collect()
}

fn absent(runs: &[Instance], facts: &Facts) -> Vec<Omitted> {
    let of = |subjects: &[Subject], name: &str| {
        runs.iter().filter(|run| subjects.contains(&run.case.subject) && run.registration == name).count()
    };
    let devices = facts.devices.iter().filter(|device| !device.absent.is_empty()).map(|device| Omitted {
        n_cases: of(&[Subject::DeviceApi], &device.api),
        why: format!("device_api.{}: {}", device.api, device.absent),
    });
    let kinds = facts.unusable_kinds.iter().map(|(name, why)| Omitted {
        n_cases: of(&[Subject::TargetKind, Subject::Codegen], name),
        why: format!("target.kind.{name}: {why}"),
    });
    devices.chain(kinds).filter(|omitted| omitted.n_cases > 0).collect()
}

/// One clause with the number of its cases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Covered {
    /// Number of the clause, such as `D.4`.
    pub clause: String,
    /// Text of the clause.
    pub text: String,
    /// Party that has the duty.
    pub by: String,
    /// Checkers that detect a violation.
    pub checked: String,
    /// Number of cases that test it.
    pub n_cases: usize,
}

/// Number of cases for each clause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// Always [`COVERAGE_SCHEMA`].
    pub schema: String,
    /// Always [`SUITE_VERSION`].
    pub suite_version: String,
    /// Every clause, in the contract's order.
    pub clauses: Vec<Covered>,
    /// Clauses named by cases but missing from the contract; empty in a correct suite.
    pub unknown: Vec<String>,
}

impl Coverage {
    /// Computes the coverage of the suite.
    #[must_use]
    pub fn new(seeds: &Seeds) -> Self {
        let all = cases(seeds);
        let n = |number: &str| all.iter().filter(|case| case.clause == number).count();
        let covered = clauses::all().iter().map(|clause| Covered {
            clause: clause.number.clone(),
            text: clause.text.clone(),
            by: clause.by.clone(),
            checked: clause.checked.clone(),
            n_cases: n(&clause.number),
        });
        let mut unknown: Vec<String> = all
            .iter()
            .filter(|case| clauses::find(case.clause).is_none())
            .map(|case| format!("{} of {}", case.clause, case.id))
            .collect();
        unknown.dedup();
        let (schema, suite_version) = (COVERAGE_SCHEMA.to_owned(), SUITE_VERSION.to_owned());
        Self { schema, suite_version, clauses: covered.collect(), unknown }
    }

    /// Formats the coverage for users: each clause with its number of cases, then the clauses
    /// without any. Ends with a newline.
    #[must_use]
    pub fn text(&self, paint: Paint) -> String {
        const TEXT_MAX: usize = 78;
        let mut grid = Grid::new(&["CLAUSE", "#CASES", "BY", "CHECKED", "SAYS"]);
        for clause in &self.clauses {
            let lines = wrapped(&clause.text, TEXT_MAX);
            let cut = if lines.len() > 1 { " …" } else { "" };
            let n = match clause.n_cases {
                0 => ("-".to_owned(), Tint::Warn),
                n => plain(count(n)),
            };
            let says = lines.first().cloned().unwrap_or_default() + cut;
            grid.row(vec![
                plain(&clause.clause),
                n,
                plain(&clause.by),
                plain(&clause.checked),
                (says, Tint::Faint),
            ]);
        }
        let mut text = grid.text(paint, 0);
        let (none, some): (Vec<&Covered>, Vec<&Covered>) =
            self.clauses.iter().partition(|clause| clause.n_cases == 0);
        let n_cases = some.iter().map(|clause| clause.n_cases).sum();
        text += &format!(
            "\n{} cases test {} of {} clauses. {}:\n\n",
            count(n_cases),
            some.len(),
            self.clauses.len(),
            match none.len() {
                0 => "No clause is without a case".to_owned(),
                1 => "One clause has no case; who finds out when it is broken".to_owned(),
                n => format!("{n} clauses have no case; who finds out when they are broken"),
            }
        );
        let mut grid = Grid::new(&["CLAUSE", "BY", "FOUND OUT"]);
        for clause in none {
            let by = match clause.by.as_str() {
                "P" => "plugin",
                "H" => "host",
                other => other,
            };
            grid.row(vec![plain(&clause.clause), plain(by), plain(who(&clause.checked))]);
        }
        text += &grid.text(paint, 0);
        for unknown in &self.unknown {
            text += &format!("\n{}\n", paint.paint(Tint::Bad, &format!("not in the contract: {unknown}")));
        }
        text
    }
}

/// Describes the checkers of a clause in words.
fn who(checked: &str) -> String {
    let words = checked.split(", ").map(|who| match who {
        "build" => "the compiler: it does not build",
        "shim" => "the shims of chipdock-plugin-api, for plugins in Rust",
        "host" => "any host, when it loads or calls",
        "tests" => "the project's own tests",
        "suite" => "a case that is yet to be written",
        "review" => "nobody but a reader",
        other => other,
    });
    words.collect::<Vec<_>>().join("; ")
}

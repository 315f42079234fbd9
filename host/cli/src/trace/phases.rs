//! The phases of a command as a table: their nesting, and their times.

use std::thread::{self, ThreadId};
use std::time::Duration;

use serde_json::{Map, Value};

use crate::table;

/// Number of rows that are shown; further ones are counted.
const ROWS_MAX: usize = 1000;
/// The sizes of a module, as fields of a span; each may come a second time with the ending for the
/// module afterwards.
const SIZES: [&str; 3] = ["functions", "statements", "expressions"];
const AFTER: &str = "_after";

/// The phases of one thread, in the order in which they began.
pub(super) struct Phases {
    thread: ThreadId,
    rows: Vec<Row>,
    /// Spans that have begun and not ended, the innermost last.
    open: Vec<u64>,
    n_omitted: u64,
}

struct Row {
    id: u64,
    depth: usize,
    title: String,
    plugin: String,
    begin: Duration,
    elapsed: Option<Duration>,
    /// Number of repetitions, one after the other.
    count: u64,
    sizes: [String; SIZES.len()],
}

impl Phases {
    pub(super) fn of_this_thread() -> Self {
        Self { thread: thread::current().id(), rows: Vec::new(), open: Vec::new(), n_omitted: 0 }
    }

    pub(super) fn begin(&mut self, id: u64, title: String, plugin: &str, now: Duration) {
        if thread::current().id() != self.thread {
            return;
        }
        let depth = self.open.len();
        self.open.push(id);
        if self.rows.len() >= ROWS_MAX {
            self.n_omitted += 1;
            return;
        }
        let (plugin, sizes) = (plugin.to_owned(), Default::default());
        self.rows.push(Row { id, depth, title, plugin, begin: now, elapsed: None, count: 1, sizes });
    }

    fn row(&mut self, id: u64) -> Option<&mut Row> {
        // The last rows are those that are still open.
        self.rows.iter_mut().rev().find(|row| row.id == id)
    }

    pub(super) fn end(&mut self, id: u64, now: Duration) {
        self.open.retain(|open| *open != id);
        if let Some(row) = self.row(id) {
            row.elapsed = Some(now.saturating_sub(row.begin));
        }
    }

    /// Closes a span: all its fields are known.
    pub(super) fn close(&mut self, id: u64, title: String, fields: &[&Map<String, Value>]) {
        let find = |name: &str| fields.iter().find_map(|fields| fields.get(name)?.as_u64());
        let Some(row) = self.row(id) else { return };
        row.title = title;
        row.sizes = SIZES.map(|name| match (find(name), find(&format!("{name}{AFTER}"))) {
            (Some(before), Some(after)) if before != after => format!("{before} -> {after}"),
            (Some(size), _) => size.to_string(),
            (None, _) => String::new(),
        });
        self.join_last();
    }

    /// Joins the last row with the one before where that is the same work, repeated.
    fn join_last(&mut self) {
        let [.., before, last] = self.rows.as_mut_slice() else { return };
        let is_same =
            (before.depth, &before.title, &before.plugin) == (last.depth, &last.title, &last.plugin);
        if let (true, Some(first), Some(again)) = (is_same, before.elapsed, last.elapsed) {
            before.elapsed = Some(first + again);
            before.count += 1;
            before.sizes = std::mem::take(&mut last.sizes);
            self.rows.pop();
        }
    }

    /// Returns the text for a person. Ends with a newline.
    pub(super) fn table(&self, color: bool) -> String {
        let mut table = table::new(&["PHASE", "TIME", "PLUGIN", "FUNCTIONS", "STATEMENTS", "EXPRESSIONS"]);
        for row in &self.rows {
            let times = if row.count > 1 { format!(" ({} times)", row.count) } else { String::new() };
            // What had not ended when the work was given up has no time.
            let time = row.elapsed.map_or("-".to_owned(), |time| table::duration(time.as_secs_f64()));
            let [functions, statements, expressions] = &row.sizes;
            let title = format!("{}{times}", row.title);
            let cells = [&title, &time, &row.plugin, functions, statements, expressions];
            table.add_row_at(row.depth, cells);
        }
        let text = table::text(&table);
        let (header, rows) = text.split_once('\n').unwrap_or((&text, ""));
        let (bold, reset) = if color { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
        let more = match self.n_omitted {
            0 => String::new(),
            count => format!("... and {count} more\n"),
        };
        format!("\n{bold}{header}{reset}\n{rows}{more}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn phase(phases: &mut Phases, id: u64, title: &str, milliseconds: [u64; 2], fields: &Value) {
        let [begin, end] = milliseconds.map(Duration::from_millis);
        phases.begin(id, title.to_owned(), "toy", begin);
        phases.end(id, end);
        phases.close(id, title.to_owned(), &[fields.as_object().unwrap()]);
    }

    /// CLI-C13: work within work is indented, what is repeated is one row, sizes show what changed.
    #[test]
    fn cli_c13_phases_are_a_table() {
        let mut phases = Phases::of_this_thread();
        phases.begin(1, "lower".to_owned(), "", Duration::ZERO);
        let grown = json!({"functions": 1, "statements": 2, "statements_after": 9, "expressions": 3, "expressions_after": 3});
        phase(&mut phases, 2, "pass a", [1, 3], &grown);
        phases.end(1, Duration::from_millis(4));
        phases.close(1, "lower host".to_owned(), &[]);
        for id in 3..6 {
            phase(&mut phases, id, "round", [10 * id, 10 * id + 1], &json!({}));
        }
        phases.begin(9, "gave\x1b[2J up".to_owned(), "", Duration::ZERO);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| phase(&mut phases, 7, "elsewhere", [0, 1], &json!({})));
            other.join().unwrap();
        });
        let expected = "
PHASE             TIME     PLUGIN  FUNCTIONS  STATEMENTS  EXPRESSIONS
lower host        4.00 ms
  pass a          2.00 ms  toy     1          2 -> 9      3
round (3 times)   3.00 ms  toy
gave\\u{1b}[2J up  -
";
        assert_eq!(phases.table(false), expected);
        assert!(phases.table(true).starts_with("\n\x1b[1mPHASE"));
    }

    #[test]
    fn cli_c13_a_table_has_an_end() {
        let mut phases = Phases::of_this_thread();
        for id in 0..ROWS_MAX as u64 + 5 {
            phase(&mut phases, id, &format!("phase {id}"), [0, 1], &json!({}));
        }
        let text = phases.table(false);
        assert!(text.ends_with("... and 5 more\n"), "{text}");
        assert_eq!(text.lines().count(), ROWS_MAX + 3);
    }
}

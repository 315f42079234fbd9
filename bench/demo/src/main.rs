//! `cargo xtask demo`: runs the examples on every backend present, and prints a table.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use chipdock_host::Host;
use chipdock_test_backends::backends::{self, Absent, Backend};
use chipdock_test_backends::cases::CASES;
use chipdock_test_backends::{Result, digits, run};
use clap::Parser;
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

/// Width of a table, in columns of a terminal.
const WIDTH: u16 = 100;

/// Runs the examples on every backend present, checks them against the reference interpreter, and
/// prints a table.
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask demo", override_usage = "cargo xtask demo [OPTIONS] [FILTERS]...")]
struct Options {
    /// The folder with the plugins
    #[arg(long, hide = true)]
    plugins: PathBuf,
    /// Print the table as JSON
    #[arg(long)]
    json: bool,
    /// Build optimised first, which takes twice as long
    #[arg(long)]
    release: bool,
    /// Run only the examples whose name contains one of these
    filters: Vec<String>,
}

impl Options {
    /// Returns the error that no example is called so, if a filter matches none.
    fn check_filters(&self, names: &[&str]) -> Result<()> {
        let unknown = self.filters.iter().find(|filter| !names.iter().any(|name| name.contains(*filter)));
        unknown.map_or(Ok(()), |filter| {
            Err(format!("no example is called `{filter}`; known: {}", names.join(", ")))
        })
    }

    fn wants(&self, name: &str) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|filter| name.contains(filter))
    }
}

fn main() -> ExitCode {
    match demo(&Options::parse()) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(failures) => {
            eprintln!("error: {failures} of the runs failed; the table says which");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// One row of the table, as cells and as JSON.
struct Row {
    cells: [String; 6],
    json: Value,
    failed: bool,
}

fn demo(options: &Options) -> Result<usize> {
    let names: Vec<&str> = CASES.iter().map(|case| case.name).chain(["digits"]).collect();
    options.check_filters(&names)?;
    let host = backends::open_host(&options.plugins)?;
    if !options.json {
        show_plugins(&host);
    }
    let (present, absent) = backends::present(&host)?;
    if present.is_empty() {
        return Err(format!("no backend can be used here: {absent:?}"));
    }
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let cases: Vec<_> = CASES.iter().filter(|case| options.wants(case.name)).collect();
    let progress = ProgressBar::new((present.len() * (cases.len() + 1)) as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}") {
        progress.set_style(style);
    }
    let mut rows = Vec::new();
    for backend in &present {
        for case in &cases {
            progress.set_message(format!("{} on {}", case.name, backend.target.kind));
            let measured = run::measure(&host, backend, case, &examples.join("kernels"));
            rows.push(kernel_row(place(backend), case.name, case.unit(), &measured));
            progress.inc(1);
        }
        if options.wants("digits") {
            progress.set_message(format!("digits on {}", backend.target.kind));
            rows.push(digits_row(place(backend), &digits::read(&host, backend, &examples.join("digits"))));
        }
        progress.inc(1);
    }
    progress.finish_and_clear();
    show(options, &present, &rows, &absent);
    Ok(rows.iter().filter(|row| row.failed).count())
}

fn show_plugins(host: &Host) {
    let mut table = table(&["plugin", "version", "provides"]);
    for plugin in host.plugins() {
        table.add_row([
            plugin.name.clone(),
            plugin.version.clone().unwrap_or_default(),
            plugin.provides.join("\n"),
        ]);
    }
    println!("discovered, nothing opened yet:\n{table}\n");
}

fn show(options: &Options, present: &[Backend], rows: &[Row], absent: &[Absent]) {
    if options.json {
        println!("{}", to_json(rows, absent));
        return;
    }
    let mut devices = table(&["backend", "device"]);
    for [backend, device] in present.iter().map(place) {
        devices.add_row([backend, device]);
    }
    println!("{devices}\n");
    let mut table =
        table(&["backend", "example", "compile", "run", "rate", "largest error (share of its bound)"]);
    for row in rows {
        table.add_row(&row.cells);
    }
    for column in 2..5 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    println!("{table}");
    println!("\nEach error is at most the bound that the reference interpreter derives; else the run fails.");
    if !options.release {
        println!(
            "Chipdock itself is unoptimised here, which only compiling kernels shows; `--release` builds it optimised."
        );
    }
    for Absent { kind, reason } in absent {
        println!("not here: {kind}: {reason}");
    }
}

/// Returns the table as JSON. Schema: `bench/schemas/demo.schema.json`.
fn to_json(rows: &[Row], absent: &[Absent]) -> Value {
    let absent: Vec<Value> =
        absent.iter().map(|absent| json!({"target": absent.kind, "reason": absent.reason})).collect();
    let rows: Vec<&Value> = rows.iter().map(|row| &row.json).collect();
    json!({"schema": "chipdock.demo/1", "rows": rows, "absent": absent})
}

fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY).set_header(header);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(WIDTH);
    table
}

fn milliseconds(time: std::time::Duration) -> String {
    let ms = time.as_secs_f64() * 1e3;
    if ms < 1.0 { format!("{:.1} µs", ms * 1e3) } else { format!("{ms:.1} ms") }
}

/// Returns the target kind and the device's name.
fn place(backend: &Backend) -> [String; 2] {
    [backend.target.kind.clone(), backend.device_name.clone()]
}

fn kernel_row([kind, device]: [String; 2], name: &str, unit: &str, measured: &Result<run::Measured>) -> Row {
    let start = [kind, device, name.to_owned()];
    let common = json!({"target": start[0], "device": start[1], "kernel": name});
    let (rest, json, failed) = match measured {
        Ok(measured) => {
            let error = if measured.error_max == 0.0 {
                "0 (exact)".to_owned()
            } else {
                format!("{:.1e} ({:.0} %)", measured.error_max, 100.0 * measured.error_over_bound_max)
            };
            let json = json!({
                "compile_s": measured.compile.as_secs_f64(),
                "run_s": measured.run.as_secs_f64(),
                "rate": measured.rate,
                "unit": unit,
                "error_max": measured.error_max,
                "error_over_bound_max": measured.error_over_bound_max,
            });
            let rate = format!("{:.2} {unit}", measured.rate);
            ([milliseconds(measured.compile), milliseconds(measured.run), rate, error], json, false)
        }
        Err(error) => (["".into(), "".into(), "failed".into(), error.clone()], json!({"error": error}), true),
    };
    row(start, rest, common, json, failed)
}

fn digits_row([kind, device]: [String; 2], reading: &Result<digits::Reading>) -> Row {
    let start = [kind, device, "digits".to_owned()];
    let common = json!({"target": start[0], "device": start[1], "kernel": "digits"});
    let (rest, json, failed) = match reading {
        Ok(reading) => {
            let accuracy = reading.accuracy();
            let failed = accuracy < reading.accuracy_min;
            let verdict = format!(
                "{:.1} % of {} are right{}",
                100.0 * accuracy,
                reading.n_images,
                if failed { ", too few" } else { "" }
            );
            let json = json!({
                "compile_s": reading.compile.as_secs_f64(),
                "run_s": reading.run.as_secs_f64(),
                "accuracy": accuracy,
                "images": reading.n_images,
            });
            let rate = format!("{:.0} images/s", reading.n_images as f64 / reading.run.as_secs_f64());
            ([milliseconds(reading.compile), milliseconds(reading.run), rate, verdict], json, failed)
        }
        Err(error) => (["".into(), "".into(), "failed".into(), error.clone()], json!({"error": error}), true),
    };
    row(start, rest, common, json, failed)
}

fn row(start: [String; 3], rest: [String; 4], mut json: Value, more: Value, failed: bool) -> Row {
    if let (Value::Object(json), Value::Object(more)) = (&mut json, more) {
        json.extend(more);
    }
    let [backend, _, kernel] = start;
    let [compile, run, rate, error] = rest;
    Row { cells: [backend, kernel, compile, run, rate, error], json, failed }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_table_keeps_its_schema() {
        let at = || ["c".to_owned(), "a processor".to_owned()];
        let (compile, run) = (Duration::from_millis(20), Duration::from_micros(3));
        let measured = run::Measured { compile, run, rate: 1.5, error_max: 0.0, error_over_bound_max: 0.0 };
        let reading = digits::Reading { compile, run, n_images: 4, n_right: 3, accuracy_min: 0.9 };
        let failed = || "it does not compile".to_owned();
        let rows = [
            kernel_row(at(), "add", "GB/s", &Ok(measured)),
            kernel_row(at(), "add", "GB/s", &Err(failed())),
            digits_row(at(), &Ok(reading)),
            digits_row(at(), &Err(failed())),
        ];
        let absent = [Absent { kind: "npu".to_owned(), reason: "no driver".to_owned() }];
        chipdock_test_support::schemas::check(&to_json(&rows, &absent));
        chipdock_test_support::schemas::check(&to_json(&[], &[]));
    }
}

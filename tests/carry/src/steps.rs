//! Runs the steps, and adds their results to the report.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::report::Report;
use crate::{Options, judge};

/// Exit and output of a process.
struct Ended {
    code: Option<i32>,
    /// Whether the process was ended by its deadline.
    is_late: bool,
    stdout: String,
    stderr: String,
    seconds: f64,
}

impl Ended {
    fn how(&self) -> String {
        match (self.is_late, self.code) {
            (true, _) => format!("was ended after {:.0} s", self.seconds),
            (false, Some(code)) => format!("exit code {code} after {:.1} s", self.seconds),
            (false, None) => format!("a signal ended it after {:.1} s", self.seconds),
        }
    }

    /// Returns the end of its standard error.
    fn last_words(&self) -> String {
        let lines: Vec<&str> = self.stderr.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }
}

/// Runs a program of the archive until it ends or its deadline passes.
fn program(options: &Options, name: &str, arguments: &[&str], minutes: u64) -> Result<Ended, String> {
    let root = &options.root;
    let mut command = Command::new(root.join("bin").join(name));
    command.args(arguments).current_dir(root);
    command.env("CHIPDOCK_TEST_PLUGINS", root.join("bin/plugins"));
    command.env("CHIPDOCK_TEST_COMMAND", root.join("bin/chipdock"));
    command.env("CHIPDOCK_TEST_ROOT", root);
    // Plugins and settings installed on this machine take no part.
    command.env("XDG_DATA_HOME", root.join("nothing")).env("XDG_CONFIG_HOME", root.join("nothing"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let start = Instant::now();
    let mut child = command.spawn().map_err(|error| format!("{name}: {error}"))?;
    let reader = |pipe: Option<Box<dyn Read + Send>>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = pipe.map(|mut pipe| pipe.read_to_end(&mut bytes));
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let stdout = reader(child.stdout.take().map(|pipe| Box::new(pipe) as _));
    let stderr = reader(child.stderr.take().map(|pipe| Box::new(pipe) as _));
    let deadline = start + Duration::from_secs(60 * minutes);
    let mut is_late = false;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            break status;
        }
        if Instant::now() > deadline && !is_late {
            is_late = true;
            let _ = child.kill();
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let text = |thread: std::thread::JoinHandle<String>| thread.join().unwrap_or_default();
    let seconds = start.elapsed().as_secs_f64();
    Ok(Ended { code: status.code(), is_late, stdout: text(stdout), stderr: text(stderr), seconds })
}

/// Runs every selected step; returns true if all that could be run succeeded.
///
/// # Errors
///
/// The report could not be written.
pub(crate) fn run(options: &Options) -> Result<bool, String> {
    let wants = |step: &str| options.steps.is_empty() || options.steps.iter().any(|wanted| wanted == step);
    let mut report = Report::default();
    report.machine(&options.root);
    for (step, arguments) in [
        ("plugins", &["plugins", "--check", "--json"][..]),
        ("devices", &["devices", "--json"]),
        ("targets", &["targets", "--json"]),
    ] {
        if wants(step) {
            listed(&mut report, step, program(options, "chipdock", arguments, 5));
        }
    }
    let kinds = kinds(options)?;
    for (kind, plugin) in &kinds {
        if wants("corpus") {
            let root = options.root.to_string_lossy().into_owned();
            corpus(&mut report, kind, program(options, "chipdock-carried", &[judge::FLAG, &root, kind], 30));
        }
        if wants("conformance") {
            conformance(&mut report, options, kind, plugin);
        }
    }
    if wants("tests") {
        tests(&mut report, program(options, "devices", &["--test-threads=1"], 45));
    }
    if wants("bench") {
        let plugins = options.root.join("bin/plugins").to_string_lossy().into_owned();
        let command = options.root.join("bin/chipdock").to_string_lossy().into_owned();
        let words = [
            "device-time",
            "codegen",
            "launch",
            "copy",
            "second-run",
            "default-schedule",
            "elementwise",
            "matmul",
        ];
        let arguments = [&["--plugins", &plugins, "--command", &command, "--json"][..], &words].concat();
        bench(&mut report, program(options, "chipdock-bench", &arguments, 30));
    }
    report.write(&options.report)?;
    Ok(report.is_good())
}

/// Returns the selected target kinds, each with the library of its plugin.
fn kinds(options: &Options) -> Result<Vec<(String, String)>, String> {
    let host = judge::host(&options.root)?;
    let all = host.target_kinds();
    let mut found = Vec::new();
    for (kind, plugin) in all {
        let name = kind.name.clone();
        let is_device = kind.device != "cpu";
        let wanted = if options.kinds.is_empty() { is_device } else { options.kinds.contains(&name) };
        if wanted {
            let library = format!("chipdock_plugin_{}.so", plugin.replace('-', "_"));
            found.push((name, library));
        }
    }
    if let Some(missing) = options.kinds.iter().find(|kind| !found.iter().any(|(name, _)| name == *kind)) {
        return Err(format!("no plugin in the bundle has a target kind {missing}"));
    }
    Ok(found)
}

fn listed(report: &mut Report, step: &str, ended: Result<Ended, String>) {
    match ended {
        Err(error) => report.failed(step, &error, Value::Null),
        Ok(ended) => match serde_json::from_str::<Value>(&ended.stdout) {
            Ok(found) if ended.code == Some(0) => {
                if step == "devices" {
                    for api in found["device_apis"].as_array().into_iter().flatten() {
                        let name = api["name"].as_str().unwrap_or_default();
                        let devices: Vec<&str> = api["devices"]
                            .as_array()
                            .into_iter()
                            .flatten()
                            .filter_map(|device| device["attributes"]["device_name"].as_str())
                            .collect();
                        let why = api["problem"]["message"].as_str().unwrap_or("no device");
                        let what = if devices.is_empty() { why.to_owned() } else { devices.join(", ") };
                        report.line(&format!("device {name}: {what}"));
                    }
                }
                report.passed(step, &ended.how(), found);
            }
            _ => {
                report.failed(step, &format!("{}\n{}", ended.how(), ended.last_words()), ended.stdout.into())
            }
        },
    }
}

fn corpus(report: &mut Report, kind: &str, ended: Result<Ended, String>) {
    let step = format!("corpus on {kind}");
    let ended = match ended {
        Ok(ended) => ended,
        Err(error) => return report.failed(&step, &error, Value::Null),
    };
    let lines: Vec<Value> = ended.stdout.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    if let Some(why) = lines.iter().find_map(|line| line["absent"].as_str()) {
        return report.absent(&step, why);
    }
    let count = |status: &str| lines.iter().filter(|line| line["status"] == status).count();
    let (agree, wrong, refused) = (count("agrees"), count("wrong"), count("refused"));
    let device = lines.iter().find_map(|line| line["device"].as_str()).unwrap_or_default();
    let said = format!(
        "on {device}: {agree} kernels agree with the interpreter, {wrong} do not, {refused} are refused; {}",
        ended.how()
    );
    for line in lines.iter().filter(|line| line["status"] == "wrong" || line["status"] == "refused") {
        let text = |field: &str| line[field].as_str().unwrap_or_default().to_owned();
        report.line(&format!("  {} {}: {}", text("status"), text("name"), text("why")));
    }
    let is_good = ended.code == Some(0) && !ended.is_late && wrong == 0 && agree > 0;
    if is_good {
        report.passed(&step, &said, lines.into());
    } else {
        report.failed(&step, &format!("{said}\n{}", ended.last_words()), lines.into());
    }
}

fn conformance(report: &mut Report, options: &Options, kind: &str, plugin: &str) {
    let step = format!("conformance of {plugin}");
    if report.has(&step) {
        return;
    }
    let written = options.root.join(format!("conformance-{kind}.json"));
    let (library, to) = (format!("bin/plugins/{plugin}"), written.to_string_lossy().into_owned());
    let ended = match program(options, "chipdock", &["conformance", &library, "--report-json", &to], 60) {
        Ok(ended) => ended,
        Err(error) => return report.failed(&step, &error, Value::Null),
    };
    let text = fs::read_to_string(&written).unwrap_or_default();
    let _ = fs::remove_file(&written);
    let found: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
    let end: Vec<&str> = ended.stdout.lines().collect();
    let end = end[end.len().saturating_sub(4)..].join("; ");
    let said = format!("{end}; {}", ended.how());
    for case in found["cases"].as_array().into_iter().flatten() {
        if matches!(case["status"].as_str(), Some("failed" | "crashed" | "timed-out")) {
            report.line(&format!("  {}: {}", case["status"].as_str().unwrap_or_default(), case["id"]));
        }
    }
    if ended.code == Some(0) {
        report.passed(&step, &said, found);
    } else {
        report.failed(&step, &format!("{said}\n{}", ended.last_words()), found);
    }
}

fn tests(report: &mut Report, ended: Result<Ended, String>) {
    let ended = match ended {
        Ok(ended) => ended,
        Err(error) => return report.failed("device tests", &error, Value::Null),
    };
    let lines = || ended.stdout.lines();
    let of = |end: &str| lines().filter(|line| line.starts_with("test ") && line.ends_with(end)).count();
    let (passed, failed) = (of("... ok"), of("FAILED"));
    for line in lines().filter(|line| line.starts_with("test ") && line.ends_with("FAILED")) {
        report.line(&format!("  {line}"));
    }
    let said = format!("{passed} passed, {failed} failed; {}", ended.how());
    if ended.code == Some(0) && passed > 0 {
        report.passed("device tests", &said, ended.stdout.into());
    } else {
        report.failed("device tests", &format!("{said}\n{}", ended.last_words()), ended.stdout.into());
    }
}

fn bench(report: &mut Report, ended: Result<Ended, String>) {
    let ended = match ended {
        Ok(ended) => ended,
        Err(error) => return report.failed("bench", &error, Value::Null),
    };
    let found: Value = serde_json::from_str(&ended.stdout).unwrap_or(Value::Null);
    let lines = found["lines"].as_array().cloned().unwrap_or_default();
    for line in &lines {
        let text = |field: &str| line[field].as_str().unwrap_or_default().to_owned();
        let (name, on, measured) = (text("name"), text("on"), text("measured"));
        report.line(&format!("  {name} on {on}: {measured} ({})", text("verdict")));
    }
    // A goal that is not reached is a figure, not a failure.
    if ended.code == Some(0) && !lines.is_empty() {
        report.passed("bench", &ended.how(), found);
    } else {
        report.failed("bench", &format!("{}\n{}", ended.how(), ended.last_words()), ended.stdout.into());
    }
}

/// Returns the output of a program, if it exists and succeeds.
pub(crate) fn fact(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Returns the first line of a file that begins with `start`.
pub(crate) fn line_of(file: &Path, start: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    text.lines().find(|line| line.starts_with(start)).map(str::to_owned)
}

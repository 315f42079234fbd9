//! Runs scripts in Python; exchanges tables and answers in files of raw bytes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use chipdock_interpret::{Arg, Array};
use serde_json::json;
use tempfile::TempDir;

use crate::Case;
use crate::table::Tables;

/// Variable that contains the path of the Python to use (PEERS-P5).
pub const VARIABLE: &str = "CHIPDOCK_TVM_PYTHON";

/// Returns the Python to use; if there is none, returns `None` and reports the skipped test in the
/// log.
#[must_use]
pub fn python(what: &str) -> Option<PathBuf> {
    let python = std::env::var_os(VARIABLE).map(PathBuf::from);
    if python.is_none() {
        chipdock_test_support::skipped(&format!("{what}: {VARIABLE} is not set"));
    }
    python
}

/// Runs a script of this crate.
///
/// # Errors
///
/// It cannot be started, or fails; the message contains its output.
pub fn script(python: &Path, name: &str, folder: &Path) -> Result<String, String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    let output = Command::new(python).arg(script).arg(folder).output();
    let output = output.map_err(|error| format!("{} cannot be started: {error}", python.display()))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        Ok(text(&output.stdout))
    } else {
        Err(format!("{name} ended with {}:\n{}{}", output.status, text(&output.stdout), text(&output.stderr)))
    }
}

/// A module for real TVM, with the calls of its functions.
#[derive(Clone, Debug)]
pub struct Program {
    /// The module, as printed.
    pub text: String,
    /// Functions with their arguments.
    pub calls: Vec<(String, Vec<Arg>)>,
}

/// Result of a call: every tensor afterwards, by parameter; or TVM's error.
pub type Ran = Result<Vec<(usize, Array)>, String>;

/// Compiles programs with real TVM for its CPU target and runs them; returns for each program the
/// reason why it was not compiled, or the result of each call.
///
/// # Errors
///
/// A file that cannot be written or read, or the script's failure.
pub fn run_in_tvm(python: &Path, programs: &[Program]) -> Result<Vec<Result<Vec<Ran>, String>>, String> {
    let folder = TempDir::new().map_err(|error| format!("a temporary folder: {error}"))?;
    let place = |name: String| folder.path().join(name);
    let mut plan = Vec::new();
    for (i, program) in programs.iter().enumerate() {
        let module = format!("printed{i}.py");
        write(&place(module.clone()), program.text.as_bytes())?;
        let mut functions = Vec::new();
        for (j, (name, args)) in program.calls.iter().enumerate() {
            let mut arguments = Vec::new();
            for (k, arg) in args.iter().enumerate() {
                arguments.push(match arg {
                    Arg::Tensor(array) => {
                        write(&place(format!("{i}.{j}.{k}.in")), &array.data)?;
                        json!({"dtype": array.dtype.to_string(), "shape": array.shape})
                    }
                    Arg::Int(value) => json!({"int": i64::try_from(*value).unwrap_or_default()}),
                    Arg::Float(value) => json!({"float": value}),
                });
            }
            functions.push(json!({"name": name, "arguments": arguments}));
        }
        plan.push(json!({"module": module, "functions": functions}));
    }
    write(&place("plan.json".to_owned()), json!(plan).to_string().as_bytes())?;
    script(python, "kernels.py", folder.path())?;
    let error = |stem: String| fs::read_to_string(place(format!("{stem}.error"))).ok();
    let output = |stem: &str, args: &[Arg]| -> Ran {
        let tensors = args.iter().enumerate().filter_map(|(k, arg)| match arg {
            Arg::Tensor(array) => Some((k, array)),
            _ => None,
        });
        let read = |(k, array): (usize, &Array)| {
            let data = read(&place(format!("{stem}.{k}.out")))?;
            Ok((k, Array { data, ..array.clone() }))
        };
        tensors.map(read).collect()
    };
    let ran = |(i, program): (usize, &Program)| match error(i.to_string()) {
        Some(why) => Err(why),
        None => {
            let call = |(j, (_, args)): (usize, &(String, Vec<Arg>))| {
                error(format!("{i}.{j}")).map_or_else(|| output(&format!("{i}.{j}"), args), Err)
            };
            Ok(program.calls.iter().enumerate().map(call).collect())
        }
    };
    Ok(programs.iter().enumerate().map(ran).collect())
}

/// Answer of a peer for one case.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The exact bits.
    Exact(Vec<u8>),
    /// Per row, two float64 whose sum is the exact value to at least 64 bits.
    Real(Vec<(f64, f64)>),
}

/// Returns the answers to all cases, each with the peer that gave it.
///
/// # Errors
///
/// A file that cannot be written or read, or the script's failure.
pub fn ask(python: &Path, cases: &[Case], tables: &mut Tables) -> Result<Vec<(Answer, String)>, String> {
    let folder = TempDir::new().map_err(|error| format!("a temporary folder: {error}"))?;
    let place = |name: String| folder.path().join(name);
    let plan: Vec<_> = cases
        .iter()
        .map(|case| {
            let table = tables.get(case.table.0, case.table.1).name.clone();
            json!({"op": case.op(), "parameters": case.parameters, "table": table,
                   "operands": case.operands.len(), "result": case.result.to_string()})
        })
        .collect();
    let mut types = serde_json::Map::new();
    for table in tables.iter() {
        let dtypes: Vec<String> = table.columns.iter().map(|column| column.dtype.to_string()).collect();
        types.insert(table.name.clone(), json!(dtypes));
        for (k, Array { data, .. }) in table.columns.iter().enumerate() {
            write(&place(format!("{}.{k}", table.name)), data)?;
        }
    }
    write(&place("cases.json".to_owned()), json!({"tables": types, "cases": plan}).to_string().as_bytes())?;
    script(python, "peer.py", folder.path())?;
    let who = read(&place("answers.json".to_owned()))?;
    let who: Vec<String> = serde_json::from_slice(&who).map_err(|error| format!("answers.json: {error}"))?;
    who.into_iter()
        .enumerate()
        .map(|(index, who)| {
            let exact = place(format!("{index}.exact"));
            if exact.exists() {
                return Ok((Answer::Exact(read(&exact)?), who));
            }
            let (hi, lo) = (read(&place(format!("{index}.hi")))?, read(&place(format!("{index}.lo")))?);
            let pairs = floats(&hi).zip(floats(&lo)).collect();
            Ok((Answer::Real(pairs), who))
        })
        .collect()
}

fn floats(bytes: &[u8]) -> impl Iterator<Item = f64> {
    bytes.chunks_exact(8).map(|chunk| f64::from_le_bytes(chunk.try_into().unwrap_or_default()))
}

fn write(path: &Path, data: &[u8]) -> Result<(), String> {
    fs::write(path, data).map_err(|error| format!("{}: {error}", path.display()))
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

//! Programs made by real TVM's own libraries: every operator of TOPI and Relax, and four models, as
//! they are and as TVM schedules them for threads (`programs/`).

use std::fs;
use std::path::Path;
use std::process::Command;

use chipdock_interpret::{Arg, Array};
use chipdock_ir::DType;
use serde::Deserialize;
use tempfile::TempDir;

/// A program with its arguments, and the results of TVM's code.
#[derive(Clone, Debug)]
pub struct Program {
    /// Name with library, operator and variant: `topi.add/0`, `relax.nn.conv2d/1:conv2d`.
    pub name: String,
    /// Group: `topi`, `relax`, `models` or `scheduled`.
    pub group: String,
    /// Script that TVM prints for it.
    pub text: String,
    /// The same before TVM scheduled it, if it did.
    pub plain: Option<String>,
    /// Name of the function in the script.
    pub function: String,
    /// Arguments of the call.
    pub arguments: Vec<Arg>,
    /// Every tensor argument after the call, in order; TVM's error if its code cannot be built or
    /// run.
    pub after: Result<Vec<Array>, String>,
}

/// Programs made from the draws.
#[derive(Clone, Debug, Default)]
pub struct Programs {
    /// Programs in the order in which they were drawn.
    pub made: Vec<Program>,
    /// Programs that TVM could not make, with its errors.
    pub refused: Vec<(String, String)>,
    /// Number of draws, of which those above are the selected ones. A draw makes several programs
    /// where it has several kernels.
    pub n_all: usize,
}

/// A line of `programs.jsonl`.
#[derive(Deserialize)]
struct Line {
    name: String,
    group: String,
    refused: Option<String>,
    function: Option<String>,
    #[serde(default)]
    arguments: Vec<Argument>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct Argument {
    int: Option<i64>,
    dtype: Option<String>,
    #[serde(default)]
    shape: Vec<usize>,
}

/// Programs as they are, or as TVM's rules and steps of a schedule leave them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Without a schedule.
    Plain,
    /// TOPI's operators, scheduled for threads by each of dlight's rules that applies. Results are
    /// those of the plain program.
    Rules,
    /// Larger programs, scheduled by the same rules, and programs that are scheduled by steps.
    Steps,
}

/// Draws programs and runs them in TVM: all of them, or one in `one_in`, selected by `sample`.
/// Equal seeds give equal programs, whatever is selected.
///
/// # Errors
///
/// Python fails, or a file cannot be read.
pub fn programs(
    python: &Path,
    kind: Kind,
    seed: &str,
    sample: &str,
    one_in: usize,
) -> Result<Programs, String> {
    let folder = TempDir::new().map_err(|error| format!("a temporary folder: {error}"))?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    let mut command = Command::new(python);
    // No cache of compiled Python beside the sources.
    let kind = match kind {
        Kind::Plain => "plain",
        Kind::Rules => "rules",
        Kind::Steps => "steps",
    };
    command.arg("-B").args([script.as_os_str(), kind.as_ref()]).arg(folder.path()).args([
        seed,
        sample,
        &one_in.to_string(),
    ]);
    let output =
        command.output().map_err(|error| format!("{} cannot be started: {error}", python.display()))?;
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        return Err(format!("programs ended with {}:\n{error}", output.status));
    }
    read(folder.path())
}

/// Reads the files that the script wrote.
fn read(folder: &Path) -> Result<Programs, String> {
    let lines = text(&folder.join("programs.jsonl"))?;
    let count = text(&folder.join("count"))?;
    let n_all = count.trim().parse().map_err(|error| format!("count: {error}: {count}"))?;
    let mut all = Programs { n_all, ..Programs::default() };
    for (index, line) in lines.lines().enumerate() {
        let line: Line = serde_json::from_str(line).map_err(|error| format!("program {index}: {error}"))?;
        match line.refused {
            Some(why) => all.refused.push((line.name, why)),
            None => all.made.push(program(folder, index, line)?),
        }
    }
    Ok(all)
}

fn program(folder: &Path, index: usize, line: Line) -> Result<Program, String> {
    let mut arguments = Vec::new();
    let mut after = Vec::new();
    for (k, argument) in line.arguments.iter().enumerate() {
        let (Some(dtype), shape) = (&argument.dtype, &argument.shape) else {
            arguments.push(Arg::Int(argument.int.unwrap_or_default().into()));
            continue;
        };
        let dtype: DType = dtype.parse().map_err(|_| format!("{}: {dtype} is no type here", line.name))?;
        let array = |ending: &str| {
            let data = bytes(&folder.join(format!("{index}.{k}.{ending}")))?;
            Ok::<_, String>(Array { dtype, shape: shape.clone(), data })
        };
        arguments.push(Arg::Tensor(array("in")?));
        if line.error.is_none() {
            after.push(array("out")?);
        }
    }
    Ok(Program {
        text: text(&folder.join(format!("{index}.py")))?,
        plain: text(&folder.join(format!("{index}.plain.py"))).ok(),
        function: line.function.ok_or_else(|| format!("{} has no function", line.name))?,
        after: line.error.map_or(Ok(after), Err),
        name: line.name,
        group: line.group,
        arguments,
    })
}

fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn text(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

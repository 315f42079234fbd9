//! Runs MSL as C++: clang compiles it with a header in place of Metal's library, and a block runs
//! as fibres of one thread.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use chipdock_interpret::{Arg, Array};
use chipdock_ir::DType;
use serde_json::Value;

use chipdock_test_backends::device_code::Shader;
use chipdock_test_backends::launches::Launch;

/// Compilers that may support the vector extensions and the halves that the header needs.
const COMPILERS: &[&str] = &["clang++-19", "clang++"];
/// Exit code of a kernel in which threads diverge.
const DIVERGENT: i32 = 7;

/// Compiled kernels of one text.
#[derive(Debug)]
pub struct Program {
    folder: tempfile::TempDir,
}

/// The compiler, and the compiled support code that runs kernels.
#[derive(Debug)]
pub struct Compiler {
    name: &'static str,
    folder: tempfile::TempDir,
}

impl Compiler {
    /// Finds a compiler that supports the vector extensions and the halves that the header needs.
    ///
    /// # Errors
    ///
    /// The compiler's message for the support code.
    pub fn found() -> Result<Option<Self>, String> {
        let Some(name) =
            COMPILERS.iter().copied().find(|name| Command::new(name).arg("--version").output().is_ok())
        else {
            return Ok(None);
        };
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let files = [
            ("metal_stdlib", include_str!("shim/metal_stdlib")),
            ("runner.h", include_str!("shim/runner.h")),
            ("runner.cpp", include_str!("shim/runner.cpp")),
        ];
        for (file, text) in files {
            write(&folder.path().join(file), text)?;
        }
        let compiler = Self { name, folder };
        compiler.run(compiler.folder.path(), &["-c", "runner.cpp", "-o", "runner.o"])?;
        Ok(Some(compiler))
    }

    fn run(&self, folder: &Path, args: &[&str]) -> Result<(), String> {
        let output = Command::new(self.name)
            .current_dir(folder)
            .args(["-std=c++17", "-O1", "-fno-strict-aliasing", "-Wall", "-Werror"])
            .args(["-Wno-unused-function", "-Wno-unused-variable", "-Wno-unused-but-set-variable"])
            .arg("-I")
            .arg(self.folder.path())
            .args(args)
            .output()
            .map_err(|error| error.to_string())?;
        if output.status.success() { Ok(()) } else { Err(said(&output)) }
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).lines().take(30).collect::<Vec<_>>().join("\n")
}

/// Converts the text to C++: attributes are removed, memory of a block is static (one block runs at
/// a time).
fn as_cpp(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    for line in source.lines() {
        let mut line = line.to_owned();
        while let (Some(start), Some(end)) = (line.find(" [["), line.find("]]")) {
            line.replace_range(start..end + 2, "");
        }
        let code = line.trim_start();
        if code.starts_with("threadgroup ") && code.ends_with("];") {
            line = line.replacen("threadgroup ", "static ", 1);
        }
        text.push_str(&line);
        text.push('\n');
    }
    text
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

impl Program {
    /// Compiles a text with a run of each kernel.
    ///
    /// # Errors
    ///
    /// The compiler's message.
    pub fn new(compiler: &Compiler, shader: &Shader) -> Result<Self, String> {
        Self::with_flags(compiler, shader, &["-ffp-contract=off"])
    }

    /// Like [`Self::new`], with flags of the compiler for floating-point arithmetic.
    ///
    /// # Errors
    ///
    /// The compiler's message.
    pub fn with_flags(compiler: &Compiler, shader: &Shader, flags: &[&str]) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mut text = as_cpp(&shader.source);
        text.push_str("#include \"runner.h\"\nstatic const runner::Kernel kernels[] = {\n");
        for kernel in shader.index["functions"].as_array().into_iter().flatten() {
            let symbol = kernel["symbol"].as_str().ok_or("a kernel without a symbol")?;
            let tells_dynamic = |value: &Value| value == "tirx.use_dyn_shared_memory";
            let has_dynamic =
                kernel["launch_params"].as_array().is_some_and(|list| list.iter().any(tells_dynamic));
            let _ = writeln!(
                text,
                "  {{\"{symbol}\", {has_dynamic}, [](void** args) {{ runner::call(&{symbol}, args); }}}},"
            );
        }
        text.push_str(
            "};\nint main(int argc, char** argv) {\n  \
             return runner::main_of(kernels, sizeof(kernels) / sizeof(*kernels), argc, argv);\n}\n",
        );
        write(&folder.path().join("kernels.cpp"), &text)?;
        let runner = compiler.folder.path().join("runner.o").display().to_string();
        let args = [flags, &["kernels.cpp", &runner, "-lstdc++", "-lm", "-o", "kernels"]].concat();
        compiler.run(folder.path(), &args)?;
        Ok(Self { folder })
    }

    /// Runs a kernel, with the threads of a block in order or in reverse order; returns the tensors
    /// afterwards.
    ///
    /// # Errors
    ///
    /// Threads of a block that did not all reach a barrier, or a run that failed.
    pub fn run(&self, launch: &Launch, types: &[DType], reversed: bool) -> Result<Vec<Array>, String> {
        let mut files: Vec<(PathBuf, Option<Array>)> = Vec::new();
        for (position, (arg, dtype)) in launch.args.iter().zip(types).enumerate() {
            let path = self.folder.path().join(format!("arg{position}"));
            let (bytes, array) = match arg {
                Arg::Tensor(array) => (array.data.clone(), Some(array.clone())),
                Arg::Int(number) => (Array::from_int(*dtype, &[1], &[*number]).data, None),
                Arg::Float(number) => (Array::from_f64(*dtype, &[1], &[*number]).data, None),
            };
            std::fs::write(&path, bytes).map_err(|error| error.to_string())?;
            files.push((path, array));
        }
        let mut command = Command::new(self.folder.path().join("kernels"));
        command.arg(&launch.name);
        command.args(launch.grid.iter().chain(&launch.block).map(ToString::to_string));
        command.args([launch.dynamic_shared_bytes.to_string(), u8::from(reversed).to_string()]);
        let output =
            command.args(files.iter().map(|(path, _)| path)).output().map_err(|error| error.to_string())?;
        match output.status.code() {
            Some(0) => {}
            Some(DIVERGENT) => {
                return Err(format!("{}: some threads of a block did not reach a barrier", launch.name));
            }
            other => return Err(format!("{}: ended with {other:?}: {}", launch.name, said(&output))),
        }
        let mut tensors = Vec::new();
        for (path, array) in files {
            let Some(array) = array else { continue };
            let data = std::fs::read(&path).map_err(|error| error.to_string())?;
            tensors.push(Array { data, ..array });
        }
        Ok(tensors)
    }
}

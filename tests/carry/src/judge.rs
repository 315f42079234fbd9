//! Runs the corpus and the examples on one backend, checks each kernel against the interpreter, and
//! prints a line of JSON for each.

use std::path::Path;
use std::process::ExitCode;

use chipdock_host::{Host, HostOptions};
use chipdock_ir::IrModule;
use chipdock_test_backends::backends::{Backend, present};
use chipdock_test_backends::cases::CASES;
use chipdock_test_backends::{Result, digits, run};
use chipdock_test_backends::{corpus, hold, outputs};
use chipdock_test_support::scripts;
use serde_json::{Value, json};

/// Argument that makes the program do this in a process of its own; followed by the folder and the
/// target kind.
pub(crate) const FLAG: &str = "--judge";

/// Runs and prints all checks; the last line contains the name of the device.
pub(crate) fn run(root: &Path, kind: &str) -> ExitCode {
    match judged(root, kind) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{}", json!({"absent": error}));
            ExitCode::SUCCESS
        }
    }
}

/// Opens a host with only the plugins of the archive.
pub(crate) fn host(root: &Path) -> Result<Host> {
    let options = HostOptions { plugin_paths: vec![root.join("bin/plugins")], ..HostOptions::isolated() };
    Host::new(options).map_err(|error| error.to_string())
}

fn judged(root: &Path, kind: &str) -> Result<()> {
    let host = host(root)?;
    let (usable, unusable) = present(&host)?;
    let Some(backend) = usable.iter().find(|backend| backend.target.kind == kind) else {
        let why = unusable.iter().find(|absent| absent.kind == kind).map(|absent| absent.reason.clone());
        return Err(why.unwrap_or_else(|| "no plugin provides it".to_owned()));
    };
    println!("{}", json!({"device": backend.device_name}));
    let kernels = root.join("examples/kernels");
    for case in CASES {
        let judged = run::judge(&host, backend, case, &kernels);
        line(&format!("kernels/{}", case.name), &judged.map(|(_, share)| json!({"share_of_bound": share})));
    }
    let reading = digits::read(&host, backend, &root.join("examples/digits"));
    let reading = reading.and_then(|reading| {
        let accuracy = reading.accuracy();
        let figures = json!({"accuracy": accuracy, "images": reading.n_images});
        if accuracy >= reading.accuracy_min {
            Ok(figures)
        } else {
            Err(format!("too few are right: {figures}"))
        }
    });
    line("digits", &reading);
    let mut files = scripts(&root.join("tests/filetests/corpus"), "").map_err(|error| error.to_string())?;
    files.extend(scripts(&root.join("host/conformance/kernels"), "").map_err(|error| error.to_string())?);
    for file in files.iter().filter(|file| !file.name.starts_with("lowered/")) {
        let takes_threads = !backend.is_host();
        let (module, kernels) = corpus::kernels(file, |f| takes_threads || corpus::is_for_host(f));
        let whole = run::build(&host, backend, &module);
        for kernel in &kernels {
            let name = format!("{}:{}", file.name, kernel.name);
            let alone = |_: String| run::build(&host, backend, &alone(&module, &kernel.name));
            let built = whole.clone().or_else(alone);
            match built {
                Err(error) => println!("{}", json!({"name": name, "status": "refused", "why": error})),
                Ok(module) => line(&name, &held(backend, &module, kernel)),
            }
        }
    }
    Ok(())
}

/// Returns a module with one function only; a call of another function is refused.
fn alone(module: &IrModule, name: &str) -> IrModule {
    let functions = module.functions.iter().filter(|function| *function.name == *name);
    IrModule { functions: functions.cloned().collect(), attrs: module.attrs.clone() }
}

fn held(backend: &Backend, module: &chipdock_host::Module, kernel: &corpus::Kernel) -> Result<Value> {
    let function = module.function(&kernel.name).map_err(|error| error.to_string())?;
    hold(&kernel.outputs, &outputs(backend, &function, &kernel.args)?).map(|()| json!({}))
}

fn line(name: &str, judged: &Result<Value>) {
    match judged {
        Ok(figures) => println!("{}", json!({"name": name, "status": "agrees", "figures": figures})),
        Err(error) => println!("{}", json!({"name": name, "status": "wrong", "why": error})),
    }
}

//! Writes the seeds of a target into a folder: `chipdock-fuzz-seeds TARGET FOLDER`.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [target, folder] = arguments.as_slice() else {
        eprintln!("usage: chipdock-fuzz-seeds TARGET FOLDER");
        return ExitCode::from(2);
    };
    let Some(target) = chipdock_fuzz::target_named(target) else {
        let names: Vec<&str> = chipdock_fuzz::TARGETS.iter().map(|target| target.name).collect();
        eprintln!("error: no fuzz target is called {target}; there are {}", names.join(", "));
        return ExitCode::from(2);
    };
    let seeds = chipdock_fuzz::seeds::seeds(target.name);
    let write = || {
        std::fs::create_dir_all(folder)?;
        let mut seeds = seeds.iter().enumerate();
        seeds.try_for_each(|(at, seed)| std::fs::write(Path::new(folder).join(format!("seed-{at}")), seed))
    };
    match write() {
        Ok(()) => {
            println!("{}", target.size_bytes_max);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {folder}: {error}");
            ExitCode::FAILURE
        }
    }
}

//! Additions to the kept documents: which are missing, and how a blessed run writes them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::{fs, io, process};

use chipdock_ir::validate::validate;
use chipdock_ir::wire::{self, WriteOptions};
use chipdock_ir::{IrModule, Stage};
use sha2::{Digest as _, Sha256};

use crate::{MINORS, folder, modules, read_documents};

/// Scripts of the corpus that are kept as documents too.
const SCRIPTS: &[&str] = &[
    "construct/blocks.py",
    "construct/casts.py",
    "construct/loops.py",
    "construct/memory.py",
    "construct/sizes.py",
    "construct/vectors.py",
    "lowered/cuda_g_dynshm.py",
    "lowered/cuda_g_matmul.py",
    "lowered/host_softmax.py",
    "kernels/conv2d.py",
    "kernels/layernorm.py",
    "kernels/matmul_scheduled.py",
    "tvm/g_sumred.py",
];

/// A document to be kept: what it holds, and the oldest version that has an equal.
struct Wanted {
    name: String,
    module: IrModule,
    stage: Stage,
    options: WriteOptions<'static>,
    since: &'static str,
}

/// Returns the documents that are kept from now on.
fn wanted() -> io::Result<Vec<Wanted>> {
    let plain = WriteOptions::default();
    let mut wanted: Vec<_> = modules::all()
        .into_iter()
        .map(|kept| Wanted {
            name: format!("{}.json", kept.name),
            module: kept.module,
            stage: kept.stage,
            options: plain,
            since: kept.since,
        })
        .collect();
    let placed = WriteOptions { positions: true, file: Some("kernels/placed.py"), ..plain };
    let of =
        |name: String, module, options, since| Wanted { name, module, stage: Stage::Blocks, options, since };
    wanted.push(of("positions.json".to_owned(), modules::placed(), placed, "1.0.0"));
    for file in chipdock_test_support::corpus()? {
        if SCRIPTS.contains(&&*file.name) {
            let module = chipdock_script::parse(&file.text, &file.name)
                .map_err(|errors| io::Error::other(format!("{}: {errors}", file.name)))?;
            let name = file.name.trim_end_matches(".py").replace('/', "-");
            wanted.push(of(format!("script-{name}.json"), module, plain, "1.0.0"));
        }
    }
    Ok(wanted)
}

/// A document that is not kept yet.
pub struct Missing {
    /// The minor and the file, as `1.0/empty.json`.
    pub name: String,
    path: PathBuf,
    text: String,
}

/// Lists the documents that are not kept yet, at each minor that has an equal of them.
///
/// # Errors
///
/// A script that cannot be read, or a module that is not valid or that a minor cannot write.
pub fn missing() -> io::Result<Vec<Missing>> {
    let mut missing = Vec::new();
    let wanted = wanted()?;
    for (minor, version) in MINORS {
        for Wanted { name, module, stage, options, since } in &wanted {
            let path = folder().join("corpus").join(minor).join(name);
            if since > version || path.exists() {
                continue;
            }
            let name = format!("{minor}/{name}");
            let wrong = |why: String| io::Error::other(format!("{name}: {why}"));
            validate(module, *stage).map_err(|problems| wrong(format!("it is not valid: {problems:?}")))?;
            let text = wire::write_with(module, &WriteOptions { version, ..*options });
            let text = text.map_err(|error| wrong(error.to_string()))?;
            missing.push(Missing { name, path, text });
        }
    }
    Ok(missing)
}

/// Adds what is missing, and the digests of it, once for each process.
///
/// Tests of one run are processes that do this at the same time: a file appears whole, and all of
/// them write the same.
pub(crate) fn add_missing() -> io::Result<()> {
    static ADDED: OnceLock<Result<(), String>> = OnceLock::new();
    let add = || {
        for (minor, _) in MINORS {
            fs::create_dir_all(folder().join("corpus").join(minor))?;
        }
        for Missing { path, text, .. } in missing()? {
            write_whole(&path, &text)?;
        }
        MINORS.iter().try_for_each(|(minor, _)| add_digests(minor))
    };
    let added = ADDED.get_or_init(|| add().map_err(|error: io::Error| error.to_string()));
    added.clone().map_err(io::Error::other)
}

/// Returns the SHA-256 of a document, in hexadecimal digits.
#[must_use]
pub fn digest(text: &str) -> String {
    Sha256::digest(text).iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// Adds a line for each document that has none.
fn add_digests(minor: &str) -> io::Result<()> {
    let path = folder().join("corpus").join(minor).join("SHA256SUMS");
    let kept = fs::read_to_string(&path).unwrap_or_default();
    let mut sums = kept.clone();
    for document in read_documents(minor)? {
        if !sums.lines().any(|line| line.ends_with(&format!("  {}", document.name))) {
            sums += &format!("{}  {}\n", digest(&document.text), document.name);
        }
    }
    if sums == kept { Ok(()) } else { write_whole(&path, &sums) }
}

/// Writes a file of the corpus so that no reader sees a part of it.
fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let part = path.with_extension(format!("{}.part", process::id()));
    fs::write(&part, text)?;
    fs::rename(part, path)
}

//! The kept documents as a list of tests, WIRE-W4 and WIRE-W5: each is read, written at its minor
//! version, and unchanged.

use std::process::ExitCode;

use chipdock_ir::validate::validate;
use chipdock_ir::wire::{self, WriteOptions, imagined};
use chipdock_ir::{ConstantData, IrModule, Stage, equal};
use chipdock_test_support::CorpusFile;
use chipdock_test_support::lists::List;
use chipdock_test_wire::{Document, MINORS, all_documents, modules};

fn main() -> ExitCode {
    let file = |Document { name, path, text }| CorpusFile { name, path, text };
    let documents: Vec<CorpusFile> =
        all_documents().expect("the kept documents").into_iter().map(file).collect();
    let check = "wire_w5_every_kept_document_reads_and_writes_to_the_very_bytes";
    List::new().each(check, &documents, wire_w5_every_kept_document_reads_and_writes_to_the_very_bytes).run()
}

fn wire_w5_every_kept_document_reads_and_writes_to_the_very_bytes(
    document: &CorpusFile,
) -> Result<(), String> {
    let (minor, name) = document.name.split_once('/').ok_or("a document lies in the folder of its minor")?;
    let version = MINORS.iter().find(|(known, _)| *known == minor).ok_or("no such minor")?.1;
    let made = modules::all().into_iter().find(|kept| Some(kept.name) == name.strip_suffix(".json"));
    let sections = made.as_ref().map(|kept| wire::sections(&kept.module)).unwrap_or_default();
    let named = |name: &str| sections.iter().find(|data| **data.digest() == *name).map(ConstantData::bytes);
    let read = wire::read_document_with(&document.text, &named).map_err(|error| error.to_string())?;
    if &*read.version != version {
        return Err(format!("expected version {version}, found {}", read.version));
    }
    let positions = document.text.contains("\n\"positions\":");
    let options = WriteOptions { version, positions, file: read.file.as_deref() };
    let again = wire::write_with(&read.module, &options).map_err(|error| error.to_string())?;
    if again != document.text {
        return Err(format!("other bytes:\n{again}"));
    }
    validate(&read.module, made.map_or(Stage::Blocks, |kept| kept.stage))
        .map_err(|problems| format!("it is not valid: {problems:?}"))?;
    imagined_minors_take_it(&read.module)
}

/// Every minor, as they are imagined, takes the module, but that the older one may refuse by name
/// what it lacks.
fn imagined_minors_take_it(module: &IrModule) -> Result<(), String> {
    for &version in imagined::VERSIONS {
        let text = match imagined::write_at(module, version) {
            Ok(text) => text,
            Err(error)
                if version == imagined::OLDER && error.message.contains(" has no equal in version ") =>
            {
                continue;
            }
            Err(error) => return Err(error.to_string()),
        };
        let again = imagined::read_beside(&text, &wire::sections(module))
            .map_err(|error| format!("at {version}: {error}"))?;
        if imagined::write_at(&again, version).as_ref() != Ok(&text) {
            return Err(format!("at {version} it is written with other bytes the second time"));
        }
        if version != imagined::OLDER {
            equal::modules(&again, module).map_err(|why| format!("through {version} it differs: {why}"))?;
        }
    }
    Ok(())
}

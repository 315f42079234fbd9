//! `chipdock conformance verify` and `compare`: looking at cards.

use std::path::Path;
use std::process::ExitCode;

use chipdock_conformance::card::{Card, Comparison, Verification};

use chipdock_host::files::{LIBRARY_BYTES_MAX, read_regular, read_regular_text};

use super::{paint, value};
use crate::args::{CompareArgs, GlobalArgs, VerifyArgs};
use crate::output;
use crate::report::{Exit, Failure, Result};

/// Greatest size of a card: it has a line or so for each case.
const CARD_BYTES_MAX: u64 = 16 << 20;

/// Checks a card against a library.
pub(super) fn verify(args: &VerifyArgs, global: &GlobalArgs) -> Result<ExitCode> {
    let card = read(&args.card)?;
    super::existing(&args.library)?;
    let library = read_regular(&args.library, LIBRARY_BYTES_MAX).map_err(|error| {
        Failure::input(format!("cannot be read: {}", error.message())).in_file(&args.library)
    })?;
    let found = Verification::new(&card, &library);
    if global.json {
        output::print_json(&value(&found)?)?;
    } else {
        output::print_painted(&found.text(paint(global)))?;
    }
    Ok(if found.holds { ExitCode::SUCCESS } else { ExitCode::from(Exit::Work as u8) })
}

/// Shows two cards side by side.
pub(super) fn compare(args: &CompareArgs, global: &GlobalArgs) -> Result<()> {
    let (left, right) = (read(&args.left)?, read(&args.right)?);
    let found = Comparison::new(&left, &right);
    if global.json {
        return output::print_json(&value(&found)?);
    }
    let names = (args.left.display().to_string(), args.right.display().to_string());
    output::print_painted(&found.text((&names.0, &names.1), paint(global)))
}

fn read(path: &Path) -> Result<Card> {
    super::existing(path)?;
    let text = read_regular_text(path, CARD_BYTES_MAX)
        .map_err(|error| Failure::input(format!("cannot be read: {}", error.message())).in_file(path))?;
    Card::parse(&text).map_err(|what| Failure::input(what).in_file(path))
}

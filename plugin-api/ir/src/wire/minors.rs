//! The minors of the format, and the conversions of documents between them (WIRE-W5).

use super::format::{self, Format};
use super::json::Json;
use super::rewrite::{Document, Out, canonical, rewrite};
use super::{WireError, parse_version};

/// A minor of the format.
pub(super) struct Minor {
    pub(super) version: &'static str,
    /// Structure of a document of the minor.
    pub(super) format: fn() -> &'static Format,
    /// What takes the place of a node of the previous minor in this one; `None` if each is one of
    /// this minor unchanged.
    pub(super) up: Option<Step>,
    /// What takes the place of a node of this minor in the previous one, where that is another
    /// node; `None` for the first minor, and if nothing that is new has an equal. What the previous
    /// minor lacks after it is refused.
    pub(super) down: Option<Step>,
}

/// Replaces a node, whose ids are those of its replaced parts: adds what takes its place, and
/// returns the id of that; `None` leaves the node out, as [`rewrite`] says. An error names what has
/// no equal.
pub(super) type Step = fn(&mut Out, Json) -> Result<Option<usize>, String>;

/// Every minor, oldest first; modules are written from and read to the last.
pub(super) const MINORS: &[Minor] = &[Minor { version: "1.0.0", format: format::v1_0, up: None, down: None }];

/// Returns the position in `minors` of the minor that a version belongs to.
pub(super) fn find(version: &str, minors: &[Minor]) -> Result<Option<usize>, WireError> {
    let (major, minor, _) = parse_version(version)?;
    let is = |one: &Minor| parse_version(one.version).is_ok_and(|found| (found.0, found.1) == (major, minor));
    Ok(minors.iter().position(is))
}

/// Rewrites a document from one minor to another, minor by minor.
pub(super) fn convert(
    mut document: Document,
    from: usize,
    to: usize,
    minors: &[Minor],
) -> Result<Document, WireError> {
    for pair in minors.windows(2).take(to).skip(from) {
        let [older, newer] = pair else { continue };
        if let Some(up) = newer.up {
            document = rewrite(document, (older.format)(), up)?;
        }
    }
    for pair in minors.windows(2).take(from).skip(to).rev() {
        let [older, newer] = pair else { continue };
        document = down(document, newer, older)?;
    }
    Ok(document)
}

/// Rewrites a document to the previous minor: new nodes are replaced by their equals, optional
/// fields of the document that the older minor lacks are left out, and everything else that it
/// lacks is refused by name.
fn down(mut document: Document, newer: &Minor, older: &Minor) -> Result<Document, WireError> {
    let (from, to) = ((newer.format)(), (older.format)());
    let no_equal = |what: &str| {
        format!("{what} has no equal in version {}; a reader of {} takes it", older.version, newer.version)
    };
    let is_dropped = |name: &str| from.is_optional(name) && !to.has_document_field(name);
    document.rest.retain(|(name, _)| !is_dropped(name));
    let document = rewrite(document, from, |out, node| {
        let first = out.nodes.len();
        let id = match newer.down {
            Some(step) => step(out, node).map_err(|what| no_equal(&what))?,
            None => Some(out.add(node)),
        };
        let lacking = out.nodes.iter().skip(first).find_map(|node| to.lacks(node));
        lacking.map_or(Ok(id), |what| Err(no_equal(&what)))
    })?;
    to.check_rest(&document.rest).map_err(|why| WireError::new(no_equal(&why)))?;
    canonical(document, to)
}

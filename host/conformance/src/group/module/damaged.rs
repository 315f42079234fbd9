//! Damaged artifacts: refused or loaded, never a crash, nothing left behind; their functions are
//! never called.

use chipdock_programs::Random;
use chipdock_raw_host::{Environment, RawArtifact};
use serde_json::{Value, json};

use super::leftovers::Watched;
use super::made::{Made, loader};
use super::shown;
use crate::stop::ensure;
use crate::{Cases, Context, Group, Stop, Subject, Verdict};

/// Produces damaged copies of an artifact, each with a description.
type Damage = fn(&RawArtifact) -> Vec<(String, RawArtifact)>;

pub(super) fn add(cases: &mut Cases) {
    let mut case = |name: &str, must: Must, damage: Damage| {
        let body = move |c: &Context<'_>| survives(c, must, damage);
        let id = format!("damaged/{name}");
        cases.case(Group::Module, id, "M.9", Subject::Loader).deadline(60).run(body);
    };
    case("nothing-at-all", Must::Refuse, |_| vec![("everything is gone".into(), RawArtifact::default())]);
    case("no-sections", Must::Refuse, |good| {
        vec![("the sections are gone".into(), RawArtifact { sections: Vec::new(), ..good.clone() })]
    });
    case("section-missing", Must::Either, section_missing);
    case("section-renamed", Must::Either, section_renamed);
    case("section-twice", Must::Either, section_twice);
    case("section-truncated", Must::Either, section_truncated);
    case("section-of-zeros", Must::Either, section_of_zeros);
    case("section-bits-flipped", Must::Either, |good| section_flipped(good, 1, 16));
    case("section-start-flipped", Must::Either, section_start);
    case("index-empty", Must::Refuse, |good| indexes(good, &[b"", b" ", b"\0", b"\xff\xfe"]));
    case("index-not-json", Must::Refuse, |good| indexes(good, &[b"{", b"nonsense", b"[1,", b"{'a': 1}"]));
    case("index-other-json", Must::Refuse, |good| indexes(good, &[b"null", b"[]", b"7", b"{}", b"\"x\""]));
    case("index-truncated", Must::Refuse, index_truncated);
    case("index-bits-flipped", Must::Either, index_flipped);
    case("index-nested-deep", Must::Refuse, index_nested);
    case("index-wrong-types", Must::Either, index_wrong_types);
    case("index-of-another-kind", Must::Refuse, |good| {
        vec![changed(good, "another module_kind", |index| index["module_kind"] = json!("of-the-suite"))]
    });
    case("index-of-another-format", Must::Refuse, |good| {
        vec![changed(good, "another format", |index| index["format"] = json!("of-the-suite"))]
    });
    let body = |c: &Context<'_>| function_that_is_not_there(c);
    cases.case(Group::Module, "damaged/function-that-is-not-there", "M.9", Subject::Loader).run(body);
}

/// Allowed reactions of a loader.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Must {
    /// Loading must fail.
    Refuse,
    /// Loading may succeed, because the damage may be irrelevant.
    Either,
}

/// Returns true for error kinds that blame the input or a missing part; a panic or a silent failure
/// is neither.
fn is_typed(kind: &str) -> bool {
    !["Panic", "BrokenPlugin", ""].contains(&kind)
}

fn survives(c: &Context<'_>, must: Must, damage: Damage) -> Verdict {
    let (made, loader) = (Made::cached(c)?, loader(c)?);
    made.loads(&loader)?;
    let watched = Watched::new(c)?;
    let mut all_refused = true;
    for (what, artifact) in damage(&made.own) {
        match loader.load(&artifact, Environment::Working) {
            Ok(module) => {
                ensure(must == Must::Either, format!("{what}: refused"), "it loads")?;
                all_refused = false;
                // The function may be looked up but is not called: damaged code cannot be run
                // safely.
                if let Err(error) = module.function(made.function.as_bytes()) {
                    let kind = error.kind();
                    ensure(is_typed(kind.as_str()), format!("{what}: a typed error"), kind.as_str())?;
                }
            }
            Err(error) => {
                let fits = is_typed(error.kind().as_str()) && !error.message().is_empty();
                let found = format!("{}: {}", error.kind().as_str(), error.message());
                ensure(fits, format!("{what}: a module, or an error that says what is wrong"), found)?;
                watched.nothing_left(&format!("a load that failed ({what})"), all_refused)?;
            }
        }
    }
    drop(watched);
    made.still(c)
}

/// Copies an artifact with the data of one section replaced.
fn with_section(good: &RawArtifact, at: usize, data: Vec<u8>) -> RawArtifact {
    let mut artifact = good.clone();
    artifact.sections[at].data = data;
    artifact
}

fn name(good: &RawArtifact, at: usize) -> String {
    String::from_utf8_lossy(&good.sections[at].name).into_owned()
}

/// Applies a change to each section in turn.
fn each(
    good: &RawArtifact,
    what: &str,
    damage: impl Fn(&mut RawArtifact, usize),
) -> Vec<(String, RawArtifact)> {
    let one = |at| {
        let mut artifact = good.clone();
        damage(&mut artifact, at);
        (format!("section \"{}\" {what}", name(good, at)), artifact)
    };
    (0..good.sections.len()).map(one).collect()
}

fn section_missing(good: &RawArtifact) -> Vec<(String, RawArtifact)> {
    each(good, "is missing", |artifact, at| drop(artifact.sections.remove(at)))
}

fn section_renamed(good: &RawArtifact) -> Vec<(String, RawArtifact)> {
    let mut all =
        each(good, "has another name", |artifact, at| artifact.sections[at].name = b"other".to_vec());
    all.extend(each(good, "has an empty name", |artifact, at| artifact.sections[at].name.clear()));
    all.extend(each(good, "has a name that is no text", |artifact, at| {
        artifact.sections[at].name = vec![0xff]
    }));
    all.extend(each(good, "has another kind", |artifact, at| artifact.sections[at].kind = b"other".to_vec()));
    all
}

fn section_twice(good: &RawArtifact) -> Vec<(String, RawArtifact)> {
    each(good, "is there twice", |artifact, at| {
        let mut twin = artifact.sections[at].clone();
        twin.data.reverse();
        artifact.sections.push(twin);
    })
}

fn section_truncated(good: &RawArtifact) -> Vec<(String, RawArtifact)> {
    let mut all = Vec::new();
    for at in 0..good.sections.len() {
        let data = &good.sections[at].data;
        let size = data.len();
        for length in [0, 1, size / 2, size.saturating_sub(1)] {
            let what = format!("section \"{}\" cut to {length} of {size} bytes", name(good, at));
            all.push((what, with_section(good, at, data[..length.min(size)].to_vec())));
        }
    }
    all
}

fn section_of_zeros(good: &RawArtifact) -> Vec<(String, RawArtifact)> {
    each(good, "is zeros", |artifact, at| artifact.sections[at].data.fill(0))
}

fn section_flipped(good: &RawArtifact, seed: u64, count: usize) -> Vec<(String, RawArtifact)> {
    let mut random = Random::new(seed);
    let mut all = Vec::new();
    for at in 0..good.sections.len() {
        let size = good.sections[at].data.len();
        for _ in 0..if size == 0 { 0 } else { count } {
            let (byte, bit) = (random.index(size), random.index(8));
            let mut data = good.sections[at].data.clone();
            data[byte] ^= 1 << bit;
            let what = format!("section \"{}\" with bit {bit} of byte {byte} flipped", name(good, at));
            all.push((what, with_section(good, at, data)));
        }
    }
    all
}

/// Damages the start of each section, where formats have their headers: each of the first bytes in
/// turn, with all its bits.
fn section_start(good: &RawArtifact) -> Vec<(String, RawArtifact)> {
    let mut all = Vec::new();
    for at in 0..good.sections.len() {
        for byte in
            [0, 1, 4, 5, 16, 18, 40, 60].into_iter().filter(|byte| *byte < good.sections[at].data.len())
        {
            let mut data = good.sections[at].data.clone();
            data[byte] ^= 0xff;
            all.push((
                format!("section \"{}\" with byte {byte} inverted", name(good, at)),
                with_section(good, at, data),
            ));
        }
    }
    all
}

fn with_index(good: &RawArtifact, index_json: Vec<u8>) -> RawArtifact {
    RawArtifact { index_json, ..good.clone() }
}

fn indexes(good: &RawArtifact, texts: &[&[u8]]) -> Vec<(String, RawArtifact)> {
    let what = |text: &[u8]| format!("the index is {:?}", String::from_utf8_lossy(text));
    texts.iter().map(|text| (what(text), with_index(good, text.to_vec()))).collect()
}

fn index_truncated(good: &RawArtifact) -> Vec<(String, RawArtifact)> {
    let whole = good.index_json.iter().rposition(|byte| *byte == b'}').unwrap_or(0);
    let step = (whole / 40).max(1);
    let cut = |length: usize| {
        (format!("the index cut to {length} bytes"), with_index(good, good.index_json[..length].to_vec()))
    };
    (0..whole).step_by(step).chain([whole.saturating_sub(1)]).map(cut).collect()
}

fn index_flipped(good: &RawArtifact) -> Vec<(String, RawArtifact)> {
    let mut random = Random::new(3);
    let flip = |_| {
        let mut text = good.index_json.clone();
        let (byte, bit) = (random.index(text.len()), random.index(8));
        text[byte] ^= 1 << bit;
        (format!("the index with bit {bit} of byte {byte} flipped"), with_index(good, text))
    };
    (0..40).map(flip).collect()
}

fn index_nested(good: &RawArtifact) -> Vec<(String, RawArtifact)> {
    let list = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let within = format!("{{\"module_kind\": \"x\", \"functions\": {list}}}");
    vec![
        ("an index of 100000 lists".into(), with_index(good, list.into_bytes())),
        ("functions nested 100000 deep".into(), with_index(good, within.into_bytes())),
    ]
}

/// Changes the index as JSON.
fn changed(good: &RawArtifact, what: &str, change: impl FnOnce(&mut Value)) -> (String, RawArtifact) {
    let mut index: Value = serde_json::from_slice(&good.index_json).unwrap_or_default();
    change(&mut index);
    (format!("{what}: {}", shown(&index.to_string())), with_index(good, index.to_string().into_bytes()))
}

fn index_wrong_types(good: &RawArtifact) -> Vec<(String, RawArtifact)> {
    type Edit = (&'static str, fn(&mut Value));
    let edits: [Edit; 8] = [
        ("functions null", |index| index["functions"] = Value::Null),
        ("functions a number", |index| index["functions"] = json!(7)),
        ("functions of numbers", |index| index["functions"] = json!([1, 2])),
        ("functions of nothing", |index| index["functions"] = json!([{}])),
        ("a name that is a number", |index| index["functions"][0]["name"] = json!(7)),
        ("a symbol that is a number", |index| index["functions"][0]["symbol"] = json!(7)),
        ("a symbol with a NUL", |index| index["functions"][0]["symbol"] = json!("a\u{0}b")),
        ("a symbol of 1 MiB", |index| index["functions"][0]["symbol"] = json!("s".repeat(1 << 20))),
    ];
    edits.iter().map(|(what, edit)| changed(good, what, edit)).collect()
}

/// Lists a function in the index that the code lacks: loading or looking it up must fail.
fn function_that_is_not_there(c: &Context<'_>) -> Verdict {
    let (made, loader) = (Made::cached(c)?, loader(c)?);
    let (_, artifact) = changed(&made.own, "", |index| {
        let mut extra = index["functions"][0].clone();
        extra["name"] = json!("function_of_the_suite");
        extra["symbol"] = json!("__tvm_ffi_function_of_the_suite");
        if let Some(functions) = index["functions"].as_array_mut() {
            functions.push(extra);
        }
    });
    let watched = Watched::new(c)?;
    match loader.load(&artifact, Environment::Working) {
        Ok(module) => match module.function(b"function_of_the_suite") {
            Ok(None) => {}
            Ok(Some(_)) => {
                return Err(Stop::failed(
                    "an error or None for a function that the code has not",
                    "a function",
                ));
            }
            Err(error) => ensure(is_typed(error.kind().as_str()), "a typed error", error.kind().as_str())?,
        },
        Err(error) => {
            let found = format!("{}: {}", error.kind().as_str(), error.message());
            ensure(is_typed(error.kind().as_str()), "a typed error", found)?;
            watched.nothing_left("a load that failed", true)?;
        }
    }
    drop(watched);
    made.still(c)
}

//! Invalid target texts passed directly to the table: refused or passed through, never a crash.

use serde_json::{Value, json};

use super::{Tested, shown};
use crate::stop::ensure;
use crate::{Cases, Context, Group, Subject, Verdict};

pub(super) fn add(cases: &mut Cases) {
    let mut case = |name: &str, texts: fn(&Tested) -> Vec<Vec<u8>>| {
        let id = format!("malformed/{name}");
        let body = move |c: &Context<'_>| survives(c, texts);
        cases.case(Group::Target, id, "T.8", Subject::TargetKind).run(body);
    };
    case("empty", |_| vec![vec![], b" ".to_vec(), b"\n\n".to_vec()]);
    case("not-json", |_| texts(&["{", "}", "nonsense", "{'kind': 'x'}", "[1,", "\"", "{\"kind\"}", "//"]));
    case("other-json", |_| texts(&["null", "[]", "7", "true", "\"kind\"", "{}", "{\"kind\": 3}", "[{}]"]));
    case("truncated", truncated);
    case("bits-flipped", bits_flipped);
    case("nested-deep", nested_deep);
    case("long-string", long_string);
    case("many-options", many_options);
    case("not-utf-8", not_utf8);
    case("nul-and-control", nul_and_control);
    case("wrong-types", wrong_types);
    case("odd-numbers", odd_numbers);
    case("field-twice", field_twice);
    case("other-kind", other_kind);
}

/// Checks that each text is refused with `ValueError` or answered with a text, and that the kind
/// works afterwards.
fn survives(c: &Context<'_>, texts: fn(&Tested) -> Vec<Vec<u8>>) -> Verdict {
    let tested = Tested::usable(c)?;
    for text in texts(&tested) {
        let what = shown(&String::from_utf8_lossy(&text)).chars().take(80).collect::<String>();
        let expected = format!("{} bytes {what:?}: ValueError, or passed through", text.len());
        match tested.kind.canonicalize_bytes(&text) {
            Ok(answer) => {
                let found = format!("a value of type {}", answer.type_index());
                ensure(answer.to::<String>().is_ok(), expected, found)?;
            }
            Err(error) => {
                let found = format!("{}: {}", error.kind().as_str(), error.message());
                let is_said = error.kind().as_str() == "ValueError" && !error.message().is_empty();
                ensure(is_said, expected, found)?;
            }
        }
    }
    tested.still_usable()
}

fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

fn truncated(tested: &Tested) -> Vec<Vec<u8>> {
    let whole = tested.applied(&[]).into_bytes();
    let step = (whole.len() / 150).max(1);
    (0..whole.len()).step_by(step).map(|length| whole[..length].to_vec()).collect()
}

fn bits_flipped(tested: &Tested) -> Vec<Vec<u8>> {
    let whole = tested.applied(&[]).into_bytes();
    let mut random = chipdock_programs::Random::new(20);
    (0..200)
        .map(|_| {
            let mut text = whole.clone();
            let at = random.index(text.len());
            text[at] ^= 1 << random.index(8);
            text
        })
        .collect()
}

fn nested_deep(tested: &Tested) -> Vec<Vec<u8>> {
    let depth = 100_000;
    let list = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let object = format!("{}1{}", "{\"host\":".repeat(depth), "}".repeat(depth));
    let within = format!("{{\"kind\":\"{}\",\"x\":{list}}}", tested.kind.name);
    vec![list.into_bytes(), object.into_bytes(), within.into_bytes(), "[".repeat(1 << 20).into_bytes()]
}

fn long_string(tested: &Tested) -> Vec<Vec<u8>> {
    let long = "x".repeat(1 << 20);
    let mut all = vec![json!({ "kind": long }), json!({ "kind": tested.kind.name, "tag": long })];
    let names = tested.schema.options.iter().map(|option| option.name.as_str());
    all.extend(names.map(|name| json!({ "kind": tested.kind.name, "tag": "", "keys": [], name: long })));
    all.iter().map(|json| json.to_string().into_bytes()).collect()
}

fn many_options(tested: &Tested) -> Vec<Vec<u8>> {
    let mut json = json!({ "kind": tested.kind.name, "tag": "", "keys": [] });
    for number in 0..10_000 {
        json[format!("option-{number}")] = json!(number);
    }
    let keys = json!({ "kind": tested.kind.name, "tag": "", "keys": vec!["k"; 10_000] });
    vec![json.to_string().into_bytes(), keys.to_string().into_bytes()]
}

/// Invalid UTF-8: the texts must be refused; a kind that passes texts through must not return them.
fn not_utf8(tested: &Tested) -> Vec<Vec<u8>> {
    let mut within = tested.applied(&[]).into_bytes();
    let at = within.len() / 2;
    within[at] = 0xff;
    vec![vec![0xff], vec![0xc3, 0x28], within]
}

fn nul_and_control(tested: &Tested) -> Vec<Vec<u8>> {
    let kind = &tested.kind.name;
    vec![
        vec![0],
        vec![0; 4096],
        json!({ "kind": kind, "tag": "a\u{0}b", "keys": ["\u{1}"] }).to_string().into_bytes(),
        format!("{{\"kind\": \"{kind}\", \"tag\": \"a\u{0}b\"}}").into_bytes(),
        format!("\u{feff}{{\"kind\": \"{kind}\"}}").into_bytes(),
    ]
}

fn wrong_types(tested: &Tested) -> Vec<Vec<u8>> {
    let values = [json!(null), json!(-1), json!(0.5), json!("x"), json!([1, "x", null]), json!({"a": {}})];
    let own = tested.schema.options.iter().map(|option| option.name.as_str());
    let names: Vec<&str> = own.chain(["kind", "tag", "keys", "host", "device"]).collect();
    let mut all = Vec::new();
    for name in names {
        for value in &values {
            let mut json: Value = serde_json::from_str(&tested.applied(&[])).unwrap_or_default();
            json[name] = value.clone();
            all.push(json.to_string().into_bytes());
        }
    }
    all
}

fn odd_numbers(tested: &Tested) -> Vec<Vec<u8>> {
    let numbers = ["1e400", "-0", "18446744073709551616", "1e-400", "0x10", "01", "NaN", "-", "1.", "1e"];
    let option = tested.schema.options.first().map_or("option", |option| option.name.as_str());
    let text = |number: &&str| format!("{{\"kind\": \"{}\", \"{option}\": {number}}}", tested.kind.name);
    numbers.iter().map(|number| text(number).into_bytes()).collect()
}

fn field_twice(tested: &Tested) -> Vec<Vec<u8>> {
    let kind = &tested.kind.name;
    vec![
        format!("{{\"kind\": \"{kind}\", \"kind\": \"{kind}\"}}").into_bytes(),
        format!("{{\"kind\": \"{kind}\", \"tag\": \"a\", \"tag\": \"b\", \"keys\": [], \"keys\": [1]}}")
            .into_bytes(),
    ]
}

fn other_kind(tested: &Tested) -> Vec<Vec<u8>> {
    let other = format!("{}-of-another", tested.kind.name);
    let json = |kind: &str| json!({ "kind": kind, "tag": "", "keys": [] }).to_string().into_bytes();
    vec![json(&other), json(""), json("\u{0}")]
}

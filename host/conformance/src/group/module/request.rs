//! Invalid build requests: refused as such, never a crash.

use chipdock_abi::CHIPDOCK_DIAGNOSTIC_ERROR;
use chipdock_ir::Stage;
use chipdock_programs::Random;
use chipdock_raw_host::{Request, Step};
use serde_json::Value;

use super::build::Building;
use super::samples::{ALL, ELEMENTWISE};
use super::shown;
use crate::stop::ensure;
use crate::{Cases, Context, Group, Stop, Subject, Verdict};

/// Allowed answers to a request.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// The request cannot be read.
    ValueError,
    /// The request is refused, perhaps as unsupported.
    Refused,
    /// The request may even be built.
    Any,
}

type Texts = fn(&Building) -> Vec<Vec<u8>>;

pub(super) fn add(cases: &mut Cases) {
    let mut case = |name: &str, answer: Answer, requests: fn(&Building) -> Vec<Request>| {
        let body = move |c: &Context<'_>| survives(c, answer, requests);
        cases.case(Group::Module, format_args!("request/{name}"), "C.27", Subject::Codegen).run(body);
    };
    case("ir-empty", Answer::ValueError, |b| with_ir(b, |_| vec![vec![], b" ".to_vec()]));
    case("ir-not-json", Answer::ValueError, |b| {
        with_ir(b, |_| bytes(&["{", "nonsense", "[1,", "\"", "{'a': 1}"]))
    });
    case("ir-other-json", Answer::ValueError, |b| {
        with_ir(b, |_| bytes(&["null", "[]", "7", "{}", "{\"nodes\": []}"]))
    });
    case("ir-truncated", Answer::ValueError, |b| with_ir(b, truncated));
    case("ir-bits-flipped", Answer::Any, |b| with_ir(b, bits_flipped));
    case("ir-not-utf-8", Answer::ValueError, |b| with_ir(b, |b| vec![vec![0xff; 10], replaced(b, 0xff)]));
    case("ir-nul", Answer::ValueError, |b| with_ir(b, |b| vec![vec![0; 100], replaced(b, 0)]));
    case("ir-nested-deep", Answer::ValueError, |b| with_ir(b, nested));
    case("ir-other-version", Answer::Refused, |b| with_ir(b, other_versions));
    case("ir-dangling-ids", Answer::ValueError, |b| with_ir(b, dangling));
    case("ir-wrong-types", Answer::ValueError, |b| with_ir(b, wrong_types));
    case("target-malformed", Answer::ValueError, |b| {
        let texts = bytes(&["", "{", "[]", "7", "{}", "{\"kind\": 3}", "{\"kind\": \"\"}"]);
        texts.into_iter().map(|target_json| Request { target_json, ..b.request.clone() }).collect()
    });
    case("options-malformed", Answer::ValueError, |b| {
        let texts = bytes(&["{", "[1]", "7", "nonsense", "\"x\""]);
        texts.into_iter().map(|options_json| Request { options_json, ..b.request.clone() }).collect()
    });
    let stage = |c: &Context<'_>| other_stage(c);
    cases.case(Group::Module, "request/ir-of-another-stage", "C.27", Subject::Codegen).run(stage);
}

fn bytes(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

fn with_ir(building: &Building, texts: Texts) -> Vec<Request> {
    texts(building).into_iter().map(|ir| Request { ir, ..building.request.clone() }).collect()
}

/// Checks that both functions answer as allowed, and that the valid request is built as before.
fn survives(c: &Context<'_>, answer: Answer, requests: fn(&Building) -> Vec<Request>) -> Verdict {
    let building = Building::new(c, &ELEMENTWISE)?;
    let good = building.built()?;
    for (index, request) in requests(&building).iter().enumerate() {
        for step in [Step::Unsupported, Step::Build] {
            answers(&building, answer, step, request).map_err(|stop| {
                let text = String::from_utf8_lossy(&request.ir);
                stop.note(format!(
                    "request #{index} of this case, IR of {} bytes: {}",
                    text.len(),
                    shown(&text)
                ))
            })?;
        }
    }
    building.still(&good, "after requests that were none")
}

fn answers(building: &Building, answer: Answer, step: Step, request: &Request) -> Verdict {
    let (result, delivered) = building.codegen.run(step, request);
    let reported = delivered.diagnostics.iter().any(|one| one.severity == CHIPDOCK_DIAGNOSTIC_ERROR);
    let (found, fits) = match &result {
        // A module that can be read but not built is a success of `unsupported`, which reports the
        // problems.
        Ok(()) => {
            let listed = step == Step::Unsupported && reported && answer != Answer::ValueError;
            ("success".to_owned(), answer == Answer::Any || listed)
        }
        Err(error) => {
            let kind = error.kind();
            let kind = kind.as_str();
            let known = kind == "ValueError" || kind == "Unsupported" && answer != Answer::ValueError;
            (format!("{kind}: {}", error.message()), known && !error.message().is_empty())
        }
    };
    let expected = match answer {
        Answer::ValueError => "ValueError",
        Answer::Refused => "ValueError or Unsupported",
        Answer::Any => "success, ValueError or Unsupported",
    };
    ensure(fits, format!("{step:?}: {expected}"), found)
}

fn replaced(building: &Building, byte: u8) -> Vec<u8> {
    let mut ir = building.request.ir.clone();
    let middle = ir.len() / 2;
    ir[middle] = byte;
    ir
}

fn truncated(building: &Building) -> Vec<Vec<u8>> {
    let ir = &building.request.ir;
    let whole = ir.iter().rposition(|byte| *byte == b'}').unwrap_or(0);
    let step = (whole / 60).max(1);
    (0..whole).step_by(step).chain([whole.saturating_sub(1)]).map(|length| ir[..length].to_vec()).collect()
}

fn bits_flipped(building: &Building) -> Vec<Vec<u8>> {
    let mut random = Random::new(5);
    let flip = |_| {
        let mut ir = building.request.ir.clone();
        let at = random.index(ir.len());
        ir[at] ^= 1 << random.index(8);
        ir
    };
    (0..120).map(flip).collect()
}

fn nested(_: &Building) -> Vec<Vec<u8>> {
    let depth = 100_000;
    let list = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let within =
        format!("{{\"chipdock_ir\": \"1.0.0\", \"nodes\": {list}, \"functions\": [], \"attrs\": []}}");
    vec![list.into_bytes(), within.into_bytes(), "{\"a\":".repeat(depth).into_bytes()]
}

/// Changes the document as JSON.
fn changed(building: &Building, change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut json: Value = serde_json::from_slice(&building.request.ir).unwrap_or_default();
    change(&mut json);
    json.to_string().into_bytes()
}

fn other_versions(building: &Building) -> Vec<Vec<u8>> {
    let versions = ["0.9.0", "2.0.0", "1.999.0", "99.0.0", "", "one", "1", "1.0.0.0"];
    versions
        .iter()
        .map(|version| changed(building, |json| json["chipdock_ir"] = Value::from(*version)))
        .collect()
}

fn dangling(building: &Building) -> Vec<Vec<u8>> {
    let edits: [fn(&mut Value); 4] = [
        |json| json["nodes"] = Value::Array(Vec::new()),
        |json| drop(json["nodes"].as_array_mut().and_then(Vec::pop)),
        |json| json["nodes"].as_array_mut().into_iter().for_each(|nodes| nodes.reverse()),
        |json| drop(json["nodes"].as_array_mut().map(|nodes| nodes.remove(0))),
    ];
    edits.iter().map(|edit| changed(building, edit)).collect()
}

fn wrong_types(building: &Building) -> Vec<Vec<u8>> {
    let edits: [fn(&mut Value); 6] = [
        |json| json["chipdock_ir"] = Value::from(1),
        |json| json["nodes"] = Value::from("x"),
        |json| json["functions"] = Value::from(1),
        |json| json["nodes"][0] = Value::Null,
        |json| json["functions"][0] = Value::from("x"),
        |json| json["no_such_field"] = Value::from(1),
    ];
    edits.iter().map(|edit| changed(building, edit)).collect()
}

/// Passes a module of another stage than the kind's: it is refused, or built if it happens to be
/// valid there.
fn other_stage(c: &Context<'_>) -> Verdict {
    let building = Building::new(c, &ELEMENTWISE)?;
    let good = building.built()?;
    let stage = c.target()?.capabilities().stage;
    let answer = if stage == Stage::Blocks { Answer::Any } else { Answer::Refused };
    for sample in ALL {
        let ir = chipdock_ir::wire::write(&sample.case()?.module).map_err(Stop::suite)?.into_bytes();
        let request = Request { ir, ..building.request.clone() };
        answers(&building, answer, Step::Build, &request).map_err(|stop| {
            stop.note(format!("{} as it was read, for a kind of stage {stage}", sample.name))
        })?;
    }
    building.still(&good, "after modules of another stage")
}

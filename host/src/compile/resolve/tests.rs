use std::cell::RefCell;

use chipdock_ir::{CAPABILITIES, CapabilitySource, DeclaredKind};
use serde_json::json;

use super::*;
use crate::documents::unknown_schema_fields;

/// Kinds that exist only here, and one device.
struct World {
    kinds: Vec<TargetKind>,
    canonicalizer: fn(&str) -> Result<String, Error>,
    warnings: RefCell<Vec<String>>,
}

fn kind(json: Value) -> TargetKind {
    let declared: DeclaredKind = serde_json::from_value(json).unwrap();
    schema::check_kind(declared.name(), &declared).unwrap();
    (**declared.usable().unwrap()).clone()
}

fn world() -> World {
    let cpu_like = kind(json!({
        "schema": 1, "name": "hosty", "doc": "a host", "device": "cpu", "keys": ["cpu"], "stage": "host",
        "is_host": true, "host_preference": 5,
        "options": [
            {"name": "mcpu", "type": "str", "one_of": ["generic", "native", "znver4"], "doc": ""},
            {"name": "mattr", "type": "list[str]", "doc": ""},
            {"name": "num-cores", "type": "int", "min": 1, "max": 4096, "from_attribute": "cores", "doc": ""},
            {"name": "fast-math", "type": "bool", "doc": ""},
            {"name": "opt-level", "type": "int", "min": 0, "max": 3, "default": 2, "doc": ""},
            {"name": "jit", "type": "str", "one_of": ["orc"], "doc": ""},
            {"name": "sizes", "type": "list[int]", "min": 0, "doc": ""}
        ]
    }));
    let gpu_like = kind(json!({
        "schema": 1, "name": "npu", "doc": "a device", "device": "npu", "keys": ["npu", "gpu"], "stage": "device",
        "thread_axes": ["blockIdx.x", "threadIdx.x"], "capabilities": {"warp_size": "warp"},
        "options": [
            {"name": "warp", "type": "int", "min": 1, "max": 64, "default": 32, "from_attribute": "warp_size", "doc": ""},
            {"name": "arch", "type": "str", "from_attribute": "arch", "doc": ""}
        ]
    }));
    let many = kind(json!({
        "schema": 1, "name": "many", "doc": "several", "device": "cpu", "stage": "host",
        "options": [{"name": "devices", "type": "list[target]", "doc": ""}]
    }));
    World {
        kinds: vec![cpu_like, gpu_like, many],
        canonicalizer: |json| Ok(json.to_owned()),
        warnings: RefCell::default(),
    }
}

impl TargetContext for World {
    fn kind(&self, name: &str) -> Result<Option<Arc<TargetKind>>, Error> {
        Ok(self.kinds.iter().find(|kind| kind.name == name).cloned().map(Arc::new))
    }

    fn kind_names(&self) -> Vec<String> {
        self.kinds.iter().map(|kind| kind.name.clone()).collect()
    }

    fn canonicalize(&self, _kind: &str, target_json: &str) -> Result<String, Error> {
        (self.canonicalizer)(target_json)
    }

    fn device_count(&self, device: &str) -> Result<Option<i32>, Error> {
        Ok((device == "npu").then_some(1))
    }

    fn attribute(&self, _device: &str, device_id: i32, key: &str) -> Result<Option<Value>, Error> {
        assert_eq!(device_id, 0);
        Ok(match key {
            "warp_size" => Some(json!(16)),
            _ => None,
        })
    }

    fn warn(&self, line: &str) {
        self.warnings.borrow_mut().push(line.to_owned());
    }

    fn warn_once(&self, line: &str) {
        if !self.warnings.borrow().iter().any(|known| known == line) {
            self.warn(line);
        }
    }
}

/// Makes a target of a source.
fn make(context: &dyn TargetContext, source: &TargetSource) -> Result<Arc<Target>, Error> {
    from_json(context, &resolved::json_of(source)?, Made { nesting: 0, is_given: source.is_given() })
}

/// TARGET-T13.
#[test]
fn t13_a_value_that_changes_nothing_is_told_once() {
    let told = |world: &World, source: TargetSource| {
        make(world, &source).unwrap();
        world.warnings.take()
    };
    let world = world();
    let json =
        json!({"kind": "npu", "libs": ["z"], "model": "m", "device": "board", "warp": 16, "keys": ["k"]});
    let lines = told(&world, json.clone().into());
    for (line, option) in lines.iter().zip(["device", "model", "libs"]) {
        assert!(line.starts_with(&format!("target \"npu\": option \"{option}\" has no effect")), "{line}");
    }
    assert_eq!(lines.len(), 3, "{lines:?}");
    let made = make(&world, &json.clone().into()).unwrap();
    world.warnings.take();
    assert_eq!(told(&world, (&made).into()), [""; 0], "a host made it");
    assert_eq!(told(&world, json!({"kind": "npu", "libs": [], "model": ""}).into()), [""; 0]);
    for _ in 0..2 {
        make(&world, &json!({"kind": "npu", "libs": ["z"], "host": {"kind": "hosty"}}).into()).unwrap();
    }
    assert_eq!(world.warnings.take().len(), 1, "once");
    let mut honouring = world;
    for kind in &mut honouring.kinds {
        kind.honoured = vec!["libs".to_owned()];
        for option in &mut kind.options {
            option.ignored = true;
        }
    }
    let lines = told(&honouring, json!({"kind": "npu", "libs": ["z"], "warp": 32, "arch": "a"}).into());
    assert!(lines.len() == 1 && lines[0].contains("option \"arch\""), "the default is none: {lines:?}");
}

fn good(source: impl Into<TargetSource>) -> Arc<Target> {
    make(&world(), &source.into()).unwrap()
}

fn refused(source: impl Into<TargetSource>) -> Error {
    let error = make(&world(), &source.into()).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Value, "{error}");
    error
}

#[test]
fn target_t1_a_name_or_json_makes_a_target_with_defaults() {
    let target = good("hosty");
    assert_eq!(target.kind, "hosty");
    assert_eq!(target.keys, ["cpu"]);
    assert_eq!(target.int("opt-level"), Some(2));
    assert_eq!(good(" {\"kind\": \"hosty\"} "), target);
    assert_eq!(good(json!({"kind": "hosty", "tag": "free form"})).tag, "free form");
}

/// Inputs that are refused, with what the error says.
fn invalid() -> Vec<(Value, &'static str)> {
    vec![
        (json!("nosuch"), "target kind \"nosuch\" is not known; known kinds: \"hosty\", \"npu\", \"many\""),
        (json!("hosti"), "did you mean \"hosty\"?"),
        (json!("[1]"), "target kind \"[1]\" is not known"),
        (json!("hosty -mcpu=x"), "write JSON, for instance {\"kind\": \"hosty\""),
        (json!({}), "field \"kind\" is missing"),
        (json!({"kind": 3}), "field \"kind\": expected a string, found int 3"),
        (json!("{\"kind\": "), "not a JSON object: EOF"),
        (json!(3), "expected the name of a kind or a JSON object, found int 3"),
        (json!({"tag": "no/such"}), "target tag str \"no/such\" without a \"kind\""),
        (json!({"kind": "hosty", "tag": 3}), "option \"tag\": expected str, found int 3"),
        (json!({"kind": "hosty", "mcpuu": "x"}), "unknown option \"mcpuu\"; did you mean \"mcpu\"?"),
        (json!({"kind": "hosty", "tag": "t", "nosuch": 1}), "unknown option \"nosuch\""),
        (json!({"kind": "hosty", "feature.": true}), "unknown option \"feature.\""),
        (
            json!({"kind": "hosty", "num-cores": "four"}),
            "option \"num-cores\": expected int, found str \"four\"",
        ),
        (json!({"kind": "hosty", "num-cores": 1.5}), "expected int, found float 1.5"),
        (json!({"kind": "hosty", "num-cores": -1}), "expected an integer from 1 to 4096, found -1"),
        (json!({"kind": "hosty", "num-cores": false}), "expected an integer from 1 to 4096, found 0"),
        (
            json!({"kind": "hosty", "num-cores": u64::MAX}),
            "expected an integer from 1 to 4096, found 18446744073709551615",
        ),
        (
            json!({"kind": "hosty", "opt-level": 7}),
            "option \"opt-level\": expected an integer from 0 to 3, found 7",
        ),
        (json!({"kind": "hosty", "jit": "xyz"}), "option \"jit\": expected one of \"orc\", found \"xyz\""),
        (json!({"kind": "hosty", "mcpu": "znver5"}), "found \"znver5\"; did you mean \"znver4\"?"),
        (json!({"kind": "hosty", "mcpu": 3}), "option \"mcpu\": expected str, found int 3"),
        (
            json!({"kind": "hosty", "mattr": "+avx2"}),
            "option \"mattr\": expected list[str], found str \"+avx2\"",
        ),
        (
            json!({"kind": "hosty", "mattr": ["+avx2", 3]}),
            "option \"mattr\": expected list[str], found list [\"+avx2\",3]",
        ),
        (json!({"kind": "hosty", "keys": "cpu"}), "option \"keys\": expected list[str]"),
        (
            json!({"kind": "hosty", "fast-math": "true"}),
            "option \"fast-math\": expected bool, found str \"true\"",
        ),
        (json!({"kind": "hosty", "fast-math": 2}), "option \"fast-math\": expected bool, found int 2"),
        (
            json!({"kind": "hosty", "sizes": [1, -1]}),
            "option \"sizes\": expected an integer of at least 0, found -1",
        ),
        (
            json!({"kind": "hosty", "target_device_type": 0}),
            "option \"target_device_type\": expected an integer from 1",
        ),
        (json!({"kind": "npu", "from_device": "0"}), "option \"from_device\": expected int, found str \"0\""),
        (
            json!({"kind": "npu", "host": "nosuch"}),
            "target kind \"nosuch\" is not known [host of target \"npu\"]",
        ),
        (
            json!({"kind": "npu", "host": 3}),
            "expected the name of a kind or a JSON object, found int 3 [host of",
        ),
        (json!({"kind": "npu", "host": "npu"}), "\"npu\" has no host functions and cannot be a host"),
        (
            json!({"kind": "many", "devices": ["nosuch"]}),
            "\"nosuch\" is not known [option \"devices\" of target \"many\"]",
        ),
        (json!({"kind": "many", "devices": [3]}), "found int 3 [option \"devices\""),
    ]
}

#[test]
fn every_invalid_input_names_option_value_and_what_is_allowed() {
    for (input, says) in invalid() {
        let error = refused(input.clone());
        assert!(error.to_string().contains(says), "{input}: {error}\nshould say {says}");
    }
    assert!(refused("").to_string().contains("target kind \"\" is not known"));
    let deep = (0..20).fold(json!("hosty"), |host, _| json!({"kind": "hosty", "host": host}));
    assert!(refused(deep).to_string().contains("nested more than"));
}

#[test]
fn target_t4_booleans_and_integers_are_taken_for_each_other() {
    let target = good(json!({"kind": "hosty", "fast-math": 1, "num-cores": true}));
    assert_eq!(target.options["fast-math"], json!(true));
    assert_eq!(target.options["num-cores"], json!(1));
    assert_eq!(good(json!({"kind": "hosty", "host": null, "mcpu": null})).host, None);
}

#[test]
fn target_t2_a_host_is_a_target_of_its_own() {
    let target = good(json!({"kind": "npu", "host": {"kind": "hosty", "opt-level": 3}}));
    assert_eq!(target.host.as_ref().unwrap().int("opt-level"), Some(3));
    assert_eq!(good(json!({"kind": "npu", "host": "hosty"})).host.as_deref(), Some(&*good("hosty")));
}

#[test]
fn target_t3_features_pass_and_the_canonicalizer_may_write_them_anew() {
    let mut world = world();
    world.canonicalizer = |json| {
        let mut target: Value = serde_json::from_str(json).unwrap();
        assert!(target.get("feature.kept").is_none(), "features are set aside");
        target["feature.own"] = json!(true);
        target["mcpu"] = json!("native");
        Ok(target.to_string())
    };
    let source = json!({"kind": "hosty", "feature.kept": 1, "feature.own": false});
    let target = make(&world, &source.into()).unwrap();
    assert_eq!(target.options["feature.kept"], json!(1));
    assert_eq!(target.bool("feature.own"), Some(true));
    assert_eq!(target.str("mcpu"), Some("native"));
    assert_eq!(make(&world, &target.to_json().into()).unwrap(), target);
}

#[test]
fn target_t3_a_feature_that_the_wire_cannot_carry_is_refused_where_it_is_read() {
    for text in [
        r#"{"kind": "hosty", "feature.x": 1.5}"#,
        r#"{"kind": "hosty", "feature.x": {"y": [1, 1e30]}}"#,
        r#"{"kind": "hosty", "feature.x": 9223372036854775808}"#,
        r#"{"kind": "many", "devices": [{"kind": "hosty", "feature.x": 0.5}]}"#,
        r#"{"kind": "npu", "host": {"kind": "hosty", "feature.x": 0.5}}"#,
    ] {
        let error = refused(text);
        let says = "option \"feature.x\": expected an integer of 64 bits, signed, found";
        assert!(error.to_string().contains(says), "{error}");
    }
    assert_eq!(good(r#"{"kind": "hosty", "feature.x": "1.5"}"#).str("feature.x"), Some("1.5"));
    let error = refused(r#"{"kind": "hosty", "opt-level": 1e400}"#);
    assert!(error.to_string().contains("number out of range at line 1 column"), "{error}");
}

#[test]
fn target_t7_a_key_that_stands_twice_is_refused_at_every_level() {
    for text in [
        r#"{"kind": "hosty", "kind": "npu"}"#,
        r#"{"kind": "hosty", "opt-level": 3, "opt-level": 3}"#,
        r#"{"kind": "npu", "host": {"kind": "hosty", "opt-level": 0, "opt-level": 3}}"#,
        r#"{"kind": "many", "devices": [{"kind": "npu", "warp": 8, "warp": 16}]}"#,
        r#"{"kind": "hosty", "feature.x": {"y": 1, "y": 2}}"#,
    ] {
        let error = refused(text);
        assert!(error.to_string().contains("stands twice in one object"), "{error}");
        assert!(error.to_string().contains("at line 1 column"), "{error}");
    }
    let inner = Value::from(r#"{"kind": "hosty", "mcpu": "generic", "mcpu": "znver4"}"#);
    assert!(refused(json!({"kind": "npu", "host": inner})).to_string().contains("stands twice"));
}

#[test]
fn target_t5_keys_are_given_or_default_with_the_device() {
    let keys = |json: Value| good(json).keys.clone();
    assert_eq!(keys(json!({"kind": "npu", "device": "weird"})), ["weird", "npu", "gpu"]);
    assert_eq!(keys(json!({"kind": "npu", "device": "weird", "keys": ["a"]})), ["a", "weird"]);
    assert_eq!(keys(json!({"kind": "npu", "keys": ["a", "b", "a"]})), ["a", "b"]);
    assert!(keys(json!({"kind": "npu", "keys": []})).is_empty());
}

#[test]
fn target_t6_a_canonicalizer_that_breaks_the_schema_is_a_broken_plugin() {
    for (answer, says) in [
        ("[", "no JSON"),
        ("{}", "no target"),
        ("{\"kind\": \"npu\"}", "another kind"),
        ("{\"kind\": \"hosty\", \"nosuch\": 1}", "an unknown option \"nosuch\""),
        ("{\"kind\": \"hosty\", \"opt-level\": 9}", "from 0 to 3, found 9"),
        ("{\"kind\": \"hosty\", \"opt-level\": 1, \"opt-level\": 2}", "\"opt-level\" stands twice"),
        ("{\"kind\": \"hosty\", \"feature.x\": 0.5}", "found float 0.5"),
    ] {
        let error = canonicalized(
            &Answering(world(), answer),
            &world().kinds[0],
            (*good("hosty")).clone(),
            &mut |value| Ok(value.clone()),
        )
        .unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::BrokenPlugin);
        assert!(error.to_string().contains(says), "{error} should say {says}");
    }
}

struct Answering(World, &'static str);

impl TargetContext for Answering {
    fn kind(&self, name: &str) -> Result<Option<Arc<TargetKind>>, Error> {
        self.0.kind(name)
    }
    fn kind_names(&self) -> Vec<String> {
        self.0.kind_names()
    }
    fn canonicalize(&self, _kind: &str, _target_json: &str) -> Result<String, Error> {
        Ok(self.1.to_owned())
    }
    fn device_count(&self, device: &str) -> Result<Option<i32>, Error> {
        self.0.device_count(device)
    }
    fn attribute(&self, device: &str, device_id: i32, key: &str) -> Result<Option<Value>, Error> {
        self.0.attribute(device, device_id, key)
    }
    fn warn(&self, line: &str) {
        self.0.warn(line);
    }
    fn warn_once(&self, line: &str) {
        self.0.warn_once(line);
    }
}

#[test]
fn from_device_fills_in_what_nobody_set() {
    assert_eq!(good(json!({"kind": "npu", "from_device": 0})).int("warp"), Some(16));
    assert_eq!(good(json!({"kind": "npu", "from_device": 0, "warp": 8})).int("warp"), Some(8));
    assert_eq!(good(json!({"kind": "npu", "from_device": -1})).int("warp"), Some(32));
    let error = make(&world(), &json!({"kind": "npu", "from_device": 1}).into()).unwrap_err();
    assert_eq!(error.subject(), Some(crate::error::Subject::Device));
    assert!(
        error
            .to_string()
            .contains("there is no device npu:1 [target \"npu\"]; \"npu\" has one device, npu:0"),
        "{error}"
    );
    let world = world();
    let target = make(&world, &json!({"kind": "hosty", "from_device": 0}).into()).unwrap();
    assert_eq!(target.int("num-cores"), None, "no device API: defaults");
    assert!(world.warnings.borrow()[0].contains("no plugin provides device_api.cpu"));
}

#[test]
fn a_target_reads_back_equal_as_text_json_and_target() {
    for source in [
        json!("hosty"),
        json!({"kind": "npu", "host": "hosty", "device": "weird", "arch": "gfx90a:xnack+", "tag": "x"}),
        json!({"kind": "hosty", "mattr": ["+a", "-b"], "sizes": [1, 2], "feature.x": {"y": 1}, "libs": ["z"]}),
        json!({"kind": "many", "devices": ["hosty", {"kind": "npu", "warp": 8}]}),
        json!({"kind": "npu", "from_device": 0}),
    ] {
        let target = good(source);
        assert_eq!(good(target.to_json().to_string()), target);
        assert_eq!(good(target.to_json()), target);
        assert_eq!(good(&target), target);
    }
}

/// Each row of the table is checked by the host and read from its option, whichever rows there are.
#[test]
fn target_t5_of_the_contract_each_capability_is_checked_and_read() {
    for row in CAPABILITIES {
        let CapabilitySource::Option { option_type, usual_name, .. } = row.source else { continue };
        let value = match option_type {
            OptionType::Bool => json!(true),
            OptionType::IntList => json!([32, 7, 5]),
            OptionType::StrList => json!(["one", "two"]),
            OptionType::Str => json!("high"),
            _ => json!(32),
        };
        let schema = |option_type: &str| {
            json!({
                "schema": 1, "name": "x", "doc": "", "device": "cpu", "stage": "host",
                "capabilities": {row.name: usual_name},
                "options": [{"name": usual_name, "type": option_type, "doc": ""}],
            })
        };
        let right = schema(&option_type.to_string());
        assert_eq!(unknown_schema_fields(&right.to_string()).unwrap(), [""; 0], "{}", row.name);
        let kind: DeclaredKind = serde_json::from_value(right).unwrap();
        schema::check_kind("x", &kind).unwrap();
        let other = if option_type == OptionType::Str { "int" } else { "str" };
        let wrong: DeclaredKind = serde_json::from_value(schema(other)).unwrap();
        let error = schema::check_kind("x", &wrong).unwrap_err();
        assert!(error.contains(&format!("capability \"{}\"", row.name)), "{error}");
        assert!(error.contains(&format!("of type {option_type}, found one of type {other}")), "{error}");
        let options = [(usual_name.to_owned(), value.clone())].into();
        let target = Arc::new(Target { kind: "x".into(), options, ..Target::default() });
        let read = |target| kind.usable().unwrap().capabilities(target, 1).of_options()[row.name].clone();
        assert_eq!(read(&target), value, "{}", row.name);
        assert_ne!(read(&Arc::new(Target::default())), value, "{}: not set", row.name);
    }
}

type Edit = fn(&mut Value);

/// Checks that each edit of a good schema is refused with a text.
fn bad_schemas(cases: &[(Edit, &str)]) {
    for (edit, says) in cases {
        let mut json =
            json!({"schema": 1, "name": "x", "doc": "", "device": "cpu", "stage": "host", "options": []});
        edit(&mut json);
        let kind: DeclaredKind = serde_json::from_value(json).unwrap();
        let why = schema::check_kind("x", &kind).unwrap_err();
        assert!(why.contains(says), "{why} should say {says}");
    }
}

#[test]
fn a_bad_schema_of_ops_is_told() {
    bad_schemas(&[
        (
            |kind| kind["optional_ops"] = json!({"clz": "bits"}),
            "op \"clz\" is read from option \"bits\": expected an option of type bool, found no option of that name",
        ),
        (
            |kind| {
                kind["options"] = json!([{"name": "bits", "type": "bool", "doc": ""}]);
                kind["native_ops"] = json!(["clz"]);
                kind["optional_ops"] = json!({"clz": "bits"});
            },
            "op \"clz\" is in native_ops and in optional_ops",
        ),
        (|kind| kind["honoured"] = json!(["keys"]), "honoured: expected some of"),
        (
            |kind| kind["options"] = json!([{"name": "chipdock.power", "type": "bool", "doc": ""}]),
            "option \"chipdock.power\" has a name that every target has",
        ),
    ]);
}

#[test]
fn a_bad_schema_is_told() {
    bad_schemas(&[
        (
            |kind| kind["optional_types"] = json!({"int64": "wide"}),
            "type \"int64\" is read from option \"wide\": expected an option of type bool, found no option of that name",
        ),
        (
            |kind| {
                kind["options"] = json!([{"name": "wide", "type": "int", "doc": ""}]);
                kind["optional_types"] = json!({"int64": "wide"});
            },
            "expected an option of type bool, found one of type int",
        ),
        (
            |kind| {
                kind["options"] = json!([{"name": "wide", "type": "bool", "doc": ""}]);
                kind["missing_types"] = json!(["int64"]);
                kind["optional_types"] = json!({"int64": "wide"});
            },
            "type \"int64\" is in missing_types and in optional_types",
        ),
        (
            |kind| {
                kind["options"] = json!([{"name": "wide", "type": "bool", "doc": ""}]);
                kind["optional_types"] = json!({"int64x2": "wide"});
            },
            "expected types of scalars, found \"int64x2\"",
        ),
        (|kind| kind["schema"] = json!(0), "schema version 0"),
        (|kind| kind["name"] = json!("y"), "its schema is named \"y\""),
        (
            |kind| kind["capabilities"] = json!({"warp_size": "w"}),
            "capability \"warp_size\" is read from option \"w\": expected an option of type int, found no option",
        ),
        (
            |kind| {
                kind["options"] = json!([{"name": "w", "type": "int", "doc": ""}]);
                kind["capabilities"] = json!({"runs_threads_serially": "w"});
            },
            "expected an option of type bool, found one of type int",
        ),
        (|kind| kind["options"] = json!([{"name": "host", "type": "str", "doc": ""}]), "every target has"),
        (
            |kind| kind["options"] = json!([{"name": "a", "type": "int", "max": 3, "default": 4, "doc": ""}]),
            "at most 3, found 4",
        ),
        (
            |kind| {
                kind["options"] =
                    json!([{"name": "a", "type": "int", "doc": ""}, {"name": "a", "type": "int", "doc": ""}])
            },
            "declared twice",
        ),
    ]);
}

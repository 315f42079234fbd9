//! S.2, S.11: valid declarations, the JSON of declarations, and settings with a host that has no
//! `config` 1.

use super::*;

const CC: Setting<String> = Setting::str("cc", "The \"C\" compiler \\ its words.").variables(&["CC", "B_2"]);
const LEVEL: Setting<i64> = Setting::int("level", "How much.").or(-120);
const RATIO: Setting<f64> = Setting::float("ratio", "Of two.").or("0.5");
const FAST: Setting<bool> = Setting::bool("fast", "Whether.").or(false);
const FOLDER: Setting<PathBuf> = Setting::path("folder", "Where.").or("/a \"b\"");
const ALL: &[Declaration] =
    &[CC.declaration(), LEVEL.declaration(), RATIO.declaration(), FAST.declaration(), FOLDER.declaration()];

#[test]
fn s2_declarations_are_written_as_json() {
    const SIZE: usize = info_size(ALL);
    const JSON: [u8; SIZE] = info_json(ALL);
    let expected = concat!(
        r#"{"settings":[{"name":"cc","type":"str","doc":"The \"C\" compiler \\ its words.","variables":["CC","B_2"]},"#,
        r#"{"name":"level","type":"int","default":-120,"doc":"How much."},"#,
        r#"{"name":"ratio","type":"float","default":0.5,"doc":"Of two."},"#,
        r#"{"name":"fast","type":"bool","default":false,"doc":"Whether."},"#,
        r#"{"name":"folder","type":"path","default":"/a \"b\"","doc":"Where."}]}"#
    );
    assert_eq!(std::str::from_utf8(&JSON), Ok(expected));
    assert_eq!(info_size(&[]), 0);
    for (value, text) in
        [(0, "0"), (7, "7"), (i64::MAX, "9223372036854775807"), (i64::MIN, "-9223372036854775808")]
    {
        let json = info_json::<200>(&[LEVEL.or(value).declaration()]);
        let json = String::from_utf8_lossy(&json).into_owned();
        assert!(json.contains(&format!("\"default\":{text},")), "{json}");
    }
}

#[test]
fn s2_a_malformed_declaration_is_refused() {
    assert!(are_declarations(ALL) && are_declarations(&[]));
    let long: &'static str = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklm";
    for name in ["", "A", "1a", "-a", "a_b", "a.b", "a b", long] {
        assert!(!are_declarations(&[Setting::bool(name, "Doc.").declaration()]), "{name}");
    }
    assert!(are_declarations(&[Setting::bool(&long[..64], "Doc.").declaration()]));
    for doc in ["", "a\nb"] {
        assert!(!are_declarations(&[Setting::bool("a", doc).declaration()]), "{doc}");
    }
    for variables in [&["1A"][..], &["A", ""], &["A=B"], &["A-B"]] {
        assert!(!are_declarations(&[FAST.variables(variables).declaration()]), "{variables:?}");
    }
    for number in ["", "-", ".5", "5.", "1e3", "0.1.2", "007", "NaN"] {
        assert!(!are_declarations(&[RATIO.or(number).declaration()]), "{number}");
    }
    for number in ["0", "-0.25", "10", "0.5"] {
        assert!(are_declarations(&[RATIO.or(number).declaration()]), "{number}");
    }
    assert!(!are_declarations(&[FAST.declaration(), LEVEL.declaration(), FAST.declaration()]), "twice");
    assert!(!are_declarations(&[FOLDER.or("a\tb").declaration()]));
}

#[test]
fn values_are_read_as_they_are_written() {
    use SettingType::{Bool, Float, Int, Path, Str};
    let text = |text: &str| Some(SettingValue::Text(text.to_owned()));
    for (value_type, written, value) in [
        (Bool, "true", Some(SettingValue::Bool(true))),
        (Bool, "1", Some(SettingValue::Bool(true))),
        (Bool, "0", Some(SettingValue::Bool(false))),
        (Bool, "yes", None),
        (Bool, "", None),
        (Int, "-12", Some(SettingValue::Int(-12))),
        (Int, "9223372036854775808", None),
        (Int, "1.5", None),
        (Float, "1.5", Some(SettingValue::Float(1.5))),
        (Float, "2", Some(SettingValue::Float(2.0))),
        (Float, "inf", None),
        (Float, "NaN", None),
        (Str, "", text("")),
        (Path, "/a b", text("/a b")),
    ] {
        assert_eq!(value_type.parse(written), value, "{value_type:?} {written}");
        assert_eq!(SettingType::from_name(value_type.name()), Some(value_type));
    }
    assert_eq!(SettingType::from_name("list"), None);
}

/// The variables are those of the process: the test runner gives each test its own process, and
/// each test uses its own names.
fn with_variable<R>(name: &str, value: &str, body: impl FnOnce() -> R) -> R {
    // SAFETY: no other thread of this test's process reads or writes this variable.
    unsafe { std::env::set_var(name, value) };
    let result = body();
    // SAFETY: no other thread of this test's process reads or writes this variable.
    unsafe { std::env::remove_var(name) };
    result
}

#[test]
fn s11_without_a_host_that_has_settings_the_own_variable_counts_then_the_default() {
    const OWN: Setting<i64> =
        Setting::int("level", "How much.").or(3).variables(&["SETTING_TEST_A", "SETTING_TEST_B"]);
    let host = HostRef::standalone();
    assert_eq!(host.setting(&OWN).unwrap(), Some(3));
    assert_eq!(host.setting(&Setting::str("a", "Doc.")).unwrap(), None);
    assert_eq!(host.setting(&FOLDER).unwrap(), Some(PathBuf::from("/a \"b\"")));
    assert_eq!((host.setting(&FAST).unwrap(), host.setting(&RATIO).unwrap()), (Some(false), Some(0.5)));
    with_variable("SETTING_TEST_B", "7", || {
        assert_eq!(host.setting(&OWN).unwrap(), Some(7));
        with_variable("SETTING_TEST_A", "6", || assert_eq!(host.setting(&OWN).unwrap(), Some(6)));
        with_variable("SETTING_TEST_A", "", || {
            assert_eq!(host.setting(&OWN).unwrap(), Some(7), "as not set")
        });
        with_variable("SETTING_TEST_A", "six", || {
            let error = host.setting(&OWN).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::VALUE_ERROR);
            let message = error.message().into_owned();
            assert!(
                message.contains("found \"six\" in the environment variable SETTING_TEST_A"),
                "{message}"
            );
        });
    });
    const TEXT: Setting<String> = Setting::str("text", "Doc.").or("x").variables(&["SETTING_TEST_C"]);
    with_variable("SETTING_TEST_C", "", || assert_eq!(host.setting(&TEXT).unwrap().as_deref(), Some("")));
}

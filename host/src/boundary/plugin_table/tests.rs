//! H.7, H.8, and S.4 to S.8 through the boundary.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use chipdock_plugin_api::{ErrorKind as ApiKind, HostRef, LogLevel as ApiLevel, Setting};

use super::*;
use crate::open::settings::parse_info;
use crate::{Environment, Host, HostOptions};

const LANES: Setting<i64> = Setting::int("lanes", "How many.").or(8).variables(&["TOY_LANES"]);
const FAST: Setting<bool> = Setting::bool("fast", "Whether.");
const RATIO: Setting<f64> = Setting::float("ratio", "Of two.").or("0.5");
const TOOL: Setting<PathBuf> = Setting::path("tool", "Where it is, whatever its name.").or("/usr/bin/tool");
const WORDS: Setting<String> = Setting::str("words", "Which.").or("ab");

fn declared() -> Vec<DeclaredSetting> {
    use chipdock_plugin_api::setting::{Declaration, info_json, info_size};
    const ALL: &[Declaration] = &[
        LANES.declaration(),
        FAST.declaration(),
        RATIO.declaration(),
        TOOL.declaration(),
        WORDS.declaration(),
    ];
    const JSON: [u8; info_size(ALL)] = info_json(ALL);
    parse_info(std::str::from_utf8(&JSON).unwrap()).unwrap()
}

/// A host with these variables, and what a plugin of it is given.
fn plugin_of(host: &Host, name: &str) -> HostRef {
    let table = PluginTable::leaked(host.0.services, name, declared(), Vec::new()).table();
    // SAFETY: a host's table, which is leaked.
    unsafe { HostRef::new(table) }
}

fn host(variables: &[(&str, &str)]) -> Host {
    let environment = Environment { variables: variables.iter().copied().collect(), ..Environment::empty() };
    Host::new(HostOptions { environment, ..HostOptions::default() }).unwrap()
}

#[test]
fn s5_a_plugin_is_answered_values_of_its_types() {
    let variables = [("CHIPDOCK_TOY_FAST", "1"), ("TOY_LANES", "-3"), ("CHIPDOCK_TOY_WORDS", "")];
    let host = host(&variables);
    let toy = plugin_of(&host, "toy");
    assert_eq!(toy.setting(&LANES).unwrap(), Some(-3));
    assert_eq!(toy.setting(&FAST).unwrap(), Some(true));
    assert_eq!(toy.setting(&RATIO).unwrap(), Some(0.5));
    assert_eq!(toy.setting(&TOOL).unwrap(), Some(PathBuf::from("/usr/bin/tool")));
    assert_eq!(toy.setting(&WORDS).unwrap().as_deref(), Some(""));
    let other = plugin_of(&host, "other");
    assert_eq!(other.setting(&FAST).unwrap(), None, "another plugin's variable");
    assert_eq!(other.setting(&WORDS).unwrap().as_deref(), Some("ab"));
}

#[test]
fn s4_two_hosts_at_once_have_each_their_own() {
    let (one, two) = (host(&[("TOY_LANES", "1")]), host(&[("TOY_LANES", "2")]));
    let (in_one, in_two) = (plugin_of(&one, "toy"), plugin_of(&two, "toy"));
    for _ in 0..3 {
        assert_eq!(in_one.setting(&LANES).unwrap(), Some(1));
        assert_eq!(in_two.setting(&LANES).unwrap(), Some(2));
    }
}

#[test]
fn s6_an_undeclared_setting_is_a_key_error_with_the_nearest_name() {
    let host = host(&[]);
    let toy = plugin_of(&host, "toy");
    let error = toy.setting(&Setting::int("lane", "One.")).unwrap_err();
    assert_eq!(error.kind(), ApiKind::KEY_ERROR);
    let expected = "plugin \"toy\" declares no setting \"lane\"; did you mean \"lanes\"?";
    assert_eq!(error.message(), expected);
    assert_eq!(toy.setting(&LANES).unwrap(), Some(8), "the next that is right succeeds");
}

#[test]
fn s7_a_wrong_value_is_a_value_error_of_that_setting() {
    let host = host(&[("TOY_LANES", "many"), ("CHIPDOCK_TOY_FAST", "true")]);
    let toy = plugin_of(&host, "toy");
    let error = toy.setting(&LANES).unwrap_err();
    assert_eq!(error.kind(), ApiKind::VALUE_ERROR);
    assert!(error.message().contains("found \"many\" [environment variable TOY_LANES]"), "{error}");
    assert_eq!(toy.setting(&FAST).unwrap(), Some(true));
    assert_eq!(plugin_of(&host, "other").setting(&FAST).unwrap(), None);
}

#[test]
fn s8_a_variable_that_changes_changes_nothing_for_a_host_that_lives() {
    // SAFETY: no other thread of this test's process reads or writes this variable.
    unsafe { std::env::set_var("CHIPDOCK_TOY8_LANES", "1") };
    let host = Host::new(HostOptions::isolated()).unwrap();
    // SAFETY: no other thread of this test's process reads or writes this variable.
    unsafe { std::env::set_var("CHIPDOCK_TOY8_LANES", "2") };
    assert_eq!(plugin_of(&host, "toy8").setting(&LANES).unwrap(), Some(1));
}

#[test]
fn h5_a_name_that_is_not_had_is_no_error_and_has_no_table() {
    let host = host(&[]);
    let table = plugin_of(&host, "toy").table();
    for (name, version, is_there) in [
        ("config", 1, true),
        ("config", 2, false),
        ("memory", 1, true),
        ("needs", 1, true),
        ("cache", 1, false),
        ("", 1, false),
    ] {
        let mut found = ChipdockInterface { table: ptr::dangling(), ..ChipdockInterface::NONE };
        // SAFETY: the table's own `self_`, a text that lives for the call, a place to write to.
        let status = unsafe { (table.query)(table.self_, api::text::str_out(name), version, &mut found) };
        assert_eq!((status, !found.table.is_null()), (CHIPDOCK_OK, is_there), "{name} {version}");
    }
    assert_eq!(crate::open::manifest::HOST_INTERFACES, ["config/1", "memory/1", "needs/1"]);
}

/// H.7 and H.8.
#[test]
fn h7_a_pointer_says_which_plugin_of_which_host() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&lines);
    let log = Arc::new(move |_, line: &str| seen.lock().unwrap().push(line.to_owned()));
    let host = Host::new(HostOptions { log, ..HostOptions::isolated() }).unwrap();
    let (toy, other) = (plugin_of(&host, "toy"), plugin_of(&host, "other"));
    assert_ne!(toy, other);
    toy.log(ApiLevel::Info, "a line");
    other.log(ApiLevel::Error, "another");
    assert_eq!(*lines.lock().unwrap(), ["toy: a line", "other: another"], "H.8");
    toy.raise(&api::Error::new(ApiKind::VALUE_ERROR, "raised with one"));
    assert_eq!(other.take_error().unwrap().message(), "raised with one", "errors are the host's");
    assert!(toy.take_error().is_none());
    let two = self::host(&[]);
    toy.raise(&api::Error::new(ApiKind::VALUE_ERROR, "of the first host"));
    assert!(plugin_of(&two, "toy").take_error().is_none());
    assert!(toy.take_error().is_some());
}

/// HOST-A7: what a plugin passes is looked at before it is used.
#[test]
fn a_key_that_is_no_text_is_an_error() {
    let host = host(&[]);
    let toy = plugin_of(&host, "toy");
    let (config, self_) = toy.query::<ChipdockConfig1>("config", 1).unwrap().unwrap();
    let mut out = api::Any::NONE.into_raw();
    let bad = [
        ChipdockStr { data: ptr::null(), size: 7 },
        ChipdockStr { size: 1 << 60, ..api::text::str_out("lanes") },
    ];
    for key in bad {
        // SAFETY: the interface's own `self_`; a text of which nothing is read.
        let status = unsafe { (config.get)(self_, key, &mut out) };
        assert_eq!(status, chipdock_abi::CHIPDOCK_INVALID_ARGUMENT);
        assert_eq!(toy.take_error().unwrap().kind(), ApiKind::VALUE_ERROR);
    }
    // SAFETY: the interface's own `self_`; a text of which nothing is read; there is no place to
    // write to.
    let status = unsafe { (config.get)(self_, api::text::str_out("lanes"), ptr::null_mut()) };
    assert_eq!(status, CHIPDOCK_OK);
}

//! S.2 to S.5, S.7, S.9, S.12 to S.14 and rules SET-O1 to SET-O7, without a plugin.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::{Arc, Mutex};

use super::*;
use crate::environment::Environment;
use crate::open::discovery::Source;
use crate::open::manifest::Manifest;

fn manifest(name: &str, settings: &str) -> Result<Manifest, Error> {
    Manifest::parse(&format!(
        r#"{{"schema": 1, "name": "{name}", "version": "0.1.0", "abi": "1", "os": "linux", "arch": "x86_64",
            "provides": ["function.{name}"], "settings": {settings}}}"#
    ))
}

const TOY: &str = r#"[
    {"name": "fast", "type": "bool", "default": false, "doc": "Whether."},
    {"name": "lanes", "type": "int", "default": 8, "doc": "How many.", "variables": ["TOY_LANES", "OLD_LANES"]},
    {"name": "ratio", "type": "float", "default": 0.5, "doc": "Of two."},
    {"name": "tool", "type": "path", "doc": "Where.", "variables": ["TOY_TOOL"]},
    {"name": "words", "type": "str", "default": "a b", "doc": "Which."},
    {"name": "colour", "type": "colour", "default": [1, 2, 3], "doc": "Of a newer host."}]"#;

fn candidate(name: &str, settings: Option<&str>) -> Candidate {
    Candidate {
        name: name.to_owned(),
        library: format!("/plugins/{name}.so").into(),
        manifest_path: None,
        manifest: settings.map(|settings| manifest(name, settings).unwrap()),
        manifest_sha256: None,
        source: Source::Option,
        problem: None,
    }
}

fn discovery() -> Discovery {
    let candidates =
        vec![candidate("toy", Some(TOY)), candidate("my-npu", Some("[]")), candidate("bare", None)];
    Discovery { candidates, places: Vec::new() }
}

/// A user: a configuration folder, variables, what the log said.
struct User {
    folder: tempfile::TempDir,
    options: HostOptions,
    lines: Arc<Mutex<Vec<String>>>,
}

impl User {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let lines = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&lines);
        let environment = Environment {
            config_home: Some(folder.path().to_owned()),
            private_group: None,
            ..Environment::empty()
        };
        let log = Arc::new(move |_, line: &str| seen.lock().unwrap().push(line.to_owned()));
        Self { folder, lines, options: HostOptions { environment, log, ..HostOptions::default() } }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("chipdock/config.toml")
    }

    fn file(self, text: &str) -> Self {
        fs::create_dir_all(self.folder.path().join("chipdock")).unwrap();
        fs::write(self.path(), text).unwrap();
        fs::set_permissions(self.path(), fs::Permissions::from_mode(0o600)).unwrap();
        self
    }

    fn variables(mut self, variables: &[(&str, &str)]) -> Self {
        self.options.environment.variables = variables.iter().copied().collect();
        self
    }

    fn option(mut self, key: &str, value: &str) -> Self {
        self.options = self.options.setting("toy", key, value);
        self
    }

    fn settings(&self) -> Settings {
        Settings::new(&self.options, &discovery()).unwrap()
    }

    fn report(&self, key: &str) -> SettingReport {
        let declared = discovery().candidates.swap_remove(0).manifest.unwrap().settings;
        let reports = self.settings().reports("toy", &declared);
        reports.into_iter().find(|report| report.declared.name == key).unwrap()
    }

    /// The value in force and where it is from.
    fn found(&self, key: &str) -> (Value, String) {
        let report = self.report(key);
        assert_eq!(report.problem, None);
        (report.value.unwrap_or_default(), report.from.to_string())
    }

    fn log(&self) -> String {
        self.lines.lock().unwrap().join("\n")
    }
}

/// SET-O7: by the host's options, where nothing else says; and against all else where they ask for
/// nothing. Another setting of that name is not meant.
#[test]
fn set_o7_a_host_that_remembers_nothing_is_obeyed() {
    let with = |doc: &str, user: User| {
        let settings = Settings::new(&user.options, &discovery()).unwrap();
        let declared = manifest("toy", doc).unwrap().settings;
        settings.reports("toy", &declared).swap_remove(0).value
    };
    let user = |remember: bool, variables: &[(&str, &str)]| {
        let mut user = User::new().variables(variables);
        user.options.remember = remember;
        user
    };
    let (yes, no) = ([("CHIPDOCK_TOY_REMEMBER", "true")], [("CHIPDOCK_TOY_REMEMBER", "false")]);
    for doc in [
        r#"[{"name": "remember", "type": "bool", "doc": "Whether."}]"#,
        r#"[{"name": "remember", "type": "bool", "default": true, "doc": "Whether."}]"#,
    ] {
        let value = |remember, variables| with(doc, user(remember, variables));
        assert_eq!(value(true, &[]), Some(true.into()));
        assert_eq!(value(true, &no), Some(false.into()));
        assert_eq!((value(false, &[]), value(false, &yes)), (Some(false.into()), Some(false.into())));
    }
    let text = r#"[{"name": "remember", "type": "str", "doc": "What."}]"#;
    assert_eq!(with(text, user(false, &yes)), Some("true".into()));
    let other = r#"[{"name": "fast", "type": "bool", "default": true, "doc": "Whether."}]"#;
    assert_eq!(with(other, user(false, &[])), Some(true.into()));
}

/// Gives a user one more source.
type Given = dyn Fn(User, &mut Vec<(&'static str, &'static str)>) -> User;

#[test]
fn s4_the_first_source_that_has_a_value_counts() {
    let sources: [&Given; 5] = [
        &|user, _| user.option("lanes", "1"),
        &|user, variables| {
            variables.push(("CHIPDOCK_TOY_LANES", "2"));
            user
        },
        &|user, variables| {
            variables.push(("TOY_LANES", "3"));
            user
        },
        &|user, variables| {
            variables.push(("OLD_LANES", "4"));
            user
        },
        &|user, _| user.file("# settings\n[toy]\nlanes = 5\n"),
    ];
    for chosen in 0..1_u32 << sources.len() {
        let mut variables = Vec::new();
        let mut user = User::new();
        for (_, source) in sources.iter().enumerate().filter(|(index, _)| chosen >> index & 1 == 1) {
            user = source(user, &mut variables);
        }
        let user = user.variables(&variables);
        let file = format!("{}:3", user.path().display());
        let expected = match chosen.trailing_zeros() {
            0 => (1, "--config"),
            1 => (2, "variable CHIPDOCK_TOY_LANES"),
            2 => (3, "variable TOY_LANES"),
            3 => (4, "variable OLD_LANES"),
            4 => (5, file.as_str()),
            _ => (8, "default"),
        };
        assert_eq!(user.found("lanes"), (expected.0.into(), expected.1.to_owned()), "sources {chosen:b}");
        assert_eq!(user.log(), "");
    }
    let again = User::new().option("lanes", "1").option("lanes", "2");
    assert_eq!(again.found("lanes").0, 2, "the last that was given");
    assert_eq!(variable_of("my-npu", "some.thing-else"), "CHIPDOCK_MY_NPU_SOME_THING_ELSE");
}

#[test]
fn s5_values_are_of_their_types() {
    let of_file =
        User::new().file("[toy]\nfast = true\nlanes = 0x10\nratio = 2\ntool = '/a b'\nwords = \"\"\n");
    for (key, value) in [
        ("fast", Value::from(true)),
        ("lanes", 16.into()),
        ("ratio", 2.0.into()),
        ("tool", "/a b".into()),
        ("words", "".into()),
    ] {
        assert_eq!(of_file.found(key).0, value, "{key}");
    }
    let defaults = User::new();
    for (key, value) in [("fast", Value::from(false)), ("ratio", 0.5.into()), ("words", "a b".into())] {
        assert_eq!(defaults.found(key), (value, "default".to_owned()));
    }
    assert_eq!(defaults.found("tool"), (Value::Null, "default".to_owned()));
    let empty = User::new().variables(&[("CHIPDOCK_TOY_LANES", ""), ("OLD_LANES", "4"), ("TOY_TOOL", "")]);
    assert_eq!(empty.found("lanes").0, 4, "an empty variable is no number");
    assert_eq!(empty.found("tool"), (Value::from(""), "variable TOY_TOOL".to_owned()));
    assert_eq!(of_file.log(), "");
}

#[test]
fn s7_a_wrong_value_is_told_with_its_place_and_harms_nothing_else() {
    let file = |line: &str| User::new().file(&format!("[toy]\n{line}\n[my-npu]\n"));
    let variable = |value| User::new().variables(&[("TOY_LANES", value)]);
    for (user, key, says) in [
        (file("fast = 1"), "fast", "expected true or false, found 1"),
        (file("lanes = 1.5"), "lanes", "expected an integer from -2^63 to 2^63 - 1, found 1.5"),
        (file("lanes = '7'"), "lanes", "found \"7\""),
        (file("lanes = 9223372036854775808"), "lanes", "an integer of more than 64 bits"),
        (file("ratio = inf"), "ratio", "expected a finite number, found inf"),
        (file("ratio = true"), "ratio", "expected a finite number, found true"),
        (file("words = [1]"), "words", "expected a text, found an array"),
        (file("tool = 1979-05-27"), "tool", "expected a path, found a date"),
        (file("tool.a = 1"), "tool", "expected a path, found a table"),
        (variable("many"), "lanes", "found \"many\""),
    ] {
        let report = user.report(key);
        let problem = report.problem.unwrap();
        let place = match key {
            "lanes" if user.path().exists() => format!("[{}:2]", user.path().display()),
            "lanes" => "[environment variable TOY_LANES]".to_owned(),
            _ => format!("[{}:2]", user.path().display()),
        };
        assert_eq!(report.value, None);
        assert!(problem.contains(says) && problem.contains(&place), "{problem} should say {says} at {place}");
        let others =
            user.settings().reports("toy", &discovery().candidates[0].manifest.as_ref().unwrap().settings);
        let wrong = others.iter().filter(|report| report.problem.is_some()).count();
        assert_eq!(wrong, 2, "this one, and the one of a type that is not known");
    }
    let user = User::new().option("lanes", "many");
    let error = Settings::new(&user.options, &discovery()).unwrap_err();
    assert!(error.to_string().contains("found \"many\" [--config]"), "{error}");
}

#[test]
fn s9_with_raised_privileges_neither_variables_nor_the_file_are_read() {
    let mut user = User::new().file("[toy]\nlanes = 5\n").variables(&[("TOY_LANES", "3")]);
    assert_eq!(user.found("lanes").0, 3);
    user.options.environment.raised_privileges = true;
    assert_eq!(user.found("lanes"), (8.into(), "default".to_owned()));
    let user = user.option("lanes", "1");
    assert_eq!(user.found("lanes").0, 1, "what the host was made with is its program's word");
}

#[test]
fn s12_a_type_that_is_not_known_is_unsupported_for_that_setting_alone() {
    let user = User::new().variables(&[("CHIPDOCK_TOY_COLOUR", "red")]);
    let problem = user.report("colour").problem.unwrap();
    assert!(problem.contains("type \"colour\", which this host does not know"), "{problem}");
    let declared = &manifest("toy", TOY).unwrap().settings[5];
    let (found, _) = user.settings().find("toy", declared);
    assert_eq!(*found.unwrap_err().kind(), ErrorKind::Unsupported);
    assert_eq!(user.found("lanes").0, 8);
}

#[test]
fn s12_a_name_of_another_form_is_unsupported_for_that_setting_alone() {
    let long = "n".repeat(65);
    for name in ["cache.dir", "A", "", long.as_str()] {
        let odd = format!(r#"{{"name": "{name}", "type": "int", "doc": "d", "default": 1}}"#);
        let text =
            format!(r#"{{"settings": [{odd}, {{"name": "a", "type": "int", "doc": "d", "default": 8}}]}}"#);
        let declared = parse_info(&text).unwrap();
        let settings = Settings::said(&[]);
        let error = settings.find("toy", &declared[0]).0.unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Unsupported, "{name:?}: {error}");
        assert!(error.to_string().contains("a name of a form that this host does not know"), "{error}");
        assert_eq!(settings.find("toy", &declared[1]).0.unwrap(), Some(SettingValue::Int(8)), "{name:?}");
    }
}

#[test]
fn an_option_that_names_nothing_is_refused_with_the_nearest() {
    let refused = |plugin: &str, key: &str| {
        let options = User::new().options.setting(plugin, key, "1");
        let error = Settings::new(&options, &discovery()).unwrap_err();
        assert_eq!(*error.kind(), ErrorKind::Value);
        error.to_string()
    };
    let error = refused("tyo", "lanes");
    assert!(
        error.contains("--config tyo.lanes: there is no plugin \"tyo\"; did you mean \"toy\"?"),
        "{error}"
    );
    let error = refused("toy", "lane");
    assert!(error.contains("plugin \"toy\" has no such setting; did you mean \"lanes\"?"), "{error}");
    let error = refused("toy", "something");
    assert!(error.contains("it has fast, lanes, ratio, tool, words, colour"), "{error}");
    let error = refused("my-npu", "lanes");
    assert!(error.contains("it has no settings"), "{error}");
    let options = User::new().options.setting("bare", "lanes", "1");
    let settings = Settings::new(&options, &discovery()).unwrap();
    let lines = settings.unknown_when_opened("bare", &[]);
    assert_eq!(lines, ["--config: plugin \"bare\" has no setting \"lanes\"; it has no settings"]);
}

#[test]
fn set_o4_unknown_settings_are_passed_over_and_told() {
    let user = User::new().file("lanes = 1\n[toy]\nlane = 2\nfast = true\n[tyo]\nx = 1\n[bare]\ny = 1\n");
    assert_eq!(user.found("fast").0, true);
    let (log, path) = (user.log(), user.path().display().to_string());
    for says in [
        format!("{path}:1: \"lanes\" is ignored: expected a table of settings, as [lanes]"),
        format!("{path}:3: plugin \"toy\" has no setting \"lane\"; did you mean \"lanes\"?"),
        format!(
            "{path}:6: the settings of \"tyo\" are ignored: there is no such plugin; did you mean \"toy\"?"
        ),
    ] {
        assert!(log.contains(&says), "{log}\nshould say {says}");
    }
    assert_eq!(log.lines().count(), 3, "{log}");
}

#[test]
fn set_o4_a_file_that_is_no_toml_is_passed_over_with_its_line() {
    let user = User::new().file("[toy]\nlanes = \n");
    assert_eq!(user.found("lanes").0, 8);
    assert!(
        user.log().contains("are ignored: line 2: ") && user.log().contains("expected TOML"),
        "{}",
        user.log()
    );
    let user = User::new().file("");
    fs::write(user.path(), b"\xff\xfe").unwrap();
    assert_eq!(user.found("lanes").0, 8);
    assert!(user.log().contains("it is not text"), "{}", user.log());
    let user = User::new();
    fs::create_dir_all(user.path()).unwrap();
    assert_eq!(user.found("lanes").0, 8);
    assert!(user.log().contains("are ignored"), "{}", user.log());
}

type Change = dyn Fn(&Path);

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Rule SET-O4 and FIND-D3: a file that others could have written is not read.
#[test]
fn set_o4_a_file_that_is_not_trusted_is_passed_over() {
    let with = |change: &dyn Fn(&Path)| {
        let user = User::new().file("[toy]\nlanes = 5\n");
        change(&user.path());
        (user.found("lanes").0, user.log(), user)
    };
    assert_eq!(with(&|_| {}).0, 5);
    let changes: [(&str, &Change); 4] = [
        ("group", &|path| mode(path, 0o620)),
        ("others", &|path| mode(path, 0o602)),
        ("folder", &|path| mode(path.parent().unwrap(), 0o770)),
        ("linked", &|path| {
            let other = path.parent().unwrap().parent().unwrap().join("others");
            fs::create_dir(&other).unwrap();
            mode(&other, 0o777);
            fs::rename(path, other.join("config.toml")).unwrap();
            symlink(other.join("config.toml"), path).unwrap();
        }),
    ];
    for (what, change) in changes {
        let (value, log, mut user) = with(change);
        assert_eq!(value, 8, "{what}");
        assert!(log.contains("are ignored: ") && log.contains("may be written by group or others"), "{log}");
        user.options.trust = vec![user.folder.path().to_owned()];
        assert_eq!(user.found("lanes").0, 5, "{what}, trusted by name");
    }
}

#[test]
fn s2_a_malformed_declaration_is_refused() {
    for (settings, says) in [
        (r#"[{"name": "a", "type": "int", "doc": ""}]"#, "expected a doc"),
        (r#"[{"name": "a", "type": "int", "doc": "a\nb"}]"#, "expected a doc"),
        (r#"[{"name": "a", "type": "int", "doc": "d", "default": "x"}]"#, "its default is not an integer"),
        (r#"[{"name": "a", "type": "bool", "doc": "d", "default": 1}]"#, "its default is not true or false"),
        (r#"[{"name": "a", "type": "int", "doc": "d", "variables": ["A=B"]}]"#, "\"A=B\" is no variable"),
        (r#"[{"name": "a", "type": "int", "doc": "d"}, {"name": "a", "type": "str", "doc": "d"}]"#, "twice"),
        (r#"[{"name": "a", "type": "int"}]"#, "missing field `doc`"),
    ] {
        let error = manifest("toy", settings).unwrap_err().to_string();
        assert!(error.contains(says), "{error} should say {says}");
        let error = parse_info(&format!("{{\"settings\": {settings}}}")).unwrap_err();
        assert!(error.starts_with("its info: ") && error.contains(says), "{error} should say {says}");
    }
    let many: Vec<String> =
        (0..257).map(|n| format!(r#"{{"name": "a{n}", "type": "int", "doc": "d"}}"#)).collect();
    assert!(
        manifest("toy", &format!("[{}]", many.join(","))).unwrap_err().to_string().contains("257 settings")
    );
}

#[test]
fn s1_an_info_is_an_object_or_nothing() {
    assert_eq!(parse_info("").unwrap(), []);
    assert_eq!(parse_info(" {} ").unwrap(), []);
    for text in ["[]", "null", "{", "{} x", "[[]]", " ", "{\"settings\": {}}"] {
        assert!(parse_info(text).is_err(), "{text}");
    }
    let info = r#"{"licence": 1, "settings": [{"name": "a", "type": "int", "doc": "d", "since": 2}]}"#;
    assert_eq!(parse_info(info).unwrap()[0].name, "a");
    assert_eq!(unknown_info_fields(info).unwrap(), ["licence", "settings.0.since"]);
}

#[test]
fn s13_a_variable_that_two_settings_have_is_read_for_neither() {
    let setting =
        |name: &str| format!(r#"[{{"name": "{name}", "type": "int", "default": 1, "doc": "Which."}}]"#);
    let (one, two) = (setting("b-c"), setting("c"));
    let both = || vec![candidate("a", Some(&one)), candidate("a-b", Some(&two))];
    let user = User::new().variables(&[("CHIPDOCK_A_B_C", "7")]).file("[a-b]\nc = 3\n");
    let report = |candidates: Vec<Candidate>, options: &HostOptions, at: usize| {
        let declared = candidates[at].manifest.as_ref().unwrap().settings.clone();
        let name = candidates[at].name.clone();
        let settings = Settings::new(options, &Discovery { candidates, places: Vec::new() }).unwrap();
        settings.reports(&name, &declared).swap_remove(0)
    };
    for (at, own) in [(0, "--config a.b-c=VALUE"), (1, "--config a-b.c=VALUE")] {
        let told = report(both(), &user.options, at);
        let problem = told.problem.unwrap();
        assert!(problem.contains("setting \"b-c\" of plugin \"a\"") || at == 1, "{problem}");
        assert!(problem.contains("plugin \"a\"") && problem.contains("plugin \"a-b\""), "{problem}");
        assert!(
            problem.contains("environment variable CHIPDOCK_A_B_C") && problem.contains(own),
            "{problem}"
        );
        assert_eq!(told.value, None);
    }
    // What comes before it, counts.
    let given = user.options.clone().setting("a", "b-c", "5");
    assert_eq!(report(both(), &given, 0).value, Some(5.into()));
    // Without it, there is no question.
    let unset = User::new().file("[a-b]\nc = 3\n");
    assert_eq!(report(both(), &unset.options, 1).value, Some(3.into()));
    // Nor where one of the two is not used.
    let mut one_alone = both();
    one_alone[1].problem = Some(crate::Problem::new(crate::ProblemKind::Disabled, "disabled"));
    assert_eq!(report(one_alone, &user.options, 0).value, Some(7.into()));
}

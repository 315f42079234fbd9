//! Settings: the declarations of the descriptor, and hosts that answer settings, refuse them, or
//! lack the interface (S.1 to S.3, S.6, S.10, S.11).

use std::collections::BTreeSet;
use std::sync::Arc;

use chipdock_host::settings::DeclaredSetting;
use chipdock_plugin_api::setting::{SettingType, is_setting_name, is_variable_name};
use chipdock_plugin_api::text::bytes_in;
use serde_json::{Map, Value};

use super::hosts::raised_with_its_own;
use super::session::{Session, call_everything, descriptor, same_answers};
use crate::group::image;
use crate::settings::{REFUSES, Settings, is_of_type};
use crate::stop::{ensure, equal};
use crate::{Cases, Context, Group, Stop, Subject, Verdict, hosts};

pub(super) fn add(cases: &mut Cases) {
    let mut case = |name, clause, body: fn(&Context) -> Verdict| {
        cases.case(Group::Load, name, clause, Subject::Plugin).run(body);
    };
    case("descriptor/info", "S.1", |c| info(c).map(drop));
    case("settings/declarations", "S.2", declarations);
    case("settings/asks-for-what-it-declares", "S.6", asks_only_for_declared_settings);
    case("settings/refused", "S.10", refused);
    case("settings/host-without-them", "S.11", host_without_them);
    cases.case(Group::Load, "settings/as-in-the-manifest", "S.3", Subject::Manifest).run(as_in_the_manifest);
}

/// Parses the descriptor's `info_json`; an empty text has no keys.
fn info(c: &Context) -> Verdict<Map<String, Value>> {
    // SAFETY: by P9.3, the descriptor's texts are static.
    let text: &'static [u8] = unsafe { bytes_in(descriptor(c)?.info_json) };
    if text.is_empty() {
        return Ok(Map::new());
    }
    serde_json::from_slice(text).map_err(|error| {
        let shown: String = String::from_utf8_lossy(text).chars().take(200).collect();
        let expected = "a JSON object as the descriptor's info, or no text";
        Stop::failed(expected, format!("{shown} ({error})")).clause("S.1")
    })
}

fn declared(c: &Context) -> Verdict<Vec<DeclaredSetting>> {
    let Some(settings) = info(c)?.remove("settings") else { return Ok(Vec::new()) };
    serde_json::from_value(settings).map_err(|error| {
        Stop::failed("settings with a name, a type and a doc each, as texts", error).clause("S.1")
    })
}

fn declarations(c: &Context) -> Verdict {
    let mut seen = BTreeSet::new();
    for setting in declared(c)? {
        let what = format!("setting {:?}", setting.name);
        let expected =
            format!("{what}: a name of 1 to 64 lower-case letters, digits and `-`, the first a letter");
        ensure(is_setting_name(&setting.name), expected, &setting.name)?;
        let types: Vec<&str> = SettingType::ALL.iter().map(|known| known.name()).collect();
        let Some(value_type) = setting.value_type() else {
            return Err(Stop::failed(format!("{what}: a type of {}", types.join(", ")), &setting.type_name));
        };
        let default = setting.default.clone().unwrap_or_default();
        let is_right = setting.default.is_none() || is_of_type(&default, value_type);
        ensure(is_right, format!("{what}: a default that is {}", value_type.expected()), default)?;
        ensure(!setting.doc.trim().is_empty(), format!("{what}: a doc"), "none")?;
        let wrong = setting.variables.iter().find(|name| !is_variable_name(name));
        let expected = format!("{what}: names of variables, letters, digits and `_`");
        ensure(wrong.is_none(), expected, wrong.cloned().unwrap_or_default())?;
        ensure(seen.insert(setting.name.clone()), format!("{what}: declared once"), "twice")?;
    }
    Ok(())
}

fn as_in_the_manifest(c: &Context) -> Verdict {
    let (listed, declared) = (image::manifest(c)?.settings, declared(c)?);
    let text = |settings: &[DeclaredSetting]| serde_json::to_string(settings).unwrap_or_default();
    equal("the settings in the manifest, as the descriptor declares them", &text(&listed), &text(&declared))
        .map_err(|stop| stop.note("generate it again: chipdock manifest PLUGIN.so"))
}

fn asks_only_for_declared_settings(c: &Context) -> Verdict {
    let host = hosts::with_settings(&Arc::new(Settings::answered(declared(c)?)));
    let session = Session::open(descriptor(c)?, host)?;
    drop(call_everything(session.plugin()));
    let broken = host.broken();
    let found = broken.iter().find_map(|line| line.strip_prefix("S.6: "));
    ensure(found.is_none(), "settings asked for that the descriptor declares", found.unwrap_or_default())?;
    session.end()
}

/// Tests a host that refuses every setting: `init` must succeed, and a call that requests a setting
/// must pass the error on.
fn refused(c: &Context) -> Verdict {
    let settings = Arc::new(Settings::refused(declared(c)?));
    let host = hosts::with_settings(&settings);
    let session =
        Session::open(descriptor(c)?, host).map_err(|stop| stop.note("the host's settings cannot be had"))?;
    equal("what is registered where no setting can be had", &session.plugin().keys(), &c.plugin()?.keys())?;
    let answers = call_everything(session.plugin());
    raised_with_its_own(&answers)?;
    let passed_on = answers.iter().any(|(_, answer)| {
        let message = answer.as_ref().err().map(|error| error.message().into_owned());
        message.is_some_and(|message| message.contains(REFUSES))
    });
    let n_refused = settings.n_refused();
    let expected = "the host's error, passed on by the call that asked for the setting";
    ensure(n_refused == 0 || passed_on, expected, format!("{n_refused} refused, and no such error"))?;
    session.end()
}

fn host_without_them(c: &Context) -> Verdict {
    let host = hosts::with_settings(&Arc::new(Settings::answered(declared(c)?)));
    let (with, without) =
        (Session::open(descriptor(c)?, host)?, Session::open(descriptor(c)?, hosts::without_settings())?);
    equal(
        "what is registered with a host without settings",
        &without.plugin().keys(),
        &with.plugin().keys(),
    )?;
    let (expected, found) = (call_everything(with.plugin()), call_everything(without.plugin()));
    same_answers("with a host without settings", &expected, &found)?;
    with.end()?;
    without.end()
}

//! Checks of names: those of plugins and those that they register (P1.4, P5.9).

/// Name under which the host's own registrations are listed.
pub const HOST_PLUGIN: &str = "host";

/// Prefixes of keys.
pub(crate) const KEY_PREFIXES: &[&str] =
    &["device_api.", "target.kind.", "target.build.", "module.load.", FUNCTION];
const FUNCTION: &str = "function.";
/// Prefix of the host's names, which no plugin may use.
const RESERVED: &str = "chipdock.";
/// Greatest length of a name.
const NAME_CHARS_MAX: usize = 128;

/// Returns the name after a prefix of keys, as `toy` after `device_api.`; `None` for a key of
/// another sort, that of an interface (`device_api.toy/reset/1`) among them.
#[must_use]
pub fn name_in_key<'a>(key: &'a str, prefix: &str) -> Option<&'a str> {
    key.strip_prefix(prefix).filter(|name| !name.contains('/'))
}

/// Checks a plugin's name (P1.4); an error describes the expected form.
pub(crate) fn check_plugin_name(name: &str) -> Result<(), String> {
    let good = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_';
    if !name.is_empty() && name.len() <= 64 && name.bytes().all(good) {
        return Ok(());
    }
    let shown: String = name.chars().take(80).collect();
    Err(format!("plugin name \"{shown}\": expected 1 to 64 lower-case letters, digits, \"-\" and \"_\""))
}

/// Returns true if a text is letters, digits, `_`, `.` and `-`, the first a letter, a digit or `_`.
pub(crate) fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    let good = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    bytes.next().is_some_and(good) && bytes.all(|byte| good(byte) || byte == b'.' || byte == b'-')
}

/// Returns the problem of a registered name (P5.9), if it has one.
///
/// Keys are written as `KEY=PLUGIN`, in lists with `,`, and devices as `NAME:ID`: a name must
/// contain none of these characters.
fn wrong_name(name: &str) -> Option<String> {
    if !is_name(name) || name.len() > NAME_CHARS_MAX {
        return Some(format!(
            "expected 1 to {NAME_CHARS_MAX} letters, digits, \"_\", \".\" and \"-\", the first a letter, a digit or \"_\""
        ));
    }
    name.starts_with(RESERVED).then(|| format!("names that begin with \"{RESERVED}\" are the host's"))
}

/// Checks a registered name (P5.9); an error describes the expected form.
pub(crate) fn check_registered_name(name: &str) -> Result<&str, String> {
    let Some(wrong) = wrong_name(name) else { return Ok(name) };
    let shown: String = name.chars().take(60).collect();
    Err(format!("the name {shown:?}: {wrong}"))
}

/// Checks a key of a manifest (P5.3, P5.9); an error describes the expected form.
pub(crate) fn check_key(key: &str) -> Result<(), String> {
    let Some(wrong) = wrong_key(key) else { return Ok(()) };
    let shown: String = key.chars().take(80).collect();
    Err(format!("\"provides\" has {shown:?}; {wrong}"))
}

/// Checks the key of an interface, `<key>/<name>/<version>` (P3.14); an error describes the
/// expected form.
pub(crate) fn check_interface_key(key: &str) -> Result<(), String> {
    let Some(wrong) = wrong_interface_key(key) else { return Ok(()) };
    let shown: String = key.chars().take(80).collect();
    Err(format!("the interface {shown:?}: {wrong}"))
}

/// Returns the problem of a key (P5.9, P3.14), if it has one.
pub(crate) fn wrong_key(key: &str) -> Option<String> {
    if key.contains('/') {
        return wrong_interface_key(key);
    }
    match KEY_PREFIXES.iter().find_map(|prefix| Some((prefix, key.strip_prefix(prefix)?))) {
        Some((prefix, name)) => {
            wrong_name(name).map(|what| format!("of the name after \"{prefix}\": {what}"))
        }
        None => {
            let prefixes: Vec<String> = KEY_PREFIXES.iter().map(|prefix| format!("{prefix}<name>")).collect();
            Some(format!("expected one of {}, or of these <key>/<interface>/<version>", prefixes.join(", ")))
        }
    }
}

/// Returns the problem of the key of an interface (P3.14, P5.9), if it has one.
fn wrong_interface_key(key: &str) -> Option<String> {
    let parts: Vec<&str> = key.split('/').collect();
    let [extended, name, version] = parts.as_slice() else {
        return Some("expected <key>/<interface>/<version>".to_owned());
    };
    // A plugin's own name has no dot, every other key has one.
    let wrong = if extended.contains('.') { wrong_key(extended) } else { check_plugin_name(extended).err() };
    let wrong = wrong.or_else(|| wrong_name(name).map(|what| format!("of the interface's name: {what}")));
    wrong.or_else(|| {
        let is_version =
            version.parse::<u32>().is_ok_and(|number| number > 0 && number.to_string() == *version);
        (!is_version).then(|| "expected a version of at least 1 after the last \"/\"".to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p5_9_a_registered_name_is_narrow() {
        let longest = "n".repeat(NAME_CHARS_MAX);
        for good in ["npu", "_x", "7seg", "tvm.contrib.sort.sort", "npu-2", "a.b-c_d", &longest, "chipdock"] {
            assert_eq!(check_registered_name(good), Ok(good));
        }
        let too_long = "n".repeat(NAME_CHARS_MAX + 1);
        for bad in ["", ".x", "-x", "a b", "a=b", "a,b", "npu:0", "a/b", "a\"b", "ä", "a\n", &too_long] {
            let error = check_registered_name(bad).unwrap_err();
            assert!(error.contains("expected 1 to 128 letters"), "{bad}: {error}");
        }
        let error = check_registered_name("chipdock.now").unwrap_err();
        assert!(error.contains("are the host's"), "{error}");
    }

    #[test]
    fn an_interface_is_no_name_of_a_registration() {
        assert_eq!(name_in_key("device_api.toy", "device_api."), Some("toy"));
        assert_eq!(name_in_key("device_api.toy/reset/1", "device_api."), None);
        assert_eq!(name_in_key("target.kind.toy", "device_api."), None);
    }

    #[test]
    fn p5_9_the_key_of_an_interface_says_what_it_extends() {
        for good in ["device_api.npu/timer/1", "target.build.npu/x.y/12", "function.a/b/1", "npu/config/1"] {
            assert_eq!(check_key(good), Ok(()), "{good}");
        }
        for bad in [
            "device_api.a/b",
            "device_api.a/b/0",
            "device_api.a/b/01",
            "device_api.a/b/1.0",
            "device_api.a//1",
            "device_api./b/1",
            "interface.a/b/1",
            "Npu/b/1",
            "/b/1",
            "device_api.a/chipdock.b/1",
            "device_api.a/b/1/2",
            "device.a",
            "device_api.",
        ] {
            assert!(check_key(bad).is_err(), "{bad}");
        }
    }
}

//! Names of plugins, and of what they register (P1.4, P5.9).

/// Prefixes of keys.
pub(crate) const KEY_PREFIXES: &[&str] =
    &["device_api.", "target.kind.", "target.build.", "module.load.", "function.", INTERFACE];
const INTERFACE: &str = "interface.";
/// What names of the host begin with; a plugin has none of them.
const RESERVED: &str = "chipdock.";
/// No name is longer.
const NAME_CHARS_MAX: usize = 128;

/// What a plugin's name looks like, or why this is none.
pub(crate) fn check_plugin_name(name: &str) -> Result<(), String> {
    let good = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-' || byte == b'_';
    if !name.is_empty() && name.len() <= 64 && name.bytes().all(good) {
        return Ok(());
    }
    let shown: String = name.chars().take(80).collect();
    Err(format!("plugin name \"{shown}\": expected 1 to 64 lower-case letters, digits, \"-\" and \"_\""))
}

/// Whether a text is letters, digits, `_`, `.` and `-`, the first a letter, a digit or `_`.
pub(crate) fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    let good = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    bytes.next().is_some_and(good) && bytes.all(|byte| good(byte) || byte == b'.' || byte == b'-')
}

/// What is wrong with a registered name, if anything. That of an interface, with its version, has parts with `/` between
/// them.
///
/// Keys are written as `KEY=PLUGIN`, in lists with `,`, and devices as `NAME:ID`: none of these may be in a name.
fn wrong_name(prefix: &str, name: &str) -> Option<String> {
    let has_form = if prefix == INTERFACE { name.split('/').all(is_name) } else { is_name(name) };
    if !has_form || name.len() > NAME_CHARS_MAX {
        return Some(format!(
            "expected 1 to {NAME_CHARS_MAX} letters, digits, \"_\", \".\" and \"-\", the first a letter, a digit or \"_\""
        ));
    }
    name.starts_with(RESERVED).then(|| format!("names that begin with \"{RESERVED}\" are the host's"))
}

/// What a registered name looks like, or why this is none.
pub(crate) fn check_registered_name<'a>(prefix: &str, name: &'a str) -> Result<&'a str, String> {
    let Some(wrong) = wrong_name(prefix, name) else { return Ok(name) };
    let shown: String = name.chars().take(60).collect();
    Err(format!("the name {shown:?}: {wrong}"))
}

/// What a key looks like, or why this is none.
pub(crate) fn check_key(key: &str) -> Result<(), String> {
    let split = KEY_PREFIXES.iter().find_map(|prefix| Some((prefix, key.strip_prefix(prefix)?)));
    let wrong = match split {
        Some((prefix, name)) => {
            wrong_name(prefix, name).map(|what| format!("of the name behind \"{prefix}\": {what}"))
        }
        None => {
            let prefixes: Vec<String> = KEY_PREFIXES.iter().map(|prefix| format!("{prefix}<name>")).collect();
            Some(format!("expected one of {}", prefixes.join(", ")))
        }
    };
    let Some(wrong) = wrong else { return Ok(()) };
    let shown: String = key.chars().take(80).collect();
    Err(format!("\"provides\" has {shown:?}; {wrong}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p5_9_a_registered_name_is_narrow() {
        let longest = "n".repeat(NAME_CHARS_MAX);
        for good in ["npu", "_x", "7seg", "tvm.contrib.sort.sort", "npu-2", "a.b-c_d", &longest, "chipdock"] {
            assert_eq!(check_registered_name("function.", good), Ok(good));
        }
        let too_long = "n".repeat(NAME_CHARS_MAX + 1);
        for bad in ["", ".x", "-x", "a b", "a=b", "a,b", "npu:0", "a/b", "a\"b", "ä", "a\n", &too_long] {
            let error = check_registered_name("function.", bad).unwrap_err();
            assert!(error.contains("expected 1 to 128 letters"), "{bad}: {error}");
        }
        let error = check_registered_name("function.", "chipdock.now").unwrap_err();
        assert!(error.contains("are the host's"), "{error}");
    }

    #[test]
    fn p5_9_only_the_name_of_an_interface_has_parts() {
        assert!(check_key("interface.device_api.npu/timer/1").is_ok());
        for bad in
            ["interface./1", "interface.a//1", "interface.a/", "device_api.a/b", "device.a", "device_api."]
        {
            assert!(check_key(bad).is_err(), "{bad}");
        }
    }
}

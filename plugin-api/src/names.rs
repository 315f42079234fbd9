//! Names in the sets that everybody may extend (P5.17): whose a name is, and the names that
//! Chipdock specifies.

use crate::attribute;

/// A named interface that Chipdock specifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpecifiedInterface {
    /// The kind of object that answers it.
    pub owner: &'static str,
    /// The name.
    pub name: &'static str,
    /// The version.
    pub version: u32,
    /// The use of it.
    pub purpose: &'static str,
}

macro_rules! interfaces {
    ($($owner:literal: $name:literal $version:literal, $purpose:literal;)*) => {
        /// The named interfaces that Chipdock specifies, by owner.
        ///
        /// | Owner | Interface | For |
        /// |---|---|---|
        $(#[doc = concat!("| ", $owner, " | `", $name, "` ", $version, " | ", $purpose, " |")])*
        pub const INTERFACES: &[SpecifiedInterface] = &[
            $(SpecifiedInterface { owner: $owner, name: $name, version: $version, purpose: $purpose }),*
        ];
    };
}

interfaces! {
    "device API": "reset" 1, "open a lost device again (D.40)";
    "device API": "timer" 1, "marks in a stream, and the time between them (N.1 to N.8)";
    "device API": "timeline" 1, "values that rise with the work, and waits for them (N.18 to N.30)";
    "device API": "external" 1, "exchange streams and memory with the vendor's own calls (N.9 to N.15)";
    "device API": "map" 1, "the address of memory that the host reaches (N.16, N.17)";
    "device API": "memory.async" 1, "memory in the order of a stream (N.31 to N.35)";
    "device API": "workspace" 1, "the device's own workspace (N.36 to N.39)";
    "device API": "graph" 1, "copies and launches that are recorded once, and replayed (N.40 to N.49)";
    "module loader": "object" 1, "the code of an artifact as an object file (M.15 to M.19)";
    "module": "launch" 1, "launch a kernel on a given stream (K.5 to K.8)";
    "build session": "progress" 1, "what a long build is at (C.42)";
    "environment": "interrupt" 1, "whether a long loop goes on (X.13 to X.16)";
    "host": "config" 1, "settings of the plugin (S)";
    "host": "memory" 1, "tensors on any device (H.9)";
    "host": "needs" 1, "interfaces of other plugins that this one needs (H.11)";
    "host": "conformance" 1, "whether hooks are wanted (I.4)";
}

/// The fields that Chipdock specifies for the `info_json` of a registration or a descriptor.
pub const INFO_KEYS: &[&str] = &["ir_min", "ir_max", "settings"];

/// Returns true if the name is the plugin's own: its name, a dot, and more.
///
/// # Examples
///
/// ```
/// use chipdock_plugin_api::names;
///
/// assert!(names::is_own("npu.watchdog", "npu"));
/// assert!(!names::is_own("watchdog", "npu"));
/// assert!(!names::is_own("npu2.watchdog", "npu"));
/// ```
#[must_use]
pub fn is_own(name: &str, plugin: &str) -> bool {
    name.strip_prefix(plugin).and_then(|rest| rest.strip_prefix('.')).is_some_and(|rest| !rest.is_empty())
}

/// Returns true if a field is the plugin's own, by its path in a document (`needs.npu.power`), or
/// is within such a field.
#[must_use]
pub fn is_own_field(path: &str, plugin: &str) -> bool {
    let own = format!("{plugin}.");
    path.starts_with(&own) || path.contains(&format!(".{own}"))
}

/// Returns true if a name of that set may be used by the plugin: it is one of the set's `specified`
/// names, or the plugin's own.
#[must_use]
pub fn may_use(name: &str, specified: &[&str], plugin: &str) -> bool {
    specified.contains(&name) || is_own(name, plugin)
}

/// Checks the name of an interface that a plugin offers.
///
/// # Errors
///
/// The reason, with the name that the interface could have.
pub fn check_interface(name: &str, plugin: &str) -> Result<(), String> {
    let of_plugins = INTERFACES
        .iter()
        .filter(|interface| !matches!(interface.owner, "host" | "build session" | "environment"));
    let specified: Vec<&str> = of_plugins.map(|interface| interface.name).collect();
    check("interface", name, &specified, plugin)
}

/// Checks the key of a device attribute that a plugin answers.
///
/// # Errors
///
/// The reason, with the key that the attribute could have.
pub fn check_attribute(key: &str, plugin: &str) -> Result<(), String> {
    if key == attribute::CHECKED_HANDLES {
        return Ok(());
    }
    check("attribute", key, attribute::ALL, plugin)
}

/// Checks a key of an `info_json`.
///
/// # Errors
///
/// The reason, with the name that the key could have.
pub fn check_info_key(key: &str, plugin: &str) -> Result<(), String> {
    check("key of an info", key, INFO_KEYS, plugin)
}

/// Checks a name of a set, of which `what` says in the error what it names.
///
/// # Errors
///
/// The reason, with the name that it could have.
pub fn check(what: &str, name: &str, specified: &[&str], plugin: &str) -> Result<(), String> {
    if may_use(name, specified, plugin) {
        return Ok(());
    }
    let base = name.rsplit('.').next().filter(|base| !base.is_empty()).unwrap_or("name");
    Err(format!(
        "{what} \"{name}\" is none of Chipdock's ({}), and does not begin with the plugin's name and a dot: \
         call it \"{plugin}.{base}\" (P5.17)",
        specified.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P5.17.
    #[test]
    fn p5_17_a_name_is_specified_or_begins_with_the_plugin() {
        for good in ["timer", "npu.watchdog", "npu.a.b"] {
            assert_eq!(check_interface(good, "npu"), Ok(()), "{good}");
        }
        for bad in ["watchdog", "timer2", "npu", "npu.", "npux.watchdog", "config", ""] {
            let error = check_interface(bad, "npu").unwrap_err();
            assert!(error.contains(&format!("\"{bad}\"")) && error.contains("\"npu."), "{error}");
        }
        assert!(is_own_field("npu.power", "npu") && is_own_field("options.0.npu.power.watts", "npu"));
        assert!(!is_own_field("power", "npu") && !is_own_field("xnpu.power", "npu"));
        assert!(check_attribute("arch", "npu").is_ok() && check_attribute("checked_handles", "npu").is_ok());
        assert!(check_attribute("cooperative_launch", "cuda").is_err());
        assert!(check_attribute("cuda.cooperative_launch", "cuda").is_ok());
        assert!(check_info_key("ir_max", "npu").is_ok() && check_info_key("npu.topology", "npu").is_ok());
        assert!(check_info_key("topology", "npu").unwrap_err().contains("call it \"npu.topology\" (P5.17)"));
    }
}

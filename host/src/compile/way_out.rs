//! Advice beside an error about a limit of a target (rule COMPILE-C8): passes and code generators
//! name the option that sets it, the host knows where its value came from.

use chipdock_ir::TargetKind;

use crate::compile::resolve::ResolvedTarget;
use crate::error::{Error, quoted};
use crate::host::Host;

impl Host {
    /// Adds how to go on to an error that names options of the target which depend on the device.
    /// Others are left as they are.
    pub(crate) fn with_way_out(&self, error: Error, target: &ResolvedTarget) -> Error {
        let kind = target.kind();
        let named = named_options(kind, &error);
        if named.is_empty() {
            return error;
        }
        let named = quoted(named);
        let advice = match target.filled_from() {
            Some(device) => format!(
                "the limits are those of device {device} where the target does not set {named} itself: let the kernel need \
                 less, or choose another device (chipdock devices)"
            ),
            None => {
                let device = &kind.device;
                let answers = kind.options.iter().any(|option| !option.from_attribute.is_empty())
                    && self.device_names().contains(device);
                let of_device = format!(
                    ", or take all limits of a device: --device {device}:0, in a target \"from_device\": 0"
                );
                let of_device = if answers { of_device } else { String::new() };
                format!(
                    "set {named} in the target to what the device has, as in {}{of_device}",
                    example(kind, &error)
                )
            }
        };
        let advice = match error.advice() {
            "" => advice,
            other => format!("{other}; {advice}"),
        };
        error.hint(advice)
    }
}

/// Returns a target that sets the first option that an error names.
fn example(kind: &TargetKind, error: &Error) -> String {
    let first = named_options(kind, error).into_iter().next().unwrap_or_default();
    format!("{{\"kind\": \"{}\", \"{first}\": ...}}", kind.name)
}

/// Returns the options that an error names, of those that say what a device has, in the order of
/// the kind. A host's target states all of itself.
fn named_options<'a>(kind: &'a TargetKind, error: &Error) -> Vec<&'a str> {
    if kind.is_host {
        return Vec::new();
    }
    let of_device = |name: &str| {
        kind.capabilities.named().any(|(_, option)| option == name)
            || kind.optional_types.values().any(|option| option == name)
    };
    let texts = || {
        let diagnostics = error.diagnostics().iter().map(|diagnostic| &*diagnostic.message);
        diagnostics.chain([error.message()])
    };
    let is_named = |name: &str| texts().any(|text| names(text, name));
    let options =
        kind.options.iter().filter(|option| !option.from_attribute.is_empty() || of_device(&option.name));
    let options = options.filter(|option| !option.has_one_value());
    options.map(|option| option.name.as_str()).filter(|name| is_named(name)).collect()
}

/// Returns true if a text names an option: in quotes, or bare where the name is no word of a
/// sentence.
fn names(text: &str, name: &str) -> bool {
    ['"', '\''].iter().any(|quote| text.contains(&format!("{quote}{name}{quote}")))
        || name.contains(['_', '-']) && words(text).any(|word| word == name)
}

/// Returns the words of a text, in which names of options stay whole.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'))
}

#[cfg(test)]
mod tests {
    use chipdock_ir::{Diagnostic, Span};
    use serde_json::json;

    use super::*;
    use crate::{DeviceChoice, ErrorKind, HostOptions, TargetRequest};

    fn refused(says: &str) -> Error {
        let diagnostic = Diagnostic {
            function: "f".into(),
            span: Span::NONE,
            node: String::new(),
            message: says.to_owned(),
        };
        Error::new(ErrorKind::Unsupported, "it cannot be built").with_diagnostics(vec![diagnostic])
    }

    /// COMPILE-C8: the advice is about the option that is named, and about where its value came
    /// from.
    #[test]
    fn compile_c8_a_limit_comes_with_a_way_out() {
        let host = Host::new(HostOptions::isolated()).unwrap();
        let resolved = |request: TargetRequest| host.target(request).unwrap();
        let plain = resolved(TargetRequest::new("gadget"));
        let advice = |says: &str, target: &ResolvedTarget| {
            host.with_way_out(refused(says), target).advice().to_owned()
        };
        let says = "expected at most 77 bytes, found 99; option \"bytes\" sets the limit";
        let text = advice(says, &plain);
        assert!(text.contains("{\"kind\": \"gadget\", \"bytes\": ...}"), "{text}");
        assert!(text.ends_with("--device toy:0, in a target \"from_device\": 0"), "{text}");
        let on_device = resolved(TargetRequest::new("gadget").device(DeviceChoice::First));
        for target in [on_device, resolved(TargetRequest::new(json!({"kind": "gadget", "from_device": 0})))] {
            let text = advice(says, &target);
            assert!(text.contains("those of device toy:0") && text.contains("\"bytes\""), "{text}");
        }
        assert!(names("the option max_bytes is not set", "max_bytes"));
        for other in ["expected at most 77 bytes", "no op \"bytes_of\"", ""] {
            assert_eq!(advice(other, &plain), "", "{other}");
        }
        let host_target = resolved(TargetRequest::new("toy"));
        assert_eq!(advice(says, &host_target), "");
        let with_its_own = host.with_way_out(refused(says).hint("shrink it"), &plain);
        assert!(with_its_own.advice().starts_with("shrink it; set \"bytes\""), "{with_its_own}");
    }
}

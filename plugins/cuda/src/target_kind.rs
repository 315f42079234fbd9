//! Canonicalization of the target kind: the architecture, and options that must agree.
//!
//! * **CUKIND-K1** `arch` is an architecture as NVIDIA's compilers name it, `sm_90a`; if unset,
//!   [`ARCH_DEFAULT`], whose PTX every newer device accepts. A compute capability, `9.0`, as
//!   devices report it, becomes `sm_90`. No device is queried.
//! * **CUKIND-K2** The architecture is in the list that the compiler that would be used reports;
//!   without a compiler, in a table. Otherwise it is refused, with the nearest known name.
//! * **CUKIND-K3** `compiler` must be able to make `format`. Warps have 32 threads.
//! * **CUKIND-K4** `max_threads_per_block`, if given, bounds `max_num_threads`, which is the one in
//!   effect.
//! * **CUKIND-K5** Canonicalizing a canonical target leaves it unchanged.

use chipdock_ir::Target;
use chipdock_plugin_api::{Error, ErrorKind, HostRef, TargetKind};

use crate::compiler::{self, Choice, Settings};

/// The default architecture: the oldest one of the newest compilers.
pub(crate) const ARCH_DEFAULT: &str = "sm_75";
/// The kind's name.
const NAME: &str = "cuda";

/// Architectures of CUDA 8 to 13, used if there is no compiler to query.
pub(crate) const KNOWN: &[&str] = &[
    "sm_50", "sm_52", "sm_53", "sm_60", "sm_61", "sm_62", "sm_70", "sm_72", "sm_75", "sm_80", "sm_86",
    "sm_87", "sm_88", "sm_89", "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_100f", "sm_101", "sm_101a",
    "sm_101f", "sm_103", "sm_103a", "sm_103f", "sm_110", "sm_110a", "sm_110f", "sm_120", "sm_120a",
    "sm_120f", "sm_121", "sm_121a", "sm_121f",
];

/// Target kind `cuda`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CudaTargetKind(pub(crate) HostRef);

impl TargetKind for CudaTargetKind {
    fn canonicalize(&self, target_json: &str) -> Result<String, Error> {
        let mut target = serde_json::from_str(target_json)
            .map_err(|error| error.to_string())
            .and_then(|json| Target::from_canonical_json(&json))
            .map_err(|error| value_error(format!("target {NAME}: {error}")))?;
        let choice = Choice::from_target(&target)?;
        let settings = Settings::read(self.0)?;
        let known = || compiler::architectures(&settings, choice);
        let arch = architecture(target.str("arch"), &known).map_err(value_error)?;
        target.options.insert("arch".into(), arch.into());
        check_format(&target, choice).map_err(value_error)?;
        if let Some(most) = target.int("max_threads_per_block") {
            let most = target.int("max_num_threads").map_or(most, |threads| threads.min(most));
            target.options.insert("max_num_threads".into(), most.into());
        }
        Ok(target.to_json().to_string())
    }
}

fn value_error(message: String) -> Error {
    Error::new(ErrorKind::VALUE_ERROR, message)
}

fn check_format(target: &Target, choice: Choice) -> Result<(), String> {
    match target.str("format") {
        Some(format @ ("ptx" | "cubin")) if choice == Choice::None => Err(format!(
            "target {NAME}: option 'format': \"{format}\" takes a compiler, and option 'compiler' is \"none\"; set \
             'format' to \"cuda\", or 'compiler' to another"
        )),
        _ => Ok(()),
    }
}

/// The checked architecture of an option; `known` returns a compiler's name and list.
pub(crate) fn architecture(
    option: Option<&str>,
    known: &dyn Fn() -> Option<compiler::Architectures>,
) -> Result<String, String> {
    let given = option.unwrap_or(ARCH_DEFAULT);
    let arch = match given.split_once('.') {
        Some((major, minor)) if is_number(major) && is_number(minor) => format!("sm_{major}{minor}"),
        _ => given.to_owned(),
    };
    let (list, whose) = match known() {
        Some(known) => (known.names, known.compiler),
        None => (KNOWN.iter().map(|name| (*name).to_owned()).collect(), "NVIDIA's compilers".to_owned()),
    };
    if list.contains(&arch) {
        return Ok(arch);
    }
    let shown: String = given.chars().take(60).collect();
    let meant = shown.replace("compute_", "sm_");
    let likeness = |known: &str| strsim::jaro_winkler(known, &meant);
    let nearest = list.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    let nearest = nearest.map_or(ARCH_DEFAULT, String::as_str);
    Err(format!(
        "target {NAME}: option 'arch': expected an architecture of {whose} ({}), found \"{shown}\"; the nearest is \
         \"{nearest}\"",
        list.join(", ")
    ))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.len() <= 3 && text.bytes().all(|byte| byte.is_ascii_digit())
}

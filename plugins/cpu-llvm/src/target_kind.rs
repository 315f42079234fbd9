//! Canonicalization of the target kind: fills in options that are not set, and checks those that
//! are.
//!
//! * **LLKIND-K1** Without `mtriple` and `mcpu`, or with `mcpu` "native" or "host", the target is
//!   this machine: its triple, its processor, and all its features, since LLVM misnames some
//!   processors. Features that are present come first, then those that are missing, so that a
//!   missing one also disables the features that need it; those of the user come last.
//! * **LLKIND-K2** With `mtriple` alone, the processor is the architecture's generic one, with the
//!   features that its operating system requires (RISC-V: `m a f d c`; x86 of 32 bits: `sse2`).
//! * **LLKIND-K3** Names that LLVM does not know, unknown words of a triple, options that
//!   contradict each other or that the architecture does not support are refused: option, value,
//!   what was expected, the nearest known name.
//! * **LLKIND-K4** Combinations that LLVM itself cannot compile are found by compiling a small
//!   function with them (`trial`).
//! * **LLKIND-K5** Canonicalizing a canonical target leaves it unchanged.
//! * **LLKIND-K7** The facts for schedules are filled in where they are not set: the vector
//!   registers as the features say, the caches where the target is this machine (LLKIND-K1).
//! * **LLKIND-K6** Without the library the error is `Unavailable`, and names the package to
//!   install.
//! * **LLKIND-K8** `dot-products` lists those that the processor has instructions for; a user may
//!   name some of them.
//! * **LLKIND-K9** `tile-products` lists those that the processor has tiles for too, under Linux; a
//!   user may name some of them.
//! * **LLKIND-K10** This machine has the features of tiles (`amx-tile` and others) if Linux grants
//!   this process their use.
//! * **LLKIND-K12** A second name of a processor (`apple-m1`) becomes the one that LLVM lists
//!   (`apple-a14`). RISC-V's `mfloat-abi` may repeat what `mabi` says.
//! * **LLKIND-K11** A target that was completed before, by the same library on the same processor,
//!   is completed without opening the library (rules LLKEPT-P1 to LLKEPT-P4 of `cache`).

use chipdock_ir::Target;
use chipdock_ir::op::DotProduct;
use chipdock_plugin_api::{Error, ErrorKind, HostRef, TargetKind, cpu};
use serde_json::Value;

use crate::llvm::{HostCpu, Llvm, chosen};
use crate::names::{Family, nearest};
use crate::target;
use crate::trial;
use crate::triple::{Triple, shown};

/// The kind's name.
pub(crate) const NAME: &str = "llvm";
/// Values of the option `mcpu` for "this machine".
const NATIVE: [&str; 2] = ["native", "host"];
/// The option that lists dot products.
const DOT_PRODUCTS: &str = "dot-products";
/// The option that lists products of tiles.
const TILE_PRODUCTS: &str = "tile-products";
/// Maximum number of features of a target.
const FEATURES_MAX: usize = 1024;

/// Target kind `llvm`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LlvmTargetKind(pub(crate) HostRef);

/// Facts from outside the target that are filled in.
#[derive(Clone, Debug)]
pub(crate) struct Surroundings {
    /// The processor that this process runs on.
    pub(crate) host: HostCpu,
    /// The components that the library supports, by LLVM's names.
    pub(crate) components: Vec<&'static str>,
}

impl TargetKind for LlvmTargetKind {
    fn canonicalize(&self, target_json: &str) -> Result<String, Error> {
        let target = serde_json::from_str(target_json)
            .map_err(|error| error.to_string())
            .and_then(|json| Target::from_canonical_json(&json))
            .map_err(|error| value_error(format!("target {NAME}: {error}")))?;
        let caches = format!("{:?}", cpu::cache_options().collect::<Vec<_>>());
        let question = ["target", &caches, &target.to_json().to_string()];
        let answer = chosen(self.0)?.recall(&question, |llvm| {
            let mut target = checked(llvm, &target)?;
            trial::add_arm_features(llvm, &mut target)?;
            trial::add_vectors(llvm, &mut target)?;
            Ok(target.to_json())
        })?;
        Ok(answer.to_string())
    }
}

/// The target, filled in and checked, without the additions for ARM.
///
/// # Errors
///
/// * `ValueError`: any refusal by LLKIND-K3 and LLKIND-K4.
pub(crate) fn checked(llvm: &'static Llvm, target: &Target) -> Result<Target, Error> {
    let around = Surroundings { host: llvm.host(), components: llvm.targets() };
    let target = resolve(target, &around).map_err(value_error)?;
    let (cpu, features) = machine_of(&around.host);
    let is_this_machine = target.str("mcpu") == Some(cpu.as_str())
        && target.str_list("mattr").iter().eq(features.iter())
        && !target.options.contains_key("mabi");
    if !is_this_machine {
        trial::check(llvm, &target::machine_options(&target))?;
    }
    dot_products(llvm, target)
}

/// The target with the dot products and the tiles that its processor has instructions for
/// (LLKIND-K8, LLKIND-K9).
fn dot_products(llvm: &'static Llvm, mut target: Target) -> Result<Target, Error> {
    let options = target::machine_options(&target);
    let triple = Triple::parse(&options.triple).map_err(value_error)?;
    let dots = target::dots(llvm, &options, triple.architecture.family)?;
    let tiles = target::tiles(llvm, &options, &triple)?;
    let known: Vec<DotProduct> = DotProduct::ALL.iter().copied().filter(|dot| dots.has(*dot)).collect();
    list(&mut target, DOT_PRODUCTS, "instructions", &known)?;
    let known: Vec<DotProduct> = known.into_iter().filter(|dot| tiles.has(*dot)).collect();
    list(&mut target, TILE_PRODUCTS, "tiles", &known)?;
    Ok(target)
}

/// Checks that an option lists some of the known products, or fills them in.
fn list(target: &mut Target, option: &str, what: &str, known: &[DotProduct]) -> Result<(), Error> {
    let all: Vec<String> = known.iter().map(|dot| dot.name()).collect();
    if let Some(item) = target.str_list(option).into_iter().find(|item| !all.iter().any(|name| name == item))
    {
        let have = if all.is_empty() { "none".to_owned() } else { all.join(", ") };
        let message =
            format!("expected those that the processor has {what} for, {have}, found {}", shown(item));
        return Err(value_error(about(option, message)));
    }
    if !all.is_empty() && !target.options.contains_key(option) {
        target.options.insert(option.to_owned(), all.into());
    }
    Ok(())
}

pub(crate) fn value_error(message: String) -> Error {
    Error::new(ErrorKind::VALUE_ERROR, message)
}

/// A message about an option.
fn about(option: &str, what: impl std::fmt::Display) -> String {
    format!("target {NAME}: option '{option}': {what}")
}

/// The target with everything that the kind fills in, checked except for facts that only LLVM knows
/// (LLKIND-K4).
///
/// # Errors
///
/// The message of a `ValueError`.
pub(crate) fn resolve(target: &Target, around: &Surroundings) -> Result<Target, String> {
    let mut target = target.clone();
    let (triple, is_native) = triple(&target, around)?;
    let triple = float_abi(&target, triple)?;
    let family = triple.architecture.family;
    if !around.components.contains(&family.component()) {
        let message = format!(
            "the LLVM library that was found has no part {} for \"{}\"; it has {}",
            family.component(),
            triple.architecture.name,
            around.components.join(", ")
        );
        return Err(about("mtriple", message));
    }
    let (cpu, before) = processor(&target, &triple, is_native, around)?;
    let features = features(&target, &triple, before)?;
    abi(&target, &triple)?;
    vector_width(&target, &triple)?;
    pointer_bits(&target, &triple)?;
    let mut set = |name: &str, value: Value| target.options.insert(name.to_owned(), value);
    set("mtriple", triple.to_string().into());
    set("mcpu", cpu.into());
    set("mattr", features.into());
    if triple.architecture.bits == 32 {
        set("pointer-bits", 32.into());
    }
    if is_native {
        add_caches(&mut target);
    }
    Ok(target)
}

/// Fills in the sizes of this machine's caches, unless they are set.
fn add_caches(target: &mut Target) {
    for (name, size_bytes) in cpu::cache_options() {
        target.options.entry(name.to_owned()).or_insert_with(|| size_bytes.into());
    }
}

/// The triple, and whether the processor is this machine's own (LLKIND-K1).
fn triple(target: &Target, around: &Surroundings) -> Result<(Triple, bool), String> {
    let read = |text: &str| Triple::parse(text).map_err(|message| about("mtriple", message));
    let here = |_| {
        Triple::parse(&around.host.triple).map_err(|message| {
            about("mtriple", format!("not set, and that of this machine is not one of the kind's: {message}"))
        })
    };
    let cpu = target.str("mcpu");
    let is_native = cpu.is_some_and(|cpu| NATIVE.contains(&cpu));
    let Some(text) = target.str("mtriple") else { return Ok((here(())?, is_native || cpu.is_none())) };
    let triple = read(text)?;
    if is_native {
        let here = here(())?;
        if (here.architecture.family, here.architecture.bits)
            != (triple.architecture.family, triple.architecture.bits)
        {
            let cpu = cpu.unwrap_or_default();
            return Err(about(
                "mcpu",
                format!(
                    "\"{cpu}\" is this machine's processor ({}), option 'mtriple' says {}; name a processor of {}",
                    here.architecture.name, triple, triple.architecture.name
                ),
            ));
        }
    }
    Ok((triple, is_native))
}

/// Makes `mfloat-abi` a part of the triple.
fn float_abi(target: &Target, triple: Triple) -> Result<Triple, String> {
    let Some(abi) = target.str("mfloat-abi") else { return Ok(triple) };
    if triple.architecture.family == Family::RiscV
        && let Some(by_name) = target.str("mabi")
        && abi == if by_name.ends_with(['d', 'f']) { "hard" } else { "soft" }
    {
        return Ok(triple);
    }
    if triple.architecture.family != Family::Arm {
        return Err(about(
            "mfloat-abi",
            format!(
                "only 32-bit ARM has a choice, found \"{abi}\" for {triple}; remove it (RISC-V's is 'mabi', which it may repeat)"
            ),
        ));
    }
    if triple.float_abi() == Some(abi) {
        return Ok(triple);
    }
    triple.with_float_abi(abi).ok_or_else(|| {
        about(
            "mfloat-abi",
            format!(
                "\"{abi}\" does not go with option 'mtriple', {triple}; expected one that ends in gnueabi, \
                     musleabi or eabi, with or without hf"
            ),
        )
    })
}

/// This machine's processor and its features, in the order of LLKIND-K1.
fn machine_of(host: &HostCpu) -> (String, Vec<String>) {
    let all = host.features.split(',').filter(|feature| feature.len() > 1);
    let mut features: Vec<String> = all.map(str::to_owned).collect();
    // `+` sorts before `-`.
    features.sort_unstable();
    features.dedup();
    (host.cpu.clone(), features)
}

/// The processor, and the features that come before the user's.
fn processor(
    target: &Target,
    triple: &Triple,
    is_native: bool,
    around: &Surroundings,
) -> Result<(String, Vec<String>), String> {
    if is_native {
        return Ok(machine_of(&around.host));
    }
    let family = triple.architecture.family;
    let Some(cpu) = target.str("mcpu").map(|cpu| family.own_name(cpu)) else {
        let (cpu, features) = generic(triple);
        return Ok((cpu.to_owned(), features.iter().map(|feature| format!("+{feature}")).collect()));
    };
    let known = &family.names().processors;
    // The library knows its own name for this machine, whatever the table says.
    if known.contains(cpu) || cpu == around.host.cpu && is_of_host(triple, around) {
        return Ok((cpu.to_owned(), Vec::new()));
    }
    let expected = format!(
        "expected a processor of {} as LLVM names it, or \"native\", found {}",
        triple.architecture.name,
        shown(cpu)
    );
    let other = Family::ALL.iter().find(|other| other.names().processors.contains(cpu));
    Err(about(
        "mcpu",
        match other {
            Some(other) => {
                format!("{expected}, which is one of {}: set option 'mtriple' too", other.component())
            }
            None => format!("{expected}{}", nearest(cpu, known.iter().map(String::as_str))),
        },
    ))
}

fn is_of_host(triple: &Triple, around: &Surroundings) -> bool {
    Triple::parse(&around.host.triple)
        .is_ok_and(|host| host.architecture.family == triple.architecture.family)
}

/// An architecture's generic processor, with the features that its operating systems assume
/// (LLKIND-K2).
fn generic(triple: &Triple) -> (&'static str, &'static [&'static str]) {
    let bits = triple.architecture.bits;
    match triple.architecture.family {
        // Without SSE2, floats are computed in registers of the x87, with different rounding.
        Family::X86 if bits == 32 => ("generic", &["sse2"]),
        Family::RiscV => {
            let cpu = if bits == 64 { "generic-rv64" } else { "generic-rv32" };
            (cpu, if triple.is_hosted() { &["m", "a", "f", "d", "c"] } else { &[] })
        }
        Family::PowerPc => ("ppc64le", &[]),
        Family::LoongArch => ("loongarch64", &[]),
        Family::Mips => (if bits == 64 { "mips64r2" } else { "mips32r2" }, &[]),
        _ => ("generic", &[]),
    }
}

/// Appends the checked features of `mattr` to those before.
fn features(target: &Target, triple: &Triple, before: Vec<String>) -> Result<Vec<String>, String> {
    let given = target.str_list("mattr");
    if given.len() > FEATURES_MAX {
        return Err(about(
            "mattr",
            format!("expected at most {FEATURES_MAX} features, found {}", given.len()),
        ));
    }
    for item in &given {
        check_feature(item, triple)?;
    }
    for item in given.iter().filter(|item| item.starts_with('+')) {
        let opposite = format!("-{}", &item[1..]);
        if given.contains(&opposite.as_str()) {
            return Err(about(
                "mattr",
                format!("\"{item}\" and \"{opposite}\" contradict each other; keep one"),
            ));
        }
    }
    // A later one wins, so only the last of each matters.
    let kept = |(index, item): &(usize, &str)| given[index + 1..].iter().all(|later| later[1..] != item[1..]);
    let own = before.into_iter().filter(|item| given.iter().all(|later| later[1..] != item[1..]));
    let given = given.iter().copied().enumerate().filter(kept).map(|(_, item)| item.to_owned());
    Ok(own.chain(given).collect())
}

fn check_feature(item: &str, triple: &Triple) -> Result<(), String> {
    let family = triple.architecture.family;
    let known = &family.names().features;
    let Some(name) = item.strip_prefix(['+', '-']) else {
        let hint = if known.contains(item) { format!("; write \"+{item}\"") } else { String::new() };
        return Err(about(
            "mattr",
            format!("expected \"+feature\" or \"-feature\", found {}{hint}", shown(item)),
        ));
    };
    if item.contains(',') {
        return Err(about("mattr", format!("expected one feature in each item, found {}", shown(item))));
    }
    if family == Family::X86 && (name.ends_with("-mode") || item == "-64bit") {
        return Err(about("mattr", format!("{} is for option 'mtriple' to say; remove it", shown(item))));
    }
    if known.contains(name) {
        return Ok(());
    }
    let expected =
        format!("expected a feature of {} as LLVM names it, found {}", triple.architecture.name, shown(item));
    let other = Family::ALL.iter().find(|other| other.names().features.contains(name));
    Err(about(
        "mattr",
        match other {
            Some(other) => format!("{expected}, which is a feature of {}", other.component()),
            None => format!("{expected}{}", nearest(name, known.iter().map(String::as_str))),
        },
    ))
}

/// The named ABIs of an architecture.
fn abis(triple: &Triple) -> &'static [&'static str] {
    match (triple.architecture.family, triple.architecture.bits) {
        (Family::RiscV, 64) => &["lp64", "lp64f", "lp64d", "lp64e"],
        (Family::RiscV, _) => &["ilp32", "ilp32f", "ilp32d", "ilp32e"],
        (Family::Arm, _) => &["aapcs", "aapcs16", "apcs-gnu"],
        (Family::AArch64, _) => &["aapcs", "darwinpcs"],
        (Family::PowerPc, _) => &["elfv2"],
        (Family::LoongArch, _) => &["lp64d", "lp64f", "lp64s"],
        (Family::Mips, 64) => &["n64"],
        (Family::Mips, _) => &["o32"],
        _ => &[],
    }
}

fn abi(target: &Target, triple: &Triple) -> Result<(), String> {
    let Some(abi) = target.str("mabi") else { return Ok(()) };
    let known = abis(triple);
    if known.contains(&abi) {
        return Ok(());
    }
    let name = triple.architecture.name;
    let what = if known.is_empty() {
        format!("{name} has one ABI for each system, found {}; remove it", shown(abi))
    } else {
        let near = nearest(abi, known.iter().copied());
        format!("expected an ABI of {name}, found {}{near}", shown(abi))
    };
    Err(about("mabi", what))
}

fn vector_width(target: &Target, triple: &Triple) -> Result<(), String> {
    let Some(width) = target.int("vector-width") else { return Ok(()) };
    if triple.architecture.family != Family::X86 {
        return Err(about(
            "vector-width",
            format!(
                "only x86 has a choice, found {width} for {triple}; remove it (elsewhere features say it: sve, zvl256b)"
            ),
        ));
    }
    if [128, 256, 512].contains(&width) {
        return Ok(());
    }
    Err(about("vector-width", format!("expected 128, 256 or 512, found {width}")))
}

fn pointer_bits(target: &Target, triple: &Triple) -> Result<(), String> {
    let bits = i64::from(triple.architecture.bits);
    match target.int("pointer-bits") {
        Some(given) if given != bits => {
            Err(about("pointer-bits", format!("expected {bits}, as {triple} has, found {given}; remove it")))
        }
        _ => Ok(()),
    }
}

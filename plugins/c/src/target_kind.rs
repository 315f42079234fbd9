//! Checks of the target kind: names of processors, alignments.

use chipdock_ir::Target;
use chipdock_ir::op::DotProduct;
use chipdock_plugin_api::{Error, ErrorKind, TargetKind, cpu};

use crate::dialect::dots;

/// Target kind `c`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CTargetKind;

/// Instruction sets and processors that gcc 14 and clang 19 know; extensions may follow a `+`.
const X86: &[&str] = &[
    "alderlake",
    "amdfam10",
    "arrowlake",
    "arrowlake-s",
    "athlon-fx",
    "athlon64",
    "athlon64-sse3",
    "atom",
    "barcelona",
    "bdver1",
    "bdver2",
    "bdver3",
    "bdver4",
    "bonnell",
    "broadwell",
    "btver1",
    "btver2",
    "cannonlake",
    "cascadelake",
    "clearwaterforest",
    "cooperlake",
    "core-avx-i",
    "core-avx2",
    "core2",
    "corei7",
    "corei7-avx",
    "emeraldrapids",
    "goldmont",
    "goldmont-plus",
    "grandridge",
    "graniterapids",
    "graniterapids-d",
    "haswell",
    "i386",
    "i486",
    "i586",
    "i686",
    "icelake-client",
    "icelake-server",
    "ivybridge",
    "k8",
    "k8-sse3",
    "knl",
    "knm",
    "lujiazui",
    "lunarlake",
    "meteorlake",
    "nehalem",
    "nocona",
    "opteron",
    "opteron-sse3",
    "pantherlake",
    "pentium",
    "pentium-m",
    "pentium4",
    "pentiumpro",
    "prescott",
    "raptorlake",
    "rocketlake",
    "sandybridge",
    "sapphirerapids",
    "sierraforest",
    "silvermont",
    "skylake",
    "skylake-avx512",
    "tigerlake",
    "tremont",
    "westmere",
    "x86-64",
    "x86-64-v2",
    "x86-64-v3",
    "x86-64-v4",
    "yongfeng",
    "znver1",
    "znver2",
    "znver3",
    "znver4",
    "znver5",
];

const ARM: &[&str] = &[
    "a64fx",
    "ampere1",
    "ampere1a",
    "ampere1b",
    "apple-a14",
    "apple-a15",
    "apple-a16",
    "apple-m1",
    "apple-m2",
    "apple-m3",
    "apple-m4",
    "armv6",
    "armv6-m",
    "armv7",
    "armv7-a",
    "armv7-m",
    "armv7-r",
    "armv7e-m",
    "armv8-a",
    "armv8-m.base",
    "armv8-m.main",
    "armv8-r",
    "armv8.1-a",
    "armv8.1-m.main",
    "armv8.2-a",
    "armv8.3-a",
    "armv8.4-a",
    "armv8.5-a",
    "armv8.6-a",
    "armv8.7-a",
    "armv8.8-a",
    "armv8.9-a",
    "armv9-a",
    "armv9.1-a",
    "armv9.2-a",
    "armv9.3-a",
    "armv9.4-a",
    "armv9.5-a",
    "cortex-a5",
    "cortex-a7",
    "cortex-a8",
    "cortex-a9",
    "cortex-a15",
    "cortex-a17",
    "cortex-a32",
    "cortex-a34",
    "cortex-a35",
    "cortex-a53",
    "cortex-a55",
    "cortex-a57",
    "cortex-a65",
    "cortex-a72",
    "cortex-a73",
    "cortex-a75",
    "cortex-a76",
    "cortex-a77",
    "cortex-a78",
    "cortex-a510",
    "cortex-a520",
    "cortex-a710",
    "cortex-a715",
    "cortex-a720",
    "cortex-a725",
    "cortex-m0",
    "cortex-m0plus",
    "cortex-m3",
    "cortex-m4",
    "cortex-m7",
    "cortex-m23",
    "cortex-m33",
    "cortex-m55",
    "cortex-m85",
    "cortex-r5",
    "cortex-r52",
    "cortex-r82",
    "cortex-x1",
    "cortex-x2",
    "cortex-x3",
    "cortex-x4",
    "cortex-x925",
    "exynos-m1",
    "grace",
    "neoverse-512tvb",
    "neoverse-e1",
    "neoverse-n1",
    "neoverse-n2",
    "neoverse-n3",
    "neoverse-v1",
    "neoverse-v2",
    "neoverse-v3",
    "saphira",
    "thunderx",
    "thunderx2t99",
    "thunderx3t110",
    "tsv110",
    "xgene1",
];

const OTHERS: &[&str] = &[
    "generic",
    "generic-rv32",
    "generic-rv64",
    "la464",
    "la664",
    "loongarch64",
    "native",
    "power8",
    "power9",
    "power10",
    "power11",
    "powerpc64le",
    "rocket",
    "sifive-p450",
    "sifive-p670",
    "sifive-u54",
    "sifive-u74",
    "sifive-x280",
    "z13",
    "z14",
    "z15",
    "z16",
    "arch11",
    "arch12",
    "arch13",
    "arch14",
];

impl TargetKind for CTargetKind {
    fn canonicalize(&self, target_json: &str) -> Result<String, Error> {
        let json =
            serde_json::from_str(target_json).map_err(|error| value_error(format!("target c: {error}")))?;
        let mut target = Target::from_canonical_json(&json).map_err(value_error)?;
        for option in ["march", "mcpu"] {
            if let Some(name) = target.str(option) {
                check_processor(option, name).map_err(value_error)?;
            }
        }
        for option in ["workspace-byte-alignment", "constants-byte-alignment"] {
            if let Some(alignment) = target.int(option) {
                let is_power = u64::try_from(alignment).is_ok_and(u64::is_power_of_two);
                if !is_power || alignment > 64 {
                    return Err(value_error(format!(
                        "target c: option '{option}': expected 1, 2, 4, 8, 16, 32 or 64, found {alignment}"
                    )));
                }
            }
        }
        check_dots(&target).map_err(value_error)?;
        fill_in(&mut target);
        Ok(target.to_json().to_string())
    }
}

/// Fills in the facts for schedules that are not set: those of this machine, unless `march` names
/// another, of which only the vector registers are known.
fn fill_in(target: &mut Target) {
    let march = target.str("march").map(str::to_owned);
    let is_here = march.as_deref().is_none_or(|march| march == "native");
    let mut set = |name: &str, value: Option<i64>| {
        if let Some(value) = value {
            target.options.entry(name.to_owned()).or_insert_with(|| value.into());
        }
    };
    let registers = if is_here { cpu::vector_registers() } else { march.as_deref().and_then(registers_of) };
    set("vector-bits", registers.map(|(bits, _)| bits.into()));
    set("vector-registers", registers.map(|(_, count)| count.into()));
    if is_here {
        for (name, size_bytes) in cpu::cache_options() {
            set(name, i64::try_from(size_bytes).ok());
        }
        if has_dots() && !target.options.contains_key(DOT_PRODUCTS) {
            let here = dots::written().filter(|dot| dot.sum.is_integer() || has_dots_of_halves());
            let names: Vec<String> = here.map(DotProduct::name).collect();
            target.options.insert(DOT_PRODUCTS.to_owned(), names.into());
        }
    }
}

/// The option that lists dot products.
const DOT_PRODUCTS: &str = "dot-products";

/// Checks that the text can have the dot products that a target names.
fn check_dots(target: &Target) -> Result<(), String> {
    let known: Vec<String> = dots::written().map(DotProduct::name).collect();
    match target.str_list(DOT_PRODUCTS).into_iter().find(|name| !known.iter().any(|known| known == name)) {
        None => Ok(()),
        Some(name) => {
            let shown: String = name.chars().take(60).collect();
            let known = known.join(", ");
            Err(format!("target c: option '{DOT_PRODUCTS}': expected some of {known}, found \"{shown}\""))
        }
    }
}

/// Whether this processor has instructions for dot products: `vpmaddwd` and better ones.
fn has_dots() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::arch::is_x86_feature_detected!("avx2")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

/// Whether this processor has an instruction for dot products of bfloat16.
fn has_dots_of_halves() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::arch::is_x86_feature_detected!("avx512bf16")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

/// Processors of x86 with AVX-512.
const AVX512: &[&str] = &[
    "cannonlake",
    "cascadelake",
    "cooperlake",
    "emeraldrapids",
    "graniterapids",
    "graniterapids-d",
    "icelake-client",
    "icelake-server",
    "knl",
    "knm",
    "rocketlake",
    "sapphirerapids",
    "skylake-avx512",
    "tigerlake",
    "x86-64-v4",
    "znver4",
    "znver5",
];

/// Processors of x86 without AVX.
const SSE: &[&str] = &[
    "amdfam10",
    "athlon-fx",
    "athlon64",
    "athlon64-sse3",
    "atom",
    "barcelona",
    "bonnell",
    "core2",
    "corei7",
    "btver1",
    "goldmont",
    "goldmont-plus",
    "i386",
    "i486",
    "i586",
    "i686",
    "k8",
    "k8-sse3",
    "nehalem",
    "nocona",
    "opteron",
    "opteron-sse3",
    "pentium",
    "pentium-m",
    "pentium4",
    "pentiumpro",
    "prescott",
    "silvermont",
    "tremont",
    "westmere",
    "x86-64",
    "x86-64-v2",
];

/// The bits and the number of vector registers of an instruction set, where its name says them.
fn registers_of(march: &str) -> Option<(u32, u32)> {
    let name = march.split('+').next().unwrap_or_default();
    if AVX512.contains(&name) {
        Some((512, 32))
    } else if SSE.contains(&name) {
        Some((128, 16))
    } else if X86.contains(&name) {
        Some((256, 16))
    } else {
        (ARM.contains(&name) && !name.starts_with("armv6") && !name.starts_with("armv7")).then_some((128, 32))
    }
}

fn value_error(message: String) -> Error {
    Error::new(ErrorKind::VALUE_ERROR, message)
}

/// Checks that compilers know a processor or instruction set. The compiler itself decides when the
/// module is loaded.
fn check_processor(option: &str, name: &str) -> Result<(), String> {
    let is_clean = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._+-".contains(&byte));
    let name_only = name.split('+').next().unwrap_or_default();
    // RISC-V lists the extensions in the name: rv64gc_zba.
    let riscv = name.strip_prefix("rv32").or_else(|| name.strip_prefix("rv64"));
    let is_riscv = riscv.is_some_and(|rest| {
        !rest.is_empty()
            && rest.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    });
    let known = || X86.iter().chain(ARM).chain(OTHERS);
    if is_riscv || is_clean && name.len() <= 128 && known().any(|known| *known == name_only) {
        return Ok(());
    }
    let shown: String = name.chars().take(60).collect();
    let nearest = known().max_by(|a, b| {
        let likeness = |known: &str| strsim::jaro_winkler(known, &shown);
        likeness(a).total_cmp(&likeness(b))
    });
    let nearest = nearest.copied().unwrap_or("native");
    Err(format!(
        "target c: option '{option}': expected a processor or instruction set as gcc and clang name them, \
         found \"{shown}\"; the nearest known one is \"{nearest}\""
    ))
}

//! Implementation of the LLVM target for a processor.

use chipdock_codegen_llvm::{
    Answer, CallingConv, DotInstructions, FastMath, LlvmTarget, Refusal, TileInstructions,
};
use chipdock_ir::{StorageRank, StorageScope, Target, ThreadAxis};
use chipdock_plugin_api::Error;

use crate::llvm::{Llvm, MachineOptions};
use crate::names::Family;
use crate::target_kind::{NAME, checked, value_error};
use crate::trial;
use crate::triple::Triple;

/// Default vector width in bits that LLVM prefers on x86: the widest of the processor. LLVM 19's
/// own default is 256 on processors that have 512, which took 1.0 to 1.4 times as long on the
/// kernels of `examples` (README).
const VECTOR_BITS: i64 = 512;

/// The target machine options of a target.
pub(crate) fn machine_options(target: &Target) -> MachineOptions {
    let text = |name: &str| target.str(name).unwrap_or_default().to_owned();
    MachineOptions {
        triple: text("mtriple"),
        cpu: text("mcpu"),
        features: target.str_list("mattr").join(","),
        abi: text("mabi"),
        opt_level: target.int("opt-level").and_then(|level| u8::try_from(level).ok()).unwrap_or(3).min(3),
    }
}

/// A processor, described by a canonical target.
#[derive(Clone, Debug)]
pub(crate) struct CpuTarget {
    needed: Vec<&'static str>,
    options: MachineOptions,
    data_layout: String,
    attributes: Vec<(String, String)>,
    fast_math: FastMath,
    converts_float16: bool,
    saturates: bool,
    has_sfence: bool,
    dots: DotInstructions,
    tiles: TileInstructions,
}

impl CpuTarget {
    /// Creates the processor of a target that the kind has canonicalized.
    ///
    /// # Errors
    ///
    /// * `ValueError`: the target is not canonical, or LLVM cannot compile for it.
    pub(crate) fn new(llvm: &'static Llvm, target: &Target) -> Result<Self, Error> {
        let canonical = checked(llvm, target)?;
        if let Some(option) =
            ["mtriple", "mcpu", "mattr"].iter().find(|name| differs(&canonical, target, name))
        {
            return Err(value_error(format!(
                "target {NAME}: expected a target that its kind has filled in, found option '{option}' as nobody fills \
                 it in; make the target with the host"
            )));
        }
        let options = machine_options(target);
        let triple = Triple::parse(&options.triple).map_err(value_error)?;
        let data_layout = llvm.machine(&options)?.data_layout();
        let family = triple.architecture.family;
        let converts_float16 = converts_float16(llvm, &options, family)?;
        let saturates = matches!(family, Family::AArch64 | Family::Arm | Family::RiscV | Family::WebAssembly);
        let lacks_sse = options.features.split(',').any(|item| item == "-sse");
        let mut attributes: Vec<(String, String)> = Vec::new();
        let mut attribute = |name: &str, value: String| {
            if !value.is_empty() {
                attributes.push((name.to_owned(), value));
            }
        };
        // No code here reads or sets the flags of floating-point exceptions.
        attribute("no-trapping-math", "true".to_owned());
        attribute("target-cpu", options.cpu.clone());
        attribute("target-features", tuned(&options.features, family));
        if triple.architecture.family == Family::X86 {
            let width = target.int("vector-width").unwrap_or(VECTOR_BITS);
            attribute("prefer-vector-width", width.to_string());
        }
        let dots = dots(llvm, &options, family)?;
        let tiles = tiles(llvm, &options, &triple)?;
        let needed = trial::needed(llvm, &options, family)?;
        Ok(Self {
            needed,
            fast_math: fast_math(target),
            data_layout,
            attributes,
            converts_float16,
            saturates,
            dots,
            tiles,
            // Processors of 32 bits may lack it, and x86-64 does not, unless a user says so.
            has_sfence: family == Family::X86 && triple.architecture.bits == 64 && !lacks_sse,
            options,
        })
    }

    /// The extensions that its code may use (M.20).
    pub(crate) fn needed(&self) -> &[&'static str] {
        &self.needed
    }

    /// The target machine options.
    pub(crate) fn machine_options(&self) -> &MachineOptions {
        &self.options
    }
}

fn differs(a: &Target, b: &Target, option: &str) -> bool {
    a.options.get(option) != b.options.get(option)
}

/// Fast-math flags: a flag's own option takes precedence over `fast-math`.
fn fast_math(target: &Target) -> FastMath {
    let all = target.bool("fast-math").unwrap_or(false);
    let flag = |name: &str| target.bool(&format!("fast-math-{name}")).unwrap_or(all);
    FastMath {
        nnan: flag("nnan"),
        ninf: flag("ninf"),
        nsz: flag("nsz"),
        arcp: flag("arcp"),
        contract: flag("contract"),
        reassoc: flag("reassoc"),
    }
}

/// Returns true if LLVM converts between float16 and float32 by an instruction rather than a
/// library call.
fn converts_float16(llvm: &'static Llvm, options: &MachineOptions, family: Family) -> Result<bool, Error> {
    let feature = match family {
        Family::X86 => "f16c",
        Family::AArch64 => "fp-armv8",
        Family::Arm => "fp16",
        Family::RiscV => "zfhmin",
        _ => return Ok(false),
    };
    // Features of this machine are all listed: none that f16c requires is missing, so no query is
    // needed.
    let has = |item: &str| options.features.split(',').any(|has| has == item);
    let stands_on = ["-f16c", "-avx", "-sse4.2", "-sse4.1", "-ssse3", "-sse3", "-sse2", "-sse"];
    if family == Family::X86 && has("+f16c") && !stands_on.into_iter().any(has) {
        return Ok(true);
    }
    Ok(trial::facts(llvm, options)?.contains(feature))
}

/// The processor's instructions for dot products.
///
/// # Errors
///
/// * `ValueError`: LLVM cannot compile for the processor.
pub(crate) fn dots(
    llvm: &'static Llvm,
    options: &MachineOptions,
    family: Family,
) -> Result<DotInstructions, Error> {
    let listed = |sign: char, name: &str| {
        options.features.split(',').any(|item| item.strip_prefix(sign) == Some(name))
    };
    // Features of this machine are all listed, and then no query is needed.
    let required = ["sse4.2", "avx", "avx2", "avx512f", "avx512bw", "avx512vl", "avx512vnni"];
    let is_full = required.iter().all(|name| listed('+', name));
    let facts = match family {
        Family::X86 if is_full => Default::default(),
        Family::X86 | Family::AArch64 => trial::facts(llvm, options)?,
        _ => return Ok(DotInstructions::None),
    };
    let has = |name: &str| if is_full { listed('+', name) } else { facts.contains(name) };
    if family == Family::AArch64 {
        let (has_dot, has_mixed) = (has("dotprod"), has("i8mm"));
        return Ok(DotInstructions::AArch64 { has_dot, has_mixed, has_bf16: has("bf16") });
    }
    if !has("avx2") {
        return Ok(DotInstructions::None);
    }
    let is_wide = has("avx512bw") && has("avx512vl");
    let vnni_bits = match (is_wide && has("avx512vnni"), has("avxvnni")) {
        (true, _) => 512,
        (false, true) => 256,
        (false, false) => 0,
    };
    let has_bf16 = is_wide && has("avx512bf16");
    Ok(DotInstructions::X86 { bits: if is_wide { 512 } else { 256 }, vnni_bits, has_bf16 })
}

/// The processor's tiles, which only Linux is asked for.
///
/// # Errors
///
/// * `ValueError`: LLVM cannot compile for the processor.
pub(crate) fn tiles(
    llvm: &'static Llvm,
    options: &MachineOptions,
    triple: &Triple,
) -> Result<TileInstructions, Error> {
    let architecture = &triple.architecture;
    let is_asked = architecture.family == Family::X86 && architecture.bits == 64;
    // Features of this machine are all listed, and then no query is needed.
    let is_missing = options.features.split(',').any(|item| item == "-amx-tile");
    if !is_asked || !triple.is_linux() || is_missing {
        return Ok(TileInstructions::default());
    }
    let facts = trial::facts(llvm, options)?;
    let has = |name: &str| facts.contains("amx-tile") && facts.contains(name);
    Ok(TileInstructions { has_int8: has("amx-int8"), has_bf16: has("amx-bf16") })
}

/// The features with which functions are compiled.
///
/// LLVM 19 tries 64-bit division in 32 bits first on Intel processors that divide fast (from Ice
/// Lake on, the first with AVX-512 VBMI2): if operands have both signs the jump is unpredictable. A
/// user can request that feature by name.
fn tuned(features: &str, family: Family) -> String {
    let divides_fast = family == Family::X86 && features.split(',').any(|has| has == "+avx512vbmi2");
    if divides_fast && !features.contains("idivq-to-divl") {
        return format!("{features},-idivq-to-divl");
    }
    features.to_owned()
}

fn refuse<T>(what: impl std::fmt::Display) -> Answer<T> {
    Err(Refusal::new(format!(
        "has no {what}: a function of a processor is one thread; build it for a target that has threads"
    )))
}

impl LlvmTarget for CpuTarget {
    fn name(&self) -> &str {
        NAME
    }

    fn triple(&self) -> &str {
        &self.options.triple
    }

    fn data_layout(&self) -> &str {
        &self.data_layout
    }

    fn pointer_bits(&self) -> u32 {
        // `p:32:32` is the default address space of a layout; LLVM omits it for 64 bits.
        let pointers = self.data_layout.split('-').find_map(|part| part.strip_prefix("p:"));
        let bits = pointers.and_then(|part| part.split(':').next()).and_then(|bits| bits.parse().ok());
        bits.unwrap_or(64)
    }

    fn function_attributes(&self) -> Vec<(String, String)> {
        self.attributes.clone()
    }

    fn calling_convention(&self, convention: CallingConv) -> Answer<&'static str> {
        match convention {
            CallingConv::Internal | CallingConv::Packed => Ok(""),
            CallingConv::Kernel => refuse("device kernels"),
        }
    }

    fn address_space(&self, scope: &StorageScope) -> Answer<u32> {
        match scope.rank {
            StorageRank::Global | StorageRank::Local if scope.tag.is_empty() => Ok(0),
            StorageRank::Shared | StorageRank::Warp => refuse(format!("storage scope {scope}")),
            _ => Err(Refusal::new(format!("has no storage scope {scope}; expected global or local"))),
        }
    }

    fn thread_index(&self, axis: ThreadAxis) -> Answer<&'static str> {
        refuse(format!("thread axis {axis}"))
    }

    fn barrier(&self, scope: &str) -> Answer<&'static [&'static str]> {
        refuse(format!("barrier of scope \"{scope}\""))
    }

    fn fast_math(&self) -> FastMath {
        self.fast_math
    }

    fn converts_float16(&self) -> bool {
        self.converts_float16
    }

    fn saturates(&self) -> bool {
        self.saturates
    }

    fn dot_instructions(&self) -> DotInstructions {
        self.dots
    }

    fn tiles(&self) -> TileInstructions {
        self.tiles
    }

    fn store_fence(&self) -> Option<&'static str> {
        self.has_sfence.then_some("llvm.x86.sse.sfence")
    }
}

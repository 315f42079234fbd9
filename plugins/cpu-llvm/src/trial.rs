//! Trial compilations: whether LLVM can compile for a processor at all, and which features the
//! processor has.
//!
//! LLVM's C interface answers neither. It warns about a combination of options, or ends the process
//! because of it, only when it compiles a function; so a small function with the kinds of code
//! found in kernels is compiled. And it inlines a function into another only if the other's
//! processor has every feature of the first: a function with one additional feature that is inlined
//! into its caller needed no more than the caller has. Both take one module of a few milliseconds,
//! whose outcome is kept for each combination.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::sync::Mutex;

use chipdock_ir::Target;
use chipdock_plugin_api::kit::{PerProcess, carried, lock};
use chipdock_plugin_api::object_code::needs::{self, Extension};
use chipdock_plugin_api::{Error, ErrorKind};

use crate::llvm::compile::attempt;
use crate::llvm::{Llvm, MachineOptions, Wanted};
use crate::names::Family;
use crate::target_kind::{NAME, value_error};
use crate::triple::Triple;

/// Code of the kinds found in kernels: integers, floats, vectors, memory, atomics, calls.
const SAMPLE: &str = "
declare i32 @called(ptr, i32, double)
declare float @llvm.fma.f32(float, float, float)
declare double @llvm.sqrt.f64(double)
define i32 @sample(ptr %p, ptr %q, i32 %n, i64 %m) {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %place = getelementptr float, ptr %p, i64 %i
  %x = load float, ptr %place, align 4
  %y = call float @llvm.fma.f32(float %x, float %x, float 1.0)
  %d = fpext float %y to double
  %root = call double @llvm.sqrt.f64(double %d)
  %result = call i32 @called(ptr %place, i32 %n, double %root)
  store float %y, ptr %place, align 4
  %next = add i64 %i, 1
  %again = icmp ult i64 %next, %m
  br i1 %again, label %loop, label %end
end:
  %v = load <8 x float>, ptr %q, align 4
  %w = fadd <8 x float> %v, %v
  store <8 x float> %w, ptr %p, align 4
  %quotient = sdiv i64 %m, 7
  %old = atomicrmw add ptr %q, i32 %n seq_cst
  %low = trunc i64 %quotient to i32
  %sum = add i32 %low, %old
  ret i32 %sum
}
@unknown = external global i32
";

/// Features that this plugin queries for a family.
fn asked(family: Family) -> &'static [&'static str] {
    match family {
        Family::X86 => &[
            "f16c",
            "sse2",
            "avx",
            "avx2",
            "avx512f",
            "avx512bw",
            "avx512vl",
            "avx512vnni",
            "avxvnni",
            "avx512bf16",
            "amx-tile",
            "amx-int8",
            "amx-bf16",
        ],
        Family::AArch64 => &["fp-armv8", "neon", "sve", "dotprod", "i8mm", "bf16", "fullfp16", "sme"],
        Family::Arm => &["fp16", "neon", "dotprod", "i8mm", "fullfp16", "dsp", "mve"],
        Family::RiscV => &["zfhmin", "f", "d", "v"],
        Family::LoongArch => &["f", "d", "lsx", "lasx"],
        Family::WebAssembly => &["simd128"],
        Family::PowerPc => &["vsx"],
        _ => &[],
    }
}

/// Extensions that code of a family may use, and processors of it may lack (M.20).
fn extensions(family: Family) -> &'static [Extension] {
    match family {
        Family::X86 => needs::X86,
        Family::AArch64 => needs::AARCH64,
        _ => &[],
    }
}

/// Features of a processor, among the queried ones.
pub(crate) type Facts = BTreeSet<&'static str>;

/// The facts, or the reason why LLVM cannot compile.
type Outcome = Result<Facts, String>;

/// Outcomes so far, by triple, processor, features and ABI.
static KNOWN: PerProcess<Mutex<HashMap<[String; 4], Outcome>>> = PerProcess::new(carried);
/// Maximum number of kept outcomes.
const KNOWN_MAX: usize = 256;

/// The features of a processor, among those in [`asked`].
///
/// # Errors
///
/// * `ValueError`, with LLVM's message: LLVM cannot compile for this combination of options.
pub(crate) fn facts(llvm: &'static Llvm, options: &MachineOptions) -> Result<Facts, Error> {
    let triple =
        Triple::parse(&options.triple).map_err(|message| value_error(format!("target {NAME}: {message}")))?;
    let MachineOptions { triple: name, cpu, features, abi, .. } = options;
    let key = [name.clone(), cpu.clone(), features.clone(), abi.clone()];
    let kept = lock(KNOWN.of_this()).get(&key).cloned();
    let outcome = match kept {
        Some(outcome) => outcome,
        None => {
            let outcome = compiled(llvm, options, asked(triple.architecture.family))?;
            let mut known = lock(KNOWN.of_this());
            if known.len() >= KNOWN_MAX {
                known.clear();
            }
            known.insert(key, outcome.clone());
            outcome
        }
    };
    outcome.map_err(|why| {
        let set = |option: &str, value: &str| {
            if value.is_empty() { String::new() } else { format!(", {option} \"{value}\"") }
        };
        value_error(format!(
            "target {NAME}: LLVM cannot compile for mtriple \"{name}\"{}{}{}: {}; change what it names",
            set("mcpu", cpu),
            set("mattr", &cut(features)),
            set("mabi", abi),
            why
        ))
    })
}

/// The extensions that code for a processor may use, by the names of [`needs`] (M.20).
///
/// # Errors
///
/// Not about the options, which [`facts`] has tried.
pub(crate) fn needed(
    llvm: &'static Llvm,
    options: &MachineOptions,
    family: Family,
) -> Result<Vec<&'static str>, Error> {
    static NEEDED: PerProcess<Mutex<HashMap<[String; 4], Facts>>> = PerProcess::new(carried);
    let all = extensions(family);
    // Without a processor and features it is the one that every machine of the family has.
    if all.is_empty() || options.cpu.is_empty() && options.features.is_empty() {
        return Ok(Vec::new());
    }
    let MachineOptions { triple, cpu, features, abi, .. } = options;
    let key = [triple.clone(), cpu.clone(), features.clone(), abi.clone()];
    let kept = lock(NEEDED.of_this()).get(&key).cloned();
    let found = match kept {
        Some(found) => found,
        None => {
            let names: Vec<&'static str> = all.iter().map(|extension| extension.llvm).collect();
            let found = compiled(llvm, options, &names)?.map_err(|why| {
                Error::new(
                    ErrorKind::INTERNAL,
                    format!("target {NAME}: LLVM gave no facts of a processor: {why}"),
                )
            })?;
            let mut needed = lock(NEEDED.of_this());
            if needed.len() >= KNOWN_MAX {
                needed.clear();
            }
            needed.insert(key, found.clone());
            found
        }
    };
    Ok(all
        .iter()
        .filter(|extension| found.contains(extension.llvm))
        .map(|extension| extension.name)
        .collect())
}

/// A list of features, shortened for a message.
fn cut(features: &str) -> String {
    const SHOWN: usize = 120;
    match features.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &features[..end]),
        None => features.to_owned(),
    }
}

/// Compiles a trial; the outer error is not about the options.
fn compiled(
    llvm: &'static Llvm,
    options: &MachineOptions,
    features: &[&'static str],
) -> Result<Outcome, Error> {
    // The lowest level at which LLVM inlines.
    let options = MachineOptions { opt_level: 2, ..options.clone() };
    let wanted = Wanted { object: true, ir: true, ..Wanted::default() };
    match attempt(llvm, &module(&options, features), &options, wanted) {
        Ok(output) => {
            let warned: Vec<&str> = output.notes.iter().map(|note| note.message.as_str()).collect();
            if let Some(first) = warned.first() {
                return Ok(Err((*first).to_owned()));
            }
            let calls: Vec<&str> = output.ir.lines().filter(|line| line.contains(" call ")).collect();
            let has = |index: &usize| !calls.iter().any(|line| line.contains(&format!("@more{index}(")));
            let found = (0..features.len()).filter(has).map(|index| features[index]);
            Ok(Ok(found.collect()))
        }
        Err(error) if error.kind() == ErrorKind::INTERNAL => Ok(Err(reason(&error.message()))),
        Err(error) => Err(error),
    }
}

/// The first of LLVM's complaints, without the parts that only concern IR of kernels.
fn reason(message: &str) -> String {
    let words = message.split_once("; ").map_or(message, |(first, _)| first);
    let words = words.strip_prefix("LLVM gave up: ").unwrap_or(words);
    let words = words.split_once(" refuses the IR: ").map_or(words, |(_, rest)| rest);
    let words = match words.split_once("in function ") {
        Some((place, rest)) if place.starts_with('<') => {
            rest.split_once("): ").map_or(rest, |(_, rest)| rest)
        }
        _ => words,
    };
    words.trim().trim_end_matches(['.', '!']).to_owned()
}

fn module(options: &MachineOptions, features: &[&str]) -> String {
    let mut text = SAMPLE.replace("%m) {", "%m) #0 {");
    let attributes =
        |features: &str| format!("\"target-cpu\"=\"{}\" \"target-features\"=\"{features}\"", options.cpu);
    let mut calls = String::new();
    for (index, feature) in features.iter().enumerate() {
        let more =
            format!("{}{}+{feature}", options.features, if options.features.is_empty() { "" } else { "," });
        // A volatile load, so that the result is not known without inlining.
        let _ = writeln!(
            text,
            "define i32 @more{index}() {} {{\n  %v = load volatile i32, ptr @unknown\n  ret i32 %v\n}}",
            attributes(&more)
        );
        let _ = writeln!(calls, "  %c{index} = call i32 @more{index}()");
    }
    let _ = writeln!(text, "define void @caller() #0 {{\n{calls}  ret void\n}}");
    let _ = writeln!(text, "attributes #0 = {{ {} }}", attributes(&options.features));
    text
}

/// Checks a target whose options are each valid by themselves (LLKIND-K4).
///
/// # Errors
///
/// * `ValueError`: LLVM cannot compile for it; floats would differ from those of the IR; the ABI
///   needs a missing feature.
pub(crate) fn check(llvm: &'static Llvm, options: &MachineOptions) -> Result<(), Error> {
    // LLVM prints a warning about an ABI that needs a missing feature, so the facts are found
    // without the ABI.
    let facts = facts(llvm, &MachineOptions { abi: String::new(), ..options.clone() })?;
    let triple = Triple::parse(&options.triple).map_err(value_error)?;
    let lacks = |option: &str, value: &str, feature: &str, why: &str| {
        let message = format!(
            "target {NAME}: option '{option}': \"{value}\" {why}, and the processor has no \"{feature}\"; \
             add \"+{feature}\" to option 'mattr' or choose another"
        );
        if facts.contains(feature) { Ok(()) } else { Err(value_error(message)) }
    };
    match triple.architecture.family {
        Family::X86 => {
            lacks("mcpu", &options.cpu, "sse2", "has to round floats as the IR does, which SSE2 does")
        }
        Family::RiscV | Family::LoongArch if options.abi.ends_with(['d', 'f']) => {
            let feature = &options.abi[options.abi.len() - 1..];
            lacks("mabi", &options.abi, feature, "passes floats in float registers")
        }
        _ => Ok(()),
    }?;
    self::facts(llvm, options).map(drop)
}

/// Adds to an ARM target the facts that TVM's schedules query: the key `arm_cpu`, and facts about
/// its processor.
///
/// # Errors
///
/// Any error of [`facts`].
pub(crate) fn add_arm_features(llvm: &'static Llvm, target: &mut Target) -> Result<(), Error> {
    let options = crate::target::machine_options(target);
    let triple = Triple::parse(&options.triple).map_err(value_error)?;
    let is_micro = triple.is_microcontroller() || options.cpu.starts_with("cortex-m");
    let is_real_time = triple.architecture.name.ends_with('r') || options.cpu.starts_with("cortex-r");
    let names: &[(&str, &str)] = match triple.architecture.family {
        Family::Arm if is_micro => &[("has_dsp", "dsp"), ("has_mve", "mve")],
        Family::Arm if is_real_time => return Ok(()),
        Family::AArch64 | Family::Arm => &[
            ("has_asimd", "neon"),
            ("has_sve", "sve"),
            ("has_dotprod", "dotprod"),
            ("has_matmul_i8", "i8mm"),
            ("has_fp16_simd", "fullfp16"),
            ("has_sme", "sme"),
        ],
        _ => return Ok(()),
    };
    let facts = facts(llvm, &options)?;
    for (name, feature) in names {
        target.options.insert(format!("feature.{name}"), facts.contains(feature).into());
    }
    if !is_micro {
        let is_aarch64 = triple.architecture.family == Family::AArch64;
        target.options.insert("feature.is_aarch64".to_owned(), is_aarch64.into());
    }
    if !target.keys.iter().any(|key| key == "arm_cpu") {
        target.keys.insert(0, "arm_cpu".to_owned());
    }
    Ok(())
}

/// Fills in the bits and the number of vector registers, unless they are set (LLKIND-K7). A
/// processor without vector registers, and one whose registers have no fixed width, has none.
///
/// # Errors
///
/// Any error of [`facts`].
pub(crate) fn add_vectors(llvm: &'static Llvm, target: &mut Target) -> Result<(), Error> {
    if target.options.contains_key("vector-bits") && target.options.contains_key("vector-registers") {
        return Ok(());
    }
    let options = crate::target::machine_options(target);
    let triple = Triple::parse(&options.triple).map_err(value_error)?;
    // All features of this machine are listed, so LLVM need not be asked.
    let listed = |feature: &str| options.features.split(',').any(|item| item.get(1..) == Some(feature));
    let facts = if triple.architecture.family == Family::X86 && listed("avx512f") && listed("avx") {
        let has = |feature: &&&str| {
            options.features.split(',').any(|item| item.strip_prefix('+') == Some(**feature))
        };
        ["avx", "avx512f"].iter().filter(has).copied().collect()
    } else {
        facts(llvm, &options)?
    };
    let has = |feature: &str| facts.contains(feature);
    let registers = match triple.architecture.family {
        Family::X86 if has("avx512f") => Some((512, 32)),
        Family::X86 if has("avx") => Some((256, 16)),
        Family::X86 => Some((128, if triple.architecture.bits == 64 { 16 } else { 8 })),
        Family::AArch64 if has("neon") => Some((128, 32)),
        Family::Arm if has("neon") => Some((128, 16)),
        Family::RiscV if has("v") => Some((128, 32)),
        Family::LoongArch if has("lasx") => Some((256, 32)),
        Family::LoongArch if has("lsx") => Some((128, 32)),
        Family::WebAssembly if has("simd128") => Some((128, 16)),
        Family::PowerPc if has("vsx") => Some((128, 64)),
        _ => None,
    };
    if let Some((bits, count)) = registers {
        for (name, value) in [("vector-bits", bits), ("vector-registers", count)] {
            target.options.entry(name.to_owned()).or_insert_with(|| value.into());
        }
    }
    Ok(())
}

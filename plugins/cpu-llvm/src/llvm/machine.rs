//! The host's processor, architectures, and target machines.

use core::ffi::CStr;
use std::collections::BTreeSet;

use chipdock_plugin_api::kit::lock;
use chipdock_plugin_api::{Error, ErrorKind};
use llvm_sys::prelude::LLVMModuleRef;
use llvm_sys::target_machine::{LLVMCodeGenOptLevel, LLVMRelocMode, LLVMTargetMachineRef, LLVMTargetRef};

use super::library::{Llvm, c_text};

/// The processor that this process runs on, as LLVM reports it.
///
/// LLVM misnames some processors: the features say what is available, the name which processor to
/// tune for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HostCpu {
    pub(crate) triple: String,
    pub(crate) cpu: String,
    /// `+a,-b,…`, every feature that LLVM looks for.
    pub(crate) features: String,
}

/// Options of a target machine. Triple and features determine whether floats are passed in
/// registers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct MachineOptions {
    pub(crate) triple: String,
    /// Empty for the generic processor of the triple. The target kind checks names: LLVM only
    /// prints a warning.
    pub(crate) cpu: String,
    /// `+a,-b,…`
    pub(crate) features: String,
    /// The ABI's name if a triple has several (`lp64d`), or empty.
    pub(crate) abi: String,
    /// Optimisation level, 0 to 3.
    pub(crate) opt_level: u8,
}

/// Idle target machines with the same options.
#[derive(Default)]
pub(crate) struct Machines(Vec<Raw>);

struct Raw(LLVMTargetMachineRef);

// SAFETY: a target machine is not bound to a thread; it is used by one thread at a time
// (LIBLLVM-O4).
unsafe impl Send for Raw {}

/// Maximum number of idle machines per set of options, and of sets of options.
const KEPT_MAX: usize = 8;

/// A target machine, for one build at a time.
pub(crate) struct Machine {
    llvm: &'static Llvm,
    raw: Option<Raw>,
    options: MachineOptions,
}

/// LLVM's architectures and the first words of their triples.
const ARCHITECTURES: &[(&str, &[&str])] = &[
    ("AArch64", &["aarch64", "aarch64_be", "aarch64_32", "arm64", "arm64e", "arm64ec", "arm64_32"]),
    ("AMDGPU", &["amdgcn", "r600"]),
    ("ARM", &["arm", "armeb", "thumb", "thumbeb", "armv*", "thumbv*"]),
    ("AVR", &["avr"]),
    ("BPF", &["bpf", "bpfel", "bpfeb"]),
    ("Hexagon", &["hexagon"]),
    ("Lanai", &["lanai"]),
    ("LoongArch", &["loongarch32", "loongarch64"]),
    ("M68k", &["m68k"]),
    ("Mips", &["mips*"]),
    ("MSP430", &["msp430"]),
    ("NVPTX", &["nvptx", "nvptx64"]),
    ("PowerPC", &["powerpc*", "ppc*"]),
    ("RISCV", &["riscv32", "riscv64"]),
    ("Sparc", &["sparc", "sparcel", "sparcv9", "sparc64"]),
    ("SystemZ", &["s390x", "systemz"]),
    ("VE", &["ve"]),
    ("WebAssembly", &["wasm32", "wasm64"]),
    ("X86", &["x86_64", "x86_64h", "amd64", "i386", "i486", "i586", "i686"]),
    ("XCore", &["xcore"]),
    ("Xtensa", &["xtensa"]),
];

/// The features without those of tiles (`amx-…`), unless the process may use tiles; only a
/// processor that has them is asked about.
pub(crate) fn granted(features: String, may_use_tiles: impl FnOnce() -> bool) -> String {
    let has_tiles = features.split(',').any(|item| item == "+amx-tile");
    if has_tiles && !may_use_tiles() { features.replace("+amx-", "-amx-") } else { features }
}

/// Asks Linux for permission to use tiles, for all threads of this process.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub(super) fn may_use_tiles() -> bool {
    const ARCH_REQ_XCOMP_PERM: libc::c_long = 0x1023;
    const XFEATURE_XTILEDATA: libc::c_long = 18;
    // SAFETY: sets a permission of the process, and reads and writes no memory of it.
    unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0 }
}

/// No other system is asked.
#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
pub(super) fn may_use_tiles() -> bool {
    false
}

/// The component of LLVM's with that name.
pub(super) fn component(name: &str) -> Option<&'static str> {
    ARCHITECTURES.iter().map(|(known, _)| *known).find(|known| *known == name)
}

/// LLVM's name of a triple's architecture, or `None` if the first word of the triple is unknown.
pub(crate) fn architecture(triple: &str) -> Option<&'static str> {
    let word = triple.split('-').next().unwrap_or_default();
    let fits = |pattern: &str| match pattern.strip_suffix('*') {
        Some(start) => word.starts_with(start),
        None => word == pattern,
    };
    ARCHITECTURES.iter().find(|(_, words)| words.iter().any(|pattern| fits(pattern))).map(|(name, _)| *name)
}

impl Llvm {
    /// The processor that this process runs on; queried once, as the query is slow in a virtual
    /// machine.
    pub(crate) fn host(&self) -> HostCpu {
        let api = &self.api;
        // SAFETY: each call returns a new string.
        let ask = || unsafe {
            HostCpu {
                triple: self.take_message((api.LLVMGetDefaultTargetTriple)()),
                cpu: self.take_message((api.LLVMGetHostCPUName)()),
                features: granted(self.take_message((api.LLVMGetHostCPUFeatures)()), may_use_tiles),
            }
        };
        self.host.get_or_init(ask).clone()
    }

    /// The architectures that this library supports, by LLVM's names.
    pub(crate) fn targets(&self) -> Vec<&'static str> {
        let has = |name: &str| self.initializer(name, "TargetMC").is_some();
        ARCHITECTURES.iter().map(|(name, _)| *name).filter(|name| has(name)).collect()
    }

    /// Converts a triple to LLVM's full form.
    #[cfg(test)]
    pub(crate) fn normalized(&self, triple: &str) -> Result<String, Error> {
        type Normalize = unsafe extern "C" fn(*const core::ffi::c_char) -> *mut core::ffi::c_char;
        let triple = c_text(triple, "the triple")?;
        // SAFETY: LLVM's function with its type: a live text in, a string of our own out.
        Ok(unsafe {
            let normalize = self.library.get::<Normalize>(b"LLVMNormalizeTargetTriple").unwrap();
            self.take_message(normalize(triple.as_ptr()))
        })
    }

    fn initializer(&self, architecture: &str, part: &str) -> Option<unsafe extern "C" fn()> {
        let name = format!("LLVMInitialize{architecture}{part}");
        // SAFETY: every function with such a name has this type.
        unsafe { self.library.get::<unsafe extern "C" fn()>(name.as_bytes()) }.ok().map(|found| *found)
    }

    /// Initialises an architecture of LLVM; the caller holds `initialized`.
    fn initialize(&self, done: &mut BTreeSet<&'static str>, triple: &str) -> Result<(), Error> {
        let Some(architecture) = architecture(triple) else {
            let known: Vec<_> = ARCHITECTURES.iter().map(|(_, words)| words[0]).collect();
            return Err(Error::new(
                ErrorKind::VALUE_ERROR,
                format!(
                    "expected a triple that begins with an architecture of LLVM's ({}, …), found \"{triple}\"",
                    known.join(", ")
                ),
            ));
        };
        if done.contains(architecture) {
            return Ok(());
        }
        let parts = ["TargetInfo", "Target", "TargetMC", "AsmPrinter"];
        let found: Option<Vec<_>> = parts.iter().map(|part| self.initializer(architecture, part)).collect();
        let Some(found) = found else {
            return Err(Error::new(
                ErrorKind::UNAVAILABLE,
                format!(
                    "{self} was built without the target {architecture}, which \"{triple}\" needs; it has {}",
                    self.targets().join(", ")
                ),
            ));
        };
        for initialize in found {
            // SAFETY: adds to LLVM's registry, which is locked here and wherever it is read.
            unsafe { initialize() };
        }
        done.insert(architecture);
        Ok(())
    }

    /// A target machine, new or reused from an earlier build with the same options.
    ///
    /// # Errors
    ///
    /// * `ValueError`: the triple's architecture is not one of LLVM's. `Unavailable`: this library
    ///   lacks it.
    pub(crate) fn machine(&'static self, options: &MachineOptions) -> Result<Machine, Error> {
        let kept = lock(&self.machines).get_mut(options).and_then(|machines| machines.0.pop());
        let raw = match kept {
            Some(raw) => raw,
            None => self.new_machine(options)?,
        };
        Ok(Machine { llvm: self, raw: Some(raw), options: options.clone() })
    }

    /// The architecture of a triple in LLVM's registry.
    fn target_of(&self, triple: &CStr, text: &str) -> Result<LLVMTargetRef, Error> {
        let mut done = lock(&self.initialized);
        self.initialize(&mut done, text)?;
        let mut target: LLVMTargetRef = core::ptr::null_mut();
        let mut message = core::ptr::null_mut();
        // SAFETY: the registry is locked; a live text and two places to write to.
        let (status, message) = unsafe {
            let api = &self.api;
            let status = (api.LLVMGetTargetFromTriple)(triple.as_ptr(), &raw mut target, &raw mut message);
            (status, self.take_message(message))
        };
        if status != 0 || target.is_null() {
            let message = format!("LLVM knows no target for \"{text}\": {message}");
            return Err(Error::new(ErrorKind::VALUE_ERROR, message));
        }
        Ok(target)
    }

    fn new_machine(&self, options: &MachineOptions) -> Result<Raw, Error> {
        let triple = c_text(&options.triple, "the triple")?;
        let cpu = c_text(&options.cpu, "the processor")?;
        let features = c_text(&options.features, "the features")?;
        let abi = c_text(&options.abi, "the ABI")?;
        let api = &self.api;
        let target = self.target_of(&triple, &options.triple)?;
        // No lock is held from here on: LLVM may give up on a processor, and this thread then never
        // returns (LIBLLVM-O6). SAFETY: a target of the registry, which are never removed; texts
        // are live; the options are disposed of once.
        let machine = unsafe {
            let made = (api.LLVMCreateTargetMachineOptions)();
            (api.LLVMTargetMachineOptionsSetCPU)(made, cpu.as_ptr());
            (api.LLVMTargetMachineOptionsSetFeatures)(made, features.as_ptr());
            (api.LLVMTargetMachineOptionsSetABI)(made, abi.as_ptr());
            (api.LLVMTargetMachineOptionsSetCodeGenOptLevel)(made, code_level(options.opt_level));
            (api.LLVMTargetMachineOptionsSetRelocMode)(made, relocation(&options.triple));
            let machine = (api.LLVMCreateTargetMachineWithOptions)(target, triple.as_ptr(), made);
            (api.LLVMDisposeTargetMachineOptions)(made);
            machine
        };
        if machine.is_null() {
            let message = format!("LLVM makes no machine for \"{}\" with these options", options.triple);
            return Err(Error::new(ErrorKind::VALUE_ERROR, message));
        }
        Ok(Raw(machine))
    }
}

impl Machine {
    pub(super) fn raw(&self) -> LLVMTargetMachineRef {
        self.raw.as_ref().map_or(core::ptr::null_mut(), |raw| raw.0)
    }

    /// Transfers ownership of the machine to the caller.
    pub(super) fn into_raw(mut self) -> LLVMTargetMachineRef {
        self.raw.take().map_or(core::ptr::null_mut(), |raw| raw.0)
    }

    /// Sets a module's data layout to that of this machine.
    ///
    /// # Safety
    ///
    /// * `module` is live, and used by this thread alone.
    pub(super) unsafe fn set_layout_of(&self, module: LLVMModuleRef) {
        let api = &self.llvm.api;
        // SAFETY: live machine and module; the layout is owned here, and disposed of once.
        unsafe {
            let layout = (api.LLVMCreateTargetDataLayout)(self.raw());
            (api.LLVMSetModuleDataLayout)(module, layout);
            (api.LLVMDisposeTargetData)(layout);
        }
    }

    /// LLVM's data layout of the machine.
    pub(crate) fn data_layout(&self) -> String {
        let api = &self.llvm.api;
        // SAFETY: a live machine; layout and string are owned here, and disposed of once.
        unsafe {
            let layout = (api.LLVMCreateTargetDataLayout)(self.raw());
            let text = self.llvm.take_message((api.LLVMCopyStringRepOfTargetData)(layout));
            (api.LLVMDisposeTargetData)(layout);
            text
        }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let Some(raw) = self.raw.take() else { return };
        let mut all = lock(&self.llvm.machines);
        if all.contains_key(&self.options) || all.len() < KEPT_MAX {
            let machines = all.entry(self.options.clone()).or_default();
            if machines.0.len() < KEPT_MAX {
                machines.0.push(raw);
                return;
            }
        }
        drop(all);
        // SAFETY: no other code has it.
        unsafe { (self.llvm.api.LLVMDisposeTargetMachine)(raw.0) };
    }
}

fn code_level(opt_level: u8) -> LLVMCodeGenOptLevel {
    match opt_level {
        0 => LLVMCodeGenOptLevel::LLVMCodeGenLevelNone,
        1 => LLVMCodeGenOptLevel::LLVMCodeGenLevelLess,
        2 => LLVMCodeGenOptLevel::LLVMCodeGenLevelDefault,
        _ => LLVMCodeGenOptLevel::LLVMCodeGenLevelAggressive,
    }
}

/// The relocation model: code that may be loaded anywhere; for WebAssembly the default, since the
/// other would be a shared library.
fn relocation(triple: &str) -> LLVMRelocMode {
    match architecture(triple) {
        Some("WebAssembly") => LLVMRelocMode::LLVMRelocDefault,
        _ => LLVMRelocMode::LLVMRelocPIC,
    }
}

//! Table of the functions of LLVM's C interface that are used, resolved when the library is opened.

use core::ffi::{c_char, c_void};

use libloading::os::unix::Library;
use llvm_sys::analysis::LLVMVerifierFailureAction;
use llvm_sys::error::LLVMErrorRef;
use llvm_sys::error_handling::LLVMFatalErrorHandler;
use llvm_sys::orc2::lljit::{LLVMOrcLLJITBuilderRef, LLVMOrcLLJITRef};
use llvm_sys::orc2::{LLVMOrcCJITDylibSearchOrder, LLVMOrcJITTargetMachineBuilderRef};
use llvm_sys::orc2::{
    LLVMOrcCLookupSet, LLVMOrcCSymbolMapPairs, LLVMOrcErrorReporterFunction,
    LLVMOrcExecutionSessionLookupHandleResultFunction, LLVMOrcExecutionSessionRef, LLVMOrcJITDylibRef,
    LLVMOrcLookupKind, LLVMOrcMaterializationUnitRef, LLVMOrcSymbolStringPoolEntryRef,
    LLVMOrcSymbolStringPoolRef,
};
use llvm_sys::prelude::{
    LLVMBool, LLVMContextRef, LLVMDiagnosticInfoRef, LLVMMemoryBufferRef, LLVMModuleRef,
};
use llvm_sys::target::LLVMTargetDataRef;
use llvm_sys::target_machine::{
    LLVMCodeGenFileType, LLVMCodeGenOptLevel, LLVMRelocMode, LLVMTargetMachineOptionsRef,
    LLVMTargetMachineRef, LLVMTargetRef,
};
use llvm_sys::transforms::pass_builder::LLVMPassBuilderOptionsRef;
use llvm_sys::{LLVMDiagnosticHandler, LLVMDiagnosticSeverity};

macro_rules! symbols {
    ($($($module:ident)::+ { $(fn $name:ident($($arg:ty),* $(,)?) $(-> $result:ty)?;)* })*) => {
        /// The functions, by LLVM's own names.
        #[expect(non_snake_case, reason = "LLVM's names")]
        pub(crate) struct Symbols {
            $($(pub(crate) $name: unsafe extern "C" fn($($arg),*) $(-> $result)?,)*)*
        }

        impl Symbols {
            /// Takes every function from a library; the names that it lacks are the error.
            ///
            /// # Safety
            ///
            /// * The library is an LLVM of the major that these types are of, and is never closed.
            #[expect(non_snake_case, reason = "LLVM's names")]
            pub(crate) unsafe fn load(library: &Library) -> Result<Self, Vec<&'static str>> {
                let mut missing = Vec::new();
                $($(
                    // SAFETY: the library is an LLVM of this major, as this function requires: the
                    // function has this type in that major.
                    let $name = unsafe { find(library, stringify!($name), &mut missing) };
                )*)*
                match ($($($name,)*)*) {
                    ($($(Some($name),)*)*) => Ok(Self { $($($name,)*)* }),
                    _ => Err(missing),
                }
            }
        }

        /// Each type is that of llvm-sys: this is compiled, never called, so that nothing is
        /// linked.
        #[cfg(test)]
        #[expect(dead_code, reason = "checked by the compiler alone")]
        fn types_agree() {
            $({
                use llvm_sys::$($module)::+ as module;
                $(let _: unsafe extern "C" fn($($arg),*) $(-> $result)? = module::$name;)*
            })*
        }
    };
}

/// # Safety
///
/// * The symbol has type `T`, a function pointer, wherever it is.
unsafe fn find<T: Copy>(library: &Library, name: &'static str, missing: &mut Vec<&'static str>) -> Option<T> {
    // SAFETY: the symbol has type `T`, as this function requires.
    let found = unsafe { library.get::<T>(name.as_bytes()) };
    if found.is_err() {
        missing.push(name);
    }
    found.ok().map(|symbol| *symbol)
}

symbols! {
    core {
        fn LLVMContextCreate() -> LLVMContextRef;
        fn LLVMContextDispose(LLVMContextRef);
        fn LLVMContextSetDiscardValueNames(LLVMContextRef, LLVMBool);
        fn LLVMContextSetDiagnosticHandler(LLVMContextRef, LLVMDiagnosticHandler, *mut c_void);
        fn LLVMGetDiagInfoDescription(LLVMDiagnosticInfoRef) -> *mut c_char;
        fn LLVMGetDiagInfoSeverity(LLVMDiagnosticInfoRef) -> LLVMDiagnosticSeverity;
        fn LLVMCreateMemoryBufferWithMemoryRangeCopy(*const c_char, usize, *const c_char) -> LLVMMemoryBufferRef;
        fn LLVMDisposeMemoryBuffer(LLVMMemoryBufferRef);
        fn LLVMGetBufferStart(LLVMMemoryBufferRef) -> *const c_char;
        fn LLVMGetBufferSize(LLVMMemoryBufferRef) -> usize;
        fn LLVMPrintModuleToString(LLVMModuleRef) -> *mut c_char;
        fn LLVMCloneModule(LLVMModuleRef) -> LLVMModuleRef;
        fn LLVMSetTarget(LLVMModuleRef, *const c_char);
        fn LLVMDisposeModule(LLVMModuleRef);
        fn LLVMDisposeMessage(*mut c_char);
    }
    error {
        fn LLVMGetErrorMessage(LLVMErrorRef) -> *mut c_char;
        fn LLVMDisposeErrorMessage(*mut c_char);
    }
    error_handling {
        fn LLVMInstallFatalErrorHandler(LLVMFatalErrorHandler);
    }
    ir_reader {
        fn LLVMParseIRInContext(LLVMContextRef, LLVMMemoryBufferRef, *mut LLVMModuleRef, *mut *mut c_char) -> LLVMBool;
    }
    analysis {
        fn LLVMVerifyModule(LLVMModuleRef, LLVMVerifierFailureAction, *mut *mut c_char) -> LLVMBool;
    }
    target {
        fn LLVMSetModuleDataLayout(LLVMModuleRef, LLVMTargetDataRef);
        fn LLVMDisposeTargetData(LLVMTargetDataRef);
        fn LLVMCopyStringRepOfTargetData(LLVMTargetDataRef) -> *mut c_char;
    }
    target_machine {
        fn LLVMGetDefaultTargetTriple() -> *mut c_char;
        fn LLVMGetHostCPUName() -> *mut c_char;
        fn LLVMGetHostCPUFeatures() -> *mut c_char;
        fn LLVMGetTargetFromTriple(*const c_char, *mut LLVMTargetRef, *mut *mut c_char) -> LLVMBool;
        fn LLVMCreateTargetMachineOptions() -> LLVMTargetMachineOptionsRef;
        fn LLVMDisposeTargetMachineOptions(LLVMTargetMachineOptionsRef);
        fn LLVMTargetMachineOptionsSetCPU(LLVMTargetMachineOptionsRef, *const c_char);
        fn LLVMTargetMachineOptionsSetFeatures(LLVMTargetMachineOptionsRef, *const c_char);
        fn LLVMTargetMachineOptionsSetABI(LLVMTargetMachineOptionsRef, *const c_char);
        fn LLVMTargetMachineOptionsSetCodeGenOptLevel(LLVMTargetMachineOptionsRef, LLVMCodeGenOptLevel);
        fn LLVMTargetMachineOptionsSetRelocMode(LLVMTargetMachineOptionsRef, LLVMRelocMode);
        fn LLVMCreateTargetMachineWithOptions(LLVMTargetRef, *const c_char, LLVMTargetMachineOptionsRef) -> LLVMTargetMachineRef;
        fn LLVMDisposeTargetMachine(LLVMTargetMachineRef);
        fn LLVMCreateTargetDataLayout(LLVMTargetMachineRef) -> LLVMTargetDataRef;
        fn LLVMTargetMachineEmitToMemoryBuffer(LLVMTargetMachineRef, LLVMModuleRef, LLVMCodeGenFileType, *mut *mut c_char, *mut LLVMMemoryBufferRef) -> LLVMBool;
    }
    transforms::pass_builder {
        fn LLVMCreatePassBuilderOptions() -> LLVMPassBuilderOptionsRef;
        fn LLVMPassBuilderOptionsSetLoopVectorization(LLVMPassBuilderOptionsRef, LLVMBool);
        fn LLVMPassBuilderOptionsSetSLPVectorization(LLVMPassBuilderOptionsRef, LLVMBool);
        fn LLVMPassBuilderOptionsSetLoopInterleaving(LLVMPassBuilderOptionsRef, LLVMBool);
        fn LLVMPassBuilderOptionsSetLoopUnrolling(LLVMPassBuilderOptionsRef, LLVMBool);
        fn LLVMDisposePassBuilderOptions(LLVMPassBuilderOptionsRef);
        fn LLVMRunPasses(LLVMModuleRef, *const c_char, LLVMTargetMachineRef, LLVMPassBuilderOptionsRef) -> LLVMErrorRef;
    }
    orc2::lljit {
        fn LLVMOrcCreateLLJITBuilder() -> LLVMOrcLLJITBuilderRef;
        fn LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(LLVMOrcLLJITBuilderRef, LLVMOrcJITTargetMachineBuilderRef);
        fn LLVMOrcCreateLLJIT(*mut LLVMOrcLLJITRef, LLVMOrcLLJITBuilderRef) -> LLVMErrorRef;
        fn LLVMOrcLLJITGetExecutionSession(LLVMOrcLLJITRef) -> LLVMOrcExecutionSessionRef;
        fn LLVMOrcLLJITAddObjectFile(LLVMOrcLLJITRef, LLVMOrcJITDylibRef, LLVMMemoryBufferRef) -> LLVMErrorRef;
    }
    orc2 {
        fn LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(LLVMTargetMachineRef) -> LLVMOrcJITTargetMachineBuilderRef;
        fn LLVMOrcExecutionSessionSetErrorReporter(LLVMOrcExecutionSessionRef, LLVMOrcErrorReporterFunction, *mut c_void);
        fn LLVMOrcExecutionSessionGetSymbolStringPool(LLVMOrcExecutionSessionRef) -> LLVMOrcSymbolStringPoolRef;
        fn LLVMOrcSymbolStringPoolClearDeadEntries(LLVMOrcSymbolStringPoolRef);
        fn LLVMOrcExecutionSessionCreateBareJITDylib(LLVMOrcExecutionSessionRef, *const c_char) -> LLVMOrcJITDylibRef;
        fn LLVMOrcExecutionSessionLookup(LLVMOrcExecutionSessionRef, LLVMOrcLookupKind, LLVMOrcCJITDylibSearchOrder, usize, LLVMOrcCLookupSet, usize, LLVMOrcExecutionSessionLookupHandleResultFunction, *mut c_void);
        fn LLVMOrcAbsoluteSymbols(LLVMOrcCSymbolMapPairs, usize) -> LLVMOrcMaterializationUnitRef;
        fn LLVMOrcDisposeMaterializationUnit(LLVMOrcMaterializationUnitRef);
        fn LLVMOrcJITDylibDefine(LLVMOrcJITDylibRef, LLVMOrcMaterializationUnitRef) -> LLVMErrorRef;
        fn LLVMOrcJITDylibClear(LLVMOrcJITDylibRef) -> LLVMErrorRef;
        fn LLVMOrcExecutionSessionIntern(LLVMOrcExecutionSessionRef, *const c_char) -> LLVMOrcSymbolStringPoolEntryRef;
        fn LLVMOrcSymbolStringPoolEntryStr(LLVMOrcSymbolStringPoolEntryRef) -> *const c_char;
    }
}

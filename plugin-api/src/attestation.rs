//! The layout check (P4): the layouts that a plugin exports, and their comparison by a host.

use core::ffi::c_void;

use abi_stable::StableAbi;
use abi_stable::abi_stability::abi_checking::{
    AbiInstability, AbiInstabilityErrors, ExpectedFound, check_layout_compatibility,
};
use abi_stable::library::{AbiHeaderRef, CheckTypeLayout, LibHeader, RootModuleResult};
use abi_stable::prefix_type::PrefixTypeTrait;
use abi_stable::type_layout::{TLFieldOrFunction, TypeLayout};
use chipdock_abi::ChipdockPlugin;
pub use chipdock_abi::attestation::{PluginRoot, PluginRootRef};

/// The symbol that a plugin built with the feature exports: the name that `abi_stable` looks for.
pub const SYMBOL: &str = "_1as_0lib_1header_0root_bmodule_bloader";

/// Compares the layouts of the frozen tables as the plugin was compiled with ours; returns the
/// plugin's descriptor.
///
/// # Errors
///
/// One line with the field that differs, the expected layout and the one that was found.
///
/// # Safety
///
/// * `symbol` is the address of [`SYMBOL`] in a library that is never unloaded.
pub unsafe fn attest(symbol: *const c_void) -> Result<&'static ChipdockPlugin, String> {
    if symbol.is_null() {
        return Err(format!("the symbol `{SYMBOL}` is null"));
    }
    // SAFETY: a reference to the header is one pointer wide, and it points to a static of the
    // library.
    let header: AbiHeaderRef = unsafe { core::mem::transmute::<*const c_void, AbiHeaderRef>(symbol) };
    // The version of abi_stable and the machine's C ABI are checked here.
    let header: &'static LibHeader = header.upgrade().map_err(|error| one_line(&error.to_string()))?;
    let found = header.layout().ok_or("the plugin's layout check holds no layouts")?;
    compare(<PluginRootRef as StableAbi>::LAYOUT, found)?;
    let root = header.init_root_module::<PluginRootRef>().map_err(|error| one_line(&error.to_string()))?;
    Ok(root.plugin())
}

/// Compares two layouts and puts the first difference in one line.
fn compare(expected: &'static TypeLayout, found: &'static TypeLayout) -> Result<(), String> {
    check_layout_compatibility(expected, found).map_err(|errors| summary(&errors))
}

fn summary(errors: &AbiInstabilityErrors) -> String {
    let differences: Vec<_> =
        errors.errors.iter().flat_map(|at| at.errs.iter().map(move |what| (at, what))).collect();
    let Some((at, what)) = differences.first() else { return "the layouts differ".to_owned() };
    let path: Vec<_> = at.stack_trace.iter().map(|step| field_name(&step.expected)).collect();
    let place = if path.is_empty() { "the descriptor".to_owned() } else { format!("`{}`", path.join(".")) };
    let rest = match differences.len() {
        1 => String::new(),
        count => format!(" (and {} more differences)", count - 1),
    };
    format!("the layout of {place} differs: {}{rest}", describe(what))
}

fn field_name(step: &TLFieldOrFunction) -> String {
    match step {
        TLFieldOrFunction::Field(field) => field.name().to_owned(),
        TLFieldOrFunction::Function(function) => function.name.to_string(),
    }
}

fn describe(what: &AbiInstability) -> String {
    let pair = |what: &str, expected: &dyn core::fmt::Display, found: &dyn core::fmt::Display| {
        format!(
            "{what}: expected {}, found {}",
            one_line(&expected.to_string()),
            one_line(&found.to_string())
        )
    };
    match what {
        AbiInstability::Name(ExpectedFound { expected, found }) => pair("type", expected, found),
        AbiInstability::Size(ExpectedFound { expected, found }) => pair("size in bytes", expected, found),
        AbiInstability::Alignment(ExpectedFound { expected, found }) => pair("alignment", expected, found),
        AbiInstability::PackageVersion(ExpectedFound { expected, found }) => pair("version", expected, found),
        AbiInstability::FieldCountMismatch(ExpectedFound { expected, found }) => {
            pair("number of fields", expected, found)
        }
        AbiInstability::UnexpectedField(ExpectedFound { expected, found }) => {
            pair("field", &expected.name(), &found.name())
        }
        other => one_line(&format!("{other:?}")),
    }
}

/// Returns the text without its line breaks, shortened if it is long.
fn one_line(text: &str) -> String {
    const LENGTH_MAX: usize = 160;
    let words: Vec<_> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(LENGTH_MAX) {
        Some((cut, _)) => format!("{}...", &line[..cut]),
        None => line,
    }
}

/// Makes the header of a library whose root module `root` returns.
///
/// # Safety
///
/// * `root` returns what [`root_module`] does.
#[doc(hidden)]
#[must_use]
pub const unsafe fn lib_header(root: extern "C" fn() -> RootModuleResult) -> LibHeader {
    // SAFETY: `root` returns the root module of this crate, as this function requires.
    unsafe { LibHeader::from_constructor::<PluginRootRef>(root, CheckTypeLayout::Yes) }
}

/// Makes the root module of a plugin.
#[doc(hidden)]
#[must_use]
pub fn root_module(plugin: &'static ChipdockPlugin) -> PluginRootRef {
    PluginRoot { plugin }.leak_into_prefix()
}

/// Exports the layouts of the frozen tables for a host to compare (P4).
#[doc(hidden)]
#[macro_export]
macro_rules! __export_attestation {
    ($descriptor:ident) => {
        // The name is `attestation::SYMBOL`; an attribute takes only a literal.
        #[unsafe(export_name = "_1as_0lib_1header_0root_bmodule_bloader")]
        static ATTESTATION: $crate::__private::LibHeader = {
            fn make() -> $crate::__private::PluginRootRef {
                $crate::__private::root_module(&$descriptor)
            }

            extern "C" fn root() -> $crate::__private::RootModuleResult {
                $crate::__private::__call_root_module_loader(make)
            }

            // SAFETY: the function returns the root module of that type.
            unsafe { $crate::__private::lib_header(root) }
        };
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbol_is_abi_stables() {
        assert_eq!(SYMBOL, abi_stable::library::ROOT_MODULE_LOADER_NAME);
    }

    #[test]
    fn difference_fits_a_line() {
        let report = compare(<PluginRootRef as StableAbi>::LAYOUT, <u64 as StableAbi>::LAYOUT).unwrap_err();
        assert!(!report.contains('\n') && report.len() < 600, "{report}");
        compare(<PluginRootRef as StableAbi>::LAYOUT, <PluginRootRef as StableAbi>::LAYOUT).unwrap();
    }

    mod changed {
        use abi_stable::StableAbi;

        #[repr(C)]
        #[derive(StableAbi)]
        pub(super) struct Table {
            pub(super) first: u32,
            pub(super) second: u32,
        }
    }

    mod original {
        use abi_stable::StableAbi;

        #[repr(C)]
        #[derive(StableAbi)]
        pub(super) struct Table {
            pub(super) second: u32,
            pub(super) first: u32,
        }
    }

    #[test]
    fn exchanged_fields_are_named() {
        let (expected, found) =
            (original::Table { second: 2, first: 1 }, changed::Table { first: 1, second: 2 });
        assert_eq!((expected.first, expected.second), (found.first, found.second));
        let report = compare(<original::Table as StableAbi>::LAYOUT, <changed::Table as StableAbi>::LAYOUT)
            .unwrap_err();
        assert!(report.contains("expected second, found first"), "{report}");
    }
}

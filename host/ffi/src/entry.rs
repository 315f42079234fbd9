//! The functions of the library: one list, from which symbols, metadata and registrations are made
//! (FFI-1).

use std::ffi::c_void;

use chipdock_abi::ChipdockAny;
use chipdock_plugin_api::{Any, AnyView, Error, ErrorKind};
use serde_json::{Value, json};

use crate::{side, signals};

/// A packed function, as TVM-FFI calls it.
pub(crate) type PackedCall =
    unsafe extern "C" fn(*mut c_void, *const ChipdockAny, i32, *mut ChipdockAny) -> i32;

/// A type of an argument or a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    /// Any value.
    Any,
    /// Any number of values; only as the last argument.
    Rest,
    /// A type with this key of TVM-FFI.
    Of(&'static str),
    /// That, or None; an argument of it may be left out at the end.
    Optional(&'static str),
    /// A list of such.
    Array(&'static str),
}

/// Keys of TVM-FFI's types.
pub(crate) mod key {
    use super::Type;

    pub(crate) const STR: Type = Type::Of("ffi.String");
    pub(crate) const BYTES: Type = Type::Of("ffi.Bytes");
    pub(crate) const INT: Type = Type::Of("int");
    pub(crate) const BOOL: Type = Type::Of("bool");
    pub(crate) const NONE: Type = Type::Of("None");
    pub(crate) const DEVICE: Type = Type::Of("Device");
    pub(crate) const DTYPE: Type = Type::Of("DataType");
    pub(crate) const SHAPE: Type = Type::Of("ffi.Shape");
    pub(crate) const TENSOR: Type = Type::Of("ffi.Tensor");
    pub(crate) const FUNCTION: Type = Type::Of("ffi.Function");
    pub(crate) const FFI_MODULE: Type = Type::Of("ffi.Module");
    pub(crate) const HOST: Type = Type::Of("chipdock.Host");
    pub(crate) const TARGET: Type = Type::Of("chipdock.Target");
    pub(crate) const MODULE: Type = Type::Of("chipdock.Module");
    pub(crate) const STREAM: Type = Type::Of("chipdock.Stream");
    pub(crate) const TIMELINE: Type = Type::Of("chipdock.Timeline");
    pub(crate) const GRAPH: Type = Type::Of("chipdock.Graph");
}

impl Type {
    /// Returns its schema in TVM-FFI's form.
    pub(crate) fn schema(self) -> Value {
        match self {
            Self::Any | Self::Rest => json!({"type": "Any"}),
            Self::Of(key) => json!({"type": key}),
            Self::Optional(key) => json!({"type": "Optional", "args": [{"type": key}]}),
            Self::Array(key) => json!({"type": "ffi.Array", "args": [{"type": key}]}),
        }
    }

    fn is_optional(self) -> bool {
        matches!(self, Self::Optional(_) | Self::Rest)
    }
}

/// A function of the library.
pub(crate) struct Entry {
    /// Name after `chipdock.`.
    pub(crate) name: &'static str,
    /// What it does.
    pub(crate) doc: &'static str,
    /// Names and types of its arguments.
    pub(crate) args: &'static [(&'static str, Type)],
    pub(crate) result: Type,
    pub(crate) call: PackedCall,
}

impl Entry {
    /// Returns its metadata as TVM-FFI reads it: its type schema, itself a JSON text, and the names
    /// of its arguments.
    pub(crate) fn metadata(&self) -> String {
        let args = self.args.iter().map(|(_, of)| of.schema());
        let types: Vec<Value> = std::iter::once(self.result.schema()).chain(args).collect();
        let schema = json!({ "type": "ffi.Function", "args": types });
        let names: Vec<&str> = self.args.iter().map(|(name, _)| *name).collect();
        json!({ "type_schema": schema.to_string(), "arg_names": names }).to_string()
    }

    /// Returns its documentation: the signature, then what it does.
    pub(crate) fn documentation(&self) -> String {
        let args: Vec<String> = self.args.iter().map(|(name, of)| format!("{name}: {}", text(*of))).collect();
        format!("{}({}) -> {}\n\n{}", self.name, args.join(", "), text(self.result), self.doc)
    }

    /// Checks the number of arguments, and runs `body` with one value for each; those that were
    /// left out are None.
    fn run(
        &self,
        args: &[AnyView<'_>],
        body: fn(&[AnyView<'_>]) -> Result<Any, Error>,
    ) -> Result<Any, Error> {
        let least = self.args.iter().take_while(|(_, of)| !of.is_optional()).count();
        let takes_rest = self.args.last().is_some_and(|(_, of)| *of == Type::Rest);
        let most = self.args.len() - usize::from(takes_rest);
        if args.len() < least || (args.len() > most && !takes_rest) {
            let expected = if least == most { format!("{most}") } else { format!("{least} to {most}") };
            let more = if takes_rest { " or more" } else { "" };
            let message =
                format!("chipdock.{}: expected {expected}{more} arguments, found {}", self.name, args.len());
            return Err(Error::new(ErrorKind::TYPE_ERROR, message));
        }
        if args.len() >= most {
            return body(args);
        }
        let mut whole = args.to_vec();
        whole.resize(most, AnyView::NONE);
        body(&whole)
    }
}

fn text(of: Type) -> String {
    let short = |key: &str| match key {
        "ffi.String" => "str".to_owned(),
        "ffi.Bytes" => "bytes".to_owned(),
        key => key.trim_start_matches("ffi.").trim_start_matches("chipdock.").to_owned(),
    };
    match of {
        Type::Any => "Any".to_owned(),
        Type::Rest => "Any...".to_owned(),
        Type::Of(key) => short(key),
        Type::Optional(key) => format!("{} | None", short(key)),
        Type::Array(key) => format!("list[{}]", short(key)),
    }
}

/// Runs a function of the library for whoever called its symbol.
///
/// # Safety
///
/// * `args`, `num_args` and `result` are those of a packed call (V.10).
pub(crate) unsafe fn run(
    entry: &Entry,
    args: *const ChipdockAny,
    num_args: i32,
    result: *mut ChipdockAny,
    body: fn(&[AnyView<'_>]) -> Result<Any, Error>,
) -> i32 {
    // SAFETY: the parameters of a packed call, passed on.
    unsafe { packed(args, num_args, result, |args| entry.run(args, body)) }
}

/// Runs `body` as a packed function whose errors are the callers'.
///
/// # Safety
///
/// * `args`, `num_args` and `result` are those of a packed call (V.10).
pub(crate) unsafe fn packed(
    args: *const ChipdockAny,
    num_args: i32,
    result: *mut ChipdockAny,
    body: impl FnOnce(&[AnyView<'_>]) -> Result<Any, Error>,
) -> i32 {
    let done = chipdock_plugin_api::caught(|| {
        // SAFETY: borrowed for the call, V.10.
        body(unsafe { AnyView::slice_from_raw(args, num_args)? })
    });
    let error = match done {
        Ok(Ok(value)) => {
            // SAFETY: V.10, a place for the result, or null.
            if let Some(result) = unsafe { result.as_mut() } {
                *result = value.into_raw();
            }
            return 0;
        }
        Ok(Err(error)) => error,
        Err(panic) => Error::new(
            ErrorKind::PANIC,
            format!("libchipdock panicked: {panic}; this is a bug, please report it"),
        ),
    };
    // Whatever the status: TVM-FFI from 0.1.9 on takes the error at each that is not 0, and reads a
    // null object where there is none.
    side::callers().raise(&error);
    signals::status(&error)
}

/// Declares the functions: for each its symbols, and its row of `ENTRIES`.
macro_rules! entries {
    ($($(#[doc = $doc:literal])+ fn $name:ident($($arg:ident: $type:expr),* $(,)?) -> $result:expr, $body:path;)*) => {
        $(
            mod $name {
                use super::*;

                pub(super) static ENTRY: Entry = Entry {
                    name: stringify!($name),
                    doc: concat!($($doc, "\n"),+),
                    args: &[$((stringify!($arg), $type)),*],
                    result: $result,
                    call,
                };

                #[unsafe(export_name = concat!("__tvm_ffi_", stringify!($name)))]
                unsafe extern "C" fn call(
                    _self: *mut c_void,
                    args: *const ChipdockAny,
                    num_args: i32,
                    result: *mut ChipdockAny,
                ) -> i32 {
                    // SAFETY: the parameters of a packed call, passed on.
                    unsafe { run_entry(&ENTRY, args, num_args, result, $body) }
                }

                #[unsafe(export_name = concat!("__tvm_ffi__metadata_", stringify!($name)))]
                unsafe extern "C" fn metadata(
                    _self: *mut c_void,
                    args: *const ChipdockAny,
                    num_args: i32,
                    result: *mut ChipdockAny,
                ) -> i32 {
                    // SAFETY: the parameters of a packed call, passed on.
                    unsafe { packed(args, num_args, result, |_| Ok(ENTRY.metadata().as_str().into())) }
                }

                #[unsafe(export_name = concat!("__tvm_ffi__doc_", stringify!($name)))]
                unsafe extern "C" fn doc(
                    _self: *mut c_void,
                    args: *const ChipdockAny,
                    num_args: i32,
                    result: *mut ChipdockAny,
                ) -> i32 {
                    // SAFETY: the parameters of a packed call, passed on.
                    unsafe { packed(args, num_args, result, |_| Ok(ENTRY.documentation().as_str().into())) }
                }
            }
        )*

        /// Every function of the library, in the order of the documentation.
        pub(crate) static ENTRIES: &[&Entry] = &[$(&$name::ENTRY),*];
    };
}
pub(crate) use entries;

//! The C text that joins an artifact's object and the run time to a library.

use std::fmt::Write as _;

use serde_json::json;

use super::entries::behind;
use super::parts::{ABOUT, RUNTIME, TREE};
use crate::compile::artifact::{Artifact, FunctionInfo};
use crate::error::{Error, ErrorKind};
use crate::library::{FUNCTION, LibraryDocument};

/// What the text is about.
pub(super) struct Glue<'a> {
    pub(super) artifact: &'a Artifact,
    /// Names and numbers of device types.
    pub(super) devices: Vec<(String, i32)>,
    /// True if the object does not have the variable of the environment.
    pub(super) defines_environment: bool,
    pub(super) document: &'a LibraryDocument,
    pub(super) about_bytes: usize,
    /// True if there is a tree of imported modules.
    pub(super) has_tree: bool,
    /// True if the functions of the object are behind entries (EXPORT-R8).
    pub(super) has_entries: bool,
}

/// A text as a string literal of C.
fn literal(text: &str) -> String {
    let mut literal = String::from("\"");
    for byte in text.bytes() {
        match byte {
            // `??` would begin a trigraph.
            b'"' | b'\\' | b'?' => literal.extend(['\\', char::from(byte)]),
            b' '..=b'~' => literal.push(char::from(byte)),
            _ => literal.push_str(&format!("\\{byte:03o}")),
        }
    }
    literal.push('"');
    literal
}

/// Returns true for a name that may stand in a symbol of an assembler.
fn is_symbol(name: &str) -> bool {
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$'))
}

/// The type of an argument or a result in TVM-FFI's schema.
fn schema_type(dtype: &str) -> &'static str {
    match dtype {
        "handle" => "ffi.Tensor",
        "bool" => "bool",
        _ if dtype.starts_with("float") || dtype.starts_with("bfloat") => "float",
        _ if dtype.starts_with("int") || dtype.starts_with("uint") => "int",
        _ => "Any",
    }
}

/// The metadata of a function as TVM-FFI reads it: its type schema, itself a JSON text.
fn metadata(function: &FunctionInfo) -> String {
    let result = function.doc.rsplit_once(" -> ").map_or("None", |(_, dtype)| schema_type(dtype));
    let types: Vec<_> = std::iter::once(result)
        .chain(function.args.iter().map(|dtype| schema_type(dtype)))
        .map(|name| json!({ "type": name }))
        .collect();
    let schema = json!({ "type": "ffi.Function", "args": types });
    json!({ "type_schema": schema.to_string() }).to_string()
}

/// What the functions beside a function answer, by the word in their names.
///
/// # Errors
///
/// `Unsupported`: its symbol is none that every assembler takes.
pub(super) fn answers(function: &FunctionInfo) -> Result<[(&'static str, String); 2], Error> {
    let FunctionInfo { name, symbol, doc, .. } = function;
    if is_symbol(symbol) {
        return Ok([("metadata", metadata(function)), ("doc", doc.clone())]);
    }
    let message = format!("function \"{name}\" has the symbol `{symbol}`, which no assembler takes");
    Err(Error::new(ErrorKind::Unsupported, message)
        .hint("rename the function to letters, digits and underscores"))
}

const PARAMETERS: &str = "void *self, const ChipdockAny *args, int32_t num_args, ChipdockAny *result";

impl Glue<'_> {
    /// Writes the text.
    pub(super) fn text(&self) -> Result<String, Error> {
        let mut text = format!(
            "// Joins kernels and run time to a library: written by chipdock {}.\n#include \"{RUNTIME}\"\n\n\
             #define EXPORTED __attribute__((visibility(\"default\")))\n\n",
            env!("CARGO_PKG_VERSION")
        );
        self.put_variables(&mut text);
        for (index, function) in self.artifact.index().functions.iter().enumerate() {
            self.put_function(&mut text, index, function)?;
        }
        self.put_data(&mut text);
        Ok(text)
    }

    fn put_variables(&self, text: &mut String) {
        text.push_str("EXPORTED void *__tvm_ffi__library_ctx;\n");
        if self.defines_environment {
            text.push_str("EXPORTED const ChipdockEnv *__chipdock_env;\n");
        }
        text.push_str("HIDDEN const NamedDevice chipdock_devices[] = {");
        for (name, number) in &self.devices {
            let _ = write!(text, "{{{}, {number}}}, ", literal(name));
        }
        text.push_str("{0, 0}};\n");
        let without = literal(&self.without_kernels());
        let _ = writeln!(text, "HIDDEN const char chipdock_without_kernels[] = {without};\n");
    }

    /// Extra text for the "no such device function" error.
    pub(super) fn without_kernels(&self) -> String {
        let aside = self.document.aside.as_ref().map(|aside| {
            format!(
                "; the device code of this library is in the file {} beside it: load the library with a Chipdock host",
                aside.file
            )
        });
        aside.unwrap_or_default()
    }

    /// Returns true for the function that also is `__tvm_ffi_main`.
    pub(super) fn has_main(&self, name: &str) -> bool {
        self.document.main.as_deref() == Some(name) && name != "main"
    }

    fn put_function(&self, text: &mut String, index: usize, function: &FunctionInfo) -> Result<(), Error> {
        let FunctionInfo { name, symbol, .. } = function;
        for (what, answer) in answers(function)? {
            let (size, answer) = (answer.len(), literal(&answer));
            let _ = writeln!(
                text,
                "EXPORTED int32_t {what}_{index}({PARAMETERS}) __asm__(\"{FUNCTION}_{what}_{name}\");\n\
                 int32_t {what}_{index}({PARAMETERS}) {{\n    (void)self, (void)args, (void)num_args;\n    \
                 return answer_text({answer}, {size}, result);\n}}"
            );
        }
        if self.has_entries {
            let behind = behind(symbol);
            let _ = writeln!(
                text,
                "extern HIDDEN int32_t kernel_{index}({PARAMETERS}) __asm__(\"{behind}\");\n\
                 EXPORTED int32_t entry_{index}({PARAMETERS}) __asm__(\"{symbol}\");\n\
                 int32_t entry_{index}({PARAMETERS}) {{\n    \
                 return chipdock_lacks ? refuse() : kernel_{index}(self, args, num_args, result);\n}}"
            );
        }
        if self.has_main(name) {
            let _ = writeln!(
                text,
                "extern int32_t only_function({PARAMETERS}) __asm__(\"{symbol}\");\n\
                 EXPORTED int32_t {FUNCTION}main({PARAMETERS}) {{\n    return only_function(self, args, num_args, result);\n}}"
            );
        }
        Ok(())
    }

    /// Data goes through the assembler, which copies files of any size at once.
    fn put_data(&self, text: &mut String) {
        put_file(text, "__chipdock_library", Some(self.about_bytes), ABOUT);
        if self.has_tree {
            put_file(text, "__tvm_ffi__library_bin", None, TREE);
        }
    }
}

/// Defines a symbol of a file's bytes, with their number before them if it is given.
fn put_file(text: &mut String, symbol: &str, size: Option<usize>, file: &str) {
    let size = size.map_or(String::new(), |size| format!("    \".quad {size}\\n\"\n"));
    let _ = write!(
        text,
        "\n__asm__(\n    \".pushsection .rodata.{symbol},\\\"a\\\",%progbits\\n\"\n    \".balign 16\\n\"\n    \
         \".globl {symbol}\\n\"\n    \".type {symbol},%object\\n\"\n    \"{symbol}:\\n\"\n{size}    \
         \".incbin \\\"{file}\\\"\\n\"\n    \".size {symbol}, .-{symbol}\\n\"\n    \".popsection\\n\");\n"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_a_schema_in_a_schema() {
        let function = FunctionInfo {
            name: "f".into(),
            symbol: "__tvm_ffi_f".into(),
            args: ["handle", "int32", "float16", "bool"].map(str::to_owned).to_vec(),
            launch_params: Vec::new(),
            doc: "f(A: Tensor([4], float32), n: int32, x: float16, b: bool) -> int32".into(),
        };
        let found: serde_json::Value = serde_json::from_str(&metadata(&function)).unwrap();
        let schema: serde_json::Value = serde_json::from_str(found["type_schema"].as_str().unwrap()).unwrap();
        let types: Vec<&str> =
            schema["args"].as_array().unwrap().iter().map(|one| one["type"].as_str().unwrap()).collect();
        assert_eq!(types, ["int", "ffi.Tensor", "int", "float", "bool"]);
        let nothing = FunctionInfo { doc: "f(A: Tensor([4], float32))".into(), ..function };
        assert!(metadata(&nothing).contains("None"));
    }

    #[test]
    fn a_literal_holds_any_text() {
        assert_eq!(literal("a\"b\\c??=\n\u{e9}"), "\"a\\\"b\\\\c\\?\\?=\\012\\303\\251\"");
    }
}

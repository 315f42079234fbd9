//! Functions by which a program changes what code generators of source languages deliver (C.41).
//!
//! A hook is a plain function that a plugin or the program registers under a name which begins with
//! the target's kind:
//!
//! | Hook | Arguments and result | What it is |
//! |---|---|---|
//! | `<kind>.postprocess_source` | `(source: str, target: str) -> str` | what each source becomes before it is compiled and delivered |
//! | `<kind>.compile_source` | `(source: str, target: str) -> bytes \| str` | the compiler, in place of the kind's own |
//! | `<hook>.fingerprint` | `() -> str` | identifies the hook: it differs whenever the hook might answer otherwise |
//!
//! `target` is the canonical JSON of the target. What is built with a hook is kept for another
//! build only where the hook has a fingerprint.

use crate::{Any, AnyView, Bytes, Error, ErrorKind, FromAny, Function, HostRef, Str};

/// A hook of a target's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hook {
    /// `postprocess_source`.
    Postprocess,
    /// `compile_source`.
    Compile,
}

impl Hook {
    /// Returns the name of the hook's function for a kind.
    #[must_use]
    pub fn function(self, kind: &str) -> String {
        let name = match self {
            Self::Postprocess => "postprocess_source",
            Self::Compile => "compile_source",
        };
        format!("{kind}.{name}")
    }

    /// Returns what identifies the hook of a kind in a fingerprint: empty if nobody registered it;
    /// `None` if it cannot be identified.
    ///
    /// # Errors
    ///
    /// Any error of the functions, or of opening the plugin that registers them.
    pub fn fingerprint(self, host: HostRef, kind: &str) -> Result<Option<String>, Error> {
        let name = self.function(kind);
        if host.function(&name)?.is_none() {
            return Ok(Some(String::new()));
        }
        let by = fingerprint_of(&name);
        let Some(function) = host.function(&by)? else { return Ok(None) };
        let text: String = answered(&by, "a string", function.call(host, &[])?)?;
        // With its length, no text can pass for that of another hook.
        Ok(Some(format!("; {name}={}:{text}", text.len())))
    }
}

/// Returns true if functions of that name are hooks, or identify one.
#[must_use]
pub fn is_hook(name: &str) -> bool {
    let hook = name.strip_suffix(".fingerprint").unwrap_or(name);
    [Hook::Postprocess, Hook::Compile].iter().any(|kind| hook.ends_with(&kind.function("")))
}

/// Returns the name of the function that identifies a hook.
#[must_use]
pub fn fingerprint_of(hook: &str) -> String {
    format!("{hook}.fingerprint")
}

/// Returns the source as the hook `postprocess_source` of a kind answers it; the source unchanged
/// if nobody registered one.
///
/// # Errors
///
/// * Any error of the function, or of opening the plugin that registers it.
/// * `TypeError`: it returned a value other than a string.
pub fn postprocessed(host: HostRef, kind: &str, source: String, target_json: &str) -> Result<String, Error> {
    let name = Hook::Postprocess.function(kind);
    let Some(function) = host.function(&name)? else { return Ok(source) };
    answered(&name, "the source as a string", call(host, &function, &source, target_json)?)
}

/// Returns the code that the hook `compile_source` of a kind makes of a source; `None` if nobody
/// registered one.
///
/// # Errors
///
/// * Any error of the function, or of opening the plugin that registers it.
/// * `TypeError`: it returned a value other than bytes or a string.
pub fn compiled(
    host: HostRef,
    kind: &str,
    source: &str,
    target_json: &str,
) -> Result<Option<Vec<u8>>, Error> {
    let name = Hook::Compile.function(kind);
    let Some(function) = host.function(&name)? else { return Ok(None) };
    let answer = call(host, &function, source, target_json)?;
    match answer.to::<String>() {
        Ok(text) => Ok(Some(text.into_bytes())),
        Err(_) => {
            answered(&name, "the code as bytes or a string", answer).map(|bytes: Bytes| Some(bytes.to_vec()))
        }
    }
}

fn call(host: HostRef, function: &Function, source: &str, target_json: &str) -> Result<Any, Error> {
    let args = [Str::new(source).into_any(), Str::new(target_json).into_any()];
    let views: Vec<AnyView<'_>> = args.iter().map(Any::view).collect();
    function.call(host, &views)
}

fn answered<T: for<'a> FromAny<'a>>(name: &str, what: &str, answer: Any) -> Result<T, Error> {
    answer.to().map_err(|error: Error| {
        Error::new(ErrorKind::TYPE_ERROR, format!("{name}: expected {what}: {}", error.message()))
    })
}

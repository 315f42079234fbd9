//! Signatures: what a caller passes to a compiled function, kept in its artifact.
//!
//! An index lists the types of arguments only (`handle` for a buffer). Whoever has the artifact
//! alone, and not the kernel, needs the names of buffers, the types of their elements and their
//! shapes too, symbolic ones included. So the host adds them when it compiles, beside the index,
//! which a loader is given as the code generator wrote it: for each function of the module a
//! document of the IR's wire format, at the earliest version that has what it needs, with the
//! function's parameters, its result, whether it is the entry, and no body.

use chipdock_ir::{Expr, IrModule, PrimFunc, Stage, Stmt, StmtKind, attr, validate, wire};
use serde_json::Value;

use crate::compile::artifact::{Artifact, FunctionInfo};
use crate::error::{Error, ErrorKind};

/// Field of a document that has its version (WIRE).
const VERSION: &str = "chipdock_ir";

/// Returns the signature of a function as a document; `None` where no version of the format has
/// what it needs.
fn document(function: &PrimFunc) -> Option<Value> {
    let attrs = function.attrs.iter().filter(|(name, _)| &***name == attr::IS_ENTRY_FUNC);
    let attrs = attrs.map(|(name, value)| (name.clone(), value.clone())).collect();
    let signature = PrimFunc {
        name: function.name.clone(),
        params: function.params.clone(),
        ret: function.ret,
        attrs,
        s_tir: false,
        alloc_buffers: Vec::new(),
        body: Stmt::new(StmtKind::Evaluate(Expr::i32(0))),
    };
    let module = IrModule { functions: vec![signature], attrs: Default::default() };
    let text = wire::VERSIONS.iter().find_map(|version| wire::write_at(&module, version).ok())?;
    serde_json::from_str(&text).ok()
}

impl Artifact {
    /// Returns the function of that name as it was in the module that was compiled, without its
    /// body: names, types and shapes of its parameters, and the type of its result. `None` where
    /// the artifact does not have it, as for kernels and for functions of libraries that Chipdock
    /// did not make.
    ///
    /// # Errors
    ///
    /// `ValueError` for a signature that is not a valid module of one function; `Unsupported` for
    /// one of a later version of the wire format.
    pub fn signature(&self, name: &str) -> Result<Option<PrimFunc>, Error> {
        let Some(document) = self.signatures().get(name) else { return Ok(None) };
        let wrong = |kind: ErrorKind, what: String| {
            Error::new(kind, format!("the signature of function \"{name}\": {what}"))
        };
        let is_newer = document[VERSION].as_str().and_then(|text| semver::Version::parse(text).ok());
        let is_newer = is_newer
            .is_some_and(|found| semver::Version::parse(wire::VERSION).is_ok_and(|known| found > known));
        let module = wire::read(&document.to_string()).map_err(|error| {
            let kind = if is_newer { ErrorKind::Unsupported } else { ErrorKind::Value };
            wrong(kind, error.to_string())
        })?;
        validate::validate(&module, Stage::Blocks).map_err(|problems| {
            let first = problems.first().map(ToString::to_string).unwrap_or_default();
            wrong(ErrorKind::Value, first)
        })?;
        let mut functions = module.functions;
        match (functions.pop(), functions.is_empty()) {
            (Some(function), true) => Ok(Some(function)),
            _ => Err(wrong(ErrorKind::Value, "expected one function".to_owned())),
        }
    }

    /// Returns true if it has a signature of the function of that name, readable or not.
    #[must_use]
    pub fn has_signature(&self, name: &str) -> bool {
        self.signatures().contains_key(name)
    }

    /// Adds the signatures of the functions that `module` has.
    pub(crate) fn with_signatures(self, module: &IrModule) -> Self {
        let signature = |info: &FunctionInfo| {
            let function = module.function(&info.name)?;
            let is_same = function.params.len() == info.args.len();
            Some((info.name.clone(), document(function).filter(|_| is_same)?))
        };
        let signatures = self.index().functions.iter().filter_map(signature).collect();
        self.signed(signatures)
    }
}

#[cfg(test)]
mod tests;

//! Artifacts as JSON, for programs and people: what a module has, without its code.

use chipdock_ir::{Expr, Param, PrimFunc, print};
use serde_json::{Value, json};

use crate::compile::artifact::{Artifact, FunctionInfo, Section};

/// Returns the signature of a function of an artifact where it has one that can be read.
#[must_use]
pub fn signature(artifact: &Artifact, info: &FunctionInfo) -> Option<PrimFunc> {
    artifact.signature(&info.name).ok().flatten()
}

/// Describes a function: name, symbol, types of its arguments, and its parameters where its
/// artifact has a signature of it.
#[must_use]
pub fn function(artifact: &Artifact, info: &FunctionInfo) -> Value {
    let signature = signature(artifact, info);
    // A number is a number, whatever the width that the kernel counts in.
    let extent =
        |expr: &Expr| Expr::as_int(expr).map_or_else(|| print::expr(expr), |value| value.to_string());
    let one = |param: &Param| match param {
        Param::Buffer(buffer) => json!({
            "name": &*buffer.name,
            "kind": "buffer",
            "dtype": buffer.dtype.to_string(),
            "shape": buffer.shape.iter().map(extent).collect::<Vec<_>>(),
        }),
        Param::Var(var) => {
            json!({"name": &*var.name, "kind": "scalar", "dtype": var.dtype.to_string(), "shape": null})
        }
    };
    json!({
        "name": info.name,
        "symbol": info.symbol,
        "args": info.args,
        "launch_params": info.launch_params,
        "params": signature.as_ref().map(|function| function.params.iter().map(one).collect::<Vec<_>>()),
        "returns": signature.and_then(|function| function.ret).map(|dtype| dtype.to_string()),
    })
}

/// Describes a section: name, kind, size, alignment and digest.
#[must_use]
pub fn section(section: &Section) -> Value {
    json!({
        "name": section.name(),
        "kind": section.kind(),
        "size_bytes": section.data().len(),
        "alignment_bytes": section.alignment_bytes(),
        "sha256": section.sha256(),
    })
}

/// Describes an artifact with what it imports.
#[must_use]
pub fn artifact(artifact: &Artifact) -> Value {
    let index = artifact.index();
    json!({
        "kind": index.module_kind,
        "format": index.format,
        "target": serde_json::from_str(artifact.target_json()).unwrap_or(Value::Null),
        "env": index.env,
        "functions": index.functions.iter().map(|info| function(artifact, info)).collect::<Vec<_>>(),
        "sections": artifact.sections().iter().map(section).collect::<Vec<_>>(),
        "imports": artifact.imports().iter().map(|import| self::artifact(import)).collect::<Vec<_>>(),
    })
}

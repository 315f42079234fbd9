//! Kernels and functions: bindings, the struct of scalars, the size of a block.

use chipdock_codegen_source::{Answer, Code, Infix, Refusal, Signature};
use chipdock_ir::{DType, StorageRank, TypeCode};

use super::WgslDialect;
use super::access::Form;
use super::types::{scalar, value_type};
use chipdock_codegen_source::Uses;

/// Value of `calling_conv` for a kernel.
pub(super) const KERNEL: i64 = 2;
/// Prefixes of the names of the struct of a kernel's scalars, and of the variable with it; the
/// kernel's name follows.
const SCALARS_TYPE: &str = "cd_scalars_of_";
const SCALARS: &str = "cd_in_";
/// Prefix of the pipeline constant for the words of dynamic shared memory; the kernel's name
/// follows.
const DYNAMIC_WORDS: &str = "cd_words_of_";

/// The way in which a parameter is passed to a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Binding {
    /// A storage buffer with that binding number in group 0.
    Buffer(usize),
    /// A member of the uniform struct.
    Scalar {
        /// Offset in bytes from the start of the struct.
        offset_bytes: usize,
        /// Type in WGSL: `i32`, `u32` or `f32`.
        type_name: &'static str,
    },
}

/// The type of a scalar in the uniform struct, always of 4 bytes.
fn member_type(dtype: DType) -> Answer<&'static str> {
    match (dtype.code, dtype.bits, dtype.lanes) {
        (TypeCode::Bool, _, 1) => Ok("u32"),
        (_, _, 1) => scalar(dtype),
        _ => Err(Refusal::new(format!("has no parameters of type {dtype}"))),
    }
}

/// The binding of each parameter of a kernel with these types, and the binding number of the
/// uniform struct if there is one: buffers first, in order.
pub(crate) fn bindings(params: &[DType]) -> (Vec<Binding>, Option<usize>) {
    let (mut buffers, mut scalars) = (0, 0);
    let all = params
        .iter()
        .map(|dtype| {
            if dtype.is_handle() {
                buffers += 1;
                Binding::Buffer(buffers - 1)
            } else {
                scalars += 1;
                let type_name = member_type(*dtype).unwrap_or("u32");
                Binding::Scalar { offset_bytes: (scalars - 1) * 4, type_name }
            }
        })
        .collect();
    (all, (scalars > 0).then_some(buffers))
}

/// The name of the constant for the words of dynamic shared memory.
pub(crate) fn dynamic_words(kernel: &str) -> String {
    format!("{DYNAMIC_WORDS}{kernel}")
}

pub(super) fn parameter(signature: &Signature, position: usize) -> Code {
    let Some(param) = signature.params.get(position) else { return Code::primary("0") };
    if signature.calling_conv != KERNEL || param.dtype.is_handle() {
        return Code::primary(&*param.name);
    }
    let member = Code::primary(format!("{SCALARS}{}.{}", signature.name, param.name));
    if param.dtype.is_bool() { Code::infix(Infix::NotEqual, &member, &Code::primary("0u")) } else { member }
}

impl WgslDialect {
    pub(super) fn module_text(&self, signature: &Signature) -> Answer<Vec<String>> {
        if signature.calling_conv != KERNEL {
            return Ok(Vec::new());
        }
        let types: Vec<DType> = signature.params.iter().map(|param| param.dtype).collect();
        let (bindings, uniform) = bindings(&types);
        let (mut lines, mut members) = (Vec::new(), Vec::new());
        for (param, binding) in signature.params.iter().zip(bindings) {
            let Binding::Buffer(number) = binding else {
                members.push(format!("    {}: {},", param.name, member_type(param.dtype)?));
                continue;
            };
            let Some(pointer) =
                param.pointer.as_ref().filter(|pointer| pointer.scope.rank == StorageRank::Global)
            else {
                return Err(Refusal::new(format!(
                    "has no untyped pointers ({}); state the element type and scope global",
                    param.name
                )));
            };
            let uses = Uses {
                is_read: param.is_read,
                is_written: param.is_written,
                is_atomic: param.is_atomic,
                ..Uses::default()
            };
            let form = self.form(&pointer.scope, pointer.element, uses)?;
            let is_atomic = matches!(form, Form::Atomics(_) | Form::Words { is_atomic: true });
            let access = if param.is_written || is_atomic { "read_write" } else { "read" };
            lines.push(format!(
                "@group(0) @binding({number}) var<storage, {access}> {}: array<{}>;",
                param.name,
                form.element()?
            ));
        }
        if let Some(number) = uniform {
            let name = &signature.name;
            lines.push(format!("struct {SCALARS_TYPE}{name} {{"));
            lines.append(&mut members);
            lines.push("}".to_owned());
            lines.push(format!(
                "@group(0) @binding({number}) var<uniform> {SCALARS}{name}: {SCALARS_TYPE}{name};"
            ));
        }
        if let Some(shared) = signature.launch.as_ref().and_then(|launch| launch.dynamic_shared.as_ref()) {
            let words = dynamic_words(&signature.name);
            let scope = chipdock_ir::StorageScope::parse("shared.dyn");
            let element = self.form(&scope, shared.element, shared.uses)?.element()?;
            lines.push(format!("override {words}: u32;"));
            lines.push(format!("var<workgroup> {}: array<{element}, {words}>;", shared.name));
        }
        Ok(lines)
    }

    pub(super) fn signature_text(&self, signature: &Signature) -> Answer<String> {
        let name = &signature.name;
        match (signature.calling_conv, &signature.launch) {
            (KERNEL, Some(launch)) => {
                if signature.ret.is_some() {
                    return Err(Refusal::new("has no kernels that return a value"));
                }
                if launch.is_cooperative {
                    return Err(Refusal::new("has no blocks that wait for each other (cooperative launch)"));
                }
                let mut block = Vec::with_capacity(3);
                for (extent, axis) in launch.block.iter().zip(["x", "y", "z"]) {
                    let Some(extent) = extent else {
                        return Err(Refusal::new(format!(
                            "has blocks of constant size only: the extent of threadIdx.{axis} is not constant"
                        )));
                    };
                    block.push(extent.max(&1).to_string());
                }
                let mut inputs = vec![
                    "@builtin(workgroup_id) cd_block: vec3<u32>",
                    "@builtin(local_invocation_id) cd_thread: vec3<u32>",
                ];
                if launch.uses_warp {
                    inputs.push("@builtin(subgroup_invocation_id) cd_lane: u32");
                }
                Ok(format!(
                    "@compute @workgroup_size({})\nfn {name}({})",
                    block.join(", "),
                    inputs.join(", ")
                ))
            }
            (0, _) => {
                let mut params = Vec::with_capacity(signature.params.len());
                for param in &signature.params {
                    if param.dtype.is_handle() {
                        return Err(Refusal::new(format!(
                            "passes no buffers to functions ({} of {name}); inline the function",
                            param.name
                        )));
                    }
                    params.push(format!("{}: {}", param.name, value_type(param.dtype)?));
                }
                let ret = match signature.ret {
                    Some(ret) => format!(" -> {}", value_type(ret)?),
                    None => String::new(),
                };
                Ok(format!("fn {name}({}){ret}", params.join(", ")))
            }
            (other, _) => Err(Refusal::new(format!(
                "has no functions of calling convention {other}; expected 2 (kernel) or 0 (called by a kernel)"
            ))),
        }
    }
}

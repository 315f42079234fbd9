//! Kernels and functions: arguments by index, positions of threads.

use chipdock_codegen_source::c_family::CFamily as _;
use chipdock_codegen_source::{Answer, Code, Infix, Parameter, Refusal, Signature};
use chipdock_ir::StorageRank;

use super::MslDialect;

/// Value of `calling_conv` for a kernel.
const KERNEL: i64 = 2;

pub(super) fn parameter(signature: &Signature, position: usize) -> Code {
    let Some(param) = signature.params.get(position) else { return Code::primary("0") };
    let name = Code::primary(&*param.name);
    // A boolean is passed as a byte.
    if signature.calling_conv == KERNEL && param.dtype.is_bool() {
        Code::infix(Infix::NotEqual, &name, &Code::primary("0"))
    } else {
        name
    }
}

impl MslDialect {
    fn kernel_param(&self, param: &Parameter, number: usize) -> Answer<String> {
        let name = &param.name;
        if !param.dtype.is_handle() {
            if !param.dtype.is_scalar() {
                return Err(Refusal::new(format!("has no parameters of type {}", param.dtype)));
            }
            let held = self.memory_type(param.dtype)?;
            return Ok(format!("constant {held}& {name} [[buffer({number})]]"));
        }
        let to = param.pointer.as_ref();
        if to.is_some_and(|to| to.scope.rank != StorageRank::Global) {
            return Err(Refusal::new(format!("passes kernels pointers of scope global only ({name})")));
        }
        let read_only = if param.is_written || param.is_atomic { "" } else { "const " };
        Ok(format!("{read_only}{} {name} [[buffer({number})]]", self.pointer(to)?))
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
                let mut params = Vec::with_capacity(signature.params.len() + 4);
                for (number, param) in signature.params.iter().enumerate() {
                    params.push(self.kernel_param(param, number)?);
                }
                if let Some(shared) = &launch.dynamic_shared {
                    let element = self.memory_type(shared.element)?;
                    params.push(format!("threadgroup {element}* {} [[threadgroup(0)]]", shared.name));
                }
                params.push("uint3 cd_block [[threadgroup_position_in_grid]]".to_owned());
                params.push("uint3 cd_thread [[thread_position_in_threadgroup]]".to_owned());
                if launch.uses_warp {
                    params.push("uint cd_lane [[thread_index_in_simdgroup]]".to_owned());
                }
                Ok(format!("kernel void {name}({})", params.join(", ")))
            }
            (0, _) => {
                let mut params = Vec::with_capacity(signature.params.len());
                for param in &signature.params {
                    let type_name = if param.dtype.is_handle() {
                        self.pointer(param.pointer.as_ref())?
                    } else {
                        self.vector_name(param.dtype)?
                    };
                    params.push(format!("{type_name} {}", param.name));
                }
                let ret = signature.ret.map_or(Ok("void".to_owned()), |ret| self.vector_name(ret))?;
                Ok(format!("static {ret} {name}({})", params.join(", ")))
            }
            (other, _) => Err(Refusal::new(format!(
                "has no functions of calling convention {other}; expected 2 (kernel) or 0 (called by a kernel)"
            ))),
        }
    }
}

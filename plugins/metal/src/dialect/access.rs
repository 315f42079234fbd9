//! Memory: declarations and atomic additions.

use chipdock_codegen_source::c_family::{CFamily as _, address};
use chipdock_codegen_source::{Access, Allocation, Answer, Code, Place, Prelude, Refusal};
use chipdock_ir::{DType, StorageRank, TypeCode};

use super::MslDialect;

/// Maximum size in bytes of one buffer of a thread's own memory.
const PRIVATE_SIZE_BYTES_MAX: i128 = 16 * 1024;

impl MslDialect {
    pub(super) fn allocation_text(&self, allocation: &Allocation<'_>) -> Answer<String> {
        let (name, buffer) = (allocation.name, allocation.buffer);
        let element = self.memory_type(buffer.dtype.scalar())?;
        match (buffer.scope.rank, self.space(&buffer.scope)?) {
            (StorageRank::Local, _) => {
                let size_bytes = allocation.count.saturating_mul(buffer.dtype.lane_size_bytes() as i128);
                if size_bytes > PRIVATE_SIZE_BYTES_MAX {
                    return Err(Refusal::new(format!(
                        "buffer {name} takes {size_bytes} bytes of a thread's own memory, at most \
                         {PRIVATE_SIZE_BYTES_MAX} are supported; use scope shared, or a parameter"
                    )));
                }
                Ok(format!("{element} {name}[{}];", allocation.count))
            }
            (StorageRank::Shared, space) => Ok(format!("{space} {element} {name}[{}];", allocation.count)),
            _ => Err(Refusal::new(format!(
                "has no allocation of scope \"{}\" in a kernel; it has shared and local",
                buffer.scope
            ))),
        }
    }

    /// An atomic addition that returns the previous value.
    pub(super) fn atomic_add(
        &self,
        access: &Access,
        value: &Code,
        dtype: DType,
        prelude: &mut Prelude,
    ) -> Answer<Code> {
        let (space, address) = (self.space(&access.scope)?, address(self, access, prelude)?);
        let Place::Element(_) = &access.place else {
            return Err(Refusal::new("adds atomically to one element only"));
        };
        if access.predicate.is_some() || access.dtype != dtype {
            return Err(Refusal::new(format!(
                "has no atomic addition of {dtype} to elements of {}",
                access.dtype
            )));
        }
        let native = |atomic: &str| {
            let pointer = Code::prefix(&format!("({space} {atomic}*)"), &address);
            call("atomic_fetch_add_explicit", [pointer, value.clone(), Code::primary("memory_order_relaxed")])
        };
        let is_own = access.scope.rank == StorageRank::Local;
        match (dtype, dtype.code) {
            (DType::INT32, _) if !is_own => Ok(native("atomic_int")),
            (DType::UINT32, _) if !is_own => Ok(native("atomic_uint")),
            (DType::FLOAT32, _) if self.has_atomic_float && space == "device" => Ok(native("atomic_float")),
            (DType::FLOAT32, TypeCode::Float) if !is_own => {
                let name = format!("cd_atomic_add_f32_{space}");
                prelude.define(&name, |_| {
                    format!(
                        "static inline float {name}({space} float* p, float v) {{\n    \
                         {space} atomic_uint* a = ({space} atomic_uint*)p;\n    \
                         uint old = atomic_load_explicit(a, memory_order_relaxed);\n    \
                         while (!atomic_compare_exchange_weak_explicit(a, &old, as_type<uint>(as_type<float>(old) + v), \
                         memory_order_relaxed, memory_order_relaxed)) {{\n    }}\n    \
                         return as_type<float>(old);\n}}\n"
                    )
                });
                Ok(call(&name, [address, value.clone()]))
            }
            _ => Err(Refusal::new(format!(
                "has no atomic addition of {dtype} in scope \"{}\"; it has int32, uint32 and float32 in global and \
                 shared memory",
                access.scope
            ))),
        }
    }
}

fn call(name: &str, args: impl IntoIterator<Item = Code>) -> Code {
    let args: Vec<Code> = args.into_iter().collect();
    Code::call(name, &args)
}

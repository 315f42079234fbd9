//! Stores that need not stay in caches.

use chipdock_codegen_source::{Answer, Code, Prelude};
use chipdock_ir::DType;

use super::vectors;

/// The greatest alignment that a processor requires of such a store, in bytes.
const ALIGNMENT_BYTES_MAX: usize = 64;

/// A store of a vector past the caches; `None` for a type without one.
pub(super) fn store(
    pointer: &Code,
    value: &Code,
    dtype: DType,
    prelude: &mut Prelude,
) -> Option<Answer<String>> {
    let size_bytes = usize::from(dtype.lanes) * dtype.lane_size_bytes();
    let fits = vectors::is_stored_as_held(dtype) && size_bytes.is_power_of_two() && size_bytes >= 16;
    fits.then(|| {
        let vector = vectors::vector_type(dtype, prelude)?;
        let unaligned = vectors::unaligned_type(dtype, prelude)?;
        let name = format!("cd_stream_{vector}");
        let last = size_bytes.min(ALIGNMENT_BYTES_MAX) - 1;
        if !prelude.contains(&name) {
            prelude.define("cd_stream", |_| STREAM.to_owned());
            prelude.define(&name, |_| {
                format!(
                    "static inline void {name}(void* p, {vector} x) {{\n    \
                     if (((uintptr_t)p & {last}) == 0) {{\n        \
                     CD_STREAM({vector}, p, x);\n    }} else {{\n        \
                     *({unaligned}*)p = x;\n    }}\n}}\n"
                )
            });
        }
        Ok(format!("{};", Code::call(&name, &[pointer.clone(), value.clone()]).text))
    })
}

/// The statement after which other threads see such stores.
pub(super) fn fence(prelude: &mut Prelude) -> String {
    prelude.define("cd_stream", |_| STREAM.to_owned());
    "CD_STREAM_FENCE();".to_owned()
}

/// clang splits a vector into what the machine has; gcc has x86's instructions by size alone, and
/// none of other machines.
const STREAM: &str = "\
#if defined(__SSE2__)
#define CD_STREAM_FENCE() __builtin_ia32_sfence()
#else
#define CD_STREAM_FENCE() __sync_synchronize()
#endif
#if defined(__clang__)
#define CD_STREAM(type, p, x) __builtin_nontemporal_store(x, (type*)(p))
#else
#define CD_STREAM(type, p, x) cd_stream((char*)(p), (const char*)&(x), sizeof(type))
static inline __attribute__((always_inline)) void cd_stream(char* to, const char* from, size_t size) {
#if defined(__AVX512F__)
    for (; size >= 64; size -= 64, to += 64, from += 64) {
        long long q __attribute__((vector_size(64)));
        __builtin_memcpy(&q, from, 64);
        __builtin_ia32_movntdq512((void*)to, q);
    }
#endif
#if defined(__AVX__)
    for (; size >= 32; size -= 32, to += 32, from += 32) {
        long long q __attribute__((vector_size(32)));
        __builtin_memcpy(&q, from, 32);
        __builtin_ia32_movntdq256((void*)to, q);
    }
#endif
#if defined(__SSE2__)
    for (; size >= 16; size -= 16, to += 16, from += 16) {
        long long q __attribute__((vector_size(16)));
        __builtin_memcpy(&q, from, 16);
        __builtin_ia32_movntdq((void*)to, q);
    }
#endif
    __builtin_memcpy(to, from, size);
}
#endif
";

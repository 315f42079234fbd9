//! Loads and stores. An address is only assumed to be a multiple of its element's size: adjacent
//! elements are accessed 8 or 16 bytes at a time if the address turns out to allow it. The compiler
//! does not use pointer types for alias analysis, so that memory may be read as another type.

use chipdock_codegen_source::c_family::{CFamily, LaneAccess};
use chipdock_codegen_source::{Allocation, Answer, Code, Prelude, Refusal};
use chipdock_ir::StorageRank;

use super::CudaDialect;

/// Maximum size in bytes of a thread's buffer in registers and stack: half of the machine's 512
/// KiB, which leaves room for others.
const LOCAL_SIZE_BYTES_MAX: i128 = 256 * 1024;
/// Maximum size in bytes of one access.
const CHUNK_SIZE_BYTES_MAX: usize = 16;

/// Returns true for a thread's own memory, which has no address as long as it is in registers.
pub(super) fn is_local(access: &LaneAccess<'_>) -> bool {
    access.scope.rank == StorageRank::Local
}

/// Number of bytes accessed at a time if the address allows it; `None` if that is only one element,
/// and for a thread's own memory.
pub(super) fn chunk_size_bytes(access: &LaneAccess<'_>) -> Option<usize> {
    if access.index.is_some() || access.is_masked || is_local(access) {
        return None;
    }
    let element = access.dtype.lane_size_bytes();
    let all = element * usize::from(access.dtype.lanes);
    let chunk = (1 << all.trailing_zeros()).min(CHUNK_SIZE_BYTES_MAX);
    (chunk > element).then_some(chunk)
}

/// Accesses memory through an array of elements, which the compiler keeps in registers.
pub(super) fn chunked(
    dialect: &CudaDialect,
    access: &LaneAccess<'_>,
    chunk: usize,
    prelude: &mut Prelude,
) -> String {
    let lanes = access.dtype.lanes;
    let chunks = access.dtype.lane_size_bytes() * usize::from(lanes) / chunk;
    let wide = match chunk {
        16 => "uint4",
        8 => "uint2",
        4 => "unsigned int",
        _ => "unsigned short",
    };
    let (from, to, constant) = if access.is_load { ("p", "e", "const ") } else { ("e", "p", "") };
    let (element, vector) = (access.element, access.vector);
    let is_aligned = format!("(unsigned long long)p % {chunk} == 0");
    let wide_copy =
        for_lanes(2, chunks as u16, &format!("(({wide}*){to})[l] = (({constant}{wide}*){from})[l];"));
    let narrow_copy = for_lanes(2, lanes, &format!("{to}[l] = {from}[l];"));
    let array = format!("    __align__({chunk}) {element} e[{lanes}];\n");
    let copy = format!("    if ({is_aligned}) {{\n{wide_copy}    }} else {{\n{narrow_copy}    }}\n");
    if access.is_load {
        let value = dialect.loaded(&Code::primary("e[l]"), access.dtype, prelude).text;
        let convert = for_lanes(1, lanes, &format!("r.v[l] = {value};"));
        return format!("{array}{copy}    {vector} r;\n{convert}    return r;\n");
    }
    let value = dialect.stored(&Code::primary("x.v[l]"), access.dtype, prelude).text;
    let convert = for_lanes(1, lanes, &format!("e[l] = {value};"));
    format!("{array}{convert}{copy}")
}

/// An unrolled loop over lanes, at a level of indentation.
fn for_lanes(level: usize, lanes: u16, line: &str) -> String {
    let indent = "    ".repeat(level);
    if lanes == 1 {
        return format!("{indent}{}\n", line.replace("[l]", "[0]"));
    }
    format!("#pragma unroll\n{indent}for (int l = 0; l < {lanes}; ++l) {{\n{indent}    {line}\n{indent}}}\n")
}

/// The declaration of a block's or a thread's memory of constant size.
pub(super) fn allocation(dialect: &CudaDialect, allocation: &Allocation<'_>) -> Answer<String> {
    let Allocation { name, buffer, count, uses } = *allocation;
    let element = dialect.memory_type(buffer.dtype.scalar())?;
    dialect.space(&buffer.scope)?;
    let volatile = if uses.is_volatile { "volatile " } else { "" };
    let size_bytes = count.saturating_mul(buffer.dtype.lane_size_bytes() as i128);
    match buffer.scope.rank {
        // Aligned for accesses of several elements, which check the address.
        StorageRank::Shared => Ok(format!("__shared__ __align__(16) {volatile}{element} {name}[{count}];")),
        StorageRank::Local if size_bytes <= LOCAL_SIZE_BYTES_MAX => {
            Ok(format!("{volatile}{element} {name}[{count}];"))
        }
        StorageRank::Local => Err(Refusal::new(format!(
            "buffer {name} takes {size_bytes} bytes of each thread's own memory, at most {LOCAL_SIZE_BYTES_MAX} are supported; use scope shared, or a parameter"
        ))),
        _ => Err(Refusal::new(format!(
            "has no memory of scope global within a kernel: make buffer {name} a parameter, or local or shared"
        ))),
    }
}

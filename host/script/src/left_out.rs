//! What TVM has below `T` and this crate does not take, each with its reason: named in the error,
//! listed in the README.

/// Names below `T` and why they are left out; `name.` stands for all of a namespace, `name*` for
/// all that start so.
const LEFT_OUT: &[(&[&str], &str)] = &[
    (
        &["call_llvm_intrin", "call_llvm_pure_intrin", "call_spirv_pure_glsl450", "llvm_lookup_intrinsic_id"],
        "an intrinsic of one compiler; call the op (as T.exp) and let the code generator choose",
    ),
    (&["tvm_stack_alloca"], "what a packed call is lowered to; write T.call_packed"),
    (
        &[
            "tvm_call_packed_lowered",
            "call_packed_lowered",
            "tvm_call_cpacked",
            "call_cpacked",
            "tvm_call_cpacked_lowered",
            "call_cpacked_lowered",
            "tvm_call_trace_packed",
        ],
        "a packed call is lowered by the code generator; write T.call_packed",
    ),
    (
        &["tvm_static_handle", "tvm_context_id", "lookup_param"],
        "a handle that only TVM's runtime gives; pass it as a parameter",
    ),
    (&["tvm_tuple"], "a value of several parts, which nothing here takes"),
    (&["anylist_*"], "lists of TVM's virtual machine, no part of a kernel"),
    (&["prefetch"], "a hint that no code generator here takes, and that TVM 0.27 cannot read either"),
    (&["filter", "selector"], "made by TVM's loop partition only; write T.if_then_else or T.Select"),
    (
        &["ignore_loop_partition"],
        "a note for TVM's loop partition, a pass that is not here; write its argument",
    ),
    (&["undef"], "a value that is not defined; nothing here is (rule IR-B4 of chipdock-ir)"),
    (&["ptr_byte_offset"], "use T.handle_add_byte_offset, and T.decl_buffer over the pointer"),
    (&["buffer_offset", "buffer_data", "print_buffer"], "a question about a buffer at run time"),
    (
        &["vscale", "get_active_lane_mask"],
        "vectors whose length only the machine knows, which Arm's SVE and RISC-V's V have and no other backend; write a \
         constant number of lanes, as T.vectorized(8)",
    ),
    (&["large_uint_imm"], "gone from TVM 0.27; write the number, as T.uint64(18446744073709551615)"),
    (
        &["texture2d_store", "texture2d_load", "nd_mem_alloc_with_scope"],
        "textures, the image memory of one backend",
    ),
    (&["dma_*"], "copies by the engine of one backend"),
    (&["cooperative_tensor_*"], "matrix units of one backend"),
    (
        &[
            "tvm_load_matrix_sync",
            "tvm_mma_sync",
            "tvm_bmma_sync",
            "tvm_fill_fragment",
            "tvm_store_matrix_sync",
        ],
        "matrix units of one backend",
    ),
    (
        &["tvm_kernel_replace_point", "tvm_global_barrier_kinit"],
        "barriers of a whole launch, which no API here promises",
    ),
    (
        &["start_profile_intrinsic", "end_profile_intrinsic"],
        "profiling by TVM's pass; see Profiler of the host",
    ),
    (&["tensormap_encode_tiled", "TensorMap"], "descriptors of the copy engine of one backend"),
    (&["CommReducer"], "write T.comm_reducer(lambda x, y: x + y, [T.float32(0)]), in T.attr"),
    (
        &["Reduce", "ProducerLoad", "IterVar", "iter_var", "Iter", "Range", "index_map"],
        "an object of TVM's Python, before it is a kernel; write loops and blocks",
    ),
    (
        &[
            "tile.",
            "TileLayout",
            "Layout",
            "ComposeLayout",
            "SMEMPool",
            "TMEMPool",
            "smem",
            "tmem",
            "wg_reg_tile",
            "alloc_cast_frag",
            "alloc_tcgen05_ldst_frag",
        ],
        "calls of tile primitives and their layouts; write the loops",
    ),
    (
        &[
            "ScopeIdDef",
            "ExecScope",
            "scope_id",
            "cluster*",
            "cta*",
            "warp*",
            "wg",
            "thread",
            "thread_id*",
            "lane_id",
            "device_entry",
            "hint",
        ],
        "definitions of execution scopes; write T.launch_thread or T.thread_binding",
    ),
    (
        &[
            "inline",
            "macro",
            "meta_class",
            "meta_var",
            "constexpr",
            "jit",
            "static_assert",
            "register_script_namespace",
        ],
        "Python that runs when TVM reads the script; nothing is run here",
    ),
    (
        &["alloc_scalar", "decl_scalar", "local_scalar", "shared_scalar", "scalar_wrapper"],
        "write x: T.int32 = value",
    ),
    (
        &[
            "float8_e3m4*",
            "float8_e4m3",
            "float8_e4m3x*",
            "float8_e4m3b11fnuz*",
            "float8_e4m3fnuz*",
            "float8_e5m2fnuz*",
            "float8_e8m0fnu*",
            "float6_*",
            "float4_*",
        ],
        "no type here; of the floats of less than 16 bits, float8_e4m3fn and float8_e5m2 are stored and cast",
    ),
    (&["void"], "only the type of a call for its effect, as T.call_extern(\"void\", ...)"),
    (&["layout", "byte_offset"], "layouts and offsets in bytes of a buffer"),
];

/// Why namespaces below `T` are left out.
const DEVICE: &str = "an intrinsic of one device; expected a builtin below T, as T.tvm_warp_shuffle_down";

/// Why a name below `T` is left out; nothing for a name that TVM does not have, or that is taken.
pub(crate) fn reason(name: &str) -> Option<&'static str> {
    let stands_for = |entry: &str| match entry.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None if entry.ends_with('.') => name.starts_with(entry) || entry.strip_suffix('.') == Some(name),
        None => name == entry,
    };
    if name.contains('.') && !name.starts_with("axis.") && !name.starts_with("tile.") {
        return Some(DEVICE);
    }
    let found = LEFT_OUT.iter().find(|(names, _)| names.iter().any(|entry| stands_for(entry)));
    found.map(|(_, reason)| *reason)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// The table of the README.
    fn table() -> String {
        let quoted =
            |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let rows = LEFT_OUT.iter().map(|(names, reason)| (quoted(names), *reason));
        let device = ("other namespaces (`T.<namespace>.…`)".to_owned(), DEVICE);
        let rows = rows.chain([device]).map(|(names, reason)| format!("| {names} | {reason} |\n"));
        format!("| Left out, below `T` | Why |\n|---|---|\n{}", rows.collect::<String>())
    }

    #[test]
    fn the_readme_lists_what_is_left_out() {
        const START: &str = "<!-- left out: made from src/left_out.rs by its test, with BLESS=1 -->\n";
        const END: &str = "<!-- end of left out -->\n";
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
        let readme = std::fs::read_to_string(&path).expect("the README can be read");
        let (before, rest) = readme.split_once(START).expect("the README has the start of the table");
        let (_, after) = rest.split_once(END).expect("the README has the end of the table");
        let wanted = format!("{before}{START}{}{END}{after}", table());
        chipdock_test_support::bless(&path, &wanted).unwrap_or_else(|error| panic!("{error}"));
    }

    #[test]
    fn excluded_files_are_not_taken() {
        for (names, _) in LEFT_OUT {
            for name in *names {
                assert!(!crate::names::known().any(|known| known == *name), "{name} is taken");
            }
        }
        assert!(reason("any.thing").is_some() && reason("axis.thing").is_none());
        assert!(reason("dma_copy").is_some() && reason("tile.gemm").is_some() && reason("exp").is_none());
        assert!(crate::names::known().all(|name| reason(name).is_none()), "a taken name has a reason");
    }
}

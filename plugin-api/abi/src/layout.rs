//! Proof of the layouts: sizes and offsets, asserted when this crate compiles. The test `header` of
//! tests/abi computes the hash that plugins carry from the first list and the types in the C
//! header.

use core::mem::{offset_of, size_of};

use crate::*;

macro_rules! layouts {
    ($($type:ident : $size:literal { $($field:ident @ $offset:literal),* $(,)? })*) => {
        $(
            const _: () = assert!(size_of::<$type>() == $size, concat!("size of ", stringify!($type)));
            $(const _: () = assert!(offset_of!($type, $field) == $offset, concat!("offset of ", stringify!($type), ".", stringify!($field)));)*
        )*
    };
}

// The types that are frozen with the major; `CHIPDOCK_LAYOUT_HASH` covers them.
layouts! {
    ChipdockAny: 16 { type_index @ 0, small_length @ 4, value @ 8 }
    ChipdockObject: 24 { combined_ref_count @ 0, type_index @ 8, padding @ 12, deleter @ 16 }
    ChipdockStr: 16 { data @ 0, size @ 8 }
    ChipdockByteArrayObject: 40 { bytes @ 24 }
    ChipdockShapeObject: 40 { data @ 24, size @ 32 }
    ChipdockTensorObject: 72 { tensor @ 24 }
    ChipdockFunctionObject: 40 { safe_call @ 24, cpp_call @ 32 }
    ChipdockErrorObject: 96 { kind @ 24, message @ 40, backtrace @ 56, update_backtrace @ 72, cause_chain @ 80, extra_context @ 88 }
    ChipdockArrayObject: 56 { data @ 24, size @ 32, capacity @ 40, data_deleter @ 48 }
    ChipdockDevice: 8 { device_type @ 0, device_id @ 4 }
    ChipdockDataType: 4 { code @ 0, bits @ 1, lanes @ 2 }
    ChipdockTensor: 48 { data @ 0, device @ 8, ndim @ 16, dtype @ 20, shape @ 24, strides @ 32, byte_offset @ 40 }
    ChipdockManagedTensor: 64 { dl_tensor @ 0, manager_ctx @ 48, deleter @ 56 }
    ChipdockManagedTensorVersioned: 80 { version @ 0, manager_ctx @ 8, deleter @ 16, flags @ 24, dl_tensor @ 32 }
    ChipdockHost: 88 { abi_major @ 0, abi_minor @ 4, version @ 8, self_ @ 24, raise @ 32, raise_object @ 40, take_error @ 48, log @ 56, function @ 64, current_stream @ 72, query @ 80 }
    ChipdockRegistrar: 56 { self_ @ 0, device_api @ 8, target_kind @ 16, codegen @ 24, module_loader @ 32, function @ 40, extend @ 48 }
    ChipdockEnv: 104 { version @ 0, flags @ 4, self_ @ 8, raise @ 16, allocate_workspace @ 24, free_workspace @ 32, current_stream @ 40, current_device @ 48, set_device @ 56, device_type @ 64, imported @ 72, parallel_launch @ 80, query @ 88, release @ 96 }
    ChipdockDeviceApi: 80 { destroy @ 0, device_count @ 8, attribute @ 16, allocate_data_space @ 24, free_data_space @ 32, copy_data @ 40, create_stream @ 48, free_stream @ 56, sync_stream @ 64, sync_stream_from_to @ 72 }
    ChipdockExtension: 32 { next @ 0, name @ 8, flags @ 24, size_bytes @ 28 }
    ChipdockDataSpaceRequest: 48 { size_bytes @ 0, alignment_bytes @ 8, dtype_hint @ 16, kind @ 20, scope @ 24, next @ 40 }
    ChipdockCopyEnd: 24 { device @ 0, data @ 8, offset_bytes @ 16 }
    ChipdockCopy: 72 { from @ 0, to @ 24, size_bytes @ 48, dtype_hint @ 56, flags @ 60, next @ 64 }
    ChipdockTargetKind: 16 { destroy @ 0, canonicalize @ 8 }
    ChipdockBuildRequest: 80 { ir @ 0, target_json @ 16, options_json @ 32, sections @ 48, sections_count @ 56, threads_max @ 64, flags @ 68, next @ 72 }
    ChipdockDiagnostic: 88 { severity @ 0, line @ 4, column @ 8, flags @ 12, function @ 16, node @ 32, message @ 48, hint @ 64, next @ 80 }
    ChipdockBuildSession: 48 { self_ @ 0, index @ 8, section @ 16, diagnostic @ 24, is_cancelled @ 32, query @ 40 }
    ChipdockCodegen: 32 { destroy @ 0, unsupported @ 8, build @ 16, fingerprint @ 24 }
    ChipdockSection: 56 { name @ 0, kind @ 16, alignment_bytes @ 32, data @ 40, size_bytes @ 48 }
    ChipdockArtifact: 40 { index_json @ 0, sections @ 16, sections_count @ 24, next @ 32 }
    ChipdockModule: 24 { destroy @ 0, function @ 8, query @ 16 }
    ChipdockModuleHandle: 16 { self_ @ 0, table @ 8 }
    ChipdockModuleLoader: 24 { destroy @ 0, verdict @ 8, load @ 16 }
    ChipdockTableSizes: 40 { host @ 0, registrar @ 4, env @ 8, device_api @ 12, target_kind @ 16, codegen @ 20, module_loader @ 24, module @ 28, any @ 32, tensor @ 36 }
    ChipdockInterface: 32 { self_ @ 0, table @ 8, table_size_bytes @ 16, features @ 24 }
    ChipdockPlugin: 152 { magic @ 0, abi_major @ 8, abi_minor @ 12, layout_hash @ 16, table_sizes @ 24, name @ 64, version @ 80, build_id @ 96, info_json @ 112, init @ 128, shutdown @ 136, release @ 144 }
}

// Named interfaces: more are added within a major, and the hash stays the same.
layouts! {
    ChipdockReset1: 8 { reset @ 0 }
    ChipdockTimer1: 24 { mark @ 0, elapsed @ 8, free_mark @ 16 }
    ChipdockTimeline1: 56 { create @ 0, free @ 8, signal @ 16, wait @ 24, query @ 32, host_wait @ 40, host_signal @ 48 }
    ChipdockTimelinePoint: 48 { extension @ 0, timeline @ 32, value @ 40 }
    ChipdockReplay: 40 { device_id @ 0, flags @ 4, stream @ 8, arguments @ 16, arguments_count @ 24, next @ 32 }
    ChipdockGraph1: 32 { create @ 0, free @ 8, finish @ 16, replay @ 24 }
    ChipdockGraphRecord: 40 { extension @ 0, graph @ 32 }
    ChipdockExternal1: 32 { adopt_stream @ 0, native_stream @ 8, native_data @ 16, adopt_host_memory @ 24 }
    ChipdockMap1: 8 { address @ 0 }
    ChipdockMemoryAsync1: 16 { allocate @ 0, free @ 8 }
    ChipdockWorkspace1: 16 { allocate @ 0, free @ 8 }
    ChipdockObject1: 8 { object @ 0 }
    ChipdockConformance1: 8 { wants_hooks @ 0 }
    ChipdockConfig1: 8 { get @ 0 }
    ChipdockProgress1: 8 { step @ 0 }
    ChipdockInterrupt1: 8 { go_on @ 0 }
    ChipdockNeeds1: 8 { find @ 0 }
    ChipdockEntry: 16 { entry @ 0, device_type @ 8, flags @ 12 }
    ChipdockLaunchRequest: 96 { device_id @ 0, flags @ 4, stream @ 8, grid @ 16, block @ 40, dynamic_shared_bytes @ 64, args @ 72, args_count @ 80, next @ 88 }
    ChipdockLaunch1: 16 { entry @ 0, launch @ 8 }
    ChipdockMemory1: 8 { allocate_tensor @ 0 }
}

impl ChipdockTableSizes {
    /// Returns the sizes as this crate was compiled.
    #[must_use]
    pub const fn current() -> Self {
        Self {
            host: size_of::<ChipdockHost>() as u32,
            registrar: size_of::<ChipdockRegistrar>() as u32,
            env: size_of::<ChipdockEnv>() as u32,
            device_api: size_of::<ChipdockDeviceApi>() as u32,
            target_kind: size_of::<ChipdockTargetKind>() as u32,
            codegen: size_of::<ChipdockCodegen>() as u32,
            module_loader: size_of::<ChipdockModuleLoader>() as u32,
            module: size_of::<ChipdockModule>() as u32,
            any: size_of::<ChipdockAny>() as u32,
            tensor: size_of::<ChipdockTensor>() as u32,
        }
    }
}

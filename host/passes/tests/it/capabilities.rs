//! Capabilities of made-up targets.

use std::sync::Arc;

use chipdock_ir::{Stage, Target, TargetCapabilities, ThreadAxis};

/// A host without threads.
pub(crate) fn host() -> TargetCapabilities {
    TargetCapabilities::host("host-kind")
}

/// A device with threads.
pub(crate) fn device() -> TargetCapabilities {
    host().with(|it| {
        it.target = Arc::new(Target { kind: "device-kind".into(), ..Target::default() });
        it.device.device_type = 4;
        it.device.name = "gadget".into();
        it.stage = Stage::Device;
        it.is_host = false;
        it.execution.thread_axes = vec![ThreadAxis::BlockX, ThreadAxis::ThreadX];
        it.memory.storage_scopes = vec!["global".into(), "shared".into(), "local".into()];
        it.limits.threads_per_block_max = Some(256);
        it.memory.shared_memory_bytes_max = Some(16384);
    })
}

/// A device without float64 and int64.
pub(crate) fn narrow() -> TargetCapabilities {
    use chipdock_ir::DType;
    device().with(|it| it.types.missing_types = vec![DType::FLOAT64, DType::INT64, DType::UINT64])
}

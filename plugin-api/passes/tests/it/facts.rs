//! Facts of made-up targets.

use std::sync::Arc;

use chipdock_ir::{Stage, Target, TargetFacts, ThreadAxis};

/// A host without threads.
pub(crate) fn host() -> TargetFacts {
    TargetFacts::host("host-kind")
}

/// A device with threads.
pub(crate) fn device() -> TargetFacts {
    TargetFacts {
        target: Arc::new(Target { kind: "device-kind".into(), ..Target::default() }),
        device_type: 4,
        device: "gadget".into(),
        stage: Stage::Device,
        is_host: false,
        thread_axes: vec![ThreadAxis::BlockX, ThreadAxis::ThreadX],
        storage_scopes: vec!["global".into(), "shared".into(), "local".into()],
        threads_per_block_max: Some(256),
        shared_memory_bytes_max: Some(16384),
        ..host()
    }
}

/// A device without float64 and int64.
pub(crate) fn narrow() -> TargetFacts {
    use chipdock_ir::DType;
    TargetFacts { missing_types: vec![DType::FLOAT64, DType::INT64, DType::UINT64], ..device() }
}

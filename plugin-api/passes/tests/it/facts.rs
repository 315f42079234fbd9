//! Facts of made-up targets.

use std::sync::Arc;

use chipdock_ir::{Stage, Target, TargetFacts, ThreadAxis};

/// A host without threads.
pub(crate) fn host() -> TargetFacts {
    TargetFacts {
        target: Arc::new(Target { kind: "host-kind".into(), ..Target::default() }),
        device_type: 1,
        device: "cpu".into(),
        stage: Stage::Host,
        is_host: true,
        thread_axes: Vec::new(),
        storage_scopes: vec!["global".into(), "local".into()],
        threads_per_block_max: None,
        shared_memory_bytes_max: None,
        warp_size: None,
        function_args_max: None,
        native_ops: Vec::new(),
    }
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

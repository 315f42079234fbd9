//! Data spaces and workspaces.

mod kind;
mod live;
pub(super) mod map;
mod ordered;
mod refused;
mod size;
mod tensor;

use chipdock_abi::{
    CHIPDOCK_DTYPE_BFLOAT, CHIPDOCK_DTYPE_BOOL, CHIPDOCK_DTYPE_FLOAT, CHIPDOCK_DTYPE_HANDLE,
    CHIPDOCK_DTYPE_INT, CHIPDOCK_DTYPE_UINT, ChipdockDataType,
};
use chipdock_plugin_api::attribute;
use chipdock_raw_host::Device;

use crate::Cases;

pub(super) fn add(cases: &mut Cases) {
    size::add(cases);
    live::add(cases);
    refused::add(cases);
    kind::add(cases);
    map::add(cases);
    ordered::add(cases);
    tensor::add(cases);
}

/// Returns element type hints with their spelling in ids: each scalar type, vectors, and unknown
/// types.
pub(super) fn hints() -> Vec<(String, ChipdockDataType)> {
    let mut hints = Vec::new();
    let scalars: [(&str, u8, &[u8]); 5] = [
        ("int", CHIPDOCK_DTYPE_INT, &[8, 16, 32, 64]),
        ("uint", CHIPDOCK_DTYPE_UINT, &[8, 16, 32, 64]),
        ("float", CHIPDOCK_DTYPE_FLOAT, &[16, 32, 64]),
        ("bfloat", CHIPDOCK_DTYPE_BFLOAT, &[16]),
        ("bool", CHIPDOCK_DTYPE_BOOL, &[8]),
    ];
    for (name, code, widths) in scalars {
        hints.extend(
            widths
                .iter()
                .map(|bits| (format!("{name}{bits}"), ChipdockDataType { code, bits: *bits, lanes: 1 })),
        );
    }
    let others = [
        ("float32x4", CHIPDOCK_DTYPE_FLOAT, 32, 4),
        ("float64x64", CHIPDOCK_DTYPE_FLOAT, 64, 64),
        ("handle", CHIPDOCK_DTYPE_HANDLE, 64, 1),
        ("int4", CHIPDOCK_DTYPE_INT, 4, 1),
        ("bool1x3", CHIPDOCK_DTYPE_BOOL, 1, 3),
        ("most-lanes", CHIPDOCK_DTYPE_INT, 8, u16::MAX),
        ("unknown-code", 200, 32, 1),
    ];
    hints.extend(
        others.map(|(name, code, bits, lanes)| (name.to_owned(), ChipdockDataType { code, bits, lanes })),
    );
    hints
}

/// Returns an attribute that counts bytes, if the device answers it.
pub(super) fn bytes_of(device: &Device, device_id: i32, key: &str) -> Option<u64> {
    let answer = device.attribute(device_id, key).ok()?;
    answer.to::<Option<i64>>().ok().flatten().and_then(|bytes| u64::try_from(bytes).ok())
}

/// Returns the available memory that the device reports, if it does.
pub(super) fn available_bytes(device: &Device) -> Option<u64> {
    bytes_of(device, 0, attribute::AVAILABLE_GLOBAL_MEMORY_BYTES)
}

//! The bytes of constants: arrays of values that a module carries with it (IR-B8).

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::DType;

/// The bytes of a constant array, shared: a clone copies none of them. Equality compares bytes.
#[derive(Clone)]
pub struct ConstantData(Arc<Shared>);

struct Shared {
    bytes: Box<[u8]>,
    digest: Arc<str>,
}

impl ConstantData {
    /// Takes bytes over: elements one after the other, little-endian, those of fewer than 8 bits
    /// packed with the low bits first (IR-T2, IR-T6).
    pub fn new(bytes: impl Into<Box<[u8]>>) -> Self {
        let bytes = bytes.into();
        let digest = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        Self(Arc::new(Shared { bytes, digest: digest.into() }))
    }

    /// Packs the bits of lanes of a type, each in the low bits of its number.
    ///
    /// # Examples
    ///
    /// ```
    /// use chipdock_ir::{ConstantData, DType};
    ///
    /// assert_eq!(ConstantData::pack(DType::INT4, [1, 0xf, 3]).bytes(), [0xf1, 0x03]);
    /// assert_eq!(ConstantData::pack(DType::UINT16, [0x1234]).bytes(), [0x34, 0x12]);
    /// ```
    pub fn pack(dtype: DType, lanes: impl IntoIterator<Item = u64>) -> Self {
        let mut bytes = Vec::new();
        let bits = usize::from(dtype.bits);
        for (index, lane) in lanes.into_iter().enumerate() {
            if !dtype.is_sub_byte() {
                bytes.extend_from_slice(&lane.to_le_bytes()[..dtype.lane_size_bytes().min(8)]);
                continue;
            }
            let (lane, shift) = (lane as u8 & ((1 << bits) - 1), index * bits % 8);
            match bytes.last_mut() {
                Some(last) if shift > 0 => *last |= lane << shift,
                _ => bytes.push(lane),
            }
        }
        Self::new(bytes)
    }

    /// Returns the bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0.bytes
    }

    /// Returns the bits of a lane of a type, in the low bits of the number: 0 beyond the end.
    #[must_use]
    pub fn lane(&self, dtype: DType, index: usize) -> u64 {
        let bits = usize::from(dtype.bits);
        if dtype.is_sub_byte() {
            let byte = self.bytes().get(index.saturating_mul(bits) / 8).copied().unwrap_or(0);
            return u64::from((byte >> (index * bits % 8)) & ((1 << bits) - 1));
        }
        let size = dtype.lane_size_bytes().min(8);
        let from = index.saturating_mul(size);
        let lane = self.bytes().get(from..from.saturating_add(size)).unwrap_or(&[]);
        lane.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte))
    }

    /// Returns the SHA-256 of the bytes in lower-case hexadecimal digits: the name of their section
    /// beside a document ([`crate::wire`], WIRE-W10). Computed when the bytes were taken over.
    #[must_use]
    pub fn digest(&self) -> &Arc<str> {
        &self.0.digest
    }
}

impl PartialEq for ConstantData {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.bytes() == other.bytes()
    }
}
impl Eq for ConstantData {}

impl Hash for ConstantData {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes().hash(state);
    }
}

impl fmt::Debug for ConstantData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ConstantData({} bytes)", self.bytes().len())
    }
}

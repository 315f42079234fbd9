//! Random numbers that depend only on their seed: the same in every run, on every machine.

/// The generator SplitMix64. Cases, cards and goldens depend on its sequence.
///
/// Source: Steele, Lea, Flood: Fast splittable pseudorandom number generators (2014), the mixing of
/// `SplittableRandom`.
///
/// # Examples
///
/// ```
/// let mut random = chipdock_programs::Random::new(1_234_567);
/// assert_eq!(random.bits(), 6_457_827_717_110_365_317);
/// ```
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Creates the generator for a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next 64 bits.
    #[must_use]
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns the next 32 bits: the upper half of 64.
    #[must_use]
    pub fn bits_32(&mut self) -> u32 {
        (self.bits() >> 32) as u32
    }

    /// Returns a number below `end`; 0 if `end` is 0.
    #[must_use]
    pub fn below(&mut self, end: u64) -> u64 {
        self.bits() % end.max(1)
    }

    /// Returns an index below `end`; 0 if `end` is 0.
    #[must_use]
    pub fn index(&mut self, end: usize) -> usize {
        self.below(end as u64) as usize
    }

    /// Returns a number in [0, 1).
    #[must_use]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns the next bytes, eight of each draw, the lowest first.
    #[must_use]
    pub fn bytes(&mut self, size: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(size + 8);
        while bytes.len() < size {
            bytes.extend(self.bits().to_le_bytes());
        }
        bytes.truncate(size);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_that_of_splitmix() {
        // The reference implementation's first numbers of seed 1234567.
        let mut random = Random::new(1_234_567);
        let first = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!(first.map(|_| random.bits()), first);
        let bytes = first.map(u64::to_le_bytes).concat();
        assert_eq!(Random::new(1_234_567).bytes(20), bytes[..20]);
        assert_eq!(u64::from(Random::new(1_234_567).bits_32()), first[0] >> 32);
        assert_eq!(Random::new(1_234_567).below(10), first[0] % 10);
        assert_eq!((random.below(0), random.index(0)), (0, 0));
        assert!((0..1000).all(|_| (0.0..1.0).contains(&random.unit())));
    }
}

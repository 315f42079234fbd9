//! Pseudorandom numbers that are the same in every run, on every machine.

/// The generator SplitMix64.
///
/// Source: Steele, Lea, Flood: Fast splittable pseudorandom number generators (2014), the mixing of `SplittableRandom`.
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

    /// Returns the next 32 bits.
    #[must_use]
    pub fn bits_32(&mut self) -> u32 {
        (self.bits() >> 32) as u32
    }

    /// Returns a number below `end`, which must not be 0.
    #[must_use]
    pub fn below(&mut self, end: u64) -> u64 {
        self.bits() % end
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
    }
}

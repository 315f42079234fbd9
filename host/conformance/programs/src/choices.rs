//! Choices of the generator of programs, so that a seed gives the same program on every machine.

use crate::Random;

/// Random numbers, optionally preceded by a tape of bytes that is used first.
#[derive(Clone, Debug)]
pub(crate) struct Choices<'t> {
    random: Random,
    tape: &'t [u8],
}

impl<'t> Choices<'t> {
    pub(crate) fn new(seed: u64) -> Self {
        Self { random: Random::new(seed), tape: &[] }
    }

    /// Creates a generator from a tape: a draw takes as few bytes as possible, so that a changed
    /// byte changes few draws.
    pub(crate) fn of_tape(tape: &'t [u8]) -> Self {
        Self { random: Random::new(0), tape }
    }

    /// Takes a number from the tape, with just enough bytes for values below `n`; `None` if the
    /// tape has ended.
    fn taken(&mut self, n: u64) -> Option<u64> {
        if self.tape.is_empty() {
            return None;
        }
        let n_bytes = (u64::BITS - (n - 1).leading_zeros()).div_ceil(u8::BITS) as usize;
        let (bytes, rest) = self.tape.split_at_checked(n_bytes)?;
        self.tape = rest;
        Some(bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// Returns a number from 0 to `n - 1`; 0 if `n` is 0.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        let Some(n) = u64::try_from(n).ok().filter(|n| *n > 0) else { return 0 };
        let number = self.taken(n).unwrap_or_else(|| self.random.bits());
        (number % n) as usize
    }

    /// Returns a number of the range, both ends included.
    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1).max(1) as usize) as i64
    }

    /// Returns true with a probability of 1 in `n`.
    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// Returns an element of a list that is not empty.
    pub(crate) fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    /// Returns the index of a weight, chosen with probabilities in proportion to the weights.
    pub(crate) fn weighted(&mut self, weights: &[usize]) -> usize {
        let mut at = self.below(weights.iter().sum());
        for (position, weight) in weights.iter().enumerate() {
            if at < *weight {
                return position;
            }
            at -= weight;
        }
        0
    }
}

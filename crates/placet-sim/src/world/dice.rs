//! Chance, drawn from the seed.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

pub(super) struct Dice(ChaCha8Rng);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `sides`.
    pub(super) fn roll(&mut self, sides: u32) -> u32 {
        self.0.next_u32() % sides
    }

    /// An index below `from`.
    pub(super) fn pick(&mut self, from: usize) -> usize {
        usize::try_from(self.0.next_u64() % (from as u64)).unwrap_or(0)
    }

    /// One of several. There must be one.
    #[expect(clippy::indexing_slicing, reason = "a pick from n is below n")]
    pub(super) fn choose<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.pick(from.len())]
    }

    pub(super) fn byte(&mut self) -> u8 {
        self.0.next_u32().to_le_bytes()[0]
    }
}

//! How many cases the tests try, and how they choose cases at random.
//!
//! Every count of the durability tests passes through [`times`]: `FORKLORE_SOAK=N` makes each count
//! N times as large, for long runs before a release. Every random choice comes from [`Chance`] with
//! the seed [`seed`]: `FORKLORE_SEED=S` repeats the run that printed S.

/// Returns `count`, a number of test cases, multiplied by the environment variable `FORKLORE_SOAK`
/// (default 1).
///
/// # Panics
/// If the variable is not a number.
#[must_use]
pub fn times(count: u64) -> u64 {
    count * number("FORKLORE_SOAK").unwrap_or(1)
}

/// Returns the seed of this test run: the environment variable `FORKLORE_SEED`, or 1 if it is not
/// set.
///
/// # Panics
/// If the variable is not a number.
#[must_use]
pub fn seed() -> u64 {
    number("FORKLORE_SEED").unwrap_or(1)
}

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

/// A pseudo-random number generator, deterministic for each seed.
#[derive(Clone, Debug)]
pub struct Chance(u64);

impl Chance {
    /// Creates a generator of random numbers from `seed` and `stream`. `stream` is a number for the
    /// process or the test round: with the same seed, different streams yield different numbers.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut chance = Self(seed ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        chance.next();
        chance
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a random number from 0 to `limit - 1`, or 0 if `limit` is 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }

    /// Returns a random element of a list that must not be empty.
    ///
    /// # Panics
    /// If the list is empty.
    pub fn one_of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        let at = self.below(list.len() as u64);
        list.get(usize::try_from(at).unwrap_or(0)).expect("something to choose from")
    }
}

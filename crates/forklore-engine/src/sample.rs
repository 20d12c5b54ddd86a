//! `verify --sample`: checks the data of some sessions, which a seed selects.

use forklore_api::{SampleSize, VerifiedSample, VerifySample};
use forklore_core::{ErrorKind, SessionId};
use forklore_store::port::{Filter, Verification};
use sha2::{Digest, Sha256};

use crate::{Engine, Result};

impl Engine {
    /// Checks a sample of the living sessions, as [`verify`](Self::verify) checks one. The seed
    /// selects them: it orders all ids by a hash, and the sample is the beginning of this order. So
    /// a session that is created later changes no other choice, and a larger sample contains a
    /// smaller one with the same seed.
    ///
    /// # Errors
    /// The error of a store that cannot be read at all. Damage is reported in `problems`, also
    /// damage of headers that cannot be listed.
    pub fn verify_sample(&self, request: &VerifySample) -> Result<VerifiedSample> {
        // A short seed is easy to type, and every reader of JSON keeps its digits.
        let seed = request.seed.unwrap_or_else(|| {
            let [.., a, b, c, d] = self.random();
            u64::from(u32::from_be_bytes([a, b, c, d]))
        });
        let found = self.store.sessions(&Filter::default(), None, 0)?;
        let problems = found.damaged.iter().map(|error| error.problem(None)).collect();
        let mut verification = Verification { problems, ..Verification::default() };
        let mut ids: Vec<_> = found.sound.into_iter().map(|header| header.id).collect();
        ids.sort_by_cached_key(|id| rank(seed, id));
        let of = ids.len();
        for id in ids.iter().take(size(request.size, of)) {
            match self.verify(Some(id)) {
                Ok(one) => {
                    verification.sessions += one.sessions;
                    verification.events += one.events;
                    verification.unfinished.extend(one.unfinished);
                    for problem in one.problems {
                        // Sessions that share events report the same damage.
                        if !verification.problems.contains(&problem) {
                            verification.problems.push(problem);
                        }
                    }
                }
                // It was deleted meanwhile.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(VerifiedSample { verification, of: of as u64, seed })
    }
}

fn size(size: SampleSize, of: usize) -> usize {
    match size {
        SampleSize::Sessions(number) => usize::try_from(number).unwrap_or(usize::MAX),
        SampleSize::Percent(share) => (of * usize::from(share)).div_ceil(100),
    }
}

fn rank(seed: u64, id: &SessionId) -> [u8; 32] {
    let hash = Sha256::new_with_prefix(seed.to_be_bytes());
    hash.chain_update(id.as_str()).finalize().into()
}

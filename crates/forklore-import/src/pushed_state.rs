//! The additional state of a file whose lines a program passes on, instead of writing them to a disk.

use serde::{Deserialize, Serialize};
use sha2::Sha256;
use sha2::digest::common::hazmat::{SerializableState, SerializedState};

/// The state with which the next push of lines continues. A push cannot read the earlier bytes
/// again, so the state of their hash is stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct PushedState {
    /// The state of the SHA-256 after all bytes so far, in hexadecimal digits.
    hash: String,
    /// The note that the last push left for the next one.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    /// The number of bytes of the file that the note describes.
    noted: u64,
    /// For a fork whose history the file does not repeat, the agent's id of the session that was
    /// forked.
    #[serde(skip_serializing_if = "Option::is_none")]
    fork_of: Option<String>,
}

impl PushedState {
    /// Creates the state for a push after which the file has `end` bytes.
    pub(crate) fn noting(note: Option<String>, end: u64) -> Self {
        Self { note, noted: end, ..Self::default() }
    }

    /// Sets the agent's id of the session that was forked.
    pub(crate) fn forking(self, fork_of: Option<String>) -> Self {
        Self { fork_of, ..self }
    }

    /// Returns the agent's id of the session that was forked, for a fork whose history the file
    /// does not repeat.
    pub(crate) fn fork_of(&self) -> Option<&String> {
        self.fork_of.as_ref()
    }

    /// Sets the state of the hash.
    pub(crate) fn with_hash(&self, hash: &Sha256) -> Self {
        let hash = hash.serialize().iter().map(|byte| format!("{byte:02x}")).collect();
        Self { hash, ..self.clone() }
    }

    /// Returns the state of the hash after all bytes so far; `None` if it is damaged.
    pub(crate) fn hash(&self) -> Option<Sha256> {
        let bytes: Option<Vec<u8>> = (0..self.hash.len() / 2)
            .map(|at| self.hash.get(at * 2..at * 2 + 2))
            .map(|digits| u8::from_str_radix(digits?, 16).ok())
            .collect();
        let state = SerializedState::<Sha256>::try_from(bytes?.as_slice()).ok()?;
        Sha256::deserialize(&state).ok()
    }

    /// Returns the note of the last push, if it describes the file with its present `bytes`.
    pub(crate) fn note(&self, bytes: u64) -> Option<&str> {
        self.note.as_deref().filter(|_| self.noted == bytes)
    }
}

#[cfg(test)]
mod tests {
    use sha2::Digest;

    use super::*;

    #[test]
    fn a_hash_goes_on_after_its_state_was_stored() {
        for (first, second) in [("", "a"), ("a", "b"), (&*"x".repeat(200), "y")] {
            let state = PushedState::noting(Some("n".into()), 1)
                .with_hash(&Sha256::new().chain_update(first));
            let text = serde_json::to_string(&state).unwrap();
            let state: PushedState = serde_json::from_str(&text).unwrap();
            let hash = state.hash().unwrap().chain_update(second).finalize();
            assert_eq!(hash, Sha256::digest([first, second].concat()));
        }
        assert!(PushedState { hash: "0g".into(), ..PushedState::default() }.hash().is_none());
        assert!(PushedState { hash: "00".into(), ..PushedState::default() }.hash().is_none());
    }

    #[test]
    fn a_note_counts_for_the_bytes_that_it_describes() {
        let state = PushedState::noting(Some("n".into()), 7);
        assert_eq!((state.note(7), state.note(8)), (Some("n"), None));
    }
}

//! `anchor`: the heads of sessions, to be stored outside of the store (docs/semantics.md,
//! Integrity).

mod check;
mod key;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use forklore_core::{Chain, ChainHash, ErrorKind, Header, SessionId};
use forklore_store::Error as StoreError;
use forklore_store::port::{At, Filter, Since};

pub use self::check::AnchorOptions;
pub use self::key::AnchorKey;
use crate::{Anchor, Engine, Error, Result, living};

impl Engine {
    /// Returns the head of a session, or of all sessions that are not deleted, each with the hash
    /// of its chain. With a key, each is signed.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use forklore_engine::{AnchorOptions, Create, Engine, NewEvent};
    /// # use forklore_core::workspace::Workspace;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let engine = Engine::new(Arc::new(forklore_store::memory::MemoryStore::default()));
    /// # let session = engine.create(&Create::in_workspace(Workspace::new("/work/demo")))?.id;
    /// let anchors = engine.anchors(None, None)?;
    /// engine.append(&session, &NewEvent::user("first")?.into())?;
    /// let report = engine.check_anchors(&anchors, &AnchorOptions::default())?;
    /// assert_eq!((report.holds, report.differ), (1, 0));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `not_found` if the session does not exist; `corrupt` or `missing_ancestor` if its events, or
    /// those of any session, cannot be read.
    pub fn anchors(
        &self,
        session: Option<&SessionId>,
        key: Option<&AnchorKey>,
    ) -> Result<Vec<Anchor>> {
        // The mark comes first, so that it is not newer than any of the heads.
        let mark = self.feed_mark()?;
        let headers = match session {
            Some(session) => vec![living(self.store.header(session)?)?],
            None => self.store.sessions(&Filter::default(), None, 0)?.all()?,
        };
        let mut anchors = Vec::with_capacity(headers.len());
        for header in headers {
            let mut anchor = match self.head(header, mark.clone()) {
                // It was deleted meanwhile.
                Err(error) if session.is_none() && error.kind() == ErrorKind::NotFound => continue,
                anchor => anchor?,
            };
            if let Some(key) = key {
                key.sign(&mut anchor);
            }
            anchors.push(anchor);
        }
        Ok(anchors)
    }

    fn head(&self, header: Header, store: Option<String>) -> Result<Anchor> {
        let seq = header.head_seq();
        let mut hashes = self.hashes(&header, &BTreeSet::from([seq]));
        let chain = match (hashes.found.remove(&seq), hashes.damage) {
            (Some(chain), _) => chain.to_string(),
            (None, Some(error)) => return Err(error),
            (None, None) => return Err(lacks(&header, seq)),
        };
        let lineage = ChainHash::lineage(&header).to_string();
        let settings = ChainHash::settings(&header).to_string();
        let (session_id, at) = (header.id, self.now());
        Ok(Anchor { session_id, seq, chain, lineage, settings, at, store, hmac: None })
    }

    fn feed_mark(&self) -> Result<Option<String>> {
        match self.store.changes(&Since::Now, 1, Duration::ZERO) {
            Ok(changes) => Ok(Some(changes.mark.as_str().to_owned())),
            Err(StoreError::Unsupported(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Computes the hashes of a session at the positions `wanted`, as far as they can be read.
    fn hashes(&self, header: &Header, wanted: &BTreeSet<i64>) -> Hashes {
        let mut hashes = Hashes::default();
        let mut chain = Chain::of(&header.id);
        let mut seq = -1;
        if wanted.contains(&seq) {
            hashes.found.insert(seq, chain.head());
        }
        let events = match header.is_in_trash() {
            true => self.events_in_trash(&header.id, At::Seq(0)),
            false => self.events(&header.id, At::Seq(0)),
        };
        for (stored, next) in events.zip(0_u64..) {
            if wanted.last().is_none_or(|last| seq >= *last) {
                break;
            }
            seq += 1;
            match stored {
                Ok(stored) if stored.seq == next => chain.push(next, &stored.event),
                Ok(_) => hashes.damage = Some(lacks(header, seq)),
                Err(error) => hashes.damage = Some(error),
            }
            if hashes.damage.is_some() {
                break;
            }
            if wanted.contains(&seq) {
                hashes.found.insert(seq, chain.head());
            }
        }
        let end = header.head_seq().min(wanted.last().copied().unwrap_or(-1));
        if hashes.damage.is_none() && seq < end {
            hashes.damage = Some(lacks(header, seq + 1));
        }
        hashes
    }
}

/// The hashes of one session.
#[derive(Debug, Default)]
struct Hashes {
    /// The hashes of the log, by seq.
    found: BTreeMap<i64, ChainHash>,
    /// The error that ended the reading.
    damage: Option<Error>,
}

fn lacks(header: &Header, seq: i64) -> Error {
    let (session, missing) = (header.id.clone(), format!("the event {seq}"));
    StoreError::MissingAncestor { session, missing }.into()
}

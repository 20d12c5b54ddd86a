//! `verify --anchors`: compares anchors with the store.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use forklore_core::{ChainHash, ErrorKind, Header, SessionId};
use forklore_store::Error as StoreError;
use forklore_store::port::{Filter, Mark, Since};

use super::{AnchorKey, Hashes};
use crate::{Anchor, AnchorCheck, AnchorReport, AnchorState, Engine, Error, Result};

/// What `check_anchors` requires beyond the anchored events.
#[derive(Clone, Debug, Default)]
pub struct AnchorOptions {
    /// The key with which every anchor must be signed; `None` checks no signatures.
    pub key: Option<AnchorKey>,
    /// Whether the store must be exactly what the newest anchor of each session says.
    pub exact: bool,
}

/// What the store has of an anchored session.
enum Stored {
    /// The session is living or in the trash.
    Whole(Box<Header>, Hashes),
    Erased,
    Missing,
    Unreadable(Error),
}

type Sessions<'a> = BTreeMap<&'a SessionId, Stored>;

impl Engine {
    /// Verifies the whole store, and compares anchors with its sessions (docs/semantics.md,
    /// Integrity).
    ///
    /// # Errors
    /// The error of a store that cannot be read at all. Whatever is wrong with a session is a
    /// result in `checks`, or in `verification`.
    pub fn check_anchors(
        &self,
        anchors: &[Anchor],
        options: &AnchorOptions,
    ) -> Result<AnchorReport> {
        let mut wanted: BTreeMap<&SessionId, BTreeSet<i64>> = BTreeMap::new();
        for anchor in anchors {
            wanted.entry(&anchor.session_id).or_default().insert(anchor.seq);
        }
        let mut sessions = Sessions::new();
        for (id, seqs) in &wanted {
            sessions.insert(*id, self.stored(id, seqs)?);
        }
        let mut checks = Vec::with_capacity(anchors.len());
        for (anchor, line) in anchors.iter().zip(1..) {
            let Some(stored) = sessions.get(&anchor.session_id) else { continue };
            let is_signed = options.key.as_ref().is_none_or(|key| key.has_signed(anchor));
            let state = match is_signed {
                true => self.state_of(anchor, stored)?,
                false => AnchorState::Forged,
            };
            checks.push(check(anchor, line, stored, state));
        }
        let verification = self.verify(None)?;
        if options.exact {
            require_newest(&mut checks, anchors, &sessions);
            self.add_unanchored(&mut checks, &sessions, &verification.unfinished)?;
        }
        let count = |counts: &dyn Fn(&AnchorCheck) -> bool| {
            checks.iter().filter(|check| counts(check)).count() as u64
        };
        let holds = count(&|check| check.state == AnchorState::Holds);
        let differ = count(&|check| !check.sound);
        Ok(AnchorReport { holds, differ, signed: options.key.is_some(), checks, verification })
    }

    fn stored(&self, id: &SessionId, seqs: &BTreeSet<i64>) -> Result<Stored> {
        Ok(match self.store.header(id) {
            Ok(header) if header.is_erased() => Stored::Erased,
            Ok(header) => {
                let hashes = self.hashes(&header, seqs);
                Stored::Whole(Box::new(header), hashes)
            }
            Err(StoreError::NotFound(_)) => Stored::Missing,
            Err(error) if is_damage(&error) => Stored::Unreadable(error.into()),
            Err(error) => return Err(error.into()),
        })
    }

    fn state_of(&self, anchor: &Anchor, stored: &Stored) -> Result<AnchorState> {
        let (header, hashes) = match stored {
            Stored::Unreadable(_) => return Ok(AnchorState::Damaged),
            Stored::Missing => return self.or_older(anchor, AnchorState::Missing),
            Stored::Erased => return Ok(AnchorState::Erased),
            Stored::Whole(header, hashes) => (header, hashes),
        };
        Ok(match hashes.found.get(&anchor.seq) {
            Some(chain) if anchor.chain != chain.to_string() => AnchorState::Edited,
            Some(_) if anchor.lineage != ChainHash::lineage(header).to_string() => {
                AnchorState::HeaderEdited
            }
            Some(_) if header.is_in_trash() => AnchorState::Deleted,
            Some(_) => AnchorState::Holds,
            None if header.head_seq() < anchor.seq => {
                return self.or_older(anchor, AnchorState::Truncated);
            }
            None => AnchorState::Damaged,
        })
    }

    /// Returns `RolledBack` if the store is older than the anchor, else `state`.
    fn or_older(&self, anchor: &Anchor, state: AnchorState) -> Result<AnchorState> {
        let Some(mark) = anchor.store.clone() else { return Ok(state) };
        match self.store.changes(&Since::Mark(Mark::new(mark)), 1, Duration::ZERO) {
            Err(StoreError::MarkExpired { .. }) => Ok(AnchorState::RolledBack),
            // The anchor is of another store, of which this one may be a copy.
            Ok(_) | Err(StoreError::ForeignMark(_) | StoreError::Unsupported(_)) => Ok(state),
            Err(error) => Err(error.into()),
        }
    }

    fn add_unanchored(
        &self,
        checks: &mut Vec<AnchorCheck>,
        anchored: &Sessions<'_>,
        unfinished: &[SessionId],
    ) -> Result<()> {
        let mut add = |header: Header, state, message: &str| {
            let (line, seq, session_id) = (None, header.head_seq(), header.id);
            let (sound, message) = (false, message.to_owned());
            checks.push(AnchorCheck { line, session_id, seq, state, sound, message });
        };
        for header in self.store.sessions(&Filter::default(), None, 0)?.sound {
            if unfinished.contains(&header.id) {
                let message = "its file ends with bytes that no complete write has written";
                add(header.clone(), AnchorState::Unfinished, message);
            }
            if !anchored.contains_key(&header.id) {
                add(header, AnchorState::Unanchored, "no anchor names it");
            }
        }
        Ok(())
    }
}

/// Changes the result of each session's newest anchor if the session is not exactly as it says.
fn require_newest(checks: &mut [AnchorCheck], anchors: &[Anchor], sessions: &Sessions<'_>) {
    let mut seen = BTreeSet::new();
    for (check, anchor) in checks.iter_mut().zip(anchors).rev() {
        if check.state == AnchorState::Forged || !seen.insert(&anchor.session_id) {
            continue;
        }
        if matches!(check.state, AnchorState::Deleted | AnchorState::Erased) {
            check.sound = false;
        }
        let Some(Stored::Whole(header, _)) = sessions.get(&anchor.session_id) else { continue };
        if check.state != AnchorState::Holds {
            continue;
        }
        let more = header.head_seq().saturating_sub(anchor.seq);
        if more > 0 {
            check.state = AnchorState::Grown;
            let events = if more == 1 { "event follows" } else { "events follow" };
            check.message = format!("{more} {events} what was anchored at {}", anchor.at);
        } else if anchor.settings != ChainHash::settings(header).to_string() {
            check.state = AnchorState::Changed;
            check.message = format!("its label, title or sums are not those of {}", anchor.at);
        }
        check.sound = check.state == AnchorState::Holds;
    }
}

fn is_damage(error: &StoreError) -> bool {
    matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::MissingAncestor)
}

fn check(anchor: &Anchor, line: u64, stored: &Stored, state: AnchorState) -> AnchorCheck {
    let sound = matches!(state, AnchorState::Holds | AnchorState::Deleted | AnchorState::Erased);
    let (session_id, seq) = (anchor.session_id.clone(), anchor.seq);
    let message = message(anchor, stored, state);
    AnchorCheck { line: Some(line), session_id, seq, state, sound, message }
}

fn message(anchor: &Anchor, stored: &Stored, state: AnchorState) -> String {
    let at = anchor.at;
    match (state, stored) {
        (AnchorState::Edited, _) => format!("its log is not the one that was anchored at {at}"),
        (AnchorState::HeaderEdited, _) => {
            format!("its lineage, workspace, principal or settings are not those of {at}")
        }
        (AnchorState::Truncated, Stored::Whole(header, _)) => {
            format!("it ends at seq {}, before what was anchored at {at}", header.head_seq())
        }
        (AnchorState::RolledBack, _) => format!("the store is older than {at}"),
        (AnchorState::Missing, _) => "the store has neither it nor its tombstone".to_owned(),
        (AnchorState::Damaged, Stored::Unreadable(error)) => error.to_string(),
        (AnchorState::Damaged, Stored::Whole(_, Hashes { damage: Some(error), .. })) => {
            error.to_string()
        }
        (AnchorState::Forged, _) if anchor.hmac.is_none() => "the anchor is not signed".to_owned(),
        (AnchorState::Forged, _) => "the anchor is not signed with this key".to_owned(),
        (AnchorState::Deleted, _) => "it was deleted and is in the trash".to_owned(),
        (AnchorState::Erased, _) => "it was deleted and erased".to_owned(),
        _ => "it is as it was".to_owned(),
    }
}

//! Tests that the conformance suite detects stores with broken attachments.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::io::{self, Read};
use std::sync::Arc;
use std::time::Duration;

use forklore_conformance::{CASES, Handle, run};
use forklore_core::{AttachmentId, Header, SessionId};
use forklore_store::Result;
use forklore_store::attachments::{Attachment, Attachments, Pin, Swept};
use forklore_store::memory::MemoryStore;
use forklore_store::port::{
    Capabilities, Changes, Committed, Cursor, Filter, Headers, Page, Query, Since, Store,
    Transaction, Verification,
};

/// A defect that these tests build into an attachment store, and that the suite must detect.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Flaw {
    CutsTheLastByte,
    RefusesNothing,
    SaysAllAreNew,
    KeepsWhatFailed,
    IgnoresLimits,
    InventsBytes,
    ListsBackward,
    SweepsNothing,
    SweepsEverything,
    ForgetsWhoHolds,
    KeepsTheOldVersion,
}

const CAUGHT_BY: &[(Flaw, &str)] = &[
    (Flaw::CutsTheLastByte, "bytes_come_back"),
    (Flaw::CutsTheLastByte, "a_long_one_comes_back_whole"),
    (Flaw::RefusesNothing, "no_bytes_are_an_attachment_too"),
    (Flaw::SaysAllAreNew, "the_same_bytes_are_stored_once"),
    (Flaw::KeepsWhatFailed, "a_reader_that_fails_leaves_nothing"),
    (Flaw::IgnoresLimits, "one_byte_too_many_is_refused_and_leaves_nothing"),
    (Flaw::InventsBytes, "what_was_never_put_is_not_there"),
    (Flaw::ListsBackward, "a_list_tells_all_of_them_in_order"),
    (Flaw::SweepsNothing, "a_sweep_removes_what_was_listed_and_nothing_else"),
    (Flaw::SweepsEverything, "a_sweep_removes_what_was_listed_and_nothing_else"),
    (Flaw::ForgetsWhoHolds, "a_sweep_spares_what_is_pinned"),
    (Flaw::ForgetsWhoHolds, "threads_that_put_the_same_bytes_store_them_once"),
    (Flaw::KeepsTheOldVersion, "a_sweep_spares_what_was_put_again_since"),
    (Flaw::KeepsTheOldVersion, "a_sweep_spares_what_was_pinned_since"),
];

struct Broken {
    inner: Arc<dyn Attachments>,
    flaw: Flaw,
}

impl Broken {
    fn flawed(&self, pin: Pin) -> Pin {
        match self.flaw {
            Flaw::ForgetsWhoHolds => Pin::new(pin.id, pin.bytes, pin.new, ()),
            Flaw::SaysAllAreNew => Pin::new(pin.id, pin.bytes, true, pin),
            _ => pin,
        }
    }

    /// Returns the current state of an attachment. `listed` is its state when it was listed.
    fn now(&self, listed: &Attachment) -> Attachment {
        self.inner.find(&listed.id).unwrap().unwrap_or_else(|| listed.clone())
    }
}

impl Attachments for Broken {
    fn put(&self, bytes: &mut dyn Read, limit: u64) -> Result<Pin> {
        let limit = if self.flaw == Flaw::IgnoresLimits { u64::MAX } else { limit };
        let mut all = Vec::new();
        let read = bytes.take(limit.saturating_add(1)).read_to_end(&mut all);
        if self.flaw != Flaw::KeepsWhatFailed {
            read.map_err(|error| forklore_store::Error::io("reading what to attach", error))?;
        }
        if self.flaw == Flaw::RefusesNothing && all.is_empty() {
            return Err(forklore_store::Error::Invalid("there is nothing to attach".into()));
        }
        Ok(self.flawed(self.inner.put(&mut &all[..], limit)?))
    }

    fn pin(&self, id: &AttachmentId) -> Result<Option<Pin>> {
        Ok(self.inner.pin(id)?.map(|leased| self.flawed(leased)))
    }

    fn open(&self, id: &AttachmentId) -> Result<Option<Box<dyn Read + Send>>> {
        let Some(found) = self.inner.find(id)? else {
            let invents = self.flaw == Flaw::InventsBytes;
            return Ok(invents.then(|| Box::new(io::empty()) as Box<dyn Read + Send>));
        };
        let cut = u64::from(self.flaw == Flaw::CutsTheLastByte);
        let bytes = self.inner.open(id)?.expect("it was found");
        Ok(Some(Box::new(bytes.take(found.bytes.saturating_sub(cut)))))
    }

    fn find(&self, id: &AttachmentId) -> Result<Option<Attachment>> {
        self.inner.find(id)
    }

    fn list(&self) -> Result<Vec<Attachment>> {
        let mut list = self.inner.list()?;
        if self.flaw == Flaw::ListsBackward {
            list.reverse();
        }
        Ok(list)
    }

    fn sweep(&self, unneeded: &[Attachment]) -> Result<Swept> {
        match self.flaw {
            Flaw::SweepsNothing => Ok(Swept::default()),
            Flaw::SweepsEverything => self.inner.sweep(&self.inner.list()?),
            Flaw::KeepsTheOldVersion => {
                let now: Vec<_> = unneeded.iter().map(|listed| self.now(listed)).collect();
                self.inner.sweep(&now)
            }
            _ => self.inner.sweep(unneeded),
        }
    }
}

/// A store that is correct except for its attachments.
struct Keeps {
    store: MemoryStore,
    attachments: Arc<Broken>,
}

impl Store for Keeps {
    fn capabilities(&self) -> Capabilities {
        self.store.capabilities()
    }

    fn commit(&self, transaction: Transaction) -> Result<Committed> {
        self.store.commit(transaction)
    }

    fn header(&self, session: &SessionId) -> Result<Header> {
        self.store.header(session)
    }

    fn read(&self, session: &SessionId, query: &Query) -> Result<Page> {
        self.store.read(session, query)
    }

    fn read_in_trash(&self, session: &SessionId, query: &Query) -> Result<Page> {
        self.store.read_in_trash(session, query)
    }

    fn sessions(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> Result<Headers> {
        self.store.sessions(filter, after, limit)
    }

    fn changes(&self, since: &Since, limit: usize, wait: Duration) -> Result<Changes> {
        self.store.changes(since, limit, wait)
    }

    fn verify(&self, session: Option<&SessionId>) -> Result<Verification> {
        self.store.verify(session)
    }

    fn attachments(&self) -> Option<Arc<dyn Attachments>> {
        Some(self.attachments.clone())
    }
}

#[test]
fn every_flaw_is_caught() {
    let is_caught = |flaw: Flaw, by: &str| {
        let factory = move || {
            let store = MemoryStore::default();
            let inner = store.attachments().unwrap();
            Handle::new(Keeps { store, attachments: Arc::new(Broken { inner, flaw }) })
        };
        let case = CASES.iter().find(|case| case.name == by).expect("a case of this name");
        run(&factory, std::slice::from_ref(case)).failures().count() == 1
    };
    let missed: Vec<_> = CAUGHT_BY.iter().filter(|(flaw, by)| !is_caught(*flaw, by)).collect();
    assert!(missed.is_empty(), "{missed:?}");
}

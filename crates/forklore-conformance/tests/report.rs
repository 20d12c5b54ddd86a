//! Tests that the conformance suite detects broken stores and reports them in a table.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::time::Duration;

use forklore_conformance::{CASES, Capability, Handle, Outcome, run};
use forklore_core::{Counts, Data, Header, SessionId};
use forklore_store::memory::MemoryStore;
use forklore_store::port::{
    Append, Appended, Capabilities, Change, Changed, Changes, Children, Committed, Cursor, Filter,
    Headers, Page, Query, Removed, Since, Store, Transaction, Verification, Write, Written,
};
use forklore_store::{Error, Result};
use jiff::Timestamp;

/// A defect of the store, which the suite must detect.
#[derive(Clone, Copy, Debug)]
enum Flaw {
    IgnoresExpectedHead,
    ForgetsRepetitions,
    WritesBeforeItChecks,
    RespellsNumbers,
    CutsMomentsToMillis,
    LosesTheLastEventOfAPage,
    MiscountsOpenCalls,
    IgnoresCursors,
    DeletesDespiteChildren,
    CountsNoSegments,
    NeverDetaches,
    KeepsTitlesOfTheDead,
    VerifiesNothing,
    TakesAnyCut,
    CommitsOneByOne,
    HidesDeletes,
}

const CAUGHT_BY: &[(Flaw, &str)] = &[
    (Flaw::IgnoresExpectedHead, "a_wrong_head_is_refused_with_the_real_one"),
    (Flaw::ForgetsRepetitions, "a_repeated_append_is_harmless"),
    (Flaw::WritesBeforeItChecks, "a_refused_batch_leaves_nothing"),
    (Flaw::RespellsNumbers, "numbers_come_back_as_written"),
    (Flaw::CutsMomentsToMillis, "moments_come_back_to_the_microsecond"),
    (Flaw::LosesTheLastEventOfAPage, "events_come_back_in_order_with_their_origin"),
    (Flaw::MiscountsOpenCalls, "open_calls_are_counted"),
    (Flaw::IgnoresCursors, "a_cursor_outlives_its_session"),
    (Flaw::DeletesDespiteChildren, "branch_children_refuse_it"),
    (Flaw::CountsNoSegments, "segments_that_others_need_are_counted"),
    (Flaw::NeverDetaches, "a_detached_child_does_not_refuse_a_delete"),
    (Flaw::KeepsTitlesOfTheDead, "a_tombstone_retains_its_lineage_and_cost"),
    (Flaw::VerifiesNothing, "shared_events_count_once"),
    (Flaw::TakesAnyCut, "a_cut_behind_the_end_is_refused"),
    (Flaw::HidesDeletes, "deletes_and_a_gc_are_seen_after_a_long_absence"),
    (Flaw::CommitsOneByOne, "a_refused_write_leaves_nothing_of_the_others"),
];

struct Broken {
    inner: MemoryStore,
    flaw: Flaw,
}

impl Broken {
    /// Applies the flaw to a write before the store gets the write.
    fn spoil(&self, write: &mut Write) -> Result<()> {
        match (self.flaw, write) {
            (Flaw::TakesAnyCut, Write::Create(new)) => {
                if let Some(from) = &mut new.from {
                    from.cut.inheritable = from
                        .cut
                        .inheritable
                        .min(self.inner.header(&from.parent)?.counts.inheritable);
                }
            }
            (Flaw::IgnoresExpectedHead, Write::Append { append, .. }) => append.expect = None,
            (Flaw::WritesBeforeItChecks, Write::Append { session, append }) => {
                let head = self.inner.header(session)?.head_seq();
                if append.expect.is_some_and(|expected| expected != head) {
                    let events = append.events.iter().take(1).cloned().collect();
                    let first = Append { events, expect: None, ..append.clone() };
                    self.inner.append(session, first)?;
                }
            }
            (Flaw::DeletesDespiteChildren, Write::Remove(removal)) => {
                removal.children = Children::Retain;
            }
            _ => {}
        }
        Ok(())
    }

    /// Applies the flaw to the store's answer to a write.
    fn misreport(&self, write: &Write, written: Written) -> Result<Written> {
        match (self.flaw, write, written) {
            (
                Flaw::ForgetsRepetitions,
                Write::Append { session, append },
                Written::Appended(Appended { repeated: true, head_seq: head, .. }),
            ) => {
                let expected = append.expect.unwrap_or_default();
                Err(Error::Conflict { session: session.clone(), expected, head })
            }
            (Flaw::CountsNoSegments, _, Written::Removed(removed)) => {
                Ok(Written::Removed(Removed { retained_segments: 0, ..removed }))
            }
            (_, _, written) => Ok(written),
        }
    }

    /// Commits a transaction. A flaw that concerns whole transactions commits it differently.
    fn take(&self, transaction: Transaction) -> Result<Committed> {
        let Transaction { mut writes, source, attachments, operation } = transaction;
        if matches!(self.flaw, Flaw::CommitsOneByOne) {
            let mut committed = Committed::default();
            for write in writes {
                committed.written.append(&mut self.inner.commit(write.into())?.written);
            }
            return Ok(committed);
        }
        if let (Flaw::NeverDetaches, [Write::Change { session, change: Change::Detach }]) =
            (self.flaw, &*writes)
        {
            let header = self.inner.header(session)?;
            return Ok(Written::Changed(Box::new(Changed { header, copied_events: 0 })).into());
        }
        writes.iter_mut().try_for_each(|write| self.spoil(write))?;
        let requested = writes.clone();
        let committed =
            self.inner.commit(Transaction { writes, source, attachments, operation })?;
        let written = requested.iter().zip(committed.written);
        let written = written.map(|(write, written)| self.misreport(write, written));
        Ok(Committed { written: written.collect::<Result<_>>()?, ..committed })
    }
}

impl Store for Broken {
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    fn commit(&self, transaction: Transaction) -> Result<Committed> {
        self.take(transaction)
    }

    fn header(&self, session: &SessionId) -> Result<Header> {
        let mut header = self.inner.header(session)?;
        if header.deleted.is_some() && matches!(self.flaw, Flaw::KeepsTitlesOfTheDead) {
            header.title = Some("still here".into());
        }
        Ok(header)
    }

    fn read(&self, session: &SessionId, query: &Query) -> Result<Page> {
        let mut page = self.inner.read(session, query)?;
        if matches!(self.flaw, Flaw::LosesTheLastEventOfAPage) && page.events.len() > 1 {
            page.events.pop();
        }
        for stored in &mut page.events {
            let event = &mut stored.event;
            match self.flaw {
                Flaw::RespellsNumbers => {
                    let value: serde_json::Value = event.data.read().unwrap_or_default();
                    event.data = Data::of(&value).unwrap();
                }
                Flaw::CutsMomentsToMillis => {
                    event.ts = Timestamp::from_millisecond(event.ts.as_millisecond()).unwrap();
                }
                Flaw::MiscountsOpenCalls => stored.counts = Counts { open: 0, ..stored.counts },
                _ => {}
            }
        }
        Ok(page)
    }

    fn sessions(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> Result<Headers> {
        let after = after.filter(|_| !matches!(self.flaw, Flaw::IgnoresCursors));
        self.inner.sessions(filter, after, limit)
    }

    fn changes(&self, since: &Since, limit: usize, wait: Duration) -> Result<Changes> {
        let mut changes = self.inner.changes(since, limit, wait)?;
        if matches!(self.flaw, Flaw::HidesDeletes) {
            changes.sessions.retain(|change| !change.removed);
        }
        Ok(changes)
    }

    fn verify(&self, session: Option<&SessionId>) -> Result<Verification> {
        if matches!(self.flaw, Flaw::VerifiesNothing) {
            return Ok(Verification::default());
        }
        self.inner.verify(session)
    }
}

/// Checks whether the case with the name `by` detects the flaw.
fn is_caught(flaw: Flaw, by: &str) -> bool {
    let factory = move || Handle::new(Broken { inner: MemoryStore::default(), flaw });
    let case = CASES.iter().find(|case| case.name == by).expect("a case of this name");
    let only = std::slice::from_ref(case);
    run(&factory, only).failures().count() == 1
}

#[test]
fn every_flaw_is_caught() {
    let missed: Vec<_> = CAUGHT_BY.iter().filter(|(flaw, by)| !is_caught(*flaw, by)).collect();
    assert!(missed.is_empty(), "{missed:?}");
}

#[test]
fn random_histories_find_flaws_too() {
    for flaw in [
        Flaw::ForgetsRepetitions,
        Flaw::MiscountsOpenCalls,
        Flaw::DeletesDespiteChildren,
        Flaw::CountsNoSegments,
        Flaw::NeverDetaches,
        Flaw::TakesAnyCut,
    ] {
        assert!(is_caught(flaw, "histories_agree_with_a_plain_model"), "{flaw:?}");
    }
}

#[test]
fn the_table_names_every_case() {
    let factory = || Handle::new(MemoryStore::default());
    let offered = factory();
    let report = run(&factory, CASES);
    report.expect_pass();
    let table = report.to_string();
    assert_eq!(table.lines().count(), CASES.len() + 1);
    for (case, outcome) in &report.outcomes {
        let is_offered = case.needs.is_offered(&offered);
        assert_eq!(*outcome, if is_offered { Outcome::Pass } else { Outcome::NotOffered });
        assert!(table.contains(&format!("{case}\n")), "{case}");
    }
}

#[test]
fn numbers_and_names_are_unique() {
    assert!(CASES.is_sorted_by(|a, b| a.number < b.number));
    let mut names: Vec<_> = CASES.iter().map(|case| case.name).collect();
    names.sort_unstable();
    assert!(names.is_sorted_by(|a, b| a < b), "two cases of one name");
    let base = CASES.iter().filter(|case| case.needs == Capability::Base);
    assert!(base.count() >= 80);
}

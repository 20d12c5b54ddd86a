//! `transfer`: copies families of sessions into another store, or what it lacks of them
//! (docs/semantics.md, Moving between stores).

mod align;
mod attachments;
mod own_events;
mod parted;
mod redacted;
mod route;
mod source;
mod write;

use std::collections::{BTreeMap, HashMap, HashSet};

use forklore_api::{SkipReason, SkippedTransfer, Transfer, Transferred};
use forklore_core::{Header, SessionId, SessionKind};
use forklore_store::Error as StoreError;
use forklore_store::port::{Change, Cursor, Filter};

use self::route::Route;
use self::source::FamilySources;
use crate::lineage_order::in_lineage_order;
use crate::{Engine, Error, Result};

/// The number of headers that one read lists.
const ROOTS: usize = 500;

/// How often a session is compared again because another writer was faster.
const RACES: usize = 5;
/// How often a family is compared again because another transfer or import wrote its files. Each
/// time, the other one has come further.
const FILE_RACES: usize = 50;

/// How far a transfer has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TransferProgress {
    /// The number of families to compare.
    pub families: u64,
    /// The number of families that were begun.
    pub families_begun: u64,
    /// The number of events that were written.
    pub events: u64,
}

impl Engine {
    /// Copies sessions, and everything that belongs to them, from this engine's store into the
    /// store of `into`. Copies only what that store lacks, and overwrites nothing there: where a
    /// session went on differently there, its further events become a branch. Changes nothing in
    /// this engine's store.
    ///
    /// Calls `go_on` before each family and after each batch of events. If it returns false, the
    /// transfer ends early; a repetition completes it.
    ///
    /// # Errors
    /// `not_found` if the requested session does not exist or was deleted. Also returns any failure
    /// that concerns one of the stores as a whole. The answer lists sessions that were skipped.
    pub fn transfer(
        &self,
        into: &Engine,
        request: &Transfer,
        go_on: &mut dyn FnMut(TransferProgress) -> bool,
    ) -> Result<Transferred> {
        let mut transferring = Transferring {
            from: self,
            into,
            request,
            go_on,
            families: 0,
            report: Transferred { dry_run: request.dry_run, ..Transferred::default() },
            family: BTreeMap::new(),
            routes: HashMap::new(),
            planned: HashSet::new(),
            sources: FamilySources::default(),
        };
        let roots = transferring.roots()?;
        transferring.families = roots.len() as u64;
        for root in roots {
            match transferring.family_against_races(&root) {
                Ok(()) => {}
                Err(Halt::Interrupted) => {
                    transferring.report.interrupted = true;
                    break;
                }
                Err(Halt::Failed(error)) => return Err(error),
            }
        }
        let Transferred { families, unchanged, events, attachments, .. } = transferring.report;
        tracing::info!(families, unchanged, events, attachments, "transferred sessions");
        Ok(transferring.report)
    }
}

/// Why a transfer, or that of one session, does not go on.
enum Halt {
    Interrupted,
    Failed(Error),
}

impl From<Error> for Halt {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<StoreError> for Halt {
    fn from(error: StoreError) -> Self {
        Self::Failed(error.into())
    }
}

type Step<T = ()> = Result<T, Halt>;

struct Transferring<'a> {
    from: &'a Engine,
    into: &'a Engine,
    request: &'a Transfer,
    go_on: &'a mut dyn FnMut(TransferProgress) -> bool,
    /// The number of families to compare.
    families: u64,
    report: Transferred,
    /// The headers of the present family here, also of its deleted sessions.
    family: BTreeMap<SessionId, Header>,
    /// Where the events of each session of the family are in the other store. A session that was
    /// skipped has none.
    routes: HashMap<SessionId, Route>,
    /// The sessions that a dry run would have created.
    planned: HashSet<SessionId>,
    sources: FamilySources,
}

impl Transferring<'_> {
    /// Returns the roots of the families to copy.
    fn roots(&mut self) -> Result<Vec<SessionId>> {
        if let Some(session) = &self.request.session_id {
            return Ok(vec![self.from.show(session)?.root_id]);
        }
        let all = Filter { kinds: vec![SessionKind::Root], deleted: true, ..Filter::default() };
        let (mut roots, mut after) = (Vec::new(), None);
        loop {
            let page = self.from.store.sessions(&all, after.as_ref(), ROOTS)?;
            self.unreadable(page.damaged);
            let Some(last) = page.sound.last() else { break };
            after = Some(Cursor::behind(last));
            roots.extend(page.sound.into_iter().map(|header| header.id));
        }
        // Families cross in an order that does not depend on when they were written to.
        roots.sort_unstable();
        roots.dedup();
        Ok(roots)
    }

    fn unreadable(&mut self, damaged: Vec<StoreError>) {
        for error in damaged {
            if let StoreError::Corrupt { session: Some(session), .. } = &error
                && !self.report.skipped.iter().any(|skipped| skipped.session_id == *session)
            {
                let session = session.clone();
                self.skip(&session, SkipReason::Failed, error.to_string());
            }
        }
    }

    fn skip(&mut self, session: &SessionId, why: SkipReason, reason: impl Into<String>) {
        let (session_id, reason) = (session.clone(), reason.into());
        self.report.skipped.push(SkippedTransfer { session_id, why, reason });
    }

    /// Copies a family, and begins again if somebody else writes the same imported files there.
    fn family_against_races(&mut self, root: &SessionId) -> Step {
        let Transferred { families, unchanged, ref skipped, .. } = self.report;
        let skipped = skipped.len();
        let mut races = 0;
        loop {
            match self.family(root.clone()) {
                Err(Halt::Failed(Error::Store(StoreError::Stale { .. }))) if races < FILE_RACES => {
                    races += 1;
                    (self.report.families, self.report.unchanged) = (families, unchanged);
                    self.report.skipped.truncate(skipped);
                }
                done => return done,
            }
        }
    }

    fn family(&mut self, root: SessionId) -> Step {
        let whole = Filter { family: Some(root), deleted: true, ..Filter::default() };
        let found = self.from.store.sessions(&whole, None, 0)?;
        self.unreadable(found.damaged);
        self.family = found.sound.into_iter().map(|header| (header.id.clone(), header)).collect();
        self.routes.clear();
        if self.family.values().all(|header| header.deleted.is_some()) {
            return Ok(());
        }
        self.go_on()?;
        self.report.families += 1;
        self.find_sources()?;
        let needs = |id: &SessionId| {
            let parent = self.family.get(id).and_then(|header| header.parent_id.clone());
            self.sources.before(id).into_iter().chain(parent).collect()
        };
        for id in in_lineage_order(self.family.keys().cloned().collect(), needs) {
            let Some(header) = self.family.get(&id).cloned() else { continue };
            self.session(&header)?;
        }
        self.finish_headers()?;
        self.finish_sources()
    }

    /// Reports the progress, and stops if the caller wants it.
    fn go_on(&mut self) -> Step {
        let Transferred { families: families_begun, events, .. } = self.report;
        let progress = TransferProgress { families: self.families, families_begun, events };
        if (self.go_on)(progress) { Ok(()) } else { Err(Halt::Interrupted) }
    }

    /// Copies one session. A failure that concerns this session alone is reported.
    fn session(&mut self, header: &Header) -> Step {
        let mut races = 0;
        loop {
            match self.align(header) {
                Err(Halt::Failed(Error::Store(
                    StoreError::Conflict { .. } | StoreError::IdInUse(_),
                ))) if races < RACES => races += 1,
                Err(Halt::Failed(error @ Error::Store(StoreError::Leased { .. }))) => {
                    self.skip(&header.id, SkipReason::Busy, error.to_string());
                    return Ok(());
                }
                Err(Halt::Failed(error)) if is_of_one(&error) => {
                    self.skip(&header.id, SkipReason::Failed, error.to_string());
                    return Ok(());
                }
                done => return done,
            }
        }
    }

    /// Detaches sessions there that were detached here, and records which session of an imported
    /// file the agent would resume. A failure that concerns one session is reported.
    fn finish_headers(&mut self) -> Step {
        if self.request.dry_run {
            return Ok(());
        }
        let is_copied =
            |header: &&Header| header.deleted.is_none() && self.routes.contains_key(&header.id);
        let copied: Vec<_> = self.family.values().filter(is_copied).cloned().collect();
        for header in copied {
            match self.finish_header(&header) {
                Err(error) if is_of_one(&error) => {
                    self.skip(&header.id, SkipReason::Failed, error.to_string());
                }
                done => done?,
            }
        }
        Ok(())
    }

    fn finish_header(&self, header: &Header) -> Result<()> {
        let Header { id, detached, leaf, .. } = header;
        if !detached && leaf.is_none() {
            return Ok(());
        }
        let Some(there) = self.living_there(id)? else { return Ok(()) };
        let store = self.into.store();
        if *detached && !there.detached && there.parent_id.is_some() {
            store.change(id, &Change::Detach)?;
        }
        if leaf.is_some() && there.leaf.is_none() {
            store.change(id, &Change::Leaf(leaf.clone()))?;
        }
        Ok(())
    }

    /// Returns the header of a session of the other store. `None` if it does not exist there.
    fn there(&self, id: &SessionId) -> Result<Option<Header>> {
        match self.into.store.header(id) {
            Ok(header) => Ok(Some(header)),
            Err(StoreError::NotFound(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn living_there(&self, id: &SessionId) -> Result<Option<Header>> {
        Ok(self.there(id)?.filter(|header| header.deleted.is_none()))
    }
}

/// Checks whether an error concerns a store as a whole, so that no other session can be copied
/// either.
fn concerns_store(error: &Error) -> bool {
    match error {
        Error::Store(error) => error.is_of_store(),
        _ => matches!(error, Error::Io { .. }),
    }
}

/// Checks whether an error concerns a single session or file, so that the transfer goes on.
fn is_of_one(error: &Error) -> bool {
    !concerns_store(error) && !matches!(error, Error::Store(StoreError::Stale { .. }))
}

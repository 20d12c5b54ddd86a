//! Decides where a record goes: into a session, into a new branch, or nowhere (docs/semantics.md,
//! Sources).

use bytestring::ByteString;
use forklore_core::agent_format::{Parent, Record};
use forklore_core::call::{CallStep, Effect};
use forklore_core::{Data, Event, EventId, SessionKind};
use forklore_engine::Result;
use forklore_store::sources::{RecordKey, RecordLocation};

use crate::begin::{Begin, BranchParent, Follows};
use crate::file_session::{FileSession, Following};
use crate::opened::record_key;
use crate::reading::Reading;
use crate::report::ProblemKind;

/// Where a record goes.
pub(crate) enum Route {
    /// After the last event of a session.
    Into(u32),
    /// Into a new session.
    Fork(Begin),
    /// Nowhere: it continues a deleted session. This location is recorded for it.
    Nowhere(RecordLocation),
}

impl Reading<'_> {
    /// Imports a record and returns its location, or `None` if it is skipped.
    pub(crate) fn record(
        &mut self,
        record: Record,
        text: ByteString,
    ) -> Result<Option<RecordLocation>> {
        let named = record.key.as_ref().or(record.native_id.as_ref());
        let key = named.map(|name| record_key(name.as_bytes()));
        let shared = self.shared_parent(&record)?;
        if self.sessions.is_empty() {
            self.begin_after(shared.clone());
            self.begin_file(&record)?;
        }
        let route = match shared {
            Some(spot) => self.route_after_shared(&record, spot)?,
            None => self.route(&record)?,
        };
        let session = match route {
            Route::Into(session) => session,
            Route::Fork(begin) => self.begin_fork(&record, key, &begin)?,
            Route::Nowhere(position) => {
                self.problem(ProblemKind::Deleted, "the session of the record was deleted");
                self.remember(key, position);
                return Ok(None);
            }
        };
        self.state.last = Some(session);
        if !record.sidechain {
            self.state.last_main = Some(session);
        }
        if record.leaf {
            self.state.leaf = Some(session);
        }
        let location = self.append(session, record, text);
        if let Some(comparison) = &mut self.state.comparison {
            comparison.took_own();
        }
        self.remember(key, location);
        Ok(Some(location))
    }

    fn remember(&mut self, key: Option<RecordKey>, location: RecordLocation) {
        self.tip = key.map(|key| (key, location));
        if let Some(key) = key {
            self.batch.found(key, location);
        }
    }

    fn route(&mut self, record: &Record) -> Result<Route> {
        let parent = match &record.parent {
            Parent::Previous => {
                let last = if record.sidechain { self.state.last } else { self.state.last_main };
                return Ok(self.go_on(last.unwrap_or(0)));
            }
            Parent::None => None,
            Parent::Id(id) => {
                let found = self.locate(record_key(id.as_bytes()))?;
                if found.is_none() && !self.joins(record, None) {
                    self.problem(
                        ProblemKind::MissingParent,
                        "the parent of the record is nowhere before it",
                    );
                }
                found
            }
        };
        if record.only_results
            && let Some(session) = self.holder(record, parent)
        {
            return Ok(self.go_on(session));
        }
        let Some(location) = parent else {
            return Ok(self.root(record));
        };
        let enters = record.sidechain && !self.state.sidechains.contains(&location.session);
        if !enters
            && self.session(location.session).is_some_and(|session| session.ends_at(location))
        {
            return Ok(self.go_on(location.session));
        }
        if self.following(location.session) == Following::Deleted {
            return Ok(Route::Nowhere(location));
        }
        let kind = if enters { SessionKind::Delegate } else { SessionKind::Branch };
        let after = Follows::of(location);
        Ok(Route::Fork(Begin { parent: BranchParent::Own(location.session), after, kind }))
    }

    /// Returns the route of a record without a parent: the first of the file, another root, or the
    /// first of a sub-agent.
    fn root(&self, record: &Record) -> Route {
        if record.sidechain {
            let parent = self.state.last_main.unwrap_or(0);
            let after = Follows::tip(self.session(parent));
            return Route::Fork(Begin {
                parent: BranchParent::Own(parent),
                after,
                kind: SessionKind::Delegate,
            });
        }
        if self.session(0).is_some_and(FileSession::is_empty) {
            return self.go_on(0);
        }
        Route::Fork(Begin {
            parent: BranchParent::Own(0),
            after: Follows::Nothing,
            kind: SessionKind::Branch,
        })
    }

    /// Continues a session if it follows the file, or else branches at the session's last event
    /// from the file.
    fn go_on(&self, session: u32) -> Route {
        let behind = self.session(session).and_then(FileSession::tip);
        match self.following(session) {
            Following::Follows => Route::Into(session),
            Following::Continued => {
                let after = Follows::tip(self.session(session));
                Route::Fork(Begin {
                    parent: BranchParent::Own(session),
                    after,
                    kind: SessionKind::Branch,
                })
            }
            Following::Deleted => Route::Nowhere(RecordLocation::own(session, behind.unwrap_or(0))),
        }
    }

    fn following(&self, session: u32) -> Following {
        self.session(session).map_or(Following::Deleted, |session| session.following)
    }

    /// Checks whether the record contains only results, and a session waits for one of them.
    fn joins(&self, record: &Record, parent: Option<RecordLocation>) -> bool {
        record.only_results && self.holder(record, parent).is_some()
    }

    /// Returns the session that waits for one of the record's results: the parent's session, or
    /// else the one that made the call last.
    fn holder(&self, record: &Record, parent: Option<RecordLocation>) -> Option<u32> {
        let results = || {
            record.effect.calls.iter().filter_map(|step| match step {
                CallStep::Close(id) => Some(id.as_str()),
                CallStep::Open(_) => None,
            })
        };
        let at_parent = parent.map(|location| location.session);
        let at_parent = at_parent.filter(|s| results().any(|id| self.state.is_open(*s, id)));
        at_parent.or_else(|| results().find_map(|id| self.state.holder_of(id)))
    }

    /// Returns the location of the latest record with this key.
    pub(crate) fn locate(&mut self, key: RecordKey) -> Result<Option<RecordLocation>> {
        if let Some((tip, position)) = self.tip
            && tip == key
        {
            return Ok(Some(position));
        }
        if let Some(location) = self.batch.locate(key) {
            return Ok(Some(location));
        }
        self.settle()?;
        match self.source {
            Some(source) => Ok(self.sources.locate_record(source, key)?),
            None => Ok(None),
        }
    }

    fn append(&mut self, session: u32, record: Record, text: ByteString) -> RecordLocation {
        let ts = record.ts.or(self.state.last_ts).unwrap_or(self.file.time);
        self.state.last_ts = Some(ts);
        self.follow_calls(session, &record.effect);
        let offset = self.position.of_record();
        let Some(grown) = usize::try_from(session).ok().and_then(|at| self.sessions.get_mut(at))
        else {
            return RecordLocation::own(session, 0);
        };
        let native = record.native_id.and_then(|id| id.parse::<EventId>().ok());
        let event = Event {
            id: native.unwrap_or_else(|| EventId::derived(&grown.id, offset)),
            ts,
            kind: record.kind,
            class: record.class,
            dialect: Some(self.file.format_name.clone()),
            effect: record.effect,
            data: Data::from_checked(text),
        };
        let location = RecordLocation::own(session, grown.events);
        self.batch.append(session, &grown.id, grown.head(), event, record.usage);
        grown.updated = grown.updated.max(ts);
        self.batch.not_before(session, grown.updated);
        grown.events += 1;
        grown.appended += 1;
        location
    }

    fn follow_calls(&mut self, session: u32, effect: &Effect) {
        if effect.starts_turn {
            self.state.close_all(session);
        }
        for step in &effect.calls {
            match step {
                CallStep::Open(call) => self.state.open_call(session, &call.id),
                CallStep::Close(id) => self.state.close_call(session, id),
            }
        }
    }
}

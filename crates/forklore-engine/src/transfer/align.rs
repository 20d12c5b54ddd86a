//! Compares a session with what the other store has of it, and decides what to write there.

use forklore_api::{SkipReason, TransferState};
use forklore_core::redaction::is_same_event;
use forklore_core::{Event, Header, SessionId};
use forklore_store::port::{At, Beginning};

use super::own_events::{OwnEvents, common};
use super::parted::{may_be_parted, parted, parted_id};
use super::route::Route;
use super::write::Writing;
use super::{Step, Transferring};
use crate::Result;
use crate::recover::new_session;

/// A position in the own events of a session.
struct Position {
    header: Header,
    /// The number of own events before the position.
    own: u64,
}

impl Transferring<'_> {
    pub(super) fn align(&mut self, header: &Header) -> Step {
        let parent = self.parent_there(header);
        if header.deleted.is_some() {
            // Children that are here may begin from what is there.
            if self.living_there(&header.id)?.is_some() {
                self.routes.insert(header.id.clone(), Route::to(header.id.clone()));
            }
            return Ok(());
        }
        if let Some(parent) = &parent
            && let Some(first) = self.first_of_parted(header)?
            && let Some(parent) = self.living_there(parent)?
        {
            return self.align_parted(header, parent, &first);
        }
        match self.there(&header.id)? {
            None if self.planned.contains(&header.id) => Ok(()),
            None => self.create(header, parent),
            Some(there) if there.deleted.is_some() => {
                self.skip(&header.id, SkipReason::Deleted, "it was deleted there");
                Ok(())
            }
            Some(there) => {
                // A child that begins where its parent parts is a child of either of the two. Its
                // `session_fork` shows whether it is the same.
                if !is_same(header, &there) {
                    return self.other_session(header);
                }
                self.routes.insert(header.id.clone(), Route::to(there.id.clone()));
                self.follow(header, 0, Position { header: there, own: 0 })
            }
        }
    }

    /// Returns the session of the other store from which `header`'s session begins there.
    fn parent_there(&self, header: &Header) -> Option<SessionId> {
        let (parent, cut) = header.parent_id.as_ref().zip(header.cut.as_ref())?;
        self.routes.get(parent)?.at(cut.inheritable).cloned()
    }

    fn other_session(&mut self, header: &Header) -> Step {
        self.routes.remove(&header.id);
        let reason = "another session there has this id";
        self.skip(&header.id, SkipReason::OtherSession, reason);
        Ok(())
    }

    /// Returns the first event in which this parted branch differs from its parent. `None` if the
    /// session is no parted branch.
    fn first_of_parted(&self, header: &Header) -> Result<Option<Event>> {
        let Some(parent) = header.parent_id.as_ref().filter(|_| may_be_parted(header)) else {
            return Ok(None);
        };
        let first = OwnEvents::from(self.from.store(), header, 1).only()?.event;
        let is_parted = parted_id(parent, &first)? == header.id;
        Ok(is_parted.then_some(first))
    }

    /// Compares a parted branch. In the other store, it may be the session from which it parted
    /// here.
    fn align_parted(&mut self, header: &Header, parent: Header, first: &Event) -> Step {
        let inheritable = header.inherited.inheritable;
        let route = header.parent_id.as_ref().and_then(|parent| self.routes.get(parent));
        let mut base = parent.id.clone();
        for id in route.map_or_else(Vec::new, |route| route.around(inheritable)) {
            let Some(session) = self.living_there(&id)? else { continue };
            if let Some(own) = self.find_behind(&session, inheritable, first)? {
                self.routes.insert(header.id.clone(), Route::to(session.id.clone()));
                return self.follow(header, 1, Position { header: session, own });
            }
            if self.there(&parted_id(&id, first)?)?.is_some() {
                base = id;
            }
        }
        let parent = if base == parent.id { parent } else { self.into.show(&base)? };
        let id = parted_id(&parent.id, first)?;
        self.routes.insert(header.id.clone(), Route::to(id.clone()));
        let own = self.own_behind(&parent, inheritable)?;
        match self.go_into(header, 1, &Position { header: parent, own }, &id, first)? {
            Some(at) => self.follow(header, 1, at),
            None => Ok(()),
        }
    }

    /// Finds the event `first` of a parted branch behind a cut of a session of the other store,
    /// and returns how many own events precede it. Only audit events may be between the two.
    fn find_behind(&self, session: &Header, cut: u64, first: &Event) -> Result<Option<u64>> {
        let mut own = self.own_behind(session, cut)?;
        let mut events = OwnEvents::from(self.into.store(), session, own);
        while let Some(next) = events.next()? {
            if is_same_event(&next.event, first) {
                return Ok(Some(own));
            }
            if next.event.class.is_inherited() {
                break;
            }
            own += 1;
        }
        Ok(None)
    }

    /// Returns how many own events a session has up to its inheritable event with this number.
    fn own_behind(&self, header: &Header, inheritable: u64) -> Result<u64> {
        let is_child = header.parent_id.is_some();
        if inheritable <= header.inherited.inheritable {
            return Ok(u64::from(is_child));
        }
        let last = self.into.event_at(&header.id, At::Inheritable(inheritable))?;
        let seq = last.map_or(header.head_seq().unsigned_abs(), |last| last.seq);
        Ok(if is_child { seq - header.inherited.inheritable + 1 } else { seq + 1 })
    }

    /// Follows the own events of a session from number `own` on through the sessions that have
    /// them in the other store, and writes there what is not there yet.
    fn follow(&mut self, from: &Header, mut own: u64, mut to: Position) -> Step {
        let mut is_parted = false;
        loop {
            let (here, there) = (self.from.store(), self.into.store());
            let common = common((here, from, own), (there, &to.header, to.own))?;
            if common == 0 && (is_parted || (own == 0 && is_child_with_events(from, &to.header))) {
                return self.other_session(from);
            }
            self.carry_redactions(from, &(own..own + common), (&to.header, to.own))?;
            own += common;
            to.own += common;
            if own >= from.own_events {
                self.report.unchanged += 1;
                return Ok(());
            }
            if to.own >= to.header.own_events {
                let state = TransferState::Continued;
                let writing = Writing::append(from, own, to.header, state);
                return self.write(writing);
            }
            let first = OwnEvents::from(self.from.store(), from, own).only()?.event;
            let id = parted_id(&to.header.id, &first)?;
            let begin = self.inheritable_before(from, own)?;
            if let Some(route) = self.routes.get_mut(&from.id) {
                route.parts_at(begin, id.clone());
            }
            match self.go_into(from, own, &to, &id, &first)? {
                Some(next) => to = next,
                None => return Ok(()),
            }
            is_parted = true;
        }
    }

    /// Returns the beginning of the parted branch `id` if it exists. Otherwise creates it with all
    /// events of `from` from number `own` on, and returns `None`.
    fn go_into(
        &mut self,
        from: &Header,
        own: u64,
        at: &Position,
        id: &SessionId,
        first: &Event,
    ) -> Step<Option<Position>> {
        match self.there(id)? {
            Some(branch) if branch.deleted.is_some() => {
                let reason = format!("its branch {id} was deleted there");
                self.skip(&from.id, SkipReason::Deleted, reason);
                return Ok(None);
            }
            Some(branch) => return Ok(Some(Position { header: branch, own: 1 })),
            None if self.planned.contains(id) => return Ok(None),
            None => {}
        }
        let inheritable = match at.own.checked_sub(1) {
            None => at.header.inherited.inheritable,
            Some(last) => {
                let seq = at.header.seq_of_own(last);
                let last = self.into.event_at(&at.header.id, At::Seq(seq))?;
                last.map_or(0, |last| last.counts.inheritable).max(at.header.inherited.inheritable)
            }
        };
        let cut = self.into.after_inheritable(&at.header, inheritable)?.cut;
        let new = parted(id.clone(), from, &at.header, cut, first)?;
        self.write(Writing::parted(from, own, new))?;
        Ok(None)
    }

    fn inheritable_before(&self, header: &Header, own: u64) -> Result<u64> {
        let inherited = header.inherited.inheritable;
        let Some(last) = own.checked_sub(1).filter(|last| *last > 0 || header.parent_id.is_none())
        else {
            return Ok(inherited);
        };
        let last = self.from.event_at(&header.id, At::Seq(header.seq_of_own(last)))?;
        Ok(last.map_or(inherited, |last| last.counts.inheritable))
    }

    /// Creates a session that the other store does not have, with the same id.
    fn create(&mut self, header: &Header, parent: Option<SessionId>) -> Step {
        let mut new = new_session(header, Vec::new());
        if let Some(Beginning { parent: here, cut, .. }) = &mut new.from {
            let Some(there) = parent else {
                let is_gone = self.family.get(&*here).is_none_or(|it| it.deleted.is_some());
                let (why, reason) = if is_gone {
                    (SkipReason::ParentDeleted, format!("its parent {here} was deleted"))
                } else {
                    (SkipReason::Deleted, format!("its parent {here} was skipped"))
                };
                self.skip(&header.id, why, reason);
                return Ok(());
            };
            if there != *here {
                if let Some(parent) = self.living_there(&there)? {
                    *cut = self.into.after_inheritable(&parent, cut.inheritable)?.cut;
                }
                *here = there;
            }
        }
        self.routes.insert(header.id.clone(), Route::to(header.id.clone()));
        let written = self.write(Writing::create(header, new));
        if written.is_err() && self.there(&header.id)?.is_none() {
            self.routes.remove(&header.id);
        }
        written
    }
}

/// Checks whether two headers with the same id can be those of the same session.
fn is_same(here: &Header, there: &Header) -> bool {
    let cut = |header: &Header| header.cut.as_ref().map(|cut| cut.inheritable);
    let is_child = |header: &Header| header.parent_id.is_some();
    (here.kind, is_child(here), cut(here)) == (there.kind, is_child(there), cut(there))
}

/// Checks whether both sessions have a `session_fork`, in which they must not differ.
fn is_child_with_events(here: &Header, there: &Header) -> bool {
    here.parent_id.is_some() && here.own_events > 0 && there.own_events > 0
}

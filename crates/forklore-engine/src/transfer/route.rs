//! Where the events of a session are in the other store.

use forklore_core::SessionId;

/// The sessions of the other store that have the events of one session here. There are several if
/// both went on differently: the first has the events up to where they part, and so on.
#[derive(Clone, Debug, Default)]
pub(super) struct Route {
    /// Each with the number of inheritable events of the history before it, in ascending order.
    parts: Vec<(u64, SessionId)>,
}

impl Route {
    pub(super) fn to(session: SessionId) -> Self {
        Self { parts: vec![(0, session)] }
    }

    /// Records that the events after the first `inheritable` inheritable ones are in `session`.
    pub(super) fn parts_at(&mut self, inheritable: u64, session: SessionId) {
        self.parts.push((inheritable, session));
    }

    /// Returns the session of the other store from which a child begins whose cut here retains
    /// `inheritable` inheritable events.
    pub(super) fn at(&self, inheritable: u64) -> Option<&SessionId> {
        let behind = |(begin, _): &&(u64, SessionId)| *begin < inheritable;
        let last = self.parts.iter().rfind(behind).or_else(|| self.parts.first());
        last.map(|(_, session)| session)
    }

    /// Returns the sessions of the other store in which a parted branch that begins at this cut may
    /// be. There are several if the sessions part at audit events, which no cut tells apart.
    pub(super) fn around(&self, inheritable: u64) -> Vec<SessionId> {
        let first = self.at(inheritable).into_iter();
        let parted = self.parts.iter().skip(1).filter(|(begin, _)| *begin == inheritable);
        let mut found: Vec<_> = first.chain(parted.map(|(_, session)| session)).cloned().collect();
        found.dedup();
        found
    }

    /// Checks whether all events are in one session.
    pub(super) fn is_whole(&self) -> bool {
        self.parts.len() == 1
    }
}

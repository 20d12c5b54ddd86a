//! The rule of fork depth: how many forks a session depends on (docs/semantics.md, Fork).

use std::collections::HashSet;

use forklore_core::{Header, SessionId, SessionKind, Strategy};

use crate::port::NewSession;

/// A session as one link of a chain of forks. A fork of the session adds a link to the chain.
#[derive(Clone, Debug)]
pub struct Link {
    id: SessionId,
    /// The parent on which the session depends. `None` for a session that needs no ancestor: a
    /// root, a delegate, a copy or a detached session.
    depends_on: Option<SessionId>,
    depth: u64,
}

/// The number of forks on which a session depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForkDepth {
    /// The number of links up to the nearest session that needs no ancestor. If there are more
    /// links than the maximum of [`fork_depth`], this is some number greater than the maximum.
    Links(u64),
    /// The parent links run in a circle.
    Circle,
}

impl Link {
    /// Returns the link for the stored session with this header.
    #[must_use]
    pub fn of(header: &Header) -> Self {
        let strategy = header.strategy.filter(|_| !header.detached);
        let parent = header.parent_id.as_ref();
        let depends_on = parent.filter(|_| is_dependent(header.kind, strategy)).cloned();
        Self { id: header.id.clone(), depends_on, depth: header.depth }
    }

    /// Returns the link for a session that is to be created.
    #[must_use]
    pub fn of_new(new: &NewSession) -> Self {
        let from = new.from.as_ref();
        let dependent = from.filter(|from| is_dependent(new.kind, Some(from.strategy)));
        let depends_on = dependent.map(|from| from.parent.clone());
        Self { id: new.id.clone(), depends_on, depth: 0 }
    }

    /// Returns the parent on which the session depends, if any.
    #[must_use]
    pub fn depends_on(&self) -> Option<&SessionId> {
        self.depends_on.as_ref()
    }
}

fn is_dependent(kind: SessionKind, strategy: Option<Strategy>) -> bool {
    kind == SessionKind::Branch && strategy == Some(Strategy::ShareV1)
}

/// Counts the links from `session` up to the nearest session that needs no ancestor. Stops as soon
/// as there are more than `most` links. `find` looks up a session, and returns `None` if the store
/// does not have that session. It is then unknown whether the missing session needs an ancestor, so
/// all links up to the root count.
///
/// # Errors
/// The errors of `find`.
pub fn fork_depth<E>(
    session: Link,
    most: u64,
    mut find: impl FnMut(&SessionId) -> Result<Option<Link>, E>,
) -> Result<ForkDepth, E> {
    let mut seen = HashSet::new();
    let mut links = 0;
    let mut next = session;
    while let Some(parent) = next.depends_on {
        if !seen.insert(next.id) {
            return Ok(ForkDepth::Circle);
        }
        links += 1;
        if links > most {
            break;
        }
        next = match find(&parent)? {
            Some(found) => found,
            None => return Ok(ForkDepth::Links(links + next.depth.saturating_sub(1))),
        };
    }
    Ok(ForkDepth::Links(links))
}

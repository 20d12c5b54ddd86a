//! Determines whether the first session of a file is a root or begins inside another session
//! (docs/semantics.md, Words and Sources).

use forklore_core::{Cut, Header, SessionKind};
use forklore_engine::Result;
use forklore_store::sources::SourceId;

use crate::agent_file::AgentFile;
use crate::copied_prefix::CopiedPrefix;
use crate::lookup::Lookup;
use crate::revision::Revision;

/// Where the first session of a file begins.
pub(crate) enum SessionStart {
    /// At the start of a log of its own, as a root.
    Root,
    /// The session is a root although another session called it, because that session was not
    /// imported.
    WithoutCaller,
    /// Inside another session, as a branch or a delegate of that session.
    Inside(Box<Inside>),
}

/// The parent and the cut of a session that begins inside another session.
pub(crate) struct Inside {
    pub(crate) kind: SessionKind,
    pub(crate) parent: Header,
    pub(crate) cut: Cut,
    /// The number of the file's revision, if this session is the first one of a rewritten file.
    pub(crate) revision: Option<u64>,
    /// Whether the agent would resume at a record that the session inherits.
    pub(crate) leaf: bool,
}

impl SessionStart {
    /// Finds where the first session of a file begins. `own` is the source of this file.
    pub(crate) fn of(
        lookup: Lookup<'_>,
        file: &AgentFile<'_>,
        own: Option<SourceId>,
        revision: &mut Revision,
        copied: &mut CopiedPrefix,
    ) -> Result<Self> {
        let facts = file.facts();
        let mut leaf = false;
        let branch = match revision.beginning(lookup, file)? {
            Some(earlier) => Some(earlier),
            None => match copied.end() {
                Some(progress) => {
                    leaf = progress.leaf();
                    Some(progress.cut(lookup.engine)?)
                }
                None => lookup.continued_from(facts.base.as_ref(), file.native_id())?,
            },
        };
        if let Some((parent, cut)) = branch {
            let revision = revision.number();
            let kind = SessionKind::Branch;
            return Ok(Self::Inside(Box::new(Inside { kind, parent, cut, revision, leaf })));
        }
        let Some(caller) = &facts.caller else { return Ok(Self::Root) };
        let Some((parent, cut)) = lookup.subagent_parent(caller, facts.created, own)? else {
            return Ok(Self::WithoutCaller);
        };
        let (kind, revision) = (SessionKind::Delegate, None);
        Ok(Self::Inside(Box::new(Inside { kind, parent, cut, revision, leaf })))
    }
}

//! Determines whether the first session of a file is a root or begins inside another session
//! (docs/semantics.md, Words and Sources).

use forklore_core::{Cut, Header, SessionKind};
use forklore_engine::Result;
use forklore_store::sources::SourceId;

use crate::agent_file::AgentFile;
use crate::copied_prefix::CopiedPrefix;
use crate::lookup::Lookup;
use crate::options::WrittenFrom;
use crate::revision::Revision;

/// Where the first session of an imported file begins.
pub(crate) enum SessionStart {
    /// At the start of its own log: the session is a root.
    Root,
    /// At the start of its own log: the session is a root, because the session that called it as a
    /// sub-agent was not imported or was deleted.
    WithoutCaller,
    /// Inside another session: the session is a branch, or a delegate (the session of a sub-agent).
    Inside(Box<Inside>),
}

/// The parent of a session that begins inside another session, and the cut in the parent.
pub(crate) struct Inside {
    pub(crate) kind: SessionKind,
    pub(crate) parent: Header,
    pub(crate) cut: Cut,
    /// How often the file has been rewritten, if the session is the first one of a rewritten file;
    /// otherwise `None`.
    pub(crate) revision: Option<u64>,
    /// Whether the record at which the agent would resume the session is inherited.
    pub(crate) leaf: bool,
}

impl SessionStart {
    /// Finds where the first session of a file begins. `own` is this file's own id in the store, if
    /// it has one. A file that forklore wrote begins where it was written `from`.
    pub(crate) fn of(
        lookup: Lookup<'_>,
        file: &AgentFile<'_>,
        own: Option<SourceId>,
        revision: &mut Revision,
        copied: &mut CopiedPrefix,
        from: Option<&WrittenFrom>,
    ) -> Result<Self> {
        let facts = file.facts();
        let mut leaf = false;
        if let Some(from) = from {
            copied.end();
            let parent = lookup.engine.show(&from.session)?;
            let cut = lookup.engine.cut(&parent, &from.at)?;
            let (kind, revision) = (SessionKind::Branch, None);
            return Ok(Self::Inside(Box::new(Inside { kind, parent, cut, revision, leaf: true })));
        }
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
        let path = file.caller_path();
        let Some((parent, cut)) = lookup.subagent_parent(caller, path, facts.created, own)? else {
            return Ok(Self::WithoutCaller);
        };
        let (kind, revision) = (SessionKind::Delegate, None);
        Ok(Self::Inside(Box::new(Inside { kind, parent, cut, revision, leaf })))
    }
}

//! Resolves a reference to a session: an id, a part of an id, `last`, a label or a title.

mod reference;
mod title;

pub use reference::Reference;

use forklore_api::Elsewhere;
use forklore_core::workspace::Workspace;
use forklore_core::{Header, Label, SessionId, SessionKind};
use forklore_store::port::{Filter, Headers};

use crate::{Engine, Error, Result};

/// The minimum length in characters of a partial session id in a reference.
pub(crate) const SHORTEST_PART: usize = 4;
/// The maximum number of candidates that an error lists.
const CANDIDATES: usize = 10;

/// The workspace in which a session reference is looked up. `last` is looked up only there; labels
/// and titles are looked up there first. Ids are always looked up in the whole store.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// The workspace in which to look; `None` means all workspaces.
    pub workspace: Option<Workspace>,
}

impl Engine {
    /// Returns the session that `reference` names. A reference is `last`, `@label`, `REF@label` (a
    /// label in the family of the session REF), or a name. A name stands for the first of these
    /// that exists:
    /// 1. an id;
    /// 2. a prefix or a suffix of an id, or a label of the workspace;
    /// 3. a label of another workspace;
    /// 4. a title of the workspace, or the beginning of one, in any case;
    /// 5. a title of another workspace, or the beginning of one.
    ///
    /// # Errors
    /// - `not_found`: no session matches, several sessions of other workspaces match, or the only
    ///   match is in the trash.
    /// - `invalid_args`: several sessions match (the error lists the first 10), or `reference` is
    ///   not a valid name. The error does not repeat an invalid name.
    pub fn resolve(&self, reference: &str, scope: &Scope) -> Result<Header> {
        let parsed = reference
            .parse()
            .map_err(|source| Error::Name { what: "reference to a session", source })?;
        self.find(&parsed, scope)
    }

    fn find(&self, reference: &Reference, scope: &Scope) -> Result<Header> {
        match reference {
            Reference::Last => self.last(scope),
            Reference::Name(name) => self.by_name(name, scope),
            Reference::Title(title) => self.by_title(title, scope),
            Reference::Label { of, label, further } => {
                let of = of.as_ref().map(|of| self.find(of, scope)).transpose()?;
                let first = self.by_label(of.as_ref(), label, scope)?;
                further.iter().try_fold(first, |of, label| self.by_label(Some(&of), label, scope))
            }
        }
    }

    /// Finds the session with this id, part of an id, label or title.
    fn by_name(&self, id: &SessionId, scope: &Scope) -> Result<Header> {
        match self.show(id) {
            Err(Error::Store(forklore_store::Error::NotFound(_))) => {}
            found => return found,
        }
        let mut found = self.with_part(id)?;
        let label = id.as_str().parse::<Label>().ok();
        if let Some(label) = &label {
            let filter = Filter {
                label: Some(label.clone()),
                workspace: scope.workspace.clone(),
                ..Filter::default()
            };
            let mut labelled = self.store.sessions(&filter, None, 0)?.sound;
            labelled.retain(|header| found.sound.iter().all(|part| part.id != header.id));
            found.sound.append(&mut labelled);
        }
        if !found.sound.is_empty() || !found.damaged.is_empty() {
            return only(found, &format!("the name {id}"));
        }
        if let Some((label, workspace)) = label.as_ref().zip(scope.workspace.as_ref())
            && let Some(found) = self.labelled_elsewhere(label, workspace)?
        {
            return Ok(found);
        }
        // Nobody types a whole UUID for a title, and the search reads every title.
        if uuid::Uuid::parse_str(id.as_str()).is_ok() {
            return Err(self.absent(id)?);
        }
        match self.by_title(id.as_str(), scope) {
            Err(Error::NoMatch { .. }) => Err(self.absent(id)?),
            found => found,
        }
    }

    /// Returns the error for a name that no living session has.
    fn absent(&self, name: &SessionId) -> Result<Error> {
        Ok(match self.in_trash(name)? {
            Some(deleted) => Error::InTrash(deleted.id),
            None => forklore_store::Error::NotFound(name.clone()).into(),
        })
    }

    fn last(&self, scope: &Scope) -> Result<Header> {
        let filter = Filter {
            workspace: scope.workspace.clone(),
            kinds: vec![SessionKind::Root, SessionKind::Branch],
            ..Filter::default()
        };
        let mut found = self.store.sessions(&filter, None, 1)?;
        if let Some(header) = found.sound.pop() {
            return Ok(header);
        }
        if let Some(header) = found.all()?.pop() {
            return Ok(header);
        }
        let everywhere = Filter { workspace: None, ..filter };
        let others = self.store.sessions(&everywhere, None, 1)?.sound;
        if !others.is_empty() {
            return Err(Error::Elsewhere { what: "last".into(), found: named(others) });
        }
        let searched = scope.workspace.as_ref().map_or("the store", |_| "this workspace");
        Err(Error::NoMatch { what: format!("last: {searched} has no session yet") })
    }

    /// Returns the session with this label in the family (all sessions with one root) that `of`
    /// belongs to. If `of` is `None`, searches all families in the workspace of `scope`, then those
    /// of the other workspaces.
    fn by_label(&self, of: Option<&Header>, label: &Label, scope: &Scope) -> Result<Header> {
        let mut filter = Filter { label: Some(label.clone()), ..Filter::default() };
        match of {
            None => filter.workspace.clone_from(&scope.workspace),
            Some(of) => filter.family = Some(of.root_id.clone()),
        }
        let what = format!("the label {label}");
        match (only(self.store.sessions(&filter, None, 0)?, &what), &filter.workspace) {
            (Err(none @ Error::NoMatch { .. }), Some(workspace)) => {
                self.labelled_elsewhere(label, workspace)?.ok_or(none)
            }
            (found, _) => found,
        }
    }

    /// Returns the only session of other workspaces with this label. If several have it, returns the
    /// only one whose family begins in `workspace`: a fork with a folder of its own.
    fn labelled_elsewhere(&self, label: &Label, workspace: &Workspace) -> Result<Option<Header>> {
        let filter = Filter { label: Some(label.clone()), ..Filter::default() };
        let found = self.store.sessions(&filter, None, 0)?.sound;
        let begins_here = |header: &&Header| {
            self.show(&header.root_id).is_ok_and(|root| root.workspace == *workspace)
        };
        if let [_, _, ..] = found.as_slice()
            && let [one] = found.iter().filter(begins_here).collect::<Vec<_>>().as_slice()
        {
            return Ok(Some((*one).clone()));
        }
        only_elsewhere(&format!("the label {label}"), found)
    }

    /// Returns the only session of all workspaces that matches `filter`. Returns `None` if none
    /// matches. `what` is the name that the error shows.
    ///
    /// # Errors
    /// [`Error::Elsewhere`] with up to [`CANDIDATES`] sessions if several match.
    pub(crate) fn elsewhere(&self, what: &str, filter: &Filter) -> Result<Option<Header>> {
        only_elsewhere(what, self.store.sessions(filter, None, CANDIDATES)?.sound)
    }

    /// Returns the sessions whose id begins or ends with `part`. Returns none if `part` is too
    /// short.
    fn with_part(&self, part: &SessionId) -> Result<Headers> {
        if part.as_str().chars().count() < SHORTEST_PART {
            return Ok(Headers::default());
        }
        let filter = Filter { id_part: Some(part.to_string()), ..Filter::default() };
        Ok(self.store.sessions(&filter, None, 0)?)
    }
}

/// Returns the only session in `found`, or an error if there are several or none. If no session is
/// readable but a header is damaged, returns the error of that header instead of `NoMatch`.
pub(crate) fn only(found: Headers, what: &str) -> Result<Header> {
    let mut found = if found.sound.is_empty() { found.all()? } else { found.sound };
    match found.len() {
        0 => Err(Error::NoMatch { what: what.to_owned() }),
        1 => found.pop().ok_or_else(|| Error::NoMatch { what: what.to_owned() }),
        count => Err(Error::Ambiguous {
            what: what.to_owned(),
            candidates: found.into_iter().take(CANDIDATES).map(|h| h.id).collect(),
            count,
        }),
    }
}

/// Returns the only session in `found`, or `None` if `found` is empty. `found` are sessions of
/// other workspaces.
///
/// # Errors
/// [`Error::Elsewhere`] if `found` has several sessions, because the caller cannot have meant all
/// of them.
fn only_elsewhere(what: &str, mut found: Vec<Header>) -> Result<Option<Header>> {
    if found.len() > 1 {
        return Err(Error::Elsewhere { what: what.to_owned(), found: named(found) });
    }
    Ok(found.pop())
}

fn named(found: Vec<Header>) -> Vec<Elsewhere> {
    let named = found.into_iter().take(CANDIDATES).map(|header| Elsewhere {
        session_id: header.id,
        label: header.label,
        workspace: header.workspace,
    });
    named.collect()
}

//! Resolves a reference to a session: an id, `last`, a label or a part of an id.

use forklore_core::workspace::Workspace;
use forklore_core::{Header, Label, SessionId, SessionKind};
use forklore_store::port::{Filter, Headers};

use crate::{Engine, Error, Result};
use forklore_api::Elsewhere;

/// The minimum length in characters of a partial session id in a reference.
const SHORTEST_PART: usize = 4;
const CANDIDATES: usize = 10;

/// Limits where a session reference looks for labels and for `last`. Ids are always looked up in
/// the whole store.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// The workspace in which to look for labels and for `last`; `None` means all workspaces.
    pub workspace: Option<Workspace>,
}

impl Engine {
    /// Returns the session that `reference` names. A reference is an exact id, `last`, `@label`,
    /// `REF@label` (a label in the family of the session REF), or a prefix or suffix of an id that
    /// matches only one session.
    ///
    /// # Errors
    /// - `not_found`: no session matches.
    /// - `invalid_args`: several sessions match (the error lists the first 10), or `reference` is
    ///   not a valid name. The error does not repeat an invalid name.
    pub fn resolve(&self, reference: &str, scope: &Scope) -> Result<Header> {
        let Some((of, labels)) = reference.split_once('@') else {
            return self.by_name(reference, scope);
        };
        let mut labels = labels.split('@');
        let of = if of.is_empty() { None } else { Some(self.by_name(of, scope)?) };
        let first = self.by_label(of.as_ref(), labels.next().unwrap_or_default(), scope)?;
        labels.try_fold(first, |found, label| self.by_label(Some(&found), label, scope))
    }

    /// Resolves a session reference that is not a label: an id, a part of an id, or `last`.
    fn by_name(&self, reference: &str, scope: &Scope) -> Result<Header> {
        if reference == "last" {
            return self.last(scope);
        }
        let id: SessionId =
            reference.parse().map_err(|source| Error::Name { what: "session id", source })?;
        match self.show(&id) {
            Err(Error::Store(forklore_store::Error::NotFound(_))) => self.by_part(&id),
            found => found,
        }
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
        Err(self.elsewhere("last", &Filter { workspace: None, ..filter }, 1)?.unwrap_or_else(
            || {
                let searched = scope.workspace.as_ref().map_or("the store", |_| "this workspace");
                Error::NoMatch { what: format!("last: {searched} has no session yet") }
            },
        ))
    }

    /// Returns the session with this label in the family (all sessions with one root) that `of`
    /// belongs to. If `of` is `None`, searches all families in the workspace of `scope`.
    fn by_label(&self, of: Option<&Header>, label: &str, scope: &Scope) -> Result<Header> {
        let label: Label = label.parse().map_err(|source| Error::Name { what: "label", source })?;
        let mut filter = Filter { label: Some(label.clone()), ..Filter::default() };
        match of {
            None => filter.workspace.clone_from(&scope.workspace),
            Some(of) => filter.family = Some(of.root_id.clone()),
        }
        let what = format!("the label {label}");
        match only(self.store.sessions(&filter, None, 0)?, &what) {
            Err(none @ Error::NoMatch { .. }) if filter.workspace.is_some() => {
                let everywhere = Filter { workspace: None, ..filter };
                Err(self.elsewhere(&what, &everywhere, CANDIDATES)?.unwrap_or(none))
            }
            found => found,
        }
    }

    /// Returns an error that lists the sessions that match `filter`, in all workspaces. Returns
    /// `None` if none matches.
    fn elsewhere(&self, what: &str, filter: &Filter, most: usize) -> Result<Option<Error>> {
        let found = self.store.sessions(filter, None, most)?.sound.into_iter();
        let found: Vec<Elsewhere> = found
            .map(|header| Elsewhere {
                session_id: header.id,
                label: header.label,
                workspace: header.workspace,
            })
            .collect();
        Ok((!found.is_empty()).then(|| Error::Elsewhere { what: what.to_owned(), found }))
    }

    fn by_part(&self, part: &SessionId) -> Result<Header> {
        if part.as_str().chars().count() < SHORTEST_PART {
            return Err(forklore_store::Error::NotFound(part.clone()).into());
        }
        let filter = Filter { id_part: Some(part.to_string()), ..Filter::default() };
        let found = self.store.sessions(&filter, None, 0)?;
        if found.sound.is_empty() && found.damaged.is_empty() {
            return Err(forklore_store::Error::NotFound(part.clone()).into());
        }
        only(found, &format!("the part {part} of an id"))
    }
}

/// Returns the only session in `found`, and an error if there are several or none. If no
/// session is readable but a header is damaged, returns the error of that header instead of
/// `NoMatch`.
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

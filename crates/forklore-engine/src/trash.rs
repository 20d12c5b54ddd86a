//! The trash: finds the sessions in it, and those that one delete put there together.

use std::collections::HashSet;

use forklore_core::{Header, Label, SessionId, SessionKind};
use forklore_store::Error as StoreError;
use forklore_store::port::{Filter, Headers};

use crate::resolve::{SHORTEST_PART, only};
use crate::{Engine, Error, Result, Scope};

impl Engine {
    /// Returns the session in the trash that `reference` names: an id, `last` (the one that was
    /// deleted last), a prefix or suffix of an id that matches only one session, or a label, with or
    /// without `@`. A label of another workspace is found if it is unique. Also returns a session that
    /// is not in the trash, if `reference` is its id.
    ///
    /// # Errors
    /// - `not_found`: no session in the trash matches.
    /// - `invalid_args`: several sessions match, or `reference` is not a valid name.
    pub fn resolve_in_trash(&self, reference: &str, scope: &Scope) -> Result<Header> {
        if let Some(label) = reference.strip_prefix('@') {
            let label = label.parse().map_err(|source| Error::Name { what: "label", source })?;
            return self.label_in_trash(&label, scope, &format!("the label {label} in the trash"));
        }
        if reference == "last" {
            let workspace = scope.workspace.clone();
            let filter = Filter { trash: true, workspace, ..Filter::default() };
            let deleted = self.store.sessions(&filter, None, 0)?.all()?.into_iter();
            let last = deleted.max_by_key(|header| header.deleted.map(|it| it.deleted));
            let what = "last, because nothing is in the trash".to_owned();
            return last.ok_or(Error::NoMatch { what });
        }
        let id: SessionId =
            reference.parse().map_err(|source| Error::Name { what: "session id", source })?;
        match self.store.header(&id) {
            Err(StoreError::NotFound(_)) => {}
            found => return Ok(found?),
        }
        let what = format!("{id}, a part of an id or a label in the trash");
        match only(self.part_in_trash(&id)?, &what) {
            Err(none @ Error::NoMatch { .. }) => match id.as_str().parse() {
                Ok(label) => self.label_in_trash(&label, scope, &what),
                Err(_) => Err(none),
            },
            found => found,
        }
    }

    /// Returns the session in the trash with this label, preferably of the workspace of `scope`.
    /// `what` describes it in errors.
    fn label_in_trash(&self, label: &Label, scope: &Scope, what: &str) -> Result<Header> {
        let (label, workspace) = (Some(label.clone()), scope.workspace.clone());
        let filter = Filter { trash: true, label, workspace, ..Filter::default() };
        match only(self.store.sessions(&filter, None, 0)?, what) {
            Err(none @ Error::NoMatch { .. }) if filter.workspace.is_some() => {
                self.elsewhere(what, &Filter { workspace: None, ..filter })?.ok_or(none)
            }
            found => found,
        }
    }

    /// Returns the only session in the trash that a name can mean: a part of an id, or a label.
    /// Returns `None` if there is none or several.
    pub(crate) fn in_trash(&self, name: &SessionId) -> Result<Option<Header>> {
        let mut found = Vec::new();
        if name.as_str().chars().count() >= SHORTEST_PART {
            found.extend(self.part_in_trash(name)?.sound);
        }
        if let Ok(label) = name.as_str().parse() {
            let filter = Filter { trash: true, label: Some(label), ..Filter::default() };
            found.extend(self.store.sessions(&filter, None, 0)?.sound);
        }
        Ok(found.pop().filter(|last| found.iter().all(|other| other.id == last.id)))
    }

    fn part_in_trash(&self, part: &SessionId) -> Result<Headers> {
        let part = Some(part.to_string());
        let filter = Filter { trash: true, id_part: part, ..Filter::default() };
        Ok(self.store.sessions(&filter, None, 0)?)
    }

    /// Returns a session in the trash, with sessions that the same delete put there. With
    /// `cascade`, these are all such sessions, otherwise only its delegates and their delegates.
    /// Parents come before their children.
    pub(crate) fn deleted_together(&self, header: &Header, cascade: bool) -> Result<Vec<Header>> {
        let (family, trash) = (Some(header.root_id.clone()), true);
        let filter = Filter { family, trash, ..Filter::default() };
        let mut others = self.store.sessions(&filter, None, 0)?.all()?;
        others.retain(|other| other.deleted == header.deleted && other.id != header.id);
        others.sort_by(|a, b| a.depth.cmp(&b.depth).then_with(|| a.id.cmp(&b.id)));
        let mut ids = HashSet::from([header.id.clone()]);
        let mut found = vec![header.clone()];
        for other in others {
            let is_delegate = other.kind == SessionKind::Delegate;
            let of_found = other.parent_id.as_ref().is_some_and(|parent| ids.contains(parent));
            if cascade || (is_delegate && of_found) {
                ids.insert(other.id.clone());
                found.push(other);
            }
        }
        found.sort_by(|a, b| a.depth.cmp(&b.depth).then_with(|| a.id.cmp(&b.id)));
        Ok(found)
    }
}

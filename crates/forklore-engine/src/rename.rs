//! `rename`: gives a session another title.

use forklore_core::operation::OperationKind;
use forklore_core::{Header, SessionId};
use forklore_store::port::{Change, Write};

use crate::header_limits::Limited;
use crate::{Engine, Result};

impl Engine {
    /// Replaces the title of a session. `None`, or a title without visible characters, removes the
    /// title. The session is then described by its first words.
    ///
    /// # Errors
    /// `invalid_args` if the title is too long, `not_found` if the session does not exist.
    pub fn rename(&self, session: &SessionId, title: Option<&str>) -> Result<Header> {
        let title = title.map(str::trim).filter(|title| !title.is_empty());
        Limited { title, ..Limited::default() }.check()?;
        let change = Change::Title(title.map(str::to_owned));
        let write = Write::Change { session: session.clone(), change };
        Ok(self.store.commit(self.recorded(OperationKind::Rename, vec![write]))?.changed()?.header)
    }
}

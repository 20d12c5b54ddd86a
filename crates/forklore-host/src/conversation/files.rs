//! Takes conversation and files back together.

use forklore_api::{RewindScope, RewindUndone, Rewound};
use forklore_core::{Header, Selector};
use forklore_workspace::{Error as FilesError, Rewind};

use super::Conversation;
use crate::files::{Files, folder_of};
use crate::{Error, Result};

impl Conversation {
    /// Returns what taking back conversation and files to the cut `at` would change. `None` if there
    /// is no snapshot of the files there.
    ///
    /// # Errors
    /// `invalid_args` if the cut does not exist, or an error of the files.
    pub async fn plan_rewind_of_files(&self, at: &Selector) -> Result<Option<Rewound>> {
        let header = self.header().await?;
        let Some((files, rewind)) = self.of_files(&header, at) else { return Ok(None) };
        let planned = files.run(move |files, engine| files.plan_rewind(engine, &header, &rewind));
        match planned.await {
            Ok(plan) => Ok(Some(plan)),
            Err(Error::Files(FilesError::NoSnapshot { .. })) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Takes back conversation and files, and moves the conversation into the fork in which it goes
    /// on. The state of the files before is recorded first.
    ///
    /// # Errors
    /// `not_found` if there is no snapshot there; nothing has changed then.
    pub async fn rewind_with_files(&self, at: &Selector) -> Result<Rewound> {
        let header = self.header().await?;
        let Some((files, rewind)) = self.of_files(&header, at) else { return Err(no_files()) };
        let done = files.run(move |files, engine| files.rewind(engine, &header, &rewind)).await?;
        if let Some(forked) = &done.forked {
            self.switch(&forked.child_session_id).await?;
        }
        Ok(done)
    }

    /// Takes the last rewind of the folder back, or the one with this number. If the conversation is
    /// in the fork of that rewind, it moves back into the session.
    ///
    /// # Errors
    /// `not_found` if there is no such rewind; `conflict` if the fork was gone on with.
    pub async fn undo_rewind(&self, number: Option<u64>) -> Result<RewindUndone> {
        let header = self.header().await?;
        let (files, folder) =
            self.host().files.clone().zip(folder_of(&header)).ok_or_else(no_files)?;
        let undone = files.run(move |files, engine| files.undo(engine, &folder, number)).await?;
        if undone.fork.as_ref() == Some(&header.id) {
            self.switch(&undone.session_id).await?;
        }
        Ok(undone)
    }

    fn of_files(&self, header: &Header, at: &Selector) -> Option<(Files, Rewind)> {
        let (files, folder) = self.host().files.clone().zip(folder_of(header))?;
        let (at, scope) = (at.clone(), RewindScope::Both);
        Some((files, Rewind { at, scope, folder, label: None, paths: Vec::new() }))
    }
}

fn no_files() -> Error {
    Error::invalid("this conversation has no files that could be taken back")
}

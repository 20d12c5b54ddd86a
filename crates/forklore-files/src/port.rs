//! The port's methods, each one step.

use std::time::Duration;

use forklore_core::{Header, SessionId, SessionKind, Strategy};
use forklore_store::port::{
    Append, Appended, Beginning, Change, Changed, Changes, Children, Collected, Cursor, Filter,
    Headers, Maintenance, NewSession, Page, Query, Removed, Since, Store, Verification,
};
use forklore_store::sources::{
    FindSource, Place, Range, RecordKey, Source, SourceId, Sources, Step,
};
use forklore_store::{Error, Result};
use jiff::Timestamp;

use crate::copy::Owner;
use crate::layout::Segment;
use crate::sources::Index;
use crate::store::FilesStore;

/// How often a step is tried that a delete or a gc came in between of.
const TRIES: usize = 3;

/// Takes a step that reads without a lock: what it found missing may just have been taken away.
fn again<T>(mut step: impl FnMut() -> Result<T>) -> Result<T> {
    for _ in 1..TRIES {
        match step() {
            Err(Error::Corrupt { .. } | Error::MissingAncestor { .. } | Error::Stale { .. }) => {}
            done => return done,
        }
    }
    step()
}

impl FilesStore {
    /// Makes a session. The copy of its prefix that it may have is made while others go on, unless
    /// it is to be made `alone`, where no gc can take it for one that nobody finishes.
    fn create_once(&self, new: &NewSession, alone: bool) -> Result<Header> {
        let (turn, folder) = self.alone()?;
        let Some(from) = new.from.as_ref().filter(|from| copies(new, from)) else {
            return folder.create(new, None);
        };
        let parent = folder.check_new(new)?;
        let held = alone.then_some(turn);
        let owner = Owner {
            id: &new.id,
            parent_id: Some(&from.parent),
            root_id: parent.as_ref().map_or(&new.id, |parent| &parent.header.root_id),
            segment: &Segment::of_session(&new.workspace, &new.id),
        };
        let staged = folder.stage(&from.parent, from.cut.kept, &owner)?;
        let turn = held.map_or_else(|| self.alone().map(|(turn, _)| turn), Ok);
        let made = turn.and_then(|_turn| folder.create(new, Some(&staged)));
        if made.is_err() {
            staged.abandon(folder);
        }
        made
    }

    fn detach_once(&self, session: &SessionId) -> Result<Changed> {
        let staged = self.reading()?.staged_detach(session)?;
        let done =
            self.with(session).and_then(|(_turns, folder)| folder.detach(session, staged.as_ref()));
        if let Some(staged) = staged {
            staged.abandon(self.folder());
        }
        done
    }
}

/// Whether the session gets a copy of its prefix.
fn copies(new: &NewSession, from: &Beginning) -> bool {
    from.strategy == Strategy::ReplayV1 && new.kind == SessionKind::Branch && from.cut.kept > 0
}

impl Store for FilesStore {
    fn create(&self, new: NewSession) -> Result<Header> {
        let mut alone = false;
        again(|| {
            let made = self.create_once(&new, alone);
            alone = matches!(made, Err(Error::Stale { .. }));
            made
        })
    }

    fn append(&self, session: &SessionId, append: Append) -> Result<Appended> {
        let (_turns, folder) = self.with(session)?;
        folder.append(session, &append)
    }

    fn header(&self, session: &SessionId) -> Result<Header> {
        Ok(self.reading()?.any(session)?.header)
    }

    fn read(&self, session: &SessionId, query: &Query) -> Result<Page> {
        again(|| self.reading()?.page(session, query))
    }

    fn sessions(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> Result<Headers> {
        self.reading()?.list(filter, after, limit)
    }

    fn change(&self, session: &SessionId, change: &Change) -> Result<Changed> {
        if *change == Change::Detach {
            return again(|| self.detach_once(session));
        }
        let header = if matches!(change, Change::Label(_)) {
            let (_turn, folder) = self.alone()?;
            folder.change(session, change)?
        } else {
            let (_turns, folder) = self.with(session)?;
            folder.change(session, change)?
        };
        Ok(Changed { header, copied_events: 0 })
    }

    fn remove(
        &self,
        sessions: &[SessionId],
        children: Children,
        now: Timestamp,
    ) -> Result<Removed> {
        let (_turn, folder) = self.alone()?;
        // Where nothing was imported, damage of what is known of imports keeps nobody.
        let imported =
            sessions.iter().any(|id| folder.any(id).is_ok_and(|it| it.header.source.is_some()));
        let index = if imported { Some(self.index()?) } else { None };
        folder.together(|folder| folder.delete(index.as_deref(), sessions, children, now))
    }

    fn changes(&self, since: &Since, limit: usize, wait: Duration) -> Result<Changes> {
        self.follow(since, limit, wait)
    }

    fn verify(&self, session: Option<&SessionId>) -> Result<Verification> {
        match session {
            Some(id) => self.reading()?.verify_session(id),
            None => {
                let mut found = self.reading()?.verify_all()?;
                if let Err(error) = self.index() {
                    found.problems.push(forklore_store::port::Problem {
                        session_id: None,
                        seq: None,
                        attachment: None,
                        kind: error.kind(),
                        message: error.to_string(),
                    });
                }
                Ok(found)
            }
        }
    }
}

impl Sources for FilesStore {
    fn sources(&self, by: &FindSource) -> Result<Vec<Source>> {
        self.reading()?;
        Ok(self.index()?.find(by))
    }

    fn place(&self, source: SourceId, record: RecordKey) -> Result<Option<Place>> {
        self.reading()?;
        Ok(self.index()?.place(source.0, record))
    }

    fn places(&self, source: SourceId) -> Result<Option<Vec<(RecordKey, Place)>>> {
        self.reading()?;
        Ok(self.index()?.places(source.0))
    }

    fn ranges(&self, source: SourceId, step: u64) -> Result<Option<Vec<Range>>> {
        again(|| {
            let folder = self.reading()?;
            folder.ranges(&*self.index()?, source, step)
        })
    }

    fn import(&self, step: Step) -> Result<SourceId> {
        let (_turn, folder) = self.alone()?;
        let mut index = self.index()?;
        let done = folder.together(|folder| folder.import(&index, &step));
        if done.is_err() {
            // What was read of a step that was taken back is not so any more.
            *index = Index::default();
        }
        done
    }
}

impl Maintenance for FilesStore {
    fn gc(&self, _now: Timestamp) -> Result<Collected> {
        let (_turn, folder) = self.alone()?;
        let index = self.index()?;
        folder.collect(&index)
    }

    fn store_bytes(&self) -> Result<u64> {
        self.reading()?.bytes_of_files()
    }
}

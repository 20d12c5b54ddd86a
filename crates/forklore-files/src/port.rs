//! The port's methods, each one step.

use forklore_model::{Header, SessionId, SessionKind, Strategy};
use forklore_store::port::{
    Append, Appended, Change, Changed, Children, Collected, Cursor, Filter, Headers, NewSession,
    Page, Query, Removed, Store, Upkeep, Verification,
};
use forklore_store::sources::{
    FindSource, Place, Range, RecordKey, Source, SourceId, Sources, Step,
};
use forklore_store::{Error, Result};
use jiff::Timestamp;

use crate::copy::{Owner, Staged};
use crate::layout::Segment;
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
    fn create_once(&self, new: &NewSession) -> Result<Header> {
        let staged = self.staged(new)?;
        let made = self.alone().and_then(|(_turn, folder)| folder.create(new, staged.as_ref()));
        if let (Err(_), Some(staged)) = (&made, &staged) {
            staged.abandon(self.folder());
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

    /// The copy of its prefix that a new session is to have, made while others go on.
    fn staged(&self, new: &NewSession) -> Result<Option<Staged>> {
        let copies = |from: &&forklore_store::port::Beginning| {
            from.strategy == Strategy::ReplayV1
                && new.kind == SessionKind::Branch
                && from.cut.kept > 0
        };
        let Some(from) = new.from.as_ref().filter(copies) else {
            return Ok(None);
        };
        let (turn, folder) = self.alone()?;
        let parent = folder.check_new(new)?;
        drop(turn);
        let root_id = parent.map_or_else(|| new.id.clone(), |parent| parent.header.root_id);
        let owner = Owner {
            id: &new.id,
            parent_id: Some(&from.parent),
            root_id: &root_id,
            segment: &Segment::of_session(&new.workspace, &new.id),
        };
        folder.stage(&from.parent, from.cut.kept, &owner).map(Some)
    }
}

impl Store for FilesStore {
    fn create(&self, new: NewSession) -> Result<Header> {
        again(|| self.create_once(&new))
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
        let index = self.index()?;
        folder.together(|folder| folder.delete(&index, sessions, children, now))
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

    fn ranges(&self, source: SourceId, step: u64) -> Result<Option<Vec<Range>>> {
        let folder = self.reading()?;
        let index = self.index()?;
        folder.ranges(&index, source, step)
    }

    fn import(&self, step: Step) -> Result<SourceId> {
        let (_turn, folder) = self.alone()?;
        let index = self.index()?;
        folder.together(|folder| folder.import(&index, &step))
    }
}

impl Upkeep for FilesStore {
    fn gc(&self, _now: Timestamp) -> Result<Collected> {
        let (_turn, folder) = self.alone()?;
        let index = self.index()?;
        folder.collect(&index)
    }

    fn store_bytes(&self) -> Result<u64> {
        self.reading()?.bytes_of_files()
    }
}

//! What each call does with the store.

use std::io::Read;
use std::time::Duration;

use forklore_core::SessionId;
use forklore_store::port::{Query, Transaction};
use forklore_store::{Result, Store};

use super::{Answer, Dispatcher, Rights, arguments, done, refused};
use crate::protocol::{
    self, Call, CommittedEach, Either, Find, Follow, Greeting, HeaderEach, LONGEST_WAIT, List,
    Listed, Locate, OperationList, PageEach, RangeList, SourceMessage, Step, TransactionMessage,
    Undoable, VERSION,
};

impl Dispatcher {
    /// Executes a call. `rest` is what follows the call in the path.
    pub(super) fn execute(
        &self,
        call: Call,
        rest: &str,
        body: &mut dyn Read,
        rights: Rights,
    ) -> Result<Answer> {
        let store = &*self.store;
        match call {
            Call::Hello => hello(store),
            Call::Now => Ok(done(store, &())),
            Call::Commit | Call::CommitAll => write(store, call, body, rights),
            Call::Header | Call::Headers | Call::Read | Call::ReadInTrash | Call::Pages => {
                read(store, call, body)
            }
            Call::Sessions | Call::Changes | Call::Operations => list(store, call, body),
            Call::Redacted => Ok(done(store, &store.redacted(&arguments::<SessionId>(body)?)?)),
            Call::Verify => {
                let session: Option<SessionId> = arguments(body)?;
                Ok(done(store, &store.verify(session.as_ref())?))
            }
            Call::Sources | Call::LocateRecord | Call::SourceSpans | Call::RecordLocations => {
                sources(store, call, body)
            }
            Call::Gc => Ok(done(store, &store.gc()?)),
            Call::Pack => Ok(done(store, &store.pack(arguments(body)?)?)),
            Call::StoreBytes => Ok(done(store, &store.store_bytes()?)),
            Call::Put
            | Call::Pin
            | Call::Unpin
            | Call::Open
            | Call::Find
            | Call::List
            | Call::Sweep => self.attach(call, rest, body),
        }
    }
}

fn hello(store: &dyn Store) -> Result<Answer> {
    Ok(done(
        store,
        &Greeting {
            forklore_store: VERSION,
            program: format!("forklore {}", env!("CARGO_PKG_VERSION")),
            capabilities: store.capabilities(),
        },
    ))
}

fn write(store: &dyn Store, call: Call, body: &mut dyn Read, rights: Rights) -> Result<Answer> {
    let goes_beyond =
        |message: &TransactionMessage| rights == Rights::NoErasing && message.erases();
    if call == Call::Commit {
        let message: TransactionMessage = arguments(body)?;
        if goes_beyond(&message) {
            return Ok(refused());
        }
        return Ok(done(store, &store.commit(message.try_into()?)?));
    }
    let messages: Vec<TransactionMessage> = arguments(body)?;
    if messages.iter().any(goes_beyond) {
        return Ok(refused());
    }
    let transactions: Result<Vec<Transaction>> =
        messages.into_iter().map(Transaction::try_from).collect();
    let each: CommittedEach =
        store.commit_all(transactions?)?.into_iter().map(Either::from).collect();
    Ok(done(store, &each))
}

fn read(store: &dyn Store, call: Call, body: &mut dyn Read) -> Result<Answer> {
    match call {
        Call::Header => Ok(done(store, &store.header(&arguments::<SessionId>(body)?)?)),
        Call::Headers => {
            let found = store.headers(&arguments::<Vec<SessionId>>(body)?)?;
            let each: HeaderEach = found.into_iter().map(Either::from).collect();
            Ok(done(store, &each))
        }
        Call::Pages => {
            let found = store.pages(&arguments::<Vec<(SessionId, Query)>>(body)?)?;
            let each: PageEach = found.into_iter().map(Either::from).collect();
            Ok(done(store, &each))
        }
        Call::ReadInTrash => {
            let protocol::Read { session, query } = arguments(body)?;
            Ok(done(store, &store.read_in_trash(&session, &query)?))
        }
        _ => {
            let protocol::Read { session, query } = arguments(body)?;
            Ok(done(store, &store.read(&session, &query)?))
        }
    }
}

fn list(store: &dyn Store, call: Call, body: &mut dyn Read) -> Result<Answer> {
    match call {
        Call::Changes => {
            let Follow { since, limit, wait_ms } = arguments(body)?;
            let wait = Duration::from_millis(wait_ms).min(LONGEST_WAIT);
            Ok(done(store, &store.changes(&since, limit, wait)?))
        }
        Call::Operations => {
            let Undoable { before, limit } = arguments(body)?;
            Ok(done(store, &OperationList::from(store.operations(before, limit)?)))
        }
        _ => {
            let List { filter, after, limit } = arguments(body)?;
            Ok(done(store, &Listed::from(store.sessions(&filter, after.as_ref(), limit)?)))
        }
    }
}

fn sources(store: &dyn Store, call: Call, body: &mut dyn Read) -> Result<Answer> {
    match call {
        Call::LocateRecord => {
            let Locate { source, record } = arguments(body)?;
            Ok(done(store, &store.locate_record(source, record)?))
        }
        Call::SourceSpans => {
            let Step { source, step } = arguments(body)?;
            Ok(done(store, &store.source_spans(source, step)?.as_deref().map(RangeList::of)))
        }
        Call::RecordLocations => Ok(done(store, &store.record_locations(arguments(body)?)?)),
        _ => {
            let found = store.sources(&arguments::<Find>(body)?)?;
            let messages: Vec<_> = found.into_iter().map(SourceMessage::from).collect();
            Ok(done(store, &messages))
        }
    }
}

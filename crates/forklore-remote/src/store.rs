//! The store: the port, over HTTP.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use forklore_core::{Header, SessionId};
use forklore_store::attachments::Attachments;
use forklore_store::health::Health;
use forklore_store::port::{
    Capabilities, Changes, Collected, Committed, Cursor, Filter, Headers, OperationId, Operations,
    Packed, Page, Query, Since, Store, Transaction, Verification,
};
use forklore_store::sources::{
    FindSource, RecordKey, RecordLocation, Source, SourceId, SourceSpan,
};
use forklore_store::{Error, Result, rules};
use jiff::Timestamp;

use crate::address::Address;
use crate::attachments::HttpAttachments;
use crate::client::{Client, Effort};
use crate::protocol::{
    Call, CommittedEach, Follow, Greeting, HeaderEach, LONGEST_WAIT, List, Listed, Locate,
    OperationList, PageEach, RangeList, Read, Records, SourceMessage, Step, TransactionMessage,
    Undoable, VERSION,
};

/// How long a look at the server's clock may take. After that, its time is reckoned.
const CLOCK: Duration = Duration::from_secs(1);
/// How long a call may take that reads or rewrites the whole store.
const LONG: Duration = Duration::from_secs(24 * 3600);

/// The store of a forklore server.
pub struct HttpStore {
    client: Arc<Client>,
    capabilities: Capabilities,
    attachments: Option<Arc<dyn Attachments>>,
}

impl HttpStore {
    /// Opens the store of the server at this address.
    ///
    /// # Errors
    /// `Io` if the server cannot be reached; `Denied` if it does not accept the token; `Invalid` if
    /// it is no forklore server; `Unsupported` if it speaks another version of the protocol.
    pub fn open(address: Address) -> Result<Self> {
        let client = Arc::new(Client::new(address)?);
        let greeting = greeting(&client)?;
        let capabilities = greeting.capabilities;
        let attachments = capabilities.attachments.then(|| {
            let client = Arc::clone(&client);
            Arc::new(HttpAttachments::new(client)) as Arc<dyn Attachments>
        });
        Ok(Self { client, capabilities, attachments })
    }

    /// Looks whether the server can be used. Writes nothing.
    #[must_use]
    pub fn health(address: &Address) -> Health {
        let mut health = Health::default();
        match Client::new(address.clone()).and_then(|client| greeting(&client)) {
            Ok(greeting) => health.ok("store", format!("{address} runs {}", greeting.program)),
            Err(error) => health.problem("store", &error),
        }
        health
    }

    fn long(&self, is_repeatable: bool) -> Effort {
        Effort { deadline: LONG, is_repeatable, is_patient: true }
    }

    fn location(&self) -> String {
        self.client.address.to_string()
    }

    /// Checks that an answer about several things has one part for each.
    fn all<T, E>(&self, each: Vec<T>, count: usize) -> Result<Vec<E>>
    where
        E: From<T>,
    {
        if each.len() == count {
            return Ok(each.into_iter().map(E::from).collect());
        }
        let message = format!("it answered {} of {count} parts of the call", each.len());
        Err(Error::io(format!("calling {}", self.location()), message))
    }
}

fn greeting(client: &Client) -> Result<Greeting> {
    let effort = Effort { is_patient: false, ..client.usual(true) };
    let greeting: Greeting = client.call(Call::Hello, &(), effort)?;
    if greeting.forklore_store == VERSION {
        return Ok(greeting);
    }
    Err(Error::Unsupported(format!(
        "{} speaks version {} of the protocol between stores, and this program version {VERSION}",
        client.address, greeting.forklore_store
    )))
}

impl Store for HttpStore {
    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// Returns the time of the store's clock. If the server stated it a moment ago, or does not
    /// answer, reckons it from there.
    fn now(&self) -> Timestamp {
        let clock = &self.client.clock;
        if let Some(now) = clock.recent() {
            return now;
        }
        let deadline = CLOCK.min(self.client.address.deadline);
        let effort = Effort { deadline, is_repeatable: true, is_patient: false };
        let sent = Instant::now();
        match self.client.look_at_clock(effort) {
            Ok(now) => {
                // The clock may have been set back.
                clock.set(now, sent);
                now
            }
            Err(_) => clock.reckoned(),
        }
    }

    fn commit(&self, transaction: Transaction) -> Result<Committed> {
        let effort = self.client.usual(rules::is_repeatable(&transaction));
        self.client.call(Call::Commit, &TransactionMessage::from(transaction), effort)
    }

    fn commit_all(&self, transactions: Vec<Transaction>) -> Result<Vec<Result<Committed>>> {
        let effort = self.client.usual(transactions.iter().all(rules::is_repeatable));
        let messages: Vec<_> = transactions.into_iter().map(TransactionMessage::from).collect();
        let each: CommittedEach = self.client.call(Call::CommitAll, &messages, effort)?;
        self.all(each, messages.len())
    }

    fn header(&self, session: &SessionId) -> Result<Header> {
        self.client.read(Call::Header, session)
    }

    fn headers(&self, sessions: &[SessionId]) -> Result<Vec<Result<Header>>> {
        let each: HeaderEach = self.client.read(Call::Headers, sessions)?;
        self.all(each, sessions.len())
    }

    fn read(&self, session: &SessionId, query: &Query) -> Result<Page> {
        let read = Read { session: session.clone(), query: query.clone() };
        self.client.read(Call::Read, &read)
    }

    fn read_in_trash(&self, session: &SessionId, query: &Query) -> Result<Page> {
        let read = Read { session: session.clone(), query: query.clone() };
        self.client.read(Call::ReadInTrash, &read)
    }

    fn pages(&self, reads: &[(SessionId, Query)]) -> Result<Vec<Result<Page>>> {
        let each: PageEach = self.client.read(Call::Pages, reads)?;
        self.all(each, reads.len())
    }

    fn sessions(&self, filter: &Filter, after: Option<&Cursor>, limit: usize) -> Result<Headers> {
        let list = List { filter: filter.clone(), after: after.cloned(), limit };
        let listed: Listed = self.client.read(Call::Sessions, &list)?;
        Ok(listed.into())
    }

    /// Waits in parts, because nothing that is between this program and the server lets a connection
    /// be silent for long.
    fn changes(&self, since: &Since, limit: usize, wait: Duration) -> Result<Changes> {
        let begun = Instant::now();
        let mut since = since.clone();
        loop {
            let left = wait.saturating_sub(begun.elapsed());
            let part = left.min(LONGEST_WAIT);
            let deadline = part + self.client.address.deadline;
            let effort = Effort { deadline, is_repeatable: true, is_patient: true };
            let follow = Follow::new(since, limit, part);
            let changes: Changes = self.client.call(Call::Changes, &follow, effort)?;
            let is_over = wait <= begun.elapsed();
            if !changes.sessions.is_empty() || changes.more || is_over {
                return Ok(changes);
            }
            since = Since::Mark(changes.mark);
        }
    }

    fn operations(&self, before: Option<OperationId>, limit: usize) -> Result<Operations> {
        let list: OperationList =
            self.client.read(Call::Operations, &Undoable { before, limit })?;
        Ok(list.into())
    }

    fn redacted(&self, session: &SessionId) -> Result<Vec<u64>> {
        self.client.read(Call::Redacted, session)
    }

    fn verify(&self, session: Option<&SessionId>) -> Result<Verification> {
        self.client.call(Call::Verify, &session, self.long(true))
    }

    fn attachments(&self) -> Option<Arc<dyn Attachments>> {
        self.attachments.clone()
    }

    fn cache_folder(&self) -> Option<PathBuf> {
        self.client.address.cache().map(|cache| cache.path().to_owned())
    }

    fn sources(&self, by: &FindSource) -> Result<Vec<Source>> {
        let found: Vec<SourceMessage> = self.client.read(Call::Sources, by)?;
        found.into_iter().map(Source::try_from).collect()
    }

    fn locate_record(&self, source: SourceId, record: RecordKey) -> Result<Option<RecordLocation>> {
        self.client.read(Call::LocateRecord, &Locate { source, record })
    }

    fn source_spans(&self, source: SourceId, step: u64) -> Result<Option<Vec<SourceSpan>>> {
        let list: Option<RangeList> =
            self.client.read(Call::SourceSpans, &Step { source, step })?;
        list.map(|list| list.spans()).transpose()
    }

    fn record_locations(
        &self,
        source: SourceId,
    ) -> Result<Option<Vec<(RecordKey, RecordLocation)>>> {
        let records: Records = self.client.read(Call::RecordLocations, &source)?;
        Ok(records)
    }

    fn gc(&self) -> Result<Collected> {
        let mut collected: Collected = self.client.call(Call::Gc, &(), self.long(false))?;
        let wait = self.client.address.deadline;
        let cached = self.client.address.cache().map_or(Ok(0), |cache| cache.remove(wait))?;
        collected.freed_bytes += cached;
        Ok(collected)
    }

    fn pack(&self, cold: Timestamp) -> Result<Packed> {
        self.client.call(Call::Pack, &cold, self.long(false))
    }

    fn store_bytes(&self) -> Result<u64> {
        self.client.read(Call::StoreBytes, &())
    }
}

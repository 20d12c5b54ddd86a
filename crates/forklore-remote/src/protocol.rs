//! The messages between a client and a server: one `POST` request for each call of the port.
//!
//! The path of a request is `/store/v1/CALL`. Its body is JSON, the arguments of the call, and so is
//! the body of the answer. Payloads of events lie in these bodies as they were written, byte for
//! byte. Bytes of attachments are whole bodies of their own.
//!
//! | status | body |
//! | --- | --- |
//! | 200 | the result of the call, a [`Done`] |
//! | 204 | nothing, because there is no such attachment |
//! | 422 | the error of the store, a [`Failure`] |
//! | 404 | the path is not one of this version, a [`Versions`] |
//!
//! Every other status comes from the web server: 401 and 403 because of the token, for example.

mod error;
mod source;
mod transaction;

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use forklore_core::{AttachmentId, Header, SessionId};
use forklore_store::attachments::Attachment;
use forklore_store::lease_owner;
use forklore_store::port::{
    Capabilities, Committed, Cursor, Filter, Headers, Mark, Operation, OperationId, Operations,
    Page, Query, Since,
};
use forklore_store::sources::{FindSource, RecordKey, RecordLocation, SourceId};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use error::Failure;
pub use source::{RangeList, SourceMessage, StepMessage};
pub use transaction::TransactionMessage;

/// The version of the protocol, which is a part of each path.
pub const VERSION: u32 = 1;
/// The longest body of a request, in bytes, except that of an attachment.
pub const LONGEST_REQUEST: u64 = 256 << 20;
/// How long a server waits for changes before it answers that there are none. The client then asks
/// again.
pub const LONGEST_WAIT: Duration = Duration::from_secs(25);
/// The longest body of an answer that a client reads, in bytes, except that of an attachment.
pub const LONGEST_ANSWER: u64 = 1 << 30;
/// How many attachments a server protects for its clients at the same time.
pub const MOST_PINS: usize = 10_000;
/// How long a server protects an attachment for a client that does not drop its pin.
pub const PINNED: Duration = Duration::from_secs(3600);
/// The status of an answer with the result of the call.
pub const DONE: u16 = 200;
/// The status of an answer without an attachment.
pub const NOTHING: u16 = 204;
/// The status of an answer to a request that goes beyond the caller's rights.
pub const REFUSED: u16 = 403;
/// The status of an answer with a [`Failure`].
pub const FAILED: u16 = 422;
/// The status of an answer with [`Versions`].
pub const NO_SUCH_CALL: u16 = 404;

/// Defines the calls, with their names in paths.
macro_rules! calls {
    ($($(#[$doc:meta])* $call:ident = $name:literal),* $(,)?) => {
        /// A call, by its name in paths.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Call { $($(#[$doc])* $call),* }

        impl Call {
            /// All calls.
            pub const ALL: &[Self] = &[$(Self::$call),*];

            /// Returns the name of the call in paths.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$call => $name),* }
            }
        }
    };
}

calls! {
    /// Returns a [`Greeting`].
    Hello = "hello",
    /// Returns nothing but the time of the store's clock.
    Now = "now",
    /// Executes a [`TransactionMessage`].
    Commit = "commit",
    /// Executes a list of [`TransactionMessage`]s; returns an [`Each`] of their results.
    CommitAll = "commit-all",
    /// Returns the header of a session.
    Header = "header",
    /// Returns the headers of several sessions.
    Headers = "headers",
    /// Returns a page of a session, a [`Read`].
    Read = "read",
    /// Returns a page of a session, which may be in the trash.
    ReadInTrash = "read-in-trash",
    /// Returns several pages.
    Pages = "pages",
    /// Lists sessions, a [`List`].
    Sessions = "sessions",
    /// Waits for changes, a [`Follow`].
    Changes = "changes",
    /// Lists operations, an [`Undoable`].
    Operations = "operations",
    /// Returns the positions of the redacted events of a session.
    Redacted = "redacted",
    /// Verifies a session or the whole store.
    Verify = "verify",
    /// Finds sources.
    Sources = "sources",
    /// Locates a record of a source, a [`Locate`].
    LocateRecord = "locate-record",
    /// Returns what an import step stored, a [`Step`].
    SourceSpans = "source-spans",
    /// Lists the records of a source.
    RecordLocations = "record-locations",
    /// Frees the space of deleted data.
    Gc = "gc",
    /// Compresses idle families.
    Pack = "pack",
    /// Returns the size of the store.
    StoreBytes = "store-bytes",
    /// Stores the body of the request as an attachment. The path continues with `/`, the most bytes
    /// that it may have, `/`, and the [`Holder`] of the pin. Returns a [`Pinned`].
    Put = "attachments/put",
    /// Pins an attachment, a [`ToPin`]; returns a [`Pinned`] or null.
    Pin = "attachments/pin",
    /// Drops a pin, by its name.
    Unpin = "attachments/unpin",
    /// Returns the bytes of an attachment as the body of the answer, or status 204 if there is no such
    /// attachment.
    Open = "attachments/open",
    /// Returns the metadata of an attachment or null.
    Find = "attachments/find",
    /// Lists all attachments.
    List = "attachments/list",
    /// Removes attachments that no event needs.
    Sweep = "attachments/sweep",
}

/// The result of a call, and the time of the store's clock after it. So the client never shows an
/// earlier time than one that the store has recorded for it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Done<T> {
    /// The time of the store's clock.
    pub now: Timestamp,
    /// The result.
    pub result: T,
}

/// What a server says about itself and its store.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Greeting {
    /// The version of the protocol. Its presence shows that this is a forklore server.
    pub forklore_store: u32,
    /// The version of the server's program.
    pub program: String,
    /// What the store behind the server can do.
    pub capabilities: Capabilities,
}

/// What a server answers for a path that is not one of its versions of the protocol.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Versions {
    /// The versions that the server speaks.
    pub forklore_store: Vec<u32>,
}

/// The result of one of several things in a call.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Either<T> {
    /// It succeeded.
    Ok(T),
    /// It failed.
    Error(Failure),
}

/// The results of all things in a call.
pub type Each<T> = Vec<Either<T>>;

impl<T> From<forklore_store::Result<T>> for Either<T> {
    fn from(result: forklore_store::Result<T>) -> Self {
        result.map_or_else(|error| Self::Error(error.into()), Self::Ok)
    }
}

impl<T> From<Either<T>> for forklore_store::Result<T> {
    fn from(either: Either<T>) -> Self {
        match either {
            Either::Ok(value) => Ok(value),
            Either::Error(failure) => Err(failure.into()),
        }
    }
}

/// The results of several transactions.
pub type CommittedEach = Each<Committed>;
/// The headers of several sessions.
pub type HeaderEach = Each<Header>;
/// The pages of several reads.
pub type PageEach = Each<Page>;

/// The arguments of a read.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Read {
    /// The id of the session.
    pub session: SessionId,
    /// What to read of it.
    pub query: Query,
}

/// The arguments of a list of sessions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct List {
    /// Which sessions to list.
    pub filter: Filter,
    /// The position after which the list starts.
    pub after: Option<Cursor>,
    /// The most headers to return; 0 means no limit.
    pub limit: usize,
}

/// A list of sessions.
#[derive(Debug, Serialize, Deserialize)]
pub struct Listed {
    /// The headers that could be read.
    pub sound: Vec<Header>,
    /// The errors of those that could not.
    pub damaged: Vec<Failure>,
}

impl From<Headers> for Listed {
    fn from(headers: Headers) -> Self {
        let damaged = headers.damaged.into_iter().map(Failure::from).collect();
        Self { sound: headers.sound, damaged }
    }
}

impl From<Listed> for Headers {
    fn from(listed: Listed) -> Self {
        let damaged = listed.damaged.into_iter().map(forklore_store::Error::from).collect();
        Self { sound: listed.sound, damaged }
    }
}

/// The arguments of a read of the feed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Follow {
    /// Where the reader begins.
    pub since: Since,
    /// The most sessions to return; 0 means no limit.
    pub limit: usize,
    /// How long to wait for a change, in milliseconds. The server waits no longer than
    /// [`LONGEST_WAIT`].
    pub wait_ms: u64,
}

impl Follow {
    /// Returns the arguments for a reader that waits for this long.
    #[must_use]
    pub fn new(since: Since, limit: usize, wait: Duration) -> Self {
        Self { since, limit, wait_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX) }
    }

    /// Returns the arguments that continue at this mark.
    #[must_use]
    pub fn at(mark: Mark, limit: usize, wait: Duration) -> Self {
        Self::new(Since::Mark(mark), limit, wait)
    }
}

/// The arguments of a list of operations.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Undoable {
    /// The operation before which the list ends.
    pub before: Option<OperationId>,
    /// The most operations to return; 0 means no limit.
    pub limit: usize,
}

/// A list of operations.
#[derive(Debug, Serialize, Deserialize)]
pub struct OperationList {
    /// The operations that could be read.
    pub found: Vec<Operation>,
    /// The errors of those that could not.
    pub damaged: Vec<Failure>,
    /// Whether there are older ones.
    pub more: bool,
}

impl From<Operations> for OperationList {
    fn from(from: Operations) -> Self {
        let damaged = from.damaged.into_iter().map(Failure::from).collect();
        Self { found: from.found, damaged, more: from.more }
    }
}

impl From<OperationList> for Operations {
    fn from(from: OperationList) -> Self {
        let damaged = from.damaged.into_iter().map(forklore_store::Error::from).collect();
        Self { found: from.found, damaged, more: from.more }
    }
}

/// The arguments of a search for sources.
pub type Find = FindSource;

/// The arguments of a search for a record.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Locate {
    /// The source of the record.
    pub source: SourceId,
    /// The key of the record.
    pub record: RecordKey,
}

/// The arguments of a read of what an import step stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Step {
    /// The source of the step.
    pub source: SourceId,
    /// The number of the step.
    pub step: u64,
}

/// The records of a source.
pub type Records = Option<Vec<(RecordKey, RecordLocation)>>;

/// The name of the process that has a pin, as text for a path. If the server runs on the same machine,
/// it notices that the process is gone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Holder(String);

impl Holder {
    /// Returns the text for a process, whose name is that of a lease owner.
    #[must_use]
    pub fn of(name: &str) -> Self {
        Self(URL_SAFE_NO_PAD.encode(name))
    }

    /// Wraps the text of a path.
    #[must_use]
    pub fn in_path(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Returns the text for a path.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Checks whether the process is certainly gone.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        let name = URL_SAFE_NO_PAD.decode(&self.0).ok().and_then(|it| String::from_utf8(it).ok());
        name.is_some_and(|name| lease_owner::is_gone(&name))
    }
}

/// The arguments of a pin.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ToPin {
    /// The name of the attachment.
    pub id: AttachmentId,
    /// Who has the pin.
    pub holder: Holder,
}

/// An attachment that the server protects from removal for this client.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pinned {
    /// The name of the attachment.
    pub id: AttachmentId,
    /// Its length in bytes.
    pub bytes: u64,
    /// Whether the call stored it.
    pub new: bool,
    /// The name of the pin, by which the client drops it. The server drops it after an hour.
    pub pin: String,
}

/// The metadata of an attachment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AttachmentMessage {
    /// The name of the attachment.
    pub id: AttachmentId,
    /// Its length in bytes.
    pub bytes: u64,
    /// Its version, in decimal digits, because it is too long for a number of JSON.
    pub version: String,
    /// Whether it is pinned.
    pub pinned: bool,
}

impl From<&Attachment> for AttachmentMessage {
    fn from(from: &Attachment) -> Self {
        let Attachment { id, bytes, version, pinned } = from.clone();
        Self { id, bytes, version: version.to_string(), pinned }
    }
}

impl TryFrom<AttachmentMessage> for Attachment {
    type Error = forklore_store::Error;

    fn try_from(from: AttachmentMessage) -> Result<Self, Self::Error> {
        let AttachmentMessage { id, bytes, version, pinned } = from;
        let version = version.parse().map_err(|_| {
            forklore_store::Error::Invalid(format!("attachment {id} has no valid version"))
        })?;
        Ok(Self { id, bytes, version, pinned })
    }
}

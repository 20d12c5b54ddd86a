//! The verbs with their requests, for front ends that receive verbs as JSON.

use forklore_core::{Label, Selector, SessionId};
use serde::{Deserialize, Serialize};

use crate::{
    Append, ApplyRetention, Attach, Backup, Blame, Bring, Create, Delete, Explore, Export, Fork,
    Gc, Graph, Import, ListRequest, LogRange, OperationId, OperationsRequest, Preview,
    ReadAttachment, Redact, Restore, RestoreAll, RestoreStore, ResumeInRequest, Search, Sparql,
    TreeRequest, TurnRequest, Undelete, Undo, UsageScope, VerifySample, VocabularyPart,
};

/// The request of one verb (forklore command), with the verb's name. In JSON, a fork is
/// `{"fork": {"parent_session_id": "plan-1"}}`.
///
/// Paths name files on the machine that executes the request. Bytes, such as those of an
/// attachment, are sent separately, outside the JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Runs one turn of a conversation. The answer is one
    /// [`Notification`](crate::event::Notification) per event, then
    /// [`TurnAnswer`](crate::TurnAnswer).
    Turn(TurnRequest),
    /// Creates a session. The answer is [`SessionAnswer`](crate::SessionAnswer).
    New(Create),
    /// Appends events to a session. The answer is [`Appended`](crate::Appended).
    Append(Append),
    /// Stores an attachment, whose bytes are sent outside the JSON. Then appends a message that
    /// references it. The answer is [`Attached`](crate::Attached).
    Attach {
        /// The session to which the message is appended.
        session_id: SessionId,
        /// Metadata of the attachment, and of the message that references it.
        #[serde(default)]
        attachment: Attach,
    },
    /// Lists the attachments of a session. The answer is [`Attachments`](crate::Attachments).
    Attachments {
        /// The session whose attachments are listed.
        session_id: SessionId,
    },
    /// Reads an attachment of a session. The answer is [`AttachmentFile`](crate::AttachmentFile),
    /// or the bytes if the request names no file to write.
    ReadAttachment(ReadAttachment),
    /// Imports session files of other agents. The answer is [`Imported`](crate::Imported).
    Import(Import),
    /// Lists the agents that have sessions on the machine that executes the request. The answer is
    /// [`Discovery`](crate::Discovery).
    Discover {},
    /// Lists the sessions of the store. The answer is [`SessionPage`](crate::SessionPage).
    List(ListRequest),
    /// Returns the header of a session, without its events. The answer is
    /// [`SessionAnswer`](crate::SessionAnswer).
    Show {
        /// The id of the session to show.
        session_id: SessionId,
    },
    /// Changes the title of a session. The answer is [`SessionAnswer`](crate::SessionAnswer).
    Rename {
        /// The id of the session whose title changes.
        session_id: SessionId,
        /// The new title of the session, for display. `null` removes the title.
        title: Option<String>,
    },
    /// Changes the label of a session. The answer is [`SessionAnswer`](crate::SessionAnswer).
    Label {
        /// The id of the session whose label changes.
        session_id: SessionId,
        /// The new label of the session, unique in its family (a root with all its descendants).
        label: Label,
    },
    /// Returns events of a session as they are stored. The answer is one
    /// [`EventLine`](crate::EventLine) per event.
    Log {
        /// The id of the session whose events are returned.
        session_id: SessionId,
        /// The range of log positions of the events to return.
        #[serde(default)]
        range: LogRange,
    },
    /// Returns the conversation of a session. The answer is one [`Record`](crate::Record) per
    /// event.
    Replay {
        /// The id of the session whose conversation is returned.
        session_id: SessionId,
        /// What to begin with: a turn (`turn:N` begins with the first message of turn N), a message
        /// or another event. `null` begins with the first message.
        #[serde(default)]
        from: Option<Selector>,
        /// The position in the session's log at which reading ends. `null` reads to the end of the
        /// log.
        up_to: Option<Selector>,
        /// How many turns to return, counted back from the position `up_to`. `null` returns all
        /// turns.
        #[serde(default)]
        last: Option<u64>,
    },
    /// Returns the messages of a session as a model would receive them. The answer is
    /// [`Inspection`](crate::Inspection).
    Inspect {
        /// The id of the session whose messages are returned.
        session_id: SessionId,
    },
    /// Returns the request that a model would receive for a session. The answer is
    /// [`RequestPreview`](crate::RequestPreview).
    Preview(Preview),
    /// Creates a child session. The answer is [`Forked`](crate::Forked).
    Fork(Fork),
    /// Returns families (roots with all their descendants) as trees. The answer is
    /// [`Tree`](crate::Tree).
    Tree(TreeRequest),
    /// Lists the branches of a family (a root with all its descendants). The answer is
    /// [`Branches`](crate::Branches).
    Branches {
        /// The id of any session of the family.
        session_id: SessionId,
    },
    /// Returns the ancestors and the children of a session. The answer is
    /// [`Lineage`](crate::Lineage).
    Lineage {
        /// The id of the session whose ancestors and children are returned.
        session_id: SessionId,
    },
    /// Compares the conversations of two sessions. The answer is [`Difference`](crate::Difference).
    Diff {
        /// The id of the first of the two sessions to compare.
        a: SessionId,
        /// The id of the second of the two sessions to compare.
        b: SessionId,
    },
    /// Counts what each of two sessions has alone. The answer is
    /// [`DifferenceStats`](crate::DifferenceStats).
    DiffStat {
        /// The id of the first of the two sessions to compare.
        a: SessionId,
        /// The id of the second of the two sessions to compare.
        b: SessionId,
    },
    /// Summarizes a branch, and records the summary in another session. The answer is
    /// [`Brought`](crate::Brought).
    Bring(Bring),
    /// Runs several continuations of a session and compares them. The answer is
    /// [`Exploration`](crate::Exploration).
    Explore(Explore),
    /// Gives a session its own copy of the events that it inherits. The answer is
    /// [`Detached`](crate::Detached).
    Detach {
        /// The id of the session to detach: it gets its own copy of the events that it inherits.
        session_id: SessionId,
    },
    /// Deletes a session. The answer is [`Deleted`](crate::Deleted).
    Delete(Delete),
    /// Brings a session back from the trash. The answer is [`Undeleted`](crate::Undeleted).
    Undelete(Undelete),
    /// Takes the content of events away. The answer is [`Redacted`](crate::Redacted).
    Redact(Redact),
    /// Writes a session in the format of an agent, or as plain messages. The answer is
    /// [`ExportedFile`](crate::ExportedFile), or the bytes if the request names no file to write.
    Export(Export),
    /// Writes a session as a new file that an agent finds and resumes. The answer is
    /// [`ResumeIn`](crate::ResumeIn).
    ResumeIn(ResumeInRequest),
    /// Restores byte for byte a file from which a session was imported. The answer is
    /// [`RestoredFile`](crate::RestoredFile), or the bytes if the request names no file to write.
    Restore(Restore),
    /// Restores all files of an imported session, byte for byte. The answer is
    /// [`RestoredFiles`](crate::RestoredFiles).
    RestoreAll(RestoreAll),
    /// Lists the stored files of an imported session. The answer is
    /// [`SessionFiles`](crate::SessionFiles).
    Files {
        /// The imported session whose files are listed.
        session_id: SessionId,
    },
    /// Writes sessions as RDF. The answer is [`GraphFile`](crate::GraphFile), or the bytes if the
    /// request names no file to write.
    Graph(Graph),
    /// Returns the RDF vocabulary of graphs. The answer is [`Vocabulary`](crate::Vocabulary).
    Vocabulary {
        /// The part of the RDF vocabulary to return: the ontology or the shapes.
        part: VocabularyPart,
    },
    /// Answers a SPARQL query about sessions. The answer is [`QueryAnswer`](crate::QueryAnswer).
    Sparql(Sparql),
    /// Finds words in all sessions. The answer is [`SearchAnswer`](crate::SearchAnswer).
    Search(Search),
    /// Finds the tool calls that name a file. The answer is [`BlameAnswer`](crate::BlameAnswer).
    Blame(Blame),
    /// Counts sessions, events and bytes. The answer is [`StatsAnswer`](crate::StatsAnswer).
    Stats {
        /// The sessions whose events, bytes and usage are counted.
        scope: UsageScope,
        /// Whether to include usage by model if the whole store is counted. This requires reading
        /// all records of the store. If a session or a family is counted, usage by model is always
        /// included.
        #[serde(default)]
        models: bool,
    },
    /// Checks all stored data of a session or of the store. The answer is
    /// [`Verification`](crate::Verification).
    Verify {
        /// The session to check. `null` checks the whole store.
        session_id: Option<SessionId>,
    },
    /// Checks sessions that a seed selects. The answer is
    /// [`VerifiedSample`](crate::VerifiedSample).
    VerifySample(VerifySample),
    /// Copies everything readable from a damaged store into a new store. The answer is
    /// [`Recovered`](crate::Recovered).
    Repair {
        /// The new store: a URL such as `files:saved`, or the path of an SQLite file. Nothing may
        /// exist at this location yet.
        store: String,
    },
    /// Writes a verified copy of the whole store. The answer is [`BackedUp`](crate::BackedUp).
    Backup(Backup),
    /// Creates a store from a backup. The answer is [`RestoredStore`](crate::RestoredStore).
    RestoreStore(RestoreStore),
    /// Lists operations, the newest first. The answer is [`OperationPage`](crate::OperationPage).
    Operations(OperationsRequest),
    /// Returns an operation with everything that it did. The answer is
    /// [`OperationAnswer`](crate::OperationAnswer).
    Operation {
        /// The number of the operation.
        operation: OperationId,
    },
    /// Undoes an operation. The answer is [`Undone`](crate::Undone).
    Undo(Undo),
    /// Erases the sessions that have been in the trash long enough, and removes the bytes of erased
    /// sessions from the store's files. The answer is [`Collected`](crate::Collected).
    Gc(Gc),
    /// Deletes and erases sessions by a policy. The answer is
    /// [`AppliedRetention`](crate::AppliedRetention).
    ApplyRetention(ApplyRetention),
    /// Compresses families (roots with all their descendants) that were not written to recently.
    /// The answer is [`Packed`](crate::Packed).
    Pack {
        /// The minimum number of days since a family was last written to. A family with a more
        /// recent write is not compressed.
        idle_days: u32,
    },
    /// Checks the store and its environment. The answer is [`Doctor`](crate::Doctor).
    Doctor {},
}

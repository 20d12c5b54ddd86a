//! Tests that every value of the contract survives serialization and deserialization unchanged.

pub(crate) mod any;

use std::fmt::Debug;

use any::{Any, Dice, any};
use forklore_api::event::Notification;
use forklore_api::*;
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

fn comes_back<T: Any + Serialize + DeserializeOwned + PartialEq + Debug>(
    name: &str,
    dice: &mut Dice,
) {
    let value: T = any(dice);
    let text = serde_json::to_string(&value).unwrap();
    let back: T = read(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(back, value, "{text}");
    assert_eq!(serde_json::to_string(&back).unwrap(), text);
    fits(name, &text);
    // A newer version may add a field to an answer. An older reader ignores this field. A request
    // with an unknown field is rejected.
    if let Some(rest) = text.strip_prefix("{\"") {
        let newer = format!("{{\"zz_new\":[1,{{\"a\":null}}],\"{rest}");
        let read_newer = read::<T>(&newer).ok();
        assert!(read_newer.is_none_or(|newer| newer == value), "{newer}");
    }
}

/// Checks that the schema of the type allows this JSON. A type that occurs only as part of other
/// types has no schema.
#[cfg(feature = "schema")]
fn fits(name: &str, text: &str) {
    if crate::fits::defines(name) {
        let fits = crate::fits::fits(name, &serde_json::from_str(text).unwrap());
        assert_eq!(fits, Ok(()), "{text}");
    }
}

#[cfg(not(feature = "schema"))]
fn fits(_: &str, _: &str) {}

macro_rules! all {
    ($dice:ident: $($type:ty),* $(,)?) => { $(comes_back::<$type>(stringify!($type), $dice);)* };
}

fn requests(dice: &mut Dice) {
    all!(dice: Request, Create, ListRequest, Append, Batch, NewEvent, Attach, Fork,
        Summarize, Bring, TreeRequest, LogRange, DeleteMode, Delete, Undelete, Redact, Gc, OperationsRequest, Undo, UsageScope, ExportTo, Export,
        ResumeInRequest, ReadAttachment, Import, Restore, RestoreAll, Backup, RestoreStore, ApplyRetention, Retention, VerifySample, SampleSize, Explore, Preview, TurnRequest,
        Graph, GraphScope, GraphFormat, VocabularyPart, Sparql, QueryParameter, Search, HitKind,
        Blame);
}

fn answers(dice: &mut Dice) {
    all!(dice: Session, SessionAnswer, SessionPage, Appended, Attached, NamedAttachment,
        Attachments, AttachmentFile, Forked, Brought, Tree, FlatNode, TreeNode, BroughtMark,
        Lineage, Relative, Branches, Branch, EventLine, Record, Inspection, Difference,
        DifferenceStats,
        Redacted, RedactedEvent, RedactionCause, Deleted, Undeleted, UndeletedSession, OperationPage, OperationAnswer, Undone, Detached, Stats, StatsAnswer, UsageReport, Recovery, Recovered, Exported,
        ExportedFile, ResumeIn, RestoredFile, RestoredFiles, BackedUp, RestoredStore, AppliedRetention, DueSession, SparedSession, VerifiedSample, Verification, Problem, Collected,
        RecordedSnapshot, NamedPath, Rewound, Worktrees, Worktree, WorktreeRemoved, FilesBrought, FilesRestored, RewindUndone,
        FilesCompared, FilesState, ChangedFile, ShownSnapshot, CollectedFiles,
        Replica, RunningStatement, StatementCost, TableSize, TierLease, TierStatus,
        AccessToken, AccessTokens, Listening, NewAccessToken,
        Anchor, Anchored, AnchorCheck, AnchorReport, Transferred, TransferredSession, HandedOff, Remote, Remotes, SkippedTransfer, Packed, Check, Doctor, ConfigSettings, ConfigCheck, ConfigCreated, ConfigEdited, Installed, AgentHooks, CompletionScript, HelpText, ManPage, ManPages, ProgramVersion, GraphFile, Vocabulary,
        Refusal, ErrorObject, Elsewhere, Imported, ImportedSession, SidecarTotals, ImportProblem,
        Discovery, FoundAgent, Survey, WatchLine, SessionFiles, SessionFile, Exploration,
        Continuation, AgentWork, TestCounts, TurnAnswer, TurnOutcome, RequestPreview, ModelName, TokenCount, SharedPrefix,
        SearchAnswer, BlameAnswer, Hit, HitBranch, Snippet, Highlight, QueryAnswer, QueryHead, QueryResults, Notification, Envelope<SessionAnswer>,
        Envelope<RequestPreview>, Envelope<QueryAnswer>);
    // Facts with an extra field would parse as another variant.
    let facts: Facts = any(dice);
    let text = serde_json::to_string(&facts).unwrap();
    assert_eq!(read::<Facts>(&text).unwrap(), facts, "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn requests_come_back_as_they_were(seed: u64) {
        requests(&mut Dice::new(seed));
    }

    #[test]
    fn answers_come_back_as_they_were(seed: u64) {
        answers(&mut Dice::new(seed));
    }
}

//! Generates random values of the contract's types from a seed. A failed test prints its seed.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::PathBuf;

use forklore_api::*;
use forklore_core::Usage;
use forklore_core::header::CopyOf;
use forklore_core::workspace::Workspace;
use forklore_core::{
    AttachmentId, Class, Content, Cut, Data, ErrorKind, EventId, EventType, Label, Message,
    OpenCall, Origin, Part, Role, Selector, SessionId, SessionKind, Strategy, ToolCallPolicy,
};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// A pseudo-random number generator (splitmix64).
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next pseudo-random number.
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.roll() % end
    }

    pub(crate) fn one<T: Clone>(&mut self, of: &[T]) -> T {
        of[usize::try_from(self.below(of.len() as u64)).unwrap()].clone()
    }
}

/// A type that can generate random values of itself.
pub(crate) trait Any: Sized {
    fn any(dice: &mut Dice) -> Self;
}

/// Returns a random value of type `T`.
pub(crate) fn any<T: Any>(dice: &mut Dice) -> T {
    T::any(dice)
}

macro_rules! words {
    ($($type:ty: $all:expr;)*) => {$(
        impl Any for $type {
            fn any(dice: &mut Dice) -> Self {
                dice.one(&$all)
            }
        }
    )*};
}

macro_rules! parsed {
    ($($type:ty: $all:expr;)*) => {$(
        impl Any for $type {
            fn any(dice: &mut Dice) -> Self {
                dice.one(&$all).parse().unwrap()
            }
        }
    )*};
}

macro_rules! fields {
    ($($type:ident { $($field:ident),* $(; $($skipped:ident),*)? })*) => {$(
        impl Any for $type {
            fn any(dice: &mut Dice) -> Self {
                let _ = &dice;
                Self { $($field: any(dice),)* $($($skipped: Default::default(),)*)? }
            }
        }
    )*};
}

mod conversation;
mod events;
mod requests;

#[cfg(feature = "schema")]
pub(crate) use events::event;

impl Any for Outcome {
    fn any(dice: &mut Dice) -> Self {
        let session_id = any(dice);
        match dice.below(11) {
            0 => Self::Created { session_id, head_seq: any(dice) },
            1 => Self::Appended { session_id, events: any(dice), head_seq: any(dice) },
            2 => Self::Deleted { session_id },
            3 => Self::Erased { session_id },
            4 => Self::Restored { session_id, head_seq: any(dice) },
            5 => Self::Labelled { session_id, before: any(dice), after: any(dice) },
            6 => Self::Renamed { session_id, before: any(dice), after: any(dice) },
            7 => Self::Leaf { session_id, before: any(dice), after: any(dice) },
            8 => Self::Detached { session_id },
            9 => Self::Redacted {
                session_id,
                events: any(dice),
                bytes: any(dice),
                reason: any(dice),
            },
            _ => Self::Forgotten { session_id },
        }
    }
}

words! {
    OperationId: [OperationId(1), OperationId(1 << 53)];
    OperationKind: [OperationKind::Delete, OperationKind::Undelete, OperationKind::Detach,
        OperationKind::Label, OperationKind::Rename, OperationKind::Rewind, OperationKind::Import,
        OperationKind::Undo, OperationKind::Redact];
    Scope: [Scope::Read, Scope::Write, Scope::Admin];
    UndoState: [UndoState::Possible, UndoState::Partial, UndoState::Undone, UndoState::Impossible];
    Obstacle: [Obstacle::Erased, Obstacle::Detached, Obstacle::Redacted, Obstacle::EventsStay { events: 3 },
        Obstacle::InTrash, Obstacle::BroughtBack, Obstacle::Appended { events: 1 },
        Obstacle::Labelled, Obstacle::Renamed, Obstacle::OtherLeaf, Obstacle::LabelInUse,
        Obstacle::HasBranches { branches: 2 }, Obstacle::Running];
    bool: [true, false];
    u64: [0, 1, 7, u64::from(u32::MAX) + 1, 1 << 53, u64::MAX];
    u32: [0, 1, u32::MAX];
    usize: [0, 1, 20, 1 << 40];
    i64: [-1, 0, 1, i64::MIN, i64::MAX];
    f64: [0.0, 0.25, 1e-9, 1_234_567.891, 6.000_000_000_000_001e-5];
    String: ["", "plan A or plan B?", "\u{1b}[31m\"\\\n", "\u{1F600} \u{e9}", "sha256:x"]
        .map(str::to_owned);
    Data: ["{}", "{\"b\":1.0,\"a\":1151155555155551151155555155}", "[1e+05]", "\"\\u00e9\"", "1.50"]
        .map(|text| Data::parse(text).unwrap());
    Timestamp: [0, 1_795_000_000_000_000, -1, 1_795_000_000_123_456]
        .map(|micros| Timestamp::from_microsecond(micros).unwrap());
    Workspace: ["/", "/demo", "/a b"].map(Workspace::new);
    PathBuf: ["a.jsonl", "/tmp/a b"].map(PathBuf::from);
    Cow<'static, str>: [Cow::from("file_system"), Cow::from("space")];
    IdStyle: [IdStyle::Uuid, IdStyle::AkCoder];
    SessionKind: [SessionKind::Root, SessionKind::Branch, SessionKind::Delegate];
    Strategy: [Strategy::ShareV1, Strategy::ReplayV1];
    ToolCallPolicy: [ToolCallPolicy::Complete, ToolCallPolicy::Remove, ToolCallPolicy::Error,
        ToolCallPolicy::Verbatim];
    Class: [Class::Conversation, Class::Evidence, Class::Context, Class::Lineage, Class::Audit];
    Role: [Role::System, Role::User, Role::Assistant, Role::Tool];
    Status: [Status::Idle, Status::Running];
    DeleteMode: [DeleteMode::Refuse, DeleteMode::Cascade, DeleteMode::DetachChildren];
    TransferState: [TransferState::Created, TransferState::Continued, TransferState::Parted];
    RedactionCause: [RedactionCause::Named, RedactionCause::Matched, RedactionCause::Copy,
        RedactionCause::Quote];
    SkipReason: [SkipReason::Deleted, SkipReason::ParentDeleted, SkipReason::OtherSession,
        SkipReason::Busy, SkipReason::Source, SkipReason::Failed];
    AnchorState: [AnchorState::Holds, AnchorState::Deleted, AnchorState::Erased,
        AnchorState::Edited, AnchorState::HeaderEdited, AnchorState::Truncated,
        AnchorState::RolledBack, AnchorState::Missing, AnchorState::Damaged, AnchorState::Forged,
        AnchorState::Grown, AnchorState::Changed, AnchorState::Unanchored, AnchorState::Unfinished];
    LostKind: [LostKind::Header, LostKind::Event, LostKind::Data, LostKind::Source,
        LostKind::Attachment];
    SpareReason: [SpareReason::Labelled, SpareReason::Running, SpareReason::Changed,
        SpareReason::HasChildren, SpareReason::Refused];
    UsageGrouping: [UsageGrouping::Day, UsageGrouping::Week, UsageGrouping::Model,
        UsageGrouping::Workspace, UsageGrouping::Agent];
    SettingOrigin: [SettingOrigin::File, SettingOrigin::CommandLine, SettingOrigin::Environment,
        SettingOrigin::Default];
    WorktreeState: [WorktreeState::Ready, WorktreeState::Unfinished, WorktreeState::Missing, WorktreeState::Removing];
    CheckStatus: [CheckStatus::Ok, CheckStatus::Warning, CheckStatus::Problem];
    ErrorKind: [ErrorKind::NotFound, ErrorKind::InvalidArgs, ErrorKind::Busy, ErrorKind::Corrupt,
        ErrorKind::Internal, ErrorKind::Interrupted];
}

parsed! {
    SessionId: ["plan-1", "01a1fff4-0000-7000-8000-000000000001", "\u{e4}rger"];
    Label: ["main", "fork-0a1b2c3d"];
    EventId: ["e1", "01a1fff4-0000-7000-8000-000000000002", "msg 7"];
    EventType: ["user_message", "provider_usage", "x.mark"];
    AttachmentId: ["sha256:0af90af90af90af90af90af90af90af90af90af90af90af90af90af90af90af9"];
    Selector: ["start", "end", "seq:-1", "message:3", "index:0", "turn:2", "event:e1"];
}

impl<T: Any> Any for Option<T> {
    fn any(dice: &mut Dice) -> Self {
        if any(dice) { Some(any(dice)) } else { None }
    }
}

impl<T: Any> Any for Vec<T> {
    fn any(dice: &mut Dice) -> Self {
        (0..dice.below(3)).map(|_| any(dice)).collect()
    }
}

impl<T: Any + Ord> Any for BTreeSet<T> {
    fn any(dice: &mut Dice) -> Self {
        Vec::any(dice).into_iter().collect()
    }
}

impl Any for BTreeMap<String, u64> {
    fn any(dice: &mut Dice) -> Self {
        (0..dice.below(3)).map(|_| (any(dice), any(dice))).collect()
    }
}

impl Any for Range<u64> {
    fn any(dice: &mut Dice) -> Self {
        any(dice)..any(dice)
    }
}

impl Any for Map<String, Value> {
    fn any(dice: &mut Dice) -> Self {
        let maps = [json!({}), json!({"new_fact": [1, {"a": null}]})];
        dice.one(&maps).as_object().unwrap().clone()
    }
}

impl Any for Content {
    fn any(dice: &mut Dice) -> Self {
        if any(dice) { Self::Text(any(dice)) } else { Self::Parts(any(dice)) }
    }
}

impl Any for Part {
    fn any(dice: &mut Dice) -> Self {
        match dice.below(6) {
            0 => Self::Text { text: any(dice) },
            1 => Self::Reasoning {
                text: any(dice),
                provider: any(dice),
                model: any(dice),
                opaque: any(dice),
            },
            2 => Self::ToolCall { id: any(dice), name: any(dice), arguments: any(dice) },
            3 => Self::ToolResult {
                call_id: any(dice),
                name: any(dice),
                content: any(dice),
                is_error: any(dice),
                synthetic: any(dice),
            },
            4 => Self::Attachment {
                r#ref: any(dice),
                media_type: any(dice),
                name: any(dice),
                missing: any(dice),
            },
            _ => Self::Other { value: any(dice) },
        }
    }
}

impl Any for NestedNode {
    fn any(dice: &mut Dice) -> Self {
        let depth = dice.below(4);
        let leaf = |dice: &mut Dice| Self {
            node: any(dice),
            children: Vec::new(),
            truncated: any(dice),
            descendants: any(dice),
        };
        let mut node = leaf(dice);
        for _ in 0..depth {
            let child = std::mem::replace(&mut node, leaf(dice));
            node.children.push(child);
        }
        node
    }
}

fields! {
    Cut { seq, index, message, turn, event_id; inheritable }
    Usage { input, output, cached, cost }
    CopyOf { session_id, index }
    Origin { session_id, seq }
    OpenCall { id, name }
    Message { role, content }
    Verification { sessions, events, problems, unfinished }
    Problem { session_id, seq, attachment, kind, message }
    Collected { freed_bytes, segments, events, attachments, sessions }
    Packed { freed_bytes, events, histories }
    Check { name, status, message, hint, kind }
    Ancestor { session_id, index, seq }
    Append { session_id, batch }
    Batch { events, expect, owner }
    Appended { session_id, from_seq, to_seq, head_seq }
    Attach { name, media_type, text, limit, expect, owner }
    Attached { session_id, id, name, media_type, bytes, new, seq, head_seq }
    AttachmentFile { path, id, bytes }
    Attachments { session_id, attachments }
    Branch { label, session_id, parent_session_id, cut, head_seq, head_index, own_events, summary, running }
    Branches { root_session_id, branches, next, problems }
    Bring { from, into, summarize, part, owner, dry_run }
    Brought { recorded, existing, dry_run, session_id, from_session_id, label, strategy, from_index, to_index, answer, event_id, seq, head_seq, files }
    BroughtMark { seq, session_id, label }
    CompletionScript { shell, script }
    Create { id, title, label, workspace, principal, permissions, metadata, config, parent }
    DamagedFile { name, message }
    Redact { events, sessions, matching, regex, reason, dry_run }
    Redacted { events, bytes, titles, files, already_redacted, operation, problems, dry_run }
    RedactedEvent { session_id, seq, event_id, kind, bytes, why }
    Delete { session, mode, dry_run, erase }
    Undelete { session, cascade }
    Undeleted { undeleted }
    UndeletedSession { session_id, label, former_label }
    Gc { trash_older_than_seconds }
    OperationsRequest { before, limit }
    OperationSession { session_id, name }
    OperationSummary { id, kind, at, program, principal, undoes, undone_by, undo, sessions, first, before, after }
    OperationPage { operations, next, problems }
    OperationAnswer { summary, outcomes, left }
    LeftAlone { session_id, obstacle }
    Undo { operation, partial, dry_run }
    Undone { operation, recorded_as, outcomes, left, dry_run }
    Deleted { deleted, retained_segments, dry_run }
    Detached { session_id, copied_events }
    Difference { ancestor, common, only_a, only_b }
    DifferenceStats { ancestor, common, a, b }
    SideStats { session_id, label, messages, turns, tool_calls, usage, files }
    Doctor { ok, checks }
    Elsewhere { label, session_id, workspace }
    ErrorObject { kind, message, details, next_actions }
    EventLine { id, session_id, parent_id, root_id, seq, ts, kind, class, origin, dialect, data }
    ExportTo { dialect, at, cwd }
    Exported { events, lossy }
    ExportedFile { path, events, lossy }
    FlatNode { node, depth, parent_session_id }
    Fork { parent, at, id, id_style, must_be_new, label, title, kind, strategy, tool_calls, summarize, principal, permissions, workspace, metadata, config, rewind, dry_run }
    Forked { recorded, existing, dry_run, apply, parent_session_id, child_session_id, root_session_id, kind, label, strategy, cut, adjusted_from, event_count, synthetic_results, would_record_branch_summary, head_seq, worktree, resume_command; requested }
    GraphFile { path, triples }
    Inspection { messages, balanced, open_results, synthetic_results, excluded, detached_subagents }
    DetachedSubagent { session_id, owner_session_id, seq }
    NodeHeader { label, title, first_words, kind, dialect, cut, workspace, event_count, own_events, summary, running, head_seq, head_index, turns, own_bytes, created, updated, copy_of; parent }
    LeftOut { kind, count }
    Lineage { session_id, root_session_id, depth, ancestors, children, next, problems }
    ListRequest { workspace, kind, since, limit, after, deleted }
    LogRange { from, to, own }
    LostPiece { session_id, seq, what, reason }
    HelpText { help }
    ConfigCheck { path, exists, problems }
    ConfigCreated { path, dry_run, replaces, text, servers, keys }
    ConfigEdited { path, changed, problems }
    Installed { agent, path, written, existing, entry }
    AgentHooks { hooks }
    AgentHook { agent, path, installed, problem, last }
    HookRun { at, error }
    ConfigProblem { path, line, setting, warning, kind, message, hint }
    ConfigSetting { key, value, hidden, from, line, variable }
    ConfigSettings { path, exists, settings }
    LocalServer { program, base_url, models }
    ManPage { page, text }
    ProgramVersion { version }
    ManPages { dir, pages }
    ModelUsage { model, calls, usage, unpriced_tokens }
    NamedAttachment { seq, id, name, media_type, bytes, missing }
    NewEvent { kind, data, id, ts, class }
    Record { index, seq, role, content, partial, branch, origin; ts }
    RecordOrigin { session_id, seq, id }
    Recovered { store, recovery }
    Recovery { sessions, events, sources, attachments, lost }
    Refusal { ok, error }
    Relative { session_id, label, kind, cut, summary, running, deleted, missing, damaged }
    AppliedRetention { policy, deleted, erased, spared, collected, dry_run }
    BackedUp { path, store, sessions, events, bytes }
    RestoredFile { path, bytes, source, revision }
    RestoredStore { from, store, sessions, events, bytes }
    RestoredFiles { path, files, bytes, gone, damaged }
    ResumeIn { dry_run, path, branch, cwd, start, events, lossy }
    DueSession { session_id, label, title, since, with }
    SparedSession { session_id, label, reason, because_of }
    VerifiedSample { verification, of, seed }
    RecordedSnapshot { session_id, seq, folder, snapshot, unchanged, commit, branch, files, bytes, left_out }
    NamedPath { path, reason }
    Rewound { number, dry_run, folder, session_id, forked, files }
    FilesBrought { number, folder, base, brought, restored, conflicts }
    FilesRestored { before, snapshot, written, removed, skipped, changes }
    Worktrees { worktrees }
    Worktree { session_id, folder, state, workspace, commit, snapshot }
    WorktreeRemoved { worktree, snapshot }
    FilesCompared { a, b, added, removed, changes }
    FilesState { session_id, seq, folder, snapshot }
    ChangedFile { path, change, added, removed, without_lines, patch }
    ShownSnapshot { recorded, present, commit, branch, files, bytes, left_out, before, changes }
    CollectedFiles { dry_run, snapshots, needed, bytes, freed_bytes }
    RewindUndone { number, undid, folder, session_id, fork, fork_left, files }
    Session { id, root_id, parent_id, kind, label, title, first_words, cut, strategy, workspace, principal, permissions, metadata, dialect, created, updated, head_seq, head_index, turns, own_events, own_bytes, depth, status, detached, leaf, source, copy_of, deleted, deleted_at }
    Anchor { session_id, seq, chain, lineage, settings, at, store, hmac }
    AnchorCheck { line, session_id, seq, state, sound, message }
    AccessToken { name, scope, created, expires, tenant }
    AccessTokens { tokens }
    Listening { url, token, link }
    NewAccessToken { stored, token }
    AnchorReport { holds, differ, signed, checks, verification }
    Anchored { path, signed, anchors }
    SessionAnswer { session, summary }
    SessionPage { sessions, next, problems }
    SessionUsage { session_id, label, title, usage, unpriced_tokens }
    HandedOff { session_id, to, url, command, transferred }
    Remote { name, url }
    Remotes { remotes }
    SkippedTransfer { session_id, why, reason }
    Stats { sessions, own_events, inherited_events, bytes, saved_bytes, usage, store_bytes, problems }
    StatsAnswer { stats, inherited_usage, currency, calls }
    Replica { name, state, sync_state, lag_bytes, lag_seconds }
    RunningStatement { pid, seconds, state, waits_for, statement }
    StatementCost { calls, total_seconds, mean_seconds, max_seconds, statement }
    TableSize { table, rows, bytes }
    TierLease { session_id, owner, expires }
    TierStatus { store, tenant, server_version, tables_version, program_version, time, clock_difference_seconds, round_trip_seconds, standby, replay_delay_seconds, sees_statistics, replicas, sessions, events, leases, tables, connections, max_connections, feed_delay_seconds, running, statements }
    Tree { trees, next, problems }
    Transferred { dry_run, interrupted, families, unchanged, sessions, events, attachments, sources, redacted, skipped }
    TransferredSession { session_id, target_id, label, state, events }
    TreeNode { session_id, header, missing, damaged, deleted, cycle, brought; depth }
    TreeRequest { session, workspace, after }
    UsageByModel { unpriced_tokens, unpriced_models, models, by_session, by, groups }
    UsageGroup { key, calls, usage, unpriced_tokens }
    UsageReport { usage, unpriced_tokens, models, by_session, groups, problems }
    Vocabulary { turtle }
    WrittenFile { name, path, bytes, revision }
}

impl Any for Facts {
    fn any(dice: &mut Dice) -> Self {
        match dice.below(30) {
            0 => Self::Configuration { line: any(dice), path: any(dice) },
            1 => Self::OutOfRange {
                requested: any(dice),
                reason: any(dice),
                session_id: any(dice),
                valid: any(dice),
            },
            2 => Self::ManyEvents {
                count: any(dice),
                reason: any(dice),
                seqs: any(dice),
                session_id: any(dice),
            },
            3 => Self::NothingToFork {
                requested: any(dice),
                reason: any(dice),
                session_id: any(dice),
            },
            4 => Self::OpenCalls { calls: any(dice), count: any(dice), session_id: any(dice) },
            5 => Self::HasChildren { children: any(dice), count: any(dice), session_id: any(dice) },
            6 => Self::Conflict { expected: any(dice), head_seq: any(dice), session_id: any(dice) },
            7 => Self::Running {
                free_in_seconds: any(dice),
                owner: any(dice),
                session_id: any(dice),
            },
            8 => Self::Leased { owner: any(dice), session_id: any(dice) },
            9 => Self::LabelInUse { label: any(dice), session_id: any(dice) },
            10 => Self::Unwritable { location: any(dice) },
            11 => Self::Damage { location: any(dice), seq: any(dice), session_id: any(dice) },
            12 => Self::MissingAncestor { missing: any(dice), session_id: any(dice) },
            13 => Self::OtherChild { differs: any(dice), session_id: any(dice) },
            14 => {
                Self::TooDeep { links: any(dice), max_fork_depth: any(dice), session_id: any(dice) }
            }
            15 => Self::SourceGone { count: any(dice), deleted: any(dice) },
            29 => Self::SourceRedacted { reason: any(dice), seq: any(dice), session_id: any(dice) },
            16 => Self::Ambiguous { candidates: any(dice), count: any(dice) },
            17 => Self::Elsewhere { elsewhere: any(dice) },
            18 => Self::Syntax { column: any(dice), line: any(dice), text: any(dice) },
            19 => Self::Denied { by: any(dice), reason: any(dice), what: any(dice) },
            20 => Self::NoAnswer { attempts: any(dice), provider: any(dice) },
            21 => Self::Provider { provider: any(dice) },
            22 => Self::Line { line: any(dice) },
            23 => Self::Reason { reason: any(dice) },
            24 => Self::Permission { permission: any(dice) },
            25 => Self::Attachment { r#ref: any(dice) },
            26 => Self::What { what: any(dice) },
            27 => Self::Session { session_id: any(dice) },
            _ => Self::Other(any(dice)),
        }
    }
}

impl Any for Summarize {
    fn any(dice: &mut Dice) -> Self {
        match dice.below(3) {
            0 => Self::Deterministic,
            1 => Self::ByModel { text: any(dice), model: any(dice), usage: any(dice) },
            _ => Self::Fallback { why: any(dice), usage: any(dice) },
        }
    }
}

impl Any for UsageScope {
    fn any(dice: &mut Dice) -> Self {
        match dice.below(3) {
            0 => Self::Session(any(dice)),
            1 => Self::Family(any(dice)),
            _ => Self::Everything,
        }
    }
}

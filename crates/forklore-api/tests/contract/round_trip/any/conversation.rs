//! Generates random answers of the verbs that import sessions, query them and call models.

use forklore_api::*;

use super::{Any, Dice, any};

words! {
    ContinuationState: [ContinuationState::Waiting, ContinuationState::Requested,
        ContinuationState::Answering, ContinuationState::Judging, ContinuationState::Done,
        ContinuationState::Interrupted, ContinuationState::Failed];
    FileChange: [FileChange::New, FileChange::Grown, FileChange::Rewritten];
    ImportProblemKind: [ImportProblemKind::Damage, ImportProblemKind::Splice,
        ImportProblemKind::NotUtf8, ImportProblemKind::LineTooLong,
        ImportProblemKind::MissingParent, ImportProblemKind::MissingBase,
        ImportProblemKind::Irregular, ImportProblemKind::TooLarge, ImportProblemKind::Incomplete,
        ImportProblemKind::Unreadable, ImportProblemKind::UnknownFormat,
        ImportProblemKind::Rewritten, ImportProblemKind::Deleted, ImportProblemKind::Refused,
        ImportProblemKind::More];
    TurnOutcome: [TurnOutcome::Success, TurnOutcome::Cancelled,
        TurnOutcome::Incomplete("the answer reached the most tokens".to_owned())];
}

fields! {
    Continuation { session_id, label, model, prompt, answer, state, usage, seconds, score, error,
        work }
    AgentWork { agent, folder, tests, files, added, removed }
    TestCounts { passed, failed }
    Discovery { agents, command }
    Exploration { session_id, root_session_id, at, tries, best }
    FoundAgent { agent, dialect, paths, survey, command }
    ImportProblem { path, line, offset, kind, message }
    Imported { files, sessions, unchanged, skipped, passed_over, sidecars, problems }
    ImportedSession { session_id, dialect, events, appended, shared_bytes, parent_session_id, cut }
    ModelName { provider, model }
    QueryAnswer { boolean, graph, head, results, truncated, notes }
    QueryHead { vars }
    QueryResults { bindings }
    RequestPreview { model, messages, tools, bytes, tokens, fork, body }
    SessionFile { name, path, bytes, sha256, revision, latest, own, gone }
    SessionFiles { files }
    SharedPrefix { cut, messages, bytes, tokens }
    SidecarTotals { files, unchanged, bytes }
    Survey { files, sidecars, bytes, newest, imported, to_read }
    TokenCount { count, estimated }
    TurnAnswer { session_id, moved_from, status, text, model_calls, tool_calls, usage, head_seq, resume_command }
}

impl<T: Any> Any for Envelope<T> {
    fn any(dice: &mut Dice) -> Self {
        let error: Option<ErrorObject> = any(dice);
        Self { ok: error.is_none(), error, answer: any(dice), also: any(dice) }
    }
}

impl Any for WatchLine {
    fn any(dice: &mut Dice) -> Self {
        match dice.below(8) {
            0 => Self::Watching { paths: any(dice) },
            1 => Self::Imported {
                path: any(dice),
                dialect: any(dice),
                change: any(dice),
                bytes: any(dice),
                events: any(dice),
                sessions: any(dice),
            },
            2 => Self::Sidecar {
                path: any(dice),
                dialect: any(dice),
                bytes: any(dice),
                session: any(dice),
            },
            3 => Self::Gone { path: any(dice), stored: any(dice) },
            4 => Self::Problem(any(dice)),
            5 => Self::Refused { kind: any(dice), message: any(dice) },
            6 => Self::Snapshot {
                session_id: any(dice),
                folder: any(dice),
                snapshot: any(dice),
                files: any(dice),
                bytes: any(dice),
            },
            _ => Self::Stopped { files: any(dice), events: any(dice) },
        }
    }
}

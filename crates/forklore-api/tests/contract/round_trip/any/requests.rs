//! Generates random requests.

use std::num::{NonZeroU16, NonZeroU32};

use forklore_api::*;

use super::{Any, Dice, any};

words! {
    GraphFormat: [GraphFormat::Turtle, GraphFormat::NQuads, GraphFormat::TriG, GraphFormat::JsonLd,
        GraphFormat::RdfXml];
    NonZeroU16: [NonZeroU16::MIN, NonZeroU16::MAX];
    NonZeroU32: [NonZeroU32::MIN, NonZeroU32::MAX];
    SampleSize: [SampleSize::Sessions(0), SampleSize::Sessions(u64::MAX), SampleSize::Percent(7)];
    HitKind: [HitKind::Text, HitKind::Reasoning, HitKind::Call, HitKind::Result, HitKind::Title,
        HitKind::Label, HitKind::Summary];
    VocabularyPart: [VocabularyPart::Ontology, VocabularyPart::Shapes];
}

fields! {
    Explore { session_id, at, prompts, models, n, judge, judge_timeout_seconds, label, jobs }
    Export { session_id, to, path, overwrite }
    Graph { scope, format, path, overwrite }
    Import { paths, dialect, workspace, again }
    Preview { session_id, model, fork_at, without_tools, count }
    QueryParameter { name, value }
    ReadAttachment { session_id, reference, path }
    ApplyRetention { policy, dry_run }
    Backup { path }
    Retention { delete_after_days, erase_after_days, spare_labelled }
    VerifySample { size, seed }
    Restore { session_id, file, revision, path, overwrite }
    RestoreStore { from, store }
    RestoreAll { session_id, path, overwrite }
    ResumeInRequest { session_id, to, home, share, dry_run }
    Search { query, workspace, agent, role, tool, kind, since, limit, after }
    Blame { path, since, limit }
    SearchAnswer { hits, more, next, problems }
    BlameAnswer { path, hits, more, problems }
    Hit {
        session_id, event_id, seq, index, turn, kind, role, tool, ts, label, title, workspace,
        agent, snippet, score, branches, branch_count, copy_of
    }
    HitBranch { session_id, label }
    Snippet { text, cut_before, cut_after, highlights }
    Highlight { start, end }
    Sparql { query, scope, parameters, limit, timeout_seconds }
    TurnRequest {
        session_id, title, permissions, workspace, model, prompt, attach, wait_seconds
    }
}

impl Any for GraphScope {
    fn any(dice: &mut Dice) -> Self {
        match dice.below(3) {
            0 => Self::Family(any(dice)),
            1 => Self::Workspace(any(dice)),
            _ => Self::Everything,
        }
    }
}

impl Any for Request {
    fn any(dice: &mut Dice) -> Self {
        match dice.below(51) {
            0 => Self::New(any(dice)),
            1 => Self::Append(any(dice)),
            2 => Self::List(any(dice)),
            3 => Self::Show { session_id: any(dice) },
            4 => Self::Label { session_id: any(dice), label: any(dice) },
            5 => Self::Log { session_id: any(dice), range: any(dice) },
            6 => Self::Replay {
                session_id: any(dice),
                from: any(dice),
                up_to: any(dice),
                last: any(dice),
            },
            7 => Self::Inspect { session_id: any(dice) },
            8 => Self::Fork(any(dice)),
            9 => Self::Tree(any(dice)),
            10 => Self::Branches { session_id: any(dice) },
            11 => Self::Lineage { session_id: any(dice) },
            12 => Self::Diff { a: any(dice), b: any(dice) },
            13 => Self::Bring(any(dice)),
            14 => Self::Attachments { session_id: any(dice) },
            15 => Self::Detach { session_id: any(dice) },
            16 => Self::Delete(any(dice)),
            17 => Self::Stats { scope: any(dice), models: any(dice) },
            18 => Self::Verify { session_id: any(dice) },
            19 => Self::Gc(any(dice)),
            20 => Self::Pack { idle_days: any(dice) },
            21 => Self::Turn(any(dice)),
            22 => Self::Attach { session_id: any(dice), attachment: any(dice) },
            23 => Self::ReadAttachment(any(dice)),
            24 => Self::Import(any(dice)),
            25 => Self::Discover {},
            26 => Self::Preview(any(dice)),
            27 => Self::Explore(any(dice)),
            28 => Self::Export(any(dice)),
            29 => Self::ResumeIn(any(dice)),
            30 => Self::Restore(any(dice)),
            31 => Self::RestoreAll(any(dice)),
            32 => Self::Files { session_id: any(dice) },
            33 => Self::Graph(any(dice)),
            34 => Self::Vocabulary { part: any(dice) },
            35 => Self::Sparql(any(dice)),
            36 => Self::Search(any(dice)),
            37 => Self::Blame(any(dice)),
            38 => Self::Repair { store: any(dice) },
            39 => Self::DiffStat { a: any(dice), b: any(dice) },
            40 => Self::Rename { session_id: any(dice), title: any(dice) },
            41 => Self::Undelete(any(dice)),
            42 => Self::Operations(any(dice)),
            43 => Self::Operation { operation: any(dice) },
            44 => Self::Undo(any(dice)),
            45 => Self::Backup(any(dice)),
            46 => Self::RestoreStore(any(dice)),
            47 => Self::VerifySample(any(dice)),
            48 => Self::ApplyRetention(any(dice)),
            49 => Self::Redact(any(dice)),
            _ => Self::Doctor {},
        }
    }
}

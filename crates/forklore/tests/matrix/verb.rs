//! The verbs of the matrix.

use std::time::Duration;

use forklore::api::{Attach, Batch, Bring, Delete, DeleteMode, ExportTo, LogRange, SessionAnswer};
use forklore::api::{TreeRequest, Undelete, UsageScope};
use forklore::core::{Header, Label, SessionId, SessionKind, Strategy, ToolCallPolicy};
use forklore::engine::{Fork, Summarize};
use forklore::search::{Search, SearchIndex};
use forklore::{Engine, Error};
use serde::Serialize;
use serde_json::{Value, json};

use crate::state::{event, id};
use crate::test_store::TestStore;

/// What a verb may change in the logs of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing.
    None,
    /// The verb adds events to the session on which it is called.
    Appends,
    /// The verb adds events to the session `root`.
    AppendsToTheRoot,
    /// The verb creates the session `child`.
    Creates,
    /// The verb brings the session back from the trash.
    BringsBack,
    /// The verb deletes the sessions that its answer lists.
    Deletes,
}

type Result<T = Value> = std::result::Result<T, Error>;

/// A verb with fixed arguments, as the matrix calls it.
pub(crate) struct Verb {
    pub(crate) name: &'static str,
    pub(crate) effect: Effect,
    /// Calls the verb through this handle of the store, on this session.
    pub(crate) run: fn(&Engine, &SessionId, &TestStore) -> Result,
}

fn json_of(answer: impl Serialize) -> Value {
    serde_json::to_value(answer).unwrap()
}

fn all<T: Serialize>(answers: impl Iterator<Item = Result<T>>) -> Result {
    Ok(json_of(answers.collect::<Result<Vec<_>>>()?))
}

/// Returns what `show` prints about a session.
fn answer_about(engine: &Engine, header: &Header) -> Result {
    Ok(json_of(SessionAnswer::of(header, engine.is_leased(header), engine.has_summary(header))))
}

/// Defines a function for each verb, which returns the [`Verb`].
macro_rules! verbs {
    ($($name:ident $effect:ident |$engine:ident, $session:ident, $store:pat_param| $run:expr;)*) => {
        $(pub(crate) fn $name() -> Verb {
            let run = |$engine: &Engine, $session: &SessionId, $store: &TestStore| $run;
            Verb { name: stringify!($name), effect: Effect::$effect, run }
        })*
    };
}

verbs! {
    show None |engine, session, _| {
        answer_about(engine, &engine.show(session)?)
    };
    log None |engine, session, _| {
        let mut log = Vec::new();
        engine.log(session, LogRange::default(), &mut log)?;
        Ok(json!(String::from_utf8(log).unwrap()))
    };
    replay None |engine, session, _| all(engine.replay(session, None)?);
    replay_a_turn None |engine, session, _| {
        all(engine.replay(session, Some(&"turn:1".parse().unwrap()))?)
    };
    inspect None |engine, session, _| Ok(json_of(engine.inspect(session)?));
    tree None |engine, session, _| {
        let request = TreeRequest { session: Some(session.clone()), ..TreeRequest::default() };
        let trees = engine.tree(&request)?;
        Ok(json!({"nodes": trees.nodes, "problems": trees.problems}))
    };
    branches None |engine, session, _| Ok(json_of(engine.branches(session)?));
    lineage None |engine, session, _| Ok(json_of(engine.lineage(session)?));
    diff_with_the_root None |engine, session, _| Ok(json_of(engine.diff(&id("root"), session)?));
    diff_stat_with_the_root None |engine, session, _| {
        Ok(json_of(engine.diff_stats(&id("root"), session)?))
    };
    stats None |engine, session, _| Ok(json_of(engine.stats(Some(session))?));
    stats_of_the_family None |engine, session, _| Ok(json_of(engine.family_stats(session)?));
    usage None |engine, session, _| {
        Ok(json_of(engine.usage_report(&UsageScope::Family(session.clone()))?))
    };
    context_usage None |engine, session, _| {
        Ok(json!(format!("{:?}", engine.context_usage(session)?)))
    };
    search None |engine, _session, _| {
        let answer = SearchIndex::of(engine).search(&Search { limit: 0, ..Search::of("regex:.") })?;
        let mut hits: Vec<_> = answer.hits.iter().map(|hit| {
            let branches: Vec<_> = hit.branches.iter().map(|it| it.session_id.as_str()).collect();
            format!("{}:{:?} in {}", hit.session_id, hit.seq, branches.join(" "))
        }).collect();
        hits.sort();
        let problems: Vec<_> = answer.problems.iter().map(|it| it.kind).collect();
        Ok(json!({"hits": hits, "problems": problems}))
    };
    attachments None |engine, session, _| Ok(json_of(engine.attachments(session)?));
    export None |engine, session, _| {
        let mut lines = Vec::new();
        engine.export_plain(session, &mut lines)?;
        Ok(json!(String::from_utf8(lines).unwrap()))
    };
    export_to_codex None |engine, session, _| {
        let to = ExportTo { dialect: "codex".into(), at: None, cwd: None };
        let mut lines = Vec::new();
        let written = engine.export_to(session, &to)?.write(&mut lines)?;
        Ok(json!([json_of(written), String::from_utf8(lines).unwrap()]))
    };
    restore None |engine, session, _| {
        let mut bytes = Vec::new();
        engine.restore(session, &mut bytes)?;
        Ok(json!(String::from_utf8(bytes).unwrap()))
    };
    verify None |engine, session, _| {
        let found = engine.verify(Some(session))?;
        let problems = found.problems.iter();
        let problems: Vec<_> =
            problems.map(|problem| json!([problem.kind, problem.session_id])).collect();
        Ok(json!({"problems": problems}))
    };
    plan_a_fork None |engine, session, _| {
        Ok(json_of(engine.fork(&Fork { dry_run: true, ..child_of(session) })?))
    };
    append Appends |engine, session, _| {
        let appended = engine.append(session, &Batch::from(vec![event("u99")]))?;
        Ok(json!({"repeated": appended.repeated}))
    };
    append_at_a_head Appends |engine, session, _| {
        let mut new = event("u99");
        new.id = Some("the-same".parse().unwrap());
        let batch = Batch { expect: Some(7), ..Batch::from(vec![new]) };
        Ok(json!({"repeated": engine.append(session, &batch)?.repeated}))
    };
    attach Appends |engine, session, _| {
        Ok(json_of(engine.attach(session, &mut &b"bytes"[..], &Attach::default())?))
    };
    fork Creates |engine, session, _| Ok(json_of(engine.fork(&child_of(session))?));
    fork_at_the_start Creates |engine, session, _| {
        Ok(json_of(engine.fork(&child_of(session).at("start".parse().unwrap()))?))
    };
    fork_a_turn Creates |engine, session, _| {
        Ok(json_of(engine.fork(&child_of(session).at("turn:1".parse().unwrap()))?))
    };
    fork_a_copy Creates |engine, session, _| {
        Ok(json_of(engine.fork(&Fork { strategy: Strategy::ReplayV1, ..child_of(session) })?))
    };
    fork_with_a_summary Creates |engine, session, _| {
        let summarize = Some(Summarize::Deterministic);
        Ok(json_of(engine.fork(&Fork { summarize, ..child_of(session) })?))
    };
    fork_with_open_calls_refused Creates |engine, session, _| {
        let tool_calls = ToolCallPolicy::Error;
        Ok(json_of(engine.fork(&Fork { tool_calls, ..child_of(session) })?))
    };
    delegate Creates |engine, session, _| {
        Ok(json_of(engine.fork(&Fork { kind: SessionKind::Delegate, ..child_of(session) })?))
    };
    label None |engine, session, _| {
        let label: Label = "plan-b".parse().unwrap();
        answer_about(engine, &engine.label(session, &label)?)
    };
    rename None |engine, session, _| {
        answer_about(engine, &engine.rename(session, Some(" Plan B "))?)
    };
    lease None |engine, session, _| {
        engine.take_lease(session, "me")?;
        let header = engine.release(session, "me")?;
        answer_about(engine, &header)
    };
    bring_it AppendsToTheRoot |engine, session, _| {
        Ok(json_of(engine.bring(&Bring::new(session.clone(), id("root")))?))
    };
    bring_into_it Appends |engine, session, _| {
        Ok(json_of(engine.bring(&Bring::new(id("root"), session.clone()))?))
    };
    detach None |engine, session, _| Ok(json_of(engine.detach(session)?));
    plan_a_delete None |engine, session, _| {
        deleted(engine, &Delete { dry_run: true, ..deletion(session, DeleteMode::Cascade) })
    };
    delete Deletes |engine, session, _| {
        deleted(engine, &deletion(session, DeleteMode::Refuse))
    };
    delete_the_family_below Deletes |engine, session, _| {
        deleted(engine, &deletion(session, DeleteMode::Cascade))
    };
    delete_and_detach_children Deletes |engine, session, _| {
        deleted(engine, &deletion(session, DeleteMode::DetachChildren))
    };
    undelete BringsBack |engine, session, _| {
        let request = Undelete { session: session.clone(), cascade: false };
        Ok(json_of(engine.undelete(&request)?))
    };
    gc None |engine, _session, _| Ok(json!(engine.gc().map(|_| "collected")?));
    pack None |engine, _session, _| {
        Ok(json!(engine.pack(Duration::ZERO).map(|_| "packed")?))
    };
    recover None |engine, _session, store| {
        let recovery = json_of(engine.recover(&store.empty())?);
        Ok(json!({"sessions": recovery["sessions"]}))
    };
}

/// Returns a request to fork `session`. The fork gets the id `child`.
fn child_of(session: &SessionId) -> Fork {
    Fork { id: Some(id("child")), ..Fork::of(session.clone()) }
}

fn deletion(session: &SessionId, mode: DeleteMode) -> Delete {
    Delete { session: session.clone(), mode, dry_run: false, erase: true }
}

/// Executes a delete and returns its answer. The deleted ids are in an order that is the same for
/// every store.
fn deleted(engine: &Engine, request: &Delete) -> Result {
    let mut answer = json_of(engine.delete(request)?);
    if let Some(ids) = answer["deleted"].as_array_mut() {
        ids.sort_by_key(Value::to_string);
    }
    Ok(answer)
}

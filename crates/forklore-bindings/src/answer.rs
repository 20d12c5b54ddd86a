//! The verbs of the contract, executed on the engine of a store.

use std::time::Duration;

use forklore::Engine;
use forklore::engine::{Listing, TreeRequest};
use forklore::search::SearchIndex;
use forklore_api::{
    Append, Appended, Attachments, ListRequest, NestedNode, Request, SessionAnswer, SessionFiles,
    SessionPage, Tree,
};
use forklore_core::{ErrorKind, Header};

use crate::failure::{Failure, Result};
use crate::import::import;
use crate::rows::{self, json};
use crate::stats::stats;

/// How many levels of a tree an answer has at most. Deeper descendants are left out.
const LEVELS: usize = 64;

/// Executes a request and returns its answer as JSON.
pub(crate) fn of(engine: &Engine, request: Request) -> Result<String> {
    match request {
        Request::New(request) => session(engine, &engine.create(&request)?),
        Request::Append(request) => json(&append(engine, &request)?),
        Request::Attachments { session_id } => {
            let attachments = engine.attachments(&session_id)?;
            json(&Attachments { session_id, attachments })
        }
        Request::Import(request) => import(engine, &request),
        Request::Rename { session_id, title } => {
            session(engine, &engine.rename(&session_id, title.as_deref())?)
        }
        Request::Label { session_id, label } => {
            session(engine, &engine.label(&session_id, &label)?)
        }
        Request::Fork(request) => json(&engine.fork(&request)?),
        Request::Bring(request) => json(&engine.bring(&request)?),
        Request::Detach { session_id } => json(&engine.detach(&session_id)?),
        Request::Delete(request) => json(&engine.delete(&request)?),
        Request::Undelete(request) => json(&engine.undelete(&request)?),
        Request::Redact(request) => json(&engine.redact(&request)?),
        Request::Undo(request) => json(&engine.undo(&request)?),
        Request::Gc(request) => json(&engine.collect(&request)?),
        Request::ApplyRetention(request) => json(&engine.apply_retention(&request)?),
        Request::Pack { idle_days } => {
            json(&engine.pack(Duration::from_secs(24 * 60 * 60 * u64::from(idle_days)))?)
        }
        request => read(engine, request),
    }
}

/// Executes a request that changes nothing.
fn read(engine: &Engine, request: Request) -> Result<String> {
    match request {
        Request::List(request) => json(&list(engine, &request)?),
        Request::Show { session_id } => session(engine, &engine.show(&session_id)?),
        Request::Log { .. } | Request::Replay { .. } => rows::all(engine, request),
        Request::Inspect { session_id } => json(&engine.inspect(&session_id)?),
        Request::Tree(request) => json(&tree(engine, &request)?),
        Request::Branches { session_id } => json(&engine.branches(&session_id)?),
        Request::Lineage { session_id } => json(&engine.lineage(&session_id)?),
        Request::Diff { a, b } => json(&engine.diff(&a, &b)?),
        Request::DiffStat { a, b } => json(&engine.diff_stats(&a, &b)?),
        Request::Files { session_id } => {
            let files = engine.files(&session_id)?.into_iter().map(|file| file.about).collect();
            json(&SessionFiles { files })
        }
        Request::Search(request) => json(&SearchIndex::of(engine).search(&request)?),
        Request::Blame(request) => json(&SearchIndex::of(engine).blame(&request)?),
        Request::Stats { scope, models } => json(&stats(engine, &scope, models)?),
        Request::Verify { session_id } => json(&engine.verify(session_id.as_ref())?),
        Request::VerifySample(request) => json(&engine.verify_sample(&request)?),
        Request::Operations(request) => json(&engine.operations(&request)?),
        Request::Operation { operation } => json(&engine.operation(operation)?),
        Request::Attach { .. } => Err(Failure::invalid("this verb takes bytes")),
        Request::ReadAttachment(_) | Request::Export(_) | Request::Restore(_) => {
            Err(Failure::invalid("the answer of this verb is bytes"))
        }
        _ => {
            let message = "this verb needs more than a store";
            Err(Failure::new(ErrorKind::Unsupported, message)
                .or_try("use the program forklore with --json"))
        }
    }
}

fn session(engine: &Engine, header: &Header) -> Result<String> {
    json(&SessionAnswer::of(header, engine.is_leased(header), engine.has_summary(header)))
}

fn append(engine: &Engine, request: &Append) -> Result<Appended> {
    let appended = engine.append(&request.session_id, &request.batch)?;
    let forklore::store::port::Appended { from_seq, to_seq, head_seq, .. } = appended;
    Ok(Appended { session_id: request.session_id.clone(), from_seq, to_seq, head_seq })
}

fn list(engine: &Engine, request: &ListRequest) -> Result<SessionPage> {
    let Listing { sessions, next, problems } = engine.list(request)?;
    let sessions = sessions.iter().map(|header| engine.described(header)).collect();
    Ok(SessionPage { sessions, next, problems })
}

fn tree(engine: &Engine, request: &TreeRequest) -> Result<Tree> {
    let mut trees = engine.tree(request)?;
    engine.mark_brought(&mut trees);
    engine.add_first_words(&mut trees);
    let nested = NestedNode::of(&trees.nodes, LEVELS);
    Ok(Tree { trees: nested, next: trees.next, problems: trees.problems })
}

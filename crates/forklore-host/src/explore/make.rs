//! Creates the forks in which continuations run.

use futures_util::future::{BoxFuture, FutureExt};
use std::sync::Arc;

use forklore_agent::approve::Nobody;
use forklore_agent::{AgentSession, Branched, SessionConfig};
use forklore_engine::Fork;

use super::labels::{Labels, is_used};
use super::{Plan, Row, fail};
use crate::{Host, Result};

/// Creates the forks of an exploration, one for each continuation. Plans a fork first, so that no
/// fork is created if the cut is invalid. If a fork cannot be created, marks its row as failed and
/// returns `None` in its place.
pub(super) fn all<'a>(
    host: &'a Host,
    plan: &'a Plan,
    rows: &'a mut [Row],
) -> BoxFuture<'a, Result<Vec<Option<AgentSession>>>> {
    async move {
        let mut equipped = Vec::with_capacity(plan.tries.len());
        for tried in &plan.tries {
            equipped.push(host.budgeted(&tried.model, Arc::new(Nobody), None).await?);
        }
        for equipment in &equipped {
            equipment.model.ready().map_err(forklore_agent::Error::NotReady)?;
        }
        let request = Fork { at: plan.at.clone(), ..Fork::of(plan.session.id.clone()) };
        let dry_run = Fork { dry_run: true, ..request.clone() };
        let planned = host.run(move |engine| engine.fork_or_copy(&dry_run)).await?;
        // Use the planned cut for all forks, because the session may grow while forks are created.
        let request = Fork { at: Some(planned.cut.selector()), ..request };
        let (session, label) = (plan.session.clone(), plan.label.clone());
        let mut labels =
            host.run(move |engine| Ok(Labels::of(engine, &session, label.as_deref()))).await??;
        let mut branches = Vec::new();
        for (row, equipment) in rows.iter_mut().zip(equipped) {
            match one(host, &request, &mut labels, equipment).await {
                Ok(Branched { forked, child }) => {
                    row.session_id = Some(forked.child_session_id);
                    row.label = Some(forked.label);
                    branches.push(Some(child));
                }
                Err(error) => {
                    fail(row, &error);
                    branches.push(None);
                }
            }
        }
        Ok(branches)
    }
    .boxed()
}

async fn one(
    host: &Host,
    request: &Fork,
    labels: &mut Labels,
    equipment: SessionConfig,
) -> Result<Branched> {
    let parent = host.kernel().open(&request.parent, equipment).await?;
    loop {
        let request = Fork { label: Some(labels.next_label()?), ..request.clone() };
        match parent.fork(request).await.map_err(crate::Error::from) {
            Err(error) if is_used(&error) => {}
            made => return made,
        }
    }
}

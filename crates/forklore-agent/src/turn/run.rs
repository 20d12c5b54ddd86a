//! The loop of a turn: the model is asked, its calls are carried out, until it has no more to say.

use std::collections::BTreeSet;
use std::time::Duration;

use forklore_engine::NewEvent;
use forklore_model::header::Usage;
use forklore_model::{EventType, SessionId, payload};
use serde_json::json;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Status;
use super::answer::Answer;
use super::ask::{Asked, ask};
use super::compact::compact;
use super::log::Log;
use super::new_event::{event, user_message};
use super::tools::carry_out;
use super::view::cache_key;
use crate::hook::Matter;
use crate::model::{EndReason, ModelErrorKind, Request};
use crate::notify::Name;
use crate::session::{Equipment, Gauge};
use crate::{Error, Result};

/// What a turn works with.
pub(crate) struct Run<'a> {
    pub(crate) equipment: &'a Equipment,
    pub(crate) root: &'a SessionId,
    pub(crate) ceiling: Option<&'a BTreeSet<String>>,
    pub(crate) cancel: &'a CancellationToken,
}

/// How far a turn has come.
#[derive(Debug, Default)]
pub(crate) struct Course {
    pub(crate) text: String,
    pub(crate) model_calls: u32,
    pub(crate) tool_calls: u32,
    pub(crate) usage: Usage,
    /// Whether a compaction made no room.
    compacting_is_vain: bool,
}

impl Run<'_> {
    /// Runs the turn whose prompt is in the log.
    pub(crate) async fn run(&self, log: &mut Log<'_>, course: &mut Course) -> Result<Status> {
        let began = Instant::now();
        loop {
            if let Some(spent) = self.is_spent(course, began) {
                return Ok(Status::Incomplete(spent));
            }
            if self.cancel.is_cancelled() {
                return Ok(Status::Cancelled);
            }
            let Some(Asked { answer, took }) = self.ask(log, course).await? else { continue };
            self.store(log, course, &answer, took).await?;
            let text = answer.text();
            let Some(end) = &answer.end else {
                if !text.is_empty() {
                    course.text = text;
                }
                return Ok(Status::Cancelled);
            };
            let calls: Vec<_> = answer.calls().cloned().collect();
            course.text = text;
            if calls.is_empty() {
                return Ok(ended(&end.reason));
            }
            course.tool_calls += u32::try_from(calls.len()).unwrap_or(u32::MAX);
            carry_out(log, self.equipment, self.ceiling, calls, self.cancel).await?;
        }
    }

    /// Asks the model, with room made first where that is needed. None when room had to be made
    /// because the model did not take the request.
    async fn ask(&self, log: &mut Log<'_>, course: &mut Course) -> Result<Option<Asked>> {
        let settings = &self.equipment.settings;
        let model = &*self.equipment.model;
        log.look(model).await?;
        let gauge = Gauge::of(log.pressure().await?, model.context_window());
        let is_full = settings.compact_at.zip(gauge.fraction()).is_some_and(|(at, is)| is >= at);
        if is_full && !course.compacting_is_vain {
            self.compact(log, course, "threshold").await?;
        }
        let request = self.request(log).await?;
        match ask(log.inner, model, &request, settings, self.cancel).await {
            Err(Error::Model { source, .. })
                if source.kind == ModelErrorKind::TooLong
                    && (self.compact(log, course, "too_long").await?
                        || self.cancel.is_cancelled()) =>
            {
                Ok(None)
            }
            asked => asked.map(Some),
        }
    }

    /// Makes room. Whether there is more of it now.
    async fn compact(
        &self,
        log: &mut Log<'_>,
        course: &mut Course,
        reason: &'static str,
    ) -> Result<bool> {
        let key = cache_key(self.root);
        let compacted = compact(log, self.equipment, key, reason, self.cancel).await?;
        let has_room = compacted.is_some_and(|made| made.made_room);
        course.compacting_is_vain = !has_room;
        Ok(has_room)
    }

    /// What the model is to be asked; hooks may add to it, and it is then in the log too.
    async fn request(&self, log: &mut Log<'_>) -> Result<Request> {
        let model = &*self.equipment.model;
        log.look(model).await?;
        let request = log.view.request(self.root, self.equipment);
        let identity = log.inner.identity();
        let matter = Matter::Request { request: &request };
        let (_, injected) = log.inner.must_pass(&identity, matter).await?;
        if injected.is_empty() {
            return Ok(request);
        }
        let injected = injected.iter().map(|text| user_message(text, true));
        log.append(injected.collect::<Result<_>>()?).await?;
        log.look(model).await?;
        Ok(log.view.request(self.root, self.equipment))
    }

    /// Writes an answer down, with what it took, and tells of it.
    async fn store(
        &self,
        log: &mut Log<'_>,
        course: &mut Course,
        answer: &Answer,
        took: Duration,
    ) -> Result<()> {
        let name = self.equipment.model.name();
        let mut events = answer.events(name)?;
        if let Some(usage) = usage_event(self.equipment, answer, took, None)? {
            course.usage += payload::usage(&usage.data);
            course.model_calls += 1;
            events.push(usage);
        }
        log.append(events).await?;
        answer.announce_blocks(log.inner);
        if let Some(end) = &answer.end {
            let data = json!({"provider": name.provider, "model": name.model,
                "usage": end.usage, "stop_reason": end.reason, "request_id": end.request_id});
            log.inner.announce(Name::ProviderResponse, data);
            let window = self.equipment.model.context_window();
            log.inner.announce_gauge(&Gauge::of(log.pressure().await?, window));
        }
        Ok(())
    }

    fn is_spent(&self, course: &Course, began: Instant) -> Option<String> {
        let budget = &self.equipment.settings.budget;
        if budget.model_calls.is_some_and(|most| course.model_calls >= most) {
            return Some(format!("{} calls of the model", course.model_calls));
        }
        let tokens = course.usage.input + course.usage.output;
        if budget.tokens.is_some_and(|most| tokens >= most) {
            return Some(format!("{tokens} tokens"));
        }
        if budget.cost.is_some_and(|most| course.usage.cost >= most) {
            return Some(format!("a cost of {}", course.usage.cost));
        }
        let time = began.elapsed();
        budget.time.is_some_and(|most| time >= most).then(|| format!("{} s", time.as_secs()))
    }
}

/// What an answer took. Of one that was interrupted nobody says it.
pub(super) fn usage_event(
    equipment: &Equipment,
    answer: &Answer,
    took: Duration,
    purpose: Option<&str>,
) -> Result<Option<NewEvent>> {
    let Some(end) = &answer.end else { return Ok(None) };
    let name = equipment.model.name();
    let cost = equipment.settings.prices.and_then(|prices| prices.cost(&end.usage));
    let data = json!({
        "provider": name.provider, "model": name.model,
        "input": end.usage.input, "output": end.usage.output,
        "cached": end.usage.cached, "cache_written": end.usage.cache_written,
        "cost": cost, "request_id": end.request_id,
        "ms": u64::try_from(took.as_millis()).ok(), "purpose": purpose,
    });
    event(EventType::PROVIDER_USAGE, data).map(Some)
}

fn ended(reason: &EndReason) -> Status {
    match reason {
        EndReason::Done | EndReason::Calls => Status::Success,
        EndReason::Length => Status::Incomplete("the answer reached the most tokens".into()),
        EndReason::Refused => Status::Incomplete("the provider held the answer back".into()),
        EndReason::Other(reason) => Status::Incomplete(reason.clone()),
    }
}

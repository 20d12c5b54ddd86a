//! `bring`: records in one session a summary of what another branch did.

use std::ops::Range;

use forklore_api::{Bring, Brought, Summarize};
use forklore_core::summary::{STRATEGY, beginning};
use forklore_core::{Data, Event, EventId, EventType, Header, Selector, SessionId, payload};
use forklore_store::Error as StoreError;
use forklore_store::port::{Append, At};
use serde::Deserialize;

use crate::summary::{BranchSummary, Of, usage_events};
use crate::{Engine, Error, Result};

/// Maximum length in bytes of the answer that a summary of a branch quotes. [`Engine::bring`]
/// records such a summary with the branch's last answer, cut to this length. The branch itself has
/// the full answer.
const ANSWER_BYTES: usize = 64 << 10;
/// Maximum number of attempts of [`Engine::bring`] to append its summary of another branch. An
/// attempt fails if another writer appended first. After the last attempt, `bring` returns
/// `conflict`.
const ATTEMPTS: usize = 5;

impl Engine {
    /// Records in the session `into` what the branch `from` did since their histories diverged. If
    /// an earlier `bring` recorded a part of that in `into`, records only what followed. If the
    /// request names a part of `from`, records that part. Appends one `branch_summary` after the
    /// head of `into`: it contains a summary and the branch's last answer. If a model wrote the
    /// summary, also appends the usage of that model call. Changes no earlier event. If an earlier
    /// `bring` already recorded up to the end of the part, records nothing.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use forklore_engine::{Bring, Create, Engine, Fork, NewEvent};
    /// # use forklore_core::workspace::Workspace;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let engine = Engine::new(Arc::new(forklore_store::memory::MemoryStore::default()));
    /// # let main = engine.create(&Create::in_workspace(Workspace::new("/demo")))?.id;
    /// engine.append(&main, &NewEvent::user("nom or winnow?")?.into())?;
    /// let fork = engine.fork(&Fork::of(main.clone()))?.child_session_id;
    /// engine.append(&fork, &NewEvent::assistant("winnow")?.into())?;
    ///
    /// let brought = engine.bring(&Bring::new(fork, main.clone()))?;
    /// assert_eq!(brought.answer.as_deref(), Some("winnow"));
    /// assert_eq!(engine.inspect(&main)?.messages.len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// - `not_found`: one of the two sessions does not exist.
    /// - `busy`: another runtime has leased `into`.
    /// - `conflict`: other writers appended during every attempt.
    /// - `invalid_args`, with a reason: `same_session` (`from` is `into`), `nothing_to_bring`
    ///   (`into` has the whole conversation of `from`) or `part` (the requested part is out of
    ///   range).
    pub fn bring(&self, request: &Bring) -> Result<Brought> {
        if request.from == request.into {
            let message = "a session cannot be brought into itself";
            return Err(Error::invalid("same_session", message));
        }
        let mut attempt = 1;
        loop {
            match self.try_to_bring(request) {
                // Another writer appended meanwhile, perhaps the same summary. Check again.
                Err(Error::Store(StoreError::Conflict { .. })) if attempt < ATTEMPTS => {
                    attempt += 1;
                }
                other => return other,
            }
        }
    }

    /// Returns the answer of [`bring`](Self::bring) about a branch without messages of its own:
    /// nothing is recorded. For callers that bring something else of the branch, such as its files.
    ///
    /// # Errors
    /// `not_found`: one of the two sessions does not exist.
    pub fn bring_nothing(&self, request: &Bring) -> Result<Brought> {
        let (from, into) = (self.show(&request.from)?, self.show(&request.into)?);
        let end = from.counts.index;
        let of = Of { session_id: from.id.clone(), from_index: end, to_index: end };
        Ok(planned(request, &from, &into, &of))
    }

    fn try_to_bring(&self, request: &Bring) -> Result<Brought> {
        let (from, into) = (self.show(&request.from)?, self.show(&request.into)?);
        let part = self.not_yet_brought(&from, &into, request.part.as_ref())?;
        let (of, existing) = match part {
            Part::New(of) => (of, None),
            Part::Brought(of, event) => (of, Some(event)),
        };
        let mut brought = planned(request, &from, &into, &of);
        if let Some(reported) = &existing {
            brought.existing = true;
            brought.event_id = reported.id.clone();
            brought.seq = reported.seq;
            reported.strategy.clone_into(&mut brought.strategy);
        }
        let inheritable = if of.to_index == from.counts.index {
            from.counts.inheritable
        } else {
            self.cut(&from, &Selector::Index(of.to_index))?.inheritable
        };
        let gathered = self.gather(of, inheritable)?;
        brought.answer =
            gathered.answer.as_deref().map(|text| beginning(text, ANSWER_BYTES).into());
        if existing.is_some() || request.dry_run {
            return Ok(brought);
        }
        let mut summary = gathered.written(&request.summarize);
        summary.brought_from = Some(from.label.as_str().to_owned());
        summary.answer.clone_from(&brought.answer);
        let event = self.brought_event(&brought.event_id, &summary)?;
        let _pins = self.hold_mentioned([&event.data]);
        let now = event.ts;
        let (mut events, usage) =
            usage_events(&request.summarize, now, |at| usage_id(&brought, at))?;
        events.insert(0, event);
        let (expect, owner) = (Some(into.head_seq()), request.owner.clone());
        let append = Append { events, expect, owner, usage, now };
        let appended = self.store.append(&into.id, append)?;
        Ok(Brought { recorded: true, head_seq: appended.head_seq, ..brought })
    }

    fn brought_event(&self, id: &EventId, summary: &BranchSummary) -> Result<Event> {
        let data = Data::of(summary).map_err(|error| Error::invalid("json", error.to_string()))?;
        let kind = EventType::BRANCH_SUMMARY;
        let (class, effect) = payload::check(&kind, None, &data)
            .map_err(|source| Error::Event { line: 1, source })?;
        Ok(Event { id: id.clone(), ts: self.now(), kind, class, dialect: None, effect, data })
    }

    /// Returns the part of the branch `from` that the session `into` does not contain yet: neither
    /// as inherited events nor as a summary. If `requested` is given, considers only that range of
    /// conversation indexes.
    fn not_yet_brought(
        &self,
        from: &Header,
        into: &Header,
        requested: Option<&Range<u64>>,
    ) -> Result<Part> {
        let common = self.compare(&from.id, &into.id)?.common;
        let to_index = requested.map_or(from.counts.index, |request| request.end);
        if let Some(requested) = requested
            && (requested.start < common || requested.is_empty() || to_index > from.counts.index)
        {
            let own = format!("index:{common} to index:{}", from.counts.index);
            let message = format!("{} has of its own {own}", from.label.as_str());
            return Err(Error::invalid("part", message));
        }
        let of = |from_index| Of { session_id: from.id.clone(), from_index, to_index };
        if common == to_index {
            let message = format!(
                "{} says nothing that {} does not know",
                from.label.as_str(),
                into.label.as_str()
            );
            return Err(Error::invalid("nothing_to_bring", message));
        }
        let at = if common == 0 { At::Seq(0) } else { At::Index(common - 1) };
        let mut last = None;
        for stored in self.events(&into.id, at) {
            let stored = stored?;
            if stored.event.kind == EventType::BRANCH_SUMMARY
                && let Some((strategy, earlier)) = recorded_of(&stored.event.data, &from.id)
            {
                let event = Existing { id: stored.event.id, seq: stored.seq, strategy };
                last = Some((earlier, event));
            }
        }
        Ok(match last {
            Some((earlier, event)) if earlier.to_index >= to_index => {
                let to_index = earlier.to_index.min(from.counts.index);
                Part::Brought(Of { to_index, ..of(earlier.from_index) }, event)
            }
            earlier => Part::New(of(match (requested, earlier) {
                (Some(request), _) => request.start,
                (None, Some((earlier, _))) => earlier.to_index.clamp(common, to_index),
                (None, None) => common,
            })),
        })
    }
}

/// Returns what `bring` would record.
fn planned(request: &Bring, from: &Header, into: &Header, of: &Of) -> Brought {
    Brought {
        recorded: false,
        existing: false,
        dry_run: request.dry_run,
        session_id: into.id.clone(),
        from_session_id: from.id.clone(),
        label: from.label.clone(),
        strategy: request.summarize.strategy().to_owned(),
        from_index: of.from_index,
        to_index: of.to_index,
        answer: None,
        event_id: event_id(of, &request.summarize),
        seq: u64::try_from(into.head_seq() + 1).unwrap_or(0),
        head_seq: into.head_seq(),
        files: None,
    }
}

/// The range of a branch to summarize in another session. Each variant says whether that session
/// already has an event that records the range.
enum Part {
    New(Of),
    /// The range is already summarized: the target session has an event that covers all of it.
    /// Nothing is appended.
    Brought(Of, Existing),
}

/// An event of type `branch_summary` in the target session that already summarizes the requested
/// range of the branch.
struct Existing {
    id: EventId,
    seq: u64,
    strategy: &'static str,
}

#[derive(Deserialize)]
struct Recorded {
    session_id: SessionId,
    from_index: u64,
    to_index: u64,
}

/// Parses the payload of a `branch_summary` that [`Engine::bring`] wrote for `branch`. Returns the
/// strategy (whether a model wrote the summary) and the summarized range. Returns `None` for any
/// other payload.
fn recorded_of(data: &Data, branch: &SessionId) -> Option<(&'static str, Recorded)> {
    #[derive(Deserialize)]
    struct Summary {
        #[serde(rename = "brought_from")]
        _brought_from: String,
        strategy: String,
        of: Recorded,
    }
    let Summary { of, strategy, .. } = data.read().ok()?;
    let strategy = [Summarize::BY_MODEL, STRATEGY].into_iter().find(|found| strategy == **found)?;
    (of.session_id == *branch).then_some((strategy, of))
}

/// Parses the payload of a `branch_summary` that [`Engine::bring`] wrote. Returns the label that
/// the summarized branch had when `bring` ran, and the branch's session id. Returns `None` for any
/// other payload.
pub(crate) fn brought_by(data: &Data) -> Option<(String, SessionId)> {
    #[derive(Deserialize)]
    struct Summary {
        brought_from: String,
        of: Recorded,
    }
    let Summary { brought_from, of } = data.read().ok()?;
    Some((brought_from, of.session_id))
}

/// Derives the id of a `branch_summary` event from the summarized range and the strategy (by a
/// model, or deterministic). Two writers that record the same range at the same time thus use the
/// same id, and the log gets only one event.
fn event_id(of: &Of, by: &Summarize) -> EventId {
    let what = format!("brought {} {} {}", by.strategy(), of.from_index, of.to_index);
    EventId::named(&of.session_id, &what)
}

/// Returns the id of one usage event of a summary. `at` is the number of this event, from 0, among
/// the usage events of the summary. The id is derived from the summary event's id, so that the
/// store recognizes a repeated append.
fn usage_id(brought: &Brought, at: usize) -> EventId {
    EventId::named(&brought.from_session_id, &format!("usage {at} of {}", brought.event_id))
}

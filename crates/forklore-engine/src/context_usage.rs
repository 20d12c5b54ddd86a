//! Computes how full the context window of a session's model is: the token count that the last
//! model call reported, plus an estimate for the messages after that call. For a fork without a
//! call of its own, reads that count from its parent's log, because forks do not inherit events
//! about usage. Estimates all messages if there is no count.

use forklore_core::inline::inline_bytes;
use forklore_core::{EventType, Header, Message, SessionId, payload};
use forklore_store::port::{At, Direction, LogEntry, Query};
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::{Engine, Result};

/// Estimated bytes of text per token: a rule of thumb. Used for text whose tokens no provider
/// counted.
const BYTES_PER_TOKEN: u64 = 4;
/// Estimated number of tokens of one image in a message: a rule of thumb.
const IMAGE_TOKENS: u64 = 1_600;
const PAGE: usize = 64;

/// The number of tokens that a session's next model request needs at least, partly estimated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextUsage {
    /// The tokens that the next model request needs: those that a provider counted plus the
    /// estimated ones.
    pub tokens: u64,
    /// The part of `tokens` that is estimated from the length of messages. A provider counted the
    /// rest.
    pub estimated: u64,
}

impl ContextUsage {
    /// Adds messages whose total size is `bytes`: estimates their tokens and adds the estimate to
    /// both fields.
    #[must_use]
    pub fn and_bytes(self, bytes: u64) -> Self {
        let tokens = bytes / BYTES_PER_TOKEN;
        Self {
            tokens: self.tokens.saturating_add(tokens),
            estimated: self.estimated.saturating_add(tokens),
        }
    }
}

/// The result of a backward search through a session's own events for its last model call.
enum Found {
    /// A model call. `tokens` is the number of tokens that it used. `bytes` is the total size of
    /// the inheritable events (those that a fork shares) after that call.
    Call { tokens: u64, bytes: u64 },
    /// The search reached a compaction first. Token counts from before a compaction no longer
    /// apply.
    Compaction,
    /// The session's own events contain neither a model call nor a compaction.
    Nothing,
}

impl Engine {
    /// Returns how full the context window of a session's model is. Starts with the tokens of the
    /// last model call since the last compaction, even if an ancestor made that call, and adds an
    /// estimate for later messages. Without such a call, estimates the tokens of all messages that
    /// the model would receive.
    ///
    /// # Errors
    /// `not_found` if the session does not exist or was deleted, `corrupt` if stored data is
    /// damaged, `missing_ancestor` if inherited events are missing.
    pub fn context_usage(&self, session: &SessionId) -> Result<ContextUsage> {
        let header = self.show(session)?;
        let bytes = header.counts.bytes;
        let mut next = Some((header.clone(), u64::try_from(header.head_seq()).ok()));
        let mut links = 0;
        while let Some((at, Some(seq))) = next.take() {
            match self.last_call(&at, seq, bytes)? {
                Found::Call { tokens, bytes } => {
                    return Ok(ContextUsage { tokens, estimated: 0 }.and_bytes(bytes));
                }
                Found::Compaction => break,
                Found::Nothing => {}
            }
            links += 1;
            // A delegate does not inherit its parent's context.
            let parent =
                at.parent_id.filter(|_| at.inherited.inheritable > 0 && links <= header.depth);
            // A session stays usable if its parent was deleted or the parent's header is gone.
            let parent = parent.and_then(|parent| self.store().header(&parent).ok());
            let parent = parent.filter(|parent| parent.deleted.is_none());
            next = match (parent, at.cut.and_then(|cut| cut.seq)) {
                (Some(parent), Some(cut)) => {
                    let seq = self.last_behind(&parent, cut)?;
                    Some((parent, Some(seq)))
                }
                _ => None,
            };
        }
        let messages = self.inspect_lazily(session)?.messages;
        let mut bytes = 0;
        for message in messages {
            bytes += message_bytes(&message?);
        }
        Ok(ContextUsage::default().and_bytes(bytes))
    }

    /// Searches directly after a cut for events that a fork there does not inherit. Returns the seq
    /// of the last such event before the next inheritable event. These events contain the token
    /// usage of the last answer before the cut. Returns the cut itself if no such event follows.
    /// Reads at most 64 events.
    fn last_behind(&self, header: &Header, cut: u64) -> Result<u64> {
        let at = At::Seq(cut + 1);
        let query = Query { at, direction: Direction::Forward, limit: PAGE, bare: true };
        let page = self.store().read(&header.id, &query)?;
        let behind = page.events.iter().take_while(|event| !event.event.class.is_inherited());
        Ok(behind.last().map_or(cut, |event| event.seq))
    }

    /// Searches backwards from `seq`, inclusive, for the last model call that the session itself
    /// made. `bytes` is the total size of the inheritable events of the session whose context is
    /// measured: this session or a descendant. From `bytes`, the search computes the size of the
    /// events after the call.
    fn last_call(&self, header: &Header, seq: u64, bytes: u64) -> Result<Found> {
        let mut next = Some(seq);
        while let Some(seq) = next.take() {
            let at = At::Seq(seq);
            let query = Query { at, direction: Direction::Backward, limit: PAGE, bare: false };
            let page = self.store().read(&header.id, &query)?;
            for stored in &page.events {
                if stored.origin.session_id != header.id {
                    return Ok(Found::Nothing);
                }
                if stored.event.kind == EventType::HISTORY_COMPACTION {
                    return Ok(Found::Compaction);
                }
                if let Some(tokens) = tokens_of(stored) {
                    let bytes = bytes.saturating_sub(stored.counts.bytes);
                    return Ok(Found::Call { tokens, bytes });
                }
                next = stored.seq.checked_sub(1);
            }
            if !page.more {
                return Ok(Found::Nothing);
            }
        }
        Ok(Found::Nothing)
    }
}

fn tokens_of(stored: &LogEntry) -> Option<u64> {
    let event = &stored.event;
    if event.kind != EventType::PROVIDER_USAGE || event.dialect.is_some() {
        return None;
    }
    #[derive(Deserialize)]
    struct Recorded {
        #[serde(default)]
        purpose: Option<IgnoredAny>,
    }
    // Skips a call with a `purpose`, such as a summary: its usage is not the conversation's size.
    if event.data.read::<Recorded>().is_ok_and(|reported| reported.purpose.is_some()) {
        return None;
    }
    let usage = payload::usage(&event.data);
    Some(usage.tokens()).filter(|tokens| *tokens > 0)
}

/// Returns the size of a message in bytes. Each inline image counts as `IMAGE_TOKENS *
/// BYTES_PER_TOKEN` bytes, whatever the length of its base64.
fn message_bytes(message: &Message) -> u64 {
    let all = serde_json::to_string(message).map_or(0, |text| text.len() as u64);
    let (images, base64) = inline_bytes(message);
    all.saturating_sub(base64) + images * IMAGE_TOKENS * BYTES_PER_TOKEN
}

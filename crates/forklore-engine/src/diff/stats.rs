//! `diff --stat`: counts what each of two sessions has alone.

use std::collections::HashMap;

use forklore_api::{Difference, DifferenceStats, SideStats};
use forklore_core::call::CallStep;
use forklore_core::describe::file_edits;
use forklore_core::{Event, Header, Part, SessionId, Usage};
use forklore_store::port::At;
use serde_json::Value;

use crate::{Engine, Result};

/// Maximum number of changed files that are listed for each of the two sessions.
const MOST_FILES: usize = 1_000;

impl Engine {
    /// Counts what each of two sessions has alone: messages, turns, tool calls, model usage and
    /// changed files. Reads only these parts, one page of events at a time.
    ///
    /// # Errors
    /// `not_found` if a session does not exist or was deleted, `corrupt` if stored data is damaged,
    /// `missing_ancestor` if inherited events are missing.
    pub fn diff_stats(&self, a: &SessionId, b: &SessionId) -> Result<DifferenceStats> {
        let Difference { ancestor, common, .. } = self.compare(a, b)?;
        let (a, b) = (self.show(a)?, self.show(b)?);
        let (a, b) = (self.side_stats(&a, common)?, self.side_stats(&b, common)?);
        Ok(DifferenceStats { ancestor, common, a, b })
    }

    fn side_stats(&self, header: &Header, common: u64) -> Result<SideStats> {
        let mut side = SideStats {
            session_id: header.id.clone(),
            label: header.label.clone(),
            messages: 0,
            turns: 0,
            tool_calls: 0,
            usage: Usage::default(),
            files: Vec::new(),
        };
        // A call may report its usage several times. The last report counts.
        let mut calls: HashMap<String, Usage> = HashMap::new();
        let from = if common == 0 { At::Seq(0) } else { At::Index(common) };
        for stored in self.events(&header.id, from) {
            let stored = stored?;
            if let Some(reported) = self.call_usage(&stored) {
                match reported.call {
                    Some(call) => drop(calls.insert(call, reported.usage)),
                    None => side.usage += reported.usage,
                }
            }
            if stored.event.class.is_conversation() {
                self.add_message(&stored.event, &mut side);
            }
        }
        calls.into_values().for_each(|usage| side.usage += usage);
        Ok(side)
    }

    fn add_message(&self, event: &Event, side: &mut SideStats) {
        side.messages += 1;
        side.turns += u64::from(event.effect.starts_turn);
        let opened = event.effect.calls.iter().filter(|step| matches!(step, CallStep::Open(_)));
        let opened = opened.count() as u64;
        side.tool_calls += opened;
        if opened == 0 {
            return;
        }
        for part in self.message(event).to_parts() {
            let Part::ToolCall { arguments, .. } = part else { continue };
            let edits = file_edits(&arguments.readable().read().unwrap_or(Value::Null));
            for edit in edits {
                if side.files.len() < MOST_FILES && !side.files.contains(&edit.path) {
                    side.files.push(edit.path);
                }
            }
        }
    }
}

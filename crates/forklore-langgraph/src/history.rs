//! The writes from which LangGraph computes the value of a delta channel.

use std::collections::BTreeMap;

use forklore_engine::Result;

use crate::read::{damaged, in_order, write_text};
use crate::request::History;
use crate::saver::{Saver, read};
use crate::thread::TaskWrite;

impl Saver {
    /// Returns, for each channel, the writes of the ancestors of a checkpoint, the oldest first, back
    /// to the nearest ancestor that has a value of the channel. That value is its `seed`. Ancestors
    /// that were removed count.
    ///
    /// # Errors
    /// `corrupt` if an ancestor was redacted, and the errors of a read.
    pub fn history(&self, request: &str) -> Result<String> {
        let request: History = read(request)?;
        let Some(slot) = self.open(&request.thread)? else { return Ok("{}".to_owned()) };
        let thread = &*slot.thread();
        let start = match &request.id {
            Some(id) => thread.find(id),
            None => thread.listed().next().map(|(_, at)| at),
        };
        let mut found: BTreeMap<&str, (Vec<&TaskWrite>, Option<usize>)> = BTreeMap::new();
        let mut open: Vec<&str> = request.channels.iter().map(String::as_str).collect();
        let parent_of = |at: usize| {
            thread.checkpoint(at).and_then(|it| it.parent.as_deref()).and_then(|id| thread.find(id))
        };
        let mut cursor = start.and_then(parent_of);
        while let Some(checkpoint) = cursor.and_then(|at| thread.checkpoint(at)) {
            if open.is_empty() {
                break;
            }
            if checkpoint.damaged {
                return Err(damaged(thread, checkpoint));
            }
            let writes = thread.writes.get(&checkpoint.id).map_or(&[][..], Vec::as_slice);
            for write in in_order(writes).into_iter().rev() {
                if let Some(channel) = open.iter().find(|it| **it == write.channel) {
                    found.entry(channel).or_default().0.push(write);
                }
            }
            open.retain(|channel| {
                let has_value = checkpoint.state.values.contains_key(*channel);
                if has_value {
                    found.entry(channel).or_default().1 = cursor;
                }
                !has_value
            });
            cursor = cursor.and_then(parent_of);
        }
        let mut json = format!(r#"{{"generation":{},"channels":{{"#, thread.generation);
        for (n, channel) in request.channels.iter().enumerate() {
            json.push_str(if n > 0 { "," } else { "" });
            write_text(&mut json, channel);
            let (mut writes, seed) = found.remove(channel.as_str()).unwrap_or_default();
            writes.reverse();
            json.push_str(r#":{"writes":"#);
            self.write_writes(&mut json, thread, &writes)?;
            let seed = seed.and_then(|at| thread.checkpoint(at));
            if let Some(value) = seed.and_then(|it| it.state.values.get(channel.as_str())) {
                json.push_str(r#","seed":"#);
                self.write_seed(&mut json, thread, value)?;
            }
            json.push('}');
        }
        json.push_str("}}");
        Ok(json)
    }
}

//! Agents whose files look like those of an agent that forklore reads, and that it cannot read.

use crate::head::{Probe, any_line};

/// Such an agent.
struct Lookalike {
    name: &'static str,
    is_own: fn(&Probe<'_>) -> bool,
}

const LOOKALIKES: &[Lookalike] = &[
    // The records of Claude Code's files around the messages of Gemini's API.
    Lookalike {
        name: "Qwen Code",
        is_own: |line| {
            let record = line.uuid.get().is_some() && line.session_id.get().is_some();
            let foreign = line.message.0.parts.0 || line.system_payload.0;
            record && foreign
        },
    },
    // The records of Pi's files around the messages of Anthropic's API.
    Lookalike {
        name: "Factory Droid",
        is_own: |line| line.kind.is("session_start") && line.id.get().is_some(),
    },
];

/// The agent that wrote a file with this beginning, if it is one of those.
pub(crate) fn writer_of(head: &[u8]) -> Option<&'static str> {
    let is_own = |agent: &&Lookalike| any_line(head, agent.is_own);
    LOOKALIKES.iter().find(is_own).map(|agent| agent.name)
}

//! Recognizes files that forklore cannot read although they resemble those of a supported agent.

use crate::head::{Probe, any_line};

/// An unsupported agent whose files resemble those of a supported one. `is_own` checks whether a
/// line is one of its records.
struct Lookalike {
    name: &'static str,
    is_own: fn(&Probe<'_>) -> bool,
}

const LOOKALIKES: &[Lookalike] = &[
    // Its records resemble those of Claude Code but contain messages of Gemini's API.
    Lookalike {
        name: "Qwen Code",
        is_own: |line| {
            let record = line.uuid.get().is_some() && line.session_id.get().is_some();
            let foreign = line.message.0.parts.0 || line.system_payload.0;
            record && foreign
        },
    },
    // Its records resemble those of Pi but contain messages of Anthropic's API.
    Lookalike {
        name: "Factory Droid",
        is_own: |line| line.kind.is("session_start") && line.id.get().is_some(),
    },
];

/// Returns the name of the unsupported agent that wrote a file, if one did. `head` are the first
/// bytes of the file.
pub(crate) fn writer_of(head: &[u8]) -> Option<&'static str> {
    let is_own = |agent: &&Lookalike| any_line(head, agent.is_own);
    LOOKALIKES.iter().find(is_own).map(|agent| agent.name)
}

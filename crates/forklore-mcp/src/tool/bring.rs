//! `bring`: records in one session what another branch did.

use forklore_api::Bring;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::verb::{Effect, Verb};
use crate::answer::{Noticed, Quoted};
use crate::options::Allow;
use crate::refusal::Refusal;
use crate::scope::Access;

pub(super) struct BringTool;

/// How much of the branch's answer is shown.
const ANSWER: usize = 8_000;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The session whose work is summarized: an id, a part of an id, a label, a title, or last.
    from: String,
    /// The session that gets the summary.
    into: String,
    /// Only say what would be brought; write nothing.
    #[serde(default)]
    dry_run: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    /// Whether a summary was written now.
    recorded: bool,
    /// Whether an earlier call had brought the same work.
    existing: bool,
    from_session_id: String,
    into_session_id: String,
    /// The numbers of the messages that the summary is of: from the first, up to the last (not
    /// included).
    from_index: u64,
    to_index: u64,
    /// The position of the summary in the log of the session that got it.
    seq: u64,
    /// The branch's last answer, which the summary quotes.
    #[serde(skip_serializing_if = "Option::is_none")]
    untrusted_answer: Option<Quoted>,
}

impl Verb for BringTool {
    type Input = Input;
    type Output = Noticed<Output>;
    const NAME: &'static str = "bring";
    const TITLE: &'static str = "Bring a fork's result into a session";
    const DESCRIPTION: &'static str = "Write into one session a summary of what another branch \
        did since they parted, with its last answer. Use it when an attempt in a fork succeeded \
        and the original session should know. Changes no earlier message. Look at diff first.";
    const EFFECT: Effect = Effect::Adds { allow: Allow::Bring, idempotent: true };

    fn run(access: &Access<'_>, input: Input) -> Result<Noticed<Output>, Refusal> {
        let (from, into) = (access.session(&input.from)?, access.session(&input.into)?);
        let request = Bring { dry_run: input.dry_run, ..Bring::new(from.id, into.id) };
        let brought = access.engine.bring(&request)?;
        Ok(Noticed::of(Output {
            recorded: brought.recorded,
            existing: brought.existing,
            from_session_id: brought.from_session_id.to_string(),
            into_session_id: brought.session_id.to_string(),
            from_index: brought.from_index,
            to_index: brought.to_index,
            seq: brought.seq,
            untrusted_answer: brought.answer.map(|text| Quoted::block(&text, ANSWER).0),
        }))
    }
}

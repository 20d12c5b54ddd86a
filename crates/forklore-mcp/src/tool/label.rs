//! `label`: gives a session another label.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fork::label;
use super::verb::{Effect, Verb};
use crate::answer::Noticed;
use crate::options::Allow;
use crate::refusal::Refusal;
use crate::scope::Access;
use crate::session::SessionLine;

pub(super) struct LabelTool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The session: an id, a part of an id, its present label, a title, or last.
    session: String,
    /// The new label, unique in the family, such as plan-b.
    label: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Output {
    session: SessionLine,
    /// The label that the session had before.
    before: String,
}

impl Verb for LabelTool {
    type Input = Input;
    type Output = Noticed<Output>;
    const NAME: &'static str = "label";
    const TITLE: &'static str = "Label a session";
    const DESCRIPTION: &'static str = "Give a session another label: a short name by which people \
        and tools find it again. Use it when the user wants to remember a session or names an \
        attempt. forklore op undo takes it back.";
    const EFFECT: Effect = Effect::Replaces { allow: Allow::Label };

    fn run(access: &Access<'_>, input: Input) -> Result<Noticed<Output>, Refusal> {
        let new = label(&input.label)?;
        let header = access.session(&input.session)?;
        let labelled = access.engine.label(&header.id, &new)?;
        let session = SessionLine::of(access.engine, &labelled);
        Ok(Noticed::of(Output { session, before: header.label.to_string() }))
    }
}

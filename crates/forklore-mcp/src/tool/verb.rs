//! What a tool is: its description for clients, and the function that answers a call.

use std::sync::Arc;

use rmcp::handler::server::tool::{schema_for_input, schema_for_output};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::schema;
use crate::options::{Allow, Options};
use crate::refusal::Refusal;
use crate::scope::Access;

/// A tool: what a client reads about it, and the function that answers a call.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    title: &'static str,
    description: &'static str,
    effect: Effect,
    input: fn() -> Result<Arc<JsonObject>, String>,
    output: fn() -> Arc<JsonObject>,
    run: fn(&Access<'_>, Value) -> Result<Value, Refusal>,
}

/// What a tool does to the store.
#[derive(Clone, Copy)]
pub(super) enum Effect {
    Reads,
    /// It adds something, if the server allows it.
    Adds {
        allow: Allow,
        idempotent: bool,
    },
    /// It replaces a value, if the server allows it. `forklore op undo` takes it back.
    Replaces {
        allow: Allow,
    },
}

/// A tool that is described by its request and its answer.
pub(super) trait Verb {
    type Input: DeserializeOwned + JsonSchema + 'static;
    type Output: Serialize + JsonSchema + 'static;
    const NAME: &'static str;
    const TITLE: &'static str;
    /// When to use the tool, and what it answers.
    const DESCRIPTION: &'static str;
    const EFFECT: Effect = Effect::Reads;

    fn run(access: &Access<'_>, input: Self::Input) -> Result<Self::Output, Refusal>;
}

/// Returns the entry of a tool.
pub(super) const fn entry<V: Verb>() -> Entry {
    Entry {
        name: V::NAME,
        title: V::TITLE,
        description: V::DESCRIPTION,
        effect: V::EFFECT,
        input: schema_for_input::<V::Input>,
        output: schema_for_output::<V::Output>,
        run: run::<V>,
    }
}

fn run<V: Verb>(access: &Access<'_>, input: Value) -> Result<Value, Refusal> {
    let input = serde_json::from_value(input).map_err(|error| {
        Refusal::invalid(
            format!("the arguments of {}: {error}", V::NAME),
            "call again with arguments that fit the tool's input schema",
        )
    })?;
    let answer = V::run(access, input)?;
    serde_json::to_value(answer).map_err(|error| {
        Refusal::new(forklore_core::ErrorKind::Internal, error.to_string(), "report this error")
    })
}

impl Entry {
    /// Answers a call.
    pub(crate) fn call(&self, access: &Access<'_>, input: Value) -> Result<Value, Refusal> {
        self.allowed(access.options)?;
        (self.run)(access, input)
    }

    pub(super) fn allowed(&self, options: &Options) -> Result<(), Refusal> {
        let allow = match self.effect {
            Effect::Reads => return Ok(()),
            Effect::Adds { allow, .. } | Effect::Replaces { allow } => allow,
        };
        if options.allow.contains(&allow) {
            return Ok(());
        }
        let name = allow.as_str();
        Err(Refusal::new(
            forklore_core::ErrorKind::PermissionDenied,
            format!("this server does not allow {name}"),
            &format!("ask the user to start it with: forklore mcp --allow {name}"),
        ))
    }

    /// Returns the description of the tool for clients.
    pub(crate) fn described(&self) -> Tool {
        // A schema of a struct is always an object, so the input is never refused.
        let input = schema::plain_input(&(self.input)().unwrap_or_default());
        Tool::new(self.name, self.description, input)
            .with_title(self.title)
            .with_raw_output_schema(schema::plain(&(self.output)()))
            .with_annotations(self.annotations())
    }

    fn annotations(&self) -> ToolAnnotations {
        let named = ToolAnnotations::with_title(self.title).open_world(false);
        match self.effect {
            Effect::Reads => named.read_only(true),
            Effect::Adds { idempotent, .. } => {
                named.read_only(false).destructive(false).idempotent(idempotent)
            }
            Effect::Replaces { .. } => named.read_only(false).destructive(true).idempotent(true),
        }
    }
}

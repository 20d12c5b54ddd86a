//! The tools: their list, and how a call reaches one.

mod blame;
mod bring;
mod diff;
mod fork;
mod label;
mod list_sessions;
mod message;
mod messages;
mod overview;
mod resume_command;
mod schema;
mod search;
mod stats;
mod tree;

use std::sync::Arc;

use rmcp::handler::server::tool::{schema_for_input, schema_for_output};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

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
enum Effect {
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
trait Verb {
    type Input: DeserializeOwned + JsonSchema + 'static;
    type Output: Serialize + JsonSchema + 'static;
    const NAME: &'static str;
    const TITLE: &'static str;
    /// When to use the tool, and what it answers.
    const DESCRIPTION: &'static str;
    const EFFECT: Effect = Effect::Reads;

    fn run(access: &Access<'_>, input: Self::Input) -> Result<Self::Output, Refusal>;
}

const fn entry<V: Verb>() -> Entry {
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

/// All tools, in the order in which clients see them.
const TOOLS: [Entry; 12] = [
    entry::<search::SearchTool>(),
    entry::<list_sessions::ListSessions>(),
    entry::<overview::OverviewTool>(),
    entry::<messages::MessagesTool>(),
    entry::<blame::BlameTool>(),
    entry::<tree::TreeTool>(),
    entry::<diff::DiffTool>(),
    entry::<resume_command::ResumeCommand>(),
    entry::<stats::StatsTool>(),
    entry::<fork::ForkTool>(),
    entry::<bring::BringTool>(),
    entry::<label::LabelTool>(),
];

/// Returns the tools that a server with these options offers.
pub(crate) fn offered(options: &Options) -> impl Iterator<Item = &'static Entry> {
    TOOLS.iter().filter(|entry| entry.allowed(options).is_ok())
}

/// Returns the tool with this name. `None` if there is none, whether allowed or not.
pub(crate) fn named(name: &str) -> Option<&'static Entry> {
    TOOLS.iter().find(|entry| entry.name == name)
}

impl Entry {
    /// Answers a call.
    pub(crate) fn call(&self, access: &Access<'_>, input: Value) -> Result<Value, Refusal> {
        self.allowed(access.options)?;
        (self.run)(access, input)
    }

    fn allowed(&self, options: &Options) -> Result<(), Refusal> {
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

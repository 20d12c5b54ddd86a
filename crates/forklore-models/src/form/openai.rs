//! OpenAI's chat completions, which most servers speak.

use std::borrow::Cow;

use forklore_agent::model::{ModelName, Request};
use forklore_model::Data;
use serde::{Deserialize, Serialize};

use crate::config::{ModelConfig, Provider};
use crate::said::{Said, Voice, What, said};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    messages: Vec<Line<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    stream: bool,
    stream_options: StreamOptions,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<&'a str>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Data,
}

#[derive(Default, Serialize)]
struct Line<'a> {
    role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Cow<'a, str>>,
    content: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
}

#[derive(Serialize)]
struct Call<'a> {
    id: Cow<'a, str>,
    r#type: &'static str,
    function: Called<'a>,
}

#[derive(Serialize)]
struct Called<'a> {
    name: &'a str,
    arguments: &'a str,
}

pub(super) fn body(
    config: &ModelConfig,
    name: &ModelName,
    request: &Request,
) -> Result<Vec<u8>, serde_json::Error> {
    let tools = request.tools.iter().map(|tool| Tool {
        r#type: "function",
        function: Function {
            name: &tool.name,
            description: &tool.description,
            parameters: &tool.parameters,
        },
    });
    // OpenAI itself calls it otherwise than those who speak its form.
    let most = request.options.max_output_tokens.or(config.max_output_tokens);
    let is_openai = config.provider == Provider::OpenAi && config.base_url.is_none();
    let sends_key = config.provider == Provider::OpenAi && config.cache_key;
    serde_json::to_vec(&Body {
        model: &config.model,
        tools: tools.collect(),
        messages: lines(said(&request.messages, name)),
        tool_choice: request.options.must_call.then_some("required"),
        max_tokens: most.filter(|_| !is_openai),
        max_completion_tokens: most.filter(|_| is_openai),
        temperature: request.options.temperature.or(config.temperature),
        stream: true,
        stream_options: StreamOptions { include_usage: true },
        prompt_cache_key: sends_key.then_some(&*request.cache_key),
    })
}

/// The history. Results stand right behind the calls of an answer, which are one message with its
/// text; what was said behind a call comes when its results are there.
fn lines<'a>(all: Vec<Said<'a>>) -> Vec<Line<'a>> {
    let mut lines: Vec<Line<'a>> = Vec::new();
    let mut late = Vec::new();
    // The message of the line that is written; none where the next piece begins a new line.
    let mut open: Option<(Voice, usize)> = None;
    for piece in all {
        let (voice, message) = (piece.voice, piece.message);
        let behind_calls = matches!(open, Some((Voice::Assistant | Voice::Tool, _)))
            && lines.iter().rev().find(|line| line.role == "assistant").is_some_and(Line::calls);
        match voice {
            Voice::Assistant if behind_calls && open.is_some_and(|it| it.0 == voice) => {
                if matches!(piece.what, What::Call { .. }) {
                    add(&mut lines, piece.what);
                } else {
                    late.push(piece.what);
                }
                continue;
            }
            Voice::Tool => lines.push(Line { role: "tool", ..Line::default() }),
            Voice::Assistant => {
                let goes_on = open.is_some_and(|it| it.0 == voice);
                if !(goes_on && lines.last().is_some_and(|line| line.takes(&piece.what))) {
                    flush(&mut lines, &mut late);
                    lines.push(Line { role: "assistant", ..Line::default() });
                }
            }
            Voice::System | Voice::User => {
                flush(&mut lines, &mut late);
                if open != Some((voice, message)) {
                    let role = if voice == Voice::User { "user" } else { "system" };
                    lines.push(Line { role, ..Line::default() });
                }
            }
        }
        open = Some((voice, message));
        add(&mut lines, piece.what);
    }
    flush(&mut lines, &mut late);
    lines
}

fn flush<'a>(lines: &mut Vec<Line<'a>>, late: &mut Vec<What<'a>>) {
    for what in late.drain(..) {
        let goes_on =
            lines.last().is_some_and(|line| line.role == "assistant" && line.takes(&what));
        if !goes_on {
            lines.push(Line { role: "assistant", ..Line::default() });
        }
        add(lines, what);
    }
}

impl Line<'_> {
    fn calls(&self) -> bool {
        !self.tool_calls.is_empty()
    }

    /// Whether the fields that are written stand before the one that this goes to.
    fn takes(&self, what: &What<'_>) -> bool {
        match what {
            What::Thought { .. } => self.content.is_none() && !self.calls(),
            What::Text(_) => !self.calls(),
            What::Call { .. } => true,
            What::Result { .. } => false,
        }
    }
}

fn add<'a>(lines: &mut [Line<'a>], what: What<'a>) {
    let Some(line) = lines.last_mut() else { return };
    match what {
        What::Text(text) => append(&mut line.content, text),
        What::Thought { text, opaque } => match field(opaque.as_ref()) {
            Field::Reasoning => append(&mut line.reasoning, text.into()),
            Field::ReasoningContent => append(&mut line.reasoning_content, text.into()),
        },
        What::Call { id, name, arguments } => {
            let function = Called { name, arguments: arguments.get() };
            line.tool_calls.push(Call { id, r#type: "function", function });
        }
        What::Result { call, text, .. } => {
            line.tool_call_id = Some(call);
            line.content = Some(text.into());
        }
    }
}

/// Pieces of one message become one text: not every server takes a list of them.
fn append<'a>(to: &mut Option<Cow<'a, str>>, text: Cow<'a, str>) {
    match to {
        None => *to = Some(text),
        Some(so_far) => {
            let so_far = so_far.to_mut();
            so_far.push_str("\n\n");
            so_far.push_str(&text);
        }
    }
}

/// The field in which a server says what its model thinks, and wants it back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Field {
    #[default]
    ReasoningContent,
    Reasoning,
}

/// What is kept of a thought beside its text.
#[derive(Default, Deserialize, Serialize)]
pub(crate) struct Kept {
    #[serde(default)]
    pub(crate) field: Field,
}

fn field(opaque: Option<&Data>) -> Field {
    opaque.and_then(|opaque| opaque.read::<Kept>().ok()).unwrap_or_default().field
}

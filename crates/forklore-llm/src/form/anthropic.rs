//! Anthropic's messages.
//!
//! Breakpoints stand at the end of what a session shares with its parent, and one for the whole
//! request beside the messages, which the server puts behind the last of them: so no mark moves
//! through the history from request to request.

use std::borrow::Cow;

use forklore_agent::media::Takes;
use forklore_agent::model::{ModelName, Request};
use forklore_core::Data;
use serde::Serialize;

use super::object;
use crate::config::ModelConfig;
use crate::said::{Piece, Said, Shown, Voice, What, in_words, note, said};

/// Asked for where nobody says how long an answer may be: the form wants a number.
const MOST: u32 = 8192;

/// A request may have four marks; one is that of the whole request.
const MOST_MARKS: usize = 3;

#[derive(Serialize)]
struct Body<'a> {
    #[serde(flatten)]
    asked: Asked<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Kind>,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    stream: bool,
    cache_control: Kind,
}

/// What tokens are counted of.
#[derive(Serialize)]
struct Asked<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Marked<'a>>,
    messages: Vec<Turn<'a>>,
}

#[derive(Clone, Copy, Serialize)]
struct Kind {
    r#type: &'static str,
}

const EPHEMERAL: Kind = Kind { r#type: "ephemeral" };

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Data,
}

#[derive(Serialize)]
struct Turn<'a> {
    role: &'static str,
    content: Vec<Marked<'a>>,
}

/// A block; the mark is the last that is written of it.
#[derive(Serialize)]
#[serde(untagged)]
enum Marked<'a> {
    Thought(Data),
    Block {
        #[serde(flatten)]
        block: Block<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Kind>,
    },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text {
        text: Cow<'a, str>,
    },
    ToolUse {
        id: Cow<'a, str>,
        name: &'a str,
        input: Cow<'a, Data>,
    },
    Image {
        source: Source<'a>,
    },
    Document {
        source: Source<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<Cow<'a, str>>,
    },
    ToolResult {
        tool_use_id: Cow<'a, str>,
        content: Outcome<'a>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

#[derive(Serialize)]
struct Source<'a> {
    r#type: &'static str,
    media_type: &'static str,
    data: Cow<'a, str>,
}

/// What a tool says; a list only where it shows something.
#[derive(Serialize)]
#[serde(untagged)]
enum Outcome<'a> {
    Text(String),
    Blocks(Vec<Block<'a>>),
}

pub(super) fn body(
    config: &ModelConfig,
    name: &ModelName,
    request: &Request,
) -> Result<Vec<u8>, serde_json::Error> {
    serde_json::to_vec(&Body {
        asked: asked(config, name, request, &config.takes()),
        tool_choice: request.options.must_call.then_some(Kind { r#type: "any" }),
        max_tokens: request.options.max_output_tokens.or(config.max_output_tokens).unwrap_or(MOST),
        temperature: request.options.temperature.or(config.temperature),
        stream: true,
        cache_control: EPHEMERAL,
    })
}

/// The body of a question after the number of tokens.
pub(crate) fn counted_body(
    config: &ModelConfig,
    name: &ModelName,
    request: &Request,
) -> Result<Vec<u8>, serde_json::Error> {
    serde_json::to_vec(&asked(config, name, request, &config.takes()))
}

fn asked<'a>(
    config: &'a ModelConfig,
    name: &ModelName,
    request: &'a Request,
    takes: &'a Takes,
) -> Asked<'a> {
    let tools = request.tools.iter().map(|tool| Tool {
        name: &tool.name,
        description: &tool.description,
        input_schema: &tool.parameters,
    });
    let mut all = said(request, name, takes);
    // Blank blocks are refused.
    all.retain(|said| !matches!(&said.what, What::Text(text) if text.trim().is_empty()));
    let first = all.iter().position(|said| said.voice != Voice::System).unwrap_or(all.len());
    let rest = all.split_off(first);
    let marks = Marks::of(request);
    Asked {
        model: &config.model,
        tools: tools.collect(),
        system: system(all, &marks, &rest),
        messages: turns(rest, &marks),
    }
}

/// Behind how many of the first messages breakpoints go.
struct Marks(Vec<usize>);

impl Marks {
    /// At the oldest forks on the way to this session, so that they are the same ones in parent
    /// and child. What a later one shares is found from the mark of the whole request: the server
    /// looks back over 20 blocks for what it has.
    fn of(request: &Request) -> Self {
        let mut marks = request.forks.clone();
        if marks.is_empty() && request.shared > 0 {
            marks.push(request.shared);
        }
        marks.truncate(MOST_MARKS);
        Self(marks)
    }

    /// The places, in `all`, of the last blocks before the marks.
    fn places(&self, all: &[Said<'_>]) -> Vec<usize> {
        let markable = |said: &Said<'_>| !matches!(said.what, What::Thought { .. });
        let place =
            |mark: &usize| all.iter().rposition(|said| said.message < *mark && markable(said));
        self.0.iter().filter_map(place).collect()
    }
}

fn system<'a>(all: Vec<Said<'a>>, marks: &Marks, rest: &[Said<'_>]) -> Vec<Marked<'a>> {
    // A mark behind what follows is not these blocks'.
    let first = rest.first().map_or(usize::MAX, |said| said.message);
    let own = Marks(marks.0.iter().copied().filter(|mark| *mark <= first).collect());
    let marked = own.places(&all);
    let blocks = all.into_iter().enumerate().filter_map(|(at, said)| match said.what {
        What::Text(text) => {
            let cache_control = marked.contains(&at).then_some(EPHEMERAL);
            Some(Marked::Block { block: Block::Text { text }, cache_control })
        }
        _ => None,
    });
    blocks.collect()
}

/// The history in turns: who speaks twice in a row speaks once, at greater length.
fn turns<'a>(rest: Vec<Said<'a>>, marks: &Marks) -> Vec<Turn<'a>> {
    let mut turns: Vec<Turn<'a>> = Vec::new();
    // The first speaker has to be the person.
    if rest.first().is_some_and(|said| said.voice == Voice::Assistant) {
        let text = Cow::Borrowed("(The conversation begins with the assistant.)");
        let block = Marked::Block { block: Block::Text { text }, cache_control: None };
        turns.push(Turn { role: "user", content: vec![block] });
    }
    let marked = marks.places(&rest);
    for (at, said) in rest.into_iter().enumerate() {
        let role = if said.voice == Voice::Assistant { "assistant" } else { "user" };
        let block = match said.what {
            What::Text(text) => Block::Text { text },
            What::Call { id, name, arguments } => {
                Block::ToolUse { id, name, input: object(arguments) }
            }
            What::Shown(shown) => show(shown),
            What::Result { call, said, is_error, .. } => {
                Block::ToolResult { tool_use_id: call, content: outcome(said, is_error), is_error }
            }
            What::Thought { opaque: Some(block), .. } => {
                push(&mut turns, role, Marked::Thought(block));
                continue;
            }
            // Without its signature it is refused.
            What::Thought { opaque: None, .. } => continue,
        };
        let cache_control = marked.contains(&at).then_some(EPHEMERAL);
        push(&mut turns, role, Marked::Block { block, cache_control });
    }
    turns
}

fn show(shown: Shown<'_>) -> Block<'_> {
    let is_image = shown.is_image();
    let Shown { media_type, base64, name } = shown;
    let source = Source { r#type: "base64", media_type, data: base64 };
    if is_image { Block::Image { source } } else { Block::Document { source, title: name } }
}

/// Of a failure only words are taken.
fn outcome(said: Vec<Piece<'_>>, is_error: bool) -> Outcome<'_> {
    if is_error || !said.iter().any(|piece| matches!(piece, Piece::Shown(_))) {
        return Outcome::Text(in_words(&said, note));
    }
    let blocks = said.into_iter().filter_map(|piece| match piece {
        Piece::Text(text) if text.trim().is_empty() => None,
        Piece::Text(text) => Some(Block::Text { text }),
        Piece::Shown(shown) => Some(show(shown)),
    });
    Outcome::Blocks(blocks.collect())
}

fn push<'a>(turns: &mut Vec<Turn<'a>>, role: &'static str, block: Marked<'a>) {
    match turns.last_mut() {
        Some(turn) if turn.role == role => turn.content.push(block),
        _ => turns.push(Turn { role, content: vec![block] }),
    }
}

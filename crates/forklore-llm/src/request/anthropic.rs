//! Writes requests to Anthropic's messages API.
//!
//! Cache breakpoints mark the ends of the prefixes that a session shares with its ancestors. The
//! last message gets a breakpoint too. A field of the body sets this breakpoint, not a field of the
//! message. So the message has the same bytes in the next request, in which it is not the last.

use std::borrow::Cow;

use forklore_agent::media::Capabilities;
use forklore_agent::model::{ModelName, Request};
use forklore_core::Data;
use serde::Serialize;

use super::object;
use crate::config::ModelConfig;
use crate::content::{
    ContentPart, InlineMedia, Segment, SegmentKind, Speaker, as_text, note, segments,
};

/// The maximum number of tokens of a response, if the configuration sets no limit. The API requires
/// a limit.
const DEFAULT_MAX_TOKENS: u32 = 8192;

/// The maximum number of cache breakpoints in the history. The API allows four in a request, and
/// the request's own `cache_control` field uses one.
const MAX_BREAKPOINTS: usize = 3;

#[derive(Serialize)]
struct Body<'a> {
    #[serde(flatten)]
    prompt: Prompt<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<TypeTag>,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    stream: bool,
    cache_control: TypeTag,
}

/// The part of a model request that is also sent when the server counts tokens.
#[derive(Serialize)]
struct Prompt<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<CacheableBlock<'a>>,
    messages: Vec<Message<'a>>,
}

#[derive(Clone, Copy, Serialize)]
struct TypeTag {
    r#type: &'static str,
}

const EPHEMERAL: TypeTag = TypeTag { r#type: "ephemeral" };

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Data,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: Vec<CacheableBlock<'a>>,
}

/// A content block. The field `cache_control`, if present, marks a cache breakpoint after the block
/// and is its last field.
#[derive(Serialize)]
#[serde(untagged)]
enum CacheableBlock<'a> {
    Reasoning(Data),
    Block {
        #[serde(flatten)]
        block: ContentBlock<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<TypeTag>,
    },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ContentBlock<'a> {
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
        content: ToolContent<'a>,
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

/// The content of a tool result. It is a list only if the result contains media.
#[derive(Serialize)]
#[serde(untagged)]
enum ToolContent<'a> {
    Text(String),
    Blocks(Vec<ContentBlock<'a>>),
}

pub(super) fn body(
    config: &ModelConfig,
    name: &ModelName,
    request: &Request,
) -> Result<Vec<u8>, serde_json::Error> {
    serde_json::to_vec(&Body {
        prompt: prompt(config, name, request, &config.takes()),
        tool_choice: request.options.must_call.then_some(TypeTag { r#type: "any" }),
        max_tokens: request
            .options
            .max_output_tokens
            .or(config.max_output_tokens)
            .unwrap_or(DEFAULT_MAX_TOKENS),
        temperature: request.options.temperature.or(config.temperature),
        stream: true,
        cache_control: EPHEMERAL,
    })
}

/// Returns the request body with which the server counts the tokens of `request`.
pub(crate) fn count_body(
    config: &ModelConfig,
    name: &ModelName,
    request: &Request,
) -> Result<Vec<u8>, serde_json::Error> {
    serde_json::to_vec(&prompt(config, name, request, &config.takes()))
}

fn prompt<'a>(
    config: &'a ModelConfig,
    name: &ModelName,
    request: &'a Request,
    takes: &'a Capabilities,
) -> Prompt<'a> {
    let tools = request.tools.iter().map(|tool| Tool {
        name: &tool.name,
        description: &tool.description,
        input_schema: &tool.parameters,
    });
    let mut all = segments(request, name, takes);
    // The API refuses blank text blocks.
    all.retain(
        |segment| !matches!(&segment.kind, SegmentKind::Text(text) if text.trim().is_empty()),
    );
    let first =
        all.iter().position(|segment| segment.speaker != Speaker::System).unwrap_or(all.len());
    let rest = all.split_off(first);
    let breakpoints = Breakpoints::of(request);
    Prompt {
        model: &config.model,
        tools: tools.collect(),
        system: system(all, &breakpoints, &rest),
        messages: messages(rest, &breakpoints),
    }
}

/// The cache breakpoints in the history. Each number is how many messages precede the breakpoint.
struct Breakpoints(Vec<usize>);

impl Breakpoints {
    /// Sets a cache breakpoint for each of the first forks on the path from the root to the
    /// session, after the messages that the fork inherited. So the requests of parent and child
    /// have the same breakpoints. A later fork needs no breakpoint if its prefix ends at most 20
    /// blocks before the end of the request: the server looks back that far from the breakpoint of
    /// the whole request.
    fn of(request: &Request) -> Self {
        let mut breakpoints = request.forks.clone();
        if breakpoints.is_empty() && request.shared > 0 {
            breakpoints.push(request.shared);
        }
        breakpoints.truncate(MAX_BREAKPOINTS);
        Self(breakpoints)
    }

    /// Returns an index in `all` for each breakpoint: the last segment (part of a message) before
    /// the breakpoint that may have `cache_control`. Reasoning may not have it.
    fn indexes(&self, all: &[Segment<'_>]) -> Vec<usize> {
        let cacheable =
            |segment: &Segment<'_>| !matches!(segment.kind, SegmentKind::Reasoning { .. });
        let index = |breakpoint: &usize| {
            all.iter().rposition(|segment| segment.message < *breakpoint && cacheable(segment))
        };
        self.0.iter().filter_map(index).collect()
    }
}

fn system<'a>(
    all: Vec<Segment<'a>>,
    breakpoints: &Breakpoints,
    rest: &[Segment<'_>],
) -> Vec<CacheableBlock<'a>> {
    // A breakpoint after the first message of `rest` does not belong to the system blocks.
    let first = rest.first().map_or(usize::MAX, |segment| segment.message);
    let own = Breakpoints(
        breakpoints.0.iter().copied().filter(|breakpoint| *breakpoint <= first).collect(),
    );
    let marked = own.indexes(&all);
    let blocks = all.into_iter().enumerate().filter_map(|(at, segment)| match segment.kind {
        SegmentKind::Text(text) => {
            let cache_control = marked.contains(&at).then_some(EPHEMERAL);
            Some(CacheableBlock::Block { block: ContentBlock::Text { text }, cache_control })
        }
        _ => None,
    });
    blocks.collect()
}

/// Joins consecutive segments of the same role to one message.
fn messages<'a>(rest: Vec<Segment<'a>>, breakpoints: &Breakpoints) -> Vec<Message<'a>> {
    let mut messages: Vec<Message<'a>> = Vec::new();
    // The API requires that the first message is a user message.
    if rest.first().is_some_and(|segment| segment.speaker == Speaker::Assistant) {
        let text = Cow::Borrowed("(The conversation begins with the assistant.)");
        let block =
            CacheableBlock::Block { block: ContentBlock::Text { text }, cache_control: None };
        messages.push(Message { role: "user", content: vec![block] });
    }
    let marked = breakpoints.indexes(&rest);
    for (at, segment) in rest.into_iter().enumerate() {
        let role = if segment.speaker == Speaker::Assistant { "assistant" } else { "user" };
        let block = match segment.kind {
            SegmentKind::Text(text) => ContentBlock::Text { text },
            SegmentKind::Call { id, name, arguments } => {
                ContentBlock::ToolUse { id, name, input: object(arguments) }
            }
            SegmentKind::Media(shown) => show(shown),
            SegmentKind::Result { call, content, is_error, .. } => ContentBlock::ToolResult {
                tool_use_id: call,
                content: tool_content(content, is_error),
                is_error,
            },
            SegmentKind::Reasoning { opaque: Some(block), .. } => {
                push(&mut messages, role, CacheableBlock::Reasoning(block));
                continue;
            }
            // Omit reasoning without a signature, which the API refuses.
            SegmentKind::Reasoning { opaque: None, .. } => continue,
        };
        let cache_control = marked.contains(&at).then_some(EPHEMERAL);
        push(&mut messages, role, CacheableBlock::Block { block, cache_control });
    }
    messages
}

fn show(shown: InlineMedia<'_>) -> ContentBlock<'_> {
    let is_image = shown.is_image();
    let InlineMedia { media_type, base64, name } = shown;
    let source = Source { r#type: "base64", media_type, data: base64 };
    if is_image {
        ContentBlock::Image { source }
    } else {
        ContentBlock::Document { source, title: name }
    }
}

/// Returns the content of a tool result in the API's form. For a failed call (`is_error`), the API
/// accepts only text.
fn tool_content(content: Vec<ContentPart<'_>>, is_error: bool) -> ToolContent<'_> {
    if is_error || !content.iter().any(|piece| matches!(piece, ContentPart::Media(_))) {
        return ToolContent::Text(as_text(&content, note));
    }
    let blocks = content.into_iter().filter_map(|piece| match piece {
        ContentPart::Text(text) if text.trim().is_empty() => None,
        ContentPart::Text(text) => Some(ContentBlock::Text { text }),
        ContentPart::Media(shown) => Some(show(shown)),
    });
    ToolContent::Blocks(blocks.collect())
}

fn push<'a>(messages: &mut Vec<Message<'a>>, role: &'static str, block: CacheableBlock<'a>) {
    match messages.last_mut() {
        Some(message) if message.role == role => message.content.push(block),
        _ => messages.push(Message { role, content: vec![block] }),
    }
}

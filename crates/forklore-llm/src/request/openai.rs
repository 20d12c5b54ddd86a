//! Writes requests to OpenAI's chat completions API, which most servers implement.

use std::borrow::Cow;

use forklore_agent::model::{ModelName, Request};
use forklore_core::Data;
use serde::{Deserialize, Serialize, Serializer};

use crate::config::{ModelConfig, Provider};
use crate::content::{ContentPart, InlineMedia, Segment, SegmentKind, Speaker, as_text, segments};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    messages: Vec<ChatMessage<'a>>,
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
struct ChatMessage<'a> {
    role: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Cow<'a, str>>,
    content: Option<MessageContent<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<ToolCall<'a>>,
}

/// The content of a message. It is a list only if the message contains media, because some servers
/// refuse lists.
#[derive(Serialize)]
#[serde(untagged)]
enum MessageContent<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<MessagePart<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum MessagePart<'a> {
    Text { text: Cow<'a, str> },
    ImageUrl { image_url: ImageUrl<'a> },
    File { file: File<'a> },
}

#[derive(Serialize)]
struct ImageUrl<'a> {
    url: DataUrl<'a>,
}

#[derive(Serialize)]
struct File<'a> {
    filename: Cow<'a, str>,
    file_data: DataUrl<'a>,
}

struct DataUrl<'a> {
    media_type: &'static str,
    base64: Cow<'a, str>,
}

impl Serialize for DataUrl<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("data:{};base64,{}", self.media_type, self.base64))
    }
}

#[derive(Serialize)]
struct ToolCall<'a> {
    id: Cow<'a, str>,
    r#type: &'static str,
    function: FunctionCall<'a>,
}

#[derive(Serialize)]
struct FunctionCall<'a> {
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
    // OpenAI's own API and compatible servers use different names for the limit of output tokens.
    let most = request.options.max_output_tokens.or(config.max_output_tokens);
    let is_openai = config.provider == Provider::OpenAi && config.base_url.is_none();
    let takes = config.takes();
    let sends_key = config.provider == Provider::OpenAi && config.cache_key;
    serde_json::to_vec(&Body {
        model: &config.model,
        tools: tools.collect(),
        messages: messages(segments(request, name, &takes)),
        tool_choice: request.options.must_call.then_some("required"),
        max_tokens: most.filter(|_| !is_openai),
        max_completion_tokens: most.filter(|_| is_openai),
        temperature: request.options.temperature.or(config.temperature),
        stream: true,
        stream_options: StreamOptions { include_usage: true },
        prompt_cache_key: sends_key.then_some(&*request.cache_key),
    })
}

/// Converts the history to messages. A response of the model becomes an assistant message with its
/// calls and the text before them; one tool message per result follows. A tool message may contain
/// only text, so the media of the results become a user message after the results. Text that the
/// model wrote after a call becomes a separate assistant message after these messages.
fn messages<'a>(all: Vec<Segment<'a>>) -> Vec<ChatMessage<'a>> {
    let mut messages: Vec<ChatMessage<'a>> = Vec::new();
    let mut deferred = Deferred::default();
    // The speaker and the message index of the last segment. `None` before the first segment.
    let mut open: Option<(Speaker, usize)> = None;
    for piece in all {
        let (speaker, message) = (piece.speaker, piece.message);
        let behind_calls = matches!(open, Some((Speaker::Assistant | Speaker::Tool, _)))
            && messages
                .iter()
                .rev()
                .find(|message| message.role == "assistant")
                .is_some_and(ChatMessage::calls);
        match speaker {
            Speaker::Assistant if behind_calls && open.is_some_and(|it| it.0 == speaker) => {
                if matches!(piece.kind, SegmentKind::Call { .. }) {
                    add(&mut messages, piece.kind);
                } else {
                    deferred.segments.push(piece.kind);
                }
                continue;
            }
            Speaker::Tool => messages.push(ChatMessage { role: "tool", ..ChatMessage::default() }),
            Speaker::Assistant => {
                let goes_on = open.is_some_and(|it| it.0 == speaker);
                if !(goes_on && messages.last().is_some_and(|message| message.takes(&piece.kind))) {
                    deferred.flush(&mut messages);
                    messages.push(ChatMessage { role: "assistant", ..ChatMessage::default() });
                }
            }
            Speaker::System | Speaker::User => {
                deferred.flush(&mut messages);
                if open != Some((speaker, message)) {
                    let role = if speaker == Speaker::User { "user" } else { "system" };
                    messages.push(ChatMessage { role, ..ChatMessage::default() });
                }
            }
        }
        open = Some((speaker, message));
        if let SegmentKind::Result { call, name, content, .. } = piece.kind {
            deferred.result(&mut messages, call, name, content);
        } else {
            add(&mut messages, piece.kind);
        }
    }
    deferred.flush(&mut messages);
    messages
}

/// Content that must come after the results of a response's calls: the images and documents in the
/// results, and the segments (parts of messages) after a call.
#[derive(Default)]
struct Deferred<'a> {
    shown: Vec<MessagePart<'a>>,
    segments: Vec<SegmentKind<'a>>,
}

impl<'a> Deferred<'a> {
    /// Writes the text of a tool result into the last message. Defers the images and documents in
    /// the result.
    fn result(
        &mut self,
        messages: &mut [ChatMessage<'a>],
        call: Cow<'a, str>,
        name: &str,
        content: Vec<ContentPart<'a>>,
    ) {
        let words = as_text(&content, |shown| format!("[{}, shown below]", shown.media_type));
        let shows = content.into_iter().filter_map(|piece| match piece {
            ContentPart::Text(_) => None,
            ContentPart::Media(shown) => Some(show(shown)),
        });
        let mut shows = shows.peekable();
        if shows.peek().is_some() {
            let text = format!("Shown by the result of {name} ({call}):");
            self.shown.push(MessagePart::Text { text: text.into() });
        }
        self.shown.extend(shows);
        let Some(message) = messages.last_mut() else { return };
        message.tool_call_id = Some(call);
        message.content = Some(MessageContent::Text(words.into()));
    }

    fn flush(&mut self, messages: &mut Vec<ChatMessage<'a>>) {
        if !self.shown.is_empty() {
            let content = Some(MessageContent::Parts(std::mem::take(&mut self.shown)));
            messages.push(ChatMessage { role: "user", content, ..ChatMessage::default() });
        }
        for kind in self.segments.drain(..) {
            let goes_on = messages
                .last()
                .is_some_and(|message| message.role == "assistant" && message.takes(&kind));
            if !goes_on {
                messages.push(ChatMessage { role: "assistant", ..ChatMessage::default() });
            }
            add(messages, kind);
        }
    }
}

impl ChatMessage<'_> {
    fn calls(&self) -> bool {
        !self.tool_calls.is_empty()
    }

    /// Checks whether a further segment (part) of this kind can be added to the message. The order
    /// in a message is fixed: reasoning, content, calls. A segment cannot be added if it belongs
    /// before a part that the message already has.
    fn takes(&self, kind: &SegmentKind<'_>) -> bool {
        match kind {
            SegmentKind::Reasoning { .. } => self.content.is_none() && !self.calls(),
            SegmentKind::Text(_) => !self.calls(),
            SegmentKind::Call { .. } => true,
            SegmentKind::Media(_) | SegmentKind::Result { .. } => false,
        }
    }
}

fn add<'a>(messages: &mut [ChatMessage<'a>], kind: SegmentKind<'a>) {
    let Some(message) = messages.last_mut() else { return };
    match kind {
        SegmentKind::Text(text) => append_text(&mut message.content, text),
        SegmentKind::Media(shown) => append_part(&mut message.content, show(shown)),
        SegmentKind::Reasoning { text, opaque } => match field(opaque.as_ref()) {
            ReasoningName::Reasoning => append(&mut message.reasoning, text.into()),
            ReasoningName::ReasoningContent => append(&mut message.reasoning_content, text.into()),
        },
        SegmentKind::Call { id, name, arguments } => {
            let function = FunctionCall { name, arguments: arguments.get() };
            message.tool_calls.push(ToolCall { id, r#type: "function", function });
        }
        // Not reached: `Deferred` writes results.
        SegmentKind::Result { .. } => {}
    }
}

fn show(shown: InlineMedia<'_>) -> MessagePart<'_> {
    let is_image = shown.is_image();
    let InlineMedia { media_type, base64, name } = shown;
    let url = DataUrl { media_type, base64 };
    if is_image {
        return MessagePart::ImageUrl { image_url: ImageUrl { url } };
    }
    let filename = name.unwrap_or(Cow::Borrowed("document.pdf"));
    MessagePart::File { file: File { filename, file_data: url } }
}

/// Appends a part to the content of a message. Converts the content to a list if necessary.
fn append_part<'a>(to: &mut Option<MessageContent<'a>>, block: MessagePart<'a>) {
    let mut blocks = match to.take() {
        None => Vec::new(),
        Some(MessageContent::Text(text)) => vec![MessagePart::Text { text }],
        Some(MessageContent::Parts(blocks)) => blocks,
    };
    blocks.push(block);
    *to = Some(MessageContent::Parts(blocks));
}

fn append_text<'a>(to: &mut Option<MessageContent<'a>>, text: Cow<'a, str>) {
    match to {
        None => *to = Some(MessageContent::Text(text)),
        Some(MessageContent::Text(so_far)) => join(so_far, &text),
        Some(MessageContent::Parts(blocks)) => blocks.push(MessagePart::Text { text }),
    }
}

fn append<'a>(to: &mut Option<Cow<'a, str>>, text: Cow<'a, str>) {
    match to {
        None => *to = Some(text),
        Some(so_far) => join(so_far, &text),
    }
}

/// Appends a text to another text of the same message, after a blank line. Some servers refuse a
/// list of texts.
fn join(so_far: &mut Cow<'_, str>, text: &str) {
    let so_far = so_far.to_mut();
    so_far.push_str("\n\n");
    so_far.push_str(text);
}

/// The name of the field in which a server sends reasoning and expects it in later requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReasoningName {
    #[default]
    ReasoningContent,
    Reasoning,
}

/// The provider data that is stored with reasoning. It names the field in which a later request
/// must contain the reasoning.
#[derive(Default, Deserialize, Serialize)]
pub(crate) struct ReasoningField {
    #[serde(default)]
    pub(crate) field: ReasoningName,
}

fn field(opaque: Option<&Data>) -> ReasoningName {
    opaque.and_then(|opaque| opaque.read::<ReasoningField>().ok()).unwrap_or_default().field
}

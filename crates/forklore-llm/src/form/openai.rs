//! OpenAI's chat completions, which most servers speak.

use std::borrow::Cow;

use forklore_agent::model::{ModelName, Request};
use forklore_core::Data;
use serde::{Deserialize, Serialize, Serializer};

use crate::config::{ModelConfig, Provider};
use crate::said::{Piece, Said, Shown, Voice, What, in_words, said};

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
    content: Option<Words<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
}

/// A text; a list only where something is shown, because not every server takes one.
#[derive(Serialize)]
#[serde(untagged)]
enum Words<'a> {
    Text(Cow<'a, str>),
    Blocks(Vec<Block<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text { text: Cow<'a, str> },
    ImageUrl { image_url: Address<'a> },
    File { file: File<'a> },
}

#[derive(Serialize)]
struct Address<'a> {
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
    let takes = config.takes();
    let sends_key = config.provider == Provider::OpenAi && config.cache_key;
    serde_json::to_vec(&Body {
        model: &config.model,
        tools: tools.collect(),
        messages: lines(said(request, name, &takes)),
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
/// text; what was said behind a call comes when its results are there. A result is words: what the
/// tools of an answer show is a message of the person behind the results.
fn lines<'a>(all: Vec<Said<'a>>) -> Vec<Line<'a>> {
    let mut lines: Vec<Line<'a>> = Vec::new();
    let mut late = Late::default();
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
                    late.said.push(piece.what);
                }
                continue;
            }
            Voice::Tool => lines.push(Line { role: "tool", ..Line::default() }),
            Voice::Assistant => {
                let goes_on = open.is_some_and(|it| it.0 == voice);
                if !(goes_on && lines.last().is_some_and(|line| line.takes(&piece.what))) {
                    late.flush(&mut lines);
                    lines.push(Line { role: "assistant", ..Line::default() });
                }
            }
            Voice::System | Voice::User => {
                late.flush(&mut lines);
                if open != Some((voice, message)) {
                    let role = if voice == Voice::User { "user" } else { "system" };
                    lines.push(Line { role, ..Line::default() });
                }
            }
        }
        open = Some((voice, message));
        if let What::Result { call, name, said, .. } = piece.what {
            late.result(&mut lines, call, name, said);
        } else {
            add(&mut lines, piece.what);
        }
    }
    late.flush(&mut lines);
    lines
}

/// What has to wait for the results of an answer's calls.
#[derive(Default)]
struct Late<'a> {
    shown: Vec<Block<'a>>,
    said: Vec<What<'a>>,
}

impl<'a> Late<'a> {
    /// Writes the words of a result; what it shows waits.
    fn result(
        &mut self,
        lines: &mut [Line<'a>],
        call: Cow<'a, str>,
        name: &str,
        said: Vec<Piece<'a>>,
    ) {
        let words = in_words(&said, |shown| format!("[{}, shown below]", shown.media_type));
        let shows = said.into_iter().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Shown(shown) => Some(show(shown)),
        });
        let mut shows = shows.peekable();
        if shows.peek().is_some() {
            let text = format!("Shown by the result of {name} ({call}):");
            self.shown.push(Block::Text { text: text.into() });
        }
        self.shown.extend(shows);
        let Some(line) = lines.last_mut() else { return };
        line.tool_call_id = Some(call);
        line.content = Some(Words::Text(words.into()));
    }

    fn flush(&mut self, lines: &mut Vec<Line<'a>>) {
        if !self.shown.is_empty() {
            let content = Some(Words::Blocks(std::mem::take(&mut self.shown)));
            lines.push(Line { role: "user", content, ..Line::default() });
        }
        for what in self.said.drain(..) {
            let goes_on =
                lines.last().is_some_and(|line| line.role == "assistant" && line.takes(&what));
            if !goes_on {
                lines.push(Line { role: "assistant", ..Line::default() });
            }
            add(lines, what);
        }
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
            What::Shown(_) | What::Result { .. } => false,
        }
    }
}

fn add<'a>(lines: &mut [Line<'a>], what: What<'a>) {
    let Some(line) = lines.last_mut() else { return };
    match what {
        What::Text(text) => append_words(&mut line.content, text),
        What::Shown(shown) => append_block(&mut line.content, show(shown)),
        What::Thought { text, opaque } => match field(opaque.as_ref()) {
            Field::Reasoning => append(&mut line.reasoning, text.into()),
            Field::ReasoningContent => append(&mut line.reasoning_content, text.into()),
        },
        What::Call { id, name, arguments } => {
            let function = Called { name, arguments: arguments.get() };
            line.tool_calls.push(Call { id, r#type: "function", function });
        }
        // It waits for the others of its answer.
        What::Result { .. } => {}
    }
}

fn show(shown: Shown<'_>) -> Block<'_> {
    let is_image = shown.is_image();
    let Shown { media_type, base64, name } = shown;
    let url = DataUrl { media_type, base64 };
    if is_image {
        return Block::ImageUrl { image_url: Address { url } };
    }
    let filename = name.unwrap_or(Cow::Borrowed("document.pdf"));
    Block::File { file: File { filename, file_data: url } }
}

/// With something shown, the content of a message is a list.
fn append_block<'a>(to: &mut Option<Words<'a>>, block: Block<'a>) {
    let mut blocks = match to.take() {
        None => Vec::new(),
        Some(Words::Text(text)) => vec![Block::Text { text }],
        Some(Words::Blocks(blocks)) => blocks,
    };
    blocks.push(block);
    *to = Some(Words::Blocks(blocks));
}

fn append_words<'a>(to: &mut Option<Words<'a>>, text: Cow<'a, str>) {
    match to {
        None => *to = Some(Words::Text(text)),
        Some(Words::Text(so_far)) => join(so_far, &text),
        Some(Words::Blocks(blocks)) => blocks.push(Block::Text { text }),
    }
}

fn append<'a>(to: &mut Option<Cow<'a, str>>, text: Cow<'a, str>) {
    match to {
        None => *to = Some(text),
        Some(so_far) => join(so_far, &text),
    }
}

/// Pieces of one message become one text: not every server takes a list of them.
fn join(so_far: &mut Cow<'_, str>, text: &str) {
    let so_far = so_far.to_mut();
    so_far.push_str("\n\n");
    so_far.push_str(text);
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

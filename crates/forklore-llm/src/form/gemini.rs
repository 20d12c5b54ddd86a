//! Gemini's `streamGenerateContent`.

use std::borrow::Cow;

use forklore_agent::media::Takes;
use forklore_agent::model::{ModelName, Request};
use forklore_core::Data;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::object;
use crate::config::ModelConfig;
use crate::said::{Piece, Said, Shown, Voice, What, in_words, said};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(flatten)]
    asked: Asked<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<ToolConfig>,
    generation_config: Generation,
}

/// What tokens are counted of.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Asked<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tools<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Instruction<'a>>,
    contents: Vec<Turn<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Counted<'a> {
    generate_content_request: Asked<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools<'a> {
    function_declarations: Vec<Declaration<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Declaration<'a> {
    name: &'a str,
    description: &'a str,
    parameters_json_schema: &'a Data,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolConfig {
    function_calling_config: Calling,
}

#[derive(Serialize)]
struct Calling {
    mode: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Generation {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
}

#[derive(Serialize)]
struct Instruction<'a> {
    parts: Vec<Part<'a>>,
}

#[derive(Serialize)]
struct Turn<'a> {
    role: &'static str,
    parts: Vec<Part<'a>>,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_call: Option<Call<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_response: Option<Response<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    inline_data: Option<Blob<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<Data>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Blob<'a> {
    mime_type: &'static str,
    data: Cow<'a, str>,
}

#[derive(Serialize)]
struct Call<'a> {
    name: &'a str,
    args: Cow<'a, Data>,
}

#[derive(Serialize)]
struct Response<'a> {
    name: &'a str,
    response: Outcome,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    Result(String),
    Error(String),
}

/// What is kept of a thought beside its text: it goes back on the part that follows.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Kept<'a> {
    #[serde(borrow)]
    pub(crate) thought_signature: &'a RawValue,
}

pub(super) fn body(
    config: &ModelConfig,
    name: &ModelName,
    request: &Request,
) -> Result<Vec<u8>, serde_json::Error> {
    let calling = Calling { mode: "ANY" };
    serde_json::to_vec(&Body {
        asked: asked(name, request, &config.takes(), None),
        tool_config: request
            .options
            .must_call
            .then_some(ToolConfig { function_calling_config: calling }),
        generation_config: Generation {
            max_output_tokens: request.options.max_output_tokens.or(config.max_output_tokens),
            temperature: request.options.temperature.or(config.temperature),
        },
    })
}

/// The body of a question after the number of tokens.
pub(crate) fn counted_body(
    config: &ModelConfig,
    name: &ModelName,
    request: &Request,
) -> Result<Vec<u8>, serde_json::Error> {
    let (takes, model) = (config.takes(), Some(format!("models/{}", config.model)));
    let asked = asked(name, request, &takes, model);
    serde_json::to_vec(&Counted { generate_content_request: asked })
}

fn asked<'a>(
    name: &ModelName,
    request: &'a Request,
    takes: &'a Takes,
    model: Option<String>,
) -> Asked<'a> {
    let declarations = request.tools.iter().map(|tool| Declaration {
        name: &tool.name,
        description: &tool.description,
        parameters_json_schema: &tool.parameters,
    });
    let declarations: Vec<_> = declarations.collect();
    let mut all = said(request, name, takes);
    let first = all.iter().position(|said| said.voice != Voice::System).unwrap_or(all.len());
    let rest = all.split_off(first);
    let parts: Vec<_> = all.into_iter().flat_map(|said| parts(said.what)).collect();
    let tools = Tools { function_declarations: declarations };
    Asked {
        model,
        tools: if tools.function_declarations.is_empty() { Vec::new() } else { vec![tools] },
        system_instruction: (!parts.is_empty()).then_some(Instruction { parts }),
        contents: turns(rest),
    }
}

fn turns(rest: Vec<Said<'_>>) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    let mut signature = None;
    for said in rest {
        let role = if said.voice == Voice::Assistant { "model" } else { "user" };
        if let What::Thought { opaque, .. } = &said.what {
            signature = opaque.as_ref().and_then(signed);
            continue;
        }
        let mut parts = parts(said.what);
        if let Some(first) = parts.first_mut() {
            first.thought_signature = signature.take().filter(|_| role == "model");
        }
        match turns.last_mut() {
            Some(turn) if turn.role == role => turn.parts.extend(parts),
            _ => turns.push(Turn { role, parts }),
        }
    }
    turns
}

fn signed(opaque: &Data) -> Option<Data> {
    let kept: Kept<'_> = opaque.read().ok()?;
    Some(Data::from_checked(kept.thought_signature.get()))
}

/// What is said, in parts: what a tool shows stands right behind its words.
fn parts(what: What<'_>) -> Vec<Part<'_>> {
    let part = match what {
        What::Text(text) => Part { text: Some(text), ..Part::default() },
        What::Shown(shown) => show(shown),
        What::Call { name, arguments, .. } => {
            let call = Call { name, args: object(arguments) };
            Part { function_call: Some(call), ..Part::default() }
        }
        What::Result { name, said, is_error, .. } => {
            let text = in_words(&said, |shown| format!("[{}, shown below]", shown.media_type));
            let response = if is_error { Outcome::Error(text) } else { Outcome::Result(text) };
            let words =
                Part { function_response: Some(Response { name, response }), ..Part::default() };
            let shown = said.into_iter().filter_map(|piece| match piece {
                Piece::Text(_) => None,
                Piece::Shown(shown) => Some(show(shown)),
            });
            return [words].into_iter().chain(shown).collect();
        }
        What::Thought { .. } => return Vec::new(),
    };
    vec![part]
}

fn show(shown: Shown<'_>) -> Part<'_> {
    let blob = Blob { mime_type: shown.media_type, data: shown.base64 };
    Part { inline_data: Some(blob), ..Part::default() }
}

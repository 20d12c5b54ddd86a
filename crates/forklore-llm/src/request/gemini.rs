//! Writes requests to Gemini's `streamGenerateContent` method.

use std::borrow::Cow;

use forklore_agent::media::Capabilities;
use forklore_agent::model::{ModelName, Request};
use forklore_core::Data;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::object;
use crate::config::ModelConfig;
use crate::content::{ContentPart, InlineMedia, Segment, SegmentKind, Speaker, as_text, segments};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(flatten)]
    prompt: Prompt<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<ToolConfig>,
    generation_config: GenerationConfig,
}

/// The part of a model request that is also sent when the server counts tokens.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Prompt<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tools<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<SystemInstruction<'a>>,
    contents: Vec<Content<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CountRequest<'a> {
    generate_content_request: Prompt<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools<'a> {
    function_declarations: Vec<FunctionDeclaration<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FunctionDeclaration<'a> {
    name: &'a str,
    description: &'a str,
    parameters_json_schema: &'a Data,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolConfig {
    function_calling_config: FunctionCallingConfig,
}

#[derive(Serialize)]
struct FunctionCallingConfig {
    mode: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
}

#[derive(Serialize)]
struct SystemInstruction<'a> {
    parts: Vec<Part<'a>>,
}

#[derive(Serialize)]
struct Content<'a> {
    role: &'static str,
    parts: Vec<Part<'a>>,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_call: Option<FunctionCall<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_response: Option<FunctionResponse<'a>>,
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
struct FunctionCall<'a> {
    name: &'a str,
    args: Cow<'a, Data>,
}

#[derive(Serialize)]
struct FunctionResponse<'a> {
    name: &'a str,
    response: FunctionResult,
}

#[derive(Serialize)]
#[serde(rename_all = "lowercase")]
enum FunctionResult {
    Result(String),
    Error(String),
}

/// The provider's signature of a reasoning block. A later request must contain the signature in the
/// part that follows the reasoning.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Signature<'a> {
    #[serde(borrow)]
    pub(crate) thought_signature: &'a RawValue,
}

pub(super) fn body(
    config: &ModelConfig,
    name: &ModelName,
    request: &Request,
) -> Result<Vec<u8>, serde_json::Error> {
    let calling = FunctionCallingConfig { mode: "ANY" };
    serde_json::to_vec(&Body {
        prompt: prompt(name, request, &config.takes(), None),
        tool_config: request
            .options
            .must_call
            .then_some(ToolConfig { function_calling_config: calling }),
        generation_config: GenerationConfig {
            max_output_tokens: request.options.max_output_tokens.or(config.max_output_tokens),
            temperature: request.options.temperature.or(config.temperature),
        },
    })
}

/// Returns the request body with which the server counts the tokens of `request`.
pub(crate) fn count_body(
    config: &ModelConfig,
    name: &ModelName,
    request: &Request,
) -> Result<Vec<u8>, serde_json::Error> {
    let (takes, model) = (config.takes(), Some(format!("models/{}", config.model)));
    let prompt = prompt(name, request, &takes, model);
    serde_json::to_vec(&CountRequest { generate_content_request: prompt })
}

fn prompt<'a>(
    name: &ModelName,
    request: &'a Request,
    takes: &'a Capabilities,
    model: Option<String>,
) -> Prompt<'a> {
    let declarations = request.tools.iter().map(|tool| FunctionDeclaration {
        name: &tool.name,
        description: &tool.description,
        parameters_json_schema: &tool.parameters,
    });
    let declarations: Vec<_> = declarations.collect();
    let mut all = segments(request, name, takes);
    let first =
        all.iter().position(|segment| segment.speaker != Speaker::System).unwrap_or(all.len());
    let rest = all.split_off(first);
    let parts: Vec<_> = all.into_iter().flat_map(|segment| parts(segment.kind)).collect();
    let tools = Tools { function_declarations: declarations };
    Prompt {
        model,
        tools: if tools.function_declarations.is_empty() { Vec::new() } else { vec![tools] },
        system_instruction: (!parts.is_empty()).then_some(SystemInstruction { parts }),
        contents: contents(rest),
    }
}

fn contents(rest: Vec<Segment<'_>>) -> Vec<Content<'_>> {
    let mut contents: Vec<Content<'_>> = Vec::new();
    let mut signature = None;
    for segment in rest {
        let role = if segment.speaker == Speaker::Assistant { "model" } else { "user" };
        if let SegmentKind::Reasoning { opaque, .. } = &segment.kind {
            signature = opaque.as_ref().and_then(signed);
            continue;
        }
        let mut parts = parts(segment.kind);
        if let Some(first) = parts.first_mut() {
            first.thought_signature = signature.take().filter(|_| role == "model");
        }
        match contents.last_mut() {
            Some(content) if content.role == role => content.parts.extend(parts),
            _ => contents.push(Content { role, parts }),
        }
    }
    contents
}

fn signed(opaque: &Data) -> Option<Data> {
    let signature: Signature<'_> = opaque.read().ok()?;
    Some(Data::from_checked(signature.thought_signature.get()))
}

/// Converts the content of a segment (a part of a message) to Gemini's parts. The images and
/// documents in a tool result follow its text.
fn parts(what: SegmentKind<'_>) -> Vec<Part<'_>> {
    let part = match what {
        SegmentKind::Text(text) => Part { text: Some(text), ..Part::default() },
        SegmentKind::Media(shown) => show(shown),
        SegmentKind::Call { name, arguments, .. } => {
            let call = FunctionCall { name, args: object(arguments) };
            Part { function_call: Some(call), ..Part::default() }
        }
        SegmentKind::Result { name, content, is_error, .. } => {
            let text = as_text(&content, |shown| format!("[{}, shown below]", shown.media_type));
            let response =
                if is_error { FunctionResult::Error(text) } else { FunctionResult::Result(text) };
            let words = Part {
                function_response: Some(FunctionResponse { name, response }),
                ..Part::default()
            };
            let shown = content.into_iter().filter_map(|piece| match piece {
                ContentPart::Text(_) => None,
                ContentPart::Media(shown) => Some(show(shown)),
            });
            return [words].into_iter().chain(shown).collect();
        }
        SegmentKind::Reasoning { .. } => return Vec::new(),
    };
    vec![part]
}

fn show(shown: InlineMedia<'_>) -> Part<'_> {
    let blob = Blob { mime_type: shown.media_type, data: shown.base64 };
    Part { inline_data: Some(blob), ..Part::default() }
}

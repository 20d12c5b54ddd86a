//! Lets the model summarize messages. The model receives the messages as a transcript.

use std::fmt::Write;

use forklore_core::{Message, Part, Role};
use forklore_engine::Summarize;
use tokio_util::sync::CancellationToken;

use super::call_model::call_model_for;
use super::truncate::shorten;
use crate::config::SessionConfig;
use crate::context::Context;
use crate::media::Attached;
use crate::model::{EndReason, Request};
use crate::{Error, Result};

const TASK: &str = "Below is the transcript of a conversation between a person and an assistant \
     that uses tools. Write a summary from which the assistant can go on without the transcript: \
     what the person wants, what was decided and why, what was done, which files and commands \
     matter, what is still to be done. Keep names, paths and numbers. Answer with the summary \
     alone.";
/// Maximum length in bytes of one tool result, or of the arguments of one call, in a transcript.
/// The model receives the transcript to summarize it.
const RESULT_BYTES: usize = 4 << 10;
/// Maximum length in bytes of the transcript that the model summarizes, if its context window is
/// not configured.
const TRANSCRIPT_BYTES: usize = 200 << 10;

/// Lets the model summarize `messages`. If the model gives no summary, the result contains the
/// reason.
pub(crate) async fn summarize(
    context: &Context,
    config: &SessionConfig,
    messages: &[Message],
    cache_key: String,
    cancel: &CancellationToken,
) -> Result<Summarize> {
    let model = &*config.model;
    if let Some(why) = model.refusal() {
        return Ok(Summarize::Fallback { why, usage: Vec::new() });
    }
    let limit = model.context_window().and_then(|tokens| usize::try_from(tokens * 2).ok());
    let text = transcript(messages);
    let text = shorten(&text, limit.unwrap_or(TRANSCRIPT_BYTES));
    let request = Request {
        messages: vec![Message::text(
            Role::User,
            format!("{TASK}\n\n<transcript>\n{text}</transcript>"),
        )],
        attached: Attached::default(),
        shared: 0,
        forks: Vec::new(),
        tools: Vec::new(),
        cache_key,
        options: config.settings.options.clone(),
    };
    let purpose = "summary";
    let call = call_model_for(context, model, &request, &config.settings, cancel, purpose).await;
    let calls = call.lost(Some(purpose)).chain(call.answered(Some(purpose)));
    let usage = calls.map(|call| Ok(call.event(config)?.data)).collect::<Result<_>>()?;
    let is_cut = call.answer.end.as_ref().is_some_and(|end| end.reason == EndReason::Length);
    let text = if is_cut { whole_words(&call.answer.text()) } else { call.answer.text() };
    let why = if let Some(failed) = call.failed {
        Error::from(failed).to_string()
    } else if call.answer.end.is_none() {
        "the model was interrupted".into()
    } else if text.trim().is_empty() {
        "the model gave no summary".into()
    } else {
        return Ok(Summarize::ByModel { text, model: model.name().model.clone(), usage });
    };
    Ok(Summarize::Fallback { why, usage })
}

/// Replaces the last word of a text that was cut at the token limit by `...`, because this word may
/// be incomplete.
fn whole_words(text: &str) -> String {
    let end = text.rfind(char::is_whitespace).unwrap_or(text.len());
    format!("{} ...", text.get(..end).unwrap_or(text).trim_end())
}

/// Converts messages to a text, the transcript. Each message or call begins with the name of the
/// speaker in brackets.
fn transcript(messages: &[Message]) -> String {
    let mut text = String::new();
    for message in messages {
        let who = match message.role {
            Role::System => "instructions",
            Role::User => "person",
            Role::Assistant => "assistant",
            Role::Tool => "tool",
        };
        for part in message.to_parts() {
            // Writing to a String cannot fail.
            let _ = match part {
                Part::Text { text: words } => writeln!(text, "[{who}] {words}"),
                Part::ToolCall { name, arguments, .. } => {
                    let arguments = shorten(arguments.get(), RESULT_BYTES);
                    writeln!(text, "[{who} calls {name}] {arguments}")
                }
                Part::ToolResult { content, .. } => {
                    let result = content.read().unwrap_or_else(|_| content.get().to_owned());
                    writeln!(text, "[{who}] {}", shorten(&result, RESULT_BYTES))
                }
                Part::Attachment { name, media_type, .. } => {
                    let name = name.as_deref().unwrap_or("a file");
                    writeln!(text, "[{who}] ({name}, {media_type})")
                }
                Part::Reasoning { .. } | Part::Other { .. } => Ok(()),
            };
        }
    }
    text
}

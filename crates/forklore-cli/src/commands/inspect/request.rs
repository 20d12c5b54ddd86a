//! `inspect --request`: shows the request body that a model would receive. Also shows the length of
//! the beginning that this body and the request of a fork have in common.

use std::fmt::Write as _;
use std::sync::Arc;

use forklore::api::{Preview, RequestPreview, SharedPrefix, TokenCount};
use forklore::core::{Data, Header, Selector};
use forklore_agent::SessionConfig;
use forklore_agent::approve::Nobody;
use forklore_agent::model::{Model as _, Request};
use forklore_agent::tool::NoTools;
use forklore_chat::Foreground;
use forklore_llm::{HttpModel, SharedBytes, estimate_tokens};

use super::Args;
use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::{Output, count};
use crate::{interrupts, wiring};

/// The maximum length, in characters, of a run of base64 characters that counts as text. A longer
/// run counts as data.
const LONG: usize = 500;
/// The number of characters that a preview of a request shows of a run of base64 data.
const SHOWN: usize = 40;

pub(super) fn run(args: &Args, header: &Header, app: &App, output: &mut Output) -> Result<()> {
    let at = args.fork.as_deref().map(str::parse::<Selector>).transpose();
    let at = at.map_err(|error| Failure::invalid(error.to_string()))?;
    let preview = Preview {
        session_id: header.id.clone(),
        model: args.model.clone(),
        fork_at: at,
        without_tools: args.no_tools,
        count: args.count,
    };
    let foreground =
        wiring::foreground(app, preview.model.as_deref(), wiring::Run::default(), false, output)?;
    let host = foreground.host();
    let configured = host.configured().model(preview.model.as_deref());
    let (name, config) = configured.map_err(forklore_host::Error::from)?;
    let model = HttpModel::new(config.clone()).map_err(|error| not_sent(&error))?;
    let mut equipment = host.equipment(name, Arc::new(Nobody))?;
    if preview.without_tools {
        equipment.tools = Arc::new(NoTools);
        equipment.delegation = None;
    } else {
        list_tools(&foreground, output)?;
    }
    let answer = Previewer { preview: &preview, app, model, equipment }.answer(header)?;
    output.answer(&answer, |page| {
        page.fact("model", format!("{} {}", answer.model.provider, answer.model.model));
        page.fact("request", size(answer.bytes, answer.messages, answer.tokens));
        if let Some(fork) = &answer.fork {
            page.fact("shared", size(fork.bytes, fork.messages, fork.tokens));
        }
        let tools =
            if preview.without_tools { "left out".to_owned() } else { answer.tools.to_string() };
        page.fact("tools", tools);
        page.end();
        page.put(crate::output::Tone::Plain, shortened(answer.body.get())).end();
    })
}

/// Starts the tool servers, as a turn does, so that the previewed request contains their tools.
/// Then stops the servers.
fn list_tools(foreground: &Foreground, output: &mut Output) -> Result<()> {
    interrupts::leave();
    let started = foreground.start_tools();
    foreground.close();
    interrupts::heed();
    for problem in started? {
        output.remark(&problem);
    }
    Ok(())
}

/// Builds the preview of a request, with the model and the tools of a session.
struct Previewer<'a> {
    preview: &'a Preview,
    app: &'a App,
    model: HttpModel,
    equipment: SessionConfig,
}

impl Previewer<'_> {
    fn answer(&self, header: &Header) -> Result<RequestPreview> {
        let engine = self.app.engine()?;
        let name = self.model.name();
        let request = |view| self.equipment.request(engine, view);
        let own = request(engine.model_view(&header.id, Some(&name.model))?);
        let Some(at) = &self.preview.fork_at else { return self.answer_of(&own, None) };
        let cut = engine.cut(header, at)?;
        let child = request(engine.fork_view(header, &cut, Some(&name.model))?);
        let bytes = SharedBytes::between(&self.body(&own)?, &self.body(&child)?).shared;
        let first = child.messages.get(..child.shared).unwrap_or_default().to_vec();
        let tokens = self.tokens(&Request { messages: first, ..child.clone() }, bytes)?;
        let fork = SharedPrefix { cut, messages: child.shared, bytes, tokens };
        self.answer_of(&child, Some(fork))
    }

    fn answer_of(&self, request: &Request, fork: Option<SharedPrefix>) -> Result<RequestPreview> {
        let body = self.body(request)?;
        let text = String::from_utf8_lossy(&body).into_owned();
        Ok(RequestPreview {
            model: self.model.name().clone(),
            messages: request.messages.len(),
            tools: request.tools.len(),
            bytes: body.len(),
            tokens: self.tokens(request, body.len())?,
            fork,
            body: Data::from_checked(text),
        })
    }

    fn body(&self, request: &Request) -> Result<Vec<u8>> {
        self.model.body(request).map_err(|error| not_sent(&error))
    }

    /// Returns the number of tokens of a request: the server's count with `--count`, if the server
    /// can count, or else an estimate. `bytes` is the length of the request body.
    fn tokens(&self, request: &Request, bytes: usize) -> Result<TokenCount> {
        let counted = if self.preview.count && !request.messages.is_empty() {
            self.model.count_blocking(request).map_err(|error| not_sent(&error))?
        } else {
            None
        };
        let estimated = counted.is_none();
        Ok(TokenCount { count: counted.unwrap_or_else(|| estimate_tokens(bytes)), estimated })
    }
}

/// Shortens a request body for users: replaces data, such as an image, by its beginning and its
/// length.
fn shortened(body: &str) -> String {
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || c == '+' || c == '/';
    let (mut out, mut rest) = (String::new(), body);
    while let Some(at) = rest.find(is_base64) {
        let (before, run) = rest.split_at(at);
        let (run, behind) = run.split_at(run.find(|c| !is_base64(c)).unwrap_or(run.len()));
        out.push_str(before);
        match run.get(..SHOWN).filter(|_| run.len() > LONG) {
            Some(begin) => {
                let padding = behind.len() - behind.trim_start_matches('=').len();
                let _ = write!(out, "{begin}... ({} characters)", run.len() + padding);
                rest = behind.get(padding..).unwrap_or_default();
            }
            None => {
                out.push_str(run);
                rest = behind;
            }
        }
    }
    out + rest
}

fn size(bytes: usize, messages: usize, tokens: TokenCount) -> String {
    let how = if tokens.estimated { "estimated" } else { "counted by the server" };
    format!(
        "{}, {}, {} ({how})",
        count(bytes as u64, "byte"),
        count(messages as u64, "message"),
        count(tokens.count, "token")
    )
}

fn not_sent(error: &forklore_agent::model::ModelError) -> Failure {
    forklore_host::Error::Model(error.to_string()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_data_that_is_no_text_is_shortened() {
        let image = "iVBORw0KGgo".to_owned() + &"A+/9".repeat(200);
        let words = "Four words of text. ".repeat(100);
        let body = format!(r#"{{"a":"{image}==","b":"{words}","c":"{image}"}}"#);
        let begin = format!("{}...", &image[..40]);
        let expected = format!(
            r#"{{"a":"{begin} (813 characters)","b":"{words}","c":"{begin} (811 characters)"}}"#
        );
        assert_eq!(shortened(&body), expected);
        assert_eq!(shortened(""), "");
    }
}

//! `inspect`: shows the messages or the request that the model would receive.

mod request;

use forklore::core::SessionId;
use forklore::engine::{DetachedSubagent, Inspection};

use crate::app::App;
use crate::failure::Result;
use crate::output::transcript::Transcript;
use crate::output::{List, Output, Tone, count};
use crate::session_ref::SessionRef;

const EXAMPLES: &str = "\
The numbers are those of the conversation, which --at message:N, replay and /turns use; a summary has none. \
Compactions are applied, open calls answered, reasoning of other models left out.
--request shows the bytes that a model of your configuration would be sent, without sending them. The
servers of tools are started for it, as for a turn; --no-tools leaves tools out and starts none. Tokens are estimated at four bytes each; with
--count the history goes to the server where that counts (anthropic, gemini), which takes a key.
Of images only the beginning is shown; --json has every byte.

Examples:
  forklore inspect last
  forklore inspect last --request --fork turn:-1
  forklore inspect last --request --model claude --count --json | jq .tokens
  forklore inspect last --json | jq '{balanced, synthetic_results, excluded}'";

/// Show exactly what the model would receive
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The session: an id, label or title, last, or a session file
    session: String,
    /// Show the request that would be sent, byte for byte
    #[arg(long)]
    request: bool,
    /// The model, by its name in the configuration [default: default_model]
    #[arg(long, value_name = "NAME", requires = "request")]
    model: Option<String>,
    /// Show the request of a fork at this cut, and how long a beginning it shares with the
    /// session's request
    #[arg(long, value_name = "CUT", requires = "request", allow_hyphen_values = true)]
    fork: Option<String>,
    /// Leave out tools, and start no tool server
    #[arg(long, requires = "request")]
    no_tools: bool,
    /// Let the model's server count the tokens
    #[arg(long, requires = "request")]
    count: bool,
}

impl Args {
    /// Returns the arguments with which `forklore inspect` shows the messages that a session's
    /// model would receive.
    pub(super) fn of(session: &SessionId) -> Self {
        Self {
            session: session.to_string(),
            request: false,
            model: None,
            fork: None,
            no_tools: false,
            count: false,
        }
    }
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let header = app.session(&SessionRef::parse(&args.session)?, output)?;
    if args.request {
        return request::run(args, &header, app, output);
    }
    let Inspection {
        messages,
        balanced,
        open_results,
        synthetic_results,
        excluded,
        detached_subagents,
    } = app.engine()?.inspect_lazily(&header.id)?;
    let sent = messages.left() as u64;
    if output.is_json() {
        let messages = List::of(messages);
        let answer = Inspection {
            messages: &messages,
            balanced,
            open_results,
            synthetic_results,
            excluded,
            detached_subagents,
        };
        let printed = output.answer(&answer, |_| {});
        messages.outcome()?;
        return printed;
    }
    let mut transcript = Transcript::default();
    for numbered in messages.numbered() {
        let (number, message) = numbered?;
        output.page(|page| transcript.message(page, number, &message))?;
    }
    output.page(|page| {
        page.end();
        page.fact("sent", count(sent, "message"));
        let synthetic = count(synthetic_results as u64, "synthetic result");
        if balanced {
            page.fact("calls", format!("balanced, {synthetic}"));
        } else {
            let open = count(open_results as u64, "open call");
            page.put(Tone::Warn, format!("{:<11}{open} answered, {synthetic}", "calls")).end();
        }
        let left: Vec<_> =
            excluded.iter().map(|(kind, number)| format!("{number} {kind}")).collect();
        page.fact("left out", left.join(", "));
        for DetachedSubagent { session_id, owner_session_id, .. } in &detached_subagents {
            page.fact(
                "sub-agent",
                format!("{session_id}, detached: it belongs to {owner_session_id}"),
            );
        }
    })
}

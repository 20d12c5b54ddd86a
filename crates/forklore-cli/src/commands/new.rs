//! `new`: creates a session.

use forklore::api::SessionAnswer;
use forklore::core::{Label, SessionId};
use forklore::engine::Create;

use crate::app::App;
use crate::failure::Result;
use crate::output::{Output, Tone};
use crate::session_ref::SessionRef;

use super::arguments;

const EXAMPLES: &str = "\
Examples:
  forklore new --title \"Plan the release\"
  forklore new --id plan-1 --principal alice
  forklore new --permissions files.read,search    a ceiling for it and its children
  forklore new --parent last --label explore     a sub-agent of the last session
  id=$(forklore new -q)                           only the id";

/// Make a session
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The session's id [default: a new UUID]
    #[arg(long)]
    id: Option<String>,
    /// The session's title, for display
    #[arg(long)]
    title: Option<String>,
    /// The session's label, unique in its family [default: main, or words with --parent]
    #[arg(long)]
    label: Option<String>,
    /// On whose behalf the session acts; forklore only records this
    #[arg(long, value_name = "WHO")]
    principal: Option<String>,
    /// The most that the session and all its children may do: permissions, separated by commas
    #[arg(long, value_name = "NAMES")]
    permissions: Option<String>,
    /// Metadata of your own: any JSON
    #[arg(long, value_name = "JSON")]
    metadata: Option<String>,
    /// Make a delegate of this session: a sub-agent that inherits no history
    #[arg(long, value_name = "SESSION")]
    parent: Option<String>,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let id = arguments::parsed::<SessionId>(args.id.as_deref(), "session id")?;
    let label = arguments::parsed::<Label>(args.label.as_deref(), "label")?;
    let metadata = arguments::json("metadata", args.metadata.as_deref())?;
    let parent = args.parent.as_deref().map(SessionRef::parse).transpose()?;
    let request = Create {
        id,
        label,
        title: args.title.clone(),
        principal: args.principal.clone(),
        permissions: args.permissions.as_deref().map(arguments::permissions),
        metadata,
        parent: parent
            .map(|parent| app.stored(&parent, output))
            .transpose()?
            .map(|header| header.id),
        ..Create::in_workspace(app.workspace()?)
    };
    let engine = app.engine_or_new()?;
    let header = engine.create(&request)?;
    let is_silent = output.is_silent();
    output.answer(&SessionAnswer::of(&header, false, false), |page| {
        if is_silent {
            page.put(Tone::Plain, &header.id).end();
        } else {
            page.put(Tone::Good, "Made ").put(Tone::Id, &header.id).end();
            page.fact("label", &header.label);
            page.fact("title", header.title.as_deref().unwrap_or_default());
            page.fact("workspace", &header.workspace);
        }
    })?;
    output.hint(&format!("forklore append {} --text \"...\"", header.id), "say something");
    Ok(())
}

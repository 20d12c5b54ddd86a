//! The tools: their list, and how a call reaches one.

mod blame;
mod bring;
mod diff;
mod fork;
mod label;
mod list_sessions;
mod message;
mod messages;
mod overview;
mod resume_command;
mod schema;
mod search;
mod stats;
mod tree;
mod verb;

use crate::options::Options;
pub(crate) use verb::Entry;
use verb::entry;

/// All tools, in the order in which clients see them.
const TOOLS: [Entry; 12] = [
    entry::<search::SearchTool>(),
    entry::<list_sessions::ListSessions>(),
    entry::<overview::OverviewTool>(),
    entry::<messages::MessagesTool>(),
    entry::<blame::BlameTool>(),
    entry::<tree::TreeTool>(),
    entry::<diff::DiffTool>(),
    entry::<resume_command::ResumeCommand>(),
    entry::<stats::StatsTool>(),
    entry::<fork::ForkTool>(),
    entry::<bring::BringTool>(),
    entry::<label::LabelTool>(),
];

/// Returns the tools that a server with these options offers.
pub(crate) fn offered(options: &Options) -> impl Iterator<Item = &'static Entry> {
    TOOLS.iter().filter(|entry| entry.allowed(options).is_ok())
}

/// Returns the tool with this name. `None` if there is none, whether allowed or not.
pub(crate) fn named(name: &str) -> Option<&'static Entry> {
    TOOLS.iter().find(|entry| entry.name == name)
}

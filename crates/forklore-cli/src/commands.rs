//! The commands, one per file. Each file has the command's options, its operation and its output.

mod anchor;
mod append;
mod arguments;
mod attach;
mod backup;
mod blame;
mod branches;
mod bring;
mod chat;
mod clone;
mod completions;
mod config;
mod confirm;
mod damaged;
mod delete;
mod detach;
mod diff;
mod doctor;
mod explore;
mod export;
mod fork;
mod gc;
#[cfg(feature = "graph")]
mod graph;
mod handoff;
mod hooks;
mod import;
mod inspect;
mod install;
mod interface;
mod label;
mod lineage;
mod list;
mod log;
mod man;
mod mcp;
mod new;
mod op;
mod other_store;
mod pack;
mod paging;
mod pull;
mod push;
mod redact;
mod remote;
mod rename;
mod replay;
mod restore;
mod resume;
mod resume_in;
mod rewind;
mod search;
#[cfg(feature = "server")]
mod serve;
mod show;
mod snapshot;
#[cfg(feature = "graph")]
mod sparql;
mod stats;
#[cfg(feature = "postgres")]
mod tier;
#[cfg(feature = "server")]
mod token;
mod transfer;
mod tree;
mod ui;
mod undelete;
mod undo;
mod verify;
mod views;
mod welcome;
mod worktrees;

use clap::Subcommand;

use crate::app::App;
use crate::failure::Result;
use crate::output::Output;

/// A command of the program, with its arguments.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Chat(chat::Args),
    Resume(resume::Args),
    New(new::Args),
    Append(append::Args),
    Attach(attach::Args),
    Import(import::Args),
    Ui(ui::Args),
    List(list::Args),
    Show(show::Args),
    Log(log::Args),
    Replay(replay::Args),
    Inspect(inspect::Args),
    Fork(fork::Args),
    Tree(tree::Args),
    Branches(branches::Args),
    Lineage(lineage::Args),
    Diff(diff::Args),
    Bring(bring::Args),
    Explore(explore::Args),
    Label(label::Args),
    Rename(rename::Args),
    Detach(detach::Args),
    Delete(delete::Args),
    Undelete(undelete::Args),
    Redact(redact::Args),
    Op(op::Args),
    Snapshot(snapshot::Args),
    Rewind(rewind::Args),
    Undo(undo::Args),
    Worktrees(worktrees::Args),
    Hooks(hooks::Args),
    Export(export::Args),
    #[command(name = "resume-in")]
    ResumeIn(resume_in::Args),
    Restore(restore::Args),
    Anchor(anchor::Args),
    Push(push::Args),
    Pull(pull::Args),
    Clone(clone::Args),
    Handoff(handoff::Args),
    Remote(remote::Args),
    #[cfg(feature = "graph")]
    Graph(graph::Args),
    #[cfg(feature = "graph")]
    Sparql(sparql::Args),
    Search(search::Args),
    Blame(blame::Args),
    Stats(stats::Args),
    Verify(verify::Args),
    Gc(gc::Args),
    Pack(pack::Args),
    Doctor(doctor::Args),
    Backup(backup::Args),
    #[cfg(feature = "postgres")]
    Tier(tier::Args),
    #[cfg(feature = "server")]
    Serve(serve::Args),
    #[cfg(feature = "server")]
    Token(token::Args),
    Config(config::Args),
    Completions(completions::Args),
    Man(man::Args),
    Mcp(mcp::Args),
    Install(install::Args),
}

/// Runs a command. Without a command, shows the last updated sessions and what to do next.
///
/// # Errors
/// Any error of the command.
pub(crate) fn run(command: Option<Command>, app: &App, output: &mut Output) -> Result<()> {
    let Some(command) = command else {
        return welcome::run(app, output);
    };
    match command {
        Command::Chat(args) => chat::run(&args, app, output),
        Command::Resume(args) => resume::run(&args, app, output),
        Command::New(args) => new::run(&args, app, output),
        Command::Append(args) => append::run(&args, app, output),
        Command::Attach(args) => attach::run(&args, app, output),
        Command::Import(args) => import::run(&args, app, output),
        Command::Ui(args) => ui::run(&args, app, output),
        Command::List(args) => list::run(&args, app, output),
        Command::Show(args) => show::run(&args, app, output),
        Command::Log(args) => log::run(&args, app, output),
        Command::Replay(args) => replay::run(&args, app, output),
        Command::Inspect(args) => inspect::run(&args, app, output),
        Command::Fork(args) => fork::run(&args, app, output),
        Command::Tree(args) => tree::run(&args, app, output),
        Command::Branches(args) => branches::run(&args, app, output),
        Command::Lineage(args) => lineage::run(&args, app, output),
        Command::Diff(args) => diff::run(&args, app, output),
        Command::Bring(args) => bring::run(&args, app, output),
        Command::Explore(args) => explore::run(&args, app, output),
        Command::Label(args) => label::run(&args, app, output),
        Command::Rename(args) => rename::run(&args, app, output),
        Command::Detach(args) => detach::run(&args, app, output),
        Command::Delete(args) => delete::run(&args, app, output),
        Command::Undelete(args) => undelete::run(&args, app, output),
        Command::Redact(args) => redact::run(&args, app, output),
        Command::Op(args) => op::run(&args, app, output),
        Command::Snapshot(args) => snapshot::run(&args, app, output),
        Command::Rewind(args) => rewind::run(&args, app, output),
        Command::Undo(args) => undo::run(&args, app, output),
        Command::Worktrees(args) => worktrees::run(&args, app, output),
        Command::Hooks(args) => hooks::run(&args, app, output),
        Command::Export(args) => export::run(&args, app, output),
        Command::ResumeIn(args) => resume_in::run(&args, app, output),
        Command::Restore(args) => restore::run(&args, app, output),
        Command::Anchor(args) => anchor::run(&args, app, output),
        Command::Push(args) => push::run(&args, app, output),
        Command::Pull(args) => pull::run(&args, app, output),
        Command::Clone(args) => clone::run(&args, app, output),
        Command::Handoff(args) => handoff::run(&args, app, output),
        Command::Remote(args) => remote::run(&args, app, output),
        #[cfg(feature = "graph")]
        Command::Graph(args) => graph::run(&args, app, output),
        #[cfg(feature = "graph")]
        Command::Sparql(args) => sparql::run(&args, app, output),
        Command::Search(args) => search::run(&args, app, output),
        Command::Blame(args) => blame::run(&args, app, output),
        Command::Stats(args) => stats::run(&args, app, output),
        Command::Verify(args) => verify::run(&args, app, output),
        Command::Gc(args) => gc::run(&args, app, output),
        Command::Pack(args) => pack::run(&args, app, output),
        Command::Doctor(args) => doctor::run(&args, app, output),
        Command::Backup(args) => backup::run(&args, app, output),
        #[cfg(feature = "postgres")]
        Command::Tier(args) => tier::run(&args, app, output),
        #[cfg(feature = "server")]
        Command::Serve(args) => serve::run(&args, app, output),
        #[cfg(feature = "server")]
        Command::Token(args) => token::run(&args, app, output),
        Command::Config(args) => config::run(&args, app, output),
        Command::Completions(args) => completions::run(&args, output),
        Command::Man(args) => man::run(&args, app, output),
        Command::Mcp(args) => mcp::run(&args, app, output),
        Command::Install(args) => install::run(&args, app, output),
    }
}

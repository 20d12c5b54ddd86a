//! The `forklore` program: stores, forks, compares and replays sessions of AI agents.

mod agent_config;
mod agents;
mod app;
mod args;
mod choice;
mod commands;
mod completion;
mod exit;
mod failure;
mod globals;
mod help;
mod hints;
mod hook_run;
mod interrupts;
mod metrics;
mod new_file;
mod output;
mod session_ref;
mod store;
mod synonyms;
mod usage;
mod wiring;
mod workspace;

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// The program's allocator. With the system's allocator, reading takes twice as long: for each page
/// of events, the system's allocator requests memory from the system and returns it again.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    interrupts::on_interrupt();
    interrupts::on_file_limit();
    if completion::answered(args::command) {
        return ExitCode::SUCCESS;
    }
    let (cli, mut output) = match args::read() {
        Ok(read) => read,
        Err(refused) => return refused,
    };
    if let Some(filter) = &cli.globals.log {
        output::log::start(filter);
    }
    let app = app::App::new(cli.globals, args::command);
    let done = commands::run(cli.command, &app, &mut output);
    // The user leaves the pager before anything else is printed.
    let done = done.and(output.close());
    app.warn(&mut output);
    exit::code(done, &mut output)
}

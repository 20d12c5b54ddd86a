//! `config init`: writes a configuration file with the model servers that run on this machine, and
//! with the names of the environment variables that contain API keys.

use std::io::Write as _;
use std::path::Path;

use forklore::api::{ConfigCreated, LocalServer};
use forklore::core::ErrorKind;
use forklore_host::config::template;
use forklore_llm::{LOCAL_PORTS, Provider, listening_blocking};

use crate::failure::{Failure, Result};
use crate::output::{Output, Page, Tone, count};
use crate::{new_file, wiring};

const EXAMPLES: &str = "\
It asks the usual ports of this machine for models (llama.cpp 8080, ollama 11434, LM Studio 1234, \
vLLM 8000), nothing else and no other machine, and looks whether the usual variables with API keys \
are set. Their values are neither shown nor written.

Examples:
  forklore config init --dry-run        see what it would write
  forklore config init
  forklore config init --port 9000      a server at another port
  forklore config init --yes            replace the file that is there";

/// Write a configuration with the servers and keys that are there
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Look for a server at this port of this machine, instead of the usual ones; may be given
    /// several times
    #[arg(long, value_name = "PORT")]
    port: Vec<u16>,
    /// Show the file and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Replace the configuration that is there
    #[arg(long)]
    yes: bool,
}

pub(super) fn run(args: &Args, output: &mut Output) -> Result<()> {
    let path = wiring::path()?;
    let replaces = path.symlink_metadata().is_ok();
    if replaces && !args.yes && !args.dry_run {
        let message = format!("{} is there already and stays as it is", path.display());
        return Err(Failure::refused(ErrorKind::AlreadyExists, message)
            .or_try("forklore config edit")
            .or_try("forklore config init --dry-run")
            .or_try("forklore config init --yes"));
    }
    let (servers, keys) = (servers(&args.port), keys());
    let text = template(&servers, &keys);
    if !args.dry_run {
        write(&path, &text)?;
    }
    let answer = ConfigCreated { path, dry_run: args.dry_run, replaces, text, servers, keys };
    output.answer(&answer, |page| show(page, &answer))?;
    match answer.dry_run {
        true => output.hint("forklore config init", "write it"),
        false => output.hints(&[
            ("forklore config edit", "change it"),
            ("forklore chat", "talk to the model"),
        ]),
    }
    Ok(())
}

/// Returns the model servers that listen on these ports of this machine. If `ports` is empty, looks
/// at the usual ports.
fn servers(ports: &[u16]) -> Vec<LocalServer> {
    let usual: Vec<_> = LOCAL_PORTS.iter().map(|(port, _)| *port).collect();
    let found = listening_blocking(if ports.is_empty() { &usual } else { ports });
    let program = |port| LOCAL_PORTS.iter().find(|(usual, _)| *usual == port);
    let server = |found: forklore_llm::Listening| LocalServer {
        program: program(found.port).map(|(_, program)| (*program).to_owned()),
        base_url: found.base_url,
        models: found.models,
    };
    found.into_iter().map(server).collect()
}

/// Returns the names of the usual environment variables with API keys that are set.
fn keys() -> Vec<String> {
    let providers = [Provider::Anthropic, Provider::OpenAi, Provider::Gemini];
    let usual = providers.iter().flat_map(|provider| provider.key_variables());
    let is_set = |name: &&&str| {
        std::env::var_os(name).is_some_and(|key| !key.to_string_lossy().trim().is_empty())
    };
    usual.filter(is_set).map(|name| (*name).to_owned()).collect()
}

fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        forklore::create_private_folder(folder).map_err(new_file::failed(folder))?;
    }
    new_file::write(path, true, |file| {
        file.write_all(text.as_bytes()).map_err(new_file::failed(path))
    })
}

fn show(page: &mut Page, answer: &ConfigCreated) {
    for server in &answer.servers {
        let program = server.program.as_deref().unwrap_or("a server");
        let models = count(server.models.len() as u64, "model");
        page.fact("found", format!("{program} at {}, {models}", server.base_url));
    }
    for key in &answer.keys {
        page.fact("found", format!("a key in {key}"));
    }
    if !answer.servers.is_empty() || !answer.keys.is_empty() {
        page.end();
    }
    page.block(Tone::Plain, &answer.text, 0, usize::MAX);
    page.end();
    let verb = if answer.dry_run { "Would write " } else { "Wrote " };
    page.put(Tone::Good, verb).put(Tone::Strong, answer.path.display());
    if answer.replaces {
        page.put(Tone::Plain, ", in the place of what is there");
    }
    page.end();
}

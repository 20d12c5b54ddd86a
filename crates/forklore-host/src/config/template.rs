//! Writes the text of a new configuration file from what is on this machine.

use std::fmt::Write as _;

use forklore_api::LocalServer;
use forklore_llm::Provider;

const HEAD: &str = "\
# The configuration of forklore: models, tools, and what they may do.
# docs/chat.md explains it; `forklore config check` checks it; -c KEY=VALUE overrides it for one run.
# It contains no key: a key stays in the environment, and the file names its variable.
";

const SYSTEM: &str =
    "# system = \"Answer briefly.\"        # what each new session is told first\n";

const TAIL: &str = "
# [tools.files]                     # an MCP server, whose tools the models may call
# command = \"mcp-server-filesystem\"
# args = [\"/home/me/project\"]

# [prices.\"some-model-*\"]          # of a million tokens, also for sessions of agents
# input = 3.0
# output = 15.0

# [budget]                          # of all models; stops before the next request
# per_day = 5.0

# [policy]                          # what no pattern fits is asked about
# allow = [\"files.read_*\"]

# [remotes]                         # other stores, for push and pull
# team = \"postgres://me@db.example/team\"

# [retention]                       # what `forklore gc --policy` deletes and erases
# delete_after_days = 180
# erase_after_days = 30

# [snapshots]                       # of files, which `forklore rewind` takes back
# max_size = \"20 GB\"

# [delegate]                        # lets a model hand tasks to sub-agents
# depth = 2
";

/// A model of a provider that a new configuration suggests.
struct Suggested {
    provider: Provider,
    name: &'static str,
    model: &'static str,
}

const SUGGESTED: [Suggested; 3] = [
    Suggested { provider: Provider::Anthropic, name: "claude", model: "claude-sonnet-4-5" },
    Suggested { provider: Provider::OpenAi, name: "gpt", model: "gpt-5" },
    Suggested { provider: Provider::Gemini, name: "gemini", model: "gemini-2.5-pro" },
];

/// Returns the text of a new configuration file with comments. The file has one model for each
/// server in `servers` that offers a model, and one for each suggested provider whose API key is in
/// one of the environment variables `keys`. If there are none of these, the file shows models only
/// as comments.
#[must_use]
pub fn template(servers: &[LocalServer], keys: &[String]) -> String {
    let mut names: Vec<String> = Vec::new();
    let mut tables = String::new();
    for server in servers {
        let Some(model) = server.models.first() else { continue };
        let name = unused(&names, &name_of(server.program.as_deref()));
        tables.push_str(&local(&name, server, model));
        names.push(name);
    }
    for suggested in &SUGGESTED {
        let usual = suggested.provider.key_variables();
        let variable = usual.iter().find(|variable| keys.iter().any(|key| key == *variable));
        let Some(variable) = variable else { continue };
        tables.push_str(&remote(suggested, variable));
        names.push(suggested.name.to_owned());
    }
    if names.is_empty() {
        tables = nothing_there();
    }
    let default = match names.first() {
        Some(name) => format!("default_model = \"{name}\"\n"),
        None => "# default_model = \"local\"\n".to_owned(),
    };
    format!("{HEAD}\n{default}{SYSTEM}{tables}{TAIL}")
}

fn local(name: &str, server: &LocalServer, model: &str) -> String {
    let by = server.program.as_deref().unwrap_or("a server on this machine");
    let mut text = format!("\n[models.{name}]  # {by}; it runs now\n");
    // Writing to a String cannot fail.
    let _ = match server.program.as_deref() {
        Some("ollama") => writeln!(text, "provider = \"ollama\""),
        _ => writeln!(text, "provider = \"openai\"\nbase_url = \"{}\"", server.base_url),
    };
    let _ = writeln!(text, "model = \"{model}\"");
    let others: Vec<_> = server.models.iter().skip(1).take(8).map(String::as_str).collect();
    if !others.is_empty() {
        let _ = writeln!(text, "# it also has: {}", others.join(", "));
    }
    text.push_str("# context_window = 32768      # lets the history be compacted in time\n");
    text
}

fn remote(suggested: &Suggested, variable: &str) -> String {
    let Suggested { provider, name, model } = suggested;
    format!(
        "\n[models.{name}]  # the key is read from {variable}\nprovider = \"{}\"\nmodel = \"{model}\"  \
         # or another model of this provider\n",
        provider.as_str()
    )
}

fn nothing_there() -> String {
    let mut text = "\n# No model server runs on this machine, and no key is in the environment.\n\
         # Start one, or export a key, and run `forklore config init` again; or fill these in:\n"
        .to_owned();
    text.push_str("\n# [models.local]  # any server that speaks the OpenAI form\n");
    text.push_str("# provider = \"openai\"\n# base_url = \"http://127.0.0.1:8080/v1\"\n");
    text.push_str("# model = \"default\"\n");
    for Suggested { provider, name, model } in &SUGGESTED {
        let variable = provider.key_variables().first().copied().unwrap_or_default();
        let provider = provider.as_str();
        let _ = write!(
            text,
            "\n# [models.{name}]  # needs a key in {variable}\n# provider = \"{provider}\"\n\
             # model = \"{model}\"\n"
        );
    }
    text
}

fn name_of(program: Option<&str>) -> String {
    let letters = program.unwrap_or("local").chars().filter(char::is_ascii_alphanumeric);
    letters.collect::<String>().to_ascii_lowercase()
}

/// Returns `name`, followed by a number if `names` contains it.
fn unused(names: &[String], name: &str) -> String {
    let numbered = (2..).map(|number| format!("{name}{number}"));
    let mut all = std::iter::once(name.to_owned()).chain(numbered);
    all.find(|name| !names.contains(name)).unwrap_or_default()
}

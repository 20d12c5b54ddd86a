//! The hooks that somebody else gave an agent: each adds a line to a file.

use std::fs;

use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::site::Site;

/// The lines that the hooks add in one turn.
pub(crate) const TURN: &str = "begin\nend\n";

/// Returns the hooks for an agent that has them in its settings, under the names of two events.
pub(crate) fn settings(site: &Site, [begin, end]: [&str; 2]) -> Value {
    let log = log(site);
    let hook = |word: &str| {
        let command = format!("echo {word} >> '{log}'");
        json!([{"hooks": [{"type": "command", "command": command}]}])
    };
    json!({begin: hook("begin"), end: hook("end")})
}

/// Returns the beginning of a script for an agent that loads scripts: the function `add`, which adds
/// a line.
pub(crate) fn script(site: &Site) -> String {
    format!(
        "import {{ appendFileSync }} from \"node:fs\"\n\
         const add = (word) => appendFileSync({:?}, word + \"\\n\")\n",
        log(site)
    )
}

/// Returns the lines that the hooks have added.
pub(crate) fn added(site: &Site) -> Result<String> {
    let path = log(site);
    fs::read_to_string(&path).map_err(Error::file(path))
}

fn log(site: &Site) -> String {
    site.home.with_file_name("theirs.txt").display().to_string()
}

//! `cargo xtask api`: compares the public API of the crate `forklore` with the listing in the
//! repository. Any change of the API thus appears in a review.
//!
//! The listing is made from the JSON output of rustdoc. The format of that JSON depends on the
//! compiler. A compiler with another format compares nothing.

mod rustdoc;

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::PathBuf;

use crate::command::{AS_FOR_TESTS, EVERYTHING, Failure, cargo, output, program, root, run};
use crate::tools::target;

pub(crate) use rustdoc::pass_on;

/// The version number of rustdoc's JSON format that the crate `public-api` can read. The number
/// depends on the release of `public-api` that this workspace uses.
const FORMAT: u32 = 57;

/// Compares the public API of the crate `forklore` with the listing in the repository. With
/// `--write`, stores the API as the new listing.
pub(crate) fn run_all(args: &[String]) -> Result<(), Failure> {
    let write = match args {
        [] => false,
        [flag] if flag == "--write" => true,
        _ => return Err(Failure::Usage { hint: "cargo xtask api [--write]" }),
    };
    let folder = rustdoc::document()?;
    let format = rustdoc::format(&folder.join("forklore.json"))?;
    if format != Some(FORMAT) {
        let compiler = output(program("rustc").arg("--version"))?;
        let (compiler, form) = (compiler.trim(), format.map_or("no".into(), |it| it.to_string()));
        eprintln!("{compiler} makes another form ({form}, not {FORMAT}); not compared.");
        return if write { Err(Failure::ApiForm) } else { Ok(()) };
    }
    run(cargo().args(["build", "--bin", "public-api"]).args(EVERYTHING).args(AS_FOR_TESTS))?;
    let lister =
        target().join("debug").join("public-api").with_extension(env::consts::EXE_EXTENSION);
    let now = output(program(lister).arg(folder))?;
    let listing = listing();
    let failed = |source| Failure::Folder { path: listing.clone(), source };
    if write {
        return fs::write(&listing, now).map_err(failed);
    }
    let changes = changes(&fs::read_to_string(&listing).map_err(failed)?, &now);
    if changes.is_empty() {
        return Ok(());
    }
    eprintln!("\n{changes}");
    Err(Failure::Api)
}

fn listing() -> PathBuf {
    root().join("docs").join("reference").join("public-api.txt")
}

/// Returns the lines that only one of two sorted listings contains, in sorted order. A line only in
/// `before` is marked `-`, a line only in `now` is marked `+`.
fn changes(before: &str, now: &str) -> String {
    let (before, now): (BTreeSet<_>, BTreeSet<_>) =
        (before.lines().collect(), now.lines().collect());
    let changed = before.symmetric_difference(&now);
    let mark = |line: &str| if now.contains(line) { '+' } else { '-' };
    changed.map(|line| format!("{}{line}\n", mark(line))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removed_and_added_lines_are_shown() {
        let (before, now) = ("fn a()\nfn b()\nfn d()\n", "fn a()\nfn b(i8)\nfn c()\nfn d()\n");
        assert_eq!(changes(before, now), "-fn b()\n+fn b(i8)\n+fn c()\n");
        assert_eq!(changes(now, now), "");
    }
}

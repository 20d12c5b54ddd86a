//! `man`: prints or writes the manual pages, one for each command.

use std::path::{Path, PathBuf};

use clap_mangen::Man;
use forklore::api::{ManPage, ManPages};

use crate::app::App;
use crate::failure::{Failure, Result};
use crate::output::{Output, Tone, count};
use crate::usage;

const EXAMPLES: &str = "\
Examples:
  forklore man fork | man -l -
  forklore man --out ~/.local/share/man/man1      then: man forklore-fork";

/// Print a manual page, or write them all
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Print the page of this command, such as fork or op-undo [default: the program's]
    #[arg(value_name = "COMMAND")]
    page: Option<String>,
    /// Write every page into this folder
    #[arg(long, value_name = "DIR", conflicts_with = "page")]
    out: Option<PathBuf>,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let pages = pages(app.program());
    if let Some(dir) = &args.out {
        return write(dir, &pages, output);
    }
    let name =
        args.page.as_deref().map_or_else(|| "forklore".into(), |verb| format!("forklore-{verb}"));
    let Some(page) = pages.iter().find(|page| page.name == name) else {
        let typed = args.page.as_deref().unwrap_or_default();
        let message = format!("forklore has no command {}", usage::typed(typed));
        let verbs = pages.iter().filter_map(|page| page.name.strip_prefix("forklore-"));
        return Err(usage::no_such(message, typed, verbs).or_try("forklore --help"));
    };
    let answer = ManPage { page: page.name.clone(), text: page.text.clone() };
    output.verbatim(&answer, &answer.text)
}

/// The text of a manual page, and its name without the section number.
struct Page {
    name: String,
    text: String,
}

/// Returns all manual pages, starting with the page of the program itself.
fn pages(program: clap::Command) -> Vec<Page> {
    let mut program = program.disable_help_subcommand(true);
    program.build();
    let mut pages = vec![page(program.clone(), "forklore".into())];
    for verb in program.get_subcommands() {
        let name = format!("forklore-{}", verb.get_name());
        for under in verb.get_subcommands().filter(|under| under.get_name() != "help") {
            let name = format!("{name}-{}", under.get_name());
            pages.push(page(under.clone().display_name(&name), name));
        }
        pages.push(page(verb.clone().display_name(&name), name));
    }
    pages
}

fn page(command: clap::Command, name: String) -> Page {
    let source = concat!("forklore ", env!("CARGO_PKG_VERSION"));
    let mut text = Vec::new();
    // Rendering to memory cannot fail.
    let _ = Man::new(command).source(source).manual("forklore").render(&mut text);
    // The generator names the section after the options EXTRA; rename this section.
    let text =
        String::from_utf8_lossy(&text).replace("\n.SH EXTRA\n", "\n.SH NOTES AND EXAMPLES\n");
    Page { name, text }
}

/// Writes all pages to a folder. Overwrites existing pages, because they are generated and may come
/// from an older version.
fn write(dir: &Path, pages: &[Page], output: &mut Output) -> Result<()> {
    let failed = |path: &Path| {
        let doing = format!("writing {}", path.display());
        move |source| Failure::File { doing, source }
    };
    std::fs::create_dir_all(dir).map_err(failed(dir))?;
    let mut written = ManPages { dir: dir.to_owned(), pages: Vec::new() };
    for page in pages {
        let file = format!("{}.1", page.name);
        let path = dir.join(&file);
        std::fs::write(&path, &page.text).map_err(failed(&path))?;
        written.pages.push(file);
    }
    output.answer(&written, |page| {
        page.put(Tone::Good, "Wrote ").put(Tone::Plain, count(written.pages.len() as u64, "page"));
        page.put(Tone::Plain, " to ").put(Tone::Strong, dir.display()).end();
    })
}

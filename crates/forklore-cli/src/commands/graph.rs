//! `graph`: exports the families of sessions as RDF.

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use forklore::api::{Graph, GraphFile, Vocabulary};
use forklore::core::workspace::Workspace;
use forklore::graph::{Format, ONTOLOGY, Projection, SHAPES, Scope, write};
use forklore::store::port::Filter;
use forklore::{Engine, Error};

use crate::app::App;
use crate::choice::choice;
use crate::failure::{Failure, Result};
use crate::new_file;
use crate::output::{Output, Tone, count};
use crate::session_ref::SessionRef;

const EXAMPLES: &str = "\
The words are those of PROV-O and a few of forklore's own, which --ontology says. turtle and rdfxml \
leave out in which session's named graph a triple stands.

Examples:
  forklore graph last                                   the family of the last session
  forklore graph --all --format nquads -o sessions.nq   everything, for another triple store
  forklore graph --ontology                             what the words mean
  forklore sparql 'ASK { ?turn fl:isError true }'       ask about it";

/// Write sessions as a knowledge graph (RDF, PROV-O)
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The session whose family is written [default: the families of this folder]
    session: Option<String>,
    /// The RDF format of the graph [default: turtle; with --json, jsonld]
    #[arg(
        long,
        value_name = "FORM",
        value_parser = choice::<Format>(&Format::WORDS)
    )]
    format: Option<Format>,
    /// Write to this new file [default: standard output]
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Replace the file if it is there
    #[arg(long, requires = "output")]
    force: bool,
    /// Print the vocabulary instead
    #[arg(long, conflicts_with_all = ["session", "format", "output", "shapes"])]
    ontology: bool,
    /// Print the SHACL shapes, which a graph must match, instead of sessions
    #[arg(long, conflicts_with_all = ["session", "format", "output"])]
    shapes: bool,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    if args.ontology || args.shapes {
        let turtle = if args.ontology { ONTOLOGY } else { SHAPES };
        return output.verbatim(&Vocabulary { turtle: turtle.to_owned() }, turtle);
    }
    let scope = scope(args.session.as_deref(), app, output)?;
    let (path, overwrite) = (args.output.clone(), args.force);
    let usual = if output.is_json() && path.is_none() { Format::JsonLd } else { Format::default() };
    let format = args.format.unwrap_or(usual);
    let request = Graph { scope, format, path, overwrite };
    tell_if_empty(&request.scope, "forklore graph --all", app, output)?;
    let quads = Projection::new(app.engine()?, &request.scope)?;
    let quads = quads.map(|quads| quads.map_err(Failure::from));
    let Some(path) = &request.path else {
        write(quads, request.format, &mut output.lines())?;
        return Ok(());
    };
    let triples = new_file::write(path, request.overwrite, |file| {
        let mut out = BufWriter::with_capacity(new_file::BUFFER, file);
        let failed = |failure| match failure {
            Failure::Answer(source) => new_file::failed(path)(source),
            other => other,
        };
        let triples = write(quads, request.format, &mut out).map_err(failed)?;
        out.flush().map_err(new_file::failed(path))?;
        Ok(triples)
    })?;
    let answer = GraphFile { path: path.clone(), triples };
    output.answer(&answer, |page| {
        page.put(Tone::Good, "Wrote ").put(Tone::Plain, count(triples, "triple"));
        page.put(Tone::Plain, " to ").put(Tone::Strong, path.display()).end();
    })
}

/// Returns the sessions to read. With `session`, these are the family (all sessions with one root)
/// of that session. Without `session`, these are all sessions if `--all` is given, or else the
/// families that have a session in this folder.
///
/// # Errors
/// `invalid_args`, `not_found`, or an error of the import of a session file.
pub(super) fn scope(session: Option<&str>, app: &App, output: &mut Output) -> Result<Scope> {
    if let Some(session) = session {
        let header = app.session(&SessionRef::parse(session)?, output)?;
        return Ok(Scope::Family(header.id));
    }
    Ok(app.scope()?.workspace.map_or(Scope::Everything, Scope::Workspace))
}

/// If `scope` has no sessions, reports this and suggests a command. `all` is the suggested command
/// that reads the sessions of all folders.
///
/// # Errors
/// When the store cannot be read.
pub(super) fn tell_if_empty(
    scope: &Scope,
    all: &str,
    app: &App,
    output: &mut Output,
) -> Result<()> {
    let workspace = match scope {
        Scope::Family(_) => return Ok(()),
        Scope::Workspace(workspace) => Some(workspace),
        Scope::Everything => None,
    };
    let engine = app.engine()?;
    if !is_empty(engine, workspace)? {
        return Ok(());
    }
    if is_empty(engine, None)? {
        output.remark("There are no sessions yet.");
        output.hint("forklore import --discover", "which agents keep sessions here");
    } else {
        output.remark("There are no sessions in this folder.");
        output.hint(all, "those of every folder");
    }
    Ok(())
}

fn is_empty(engine: &Engine, workspace: Option<&Workspace>) -> Result<bool> {
    let filter = Filter { workspace: workspace.cloned(), deleted: true, ..Filter::default() };
    let first = engine.store().sessions(&filter, None, 1).map_err(Error::from)?;
    Ok(first.sound.is_empty() && first.damaged.is_empty())
}

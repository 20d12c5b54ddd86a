//! `attach`: attaches a file to a session, lists the attachments of a session, or writes one
//! attachment to a file.

mod given;
mod named;

use std::io::{BufWriter, Write};
use std::path::PathBuf;

use forklore::api::{Attach, Attached, AttachmentFile, Attachments, ReadAttachment};
use forklore::core::Header;

use self::given::Given;
use crate::app::App;
use crate::failure::Result;
use crate::new_file;
use crate::output::{Cell, Column, Output, Page, Table, Tone, bytes};
use crate::session_ref::SessionRef;

const EXAMPLES: &str = "\
Examples:
  forklore attach last screenshot.png --text \"this is what I see\"
  curl -s https://example.com/log | forklore attach last - --name build.log
  forklore attach last                              what is attached, inherited files too
  forklore attach last --get screenshot.png -o again.png
  forklore attach last --get sha256:2c26 | sha256sum

The bytes are kept once, whoever names them, and shared by forks. `forklore gc` removes what no \
message names any more.";

/// Attach a file to a session, list what is attached, or get it back
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The session: an id, label or title, or last
    session: String,
    /// The file, or - for standard input [default: list what is attached]
    #[arg(conflicts_with = "get")]
    file: Option<PathBuf>,
    /// The attachment's name [default: the file's name]
    #[arg(long, requires = "file", allow_hyphen_values = true)]
    name: Option<String>,
    /// The media type, like image/png [default: guessed from the name]
    #[arg(long = "type", value_name = "MEDIA", requires = "file")]
    media_type: Option<String>,
    /// The text of the message that attaches the file
    #[arg(long, requires = "file", allow_hyphen_values = true)]
    text: Option<String>,
    /// Write out an attachment: its name, its ref, or the beginning of its ref
    #[arg(long, value_name = "REF")]
    get: Option<String>,
    /// Write to this new file [default: standard output]
    #[arg(short, long, value_name = "PATH", requires = "get")]
    output: Option<PathBuf>,
}

pub(super) fn run(args: &Args, app: &App, output: &mut Output) -> Result<()> {
    let session = SessionRef::parse(&args.session)?;
    if let Some(reference) = &args.get {
        let request = ReadAttachment {
            session_id: app.stored(&session, output)?.id,
            reference: reference.clone(),
            path: args.output.clone(),
        };
        return get(request, app, output);
    }
    let Some(file) = &args.file else {
        return list(&app.stored(&session, output)?, app, output);
    };
    let mut given = Given::open(file)?;
    let name = args.name.clone().or(given.name);
    let by_name = || name.as_deref().and_then(|name| mime_guess::from_path(name).first_raw());
    let mut request = Attach { text: args.text.clone(), ..Attach::default() };
    if let Some(media_type) = args.media_type.as_deref().or_else(by_name) {
        request.media_type = media_type.to_owned();
    }
    request.name = name;
    let header = app.stored(&session, output)?;
    let attached = app.engine()?.attach(&header.id, &mut given.bytes, &request)?;
    output.answer(&attached, |page| added(page, &attached, &header))?;
    output.hint(&format!("forklore attach {}", header.id), "what is attached");
    Ok(())
}

fn added(page: &mut Page, answer: &Attached, header: &Header) {
    page.put(Tone::Good, "Attached ");
    page.put(Tone::Strong, answer.name.as_deref().unwrap_or("what was given"));
    page.put(Tone::Plain, " to ").put(Tone::Label, &header.label);
    page.put(Tone::Plain, "  ").put(Tone::Id, &header.id);
    page.put(Tone::Dim, format!("  seq {}", answer.seq)).end();
    let before = if answer.new { "" } else { ", kept already" };
    page.fact("size", format!("{}{before}", bytes(answer.bytes)));
    page.fact("type", &answer.media_type);
    page.fact("ref", answer.id);
}

fn list(header: &Header, app: &App, output: &mut Output) -> Result<()> {
    let attachments = app.engine()?.attachments(&header.id)?;
    let answer = Attachments { session_id: header.id.clone(), attachments };
    let attachments = &answer.attachments;
    output.answer(&answer, |page| {
        if attachments.is_empty() {
            page.put(Tone::Dim, "Nothing is attached.").end();
            return;
        }
        let mut table = Table::new(&[
            Column::new("SEQ").right(),
            Column::new("NAME").gives_way(),
            Column::new("TYPE").gives_way(),
            Column::new("SIZE").right(),
            Column::new("REF"),
        ]);
        for attachment in attachments {
            let size = attachment.bytes.map_or_else(|| "missing".to_owned(), bytes);
            let tone = if attachment.missing { Tone::Bad } else { Tone::Plain };
            table.row([
                Cell::new(Tone::Dim, attachment.seq.to_string()),
                Cell::new(Tone::Strong, attachment.name.as_deref().unwrap_or_default()),
                Cell::new(Tone::Plain, attachment.media_type.as_str()),
                Cell::new(tone, size),
                Cell::new(Tone::Id, named::short(&attachment.id)),
            ]);
        }
        table.show(page);
    })?;
    let id = &header.id;
    match attachments.iter().find(|attachment| !attachment.missing) {
        None if attachments.is_empty() => {
            output.hint(&format!("forklore attach {id} FILE"), "attach a file");
        }
        None => output.hint(&format!("forklore verify {id}"), "what is missing"),
        Some(sound) => {
            let reference = named::short(&sound.id);
            let get = format!("forklore attach {id} --get {reference} -o PATH");
            output.hint(&get, "get one back");
        }
    }
    Ok(())
}

fn get(request: ReadAttachment, app: &App, output: &mut Output) -> Result<()> {
    let ReadAttachment { session_id, reference, path } = request;
    let engine = app.engine()?;
    let id = named::find(&engine.attachments(&session_id)?, &reference, &session_id)?;
    let Some(path) = path else {
        engine.read_attachment(&id, &mut output.lines())?;
        return Ok(());
    };
    let read = new_file::create(&path, |file| {
        let mut out = BufWriter::new(file);
        let read = engine.read_attachment(&id, &mut out)?;
        out.flush().map_err(new_file::failed(&path))?;
        Ok(read)
    })?;
    let answer = AttachmentFile { path, id, bytes: read };
    output.answer(&answer, |page| {
        page.put(Tone::Good, "Wrote ").put(Tone::Plain, bytes(answer.bytes));
        page.put(Tone::Plain, " to ").put(Tone::Strong, answer.path.display()).end();
    })
}

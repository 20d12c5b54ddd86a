//! What an export writes, in any of the forms that it can have.

use std::io::Write;

use forklore_api::{ExportTo, Exported};
use forklore_core::{Header, Selector};
use forklore_engine::{Engine, Outgoing, Result};
use forklore_page::Format;

/// The name of the form with plain messages, one line each.
const PLAIN: &str = "plain";

/// A session that is about to be written in a form: plain messages, a page, or the session file of an
/// agent.
pub struct Export<'a> {
    engine: &'a Engine,
    header: &'a Header,
    form: Form,
}

enum Form {
    /// Plain messages: all messages, or only those before this message index.
    Plain(Option<u64>),
    /// A page to read, up to this cut.
    Page(Format, Option<Selector>),
    /// A session file in the format of an agent.
    Agent(Box<Outgoing>),
}

impl<'a> Export<'a> {
    /// Prepares an export. The form is `plain` (a JSON line `{role, content}` for each message), `html`
    /// or `markdown` (a page), or the name of an agent.
    ///
    /// # Errors
    /// `invalid_args` if the session has no such cut, `unsupported` for an unknown form or one that
    /// cannot have the session, and failures of the store.
    pub fn new(engine: &'a Engine, header: &'a Header, to: &ExportTo) -> Result<Self> {
        let form = if to.dialect == PLAIN {
            let cut = to.at.as_ref().map(|at| engine.cut(header, at)).transpose()?;
            Form::Plain(cut.map(|cut| cut.index))
        } else if let Some(format) = Format::named(&to.dialect) {
            Form::Page(format, to.at.clone())
        } else {
            Form::Agent(Box::new(engine.export_to(&header.id, to)?))
        };
        Ok(Self { engine, header, form })
    }

    /// Writes the session. Returns how much was written, and what the form cannot have.
    ///
    /// # Errors
    /// `corrupt` or `missing_ancestor` if the session cannot be read, or the error of writing to `out`.
    pub fn write(&self, out: &mut dyn Write) -> Result<Exported> {
        let Self { engine, header, form } = self;
        match form {
            Form::Plain(end) => engine.export_plain_until(&header.id, *end, &mut &mut *out),
            Form::Page(format, at) => {
                forklore_page::write(engine, &header.id, *format, at.as_ref(), out)
            }
            Form::Agent(outgoing) => outgoing.write(out),
        }
    }
}

//! Stores files that are sent with the next prompt.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use forklore_agent::Prompt;
use forklore_agent::media::{Capabilities, media_type};
use forklore_core::limits::{ATTACHMENT_BYTES, ATTACHMENT_NAME_BYTES};
use forklore_engine::{Engine, Pin};

use crate::{Error, Result};

/// The number of leading bytes of a file from which its media type is detected.
const HEAD: u64 = 1 << 20;

/// A stored file that is sent with the next prompt.
#[derive(Clone, Debug)]
pub struct PendingAttachment {
    pin: Arc<Pin>,
    /// The file name without its directory.
    pub name: String,
    /// The media type, determined from the content and the name of the file.
    pub media_type: String,
}

impl PendingAttachment {
    /// Stores a file as an attachment. Detects the media type of images, PDF files and text from
    /// the content. The file name determines the kind of text, and the media type of all other
    /// content.
    ///
    /// # Errors
    /// Returns an error if the path is not a regular file, if the file cannot be read or is too
    /// large, if its name is too long, or if the store does not support attachments.
    pub fn store(engine: &Engine, path: &Path) -> Result<Self> {
        let shown = path.display();
        let failed = |source| Error::Io { doing: format!("reading {shown}"), source };
        let found = std::fs::metadata(path).map_err(failed)?;
        // Check before opening, because opening a pipe can block forever.
        if !found.is_file() {
            let what = if found.is_dir() { "a folder" } else { "no file" };
            return Err(Error::invalid(format!("{shown} is {what}; attach a file")));
        }
        if found.len() > ATTACHMENT_BYTES {
            let is = found.len();
            let message =
                format!("{shown} has {is} bytes; an attachment has at most {ATTACHMENT_BYTES}");
            return Err(Error::invalid(message));
        }
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        if name.len() > ATTACHMENT_NAME_BYTES {
            let is = name.len();
            let message = format!(
                "the name of {shown} has {is} bytes; an attachment's has at most {ATTACHMENT_NAME_BYTES}"
            );
            return Err(Error::invalid(message));
        }
        let mut file = File::open(path).map_err(failed)?;
        let mut head = Vec::new();
        file.by_ref().take(HEAD).read_to_end(&mut head).map_err(failed)?;
        let by_name = mime_guess::from_path(path).first_raw();
        let media_type = media_type(&head, by_name);
        let pin = engine.put_attachment(&mut head.chain(file), ATTACHMENT_BYTES)?;
        Ok(Self { pin: Arc::new(pin), name, media_type })
    }

    /// Adds this file to a prompt.
    #[must_use]
    pub fn add_to(&self, prompt: Prompt) -> Prompt {
        prompt.attach(self.pin.clone(), &self.media_type, Some(&self.name))
    }

    /// Returns the size of the file in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.pin.bytes
    }

    /// Returns a message for users that explains why the model does not receive the file. Returns
    /// `None` if the model receives the file. `takes` describes the files that the model accepts.
    #[must_use]
    pub fn problem(&self, takes: &Capabilities) -> Option<String> {
        if takes.takes(&self.media_type, self.bytes()) {
            return None;
        }
        let Self { name, media_type, .. } = self;
        Some(format!(
            "the model is told of {name} ({media_type}) and does not get it: it takes no such files, or none so large"
        ))
    }
}

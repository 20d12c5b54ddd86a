//! Files that go along with what is said next.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use forklore_agent::Prompt;
use forklore_agent::media::{Takes, media_type};
use forklore_core::limits::{ATTACHMENT_BYTES, ATTACHMENT_NAME_BYTES};
use forklore_engine::{Engine, Held};

use crate::{Error, Result};

/// So much of a file tells what it is.
const HEAD: u64 = 1 << 20;

/// A file that was kept, to go along with what is said next.
#[derive(Clone, Debug)]
pub struct Waiting {
    held: Arc<Held>,
    /// Its name, without its folder.
    pub name: String,
    /// What it is, by its bytes.
    pub media_type: String,
}

impl Waiting {
    /// Keeps a file in the store. What it is, its bytes say; which text it is, its name may.
    ///
    /// # Errors
    /// When it is no file, cannot be read, or is too large, and when the store keeps no
    /// attachments.
    pub fn keep(engine: &Engine, path: &Path) -> Result<Self> {
        let shown = path.display();
        let failed = |source| Error::Io { doing: format!("reading {shown}"), source };
        let found = std::fs::metadata(path).map_err(failed)?;
        // A pipe could be waited for in vain.
        if !found.is_file() {
            let what = if found.is_dir() { "a folder" } else { "no file" };
            return Err(Error::words(format!("{shown} is {what}; attach a file")));
        }
        if found.len() > ATTACHMENT_BYTES {
            let is = found.len();
            let message =
                format!("{shown} has {is} bytes; an attachment has at most {ATTACHMENT_BYTES}");
            return Err(Error::words(message));
        }
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        if name.len() > ATTACHMENT_NAME_BYTES {
            let is = name.len();
            let message = format!(
                "the name of {shown} has {is} bytes; an attachment's has at most {ATTACHMENT_NAME_BYTES}"
            );
            return Err(Error::words(message));
        }
        let mut file = File::open(path).map_err(failed)?;
        let mut head = Vec::new();
        file.by_ref().take(HEAD).read_to_end(&mut head).map_err(failed)?;
        let by_name = mime_guess::from_path(path).first_raw();
        let media_type = media_type(&head, by_name);
        let held = engine.keep_attachment(&mut head.chain(file), ATTACHMENT_BYTES)?;
        Ok(Self { held: Arc::new(held), name, media_type })
    }

    /// The prompt with this file.
    #[must_use]
    pub fn along(&self, prompt: Prompt) -> Prompt {
        prompt.attach(self.held.clone(), &self.media_type, Some(&self.name))
    }

    /// How many bytes it has.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.held.bytes
    }

    /// What a model that takes so much is not going to see of it, for people.
    #[must_use]
    pub fn problem(&self, takes: &Takes) -> Option<String> {
        if takes.takes(&self.media_type, self.bytes()) {
            return None;
        }
        let Self { name, media_type, .. } = self;
        Some(format!(
            "the model is told of {name} ({media_type}) and does not get it: it takes no such files, or none so large"
        ))
    }
}

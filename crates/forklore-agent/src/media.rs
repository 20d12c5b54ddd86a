//! Attachments of a request: images, documents and text files.
//!
//! A model declares its [`Capabilities`]. The bytes of the attachments that a history references
//! are read once ([`Attached`]) and converted into the form in which they are sent ([`Media`]). An
//! [`Allowance`] decides about each of them, in the order of the request, whether it is sent. So
//! what is sent for a message depends on the messages before it and never on those after it
//! (docs/semantics.md, Model requests).

mod allowance;
mod attached;
mod sniff;

pub use allowance::Allowance;
pub use attached::Attached;
pub(crate) use attached::{Named, named};
pub use sniff::{Sniffed, media_type, sniff};

/// The attachments that a request to a model may carry. The default is none: the model sees only
/// their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// The accepted media types of images.
    pub images: &'static [&'static str],
    /// Whether the model accepts PDF.
    pub documents: bool,
    /// Maximum size of one image or document, in bytes of base64.
    pub most: usize,
    /// Maximum size of all attachments of a request, in bytes of base64 or text.
    pub most_together: usize,
    /// Maximum number of images in a request.
    pub most_images: usize,
    /// Maximum length of an image's longer side, in pixels; `None` is no limit.
    pub side: Option<u32>,
    /// A stricter limit for requests with many images.
    pub crowd: Option<Crowd>,
    /// Maximum size of an attached text, in bytes. Of a longer one only the name is sent.
    pub text: usize,
}

/// A stricter limit for each image in a request with many images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crowd {
    /// The largest number of images for which the limit does not apply.
    pub images: usize,
    /// Maximum length of each image's longer side in a request with more images, in pixels.
    pub side: u32,
}

impl Capabilities {
    /// Returns the maximum size of an attachment of this media type, in bytes before base64. A
    /// larger one is never sent. `None` means that the model does not accept the type.
    fn most_of(&self, media_type: &str) -> Option<usize> {
        if is_text(media_type) {
            return Some(self.text);
        }
        let is_shown = media_type.starts_with("image/") && !self.images.is_empty()
            || media_type == PDF && self.documents;
        is_shown.then_some(self.most / 4 * 3)
    }

    /// Checks whether an attachment of this media type and size is sent if the request has space
    /// for it, and not only named.
    #[must_use]
    pub fn takes(&self, media_type: &str, bytes: u64) -> bool {
        let most = self.most_of(media_type).and_then(|most| u64::try_from(most).ok());
        most.is_some_and(|most| bytes <= most) && (is_text(media_type) || self.has(media_type))
    }

    fn has(&self, media_type: &str) -> bool {
        self.images.contains(&media_type) || media_type == PDF && self.documents
    }
}

/// An attachment in the form in which it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Media {
    /// An image or a document.
    Shown {
        /// Its type, detected from its bytes.
        sniffed: Sniffed,
        /// Its bytes, as base64.
        base64: String,
    },
    /// A string, which is sent as plain text.
    Text(String),
}

/// Why an attachment is only named and not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotSent {
    /// The model does not accept this type.
    #[error("not sent")]
    NotAccepted,
    /// Its bytes are missing in the store, or damaged there.
    #[error("not sent, its bytes are missing")]
    Missing,
    /// Its bytes are damaged, or not of the declared type.
    #[error("not sent, it cannot be read")]
    Unreadable,
    /// It has more bytes than the model accepts.
    #[error("not sent, it is too large")]
    TooLarge,
    /// Its sides are longer than the model accepts.
    #[error("not sent, it has too many pixels")]
    TooManyPixels,
    /// The attachments before it used up the limits of the request.
    #[error("not sent, the request has no room for more")]
    OverLimit,
}

pub(crate) const PDF: &str = "application/pdf";

/// Checks whether data of this media type is text that can be read as it is.
fn is_text(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or(media_type).trim();
    let Some((kind, rest)) = essence.split_once('/') else { return false };
    let text_types =
        ["json", "xml", "toml", "yaml", "x-yaml", "javascript", "x-sh", "x-ndjson", "sql"];
    kind == "text"
        || kind == "application" && text_types.contains(&rest)
        || rest.ends_with("+json")
        || rest.ends_with("+xml")
}

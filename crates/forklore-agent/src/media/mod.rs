//! Attachments of a request: images, documents, text files.
//!
//! A model says its [`Capabilities`]. The bytes of the attachments that a history names are read once
//! ([`Attached`]) and made what they are sent as ([`Media`]); an [`Allowance`] says of one after the
//! other, from the beginning of a request on, whether it is sent. So what is sent of a message
//! depends on what stands before it and never on what comes behind (SPEC 15).

mod allowance;
mod attached;
mod sniff;

pub use allowance::Allowance;
pub use attached::Attached;
pub(crate) use attached::{Named, named};
pub use sniff::{Sniffed, media_type, sniff};

/// What a request to a model may carry. By default nothing: the model sees names only.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// The media types of images.
    pub images: &'static [&'static str],
    /// Whether it takes PDF.
    pub documents: bool,
    /// The most bytes of an image or a document, as base64.
    pub most: usize,
    /// The most bytes of all that goes along with a request, as base64.
    pub most_together: usize,
    /// The most images of a request.
    pub most_images: usize,
    /// The longest side of an image, in pixels; none is any.
    pub side: Option<u32>,
    /// What holds for a request of many images.
    pub crowd: Option<Crowd>,
    /// The most bytes of a text that is attached: a longer one is named.
    pub text: usize,
}

/// A request of many images, in which each has to be smaller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crowd {
    /// So many images are not many yet.
    pub images: usize,
    /// The longest side of each in a request of more of them.
    pub side: u32,
}

impl Capabilities {
    /// The most bytes of an attachment of this media type that are of any use: none is sent of a
    /// larger one.
    fn most_of(&self, media_type: &str) -> Option<usize> {
        if is_text(media_type) {
            return Some(self.text);
        }
        let is_shown = media_type.starts_with("image/") && !self.images.is_empty()
            || media_type == PDF && self.documents;
        is_shown.then_some(self.most / 4 * 3)
    }

    /// Whether an attachment of this media type and so many bytes is sent where there is room, and
    /// not only named.
    #[must_use]
    pub fn takes(&self, media_type: &str, bytes: u64) -> bool {
        let most = self.most_of(media_type).and_then(|most| u64::try_from(most).ok());
        most.is_some_and(|most| bytes <= most) && (is_text(media_type) || self.has(media_type))
    }

    fn has(&self, media_type: &str) -> bool {
        self.images.contains(&media_type) || media_type == PDF && self.documents
    }
}

/// Bytes in the form in which they are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Media {
    /// An image or a document.
    Shown {
        /// What it is, by its bytes.
        sniffed: Sniffed,
        /// The bytes, as base64.
        base64: String,
    },
    /// A text, which is sent as one.
    Text(String),
}

/// Why an attachment is named and not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotSent {
    /// The model takes nothing of this sort.
    #[error("not sent")]
    NotAccepted,
    /// The store has not got its bytes, or has them damaged.
    #[error("not sent, its bytes are missing")]
    Missing,
    /// Its bytes are not what the name says, or damaged.
    #[error("not sent, it cannot be read")]
    Unreadable,
    /// It has more bytes than the model takes.
    #[error("not sent, it is too large")]
    TooLarge,
    /// It has longer sides than the model takes.
    #[error("not sent, it has too many pixels")]
    TooManyPixels,
    /// What stands before it in the request left no room.
    #[error("not sent, the request has no room for more")]
    OverLimit,
}

pub(crate) const PDF: &str = "application/pdf";

/// Whether bytes of this media type are a text that can be read as it is.
fn is_text(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or(media_type).trim();
    let Some((kind, rest)) = essence.split_once('/') else { return false };
    let known = ["json", "xml", "toml", "yaml", "x-yaml", "javascript", "x-sh", "x-ndjson", "sql"];
    kind == "text"
        || kind == "application" && known.contains(&rest)
        || rest.ends_with("+json")
        || rest.ends_with("+xml")
}

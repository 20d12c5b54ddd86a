//! The attachments of a request: images, documents and text files.
//!
//! A model declares its [`Capabilities`]. The kernel reads the bytes of each attachment only once,
//! even if a history references it several times ([`Attached`]). It converts each attachment to the
//! form in which a request contains it ([`Media`]). An [`Allowance`] decides about the attachments
//! one by one, in the order of the request. A later message therefore never changes which
//! attachments of an earlier message are sent (docs/semantics.md, Model requests).

mod allowance;
mod attached;
mod sniff;

pub use allowance::Allowance;
pub use attached::Attached;
pub(crate) use attached::{Named, named};
pub use sniff::{Sniffed, media_type, sniff};

/// The attachments that a request to a model may contain. The default is none: the model then
/// receives only the names of attachments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// The media types of images that the model accepts.
    pub images: &'static [&'static str],
    /// Whether the model accepts PDF documents.
    pub documents: bool,
    /// Maximum size of one image or document, in bytes of base64.
    pub most: usize,
    /// Maximum size of all attachments of a request, in bytes of base64 or text.
    pub most_together: usize,
    /// Maximum number of images in a request.
    pub most_images: usize,
    /// Maximum length of an image's longer side, in pixels; `None` means no limit.
    pub side: Option<u32>,
    /// A stricter limit of the image size for requests with many images; `None` means no such
    /// limit.
    pub crowd: Option<Crowd>,
    /// Maximum size of an attached text, in bytes. Of a longer text, only the name is sent.
    pub text: usize,
}

/// A stricter limit of the image size for a request with many images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crowd {
    /// A request with at most this number of images is exempt from the limit.
    pub images: usize,
    /// Maximum length of each image's longer side in pixels, in a request with more than `images`
    /// images.
    pub side: u32,
}

impl Capabilities {
    /// Returns the maximum size of an attachment of this media type, in bytes before base64. A
    /// larger attachment is never sent. Returns `None` if the model accepts no attachments of this
    /// kind. All image types are one kind: a model that accepts one of them has a maximum for all.
    fn most_of(&self, media_type: &str) -> Option<usize> {
        if is_text(media_type) {
            return Some(self.text);
        }
        let is_shown = media_type.starts_with("image/") && !self.images.is_empty()
            || media_type == PDF && self.documents;
        is_shown.then_some(self.most / 4 * 3)
    }

    /// Checks whether the model accepts an attachment with this media type and size. The bytes of
    /// an accepted attachment are sent if the request has space for them. Of any other attachment,
    /// only the name is sent.
    #[must_use]
    pub fn takes(&self, media_type: &str, bytes: u64) -> bool {
        let most = self.most_of(media_type).and_then(|most| u64::try_from(most).ok());
        most.is_some_and(|most| bytes <= most) && (is_text(media_type) || self.has(media_type))
    }

    fn has(&self, media_type: &str) -> bool {
        self.images.contains(&media_type) || media_type == PDF && self.documents
    }
}

/// The content of an attachment in the form in which a request contains it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Media {
    /// An image or a document, which is sent as base64.
    Shown {
        /// The media type and image size, detected from the bytes.
        sniffed: Sniffed,
        /// The bytes of the attachment as base64.
        base64: String,
    },
    /// A text file, which is sent as plain text.
    Text(String),
}

/// Why only the name of an attachment is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotSent {
    /// The model does not accept the attachment's media type.
    #[error("not sent")]
    NotAccepted,
    /// The store does not have the attachment's bytes, or has them in a damaged form.
    #[error("not sent, its bytes are missing")]
    Missing,
    /// The attachment's bytes are not a readable image, document or text of the declared media
    /// type.
    #[error("not sent, it cannot be read")]
    Unreadable,
    /// The attachment has more bytes than the model accepts.
    #[error("not sent, it is too large")]
    TooLarge,
    /// A side of the image is longer than the model accepts.
    #[error("not sent, it has too many pixels")]
    TooManyPixels,
    /// The earlier attachments of the request leave too little space for this attachment.
    #[error("not sent, the request has no room for more")]
    OverLimit,
}

pub(crate) const PDF: &str = "application/pdf";

/// Checks whether this media type means text that a model can read without conversion.
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

//! Puts images into the page as `data:` URIs.

use std::borrow::Cow;
use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use forklore_core::AttachmentId;
use forklore_engine::Engine;
use forklore_sanitize::html::text;

use super::blocks::Images;
use crate::block::Source;

/// The types of images in a page. None of these types can contain a script or a link.
const TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// The maximum length of one image in the page, in bytes of base64.
const MOST: usize = 4 << 20;

/// The maximum total length of all images in the page, in bytes of base64.
const MOST_TOGETHER: usize = 32 << 20;

/// Returns the media type as pages name it, if pages show images of this type.
#[must_use]
pub fn shown_type(media_type: &str) -> Option<&'static str> {
    TYPES.into_iter().find(|allowed| media_type.eq_ignore_ascii_case(allowed))
}

/// A reader of the images of a page. It reads images until their total length reaches the maximum.
pub(super) struct Embedded<'e> {
    engine: &'e Engine,
    left: usize,
}

impl<'e> Embedded<'e> {
    pub(super) fn new(engine: &'e Engine) -> Self {
        Self { engine, left: MOST_TOGETHER }
    }

    fn base64<'s>(&self, source: &'s Source) -> Option<(&'static str, Cow<'s, str>)> {
        match source {
            Source::Inline { media_type, base64 } => {
                let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"+/=".contains(&b);
                let fits = base64.len() <= MOST && base64.bytes().all(is_plain);
                Some((shown_type(media_type)?, Cow::Borrowed(fits.then_some(base64)?)))
            }
            Source::Attachment { media_type, reference } => {
                let media_type = shown_type(media_type)?;
                let id: AttachmentId = reference.parse().ok()?;
                let mut bytes = Limited(Vec::new());
                self.engine.read_attachment(&id, &mut bytes).ok()?;
                Some((media_type, Cow::Owned(STANDARD.encode(bytes.0))))
            }
            Source::Link(_) | Source::None => None,
        }
    }
}

impl Images for Embedded<'_> {
    /// Returns an image as HTML. `None` if the image is of a type that pages do not contain, is too
    /// large, or cannot be read.
    fn html(&mut self, source: &Source, description: &str) -> Option<String> {
        let (media_type, base64) = self.base64(source)?;
        self.left = self.left.checked_sub(base64.len())?;
        Some(format!(
            "<img src=\"data:{media_type};base64,{base64}\" alt=\"{}\">\n",
            text(description)
        ))
    }
}

/// A buffer for the bytes of one image. A write fails if the image would be too large for the page.
struct Limited(Vec<u8>);

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Three bytes are four characters of base64.
        if self.0.len() + bytes.len() > MOST / 4 * 3 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

//! Detects media types from the first bytes of the data. A file name alone never makes the data an
//! image, a PDF or a text.

use imagesize::ImageType;

use super::PDF;

/// The type and size of an image or a document, detected from its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sniffed {
    /// The detected media type.
    pub media_type: &'static str,
    /// Width and height of an image in pixels; `None` for a document.
    pub size: Option<(u32, u32)>,
}

/// Detects an image (PNG, JPEG, GIF, WebP) or a PDF from its first bytes. Returns `None` for other
/// data, and for an image whose bytes do not state its width and height: providers do not accept
/// such an image.
#[must_use]
pub fn sniff(bytes: &[u8]) -> Option<Sniffed> {
    if bytes.starts_with(b"%PDF-") {
        return Some(Sniffed { media_type: PDF, size: None });
    }
    let media_type = match imagesize::image_type(bytes).ok()? {
        ImageType::Png => "image/png",
        ImageType::Jpeg => "image/jpeg",
        ImageType::Gif => "image/gif",
        ImageType::Webp => "image/webp",
        _ => return None,
    };
    let size = imagesize::blob_size(bytes).ok()?;
    let side = |pixels: usize| u32::try_from(pixels).ok().filter(|pixels| *pixels > 0);
    Some(Sniffed { media_type, size: Some((side(size.width)?, side(size.height)?)) })
}

/// Returns the media type of a file that begins with `head`. `by_name` is the type that the file's
/// name suggests.
///
/// - An image or a PDF is detected from its bytes.
/// - If the bytes are text, the type is `by_name` if `by_name` is a text type, otherwise
///   `text/plain`.
/// - For other bytes, the type is `by_name` unless `by_name` is a text type, an image type or PDF.
///   In that case, or if `by_name` is `None`, the type is `application/octet-stream`.
#[must_use]
pub fn media_type(head: &[u8], by_name: Option<&str>) -> String {
    if let Some(Sniffed { media_type, .. }) = sniff(head) {
        return media_type.to_owned();
    }
    let is_text = match std::str::from_utf8(head) {
        Ok(text) => !text.contains('\0'),
        // The head may end in the middle of a character.
        Err(error) => error.error_len().is_none() && !head.contains(&0),
    };
    match by_name.filter(|by_name| super::is_text(by_name)) {
        Some(by_name) if is_text => by_name.to_owned(),
        _ if is_text => "text/plain".to_owned(),
        // Only the name of audio, video and other data is sent, never the bytes. Therefore the file
        // name may determine the type.
        _ => {
            let declared = by_name.filter(|by_name| {
                !super::is_text(by_name) && !by_name.starts_with("image/") && *by_name != PDF
            });
            declared.unwrap_or("application/octet-stream").to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The beginning of a PNG, up to and including its size.
    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x58\0\0\0\x86\x08\x06\0\0\0";
    const GIF: &[u8] = b"GIF89a\x03\0\x02\0\x80\0\0";
    const JPEG: &[u8] = b"\xff\xd8\xff\xe0\0\x10JFIF\0\x01\x01\0\0\x01\0\x01\0\0\
        \xff\xc0\0\x11\x08\0\x02\0\x03\x03\x01\"\0\x02\x11\x01\x03\x11\x01";
    const WEBP: &[u8] = b"RIFF\x1a\0\0\0WEBPVP8L\x0d\0\0\0/\x02\x40\0\0\x00\x07\x10\x11\x11\x88";

    #[test]
    fn images_are_recognised_by_their_bytes() {
        let of = |media_type, size| Some(Sniffed { media_type, size });
        assert_eq!(sniff(PNG), of("image/png", Some((600, 134))));
        assert_eq!(sniff(GIF), of("image/gif", Some((3, 2))));
        assert_eq!(sniff(JPEG), of("image/jpeg", Some((3, 2))));
        assert_eq!(sniff(WEBP), of("image/webp", Some((3, 2))));
        assert_eq!(sniff(b"%PDF-1.7\n"), of("application/pdf", None));
        for other in [&b""[..], b"BM\x3a\0\0\0", &PNG[..12], &JPEG[..20], b"GIF89a\0\0\0\0\x80"] {
            assert_eq!(sniff(other), None, "{other:?}");
        }
    }

    #[test]
    fn a_name_is_not_trusted() {
        assert_eq!(media_type(PNG, Some("text/plain")), "image/png");
        assert_eq!(media_type(b"<html>", Some("image/png")), "text/plain");
        assert_eq!(media_type(b"{}", Some("application/json")), "application/json");
        assert_eq!(media_type("caf\u{e9}".as_bytes(), None), "text/plain");
        assert_eq!(media_type(&"caf\u{e9}".as_bytes()[..4], None), "text/plain");
        assert_eq!(media_type(b"\xff\0", Some("application/pdf")), "application/octet-stream");
        assert_eq!(media_type(b"a\0b", Some("text/plain")), "application/octet-stream");
        assert_eq!(media_type(b"OggS\0", Some("audio/ogg")), "audio/ogg");
    }
}

//! Decides which attachments of a request are sent, in the order of the request.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use super::{Capabilities, Media, NotSent, Sniffed, sniff};

/// Number of base64 characters whose bytes usually suffice to identify an image. If they do not,
/// the whole image is decoded.
const HEAD: usize = 64 << 10;

/// Tracks how much of a request's attachment limits remains. Attachments use up the limits in the
/// order of the messages.
#[derive(Clone, Debug)]
pub struct Allowance<'a> {
    takes: &'a Capabilities,
    bytes: usize,
    images: usize,
    /// The longest side in pixels of all images that were accepted so far.
    longest: u32,
}

impl<'a> Allowance<'a> {
    /// Returns the allowance of an empty request to a model with these capabilities.
    #[must_use]
    pub fn of(takes: &'a Capabilities) -> Self {
        Self { takes, bytes: 0, images: 0, longest: 0 }
    }

    /// Accepts an attachment if the request has space for it. A rejected attachment uses no space.
    ///
    /// # Errors
    /// Returns the reason why the attachment is not sent.
    pub fn take(&mut self, media: &Media) -> Result<(), NotSent> {
        match media {
            Media::Shown { sniffed, base64 } => self.take_shown(sniffed, base64.len()),
            Media::Text(text) if text.len() > self.takes.text => Err(NotSent::TooLarge),
            Media::Text(text) => self.fill(text.len()),
        }
    }

    /// Accepts an image or a document that is in a message itself, as base64 data. Returns the type
    /// that was detected from its bytes.
    ///
    /// # Errors
    /// Returns the reason why the data is not sent.
    pub fn take_base64(&mut self, media_type: &str, base64: &str) -> Result<Sniffed, NotSent> {
        let most = self.takes.most_of(media_type).filter(|_| !super::is_text(media_type));
        if most.is_none() {
            return Err(NotSent::NotAccepted);
        }
        if base64.len() > self.takes.most {
            return Err(NotSent::TooLarge);
        }
        let sniffed = sniff_base64(base64).ok_or(NotSent::Unreadable)?;
        self.take_shown(&sniffed, base64.len())?;
        Ok(sniffed)
    }

    fn take_shown(&mut self, sniffed: &Sniffed, bytes: usize) -> Result<(), NotSent> {
        if !self.takes.has(sniffed.media_type) {
            return Err(NotSent::NotAccepted);
        }
        if bytes > self.takes.most {
            return Err(NotSent::TooLarge);
        }
        let Some((width, height)) = sniffed.size else { return self.fill(bytes) };
        let longest = self.longest.max(width).max(height);
        if self.takes.side.is_some_and(|side| width.max(height) > side) {
            return Err(NotSent::TooManyPixels);
        }
        let images = self.images + 1;
        // An accepted image stays accepted. After an image that is too large for a request with
        // many images, accept further images only while the request still has few images.
        let is_crowded =
            self.takes.crowd.is_some_and(|crowd| images > crowd.images && longest > crowd.side);
        if images > self.takes.most_images || is_crowded {
            return Err(NotSent::OverLimit);
        }
        self.fill(bytes)?;
        (self.images, self.longest) = (images, longest);
        Ok(())
    }

    fn fill(&mut self, bytes: usize) -> Result<(), NotSent> {
        let filled = self.bytes + bytes;
        if filled > self.takes.most_together {
            return Err(NotSent::OverLimit);
        }
        self.bytes = filled;
        Ok(())
    }
}

/// Detects the type of base64 data. Returns `None` if the type is unknown, the data is incomplete,
/// or the data is not in the standard encoding. All providers accept the standard encoding.
fn sniff_base64(base64: &str) -> Option<Sniffed> {
    let digits = base64.trim_end_matches('=');
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'+' || byte == b'/';
    let is_sound = base64.len().is_multiple_of(4)
        && base64.len() - digits.len() <= 2
        && digits.bytes().all(is_digit);
    if !is_sound {
        return None;
    }
    let bytes = |base64: &str| BASE64_STANDARD.decode(base64).ok();
    let head = base64.get(..HEAD).and_then(bytes).and_then(|head| sniff(&head));
    head.or_else(|| sniff(&bytes(base64)?))
}

#[cfg(test)]
mod tests {
    use super::super::Crowd;
    use super::*;

    const TAKES: Capabilities = Capabilities {
        images: &["image/png"],
        documents: false,
        most: 100,
        most_together: 250,
        most_images: 5,
        side: Some(100),
        crowd: Some(Crowd { images: 2, side: 20 }),
        text: 50,
    };

    fn image(media_type: &'static str, side: u32, bytes: usize) -> Media {
        let sniffed = Sniffed { media_type, size: Some((side, 1)) };
        Media::Shown { sniffed, base64: "A".repeat(bytes) }
    }

    fn png(side: u32, bytes: usize) -> Media {
        image("image/png", side, bytes)
    }

    fn allowed(all: &[Media]) -> Vec<Result<(), NotSent>> {
        let mut allowance = Allowance::of(&TAKES);
        all.iter().map(|media| allowance.take(media)).collect()
    }

    #[test]
    fn a_full_request_keeps_what_it_has() {
        let all = [png(1, 100), png(1, 101), png(1, 90), png(1, 61), png(1, 60), png(1, 1)];
        let (no, large) = (Err(NotSent::OverLimit), Err(NotSent::TooLarge));
        assert_eq!(allowed(&all), [Ok(()), large, Ok(()), no, Ok(()), no]);
    }

    #[test]
    fn a_large_image_among_few_allows_no_crowd() {
        let one = |side| png(side, 1);
        let no = Err(NotSent::OverLimit);
        assert_eq!(allowed(&[one(21), one(1), one(1), one(1)]), [Ok(()), Ok(()), no, no]);
        let all = [one(20), one(1), one(1), one(21), one(1), one(2), one(3)];
        assert_eq!(allowed(&all), [Ok(()), Ok(()), Ok(()), no, Ok(()), Ok(()), no]);
        assert_eq!(allowed(&[one(101), one(100)]), [Err(NotSent::TooManyPixels), Ok(())]);
    }

    #[test]
    fn what_a_model_does_not_take_is_not_sent() {
        let all = [
            image("image/gif", 1, 1),
            Media::Text("x".repeat(50)),
            Media::Text("x".repeat(51)),
            Media::Shown {
                sniffed: Sniffed { media_type: "application/pdf", size: None },
                base64: "JVBE".into(),
            },
        ];
        let no = Err(NotSent::NotAccepted);
        assert_eq!(allowed(&all), [no, Ok(()), Err(NotSent::TooLarge), no]);
        let nothing = Capabilities::default();
        assert_eq!(Allowance::of(&nothing).take(&png(1, 1)), no);
        assert_eq!(
            Allowance::of(&nothing).take_base64("image/png", "AA=="),
            no.map(|()| unreachable())
        );
    }

    fn unreachable() -> Sniffed {
        Sniffed { media_type: "", size: None }
    }

    #[test]
    fn base64_has_to_match_its_media_type() {
        let takes = Capabilities { most: 1 << 20, most_together: 1 << 20, ..TAKES };
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x03\x08\x06\0\0\0";
        let sound = BASE64_STANDARD.encode(png);
        let mut allowance = Allowance::of(&takes);
        let sniffed = Sniffed { media_type: "image/png", size: Some((2, 3)) };
        assert_eq!(allowance.take_base64("image/jpeg", &sound), Ok(sniffed));
        let broken = [
            sound.replace('=', "") + "\n",
            sound.replace('/', "_") + "_",
            sound[..8].to_owned(),
            String::new(),
            "====".to_owned(),
            "AAAA".to_owned(),
        ];
        for base64 in broken {
            let accepted = allowance.take_base64("image/png", &base64);
            assert_eq!(accepted, Err(NotSent::Unreadable), "{base64}");
        }
        assert_eq!(allowance.take_base64("audio/ogg", &sound), Err(NotSent::NotAccepted));
        // The size in a JPEG may come after a long preview.
        let mut jpeg = b"\xff\xd8".to_vec();
        for _ in 0..2 {
            jpeg.extend(b"\xff\xe1\xff\xff");
            jpeg.extend(vec![0; 0xfffd]);
        }
        jpeg.extend(b"\xff\xc0\0\x11\x08\0\x02\0\x03\x03\x01\"\0\x02\x11\x01\x03\x11\x01");
        let takes = Capabilities { images: &["image/jpeg"], ..takes };
        let sniffed = Sniffed { media_type: "image/jpeg", size: Some((3, 2)) };
        let base64 = BASE64_STANDARD.encode(jpeg);
        assert_eq!(Allowance::of(&takes).take_base64("image/jpeg", &base64), Ok(sniffed));
    }
}

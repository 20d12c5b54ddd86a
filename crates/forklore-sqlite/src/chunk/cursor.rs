//! Decodes numbers and texts that the crate `postcard` encoded, many times faster than that crate
//! does. A cursor decodes the heads of chunks: the fields of their events without the payloads. A
//! long session has very many heads.

/// The bytes that are not decoded yet. A method returns `None` if the bytes do not begin with a
/// value of the kind that it decodes.
#[derive(Clone)]
pub(super) struct Cursor<'a>(pub(super) &'a [u8]);

impl<'a> Cursor<'a> {
    #[inline]
    pub(super) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    #[inline]
    pub(super) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(bytes)
    }

    /// Decodes an unsigned number: seven bits per byte, the lowest first. The highest bit of a byte
    /// says whether another one follows.
    #[inline(always)]
    pub(super) fn number(&mut self) -> Option<u64> {
        // Most numbers have one byte.
        if let [first @ ..0x80, rest @ ..] = self.0 {
            self.0 = rest;
            return Some(u64::from(*first));
        }
        if let Some(word) = self.0.first_chunk() {
            let word = u64::from_le_bytes(*word);
            let last = !word & 0x8080_8080_8080_8080;
            if last != 0 {
                let len = last.trailing_zeros() as usize / 8 + 1;
                self.0 = self.0.get(len..)?;
                return Some(seven_bits_each(word & (last ^ (last - 1))));
            }
        }
        self.long_number()
    }

    /// Decodes a number of more than eight bytes, or one at the end of the bytes.
    #[cold]
    fn long_number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            number |= bits << shift;
            if byte < 0x80 {
                // Only the lowest bit of a tenth byte belongs to the number.
                return (bits << shift >> shift == bits).then_some(number);
            }
        }
        None
    }

    #[inline]
    pub(super) fn short(&mut self) -> Option<u32> {
        self.number()?.try_into().ok()
    }

    /// Decodes a signed number. It is encoded as an unsigned number with the sign in the lowest
    /// bit.
    #[inline]
    pub(super) fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    #[inline]
    pub(super) fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = self.number()?.try_into().ok()?;
        self.take(len)
    }

    #[inline]
    pub(super) fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }

    /// Decodes an optional value. If there is a value, calls `decode` for it. The result is
    /// `Some(None)` if the bytes say that there is no value.
    #[inline]
    pub(super) fn some<T>(
        &mut self,
        decode: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<Option<T>> {
        match self.byte()? {
            0 => Some(None),
            1 => decode(self).map(Some),
            _ => None,
        }
    }
}

/// Joins the lower seven bits of each byte, the lowest byte first.
#[inline]
fn seven_bits_each(word: u64) -> u64 {
    // Each step joins neighbours: bytes, then pairs of bytes, then halves of the word.
    let word = (word & 0x007f_007f_007f_007f) | ((word & 0x7f00_7f00_7f00_7f00) >> 1);
    let word = (word & 0x0000_3fff_0000_3fff) | ((word & 0x3fff_0000_3fff_0000) >> 2);
    (word & 0x0fff_ffff) | ((word & 0x0fff_ffff_0000_0000) >> 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decodes `bytes` with `decode`. Returns `None` if bytes are left over or cannot be decoded.
    fn whole<'a, T>(
        bytes: &'a [u8],
        decode: impl FnOnce(&mut Cursor<'a>) -> Option<T>,
    ) -> Option<T> {
        let mut cursor = Cursor(bytes);
        decode(&mut cursor).filter(|_| cursor.0.is_empty())
    }

    #[test]
    fn a_cursor_reads_what_postcard_writes() {
        for bits in 0..64 {
            for number in [1_u64 << bits, (1 << bits) - 1, u64::MAX >> bits] {
                let bytes = postcard::to_allocvec(&number).unwrap();
                assert_eq!(whole(&bytes, Cursor::number), Some(number));
                let followed = [&bytes[..], &[0xff; 8]].concat();
                let mut cursor = Cursor(&followed);
                assert_eq!((cursor.number(), cursor.0), (Some(number), &[0xff; 8][..]));
                let short = u32::try_from(number).ok();
                assert_eq!(whole(&bytes, Cursor::short), short);
                for signed in [number.cast_signed(), number.cast_signed().wrapping_neg()] {
                    let bytes = postcard::to_allocvec(&signed).unwrap();
                    assert_eq!(whole(&bytes, Cursor::signed), Some(signed));
                }
            }
        }
        for text in ["", "é", &"long".repeat(99)] {
            let bytes = postcard::to_allocvec(text).unwrap();
            assert_eq!(whole(&bytes, Cursor::text), Some(text));
            assert_eq!(whole(&bytes, Cursor::bytes), Some(text.as_bytes()));
        }
        for some in [None, Some(7_u32)] {
            let bytes = postcard::to_allocvec(&some).unwrap();
            assert_eq!(whole(&bytes, |cursor| cursor.some(Cursor::short)), Some(some));
        }
    }

    #[test]
    fn a_cursor_refuses_what_postcard_refuses() {
        let longest = [&[0xff; 9][..], &[1]].concat();
        assert_eq!(whole(&longest, Cursor::number), Some(u64::MAX));
        for bytes in [&[][..], &[0x80], &[0xff; 11], &[&[0xff; 9][..], &[2]].concat()] {
            assert_eq!(whole(bytes, Cursor::number), None);
            assert!(postcard::from_bytes::<u64>(bytes).is_err());
        }
        assert_eq!(whole(&[5, b'a'], Cursor::text), None);
        assert_eq!(whole(&[1, 0xff], Cursor::text), None);
        assert_eq!(whole(&[2, 0], |cursor| cursor.some(Cursor::byte)), None);
    }
}

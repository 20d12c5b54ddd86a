//! Encodes bytes as hexadecimal digits.

/// Encodes bytes as lowercase hexadecimal digits, for JSON lines, which cannot contain arbitrary
/// bytes.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |four: u8| char::from_digit(u32::from(four), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Decodes hexadecimal digits, as [`hex()`] writes them. Returns `None` if their number is odd, or
/// if a character is not a hexadecimal digit.
pub(crate) fn unhex(hex: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|four| u8::try_from(four).ok());
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some((digit(high)? << 4) | digit(low)?),
        _ => None,
    };
    hex.as_bytes().chunks(2).map(pair).collect()
}

//! Keys as a terminal sends them.

/// A key that the user pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
    Enter,
    Escape,
    /// Ctrl-C or Ctrl-D.
    Leave,
    Char(char),
    /// A key without a meaning here.
    Other,
}

const ESCAPE: u8 = 0x1b;

impl Key {
    /// Reads one key from the bytes that a terminal sends. `next` returns the next byte, or `None`
    /// if no byte comes for a short time. Returns `None` if the first byte does not come.
    pub(super) fn read(mut next: impl FnMut() -> Option<u8>) -> Option<Self> {
        Some(match next()? {
            b'\r' | b'\n' => Self::Enter,
            3 | 4 => Self::Leave,
            ESCAPE => match next() {
                None | Some(ESCAPE) => Self::Escape,
                Some(b'[' | b'O') => Self::sequence(&mut next),
                Some(_) => Self::Other,
            },
            key @ b' '..=b'~' => Self::Char(char::from(key)),
            _ => Self::Other,
        })
    }

    /// Reads the rest of an escape sequence: parameters, and the byte that ends it.
    fn sequence(next: &mut impl FnMut() -> Option<u8>) -> Self {
        let mut parameters = Vec::new();
        loop {
            return match next() {
                Some(byte @ (b'0'..=b'9' | b';')) => {
                    parameters.push(byte);
                    continue;
                }
                Some(b'A') => Self::Up,
                Some(b'B') => Self::Down,
                Some(b'C') => Self::Right,
                Some(b'D') => Self::Left,
                Some(b'H') => Self::Home,
                Some(b'F') => Self::End,
                Some(b'~') => match parameters.as_slice() {
                    b"5" => Self::PageUp,
                    b"6" => Self::PageDown,
                    b"1" | b"7" => Self::Home,
                    b"4" | b"8" => Self::End,
                    _ => Self::Other,
                },
                _ => Self::Other,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(bytes: &[u8]) -> Vec<Key> {
        let mut bytes = bytes.iter().copied();
        std::iter::from_fn(|| Key::read(|| bytes.next())).collect()
    }

    #[test]
    fn keys_are_recognised_in_what_a_terminal_sends() {
        let sent =
            b"\x1b[A\x1bOB\x1b[C\x1b[D\x1b[5~\x1b[6~\x1b[H\x1b[4~k\r\x03\x01\x1b[15~\x1bx\x1b";
        let expected = [
            Key::Up,
            Key::Down,
            Key::Right,
            Key::Left,
            Key::PageUp,
            Key::PageDown,
            Key::Home,
            Key::End,
            Key::Char('k'),
            Key::Enter,
            Key::Leave,
            Key::Other,
            Key::Other,
            Key::Other,
            Key::Escape,
        ];
        assert_eq!(keys(sent), expected);
        assert_eq!(keys(b"\x1b\x1b"), [Key::Escape]);
    }
}

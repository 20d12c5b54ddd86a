//! A streaming filter for the standard output of a server. Each line should be a frame, a JSON-RPC
//! message. Lines that are not frames are stored with the last lines of standard error. Long
//! strings are truncated. A frame that is too long or too deeply nested becomes an error of the
//! call that it answers.

/// The maximum nesting depth of a JSON message that the JSON parser accepts.
const DEPTH: usize = 128;

/// The maximum length, in bytes, of the stored `id` of a frame. The ids of this client's requests
/// are small numbers.
const ID: usize = 32;

/// A filter that separates the frames (JSON-RPC messages) of a server from its other output. Scans
/// the JSON of each line only as far as the limits require.
#[derive(Debug)]
pub(super) struct Filter {
    /// The maximum length of one frame, in bytes.
    frame: usize,
    /// The maximum length of one string in a frame, in bytes.
    string: usize,
    line: Line,
}

/// The state of the filter within the current line of output.
#[derive(Debug, Default)]
struct Line {
    sort: Sort,
    /// The number of bytes of the current line that the filter has passed on.
    passed: usize,
    /// The number of bytes of the current line that the filter has received.
    came: usize,
    depth: usize,
    text: Option<Text>,
    /// The start of the last string at the first level of the JSON object in the line. The string
    /// may be a key.
    key: Vec<u8>,
    is_key: bool,
    id: Vec<u8>,
    too: Option<&'static str>,
}

/// The kind of an output line. The first character that is not white space determines it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Sort {
    /// The kind is still open: the line has only white space so far.
    #[default]
    Open,
    /// The line is a frame: it begins with `{`.
    Frame,
    /// The line is not a frame but other output of the program.
    Noise,
}

/// The state of the filter within the JSON string that is being read.
#[derive(Debug, Default)]
struct Text {
    len: usize,
    escape: Escape,
    /// The number of omitted bytes, or `None` if the string is not truncated.
    cut: Option<usize>,
}

/// The position of the filter in an escape sequence of a JSON string.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Escape {
    #[default]
    Outside,
    /// Directly after the backslash that begins an escape sequence.
    Begun,
    /// Inside `\uXXXX`. Contains the number of hex digits read so far, and the value of the first
    /// two.
    Digits(u8, u8),
    /// Directly after the escape of the first half of a surrogate pair. The string must not be
    /// truncated here.
    Half,
}

impl Filter {
    /// Creates a filter. `frame` is the maximum length of a frame, and `string` is the maximum
    /// length of one string in a frame, both in bytes. `string` should be well below `frame`. Then
    /// a result with one large string is truncated, and is not replaced by an error.
    pub(super) fn new(frame: usize, string: usize) -> Self {
        Self { frame, string, line: Line::default() }
    }

    /// Processes the next bytes of the server's output. Frames go to `out`, and all other lines go
    /// to `noise`.
    pub(super) fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>, noise: &mut Vec<u8>) {
        for &byte in bytes {
            if byte == b'\n' {
                self.end(out, noise);
                continue;
            }
            if self.line.sort == Sort::Open && !byte.is_ascii_whitespace() {
                self.line.sort = if byte == b'{' { Sort::Frame } else { Sort::Noise };
            }
            match self.line.sort {
                Sort::Open => {}
                Sort::Noise => noise.push(byte),
                Sort::Frame => self.frame(byte, out),
            }
        }
    }

    fn frame(&mut self, byte: u8, out: &mut Vec<u8>) {
        let before = out.len();
        self.line.came += 1;
        self.line.byte(byte, self.string, out);
        // Pass on one byte more than the limit, so that the reader notices that the line is too
        // long and drops it.
        let remaining = (self.frame + 1).saturating_sub(self.line.passed);
        out.truncate(before + remaining);
        self.line.passed += out.len() - before;
        if self.line.passed > self.frame {
            self.line.too = Some("large");
        }
    }

    /// Processes the end of an output line. If the line was a frame that exceeds a limit, also
    /// writes an error response for the same call to `out`.
    fn end(&mut self, out: &mut Vec<u8>, noise: &mut Vec<u8>) {
        let line = std::mem::take(&mut self.line);
        match line.sort {
            Sort::Open => {}
            Sort::Noise => noise.push(b'\n'),
            Sort::Frame => {
                out.push(b'\n');
                // The reader silently drops a frame that is too long or too deeply nested.
                if let Some(too) = line.too {
                    out.extend(line.error(too).bytes());
                    out.push(b'\n');
                }
            }
        }
    }
}

impl Line {
    fn byte(&mut self, byte: u8, string: usize, out: &mut Vec<u8>) {
        if let Some(text) = &mut self.text {
            let ended = text.byte(byte, string, out);
            if self.depth == 1 {
                let remaining = ID.saturating_sub(self.key.len());
                self.key.extend(std::iter::once(byte).filter(|_| !ended).take(remaining));
                self.remember(byte);
            }
            if ended {
                self.text = None;
            }
            return;
        }
        out.push(byte);
        match byte {
            b'"' => {
                self.text = Some(Text::default());
                if self.depth == 1 {
                    self.key.clear();
                    self.remember(byte);
                }
            }
            b'{' | b'[' => {
                self.depth += 1;
                if self.depth > DEPTH {
                    self.too = Some("deep");
                }
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                self.is_key = false;
            }
            b':' if self.depth == 1 => {
                self.is_key = self.key == b"id";
                if self.is_key {
                    self.id.clear();
                }
            }
            b',' if self.depth == 1 => self.is_key = false,
            _ if self.depth == 1 => self.remember(byte),
            _ => {}
        }
    }

    /// Stores the byte if it belongs to the value of the field `id` of a frame.
    fn remember(&mut self, byte: u8) {
        if self.is_key && self.id.len() < ID {
            self.id.push(byte);
        }
    }

    /// Returns the error response that replaces a frame that exceeds a limit. `too` is `large` or
    /// `deep`.
    fn error(&self, too: &str) -> String {
        let id = String::from_utf8_lossy(&self.id);
        let id: serde_json::Value = serde_json::from_str(id.trim()).unwrap_or_default();
        let message = format!("the answer is too {too} to be read: {} bytes", self.came);
        let error = serde_json::json!({"code": -32603, "message": message});
        serde_json::json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string()
    }
}

impl Text {
    /// Processes a byte of the JSON string that is being read, and writes it to `out`. After `most`
    /// bytes, truncates the string where the next character begins. Returns whether the byte ends
    /// the string.
    fn byte(&mut self, byte: u8, most: usize, out: &mut Vec<u8>) -> bool {
        let outside = matches!(self.escape, Escape::Outside | Escape::Half);
        let ends = outside && byte == b'"';
        if ends {
            if let Some(cut) = self.cut {
                out.extend(format!("\\n[{cut} more bytes were left out]").bytes());
            }
            out.push(byte);
            return true;
        }
        // Truncate only where a character begins, and never inside a surrogate pair.
        let is_between = self.escape == Escape::Outside && byte & 0xc0 != 0x80;
        if self.cut.is_none() && self.len >= most && is_between {
            self.cut = Some(0);
        }
        self.escape = self.escape.next(byte);
        self.len += 1;
        match &mut self.cut {
            Some(cut) => *cut += 1,
            None => out.push(byte),
        }
        false
    }
}

impl Escape {
    fn next(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::Outside | Self::Half, b'\\') => Self::Begun,
            (Self::Begun, b'u') => Self::Digits(0, 0),
            (Self::Digits(come, first), _) => {
                let digit = char::from(byte).to_digit(16).unwrap_or(0);
                let digit = u8::try_from(digit).unwrap_or(0);
                let first = if come < 2 { first << 4 | digit } else { first };
                match come {
                    3 if (0xd8..=0xdb).contains(&first) => Self::Half,
                    3 => Self::Outside,
                    _ => Self::Digits(come + 1, first),
                }
            }
            _ => Self::Outside,
        }
    }
}

#[cfg(test)]
mod tests;

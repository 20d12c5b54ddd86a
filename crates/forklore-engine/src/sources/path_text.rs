//! Encodes file paths as strings that a store can store. A UTF-8 path is stored unchanged. Any
//! other path is escaped in such a way that every byte can be recovered: a lossy encoding could map
//! two paths to one string.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The prefix of an escaped path. Escaping replaces each byte that is not UTF-8, and `%` itself,
/// with `%` and two hexadecimal digits. No unescaped path has this prefix: an absolute path begins
/// with `/`, and a relative path has no empty component.
const BYTES: &str = "bytes://";

/// Encodes a path as a string from which `path_of` restores the exact bytes.
#[must_use]
pub fn path_text(path: &Path) -> String {
    if let Some(text) = path.to_str() {
        return text.to_owned();
    }
    let mut text = BYTES.to_owned();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        text.push_str(&chunk.valid().replace('%', "%25"));
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

/// Decodes a path from the string that `path_text` returned.
#[must_use]
pub fn path_of(text: &str) -> PathBuf {
    let Some(escaped) = text.strip_prefix(BYTES) else { return PathBuf::from(text) };
    let mut parts = escaped.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        match part.split_at_checked(2).map(|(hex, rest)| (u8::from_str_radix(hex, 16), rest)) {
            Some((Ok(byte), rest)) => {
                bytes.push(byte);
                bytes.extend_from_slice(rest.as_bytes());
            }
            // `path_text` never produces this sequence. Decode it literally.
            _ => bytes.extend(b"%".iter().chain(part.as_bytes())),
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    fn path(bytes: &[u8]) -> &Path {
        Path::new(OsStr::from_bytes(bytes))
    }

    #[test]
    fn every_path_comes_back_and_no_two_texts_are_equal() {
        let cases: [(&[u8], &str); 7] = [
            (b"/a/b%FF", "/a/b%FF"),
            ("/a/\u{e9}%".as_bytes(), "/a/\u{e9}%"),
            (b"/a/b\xff", "bytes:///a/b%FF"),
            (b"/a/b\xff%FF\xe9", "bytes:///a/b%FF%25FF%E9"),
            (b"a/\xc3\xa9\xc3", "bytes://a/\u{e9}%C3"),
            ("bytes:/x\u{fffd}".as_bytes(), "bytes:/x\u{fffd}"),
            (b"\xf0\x9f\x98", "bytes://%F0%9F%98"),
        ];
        for (bytes, text) in cases {
            assert_eq!((path_text(path(bytes)).as_str(), &*path_of(text)), (text, path(bytes)));
        }
        assert_eq!(path_of("bytes:///a%zz%4"), path(b"/a%zz%4"));
    }
}

//! Reads the text that another program pipes into `chat` or `resume`.

use std::io::{self, IsTerminal, Read};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use crate::failure::{Failure, Result};
use crate::output::Output;

/// The maximum size of the piped text, in bytes. No model accepts more text in one request.
const MOST: usize = 4 << 20;
/// The time after which the program reports that it waits for the end of the piped text. A pipe can
/// stay open although no program writes to it.
const PATIENCE: Duration = Duration::from_secs(3);

/// Reads standard input to its end. Returns `None` if standard input is a terminal.
///
/// # Errors
/// When the text is longer than 4 MiB, is not UTF-8, or cannot be read.
pub(super) fn text(output: &mut Output) -> Result<Option<String>> {
    if io::stdin().is_terminal() {
        return Ok(None);
    }
    let failed = |source| Failure::File { doing: "reading standard input".to_owned(), source };
    let (done, reading) = channel();
    std::thread::Builder::new()
        .name("standard input".to_owned())
        .spawn(move || {
            let mut bytes = Vec::new();
            let read = io::stdin().lock().take(MOST as u64 + 1).read_to_end(&mut bytes);
            // Sending fails if the program no longer waits for the text.
            let _ = done.send(read.map(|_| bytes));
        })
        .map_err(failed)?;
    let read = match reading.recv_timeout(PATIENCE) {
        Err(RecvTimeoutError::Timeout) => {
            output
                .remark("waiting for the end of the text that is piped in; </dev/null pipes none");
            reading.recv()
        }
        read => read.map_err(|_| std::sync::mpsc::RecvError),
    };
    let gone = |_| failed(io::Error::other("its reader ended"));
    checked(read.map_err(gone)?.map_err(failed)?).map(Some)
}

fn checked(bytes: Vec<u8>) -> Result<String> {
    if bytes.len() > MOST {
        let message = format!("the text that is piped in has more than {MOST} bytes");
        return Err(Failure::invalid(message).or_try("forklore chat -p TEXT --attach FILE"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let sound = error.as_bytes().iter().take(error.utf8_error().valid_up_to());
        let line = sound.filter(|byte| **byte == b'\n').count() + 1;
        let message = format!("line {line} of the text that is piped in is not UTF-8");
        Failure::invalid(message).or_try("forklore chat -p TEXT --attach FILE")
    })
}

/// Joins the prompt and the piped text with a blank line between them. If one of the two is empty,
/// returns the other.
pub(super) fn behind(prompt: &str, piped: &str) -> String {
    let (prompt, piped) = (prompt.trim(), piped.trim_end());
    if prompt.is_empty() || piped.trim().is_empty() {
        return format!("{prompt}{}", piped.trim());
    }
    // Remove only line ends, so that the first line of the piped text retains its indentation.
    let piped = piped.trim_start_matches(['\r', '\n']);
    format!("{prompt}\n\n{piped}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_line_parts_the_prompt_from_the_piped_text() {
        assert_eq!(behind(" why? \n", "\n    a\n  b\n"), "why?\n\n    a\n  b");
        assert_eq!(behind("why?", " \n"), "why?");
        assert_eq!(behind(" ", "\n  a\n"), "a");
        assert_eq!(behind("", ""), "");
    }

    #[test]
    fn a_text_that_is_too_long_or_no_text_is_refused_by_name() {
        let refused = |bytes: Vec<u8>| checked(bytes).unwrap_err().to_string();
        assert_eq!(
            refused(vec![b'a'; MOST + 1]),
            "the text that is piped in has more than 4194304 bytes"
        );
        assert_eq!(checked(vec![b'a'; MOST]).unwrap().len(), MOST);
        assert_eq!(
            refused(b"a\nb\xff".to_vec()),
            "line 2 of the text that is piped in is not UTF-8"
        );
    }
}

//! Writes the log records of the crates to standard error, if `--log` or `FORKLORE_LOG` enables
//! logging.

use std::io::{self, Write};
use std::sync::OnceLock;

use forklore_sanitize::terminal::line;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Starts to write the log records that pass the filter to standard error. Only the first call has
/// an effect.
pub(crate) fn start(filter: &Targets) {
    static STARTED: OnceLock<()> = OnceLock::new();
    STARTED.get_or_init(|| {
        let filter = of_forklore(filter);
        let lines = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(|| Escaped);
        tracing_subscriber::registry().with(filter).with(lines).init();
    });
}

/// Restricts the filter's default level to the crates of forklore. Other crates may log the text of
/// messages, so they log only if the filter names them.
fn of_forklore(filter: &Targets) -> Targets {
    let level = filter.default_level().unwrap_or(LevelFilter::OFF);
    Targets::new().with_target("forklore", level).with_targets(filter.iter())
}

/// A writer to standard error that escapes control characters, because a log record can quote a
/// session, a server or a file name.
struct Escaped;

impl Write for Escaped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let mut lines = String::with_capacity(text.len());
        for logged in text.lines() {
            lines.push_str(&line(logged));
            lines.push('\n');
        }
        io::stderr().write_all(lines.as_bytes()).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

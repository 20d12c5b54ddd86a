//! Shows text of sessions, times and amounts in a page.

use forklore_core::units::grouped;
use forklore_core::{Cut, Header, Usage};
use forklore_engine::Engine;
use forklore_sanitize::html;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use maud::{Markup, Render, html};

/// The maximum length of a name in a list, in bytes.
const LONGEST_NAME: usize = 160;

/// Text of a session, in one line. It is escaped when it is rendered, as content or as the value of
/// an attribute.
pub(crate) struct Line<'a>(pub(crate) &'a str);

impl Render for Line<'_> {
    fn render_to(&self, page: &mut String) {
        for (at, word) in self.0.split_whitespace().enumerate() {
            if at > 0 {
                page.push(' ');
            }
            page.push_str(&html::text(word));
        }
    }
}

/// Text of a session with its line breaks.
pub(crate) struct Block<'a>(pub(crate) &'a str);

impl Render for Block<'_> {
    fn render_to(&self, page: &mut String) {
        page.push_str(&html::text(self.0));
    }
}

/// Returns the title of a session, or else the first words that a person typed, or else its label.
pub(crate) fn name(engine: &Engine, header: &Header) -> String {
    let title = header.title.clone().filter(|title| !title.trim().is_empty());
    let name = title.or_else(|| engine.described(header).first_words);
    let name = name.unwrap_or_else(|| header.label.to_string());
    let short = forklore_core::summary::beginning(name.trim(), LONGEST_NAME);
    if short.len() < name.trim().len() { format!("{short}…") } else { short.to_owned() }
}

/// Shows when something happened, as the time since then. The exact time is its title.
pub(crate) fn ago(then: Timestamp, now: Timestamp, zone: &TimeZone) -> Markup {
    let secs = now.duration_since(then).as_secs();
    let text = match (secs / 60, secs / 3_600, secs / 86_400) {
        (-1..=0, ..) => "just now".to_owned(),
        (minutes @ 1.., ..=0, _) => format!("{minutes} min ago"),
        (1.., hours, ..=0) => format!("{hours} h ago"),
        (1.., _, days @ ..=29) => format!("{days} d ago"),
        _ => then.to_zoned(zone.clone()).strftime("%Y-%m-%d").to_string(),
    };
    html! { time datetime=(then) title=(exact(then, zone)) { (text) } }
}

/// Shows the exact time at which something happened.
pub(crate) fn at_time(then: Timestamp, zone: &TimeZone) -> Markup {
    html! { time datetime=(then) { (exact(then, zone)) } }
}

fn exact(then: Timestamp, zone: &TimeZone) -> String {
    then.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S %Z").to_string()
}

/// Formats a number of tokens in few characters, such as `12.3 k`.
pub(crate) fn tokens(tokens: u64) -> String {
    let scaled = |unit: u64| {
        let tenths = tokens / (unit / 10);
        match tenths {
            ..100 => format!("{}.{}", tenths / 10, tenths % 10),
            _ => grouped(tenths / 10),
        }
    };
    match tokens {
        ..1_000 => tokens.to_string(),
        1_000..1_000_000 => format!("{} k", scaled(1_000)),
        _ => format!("{} M", scaled(1_000_000)),
    }
}

/// Formats a cost in the currency of the records, with as many decimals as are of use.
pub(crate) fn cost(cost: f64) -> String {
    match cost {
        ..=0.0 => "–".to_owned(),
        ..0.01 => format!("{cost:.4}"),
        ..1_000.0 => format!("{cost:.2}"),
        _ => format!("{cost:.0}"),
    }
}

/// Shows tokens and cost; nothing if there are none.
pub(crate) fn usage(usage: &Usage) -> Markup {
    html! {
        @if usage.tokens() > 0 { span title="tokens" { (tokens(usage.tokens())) " tokens" } }
        @if usage.cost > 0.0 { span title="cost" { (cost(usage.cost)) } }
    }
}

/// Shows that a session runs now, and who runs it; nothing if it does not run.
pub(crate) fn running(engine: &Engine, header: &Header) -> Markup {
    html! {
        @if let Some(lease) = engine.lease_of(header) {
            span.badge.running title=(Line(&format!("run by {}", lease.owner))) { "running" }
        }
    }
}

/// Formats a cut in the largest unit that can express it.
pub(crate) fn cut(cut: &Cut) -> String {
    match (cut.turn, cut.message, cut.seq) {
        (Some(turn), _, _) => format!("turn {turn}"),
        (None, Some(message), _) => format!("message {message}"),
        (None, None, Some(seq)) => format!("event {seq}"),
        (None, None, None) => "the start".to_owned(),
    }
}

/// Shortens a folder to its last two components.
pub(crate) fn folder(path: &str) -> String {
    let parts: Vec<_> = path.split(['/', '\\']).filter(|part| !part.is_empty()).collect();
    match parts.as_slice() {
        [.., before, last] if parts.len() > 2 => format!("…/{before}/{last}"),
        _ => path.to_owned(),
    }
}

/// Encodes text as a value in the query of an address.
pub(crate) fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(byte.into());
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_short() {
        let shown = [0, 999, 1_000, 12_345, 123_456, 999_999, 1_000_000, 25_000_000].map(tokens);
        let expected = ["0", "999", "1.0 k", "12 k", "123 k", "999 k", "1.0 M", "25 M"];
        assert_eq!(shown, expected);
        assert_eq!(cost(0.0), "–");
        assert_eq!([0.0001, 0.5, 12.345, 12_345.6].map(cost), ["0.0001", "0.50", "12.35", "12346"]);
        assert_eq!(["/a", "/a/b", "/a/b/c"].map(folder), ["/a", "/a/b", "…/b/c"]);
        assert_eq!(encoded("a b&ä"), "a%20b%26%C3%A4");
    }

    #[test]
    fn text_stays_text() {
        let shown = html! { p title=(Line("\" onx='1'\n<b>")) { (Line("<b> \u{202e}x")) } };
        let expected = "<p title=\"&quot; onx=&#39;1&#39; &lt;b&gt;\">&lt;b&gt; \\u{202e}x</p>";
        assert_eq!(shown.into_string(), expected);
    }
}

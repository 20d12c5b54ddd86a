//! Shows the entries of a conversation.

use std::collections::HashMap;

use forklore_core::{Header, Label, Role, SessionId};
use forklore_page::{Block, Blocks, Images, Source, ToolOutput, shown_type};
use forklore_sanitize::html::text;
use jiff::tz::TimeZone;
use maud::{Markup, PreEscaped, html};

use crate::answer::Answer;
use crate::entry::{Entry, Kind};
use crate::shown;
use crate::{Pages, fate, rewind, turnings};

/// The number of elements after which a page ends.
const MOST_NODES: usize = 2_000;
/// The number of elements of an entry after which it is shown without formatting.
const MOST_OF_ONE: usize = 1_000;
/// The number of lines of a change of a file that are shown.
const MOST_LINES: usize = 120;
/// The number of lines of a change that are shown in an entry with too many elements.
const FEWEST_LINES: usize = 10;
/// The size of a text in a folded block that is shown, in bytes.
const LONGEST_FOLDED: usize = 8 << 10;
/// The size of a message's text that is shown, in bytes.
const LONGEST: usize = 48 << 10;

/// A writer of entries as HTML.
pub(crate) struct Writer<'a> {
    session: &'a Header,
    zone: &'a TimeZone,
    labels: HashMap<SessionId, Label>,
    /// The event to mark.
    pub(crate) at: Option<u64>,
    /// Whether the ids of entries contain the session, because the page shows several sessions.
    has_prefix: bool,
    /// Whether long texts are shown whole.
    is_whole: bool,
    /// Whether the server has snapshots of files.
    has_files: bool,
}

impl<'a> Writer<'a> {
    /// Creates a writer for entries of a session. Reads the labels of the sessions that wrote them.
    pub(crate) fn new(pages: &'a Pages, session: &'a Header, entries: &[Entry]) -> Answer<Self> {
        let mut writers: Vec<_> = entries.iter().filter_map(|entry| entry.writer.clone()).collect();
        writers.sort_unstable();
        writers.dedup();
        let headers = pages.engine.store().headers(&writers)?.into_iter().flatten();
        let headers = headers.filter(|header| !header.is_erased());
        let labels = headers.map(|header| (header.id, header.label)).collect();
        Ok(Self {
            session,
            zone: &pages.zone,
            labels,
            at: None,
            has_prefix: false,
            is_whole: false,
            has_files: pages.files.is_some(),
        })
    }

    /// Makes the ids of entries contain the session, for a page that shows several sessions.
    pub(crate) fn with_prefix(self) -> Self {
        Self { has_prefix: true, ..self }
    }

    /// Makes the writer show long texts whole, for the page of one event.
    pub(crate) fn whole(self) -> Self {
        Self { is_whole: true, ..self }
    }

    /// Shows the entries until the page is full. Returns the position of the first entry that is not
    /// shown.
    pub(crate) fn entries(
        &self,
        entries: &[Entry],
        turnings: &turnings::Turnings,
        is_end: bool,
    ) -> (Markup, Option<u64>) {
        let (mut page, mut nodes, mut writer) = (String::new(), 0, None);
        for (number, entry) in entries.iter().enumerate() {
            if nodes > MOST_NODES {
                return (PreEscaped(page), Some(entry.seq));
            }
            if writer != Some(&entry.writer) {
                page.push_str(&self.branch(entry.writer.as_ref()).into_string());
                writer = Some(&entry.writer);
            }
            let shown = self.entry(entry).into_string();
            nodes += elements(&shown);
            page.push_str(&shown);
            let next = entries.get(number + 1).map(|next| next.ordinal);
            let until = next.or_else(|| is_end.then_some(u64::MAX)).unwrap_or(entry.ordinal + 1);
            for turning in turnings.range(entry.ordinal..until.max(entry.ordinal)) {
                page.push_str(&self.turning(turning).into_string());
                nodes += 40;
            }
        }
        (PreEscaped(page), None)
    }

    fn branch(&self, writer: Option<&SessionId>) -> Markup {
        let label = writer.and_then(|writer| self.labels.get(writer));
        html! {
            h2.branch {
                @match (writer, label) {
                    (Some(id), Some(label)) if *id == self.session.id => (label),
                    (Some(id), Some(label)) => {
                        "inherited from " a href={ "/s/" (id) } { (label) }
                    },
                    (None, _) => "damaged",
                    (Some(_), None) => "inherited from a deleted branch",
                }
            }
        }
    }

    /// Shows the branches of a history that divides, as a switch between them.
    fn turning(&self, (at, turning): (&u64, &turnings::Turning)) -> Markup {
        let (before, all) = (turning.before(), turning.branches.len());
        let listed = turning.listed();
        let to = |branch: &turnings::Branch| {
            format!("/s/{}?at={}#e-{}", branch.id, branch.seq, branch.seq)
        };
        let own = before.checked_sub(1).and_then(|last| turning.branches.get(last));
        let is_after = |branch: &turnings::Branch| own.is_some_and(|own| own.id == branch.id);
        html! {
            // Each has a name of its own, so that a screen reader can list them.
            nav.turning aria-label={ "The history divides at event " (at) } {
                span { "The history divides here: branch " (before + 1) " of " (all + 1) }
                @if let Some(last) = own {
                    a.button href=(to(last)) data-key="[" aria-label="The branch before" { "‹" }
                }
                @if own.is_none() {
                    strong aria-current="true" { (self.session.label) }
                }
                @for branch in listed {
                    span.branch-of {
                        a href=(to(branch)) { (branch.label) } (fate::badge(branch.fate))
                    }
                    @if is_after(branch) { strong aria-current="true" { (self.session.label) } }
                }
                @if let Some(next) = turning.branches.get(before) {
                    a.button href=(to(next)) data-key="]" aria-label="The next branch" { "›" }
                }
                @if all > listed.len() {
                    a href={ "/f/" (self.session.id) } { (all - listed.len()) " more" }
                }
                a href={ "/runs?" (self.runs(listed)) } { "compare these" }
            }
        }
    }

    /// Returns the query of the page that compares this session and the branches.
    fn runs(&self, branches: &[turnings::Branch]) -> String {
        let ids = branches.iter().map(|branch| &branch.id);
        let ids = [&self.session.id].into_iter().chain(ids).map(|id| format!("s={id}"));
        ids.collect::<Vec<_>>().join("&")
    }

    /// Shows one entry.
    pub(crate) fn entry(&self, entry: &Entry) -> Markup {
        let (class, what) = match entry.kind {
            Kind::Message(role) => (role.as_str(), role.as_str()),
            Kind::Compaction => {
                ("summary", "compaction: the model goes on with this instead of what is above")
            }
            Kind::Summary => ("summary", "summary of a branch"),
            Kind::Damaged => ("damaged", "this event cannot be read"),
        };
        let seq = entry.seq;
        let prefix = if self.has_prefix { self.session.id.as_str() } else { "e" };
        let is_at = self.at.is_some_and(|at| entry.has(at));
        html! {
            article.(class).at[is_at] #{ (prefix) "-" (seq) } data-row data-seq=(seq) {
                @for also in &entry.also { a.anchor #{ (prefix) "-" (also) } {} }
                header {
                    h3 { (what) }
                    a.seq href={ "/s/" (self.session.id) "?at=" (seq) "#e-" (seq) } data-open
                        title="Link to this event" { "#" (seq) }
                    @if let Some(ts) = entry.ts { (shown::at_time(ts, self.zone)) }
                    @if entry.starts_turn { span { "turn " (entry.turn) } }
                    @if entry.partial { strong.bad { "interrupted" } }
                    (rewind::badge(&self.session.id, entry))
                    a.act href={ "/s/" (self.session.id) "?at=" (seq) "#e-" (seq) } data-copy-link
                        aria-label={ "Copy the link to event " (seq) } { "Copy link" }
                    a.act href={ "/s/" (self.session.id) "/e/" (seq) } { "Event" }
                    a.act href={ "/s/" (self.session.id) "/fork?at=" (seq) } data-dialog
                        aria-label={ "Fork at event " (seq) } { "Fork" }
                    @if self.has_files && entry.kind != Kind::Damaged {
                        a.act href={ "/s/" (self.session.id) "/rewind?at=" (entry.last()) }
                            data-dialog="rewind" aria-label={ "Rewind to event " (seq) } { "Rewind" }
                    }
                }
                (PreEscaped(if self.is_whole { whole(entry) } else { blocks(entry) }))
            }
        }
    }
}

/// Returns the parts of an entry as HTML. Long texts are truncated.
fn blocks(entry: &Entry) -> String {
    let shorter: Vec<_> = entry.blocks.iter().cloned().map(shortened).collect();
    let html = written(&shorter, is_markdown(entry), MOST_LINES);
    if elements(&html) > MOST_OF_ONE { written(&shorter, false, FEWEST_LINES) } else { html }
}

fn whole(entry: &Entry) -> String {
    written(&entry.blocks, is_markdown(entry), usize::MAX)
}

fn written(blocks: &[Block], is_markdown: bool, lines: usize) -> String {
    let mut images = Links;
    let mut writer = Blocks::new(&mut images).with_most_lines(lines);
    blocks.iter().map(|block| writer.html(block, is_markdown)).collect()
}

/// Checks whether the texts of an entry are Markdown: a model wrote them.
fn is_markdown(entry: &Entry) -> bool {
    matches!(entry.kind, Kind::Message(Role::Assistant) | Kind::Compaction | Kind::Summary)
}

/// Returns the number of elements in HTML. Marks in code count twice, because each also adds a text.
fn elements(html: &str) -> usize {
    let marks = html.matches("<span class=\"c-").count();
    html.matches('<').count() - html.matches("</").count() + marks
}

fn shortened(block: Block) -> Block {
    let output = |output: ToolOutput| ToolOutput {
        text: cut(output.text, LONGEST_FOLDED),
        images: output.images,
        ..output
    };
    match block {
        Block::Text(text) => Block::Text(cut(text, LONGEST)),
        Block::Thinking(line, text) => Block::Thinking(line, cut(text, LONGEST_FOLDED)),
        Block::Call(mut call) => {
            call.arguments = cut(call.arguments, LONGEST_FOLDED);
            call.output = call.output.map(output);
            Block::Call(call)
        }
        Block::Result(result) => Block::Result(output(result)),
        Block::Other(json) => Block::Other(cut(json, LONGEST_FOLDED)),
        Block::File(line, source) => Block::File(line, source),
    }
}

/// Truncates a long text, and adds how much was left out.
fn cut(text: String, longest: usize) -> String {
    if text.len() <= longest {
        return text;
    }
    let begin = forklore_core::summary::beginning(&text, longest);
    let rest = forklore_core::units::bytes((text.len() - begin.len()) as u64);
    format!("{begin}\n… {rest} more")
}

/// Shows images by their addresses, so that a browser loads them when they come into view.
struct Links;

impl Images for Links {
    fn html(&mut self, source: &Source, description: &str) -> Option<String> {
        let (address, is_image) = match source {
            Source::Link(address) => (address.clone(), true),
            Source::Attachment { media_type, reference } => {
                let id: forklore_core::AttachmentId = reference.parse().ok()?;
                (format!("/attachment/{id}"), shown_type(media_type).is_some())
            }
            Source::Inline { .. } | Source::None => return None,
        };
        let (address, description) = (text(&address).into_owned(), text(description));
        Some(match is_image {
            true => format!("<img loading=\"lazy\" src=\"{address}\" alt=\"{description}\">\n"),
            false => {
                format!("<p class=\"note\"><a href=\"{address}\" download>{description}</a></p>\n")
            }
        })
    }
}

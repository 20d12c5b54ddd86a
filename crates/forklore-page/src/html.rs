//! Writes a page of HTML: one file without scripts, which loads nothing from a server.

mod blocks;
mod code;
mod image;
mod markdown;

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use forklore_core::Role;
use forklore_engine::Engine;
use forklore_sanitize::html::text;
use sha2::{Digest, Sha256};

use crate::conversation::{Item, Message};
use crate::{Facts, time};
use blocks::folded;
use image::Embedded;

pub use blocks::{Blocks, Images};
pub use image::shown_type;
pub use markdown::html as markdown;

const STYLE: &str = include_str!("html/style.css");

/// The end of a page, after the last item.
pub(crate) const TAIL: &str = "</main>\n</body>\n</html>\n";

/// Returns the beginning of a page, before the first item.
pub(crate) fn head(facts: &Facts) -> String {
    // Only this style sheet and images in the page itself are allowed: no script, no request.
    let hash = STANDARD.encode(Sha256::digest(STYLE));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{hash}'; img-src data:; base-uri 'none'; \
         form-action 'none'"
    );
    let title = text(&facts.title);
    let mut head = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<header>\n\
         <h1>{title}</h1>\n<dl>\n"
    );
    for (name, value) in &facts.lines {
        let _ = writeln!(head, "<div><dt>{name}</dt><dd>{}</dd></div>", text(value));
    }
    head.push_str("</dl>\n</header>\n<main>\n");
    head
}

/// A writer of the items of an HTML page. It limits the total size of the images in the page.
pub(crate) struct Page<'e> {
    images: Embedded<'e>,
}

impl<'e> Page<'e> {
    pub(crate) fn new(engine: &'e Engine) -> Self {
        Self { images: Embedded::new(engine) }
    }

    /// Returns an item as HTML.
    pub(crate) fn item(&mut self, item: &Item) -> String {
        match item {
            Item::Branch(branch) => {
                let name = branch.as_ref().map_or("a deleted branch", |label| label.as_str());
                format!("<h2>{}</h2>\n", text(name))
            }
            Item::Message(message) => self.message(message),
            Item::Summary { is_compaction, ts, text } => summary(*is_compaction, &time(*ts), text),
        }
    }

    fn message(&mut self, message: &Message) -> String {
        let Message { index, role, ts, partial, blocks: parts, .. } = message;
        let (role, is_model) = (role.as_str(), *role == Role::Assistant);
        let mark = if *partial { " <strong>interrupted</strong>" } else { "" };
        let mut html = format!(
            "<article class=\"{role}\" id=\"m{index}\">\n<h3><a href=\"#m{index}\">{index}</a> \
             {role} <time>{}</time>{mark}</h3>\n",
            time(*ts)
        );
        let mut blocks = Blocks::new(&mut self.images);
        for part in parts {
            html.push_str(&blocks.html(part, is_model));
        }
        html.push_str("</article>\n");
        html
    }
}

fn summary(is_compaction: bool, time: &str, summary: &str) -> String {
    let what = if is_compaction {
        "Compaction: the model continues with this instead of what is above"
    } else {
        "Summary of a branch"
    };
    let inside = format!("<div class=\"text\">{}</div>", markdown(summary));
    folded("summary", &format!("{what} <time>{time}</time>"), &inside)
}

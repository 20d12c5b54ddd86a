//! The frame of every page: its head, the navigation, and the help for the keys.

use std::time::Duration;

use forklore_engine::Engine;
use forklore_store::port::Since;
use maud::{DOCTYPE, Markup, html};

use crate::answer::Answer;
use crate::assets;
use crate::shown::{self, Line};

/// The frame of a page.
#[derive(Default)]
pub(crate) struct Shell<'a> {
    pub(crate) title: &'a str,
    /// The address of the entry of the navigation that is this page.
    pub(crate) current: &'a str,
    /// What the search field contains.
    pub(crate) query: &'a str,
    /// The stream of events after which the page reads its parts again. Empty if there is none.
    pub(crate) live: &'a str,
    /// The addresses of further scripts.
    pub(crate) scripts: &'a [&'a str],
    /// The addresses of further style sheets.
    pub(crate) styles: &'a [&'a str],
}

const KEYS: [(&str, &str); 14] = [
    ("j k", "next and previous"),
    ("o Enter", "open, or unfold"),
    ("n N", "next and previous page"),
    ("g G", "the beginning and the end"),
    ("/", "search"),
    ("f", "fork at this message"),
    ("r", "rewind conversation and files to this message"),
    ("x", "choose a branch; two are compared"),
    ("c", "compare an abandoned branch with the kept one"),
    ("y", "copy the link to this message"),
    ("[ ]", "the branch before, and the next"),
    ("t", "the family"),
    ("u", "all sessions"),
    ("?", "this help"),
];

/// Returns the stream of the changes of the store from now on. A page is read after this, so that no
/// change is missed between the page and the stream.
pub(crate) fn live(engine: &Engine) -> Answer<String> {
    let mark = engine.store().changes(&Since::Now, 1, Duration::ZERO)?.mark;
    Ok(format!("/api/v1/events?after={}", shown::encoded(mark.as_str())))
}

impl Shell<'_> {
    /// Puts the content of a page into the frame.
    pub(crate) fn page(&self, content: &Markup) -> Markup {
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="referrer" content="same-origin";
                    title { (Line(self.title)) " · forklore" }
                    link rel="icon" type="image/svg+xml" href=(assets::url("icon"));
                    link rel="stylesheet" href=(assets::url("style"));
                    @for style in self.styles { link rel="stylesheet" href=(style); }
                    @for script in ["keys", "actions", "live", "find"] {
                        script type="module" src=(assets::url(script)) {}
                    }
                    @for script in self.scripts { script type="module" src=(script) {} }
                }
                body data-live=[Some(self.live).filter(|live| !live.is_empty())] {
                    a.skip href="#main" { "Skip to the content" }
                    (self.top())
                    main #main tabindex="-1" { (content) }
                    (help())
                    p #status .hidden role="status" {}
                }
            }
        }
    }

    fn top(&self) -> Markup {
        let current = |address: &str| (self.current == address).then_some("page");
        html! {
            header.top {
                nav aria-label="Main" {
                    a.brand href="/" { "forklore" }
                    a href="/" aria-current=[current("/")] { "Sessions" }
                    a href="/stats" aria-current=[current("/stats")] { "Stats" }
                }
                form.find role="search" action="/" {
                    label.hidden for="q" { "Search all sessions" }
                    input #q type="search" name="q" value=(Line(self.query))
                        placeholder="Search, or an id" autocomplete="off" spellcheck="false";
                    button type="submit" { "Search" }
                }
            }
        }
    }
}

fn help() -> Markup {
    html! {
        dialog #help aria-labelledby="help-title" {
            h2 #help-title { "Keys" }
            dl.keys {
                @for (keys, what) in KEYS {
                    div {
                        dt { @for key in keys.split(' ') { kbd { (key) } } }
                        dd { (what) }
                    }
                }
            }
            form method="dialog" { button { "Close" } }
        }
    }
}

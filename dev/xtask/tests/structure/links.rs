//! Tests that the targets of all links in the documentation exist.

use crate::assert_none;
use crate::tree::{self, File, files};

/// The modules of the npm package, which look like paths.
const MODULES: [&str; 5] = [
    "forklore/ai-sdk",
    "forklore/ak-coder",
    "forklore/claude",
    "forklore/langgraph",
    "forklore/openai-agents",
];

/// Returns the targets of a page's links. Links to the web and within the page are left out.
fn linked(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
    targets.filter(|target| !target.is_empty() && !target.contains("://"))
}

/// Returns the paths in backticks that begin with a crate, for example `forklore-core/src/cut.rs`.
fn named(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2).filter(|word| {
        let is_path = word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./".contains(c));
        is_path && word.starts_with("forklore") && word.contains('/') && !MODULES.contains(word)
    })
}

/// Returns one line for each target of the page that does not exist. Link targets are relative to
/// the directory of the page.
fn dead(page: &File, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let folder = page.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let links = linked(&page.text).map(|target| format!("{folder}/{target}"));
    let locations = links.chain(named(&page.text).map(|word| format!("crates/{word}")));
    let lost = locations.filter(|location| !exists(location.trim_start_matches('/')));
    lost.map(|location| format!("{}: {location} is not there", page.path)).collect()
}

#[test]
fn no_page_points_at_nothing() {
    let mut pages = files();
    pages.retain(|file| file.path.ends_with(".md") && !file.path.contains("testdata/"));
    assert!(!pages.is_empty());
    let dead =
        pages.iter().flat_map(|page| dead(page, |location| tree::root().join(location).exists()));
    assert_none(&dead.collect::<Vec<_>>());
}

#[test]
fn a_dead_link_is_named() {
    let text = "[a](here.md#part) [b](gone.md) [c](https://x.org/y) [d](#part) \
                `forklore-core/src` `forklore-core/src/gone.rs` `forklore append S`";
    let page = File::new("docs/page.md", text);
    let there = ["docs/here.md", "crates/forklore-core/src"];
    let lost = ["docs/gone.md", "crates/forklore-core/src/gone.rs"];
    let lost = lost.map(|location| format!("docs/page.md: {location} is not there"));
    assert_eq!(dead(&page, |location| there.contains(&location)), lost);
}

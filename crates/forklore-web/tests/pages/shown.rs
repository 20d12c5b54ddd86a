//! What each page shows, of a small family.

use axum::http::{StatusCode, header};
use serde_json::json;

use crate::parsed::outline;
use crate::world::{Answer, PNG, family};

fn located(answer: &Answer) -> &str {
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    answer.header(header::LOCATION)
}

#[test]
fn every_page_is_as_it_was() {
    let world = family();
    let pages = [
        ("list", "/"),
        ("search", "/?q=plan"),
        ("reader", "/s/main"),
        ("reader_of_a_branch", "/s/plan-b"),
        ("event", "/s/main/e/1"),
        ("fork", "/s/main/fork?at=1"),
        ("family", "/f/main"),
        ("compare", "/compare/main/plan-b"),
        ("stats", "/stats"),
    ];
    for (name, address) in pages {
        insta::assert_snapshot!(name, outline(&world.page(address)));
    }
}

#[test]
fn a_fragment_is_a_part_of_its_page() {
    let world = family();
    for (fragment, page) in [
        ("/fragments/sessions", "/"),
        ("/fragments/s/main?from=0", "/s/main"),
        ("/fragments/f/main?from=0", "/f/main"),
        ("/fragments/stats", "/stats"),
    ] {
        let (fragment, page) = (world.page(fragment), world.page(page));
        assert!(page.contains(&fragment), "{fragment}\n\n{page}");
    }
}

#[test]
fn a_fork_exists_at_once_and_only_once() {
    let world = family();
    let form = "at=turn%3A1&label=plan-d&agent=forklore&id=new-one";
    let first = world.post("/s/main/fork", form);
    assert_eq!(located(&first), "/s/new-one?at=end&forked=forklore");
    let again = world.post("/s/main/fork", form);
    assert_eq!(located(&again), located(&first));
    let header = world.engine.show(&"new-one".parse().unwrap()).unwrap();
    assert_eq!(header.label.as_str(), "plan-d");
    assert_eq!(header.cut.unwrap().turn, Some(1));
    let page = world.page(located(&first));
    assert!(page.contains("forklore resume new-one"), "{page}");
    assert!(world.page("/").contains("3 more in this family"));
}

#[test]
fn images_are_shown_and_other_files_are_downloaded() {
    use base64::Engine as _;
    let world = family();
    let page = world.page("/s/main");
    let address = |begin: &str| {
        let at = page.find(begin).unwrap_or_else(|| panic!("no {begin}: {page}"));
        page[at..].split('"').next().unwrap().to_owned()
    };
    let image = world.get(&address("/s/main/e/"));
    let image = if image.header(header::CONTENT_TYPE).starts_with("text/html") {
        let at = page.find("<img").unwrap();
        let src = page[at..].split("src=\"").nth(1).unwrap().split('"').next().unwrap();
        world.get(src)
    } else {
        image
    };
    let bytes = base64::engine::general_purpose::STANDARD.decode(PNG).unwrap();
    assert_eq!((image.header(header::CONTENT_TYPE), &image.bytes), ("image/png", &bytes));
    assert_eq!(image.header(header::X_CONTENT_TYPE_OPTIONS), "nosniff");
    let file = world.get(&address("/attachment/"));
    assert_eq!(file.header(header::CONTENT_TYPE), "application/octet-stream");
    assert_eq!(file.header(header::CONTENT_DISPOSITION), "attachment");
    assert_eq!(file.bytes, b"all is well");
}

#[test]
fn two_chosen_sessions_are_compared() {
    let world = family();
    let chosen = world.get("/compare?s=main&s=plan-b");
    assert_eq!(located(&chosen), "/compare/main/plan-b");
    let page = world.page("/compare/main/plan-b");
    assert!(page.contains("let us take B") && page.contains("and now?"));
    assert!(!page.contains("plan A or plan B?"));
}

#[test]
fn a_page_shows_what_was_written_since() {
    let world = family();
    world.user("main", "one more thing");
    assert!(world.page("/fragments/s/main?at=end").contains("one more thing"));
}

#[test]
fn sums_of_many_events_come_after_the_page() {
    let world = family();
    let many = vec![("user_message", json!({"content": "x"})); 1_000];
    for _ in 0..20 {
        world.append_all("main", &many);
    }
    let page = world.page("/stats");
    assert!(page.contains("data-load") && !page.contains("demo-1"));
    assert!(world.page("/stats?wait=yes").contains("demo-1"));
    // They are up to date now.
    assert!(!world.page("/stats").contains("data-load"));
}

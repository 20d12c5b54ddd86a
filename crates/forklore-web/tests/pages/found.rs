//! Searching and filtering the list, as the script of the page does while one types.

use axum::http::StatusCode;
use serde_json::json;

use crate::parsed::elements;
use crate::world::{World, family};

fn rows(world: &World, address: &str) -> usize {
    world.page(address).matches("<li class=\"row\"").count()
}

#[test]
fn the_fragment_answers_what_the_page_answers() {
    let world = family();
    for query in ["q=plan", "q=nothing-like-this", "agent=forklore", "model=demo", "since=7d"] {
        let fragment = world.page(&format!("/fragments/sessions?{query}"));
        assert!(world.page(&format!("/?{query}")).contains(&fragment), "{query}");
        assert!(!fragment.contains("<main"), "{query}");
    }
    let wrong = world.get("/fragments/sessions?q=regex:(");
    assert_eq!(wrong.status, StatusCode::BAD_REQUEST);
    assert!(wrong.text().contains("class=\"narrow problem\""));
}

#[test]
fn sessions_are_filtered_by_model_and_time() {
    let world = family();
    world.create("other", Some("Another"));
    world.user("other", "hello");
    assert_eq!(rows(&world, "/"), 2);
    for (query, expected) in [
        ("model=DEMO", 1),
        ("model=large", 0),
        ("since=1d", 2),
        ("since=2026-01-02", 2),
        ("since=2026-01-03", 0),
        ("model=demo&since=2026-01-03", 0),
    ] {
        assert_eq!(rows(&world, &format!("/?{query}")), expected, "{query}");
    }
    let hits = |query: &str| rows(&world, &format!("/fragments/sessions?{query}"));
    assert_eq!(hits("q=hello"), 1);
    assert_eq!([hits("q=hello&model=demo"), hits("q=hello&since=2026-01-03")], [0, 0]);
}

#[test]
fn any_part_of_an_id_finds_the_session() {
    let world = World::new();
    world.create("abc-12345-xyz", Some("Far away"));
    for part in ["abc-", "-xyz", "c-1234", "2345"] {
        assert!(world.page(&format!("/?q={part}")).contains("Sessions with this id"), "{part}");
    }
    assert!(!world.page("/?q=23456").contains("Sessions with this id"));
}

#[test]
fn hostile_filters_stay_text() {
    let world = family();
    let harmless = elements(&world.page("/?agent=x&workspace=x&model=x&since=7d")).len();
    let text = "%22%3E%3Cscript%3Ealert(1)%3C/script%3E";
    let page = world.page(&format!("/?agent={text}&workspace={text}&model={text}&since=7d"));
    assert_eq!(elements(&page).len(), harmless);
    assert!(!page.contains("<script>alert"));
}

#[test]
fn a_family_shows_who_runs_it_and_what_it_used() {
    // The store measures leases with the time of the machine.
    let world = World::in_time();
    world.create("main", Some("Run it"));
    world.user("main", "go");
    world.fork("main", "plan-b", "end");
    for (session, cost) in [("main", 0.25), ("plan-b", 0.5)] {
        let usage = json!({"model": "demo-1", "input": 800, "cost": cost});
        world.append(session, "provider_usage", &usage);
    }
    world.engine.take_lease(&"plan-b".parse().unwrap(), "host <b>").unwrap();
    let page = world.page("/");
    let all = elements(&page);
    let badges: Vec<_> = all.iter().filter(|it| it.get("class") == Some("badge running")).collect();
    assert_eq!(badges.len(), 1);
    assert_eq!(badges[0].get("title"), Some("run by host <b>"));
    assert!(page.contains("together: ") && page.contains("0.75"), "{page}");
}

//! Pages stay small, however many sessions and events there are.

use serde_json::{Value, json};

use crate::parsed::nodes;
use crate::world::World;

/// The largest number of nodes of a page.
const MOST: usize = 3_000;

/// The largest size of what a page loads besides itself, in bytes.
const ASSETS: usize = 60_000;

#[test]
fn a_list_of_25000_sessions_is_small() {
    let world = World::new();
    for number in 0..25_000 {
        let folder = format!("/work/{}", number % 50);
        world.create_in(&format!("s{number}"), Some(&format!("Session {number}")), &folder);
    }
    for address in ["/", "/?agent=forklore", "/?workspace=7", "/?workspace=/work/7", "/?agent=pi"] {
        let page = world.page(address);
        assert!(nodes(&page) < MOST && page.len() < 200_000, "{address}: {}", nodes(&page));
    }
    // Each page continues where the one before ended.
    let (mut address, mut seen, mut pages) = ("/".to_owned(), Vec::new(), 0);
    while pages < 5 {
        let page = world.page(&address);
        seen.extend(
            page.match_indices("href=\"/s/")
                .map(|(at, begin)| page[at + begin.len()..].split('"').next().unwrap().to_owned()),
        );
        let next = page.split("rel=\"next\" href=\"").nth(1).unwrap();
        address = format!("/{}", next.split('"').next().unwrap().replace("&amp;", "&"));
        pages += 1;
    }
    let all = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!((seen.len(), all), (300, 300));
}

#[test]
fn a_long_session_is_small_at_any_position() {
    let world = World::new();
    world.create("main", None);
    let text =
        "A paragraph with `code`, *emphasis* and a [link](https://example.org).\n\n- a\n- b\n";
    let turn = |number: usize| -> [(&'static str, Value); 4] {
        let call = json!([
            {"type": "text", "text": text.repeat(5)},
            {"type": "tool_call", "id": number.to_string(), "name": "Bash",
                "arguments": {"command": "ls"}},
        ]);
        let result = json!({"call_id": number.to_string(), "content": "x\n".repeat(200)});
        [
            ("user_message", json!({ "content": format!("turn {number}") })),
            ("assistant_message", json!({ "content": call })),
            ("tool_result", result),
            ("assistant_message", json!({ "content": text })),
        ]
    };
    let events: Vec<_> = (0..5_000).flat_map(turn).collect();
    for batch in events.chunks(1_000) {
        world.append_all("main", batch);
    }
    for at in ["", "?at=end", "?at=10000", "?turn=2500", "?before=15000", "?message=19999"] {
        let page = world.page(&format!("/s/main{at}"));
        assert!(nodes(&page) < MOST && page.len() < 400_000, "{at}: {}", nodes(&page));
    }
    // Following the links shows every turn once.
    let (mut address, mut shown) = ("/s/main".to_owned(), 0);
    for _ in 0..10 {
        let page = world.page(&address);
        let has = |turn: &usize| page.contains(&format!("class=\"text plain\">turn {turn}<"));
        let turns = (shown..).take_while(has).count();
        assert!(turns > 0 && (0..shown).all(|turn| !has(&turn)), "{address}");
        shown += turns;
        let next = page.split("rel=\"next\" href=\"").nth(1).unwrap();
        address = next.split('"').next().unwrap().to_owned();
    }
    assert!(shown > 100, "{shown}");
}

#[test]
fn one_huge_message_is_small() {
    let world = World::new();
    world.create("main", None);
    let table = format!("| a | b |\n| --- | --- |\n{}", "| x | *y* |\n".repeat(5_000));
    let lines: String = (0..5_000).map(|number| format!("line {number}\n")).collect();
    let edit = json!({"file_path": "/a", "old_string": "", "new_string": lines});
    let parts = json!([
        {"type": "text", "text": table},
        {"type": "tool_call", "id": "1", "name": "Edit", "arguments": edit},
    ]);
    for _ in 0..10 {
        world.says("main", &parts);
    }
    for at in ["", "?at=7", "?at=end"] {
        let page = world.page(&format!("/s/main{at}"));
        assert!(nodes(&page) < MOST, "{at}: {}", nodes(&page));
    }
    assert!(world.page("/s/main?at=7").contains("id=\"e-7\""));
}

#[test]
fn a_large_family_is_small() {
    let world = World::new();
    world.create("main", Some("Many branches"));
    world.user("main", "plan A or plan B?");
    for number in 0..1_000 {
        world.fork("main", &format!("b{number}"), "end");
    }
    for address in ["/", "/s/main", "/f/main", "/f/main?from=500", "/f/b999"] {
        let page = world.page(address);
        assert!(nodes(&page) < MOST, "{address}: {}", nodes(&page));
    }
}

#[test]
fn what_pages_load_is_small() {
    let world = World::new();
    let page = world.page("/");
    let assets = page.split('"').filter(|text| text.starts_with("/assets/"));
    let size: usize = assets.map(|address| world.get(address).bytes.len()).sum();
    assert!(size < ASSETS, "{size}");
}

//! Hostile text in every field: no element and no attribute of a page comes from it.

use std::collections::BTreeSet;

use forklore_core::workspace::Workspace;
use forklore_engine::Create;
use serde_json::json;

use crate::parsed::{Element, elements};
use crate::payloads;
use crate::server::POLICY;
use crate::world::{PNG, World};

const PAGES: [&str; 13] = [
    "/",
    "/s/main",
    "/s/plan-b",
    "/s/main/e/0",
    "/s/main/fork?at=0",
    "/f/main",
    "/compare/main/plan-b",
    "/stats",
    "/fragments/s/main",
    "/fragments/sessions",
    "/runs?of=plan-b",
    "/runs?s=main&s=plan-b",
    "/s/main/change",
];

/// Creates a family whose fields contain a text: title, folder, principal, roles, tools, arguments,
/// results, names and types of files, models, and payloads that cannot be read.
fn hostile(text: &str) -> World {
    let world = World::new();
    let create = Create {
        id: Some("main".parse().unwrap()),
        title: Some(text.to_owned()),
        principal: Some(text.to_owned()),
        ..Create::in_workspace(Workspace::new(&format!("/work/{text}")))
    };
    world.engine.create(&create).unwrap();
    world.user("main", text);
    let edit = json!({"file_path": text, "old_string": text, "new_string": format!("{text}x")});
    let image = json!({"type": "image", "name": text, "source":
        {"type": "base64", "media_type": "image/png", "data": PNG}});
    world.says(
        "main",
        &json!([
            {"type": "tool_call", "id": "1", "name": text, "arguments": {"command": text, text: 1}},
            {"type": "tool_call", "id": "2", "name": "Edit", "arguments": edit},
            {"type": "tool_call", "id": "3", "name": "x", "arguments": text},
            image,
            {"type": "image", "source": {"type": "base64", "media_type": text, "data": text}},
            {"type": "attachment", "ref": text, "media_type": text, "name": text},
            {"type": text, "value": text},
        ]),
    );
    world.result("main", "1", &json!(text), false);
    world.result("main", "2", &json!([{"type": "text", "text": text}, image]), true);
    world.result("main", text, &json!({ "odd": text }), false);
    world.append("main", "provider_usage", &json!({"model": text, "input_tokens": 1}));
    world.attach("main", text, "text/plain", text.as_bytes());
    world.fork("main", "plan-b", "turn:1");
    world.user("plan-b", text);
    world.says(
        "plan-b",
        &json!([
            {"type": "text", "text": text.replace(['`', '|', '[', '<', '*', '#'], " ")},
            {"type": "tool_call", "id": "4", "name": text, "arguments": edit},
        ]),
    );
    world.result("plan-b", "4", &json!(text), false);
    world
}

/// Returns what a page consists of: its elements with the names of their attributes.
fn shape(page: &str) -> Vec<(String, Vec<String>)> {
    let shape = |element: Element| {
        (element.name, element.attributes.into_iter().map(|(name, _)| name).collect())
    };
    elements(page).into_iter().map(shape).collect()
}

#[test]
fn no_element_comes_from_a_text() {
    // A text of the same form, so that the same parts of the pages are shown.
    let harmless = hostile("harmless");
    let expected: Vec<_> = PAGES.iter().map(|address| shape(&harmless.page(address))).collect();
    for text in payloads::texts("http://127.0.0.1:9") {
        // Line breaks would change how many lines an edit shows.
        let text = text.replace('\n', " ");
        let world = hostile(&text);
        for (address, expected) in PAGES.iter().zip(&expected) {
            assert_eq!(&shape(&world.page(address)), expected, "{address}: {text}");
        }
    }
}

#[test]
fn a_text_is_shown_as_it_is() {
    for text in payloads::texts("http://127.0.0.1:9") {
        let text = text.replace('\n', " ");
        if text.chars().any(|c| c.is_control() || c == '\u{202e}') {
            continue;
        }
        let world = hostile(&text);
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let shown = elements(&world.page("/s/main"));
        let title = shown.iter().find(|element| element.name == "h1").unwrap();
        let begin: String = line.chars().take(100).collect();
        assert!(title.text.starts_with(&begin), "{}: {line}", title.text);
        let message = shown.iter().find(|it| it.get("class") == Some("text plain")).unwrap();
        assert_eq!(message.text, line);
    }
}

/// The elements and attributes that Markdown may make.
const OF_MARKDOWN: [&str; 24] = [
    "p",
    "a",
    "strong",
    "em",
    "del",
    "code",
    "pre",
    "ul",
    "ol",
    "li",
    "blockquote",
    "h4",
    "h5",
    "h6",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "br",
    "hr",
    "input",
    "div",
];

#[test]
fn the_text_of_a_model_becomes_only_harmless_markdown() {
    let addresses = ["/s/main", "/s/main?at=end", "/compare/main/plan-b", "/?q=harmless"];
    let harmless = hostile("harmless");
    let own = addresses.iter().flat_map(|address| elements(&harmless.page(address)));
    let own: BTreeSet<_> = own.map(|element| element.name).collect();
    let aligned = "| a | b |\n| :-: | --: |\n| c | d |".to_owned();
    let texts = payloads::texts("http://127.0.0.1:9");
    let code = texts.iter().map(|text| format!("```html\n{text}\n```\n\n~~~rust\n{text}\n~~~"));
    for text in texts.iter().cloned().chain(code).chain([aligned]) {
        let world = hostile("harmless");
        let parts = json!([{"type": "reasoning", "text": text}, {"type": "text", "text": text}]);
        world.says("main", &parts);
        let compaction = json!({"from_index": 0, "to_index": 1, "content": text});
        world.append("main", "history_compaction", &compaction);
        for address in addresses {
            for element in elements(&world.page(address)) {
                let Element { name, attributes, .. } = &element;
                let is_own = own.contains(name) || OF_MARKDOWN.contains(&name.as_str());
                assert!(is_own, "{element:?}: {text}");
                for (attribute, value) in attributes {
                    check(name, attribute, value, &text);
                }
            }
        }
    }
}

/// Checks that an attribute can do nothing that the text wants.
fn check(element: &str, attribute: &str, value: &str, text: &str) {
    let context = || format!("{element} {attribute}={value:?}: {text}");
    assert!(!attribute.starts_with("on") && attribute != "style", "{}", context());
    match attribute {
        "src" => {
            let is_own = value.starts_with("/assets/") || value.starts_with("/s/");
            assert!(is_own, "{}", context());
        }
        "href" => {
            let is_page = value.starts_with(['/', '#', '?']) && !value.starts_with("//");
            let is_link = ["http://", "https://", "mailto:"].iter().any(|it| value.starts_with(it));
            assert!(is_page || (is_link && element == "a"), "{}", context());
        }
        "action" | "data-fragment" | "data-live" => {
            assert!(value.starts_with('/') && !value.starts_with("//"), "{}", context());
        }
        "srcdoc" | "http-equiv" | "formaction" | "background" | "data" => panic!("{}", context()),
        _ => {}
    }
}

#[test]
fn pages_obey_the_policy_of_the_server() {
    assert!(POLICY.contains("script-src 'self'") && POLICY.contains("style-src 'self'"));
    let world = hostile("harmless");
    for address in PAGES {
        for Element { name, attributes, text, .. } in elements(&world.page(address)) {
            assert!(name != "style" && (name != "script" || text.is_empty()), "{address}");
            let inline = |(attribute, _): &(String, String)| {
                attribute == "style" || attribute.starts_with("on")
            };
            assert!(!attributes.iter().any(inline), "{address}: {name}");
        }
    }
}

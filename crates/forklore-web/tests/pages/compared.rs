//! Comparing what two or more sessions did: files, tool calls, tests.

use axum::http::{StatusCode, header};
use serde_json::json;

use crate::parsed::elements;
use crate::world::World;

/// Creates two branches of one prompt: one whose test passes at last, and one whose test fails.
fn runs(file: &str) -> World {
    let world = World::new();
    world.create("main", Some("Try it"));
    world.user("main", "the task");
    for (run, failures) in [("try-1", vec![true, false]), ("try-2", vec![true])] {
        world.fork("main", run, "turn:1");
        world.user(run, &format!("do it as {run}"));
        for (number, failed) in failures.into_iter().enumerate() {
            let edit = json!({"file_path": format!("/work/demo/{file}"), "old_string": "a",
                "new_string": "a\nb"});
            let (edited, tested) = (format!("e{number}"), format!("t{number}"));
            world.says(
                run,
                &json!([
                    {"type": "tool_call", "id": edited, "name": "Edit", "arguments": edit},
                    {"type": "tool_call", "id": tested, "name": "Bash",
                        "arguments": {"command": "cargo test -q"}},
                ]),
            );
            world.result(run, &edited, &json!("done"), false);
            world.result(run, &tested, &json!("output"), failed);
        }
        world.says(run, &json!([{"type": "text", "text": format!("{run} is ready")}]));
        let usage = json!({"model": file, "input": 10, "output": 5, "cost": 0.5});
        world.append(run, "provider_usage", &usage);
    }
    let (judge, error) = ("wc -c", "the judge took over 1 s");
    let mark = json!({"name": "judged", "judge": judge, "score": 2.5, "error": null});
    world.append("try-1", "workflow_event", &mark);
    let mark = json!({"name": "judged", "judge": judge, "score": null, "error": error});
    world.append("try-2", "workflow_event", &mark);
    world
}

/// Returns the text of each row of the tables, cell by cell.
fn cells(page: &str) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut depth = usize::MAX;
    for element in elements(page) {
        match element.name.as_str() {
            "tr" => {
                depth = element.depth;
                rows.push(Vec::new());
            }
            _ if element.depth <= depth => depth = usize::MAX,
            "th" | "td" => rows.last_mut().unwrap().push(element.text),
            _ => {
                let cell = rows.last_mut().unwrap().last_mut().unwrap();
                *cell = format!("{cell} {}", element.text).trim().to_owned();
            }
        }
    }
    rows
}

#[test]
fn two_branches_show_their_files_and_tools() {
    let page = runs("plan.md").page("/compare/try-1/try-2");
    let expected = [
        vec!["File", "try-1", "try-2"],
        vec!["plan.md", "+2", "+1"],
        vec!["Tool", "try-1", "try-2"],
        vec!["Bash", "2 (1 failed)", "1 (1 failed)"],
    ];
    let found = cells(&page);
    assert_eq!(found[..4], expected);
    assert_eq!(found[4], ["Edit", "2", "1"]);
}

#[test]
fn runs_of_one_prompt_are_a_table() {
    let world = runs("model-1");
    for address in ["/runs?of=try-2", "/runs?s=try-1&s=try-2"] {
        let found = cells(&world.page(address));
        assert_eq!(found.len(), 3, "{address}");
        let of = |row: usize| found[row][1..].to_vec();
        let first = [
            "do it as try-1",
            "try-1 is ready",
            "model-1",
            "2.5",
            "passed at last of 2",
            "1 +2",
            "4",
            "15",
            "0.50",
            "1",
            "–",
        ];
        let second = [
            "do it as try-2",
            "try-2 is ready",
            "model-1",
            "the judge took over 1 s",
            "failed at last",
            "1 +1",
            "2",
            "15",
            "0.50",
            "1",
            "–",
        ];
        assert_eq!(
            (of(1), of(2)),
            (first.map(str::to_owned).to_vec(), second.map(str::to_owned).to_vec())
        );
    }
    // More than two chosen sessions are compared in the table.
    let chosen = world.get("/compare?s=main&s=try-1&s=try-2");
    assert_eq!(chosen.status, StatusCode::SEE_OTHER);
    assert_eq!(chosen.header(header::LOCATION), "/runs?s=main&s=try-1&s=try-2");
}

#[test]
fn hostile_names_stay_text() {
    let hostile = "<img src=x onerror=alert(1)>\"'";
    let world = runs(hostile);
    let harmless = runs("harmless");
    for address in ["/compare/try-1/try-2", "/runs?of=try-1"] {
        let page = world.page(address);
        assert_eq!(elements(&page).len(), elements(&harmless.page(address)).len(), "{address}");
        assert!(!page.contains("<img") && page.contains("&lt;img"), "{address}");
    }
}

#[test]
fn what_a_judge_found_in_the_folder_of_an_agent_stands_in_the_table() {
    let world = runs("plan.md");
    let mark = |failed: u64| {
        json!({"name": "judged", "judge": "cargo test", "score": 1, "error": null,
            "tests": {"passed": 3, "failed": failed}, "files": 4, "added": 40, "removed": 7,
            "seconds": 93.14})
    };
    world.append("try-1", "workflow_event", &mark(0));
    world.append("try-2", "workflow_event", &mark(1));
    let rows = cells(&world.page("/runs?of=try-1"));
    let found: Vec<_> =
        rows[1..3].iter().map(|row| [&*row[4], &*row[5], &*row[6], &*row[11]]).collect();
    let expected =
        [["1", "3 passed", "4 +40 −7", "93.1 s"], ["1", "1 of 4 failed", "4 +40 −7", "93.1 s"]];
    assert_eq!(found, expected);
}

//! Queries and texts that want to do harm.

use forklore_api::Search;
use forklore_core::ErrorKind;
use forklore_search::SearchIndex;

use crate::world::{Kind, create, lines, search, user};

#[test]
fn no_query_is_a_syntax_error() {
    let folder = tempfile::tempdir().unwrap();
    let engine = Kind::Sqlite.open(folder.path());
    create(&engine, "main", "/w");
    user(&engine, "main", "a AND b OR c NOT d NEAR e text f");
    for query in [
        "a AND b",
        "a OR",
        "NOT",
        "NEAR(a b)",
        "NEAR(a b, 2)",
        "text:a",
        "text : a",
        "{text}:a",
        "- a",
        "a -b",
        "+a",
        "^a",
        "(a",
        "a)",
        "\"a",
        "a\"",
        "\"\"a",
        "a'",
        "a\0b",
        "a*b",
        "**a*",
        "a;",
        "'a'; DROP TABLE words",
        "rank a",
        "a\u{301}",
        "\u{301} a",
        "é\"*",
        "a + b",
    ] {
        let answered = SearchIndex::of(&engine).search(&Search::of(query));
        assert!(answered.is_ok(), "{query}: {answered:?}");
    }
    assert_eq!(lines(&engine, "a AND b OR"), ["main:0 in main"]);
    assert_eq!(lines(&engine, "text: f)"), ["main:0 in main"]);
    assert_eq!(lines(&engine, "a x"), [""; 0]);
    for query in ["", "*", "\"", "\0", "regex:(", "regex:(a{1000}){1000}"] {
        let error = SearchIndex::of(&engine).search(&Search::of(query)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgs, "{query}");
    }
    let long = format!("regex:{}", "(a+)+".repeat(50));
    search(&engine, &long);
}

#[test]
fn any_text_is_indexed_and_found_by_its_words() {
    let texts = [
        "\u{1b}[2J needle\u{1b}[0m".to_owned(),
        "needle\0behind a NUL".to_owned(),
        format!("{} needle", "x".repeat(3 << 20)),
        format!("{} needle", "word ".repeat(100_000)),
        format!("needle{}", "\u{301}".repeat(50_000)),
        "\u{202e}needle\u{2066} \u{feff} \u{10ffff}".to_owned(),
        "needle \" OR 1=1 -- ' ; */".to_owned(),
    ];
    let folder = tempfile::tempdir().unwrap();
    let engine = Kind::Sqlite.open(folder.path());
    create(&engine, "main", "/w");
    texts.iter().for_each(|text| user(&engine, "main", text));
    let answer = search(&engine, "needle");
    let mut seqs: Vec<_> = answer.hits.iter().filter_map(|hit| hit.seq).collect();
    seqs.sort_unstable();
    assert_eq!(seqs, (0..texts.len() as u64).collect::<Vec<_>>());
    for hit in answer.hits {
        let text = &hit.snippet.text;
        let found = hit.snippet.highlights.iter().map(|range| {
            text.chars().skip(range.start).take(range.end - range.start).collect::<String>()
        });
        let found: Vec<_> = found.collect();
        assert!(found.len() == 1 && found[0].starts_with("needle"), "{found:?}");
        assert!(text.chars().count() <= 240, "{}", text.len());
    }
    assert_eq!(lines(&engine, "behind"), ["main:1 in main"]);
}

use super::*;

const TEXT: &str = "# A **plan**\n\nTake _winnow_, not `nom`; it is **much \
faster**: 5*3 and snake_case_names stay.\n\n- first item that is long enough to be broken\n- second\n\n\
1. one\n\n```rust\nfn main() {\n\tlet a = \"**\";\n}\n```\n> quoted\n\n---\nend \\*here\\*";

/// Replaces escape sequences by the names of their styles, so that snapshots are readable.
fn readable(text: &str) -> String {
    let names = [
        ("\u{1b}[0m", "</>"),
        ("\u{1b}[1m", "<b>"),
        ("\u{1b}[2m", "<dim>"),
        ("\u{1b}[3m", "<i>"),
        ("\u{1b}[4m", "<u>"),
        ("\u{1b}[33m", "<code>"),
        ("\u{1b}[36m", "<accent>"),
    ];
    names.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

fn shown(pieces: &[&str], look: Look) -> String {
    let mut markdown = Markdown::new(look);
    let mut text: String = pieces.iter().map(|piece| markdown.push(piece)).collect();
    text.push_str(&markdown.finish());
    text
}

#[test]
fn what_is_marked_is_shown() {
    let look = Look { color: true, width: 30 };
    insta::assert_snapshot!(readable(&shown(&[TEXT], look)));
}

#[test]
fn it_is_the_same_in_whatever_pieces_it_comes() {
    let look = Look { color: true, width: 30 };
    let whole = shown(&[TEXT], look);
    let letters: Vec<String> = TEXT.chars().map(String::from).collect();
    let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
    assert_eq!(shown(&letters, look), whole);
    for size in [2, 3, 7] {
        let pieces: Vec<String> = letters.chunks(size).map(<[&str]>::concat).collect();
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        assert_eq!(shown(&pieces, look), whole);
    }
}

#[test]
fn without_colour_only_lines_are_broken() {
    let plain = shown(&["**a** `b`\n- ccc ddd\n"], Look { color: false, width: 6 });
    assert_eq!(plain, "**a**\n`b`\n- ccc\nddd\n");
}

#[test]
fn hostile_text_is_escaped_everywhere() {
    let hostile =
        "\u{1b}]0;x\u{7} **\u{1b}[31m** `\u{202e}`\n# \u{9b}2J\n```\u{1b}c\n\u{1b}[2J\n```\n";
    for color in [true, false] {
        let text = shown(&[hostile], Look { color, width: 40 });
        for bad in ["\u{1b}]", "\u{1b}[31m", "\u{202e}", "\u{9b}", "\u{1b}c", "\u{1b}[2J", "\u{7}"]
        {
            assert!(!text.contains(bad), "{bad:?} in {text:?}");
        }
    }
}

#[test]
fn words_are_written_when_they_are_whole() {
    let mut markdown = Markdown::new(Look { color: true, width: 80 });
    assert_eq!(markdown.push("Hel"), "");
    assert_eq!(markdown.push("lo wor"), "Hello");
    assert_eq!(markdown.push("ld\n"), " world\n");
    assert_eq!(markdown.finish(), "");
}

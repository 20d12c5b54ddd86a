//! The list of all characters that forklore never writes to a terminal.

/// Checks whether a character could control a terminal or would be invisible to the reader.
///
/// Such characters are the controls (C0, DEL, C1), the line and paragraph separators, the
/// bidirectional controls, and everything that Unicode displays as nothing: zero-width, format,
/// filler, tag and variation characters. The list includes the zero-width joiner, so a joined emoji
/// is split: joiners can also encode a hidden message.
#[must_use]
pub const fn is_hostile(c: char) -> bool {
    matches!(c,
        // controls: C0; DEL and C1
        '\0'..='\x1f' | '\x7f'..='\u{9f}'
        // soft hyphen, grapheme joiner, Arabic letter mark
        | '\u{ad}' | '\u{34f}' | '\u{61c}'
        // Hangul fillers, Khmer inherent vowels, Mongolian selectors and vowel separator
        | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{3164}' | '\u{ffa0}'
        // zero width, directional marks, separators, embeddings, isolates, invisible operators
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        // variation selectors, byte order mark, interlinear annotations
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff0}'..='\u{fffb}'
        // hieroglyph joiners, shorthand and musical format controls
        | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        // tags and the selectors of plane 14
        | '\u{e0000}'..='\u{e0fff}'
    )
}

//! Fuzzes names. A text must be refused, or be a valid name that parses to itself and is displayed
//! without hidden characters.
#![no_main]

use forklore::core::{EventId, EventType, Label, SessionId};
use forklore_sanitize::terminal::{is_hostile, line};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(id) = text.parse::<SessionId>() {
        assert_eq!(id.as_str().parse::<SessionId>().as_ref(), Ok(&id));
        assert!(id.as_str().len() <= 235 && !id.as_str().chars().any(char::is_control));
        assert!(!id.as_str().contains(['/', '\\']) && id.as_str() != "last");
        // The grammar allows combining marks, some of which are invisible. The display escapes
        // those.
        assert!(!line(id.as_str()).chars().any(is_hostile), "{id:?}");
        // Ids that fold to the same text are the same id, so folding twice must change nothing.
        if let Ok(folded) = id.fold().parse::<SessionId>() {
            assert_eq!(folded.fold(), id.fold());
        }
    }
    if let Ok(label) = text.parse::<Label>() {
        assert_eq!(label.as_str().parse::<Label>().as_ref(), Ok(&label));
        assert!(label.as_str().len() <= 64 && !line(label.as_str()).chars().any(is_hostile));
    }
    if let Ok(id) = text.parse::<EventId>() {
        assert_eq!(id.as_str(), text);
    }
    if let Ok(kind) = text.parse::<EventType>() {
        assert_eq!(kind.as_str(), text);
    }
});

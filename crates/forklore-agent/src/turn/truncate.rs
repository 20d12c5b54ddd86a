//! Truncates tool results to the size that the model may receive.

use forklore_core::Data;
use serde_json::{Value, json};

use super::readable_json::text_data;

/// Truncates the content of a tool result to about `most` bytes. Retains the beginning and the end,
/// with a note between them that states how many bytes are left out.
pub(super) fn truncated(content: Data, most: usize) -> Data {
    if content.get().len() <= most {
        return content;
    }
    if let Ok(text) = content.read::<String>() {
        return text_data(&shorten(&text, most));
    }
    let text = match content.read::<Vec<Value>>() {
        Ok(parts) if parts.iter().all(is_text) => {
            let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        // Any content other than a string or a list of text parts is shown as JSON.
        _ => content.get().to_owned(),
    };
    let text = shorten(&text, most);
    Data::of(&json!([{"type": "text", "text": text}])).unwrap_or_else(|_| text_data(&text))
}

fn is_text(part: &Value) -> bool {
    part.get("type").is_some_and(|kind| kind == "text")
}

/// Returns the complete content of a tool result as bytes for an attachment, with their media type.
pub(super) fn whole(content: &Data) -> (Vec<u8>, &'static str) {
    content.read::<String>().map_or_else(
        |_| (content.get().as_bytes().to_vec(), "application/json"),
        |text| (text.into_bytes(), "text/plain"),
    )
}

/// Truncates a text to about `most` bytes. Retains the beginning and the end.
pub(super) fn shorten(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    // JSON escapes make the text longer than its bytes here, so retain less than `most` bytes. The
    // note states a number of unescaped bytes.
    let head = boundary(text, most / 4 * 3);
    let tail = boundary(text, text.len().saturating_sub(most / 8)).max(head);
    let left_out = tail - head;
    let (begin, end) = (text.get(..head).unwrap_or(""), text.get(tail..).unwrap_or(""));
    format!("{begin}\n\n[{left_out} of {} bytes left out]\n\n{end}", text.len())
}

/// Returns the last character boundary of `text` at or before the byte offset `at`.
pub(super) fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_left_alone() {
        let data = Data::parse(r#"[{"type":"image","data":"x"}]"#).unwrap();
        assert_eq!(truncated(data.clone(), 100), data);
    }

    #[test]
    fn a_long_text_keeps_both_ends() {
        let text = format!("begin{}end", "é".repeat(10_000));
        let short: String = truncated(text_data(&text), 1_000).read().unwrap();
        assert!(short.starts_with("beginéé") && short.ends_with("ééend"), "{short}");
        assert!(short.len() < 1_000, "{}", short.len());
        assert!(short.contains("of 20008 bytes left out]"), "{short}");
    }

    #[test]
    fn other_forms_become_a_text() {
        let long = "x".repeat(5_000);
        let data = Data::of(&json!([{"type": "text", "text": long}])).unwrap();
        let parts: Vec<Value> = truncated(data, 400).read().unwrap();
        assert_eq!(parts.len(), 1);
        assert!(parts[0]["text"].as_str().unwrap().contains("bytes left out"));
        let data = Data::of(&json!({"rows": vec![1; 5_000]})).unwrap();
        let parts: Vec<Value> = truncated(data, 400).read().unwrap();
        assert!(parts[0]["text"].as_str().unwrap().starts_with("{\"rows\":[1,1"));
    }
}

//! Converts messages to parts that every agent's format can express.
//!
//! An exported message may come from any agent, and its images and tool results have that agent's
//! form. Parts that other agents cannot read are left out and counted as losses. An example is
//! reasoning, which only the model that wrote it can use.

use std::borrow::Cow;
use std::collections::BTreeMap;

use forklore_core::{Data, Inline, Message, Part, Role, inline};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// Maximum length in bytes of a tool call's id that every model provider accepts.
const LONGEST_ID: usize = 64;

/// How much of each kind an export lost. The key is the kind, such as `image`. An export loses the
/// message parts and system messages that it leaves out, and the mark of a failed tool result if
/// the format has no such mark.
pub(crate) type Losses = BTreeMap<String, u64>;

/// The key under which [`Losses`] counts images.
const IMAGE: &str = "image";
/// The key under which [`Losses`] counts failed tool results in a format that cannot mark a result
/// as failed.
const FAILURE: &str = "is_error";

/// A part of a message that every agent's format can express.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Piece {
    Text(String),
    Image { media_type: String, base64: String },
    Call { id: String, name: String, arguments: Data },
    Result { call_id: String, name: Option<String>, content: Vec<Piece>, is_error: bool },
}

/// Converts a message to the parts that every agent's format can express. Counts the parts that are
/// left out in `losses`.
pub(crate) fn of_message(message: &Message, losses: &mut Losses) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for part in message.to_parts() {
        match part {
            Part::Text { text } if text.is_empty() => {}
            Part::Text { text } => pieces.push(Piece::Text(text)),
            Part::Reasoning { .. } => lose("reasoning", losses),
            Part::ToolCall { id, name, arguments } => {
                pieces.push(Piece::Call { id, name, arguments });
            }
            Part::ToolResult { call_id, name, content, is_error, .. } => {
                let content = of_content(&content, losses);
                pieces.push(Piece::Result { call_id, name, content, is_error });
            }
            Part::Attachment { .. } => lose("attachment", losses),
            Part::Other { value } => match foreign(&value) {
                // No provider accepts an image in a message of the model.
                Some(Piece::Image { .. }) if message.role == Role::Assistant => {
                    lose(IMAGE, losses);
                }
                Some(piece) => pieces.push(piece),
                None => lose("other", losses),
            },
        }
    }
    pieces
}

/// Counts the mark of failure of a tool result as lost, if the result has it.
pub(crate) fn lose_failure(is_error: bool, losses: &mut Losses) {
    if is_error {
        lose(FAILURE, losses);
    }
}

/// Counts each image among these message parts as lost. It is for content that the agent's format
/// stores as text only.
pub(crate) fn lose_images(pieces: &[Piece], losses: &mut Losses) {
    let images = pieces.iter().filter(|piece| matches!(piece, Piece::Image { .. }));
    images.for_each(|_| lose(IMAGE, losses));
}

/// Returns the texts among these message parts, joined by line breaks.
pub(crate) fn text_of(pieces: &[Piece]) -> String {
    let texts = pieces.iter().filter_map(|piece| match piece {
        Piece::Text(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Converts a tool call's id to one that every model provider accepts. The conversion is
/// deterministic, so that a call and its result still have the same id.
pub(crate) fn plain_id(id: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !id.is_empty() && id.len() <= LONGEST_ID && id.chars().all(plain) {
        return Cow::Borrowed(id);
    }
    let begun: String = id.chars().filter(|c| plain(*c)).take(LONGEST_ID - 9).collect();
    // An FNV-1a hash distinguishes ids that differ only in the dropped characters.
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let hash = id.bytes().fold(0x811c_9dc5, step);
    Cow::Owned(format!("{begun}_{hash:08x}"))
}

/// Returns the arguments of a tool call as a JSON object. Arguments that are no object become the
/// field `input` of an object; `null` becomes an empty object.
pub(crate) fn object(arguments: &Data) -> Value {
    match serde_json::from_str(arguments.get()) {
        Ok(Value::Object(fields)) => Value::Object(fields),
        Ok(Value::Null) => serde_json::json!({}),
        Ok(value) => serde_json::json!({ "input": value }),
        Err(_) => serde_json::json!({ "input": arguments.get() }),
    }
}

/// Returns the text of [`object`]. Arguments that are an object remain as they are written.
pub(crate) fn object_text(arguments: &Data) -> String {
    let text = arguments.get();
    if text.starts_with('{') { text.to_owned() } else { object(arguments).to_string() }
}

/// Returns the arguments of a tool call as a JSON object, in the text of [`object_text`]: numbers
/// and the order of the fields remain as the model wrote them.
pub(crate) fn raw_object(arguments: &Data) -> Box<RawValue> {
    // The text is JSON, so it cannot be refused.
    RawValue::from_string(object_text(arguments)).unwrap_or_default()
}

/// Converts the content of a tool result to message parts. The content is a string, a list of
/// blocks in any agent's form, or other JSON, which becomes text.
fn of_content(content: &Data, losses: &mut Losses) -> Vec<Piece> {
    if let Ok(text) = content.read::<String>() {
        return vec![Piece::Text(text)];
    }
    if let Some(text) = response_text(content) {
        return vec![Piece::Text(text)];
    }
    let Ok(blocks) = content.read::<Vec<Data>>() else {
        return vec![Piece::Text(content.get().to_owned())];
    };
    let mut pieces = Vec::new();
    for block in blocks {
        if let Some(response) = function_response(&block) {
            pieces.extend(response);
            continue;
        }
        match foreign(&block) {
            Some(piece) => pieces.push(piece),
            None if block.read::<Kind>().is_ok() => lose("other", losses),
            None => pieces.push(Piece::Text(block.get().to_owned())),
        }
    }
    pieces
}

/// Returns the text and the images of a block of the form `{"functionResponse": {...}}`, which
/// Google's API uses for tool results. Returns `None` if the block has another form.
fn function_response(block: &Data) -> Option<Vec<Piece>> {
    #[derive(Deserialize)]
    struct Block {
        #[serde(rename = "functionResponse")]
        function: Function,
    }
    #[derive(Deserialize)]
    struct Function {
        response: Data,
        #[serde(default)]
        parts: Vec<Data>,
    }
    let Block { function: Function { response, parts } } = block.read().ok()?;
    let text = response_text(&response).unwrap_or_else(|| response.get().to_owned());
    let images = parts.iter().filter_map(foreign);
    Some(std::iter::once(Piece::Text(text)).chain(images).collect())
}

/// Returns the text of a tool result in Gemini's form, `{"output": "..."}` or `{"error": "..."}`.
/// Returns `None` if the content has another form.
fn response_text(content: &Data) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Response {
        Output(String),
        Error(String),
    }
    let (Response::Output(text) | Response::Error(text)) = content.read().ok()?;
    Some(text)
}

#[derive(Deserialize)]
struct Kind {
    #[serde(rename = "type")]
    _kind: String,
}

/// Counts one message part of this kind that the export leaves out.
pub(crate) fn lose(kind: &str, losses: &mut Losses) {
    *losses.entry(kind.to_owned()).or_default() += 1;
}

/// Parses a content block of any agent. Returns `None` if the block is neither text nor an image.
fn foreign(block: &Data) -> Option<Piece> {
    #[derive(Deserialize)]
    struct TextBlock {
        text: String,
    }
    let block = block.readable();
    if let Ok(TextBlock { text }) = block.read() {
        return Some(Piece::Text(text));
    }
    let url = block.read::<String>().ok().filter(|url| url.starts_with("data:"));
    let url = url.map(|url| serde_json::json!({ "url": url }).to_string());
    let Inline { media_type, base64, .. } = inline(url.as_deref().unwrap_or(block.get()))?;
    let (media_type, base64) = (media_type.into_owned(), base64.into_owned());
    media_type.starts_with("image/").then_some(Piece::Image { media_type, base64 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use forklore_core::{Content, Role};

    fn data(json: &str) -> Data {
        Data::parse(json).unwrap()
    }

    #[test]
    fn pictures_are_recognised_and_documents_are_not() {
        let image = Piece::Image { media_type: "image/png".into(), base64: "AA==".into() };
        let form = r#"{"type":"input_image","image_url":"data:image/png;base64,AA=="}"#;
        assert_eq!(foreign(&data(form)), Some(image.clone()));
        assert_eq!(foreign(&data(r#""data:image/png;base64,AA==""#)), Some(image));
        assert_eq!(foreign(&data(r#""shop.png""#)), None);
        let form = r#"{"type":"document","source":{"media_type":"application/pdf","data":"AA=="}}"#;
        assert_eq!(foreign(&data(form)), None);
        assert_eq!(foreign(&data(r#"{"text":"a"}"#)), Some(Piece::Text("a".into())));
    }

    #[test]
    fn a_response_of_gemini_is_the_text_in_it() {
        let text = |json: &str| of_content(&data(json), &mut Losses::new());
        assert_eq!(text(r#"{"output":"a"}"#), [Piece::Text("a".into())]);
        assert_eq!(text(r#"{"error":"b"}"#), [Piece::Text("b".into())]);
        for other in [r#"{"output":1}"#, r#"{"output":"a","exit":0}"#, "{}"] {
            assert_eq!(text(other), [Piece::Text(other.into())]);
        }
    }

    #[test]
    fn images_next_to_a_response_of_gemini_come_along() {
        let response = r#"{"functionResponse":{"name":"read","response":{"output":"a"}}}"#;
        let image = r#"{"inlineData":{"mimeType":"image/png","data":"AA=="}}"#;
        let picture = Piece::Image { media_type: "image/png".into(), base64: "AA==".into() };
        let want = [Piece::Text("a".into()), picture];
        let separate = format!("[{response},{image}]");
        assert_eq!(of_content(&data(&separate), &mut Losses::new()), want);
        let inside = format!(
            r#"[{{"functionResponse":{{"response":{{"output":"a"}},"parts":[{image}]}}}}]"#
        );
        assert_eq!(of_content(&data(&inside), &mut Losses::new()), want);
        let text = r#"[{"functionResponse":{"response":{"exit":0}}}]"#;
        let whole = [Piece::Text(r#"{"exit":0}"#.into())];
        assert_eq!(of_content(&data(text), &mut Losses::new()), whole);
    }

    #[test]
    fn a_picture_by_the_model_is_counted() {
        let value = data(r#"{"type":"file","url":"data:image/png;base64,AA=="}"#);
        let message = Message::parts(Role::Assistant, vec![Part::Other { value }]);
        let mut losses = Losses::new();
        assert_eq!(of_message(&message, &mut losses), []);
        assert_eq!(losses, Losses::from([(IMAGE.to_owned(), 1)]));
    }

    #[test]
    fn ids_of_calls_are_plain_and_stay_apart() {
        assert_eq!(plain_id("call_1-a"), "call_1-a");
        let (one, two) = (plain_id("call_1|fc_1"), plain_id("call_1/fc_1"));
        assert!(one.starts_with("call_1fc_1_") && two.starts_with("call_1fc_1_") && one != two);
        assert_eq!(plain_id(&"x".repeat(65)).len(), LONGEST_ID);
        assert_eq!(object(&data("[1]")), serde_json::json!({"input": [1]}));
        assert_eq!(object_text(&data("[1]")), r#"{"input":[1]}"#);
        assert_eq!(object_text(&data(r#"{"b":1.0,"a":2}"#)), r#"{"b":1.0,"a":2}"#);
        let long = r#"{"b":12345678901234567890123,"a":1.0}"#;
        assert_eq!(raw_object(&data(long)).get(), long);
        assert_eq!(raw_object(&data("null")).get(), "{}");
    }

    #[test]
    fn what_has_no_form_is_counted() {
        let parts = vec![
            Part::Text { text: "a".into() },
            Part::Reasoning { text: "b".into(), provider: None, model: None, opaque: None },
            Part::Other { value: data(r#"{"type":"video"}"#) },
            Part::ToolResult {
                call_id: "c".into(),
                name: None,
                content: data(r#"[{"type":"text","text":"d"},{"type":"x"},7]"#),
                is_error: true,
                synthetic: false,
            },
        ];
        let mut losses = Losses::new();
        let message = Message { role: Role::Assistant, content: Content::Parts(parts) };
        let pieces = of_message(&message, &mut losses);
        let content = vec![Piece::Text("d".into()), Piece::Text("7".into())];
        let result = Piece::Result { call_id: "c".into(), name: None, content, is_error: true };
        assert_eq!(pieces, [Piece::Text("a".into()), result]);
        let counted = [("other".to_owned(), 2), ("reasoning".to_owned(), 1)];
        assert_eq!(losses, Losses::from(counted));
    }
}

//! The verbs that a store can execute by itself.

use serde_json::Value;

use crate::schema::{self, Definitions, Field, Type};

/// Verbs that need more than a store: a model, a terminal, or a machine's files. The program has them.
const OF_THE_PROGRAM: [&str; 13] = [
    "turn",
    "discover",
    "preview",
    "explore",
    "resume_in",
    "restore_all",
    "graph",
    "vocabulary",
    "sparql",
    "repair",
    "backup",
    "restore_store",
    "doctor",
];

/// A verb with its parameters and its answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Verb {
    /// The name in a request.
    pub name: String,
    /// What the verb does, in sentences.
    pub doc: String,
    /// The parameters, those first that a caller must give.
    pub parameters: Vec<Field>,
    /// What the verb answers.
    pub answer: Answer,
}

/// What a verb answers.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// One object.
    One(Type),
    /// A line for each item.
    Rows(Type),
    /// Bytes.
    Bytes,
    /// One object. The request also sends bytes.
    OneForBytes(Type),
}

impl Verb {
    /// Returns the types of the parameters and of the answer.
    pub fn types(&self) -> impl Iterator<Item = &Type> {
        let answer = match &self.answer {
            Answer::One(kind) | Answer::Rows(kind) | Answer::OneForBytes(kind) => Some(kind),
            Answer::Bytes => None,
        };
        self.parameters.iter().map(|field| &field.kind).chain(answer)
    }
}

/// Returns the verbs of the contract that a store can execute by itself.
#[must_use]
pub fn verbs(schema: &Value, definitions: &Definitions) -> Vec<Verb> {
    let requests = schema.pointer("/$defs/Request/oneOf").and_then(Value::as_array);
    let verbs = requests.into_iter().flatten().filter_map(|request| verb(request, definitions));
    verbs.filter(|verb| !OF_THE_PROGRAM.contains(&verb.name.as_str())).collect()
}

fn verb(request: &Value, definitions: &Definitions) -> Option<Verb> {
    let (name, value) = request["properties"].as_object()?.iter().next()?;
    let parameters = match schema::of(value) {
        Type::Named(name) => definitions.get(&name)?.kind.clone(),
        kind => kind,
    };
    let Type::Object(mut parameters) = parameters else { return None };
    let text = request["description"].as_str()?.split_whitespace().collect::<Vec<_>>().join(" ");
    let answer = answer(name, &text)?;
    if answer == Answer::Bytes {
        // The bytes are the caller's, who writes a file or not.
        parameters.retain(|field| field.name != "path" && field.name != "overwrite");
    }
    let first = schema::doc(request);
    let doc = first.split("The answer is").next().unwrap_or(&first).trim().to_owned();
    Some(Verb { name: name.clone(), doc, parameters, answer })
}

/// Finds the answer in the description of a request: `The answer is [X]`, with what follows.
fn answer(verb: &str, description: &str) -> Option<Answer> {
    let (_, answer) = description.split_once("The answer is ")?;
    let is_rows = answer.starts_with("one ");
    let (_, name) = answer.split_once("[`")?;
    let (name, rest) = name.split_once('`')?;
    let kind = Type::Named(name.to_owned());
    Some(match verb {
        "attach" => Answer::OneForBytes(kind),
        _ if is_rows => Answer::Rows(kind),
        _ if rest.contains("or the bytes") => Answer::Bytes,
        _ => Answer::One(kind),
    })
}

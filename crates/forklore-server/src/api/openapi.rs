//! The description of every route as OpenAPI 3.1. A test writes it to `docs/reference/openapi.json`,
//! which the server sends.

use serde_json::{Map, Value, json};

use crate::problem::Problem;

/// A route as the description has it.
struct Route {
    method: &'static str,
    path: &'static str,
    summary: &'static str,
    /// The parameters behind `?`, each with its schema.
    query: Vec<(&'static str, Value)>,
    /// The schema of the body.
    body: Option<Value>,
    /// Whether the body is bytes of any media type.
    is_upload: bool,
    /// The schema of the answer; `None` for bytes and streams.
    answer: Option<Value>,
    status: u16,
    /// The media type of an answer without a schema.
    media: &'static str,
    headers: Vec<(&'static str, &'static str)>,
}

/// Returns the description. `contract` is the JSON Schema of the contract.
#[must_use]
pub fn document(contract: &Value) -> Value {
    let mut schemas = contract.get("$defs").and_then(Value::as_object).cloned().unwrap_or_default();
    let problem = schemars::generate::SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<Problem>();
    let mut problem = serde_json::to_value(problem).unwrap_or_default();
    if let Some(problem) = problem.as_object_mut() {
        problem.remove("$schema");
        if let Some(Value::Object(more)) = problem.remove("$defs") {
            for (name, schema) in more {
                schemas.entry(name).or_insert(schema);
            }
        }
    }
    schemas.insert("Problem".to_owned(), problem);
    schemas.extend(forklore_web_chat::schemas());
    own_schemas(&mut schemas);
    let mut paths = Map::new();
    for route in routes() {
        let path = paths.entry(format!("/api/v1{}", route.path)).or_insert_with(|| json!({}));
        if let Some(methods) = path.as_object_mut() {
            methods.insert(route.method.to_owned(), operation(&route));
        }
    }
    let text = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "forklore",
            "version": "1",
            "summary": "Sessions of AI agents that fork",
            "license": { "name": "MIT OR Apache-2.0" },
        },
        "security": [{ "token": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "schemas": schemas,
        },
    });
    // A repeated item of a set counts once.
    let text = text.to_string().replace("#/$defs/", "#/components/schemas/");
    let text = text.replace(",\"uniqueItems\":true", "");
    serde_json::from_str(&text).unwrap_or_default()
}

fn copied((name, value): (&String, &Value)) -> (String, Value) {
    (name.clone(), value.clone())
}

fn of(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

/// The pages that only the server has, and requests without the session that the path names.
fn own_schemas(schemas: &mut Map<String, Value>) {
    for (name, field) in
        [("Fork", "parent_session_id"), ("Bring", "into_session_id"), ("Undelete", "session_id")]
    {
        let Some(mut schema) = schemas.get(name).cloned() else { continue };
        if let Some(Value::Array(required)) = schema.get_mut("required") {
            required.retain(|one| one != field);
        }
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            properties.remove(field);
        }
        schemas.insert(format!("{name}Body"), schema);
    }
    let page = |items: &str, of_items: Value, more: &Value| {
        let own = json!({
            "session_id": of("SessionId"),
            "next": { "type": "integer", "minimum": 0 },
            items: { "type": "array", "items": of_items },
        });
        let properties: Map<_, _> =
            [&own, more].into_iter().filter_map(Value::as_object).flatten().map(copied).collect();
        json!({ "type": "object", "properties": properties, "required": ["session_id", items] })
    };
    let own = [
        (
            "EventPage",
            page("events", of("EventLine"), &json!({ "head_seq": { "type": "integer" } })),
        ),
        (
            "MessagePage",
            page("records", of("Record"), &json!({ "messages": { "type": "integer" } })),
        ),
        ("Files", page("files", json!({ "type": "string" }), &json!({}))),
        ("OpenApi", json!({ "type": "object" })),
    ];
    let own = own.into_iter().chain(own_bodies());
    own.for_each(|(name, schema)| drop(schemas.insert(name.to_owned(), schema)));
}

/// What only the server takes or answers.
fn own_bodies() -> [(&'static str, Value); 5] {
    [
        (
            "SessionChanges",
            json!({
                "type": "object", "additionalProperties": false,
                "properties": {
                    "title": { "type": ["string", "null"] },
                    "label": { "anyOf": [of("Label"), { "type": "null" }] },
                },
            }),
        ),
        (
            "LeaseOwner",
            json!({
                "type": "object", "additionalProperties": false, "required": ["owner"],
                "properties": { "owner": { "type": "string", "minLength": 1, "maxLength": 200 } },
            }),
        ),
        (
            "ResumeCommand",
            json!({
                "type": "object", "required": ["session_id", "agent", "command"],
                "properties": {
                    "session_id": of("SessionId"),
                    "agent": { "type": "string" },
                    "command": { "type": "array", "items": { "type": "string" } },
                },
            }),
        ),
        (
            "PackBody",
            json!({
                "type": "object", "additionalProperties": false,
                "properties": {
                    "idle_days": { "type": "integer", "minimum": 0, "maximum": u32::MAX },
                },
            }),
        ),
        (
            "UndoBody",
            json!({
                "type": "object", "additionalProperties": false,
                "properties": { "partial": { "type": "boolean" }, "dry_run": { "type": "boolean" } },
            }),
        ),
    ]
}

fn operation(route: &Route) -> Value {
    let mut parameters = Vec::new();
    for name in route.path.split(['{', '}']).skip(1).step_by(2) {
        let schema = match name {
            "id" => of("SessionId"),
            "attachment" => of("AttachmentId"),
            "part" => of("VocabularyPart"),
            "approval" => json!({ "type": "string", "minLength": 1 }),
            _ => json!({ "type": "integer", "minimum": 1 }),
        };
        parameters.push(json!({ "name": name, "in": "path", "required": true, "schema": schema }));
    }
    for (name, schema) in &route.query {
        let is_required = name.ends_with('!');
        let name = name.trim_end_matches('!');
        parameters.push(
            json!({ "name": name, "in": "query", "required": is_required, "schema": schema }),
        );
    }
    for (name, description) in &route.headers {
        parameters.push(json!({
            "name": name, "in": "header", "description": description,
            "schema": { "type": "string" },
        }));
    }
    let content = match &route.answer {
        Some(schema) => json!({ "application/json": { "schema": schema } }),
        None => route.media.split(", ").map(|media| (media.to_owned(), json!({}))).collect(),
    };
    let failed = json!({
        "description": "What is wrong, and what to do next",
        "content": { "application/problem+json": { "schema": of("Problem") } },
    });
    let mut operation = json!({
        "summary": route.summary,
        "operationId": name(route),
        "parameters": parameters,
        "responses": {
            route.status.to_string(): { "description": route.summary, "content": content },
            "default": failed,
        },
    });
    if let (true, Some(fields)) = (route.is_upload, operation.as_object_mut()) {
        let body = json!({ "required": true, "content": { "application/octet-stream": {} } });
        fields.insert("requestBody".to_owned(), body);
    }
    if let (Some(schema), Some(fields)) = (&route.body, operation.as_object_mut()) {
        let content = json!({ "application/json": { "schema": schema } });
        let body = json!({ "required": true, "content": content });
        fields.insert("requestBody".to_owned(), body);
    }
    operation
}

/// Returns a name such as `post_sessions_id_forks`.
fn name(route: &Route) -> String {
    let words = route.path.split(|c: char| !c.is_ascii_alphanumeric());
    let words = words.filter(|word| !word.is_empty());
    std::iter::once(route.method).chain(words).collect::<Vec<_>>().join("_")
}

fn route(method: &'static str, path: &'static str, summary: &'static str, answer: &str) -> Route {
    let answer = (!answer.is_empty()).then(|| of(answer));
    let (query, headers) = (Vec::new(), Vec::new());
    let media = "application/octet-stream";
    Route {
        method,
        path,
        summary,
        query,
        body: None,
        is_upload: false,
        answer,
        status: 200,
        media,
        headers,
    }
}

impl Route {
    fn with(mut self, name: &'static str, schema: Value) -> Self {
        self.query.push((name, schema));
        self
    }

    fn taking(mut self, body: &str) -> Self {
        self.body = Some(of(body));
        self
    }

    fn uploading(mut self) -> Self {
        self.is_upload = true;
        self
    }

    fn of_media(mut self, media: &'static str) -> Self {
        self.media = media;
        self
    }

    fn creating(mut self) -> Self {
        self.status = 201;
        self
    }

    fn accepting(mut self) -> Self {
        self.status = 202;
        self
    }

    fn streaming(self) -> Self {
        let mut streaming = self;
        streaming.media = "text/event-stream";
        streaming
            .header("Last-Event-ID", "the id of the last event that the client has")
            .with("after", json!({ "type": "string" }))
    }

    fn header(mut self, name: &'static str, description: &'static str) -> Self {
        self.headers.push((name, description));
        self
    }
}

#[allow(clippy::too_many_lines, reason = "a table")]
fn routes() -> Vec<Route> {
    let text = || json!({ "type": "string" });
    let flag = || json!({ "type": "boolean" });
    let number = || json!({ "type": "integer", "minimum": 0 });
    let limit = |most: u64| json!({ "type": "integer", "minimum": 1, "maximum": most });
    let time = || json!({ "type": "string", "format": "date-time" });
    let if_match = "the head that the writer expects: the ETag of the session";
    vec![
        route("get", "/openapi.json", "This description", "OpenApi"),
        route("get", "/sessions", "A page of sessions, the last written first", "SessionPage")
            .with("workspace", text())
            .with("kind", of("SessionKind"))
            .with("since", time())
            .with("limit", limit(1_000))
            .with("after", text())
            .with("deleted", flag()),
        route("post", "/sessions", "Creates a session", "SessionAnswer")
            .taking("Create")
            .creating(),
        route("get", "/sessions/{id}", "A session", "SessionAnswer"),
        route("patch", "/sessions/{id}", "Changes the title or the label", "SessionAnswer")
            .taking("SessionChanges"),
        route("delete", "/sessions/{id}", "Deletes a session into the trash", "Deleted")
            .with("mode", of("DeleteMode"))
            .with("dry_run", flag())
            .with("erase", flag()),
        route(
            "post",
            "/sessions/{id}/undelete",
            "Brings a session back from the trash",
            "Undeleted",
        )
        .taking("UndeleteBody"),
        route("post", "/sessions/{id}/detach", "Copies what a branch inherits", "Detached"),
        route("get", "/sessions/{id}/events", "A page of events, as they are stored", "EventPage")
            .with("seq", number())
            .with("index", number())
            .with("turn", number())
            .with("event", text())
            .with("backward", flag())
            .with("limit", limit(1_000)),
        route("post", "/sessions/{id}/events", "Appends events, all or none", "Appended")
            .taking("Batch")
            .header("If-Match", if_match)
            .creating(),
        route("get", "/sessions/{id}/events/live", "The events, also those to come", "")
            .streaming(),
        route("get", "/sessions/{id}/messages", "A page of the conversation", "MessagePage")
            .with("from", number())
            .with("limit", limit(1_000)),
        route("get", "/sessions/{id}/context", "What a model would receive", "Inspection"),
        route("post", "/sessions/{id}/forks", "Creates a branch or a delegate", "Forked")
            .taking("ForkBody")
            .header("Idempotency-Key", "the id of the child; the repetition returns the same child")
            .creating(),
        route("post", "/sessions/{id}/brought", "Records what a branch found", "Brought")
            .taking("BringBody"),
        route("get", "/sessions/{id}/tree", "The family as a tree", "Tree")
            .with("levels", limit(64)),
        route("get", "/sessions/{id}/branches", "The branches of the family", "Branches"),
        route("get", "/sessions/{id}/lineage", "Ancestors and children", "Lineage"),
        route("get", "/sessions/{id}/stats", "Counts of the session or its family", "StatsAnswer")
            .with("family", flag()),
        route("put", "/sessions/{id}/lease", "Takes the lease", "SessionAnswer")
            .taking("LeaseOwner"),
        route("delete", "/sessions/{id}/lease", "Gives the lease back", "SessionAnswer")
            .taking("LeaseOwner"),
        route("get", "/sessions/{id}/attachments", "The attachments", "Attachments"),
        route(
            "post",
            "/sessions/{id}/attachments",
            "Stores an attachment with a message",
            "Attached",
        )
        .uploading()
        .with("name", text())
        .with("text", text())
        .with("owner", text())
        .header("If-Match", if_match)
        .creating(),
        route("get", "/sessions/{id}/attachments/{attachment}", "The bytes of an attachment", ""),
        route("get", "/sessions/{id}/files", "The files of an imported session", "Files"),
        route("get", "/sessions/{id}/file", "The imported file, byte for byte", ""),
        route("get", "/sessions/{id}/export", "The session in a format, as a download", "")
            .with("to!", text())
            .with("at", of("Selector"))
            .with("cwd", text()),
        route(
            "get",
            "/sessions/{id}/resume-in",
            "The command that goes on in an agent; it is not run",
            "ResumeCommand",
        )
        .with("agent!", text()),
        route("get", "/sessions/{id}/verification", "Checks a session", "Verification"),
        route("post", "/imports", "Imports the session file that is the body", "Imported")
            .uploading()
            .with("name", text())
            .with("dialect", text())
            .with("workspace", text())
            .with("again", flag())
            .with("dry_run", flag())
            .creating(),
        route("post", "/redactions", "Takes the content of events away", "Redacted")
            .taking("Redact"),
        route("post", "/sessions/{id}/turns", "Begins a turn of the agent", "TurnBegan")
            .taking("SendTurn")
            .header("Idempotency-Key", "1 to 200 characters; the repetition is the same turn")
            .accepting(),
        route("get", "/sessions/{id}/turns/current", "The running turn", "TurnState"),
        route(
            "post",
            "/sessions/{id}/turns/current/interrupt",
            "Interrupts the running turn",
            "TurnState",
        ),
        route("get", "/sessions/{id}/turns/live", "The turns, also those to come", "").streaming(),
        route(
            "post",
            "/sessions/{id}/approvals/{approval}",
            "Answers whether a call may run",
            "ApprovalAnswered",
        )
        .taking("AnswerApproval"),
        route("get", "/diff", "How two sessions differ", "Difference")
            .with("a!", of("SessionId"))
            .with("b!", of("SessionId")),
        route("get", "/diff/stats", "What each of two sessions has alone", "DifferenceStats")
            .with("a!", of("SessionId"))
            .with("b!", of("SessionId")),
        route("get", "/tree", "Families as trees", "Tree")
            .with("workspace", text())
            .with("after", text())
            .with("levels", limit(64)),
        route("get", "/search", "Finds words in all sessions", "SearchAnswer")
            .with("query!", text())
            .with("workspace", text())
            .with("agent", text())
            .with("role", of("Role"))
            .with("tool", text())
            .with("kind", of("HitKind"))
            .with("since", time())
            .with("limit", limit(200))
            .with("after", text()),
        route("get", "/blame", "The tool calls that name a file", "BlameAnswer")
            .with("path!", text())
            .with("since", time())
            .with("limit", limit(200)),
        route("get", "/graph", "Sessions as RDF", "")
            .of_media(
                "text/turtle, application/n-quads, application/trig, application/ld+json, \
                 application/rdf+xml",
            )
            .with("session", of("SessionId"))
            .with("workspace", text())
            .with("format", of("GraphFormat")),
        route("post", "/sparql", "Answers a query about sessions", "QueryAnswer").taking("Sparql"),
        route("get", "/vocabulary/{part}", "The words of graphs", "Vocabulary"),
        route("get", "/stats", "Counts of the whole store", "StatsAnswer"),
        route("get", "/operations", "What was done, the newest first", "OperationPage")
            .with("before", number())
            .with("limit", limit(1_000)),
        route("get", "/operations/{number}", "One operation", "OperationAnswer"),
        route("post", "/operations/{number}/undo", "Undoes an operation", "Undone")
            .taking("UndoBody"),
        route("get", "/verification", "Checks the whole store", "Verification"),
        route("post", "/verification/sample", "Checks some sessions", "VerifiedSample")
            .taking("VerifySample"),
        route("post", "/gc", "Erases what has been in the trash for long enough", "Collected")
            .taking("Gc"),
        route("post", "/retention", "Deletes and erases by a policy", "AppliedRetention")
            .taking("ApplyRetention"),
        route("post", "/pack", "Compresses idle families", "Packed").taking("PackBody"),
        route("get", "/events", "The sessions that change", "").streaming(),
    ]
}

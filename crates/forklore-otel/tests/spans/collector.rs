//! A test collector: receives the exporter's requests and parses them with the protocol's own
//! crate.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use serde_json::{Map, Value, json};

/// A running test collector, on a port of its own.
pub(crate) struct Collector {
    pub(crate) endpoint: String,
    got: Arc<Mutex<Vec<(String, ExportTraceServiceRequest)>>>,
}

impl Collector {
    /// Starts a collector that responds to each request with this HTTP status.
    pub(crate) fn that_says(status: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}/v1/traces", listener.local_addr().unwrap());
        let got = Arc::new(Mutex::new(Vec::new()));
        let shared = got.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let shared = shared.clone();
                std::thread::spawn(move || serve(&stream.unwrap(), status, &shared));
            }
        });
        Self { endpoint, got }
    }

    /// Returns the value of a header in the first request.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let got = self.got.lock().unwrap();
        let head = got[0].0.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
        head.map(ToOwned::to_owned)
    }

    /// Returns all spans in the order of their start, each with all its fields. Ids are replaced by
    /// numbered names, and times are omitted.
    pub(crate) fn spans(&self) -> Value {
        let got = self.got.lock().unwrap();
        let resources = got.iter().flat_map(|(_, request)| &request.resource_spans);
        let scopes = resources.flat_map(|resource| &resource.scope_spans);
        let mut spans: Vec<&Span> = scopes.flat_map(|scope| &scope.spans).collect();
        spans.sort_by_key(|span| span.start_time_unix_nano);
        let mut ids = Ids::default();
        for span in &spans {
            assert!(span.start_time_unix_nano <= span.end_time_unix_nano);
            ids.of("trace", &span.trace_id);
            ids.of("span", &span.span_id);
        }
        spans.into_iter().map(|span| shown(span, &mut ids)).collect()
    }

    /// Returns the service name that the first request contains.
    pub(crate) fn resource(&self) -> Value {
        let got = self.got.lock().unwrap();
        let resource = got[0].1.resource_spans[0].resource.as_ref().unwrap();
        attributes(&resource.attributes)["service.name"].clone()
    }
}

fn serve(stream: &TcpStream, status: &str, got: &Mutex<Vec<(String, ExportTraceServiceRequest)>>) {
    let mut reader = BufReader::new(stream);
    loop {
        let mut head = String::new();
        while reader.read_line(&mut head).unwrap_or(0) > 2 {}
        let lower = head.to_ascii_lowercase();
        let length = lower.lines().find_map(|line| line.strip_prefix("content-length: "));
        let Some(length) = length else { return };
        let mut body = vec![0; length.parse().unwrap()];
        reader.read_exact(&mut body).unwrap();
        let request = ExportTraceServiceRequest::decode(&body[..]).unwrap();
        got.lock().unwrap().push((lower, request));
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n");
        let mut stream = stream;
        stream.write_all(answer.as_bytes()).unwrap();
    }
}

/// Replaces ids by names, which are numbered in the order of the ids' first occurrence.
#[derive(Default)]
struct Ids(HashMap<Vec<u8>, String>);

impl Ids {
    fn of(&mut self, kind: &str, id: &[u8]) -> Option<String> {
        let number = self.0.values().filter(|name| name.starts_with(kind)).count() + 1;
        let named = || self.0.entry(id.to_owned()).or_insert(format!("{kind} {number}")).clone();
        (!id.is_empty()).then(named)
    }
}

fn shown(span: &Span, ids: &mut Ids) -> Value {
    let links = span
        .links
        .iter()
        .map(|link| json!([ids.of("trace", &link.trace_id), ids.of("span", &link.span_id)]));
    let links: Vec<_> = links.collect();
    let events = span.events.iter().map(|event| json!([event.name, attributes(&event.attributes)]));
    let status =
        span.status.as_ref().map(|status| json!([status.code().as_str_name(), status.message]));
    json!({
        "name": span.name,
        "kind": span.kind().as_str_name(),
        "trace": ids.of("trace", &span.trace_id),
        "span": ids.of("span", &span.span_id),
        "parent": ids.of("span", &span.parent_span_id),
        "links": links,
        "attributes": attributes(&span.attributes),
        "events": events.collect::<Vec<_>>(),
        "status": status,
    })
}

fn attributes(attributes: &[KeyValue]) -> Map<String, Value> {
    attributes.iter().map(|it| (it.key.clone(), value(it.value.as_ref()))).collect()
}

fn value(any: Option<&AnyValue>) -> Value {
    match any.and_then(|any| any.value.as_ref()) {
        Some(Any::StringValue(text)) => json!(text),
        Some(Any::IntValue(number)) => json!(number),
        Some(Any::DoubleValue(number)) => json!(number),
        Some(Any::ArrayValue(array)) => array.values.iter().map(|it| value(Some(it))).collect(),
        other => json!(format!("{other:?}")),
    }
}

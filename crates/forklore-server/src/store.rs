//! The store itself, for programs that name this server as their store (`--store http://...`).

use std::io::Read;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use forklore_api::Scope;
use forklore_core::ErrorKind;
use forklore_core::limits::ATTACHMENT_BYTES;
use forklore_remote::protocol::{Call, LONGEST_REQUEST, REFUSED, VERSION};
use forklore_remote::{Answer, Rights};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use crate::access::Caller;
use crate::api::bytes::receive;
use crate::api::params::Path;
use crate::problem::Problem;
use crate::service::Service;

/// How many bytes of an attachment are sent at once.
const PIECE: usize = 64 << 10;

/// Executes a call of the store's port.
pub(crate) async fn call(
    State(service): State<Service>,
    Extension(caller): Extension<Caller>,
    Path(path): Path<String>,
    request: Request,
) -> Result<Response, Problem> {
    let call = path.strip_prefix(&prefix()).and_then(named);
    caller.needs(call.map_or(Scope::Read, scope))?;
    let most = if call == Some(Call::Put) { ATTACHMENT_BYTES } else { LONGEST_REQUEST };
    let mut body = receive(&service, request, most).await?;
    // A reader that waits for changes must not hold up others.
    let permit = match call {
        Some(Call::Changes) => service.waiting.clone().acquire_owned().await,
        _ => service.steps.clone().acquire_owned().await,
    };
    let stopped = |_| Problem::new(ErrorKind::Interrupted, "the server is stopping");
    let permit = permit.map_err(stopped)?;
    let dispatcher = service.dispatcher.clone();
    let rights = if caller.scope >= Scope::Admin { Rights::All } else { Rights::NoErasing };
    let answering = move || {
        let _permit = permit;
        dispatcher.answer_within(&path, &mut body, rights)
    };
    let answer = match call {
        Some(Call::Changes) => tokio::task::spawn_blocking(answering).await.ok(),
        _ => service.threads.run(answering).await,
    };
    let answer = answer.ok_or_else(|| match *service.stopping.borrow() {
        true => Problem::new(ErrorKind::Interrupted, "the server is stopping"),
        false => Problem::new(ErrorKind::Internal, "the call ended without an answer"),
    })?;
    if answer.status == REFUSED {
        caller.needs(Scope::Admin)?;
    }
    Ok(response(answer))
}

/// Checks whether the path is that of a call that changes nothing.
pub(crate) fn is_reading(path: &str) -> bool {
    let call = path.strip_prefix("/store/").and_then(|path| path.strip_prefix(&prefix()));
    call.and_then(named).is_some_and(|call| scope(call) == Scope::Read)
}

/// What the path of each call begins with.
fn prefix() -> String {
    format!("v{VERSION}/")
}

fn named(path: &str) -> Option<Call> {
    // `attachments/put` is followed by its arguments.
    let is_it = |call: &&Call| {
        path.strip_prefix(call.as_str())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    Call::ALL.iter().find(is_it).copied()
}

/// Returns the scope that a call needs.
fn scope(call: Call) -> Scope {
    match call {
        Call::Commit | Call::CommitAll | Call::Put | Call::Pin | Call::Unpin => Scope::Write,
        Call::Gc | Call::Pack | Call::Sweep => Scope::Admin,
        _ => Scope::Read,
    }
}

fn response(answer: Answer) -> Response {
    let Answer { status, content_type, length, body } = answer;
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let body = match body {
        forklore_remote::Body::Bytes(bytes) => Body::from(bytes),
        forklore_remote::Body::Stream(bytes) => streamed(bytes),
    };
    let kind = [(header::CONTENT_TYPE, HeaderValue::from_static(content_type))];
    let mut response = (status, kind, body).into_response();
    if let Some(length) = length {
        response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    }
    response
}

/// Sends bytes as they are read. An error breaks the connection off, so that nobody takes a part for
/// the whole.
fn streamed(mut bytes: Box<dyn Read + Send>) -> Body {
    let (sender, receiver) = mpsc::channel(4);
    tokio::task::spawn_blocking(move || {
        loop {
            let mut piece = vec![0; PIECE];
            let read = bytes.read(&mut piece).map(|read| {
                piece.truncate(read);
                Bytes::from(piece)
            });
            let is_last = read.is_err();
            let is_end = read.as_ref().is_ok_and(Bytes::is_empty);
            if is_end || sender.blocking_send(read).is_err() || is_last {
                return;
            }
        }
    });
    Body::from_stream(ReceiverStream::new(receiver))
}

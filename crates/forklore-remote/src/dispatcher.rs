//! The server's side of the protocol: executes requests on a store.

mod attachments;
mod calls;
mod pins;

use std::io::Read;
use std::sync::Arc;

use forklore_store::{Error, Result, Store};
use serde::Serialize;
use serde::de::DeserializeOwned;

use self::pins::Pins;
use crate::protocol::{
    Call, DONE, Done, FAILED, Failure, LONGEST_REQUEST, NO_SUCH_CALL, NOTHING, REFUSED, VERSION,
    Versions,
};

/// Executes the requests of clients on one store. It may be called from many threads at once. A call
/// blocks its thread, for [`LONGEST_WAIT`](crate::protocol::LONGEST_WAIT) if it waits for changes, and
/// for as long as the store needs otherwise.
pub struct Dispatcher {
    store: Arc<dyn Store>,
    pins: Pins,
}

/// The answer to a request.
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The value of the header `Content-Type`.
    pub content_type: &'static str,
    /// The value of the header `Content-Length`, if the body is a stream of this length.
    pub length: Option<u64>,
    /// The body.
    pub body: Body,
}

/// The body of an answer.
pub enum Body {
    /// All bytes.
    Bytes(Vec<u8>),
    /// A stream. If reading fails, the server must end the connection, so that the client does not
    /// take the part for the whole.
    Stream(Box<dyn Read + Send>),
}

const JSON: &str = "application/json";
const BYTES: &str = "application/octet-stream";

impl Dispatcher {
    /// Creates a dispatcher for a store. A server has one dispatcher for each store as long as it
    /// runs, because the dispatcher has the pins of the clients' attachments.
    #[must_use]
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, pins: Pins::default() }
    }

    /// Drops the pins that clients have had for too long. A server calls it now and then.
    pub fn drop_old_pins(&self) {
        self.pins.drop_old();
    }

    /// Executes a request. `path` is what follows `/store/` in the path of its URL, such as
    /// `v1/commit`, and `body` its body. If the connection ends before the whole body was read, `body`
    /// must return an error; it must not look like the end of a shorter body.
    pub fn answer(&self, path: &str, body: &mut dyn Read) -> Answer {
        self.answer_within(path, body, Rights::All)
    }

    /// Executes a request like [`answer`](Self::answer) for a caller with these rights. What goes beyond
    /// them is answered with the status [`REFUSED`] and changes nothing.
    pub fn answer_within(&self, path: &str, body: &mut dyn Read, rights: Rights) -> Answer {
        let version = format!("v{VERSION}/");
        let Some((call, rest)) = path.strip_prefix(&version).and_then(call) else {
            return json(NO_SUCH_CALL, &Versions { forklore_store: vec![VERSION] });
        };
        self.execute(call, rest, body, rights)
            .unwrap_or_else(|error| json(FAILED, &Failure::from(error)))
    }
}

/// What a caller may do with the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rights {
    /// Everything.
    All,
    /// Everything but commits that erase: no session is erased and no event loses its content.
    NoErasing,
}

/// Splits a path into the call and what follows it.
fn call(path: &str) -> Option<(Call, &str)> {
    Call::ALL.iter().find_map(|call| {
        let rest = path.strip_prefix(call.as_str())?;
        match call {
            Call::Put => Some((*call, rest.strip_prefix('/')?)),
            _ => rest.is_empty().then_some((*call, rest)),
        }
    })
}

/// Reads the arguments of a call.
fn arguments<T: DeserializeOwned>(body: &mut dyn Read) -> Result<T> {
    let mut bytes = Vec::new();
    let read = body.take(LONGEST_REQUEST + 1).read_to_end(&mut bytes);
    read.map_err(|error| Error::io("reading the request", error))?;
    if bytes.len() as u64 > LONGEST_REQUEST {
        let message = format!("a request has at most {LONGEST_REQUEST} bytes; write less at once");
        return Err(Error::Invalid(message));
    }
    serde_json::from_slice(&bytes)
        .map_err(|error| Error::Invalid(format!("the request is not valid: {error}")))
}

/// Returns the answer with the result of a call, and the time after it.
fn done(store: &dyn Store, result: &impl Serialize) -> Answer {
    json(DONE, &Done { now: store.now(), result })
}

fn json(status: u16, body: &impl Serialize) -> Answer {
    match serde_json::to_vec(body) {
        Ok(bytes) => Answer { status, content_type: JSON, length: None, body: Body::Bytes(bytes) },
        // What a store returns can always be encoded.
        Err(_) => {
            Answer { status: 500, content_type: JSON, length: None, body: Body::Bytes(Vec::new()) }
        }
    }
}

/// Returns the answer to a request that goes beyond the caller's rights.
fn refused() -> Answer {
    json(REFUSED, &Failure::from(Error::Denied("the caller may not erase".into())))
}

/// Returns the answer that there is no such attachment.
fn nothing() -> Answer {
    Answer { status: NOTHING, content_type: BYTES, length: None, body: Body::Bytes(Vec::new()) }
}

/// Returns the answer with the bytes of an attachment.
fn stream(length: u64, bytes: Box<dyn Read + Send>) -> Answer {
    Answer { status: DONE, content_type: BYTES, length: Some(length), body: Body::Stream(bytes) }
}

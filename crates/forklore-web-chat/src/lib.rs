//! A conversation with forklore's own agent in the browser.
//!
//! [`Chat`] runs the turns of the sessions that people talk to, one at a time in each session.
//! [`api`] has the routes with which a program or the page sends a prompt, follows the answer,
//! interrupts it, and answers questions about tool calls; [`pages`] has the page itself. A server
//! mounts both, puts a [`Caller`] into each request, and refuses those who may not write.
//!
//! The turn belongs to the server and not to a connection: a browser that goes away ends nothing,
//! and every browser on the session sees the same turn and may answer its questions. Whatever was
//! acknowledged is in the store.

mod approval;
mod assets;
mod begin;
mod cast;
mod chat;
mod failure;
mod follow;
mod new_session;
mod page;
mod refused;
mod request;
mod routes;
mod run;
mod stream;
mod talk;
mod types;

pub use chat::{Agent, Chat};
pub use refused::Refused;
pub use request::Caller;
pub use routes::{ROUTES, api, pages};
#[cfg(feature = "schema")]
pub use types::schemas;
pub use types::{
    AnswerApproval, Approval, ApprovalAnswered, ApprovalChoice, SendTurn, TurnBegan, TurnState,
};

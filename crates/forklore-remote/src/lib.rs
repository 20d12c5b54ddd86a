//! The store of a forklore server: a store whose calls go over HTTP.
//!
//! The store is opened by its URL, `https://HOST:PORT`, or `http://127.0.0.1:PORT` on the same
//! machine. What it can do is what the store behind the server can do. The token is taken from the
//! environment variable `FORKLORE_TOKEN`, never from the URL.
//!
//! - [`Address`] is the parsed URL.
//! - [`HttpStore`] implements [`Store`](forklore_store::Store): each call is one `POST` request.
//! - [`protocol`] has the messages of these requests.
//! - [`Dispatcher`] is the server's side: it executes a request on a store. It knows no HTTP library.
//!
//! A call is synchronous, as the port is. It may come from any thread, also from one of an async
//! runtime.

mod address;
mod attachments;
mod client;
mod dispatcher;
mod exchange;
mod failure;
pub mod protocol;
mod store;

pub use address::{Address, TOKEN};
pub use dispatcher::{Answer, Body, Dispatcher, Rights};
pub use store::HttpStore;

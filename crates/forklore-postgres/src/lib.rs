//! The shared store of forklore: sessions of a team in one PostgreSQL database.
//!
//! The store is opened by its URL, `postgres://USER@HOST:PORT/DATABASE?tenant=NAME`. Many processes
//! on many machines may use it at once, directly or through a pooler such as PgBouncer in its
//! transaction mode: a call is one statement or one transaction, and leaves nothing behind in its
//! connection.
//!
//! - [`Address`] is the parsed URL. Its text never shows the password.
//! - [`Init`] creates the tables before the first write, and gives logins of the database to tenants.
//! - [`status`] returns the state of the store and of its server, for the people who operate them.
//! - [`PostgresStore`] implements [`Store`](forklore_store::Store).
//!
//! Events are stored as the texts that were written. A fork refers to its parent's events. The
//! clock of the database server decides whether leases are valid.

mod address;
mod attachments;
mod attempts;
mod checksum;
mod connection;
mod costs;
mod database;
mod driver;
mod erase;
mod event;
mod fault;
mod feed;
mod history;
mod init;
mod layout;
mod list;
mod login;
mod maintenance;
mod notify;
mod number;
mod operation;
mod pool;
mod prepared;
mod random;
mod read;
mod recent;
mod schema;
mod session;
mod shared;
mod source;
mod status;
mod store;
mod tls;
mod verify;
mod write;

pub use address::Address;
pub use init::{Init, Tables};
pub use status::status;
pub use store::PostgresStore;

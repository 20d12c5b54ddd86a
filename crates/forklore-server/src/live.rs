//! What happens while somebody looks: the feed of the store, and server-sent events of it.

pub(crate) mod feed;
mod page;
mod shared;
pub(crate) mod stream;

//! What happens while somebody looks: the feed of the store, and server-sent events of it.

pub(crate) mod feed;
pub(crate) mod stream;

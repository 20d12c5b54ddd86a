//! Who may do what: tokens, the login of the page, and what a request says of where it comes from.

pub(crate) mod guard;
pub(crate) mod hosts;
pub(crate) mod login;
pub(crate) mod page;
pub(crate) mod sign_in;
pub(crate) mod token;

use forklore_api::Scope;

/// Who sent a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    /// The name of the token, which the store records with each operation.
    pub(crate) name: String,
    pub(crate) scope: Scope,
    /// The tenant whose store the caller sees. `None` is that of the server.
    pub(crate) tenant: Option<String>,
}

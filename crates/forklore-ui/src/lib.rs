//! The terminal interface of forklore: browse, read, search, fork and compare sessions.

mod age;
mod app;
mod areas;
mod cursor;
mod dialog;
mod event_loop;
mod found;
mod keys;
mod layout;
mod model;
mod request;
mod safe;
mod screen;
mod scroll;
mod terminal;
mod text;
mod tone;
mod view;
mod words;
mod work;

pub use app::{Action, App, Effect, Options, Purpose};
pub use dialog::Outcome;
pub use event_loop::{Error, check, run};
pub use request::{Answer, Request};
pub use view::draw;
pub use work::Worker;

//! Parses the values of options that several commands have: names, JSON and cuts.

use std::collections::BTreeSet;
use std::str::FromStr;

use forklore::core::id::IdError;
use forklore::core::{CutError, Data, Selector};

use crate::failure::{Failure, Result};
use crate::usage;

/// The forms of a cut with a number or an id.
const POSITIONS: [&str; 5] = ["turn", "message", "index", "seq", "event"];

/// Parses an id, a label or another name from the command line. Returns `None` if `text` is `None`.
/// The error does not repeat the text, which may be hostile.
pub(super) fn parsed<T: FromStr<Err = IdError>>(
    text: Option<&str>,
    what: &'static str,
) -> Result<Option<T>> {
    text.map(|text| text.parse().map_err(Failure::name(what))).transpose()
}

/// Parses JSON from the option `--{what}`. Returns `None` if `text` is `None`. Numbers and strings
/// stay as they were written.
pub(super) fn json(what: &str, text: Option<&str>) -> Result<Option<Data>> {
    let parse =
        |text| Data::parse(text).map_err(|error| Failure::invalid(format!("--{what}: {error}")));
    text.map(parse).transpose()
}

/// Parses a cut, such as `turn:2`, from the command line. Returns `None` if `text` is `None`.
pub(super) fn selector(text: Option<&str>) -> Result<Option<Selector>> {
    text.map(|text| text.parse().map_err(|error| no_cut(text, &error))).transpose()
}

/// Returns the error for a text that is no cut. Suggests the form that was probably meant.
fn no_cut(text: &str, error: &CutError) -> Failure {
    let message = match error {
        CutError::Syntax => format!("{} is no cut: {error}", usage::typed(text)),
        _ => error.to_string(),
    };
    // A mere number means a message, as in the conversation.
    if text.parse::<i64>().is_ok() {
        return usage::rather(message, text, &format!("message:{text}"));
    }
    let meant: Vec<_> = match text.split_once(':') {
        Some((_, position)) => POSITIONS.iter().map(|form| format!("{form}:{position}")).collect(),
        None => ["start", "end"].map(str::to_owned).to_vec(),
    };
    usage::no_such(message, text, meant.iter().map(String::as_str))
}

/// Splits names of permissions that are separated by commas.
pub(super) fn permissions(names: &str) -> BTreeSet<String> {
    names.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

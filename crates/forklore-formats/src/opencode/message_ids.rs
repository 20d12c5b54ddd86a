//! The ids and times in a message of opencode, as they are written in its line.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::splice::Field;

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct MessageIds<'a> {
    #[serde(borrow)]
    pub(super) info: Info<'a>,
    #[serde(borrow)]
    pub(super) parts: Vec<PartIds<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Info<'a> {
    #[serde(borrow)]
    pub(super) id: Field<'a>,
    #[serde(borrow)]
    pub(super) role: Field<'a>,
    #[serde(borrow, rename = "sessionID")]
    pub(super) session: Field<'a>,
    #[serde(borrow, rename = "parentID")]
    pub(super) parent: Field<'a>,
    #[serde(borrow)]
    pub(super) time: Field<'a>,
}

impl<'a> Info<'a> {
    /// Returns the time at which the message was created: the field in the line, and its value in
    /// milliseconds since 1970. Returns `None` if the message has no such time.
    pub(super) fn created(&self) -> Option<(Field<'a>, i64)> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Time<'a> {
            #[serde(borrow)]
            created: Field<'a>,
        }
        let Time { created } = serde_json::from_str(self.time.0?.get()).ok()?;
        Some((created, created.0?.get().parse().ok()?))
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct PartIds<'a> {
    #[serde(borrow)]
    pub(super) id: Field<'a>,
    #[serde(borrow, rename = "sessionID")]
    pub(super) session: Field<'a>,
    #[serde(borrow, rename = "messageID")]
    pub(super) message: Field<'a>,
    #[serde(borrow)]
    pub(super) time: Field<'a>,
}

impl PartIds<'_> {
    /// Returns a new value for the field `time` of a part, with the creation time as `start`. Parts
    /// in opencode's database have a creation time, but parts in an exported document need a start
    /// time. Returns `None` if the part has a start time or no creation time.
    pub(super) fn began(&self) -> Option<String> {
        let time: Value = serde_json::from_str(self.time.0?.get()).ok()?;
        let created = time.get("start").is_none().then(|| time.get("created"))??;
        Some(json!({ "start": created }).to_string())
    }
}

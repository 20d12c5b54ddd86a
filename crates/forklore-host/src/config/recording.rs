//! Which states of files are recorded.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Which states of files are recorded, and how much they may need. In the configuration: `snapshots =
/// false`, or a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recording {
    /// Whether turns with tools take snapshots of the files.
    pub turns: bool,
    /// The most bytes that all snapshots of a store may have. `None` is no limit.
    pub max_size: Option<u64>,
}

impl Default for Recording {
    fn default() -> Self {
        Self { turns: true, max_size: None }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    #[serde(default = "yes")]
    turns: bool,
    #[serde(default, deserialize_with = "size")]
    max_size: Option<u64>,
}

fn yes() -> bool {
    true
}

impl<'de> Deserialize<'de> for Recording {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyForm)
    }
}

struct AnyForm;

impl<'de> Visitor<'de> for AnyForm {
    type Value = Recording;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true, false, or a table with `turns` and `max_size`")
    }

    fn visit_bool<E: Error>(self, turns: bool) -> Result<Recording, E> {
        Ok(Recording { turns, ..Recording::default() })
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Recording, M::Error> {
        let Fields { turns, max_size } = Fields::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Recording { turns, max_size })
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Size {
    Bytes(u64),
    Text(String),
}

fn size<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let wrong = || D::Error::custom("a size is a number of bytes, or a text such as \"20 GB\"");
    let bytes = match Size::deserialize(deserializer).map_err(|_| wrong())? {
        Size::Bytes(bytes) => Some(bytes),
        Size::Text(text) => bytes_in(&text),
    };
    bytes.map(Some).ok_or_else(wrong)
}

/// Returns the bytes of a size such as `20 GB`.
fn bytes_in(text: &str) -> Option<u64> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    let factor = match unit.trim_start().to_ascii_lowercase().as_str() {
        "b" => 1,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(factor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn snapshots_are_a_switch_or_a_table() {
        let read = |text: &str| toml::from_str::<Config>(text).map(|config| config.snapshots);
        let limited = |max_size| Recording { turns: true, max_size: Some(max_size) };
        let off = Recording { turns: false, max_size: None };
        let cases = [
            ("", Recording::default()),
            ("snapshots = true", Recording::default()),
            ("snapshots = false", off),
            ("snapshots.turns = false", off),
            ("snapshots.max_size = 1000", limited(1000)),
            ("snapshots.max_size = \"20 GB\"", limited(20_000_000_000)),
            ("[snapshots]\nmax_size = \"3mb\"", limited(3_000_000)),
        ];
        for (text, expected) in cases {
            assert_eq!(read(text).unwrap(), expected, "{text}");
        }
        for text in ["snapshots = 1", "snapshots.size = 1"] {
            assert!(read(text).is_err(), "{text}");
        }
        for text in ["-1", "\"\"", "\"GB\"", "\"20\"", "\"20 GiB\"", "\"99999999999 TB\""] {
            let error = read(&format!("snapshots.max_size = {text}")).unwrap_err();
            assert!(error.message().contains("a size is a number of bytes"), "{text}: {error}");
        }
    }
}

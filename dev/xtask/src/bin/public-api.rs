//! Prints the public API of the crate `forklore`: one item per line, sorted. `cargo xtask api` runs
//! this program with the directory of rustdoc's JSON files.
//!
//! The crate mostly re-exports other crates. Its own JSON has only the names of those crates, so
//! the listing also includes their items, under the names that the items have in `forklore`.
#![allow(clippy::print_stdout, reason = "this program prints the listing")]

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use public_api::Builder;
use serde_json::Value;

const FACADE: &str = "forklore";

/// Traits that the compiler implements automatically. Their implementations are left out of the
/// listing of the public API, with few exceptions.
const AUTOMATIC: [&str; 8] = [
    "core::marker::Send",
    "core::marker::Sync",
    "core::marker::Unpin",
    "core::marker::UnsafeUnpin",
    "core::marker::Freeze",
    "core::panic::unwind_safe::UnwindSafe",
    "core::panic::unwind_safe::RefUnwindSafe",
    "core::marker::StructuralPartialEq",
];

/// The automatically implemented traits on which users rely. If a type lacks one of them, the
/// listing of the public API shows it.
const RELIED_ON: [&str; 3] = ["core::marker::Send", "core::marker::Sync", "core::marker::Unpin"];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(env::args_os().nth(1).ok_or("usage: public-api DIRECTORY")?);
    let facade = Documented::read(&folder, FACADE)?;
    let mut names = Names::default();
    let mut crates = vec![FACADE.to_owned()];
    for (visible, defined) in names.walk(&facade, FACADE) {
        // A path of one name is a crate.
        if !defined.contains("::") {
            names.walk(&Documented::read(&folder, &defined)?, &visible);
            crates.push(defined);
        }
    }
    let mut listing = BTreeSet::new();
    for name in crates {
        let items = items(&path(&folder, &name))?;
        listing.extend(items.iter().map(|item| names.line(item)));
    }
    for item in listing {
        println!("{item}");
    }
    Ok(())
}

fn path(folder: &Path, name: &str) -> PathBuf {
    folder.join(name).with_extension("json")
}

/// Returns the public items of the crate that the file `json` describes. A trait implementation
/// that `derive` generates is one item: its methods are left out.
fn items(json: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let build = |without_derived| {
        let api = Builder::from_rustdoc_json(json).omit_blanket_impls(true);
        api.omit_auto_derived_impls(without_derived).build()
    };
    let mut items: Vec<_> = build(true)?.items().map(ToString::to_string).collect();
    let all = build(false)?.into_items().map(|item| item.to_string());
    items.extend(all.filter(|item| item.starts_with("impl")));
    items.retain(|item| is_listed(item));
    Ok(items)
}

/// Checks whether the listing of the public API includes an item. An implementation of an automatic
/// trait is included only if it is negative (such as `!Send`), and users rely on the trait.
fn is_listed(item: &str) -> bool {
    let is_of = |name: &&&str| item.contains(&format!("{name} for "));
    let is_negative = |name: &&str| item.contains(&format!(" !{name} for "));
    !item.starts_with("impl")
        || AUTOMATIC
            .iter()
            .find(is_of)
            .is_none_or(|name| RELIED_ON.contains(name) && is_negative(name))
}

/// The JSON that rustdoc wrote about one crate.
struct Documented(Value);

impl Documented {
    fn read(folder: &Path, name: &str) -> Result<Self, Box<dyn Error>> {
        let path = path(folder, name);
        let text =
            fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self(serde_json::from_str(&text)?))
    }

    /// Returns rustdoc's definition of an item, or `None` if the item belongs to another crate.
    fn item(&self, id: &Value) -> Option<&Value> {
        self.0.get("index")?.get(id.to_string())
    }

    /// Returns the path at which an item is defined, in this crate or in another. Returns `None` if
    /// rustdoc does not know the item.
    fn defined(&self, id: &Value) -> Option<String> {
        let parts = self.0.get("paths")?.get(id.to_string())?.get("path")?.as_array()?;
        Some(parts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("::"))
    }
}

/// The names under which items are visible in the crate `forklore`. They are found by the path at
/// which an item is defined.
#[derive(Default)]
struct Names {
    visible: BTreeMap<String, String>,
    /// The paths at which re-exported items are defined. The keys are the names under which they
    /// are re-exported.
    exported: BTreeMap<String, String>,
}

impl Names {
    /// Adds the names of the items of the crate `documented`, whose own name in `forklore` is
    /// `name`. Returns the items that this crate re-exports from other crates, as pairs of the
    /// visible name and the path of the definition.
    fn walk(&mut self, documented: &Documented, name: &str) -> Vec<(String, String)> {
        let mut exports = Vec::new();
        let Some(root) = documented.0.get("root") else { return exports };
        let mut open = vec![(root, name.to_owned())];
        let mut walked = HashSet::new();
        self.add(documented, root, name.to_owned());
        while let Some((module, visible)) = open.pop() {
            if !walked.insert(module.to_string()) {
                continue;
            }
            let items = documented.item(module).and_then(|it| it.pointer("/inner/module/items"));
            for id in items.and_then(Value::as_array).into_iter().flatten() {
                let Some(item) = documented.item(id) else { continue };
                let import = item.pointer("/inner/use");
                let id = import.and_then(|import| import.get("id")).unwrap_or(id);
                let is_glob = import.is_some_and(|it| it.get("is_glob") == Some(&true.into()));
                let name = import.unwrap_or(item).get("name").and_then(Value::as_str);
                let name = name.filter(|_| !is_glob);
                let visible = name.map_or(visible.clone(), |name| format!("{visible}::{name}"));
                match documented.item(id) {
                    None => exports.extend(documented.defined(id).map(|it| (visible, it))),
                    Some(target) if target.pointer("/inner/module").is_some() => {
                        self.add(documented, id, visible.clone());
                        open.push((id, visible));
                    }
                    Some(_) if is_glob => {}
                    Some(_) => self.add(documented, id, visible),
                }
            }
        }
        self.exported.extend(exports.iter().cloned());
        exports
    }

    /// Adds a visible name for an item. If an item has several names, the shortest one remains.
    fn add(&mut self, documented: &Documented, id: &Value, visible: String) {
        let Some(defined) = documented.defined(id) else { return };
        let length = |name: &String| (name.matches("::").count(), name.clone());
        let names = self.visible.entry(defined).or_insert_with(|| visible.clone());
        if length(&visible) < length(names) {
            *names = visible;
        }
    }

    /// Returns the line for an item in the listing of the public API. Paths are replaced by the
    /// names that are visible in `forklore`.
    fn line(&self, item: &str) -> String {
        let line = self.renamed(item);
        let Some(name) = line.strip_prefix("pub use ") else { return line };
        match self.exported.get(name).map(|defined| self.renamed(defined)) {
            Some(defined) if defined != name => format!("{line} = {defined}"),
            _ => line,
        }
    }

    /// Returns `text` with the path of each item replaced by the name under which it is visible in
    /// `forklore`.
    fn renamed(&self, text: &str) -> String {
        let mut renamed = String::new();
        let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        let mut rest = text;
        while let Some(at) = rest.find(is_path) {
            let (before, from) = rest.split_at(at);
            let (path, behind) = from.split_at(from.find(|c| !is_path(c)).unwrap_or(from.len()));
            let name = path.trim_end_matches(':');
            renamed.extend([before, &self.path(name), path.get(name.len()..).unwrap_or_default()]);
            rest = behind;
        }
        renamed + rest
    }

    fn path(&self, path: &str) -> String {
        let shorter = path.rmatch_indices("::").map(|(at, _)| at);
        let longest = std::iter::once(path.len()).chain(shorter).find_map(|end| {
            let (seen, rest) = path.split_at_checked(end)?;
            Some(format!("{}{rest}", self.visible.get(seen)?))
        });
        longest.unwrap_or_else(|| path.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn names() -> Names {
        let facade = json!({"root": 0,
            "index": {
                "0": {"name": "forklore", "inner": {"module": {"items": [1, 2]}}},
                "1": {"inner": {"use": {"name": "core", "id": 3, "is_glob": false}}},
                "2": {"inner": {"use": {"name": "Event", "id": 4, "is_glob": false}}},
            },
            "paths": {"0": {"path": ["forklore"]}, "3": {"path": ["forklore_core"]},
                "4": {"path": ["forklore_core", "event", "Event"]}}});
        let core = json!({"root": 0,
            "index": {
                "0": {"name": "forklore_core", "inner": {"module": {"items": [1]}}},
                "1": {"inner": {"use": {"name": "event", "id": 2, "is_glob": true}}},
                "2": {"name": "event", "inner": {"module": {"items": [3]}}},
                "3": {"name": "Event", "inner": {"struct": {}}},
            },
            "paths": {"0": {"path": ["forklore_core"]}, "2": {"path": ["forklore_core", "event"]},
                "3": {"path": ["forklore_core", "event", "Event"]}}});
        let mut names = Names::default();
        let exports = names.walk(&Documented(facade), FACADE);
        let core_export = ("forklore::core".to_owned(), "forklore_core".to_owned());
        assert_eq!(exports.first(), Some(&core_export));
        assert_eq!(names.walk(&Documented(core), "forklore::core"), []);
        names
    }

    #[test]
    fn items_have_their_names_under_the_facade() {
        let lines = [
            (
                "pub fn forklore_core::event::Event::id(&self) -> alloc::string::String",
                "pub fn forklore::core::Event::id(&self) -> alloc::string::String",
            ),
            ("impl<T: forklore_core::event::Event> X<T>", "impl<T: forklore::core::Event> X<T>"),
            ("pub forklore_core::Event::seq: u64", "pub forklore::core::Event::seq: u64"),
            ("pub use forklore::Event", "pub use forklore::Event = forklore::core::Event"),
            ("pub use forklore::core", "pub use forklore::core"),
        ];
        let names = names();
        for (item, line) in lines {
            assert_eq!(names.line(item), line);
        }
    }

    #[test]
    fn of_automatic_traits_only_missing_ones_are_listed() {
        assert!(is_listed("impl core::clone::Clone for X"));
        assert!(is_listed("impl<T> !core::marker::Send for X<T>"));
        assert!(!is_listed("impl<T> core::marker::Send for X<T> where T: core::marker::Send"));
        assert!(!is_listed("impl !core::marker::Freeze for X"));
        assert!(is_listed("pub fn core::marker::Send for X"));
    }
}

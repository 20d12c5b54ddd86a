//! Determines from the source text which modules of a crate import which. Imports are `use` items,
//! and paths that begin with `crate`, `super`, `self` or the name of a child module. Using a
//! re-exported name (`pub use`) counts as an import of the module that defines the name. Imports by
//! the crate root do not count.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::File;

/// The path of a module inside its crate. The path of the crate root is empty.
pub(crate) type Module = Vec<String>;

/// Re-exported names. The key is the re-exporting module and the name, the value the original path.
type Handed = BTreeMap<(Module, String), Module>;

/// A crate's modules with their code, without comments and unit tests.
type Code = BTreeMap<Module, String>;

/// Returns the imports of each module of each crate.
pub(crate) fn modules(files: &[File]) -> BTreeMap<String, BTreeMap<Module, BTreeSet<Module>>> {
    let mut crates: BTreeMap<String, Code> = BTreeMap::new();
    for file in files {
        let Some((name, path)) = file.path.split_once("/src/") else { continue };
        if path.starts_with("bin/") {
            continue;
        }
        let mut module: Module =
            path.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
        if module.last().is_some_and(|last| ["lib", "main"].contains(&&**last)) {
            module.pop();
        }
        crates.entry(name.to_owned()).or_default().insert(module, code(&file.text));
    }
    crates.into_iter().map(|(name, code)| (name, graph(&code))).collect()
}

/// Removes comments, and the unit tests at the end of a file.
fn code(text: &str) -> String {
    let attribute = "#[cfg(test)]\nmod ";
    let mut tests = text.match_indices(attribute).map(|(at, _)| at).filter(|at| {
        let item = text[at + attribute.len()..].lines().next().unwrap_or_default();
        item.ends_with('{')
    });
    let text = tests.next().map_or(text, |at| &text[..at]);
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    lines.collect::<Vec<_>>().join("\n")
}

fn graph(code: &Code) -> BTreeMap<Module, BTreeSet<Module>> {
    let mut handed = Handed::new();
    for (module, text) in code {
        for path in uses(text, true) {
            if let (Some(from), Some(name)) = (absolute(module, &path, code), path.last())
                && from.split_last().is_some_and(|(_, parent)| parent != module)
            {
                handed.insert((module.clone(), name.clone()), from);
            }
        }
    }
    let edges = code.iter().filter(|(module, _)| !module.is_empty()).map(|(module, text)| {
        let paths = uses(text, false).into_iter().chain(inline(module, text, code));
        let to = paths.filter_map(|path| {
            let found = defining(&absolute(module, &path, code)?, code, &handed, 0)?;
            (!found.is_empty() && found != *module).then_some(found)
        });
        (module.clone(), to.collect())
    });
    edges.collect()
}

/// Returns the paths of `use` items. With `handed_on`, only those of `pub use`, otherwise only the
/// others.
fn uses(text: &str, handed_on: bool) -> Vec<Module> {
    let mut paths = Vec::new();
    for (at, _) in text.match_indices("use ") {
        let line = text[..at].rsplit('\n').next().unwrap_or_default().trim();
        if !(line.is_empty() || line.starts_with("pub")) || handed_on == line.is_empty() {
            continue;
        }
        let item = text[at + 4..].split(';').next().unwrap_or_default();
        expand(&[], item, &mut paths);
    }
    paths
}

/// Expands a `use` tree: for example, `a::{b, c::d}` becomes `a::b` and `a::c::d`.
fn expand(before: &[String], tree: &str, paths: &mut Vec<Module>) {
    let tree = tree.trim();
    let Some((head, rest)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or_default();
        let parts = path.split("::").map(|part| part.trim().to_owned()).filter(|it| !it.is_empty());
        paths.push(before.iter().cloned().chain(parts).collect());
        return;
    };
    let head = head.split("::").map(|part| part.trim().to_owned()).filter(|it| !it.is_empty());
    let before: Vec<_> = before.iter().cloned().chain(head).collect();
    let body = rest.rsplit_once('}').map_or(rest, |(body, _)| body);
    let (mut depth, mut from) = (0, 0);
    for (at, c) in body.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                expand(&before, &body[from..at], paths);
                from = at + 1;
            }
            _ => {}
        }
    }
    if !body[from..].trim().is_empty() {
        expand(&before, &body[from..], paths);
    }
}

/// Returns the paths outside of `use` items that begin with `crate::`, `super::` or a child of the
/// module.
fn inline(module: &Module, text: &str, code: &Code) -> Vec<Module> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let children = code.keys().filter_map(|path| match path.split_last() {
        Some((name, parent)) if parent == module => Some(format!("{name}::")),
        _ => None,
    });
    let firsts = ["crate::", "super::"].map(str::to_owned).into_iter().chain(children);
    let text = without_uses(text);
    let mut paths = Vec::new();
    for first in firsts {
        for (at, _) in text.match_indices(&first) {
            if text[..at].ends_with(|c: char| is_word(c) || c == '.') {
                continue;
            }
            let path = text[at..].split(|c| !is_word(c)).next().unwrap_or_default();
            let parts = path.split("::").filter(|part| !part.is_empty()).map(str::to_owned);
            paths.push(parts.collect());
        }
    }
    paths
}

fn without_uses(text: &str) -> String {
    let mut rest = String::new();
    let mut inside = false;
    for line in text.lines() {
        let item = line.trim_start();
        inside |= item.starts_with("use ")
            || item.starts_with("pub")
                && item.split_once(' ').is_some_and(|it| it.1.starts_with("use "));
        if !inside {
            rest.push_str(line);
            rest.push('\n');
        }
        inside &= !line.contains(';');
    }
    rest
}

/// Converts a path into one from the root of its crate. Returns `None` if the path leads to another
/// crate.
fn absolute(module: &Module, path: &[String], code: &Code) -> Option<Module> {
    let (first, rest) = path.split_first()?;
    let mut from = match &**first {
        "crate" => Module::new(),
        "self" => module.clone(),
        "super" => module.split_last()?.1.to_vec(),
        name => {
            let child: Module = module.iter().cloned().chain([name.to_owned()]).collect();
            code.contains_key(&child).then_some(child)?
        }
    };
    for part in rest {
        match &**part {
            "super" => drop(from.pop()),
            "self" => {}
            _ => from.push(part.clone()),
        }
    }
    Some(from)
}

/// Returns the module that defines the item with this path. Follows up to six re-exports.
fn defining(path: &[String], code: &Code, handed: &Handed, hops: u8) -> Option<Module> {
    let depth = (0..=path.len()).rev().find(|depth| code.contains_key(&path[..*depth]))?;
    let (module, rest) = path.split_at(depth);
    let origin = rest.first().and_then(|name| handed.get(&(module.to_vec(), name.clone())));
    match origin {
        Some(origin) if hops < 6 => {
            let further: Vec<_> = origin.iter().chain(&rest[1..]).cloned().collect();
            defining(&further, code, handed, hops + 1)
        }
        _ => Some(module.to_vec()),
    }
}

#[test]
fn imports_lead_to_where_a_name_is_defined() {
    let files = [
        File::new("crates/x/src/lib.rs", "mod a;\nmod b;\npub use a::deep::Thing;"),
        File::new("crates/x/src/a.rs", "mod deep;\npub(crate) use deep::Thing;"),
        File::new("crates/x/src/a/deep.rs", "use super::super::b;\nfn f() { crate::b::g() }"),
        File::new("crates/x/src/b.rs", "use crate::{Thing, a::{self}};\n// use crate::c;"),
        File::new(
            "crates/x/src/c.rs",
            "#[cfg(test)]\nmod plans;\nmod d;\npub use d::{\n    Other,\n};\nfn f() { d::g() }\n\
             #[cfg(test)]\nmod tests {\n    use crate::b;\n}",
        ),
        File::new("crates/x/src/c/d.rs", "fn g() {}"),
        File::new("crates/x/src/c/plans.rs", "use super::f;"),
    ];
    let module = |path: &str| path.split("::").map(str::to_owned).collect::<Module>();
    let graph = &modules(&files)["crates/x"];
    let to = |from: &str| graph[&module(from)].clone();
    assert_eq!(to("a::deep"), [module("b")].into());
    assert_eq!(to("b"), [module("a"), module("a::deep")].into());
    assert_eq!(to("a"), [].into());
    assert_eq!(to("c"), [module("c::d")].into());
    assert_eq!(to("c::plans"), [module("c")].into());
}

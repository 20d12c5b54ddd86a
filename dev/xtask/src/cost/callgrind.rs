//! Runs a program under Valgrind, which counts the instructions of selected functions.

use std::fs;
use std::path::Path;

use super::baseline::Counts;
use crate::command::{Failure, run};
use crate::valgrind;

/// The beginning of the paths of all functions whose instructions are counted.
const FUNCTION: &str = "forklore_cost::counted::counted_";

/// Runs `binary` under Valgrind and counts the instructions of each function `counted_NAME`, from
/// its entry to its return. `names` contains the values of `NAME`; `folder` receives Valgrind's
/// output.
pub(super) fn count(binary: &Path, folder: &Path, names: &[&str]) -> Result<Counts, Failure> {
    let mut valgrind = valgrind::command()?;
    valgrind.args(["--tool=callgrind", "--quiet"]);
    valgrind.arg(format!("--callgrind-out-file={}", folder.join("counts").display()));
    for name in names {
        // Valgrind writes one file per function, with the instruction count since the function's
        // entry.
        valgrind.args([
            format!("--zero-before={FUNCTION}{name}"),
            format!("--dump-after={FUNCTION}{name}"),
        ]);
    }
    run(valgrind.arg(binary).arg(folder))?;
    let mut counted = Vec::new();
    let unreadable = |source| Failure::Folder { path: folder.to_owned(), source };
    for file in fs::read_dir(folder).map_err(unreadable)? {
        let path = file.map_err(unreadable)?.path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("counts.")) {
            let text = fs::read_to_string(&path).map_err(unreadable)?;
            counted.extend(total(&text, names));
        }
    }
    Ok(counted.into_iter().collect())
}

/// Returns the name and the instruction count of a function, from `text`, an output file of
/// Valgrind. Returns `None` if the file belongs to none of the functions in `names`.
fn total(text: &str, names: &[&str]) -> Option<(String, u64)> {
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
    let trigger = field("desc: Trigger: --dump-after=")?.strip_prefix(FUNCTION)?;
    let name = names.iter().find(|name| **name == trigger)?;
    Some(((*name).to_owned(), field("totals: ")?.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_total_belongs_to_the_function_that_was_left() {
        let text = "version: 1\ndesc: Trigger: --dump-after=forklore_cost::counted::counted_load\n\n\
                    events: Ir\nsummary: 5\n\nfn=(1) x\n1 5\ntotals: 42\n";
        assert_eq!(total(text, &["open", "load"]), Some(("load".into(), 42)));
        assert_eq!(total(text, &["open"]), None);
        assert_eq!(total("desc: Trigger: Program termination\ntotals: 42\n", &["load"]), None);
    }
}

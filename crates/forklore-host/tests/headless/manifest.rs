//! Checks that the host does not read a terminal, handle signals, print, or create an async
//! runtime.

use std::fs;
use std::path::{Path, PathBuf};

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

#[test]
fn a_host_has_no_terminal_no_signals_and_no_runtime() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    for word in ["rustyline", "anstyle", "\"signal\"", "termios", "rt-multi-thread", "clap"] {
        assert!(!manifest.contains(word), "{word} in the manifest");
    }
    let banned = [
        "io::stdin",
        "io::stdout",
        "io::stderr",
        "println!",
        "print!",
        "eprintln!",
        "tokio::signal",
        "Runtime",
        "block_on",
    ];
    for path in sources(&root.join("src")) {
        let text = fs::read_to_string(&path).unwrap();
        for word in banned {
            assert!(!text.contains(word), "{word} in {}", path.display());
        }
    }
}

//! Tests with damaged golden stores: one byte is wrong, a file is truncated, or a line is in a wrong
//! place.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use forklore::core::ErrorKind;
use forklore::store::memory::MemoryStore;
use forklore_faults::bytes::{Damage, Seen, read, run_all};
use forklore_faults::golden::Answers;
use forklore_faults::kind::Kind;
use forklore_faults::soak::{Chance, seed, times};

use crate::golden::{copy, copy_all, stores};

/// On average, one in this many damaged copies is also recovered into another store.
const SALVAGED: u64 = 10;

/// Returns the paths of those files of a store that are not empty.
fn files(store: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![store.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if fs::metadata(&path).unwrap().len() > 0 {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[derive(Clone, Debug)]
struct Case {
    /// The path of the damaged file, relative to the store.
    file: PathBuf,
    damage: Damage,
    salvage: bool,
}

/// Tries `count` randomly damaged copies of each golden store of a kind. Each `part` uses other
/// random numbers.
fn sweep(kind: Kind, name: &str, part: u64, count: u64) {
    for golden in stores(kind, name) {
        let mut chance = Chance::new(seed(), (1_000 + part) << 32);
        let store = golden.join("store");
        let all: Vec<_> =
            files(&store).into_iter().map(|file| (fs::read(&file).unwrap(), file)).collect();
        let sum: usize = all.iter().map(|(bytes, _)| bytes.len()).sum();
        let cases = (0..times(count)).map(|_| {
            // Picks a file so that every byte of the store is equally likely to be damaged.
            let mut at = usize::try_from(chance.below(sum as u64)).unwrap();
            let mut files = all.iter();
            let (bytes, file) = files
                .find(|(bytes, _)| at.checked_sub(bytes.len()).map(|rest| at = rest).is_none())
                .unwrap();
            let file = file.strip_prefix(&store).unwrap().to_owned();
            let salvage = chance.below(SALVAGED) == 0;
            Case { file, damage: Damage::of_stored(bytes, &mut chance), salvage }
        });
        let cases: Vec<_> = cases.collect();
        println!("bytes of {name}, part {part}: seed {}, {} copies", seed(), cases.len());
        let seen = Arc::new(Mutex::new(Seen::default()));
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let (counted, folder) = (seen.clone(), dir.path().join("store"));
        let expected = copy(&golden, &dir.path().join("answers"));
        run_all(cases, move |case| {
            copy_all(&store, &folder);
            let done = try_one(kind, &folder, &expected, case, &mut counted.lock().unwrap());
            fs::remove_dir_all(&folder).unwrap();
            done
        });
        println!("bytes of {name}, part {part}: {:?}", seen.lock().unwrap());
    }
}

fn try_one(
    kind: Kind,
    folder: &Path,
    expected: &Answers,
    case: &Case,
    seen: &mut Seen,
) -> Result<(), String> {
    let file = folder.join(&case.file);
    let damaged = case.damage.apply(&fs::read(&file).unwrap());
    fs::write(&file, damaged).unwrap();
    let opened = match kind.open(folder) {
        Ok(opened) => opened,
        Err(error) => {
            seen.refused += 1;
            let name = file.file_name().unwrap().to_str().unwrap();
            let clear = matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Unsupported);
            return if clear && error.to_string().contains(name) {
                Ok(())
            } else {
                Err(format!("it is refused in an unclear way: {} {error}", error.kind()))
            };
        }
    };
    match read(&opened.engine, expected, &file)? {
        true => seen.damaged += 1,
        false => seen.unharmed += 1,
    }
    if case.salvage { saved(&opened.engine, expected) } else { Ok(()) }
}

/// Recovers the damaged store into another store, and checks that all readable logs are there.
fn saved(from: &forklore::Engine, expected: &Answers) -> Result<(), String> {
    let into = forklore::Engine::new(Arc::new(MemoryStore::default()));
    let into = into.with_agent_formats(forklore::formats::AGENT_FORMATS);
    let salvage = from.recover(&into).map_err(|error| format!("salvage: {error}"))?;
    let problems = into.verify(None).map_err(|error| error.to_string())?.problems;
    if !problems.is_empty() {
        return Err(format!("what was saved is not sound: {problems:?}"));
    }
    for (id, log) in &expected.logs {
        let id = id.parse().map_err(|_| "a bad id")?;
        let (Ok(was), is) =
            (forklore_faults::golden::log(from, &id), forklore_faults::golden::log(&into, &id))
        else {
            continue;
        };
        if is.as_ref().ok() != Some(&was) {
            return Err(format!("{id} can be read and was not saved: {:?}", salvage.lost));
        }
        assert_eq!(was, *log);
    }
    Ok(())
}

macro_rules! parts {
    ($kind:expr, $name:literal, $count:literal: $($part:ident = $number:literal),*) => {
        $(#[test] fn $part() { sweep($kind, $name, $number, $count); })*
    };
}

mod files {
    use super::*;
    parts!(Kind::Files, "files", 25:
        part_1 = 101, part_2 = 102, part_3 = 103, part_4 = 104,
        part_5 = 105, part_6 = 106, part_7 = 107, part_8 = 108);
}

mod sqlite {
    use super::*;
    parts!(Kind::Sqlite, "sqlite", 50:
        part_1 = 1, part_2 = 2, part_3 = 3, part_4 = 4, part_5 = 5,
        part_6 = 6, part_7 = 7, part_8 = 8, part_9 = 9, part_10 = 10);
}

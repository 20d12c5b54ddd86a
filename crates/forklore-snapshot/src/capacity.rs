//! Whether there is room for a snapshot, if the size of the repository is limited.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::io::{self, BufRead as _, BufReader};

use bstr::{BString, ByteSlice as _};
use sha1::{Digest as _, Sha1};

use crate::git::output;
use crate::root::Root;
use crate::{Error, Result, Snapshots};

/// How many files an error names.
const NAMED: usize = 5;

/// A file to record, with its size.
type Sized<'a> = (&'a BString, u64);

/// Refuses if the repository could get more than `max` bytes by these files. How little compression
/// leaves of them is not known before.
pub(crate) fn check(
    snapshots: &Snapshots,
    root: &Root,
    max: u64,
    mut files: Vec<Sized<'_>>,
) -> Result<()> {
    let bytes = snapshots.bytes()?;
    let sum = |files: &[Sized<'_>]| files.iter().map(|(_, size)| size).sum::<u64>();
    if bytes.saturating_add(sum(&files)) <= max {
        return Ok(());
    }
    // What is stored already needs nothing. To find out, each file is read.
    files = new_contents(snapshots, root, files)?;
    let new = sum(&files);
    if new == 0 || bytes.saturating_add(new) <= max {
        return Ok(());
    }
    files.sort_by_key(|&(path, size)| (Reverse(size), path));
    let largest = files.into_iter().take(NAMED).map(|(path, size)| (path.clone(), size));
    Err(Error::Full { max, bytes, new, largest: largest.collect() })
}

/// Returns the files whose contents the repository does not have, one of those with equal contents.
fn new_contents<'a>(
    snapshots: &Snapshots,
    root: &Root,
    files: Vec<Sized<'a>>,
) -> Result<Vec<Sized<'a>>> {
    let mut ids = HashSet::new();
    let mut different = Vec::new();
    for (path, size) in files {
        // What is gone or cannot be read will not be in the snapshot.
        let Some(Ok(file)) = root.file(path.as_bstr())? else { continue };
        let failed = Error::file("read", root.full(path.as_bstr()));
        let id = blob_id(size, file).map_err(failed)?;
        if ids.insert(id.clone()) {
            different.push((id, (path, size)));
        }
    }
    let lines: Vec<_> = different.iter().map(|(id, _)| format!("{id}\n")).collect();
    let mut command = snapshots.git().command("cat-file");
    command.arg("--batch-check").stdin(snapshots.input(lines.concat().as_bytes())?);
    let answer = output(&mut command, "cat-file", snapshots.git().folder())?.stdout;
    let missing: HashSet<_> =
        answer.split_str("\n").filter_map(|line| line.strip_suffix(b" missing")).collect();
    different.retain(|(id, _)| missing.contains(id.as_bytes()));
    Ok(different.into_iter().map(|(_, file)| file).collect())
}

/// Returns the id that git gives to contents.
fn blob_id(size: u64, file: impl io::Read) -> io::Result<String> {
    let mut hash = Sha1::new_with_prefix(format!("blob {size}\0"));
    let mut file = BufReader::with_capacity(1 << 16, file.take(size));
    loop {
        let part = file.fill_buf()?;
        let length = part.len();
        if length == 0 {
            break;
        }
        hash.update(part);
        file.consume(length);
    }
    Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

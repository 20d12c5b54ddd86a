//! Tests with a full disk, and with a limit on the size of a file.

use std::path::{Path, PathBuf};

use forklore_faults::history::Line;
use forklore_faults::kind::Kind;
use forklore_faults::process::Task;
use forklore_faults::soak::times;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};
use tempfile::TempDir;

use crate::world::{World, for_each_store};

const CYCLES: u64 = 20;
/// The size of the disk: enough for a store that contains the family, and for writing it again.
const DISK: &std::ffi::CStr = c"size=32m";

for_each_store!(a_full_disk_that_is_freed, files_that_may_not_grow);

fn a_full_disk_that_is_freed(kind: Kind) {
    match Disk::mount() {
        Ok(disk) => filled(World::on(kind, 0, disk.path()), "fill the disk"),
        // If no disk can be mounted, the test limits the file size instead.
        Err(error) => {
            println!("no disk can be mounted here ({error}): files may not grow instead");
            filled(World::new(kind, 0), "fill files");
        }
    }
}

fn files_that_may_not_grow(kind: Kind) {
    filled(World::new(kind, 0), "fill files");
}

fn filled(mut world: World, work: &str) {
    let task = Task { work: work.into(), ..world.task("full", times(CYCLES)) };
    let mut process = World::start(&task);
    process.go();
    let (status, lines) = process.ended::<Line>();
    world.note("full", &lines);
    let open = world.history.iter().filter(|entry| entry.is_open()).count();
    assert!(status.success() && open == 0, "the process failed; {:?}", world.history.last());
    let refused = world.history.iter().filter(|entry| !entry.is_done()).count() as u64;
    assert!(refused >= times(CYCLES), "it was full {refused} times only");
    world.assert_sound_though_limited();
}

/// The mount point of a small disk, which is unmounted when this value is dropped.
struct Disk(TempDir);

impl Disk {
    fn mount() -> std::io::Result<Self> {
        let folder = tempfile::tempdir()?;
        mount("forklore", folder.path(), "tmpfs", MountFlags::empty(), Some(DISK))?;
        Ok(Self(folder))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let path: PathBuf = self.0.path().to_owned();
        unmount(&path, UnmountFlags::DETACH).expect("a disk that was mounted");
    }
}

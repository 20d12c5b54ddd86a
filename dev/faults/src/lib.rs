//! Tools that break stores on purpose: failing disks, disk images after a crash, killed processes,
//! concurrent processes, and damaged bytes.

pub mod bytes;
pub mod caller;
pub mod check;
pub mod copying;
pub mod disk;
pub mod drive;
pub mod golden;
pub mod history;
pub mod image;
pub mod kind;
pub mod limits;
pub mod naming;
pub mod picture;
pub mod power;
pub mod process;
pub mod soak;
pub mod subject;
pub mod sweep;
pub mod test_folder;
pub mod transcript;
pub mod vfs;
pub mod work;
pub mod workload;

//! Detects network file systems, whose file locks are unreliable.

use std::path::Path;

/// The magic numbers by which Linux identifies network file systems.
const NETWORK: [(u32, &str); 10] = [
    (0x6969, "nfs"),
    (0x517b, "smb"),
    (0xfe53_4d42, "smb2"),
    (0xff53_4d42, "cifs"),
    (0x0102_1997, "9p"),
    (0x5346_414f, "afs"),
    (0x7375_7245, "coda"),
    (0x00c3_6400, "ceph"),
    (0x0bd0_0bd0, "lustre"),
    (0x786f_4256, "vboxsf"),
];

/// The magic number of every FUSE file system. The mount table gives its actual type, such as
/// `fuse.sshfs`.
const FUSE: u32 = 0x6573_5546;

/// The types of FUSE file systems that access a network.
const NETWORK_FUSE: [&str; 10] = [
    "fuse.sshfs",
    "fuse.rclone",
    "fuse.s3fs",
    "fuse.gcsfuse",
    "fuse.davfs",
    "fuse.curlftpfs",
    "fuse.glusterfs",
    "fuse.cephfs",
    "fuse.juicefs",
    "fuse.grpcfuse",
];

/// Returns the type of the network file system that contains `folder`, such as `nfs`. `None` if the
/// folder is on a local file system, or if the type of its file system cannot be determined.
#[cfg(target_os = "linux")]
#[must_use]
pub fn network(folder: &Path) -> Option<String> {
    let found = rustix::fs::statfs(folder).ok()?;
    let table = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    // Only the low 32 bits of `f_type` are significant, whatever its type on this platform.
    name(found.f_type as u32, &table, &real)
}

/// Returns the type of the file system that contains `folder`, as the mount table names it. `None`
/// if the system has no such table, or if the table does not contain the folder.
#[must_use]
pub fn file_system(folder: &Path) -> Option<String> {
    let table = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    mounted(&table, &folder.canonicalize().ok()?)
}

/// Returns `None`, because network file systems are detected on Linux only.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn network(_folder: &Path) -> Option<String> {
    None
}

/// Returns the type of the network file system that contains `path`; `None` if that file system is
/// local. `number` is the file system's magic number, and `mounts` is the text of the mount table.
fn name(number: u32, mounts: &str, path: &Path) -> Option<String> {
    if let Some((_, name)) = NETWORK.iter().find(|(found, _)| *found == number) {
        return Some((*name).to_owned());
    }
    let kind = (number == FUSE).then(|| mounted(mounts, path)).flatten()?;
    NETWORK_FUSE.contains(&&*kind).then_some(kind)
}

/// Returns the type of the file system that contains `path`: the mount whose mount point is the
/// longest prefix of `path`. Returns `None` if no mount point is a prefix. Each line of the mount
/// table has the form `id parent dev root point options ... - type source options`.
fn mounted(mounts: &str, path: &Path) -> Option<String> {
    let lines = mounts.lines().filter_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let point = unescaped(before.split(' ').nth(4)?);
        let kind = after.split(' ').next()?;
        path.starts_with(&point).then(|| (point.len(), kind.to_owned()))
    });
    // A later mount at the same path covers an earlier one, and `max_by_key` returns the last
    // maximum.
    lines.max_by_key(|(length, _)| *length).map(|(_, kind)| kind)
}

/// Decodes the characters that the mount table writes as octal escapes: space, tab, line feed and
/// backslash.
fn unescaped(point: &str) -> String {
    let escapes = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    // The backslash comes last, because the others contain one.
    escapes.iter().fold(point.to_owned(), |point, (escape, c)| point.replace(escape, c))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:40 / /home/me/far\\040away rw - fuse.sshfs me@host: rw
31 22 0:41 / /home/me/near rw - fuse.encfs encfs rw
32 22 0:42 / /home/me/tab\\011line\\012back\\134slash rw - nfs4 host:/ rw";

    #[test]
    fn the_nearest_mount_says_what_a_folder_is_on() {
        let kind = |path| mounted(MOUNTS, Path::new(path));
        assert_eq!(kind("/home/me"), Some("ext4".into()));
        assert_eq!(kind("/home/me/near/store"), Some("fuse.encfs".into()));
        assert_eq!(kind("/home/me/tab\tline\nback\\slash/store"), Some("nfs4".into()));
        assert_eq!(mounted("", Path::new("/")), None);
    }

    #[test]
    fn network_file_systems_have_names() {
        let name = |number, path: &str| name(number, MOUNTS, Path::new(path));
        assert_eq!(name(0x6969, "/srv"), Some("nfs".into()));
        assert_eq!(name(0xff53_4d42, "/srv"), Some("cifs".into()));
        assert_eq!(name(0x0102_1997, "/srv"), Some("9p".into()));
        assert_eq!(name(0xef53, "/srv"), None);
        assert_eq!(name(FUSE, "/home/me/far away/store"), Some("fuse.sshfs".into()));
        assert_eq!(name(FUSE, "/home/me/near/store"), None);
        assert_eq!(name(FUSE, "/elsewhere"), None);
    }
}

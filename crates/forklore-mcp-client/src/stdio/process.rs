//! The child process of a server: its environment, its standard error and its termination.

use std::ffi::OsString;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::stderr_tail::StderrTail;

/// The environment variables that the program of every server inherits. None of them contains a
/// secret.
const ENVIRONMENT: &[&str] = if cfg!(windows) {
    &[
        "APPDATA",
        "COMSPEC",
        "HOMEDRIVE",
        "HOMEPATH",
        "LOCALAPPDATA",
        "PATH",
        "PATHEXT",
        "PROGRAMDATA",
        "PROGRAMFILES",
        "SYSTEMDRIVE",
        "SYSTEMROOT",
        "TEMP",
        "TMP",
        "USERNAME",
        "USERPROFILE",
        "WINDIR",
    ]
} else {
    &[
        "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ",
        "USER",
    ]
};

/// The time that a server has to exit after its standard input was closed. After SIGTERM it has the
/// same time again.
const GRACE: Duration = Duration::from_secs(2);

/// A child process of a server. Dropping this value stops the whole process group of the child.
#[derive(Debug)]
pub(crate) struct Process {
    stop: CancellationToken,
    ended: watch::Receiver<Option<ExitStatus>>,
    gone: watch::Receiver<bool>,
}

/// The pipes of a newly started child process.
pub(crate) struct Spawned {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
}

impl Process {
    /// Starts a program in a process group of its own. So a Ctrl-C at the terminal does not reach
    /// the program, and stopping the program also stops the processes that it started. `running`
    /// contains the program until it has stopped.
    pub(crate) fn start(
        running: &TaskTracker,
        command: &str,
        args: &[String],
        folder: Option<&std::path::Path>,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
        tail: &StderrTail,
    ) -> io::Result<(Self, Spawned)> {
        let mut program = Command::new(command);
        program.args(args).env_clear().kill_on_drop(true);
        program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        program.envs(ENVIRONMENT.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
        program.envs(variables);
        if let Some(folder) = folder {
            program.current_dir(folder);
        }
        #[cfg(unix)]
        program.process_group(0);
        tail.clear();
        let mut child = program.spawn()?;
        let missing = || io::Error::other("the program has no pipes");
        let spawned = Spawned {
            stdin: child.stdin.take().ok_or_else(missing)?,
            stdout: child.stdout.take().ok_or_else(missing)?,
        };
        let stderr = child.stderr.take().ok_or_else(missing)?;
        tokio::spawn(listen(stderr, tail.clone()));
        let stop = CancellationToken::new();
        let (ending, ended) = watch::channel(None);
        let (going, gone) = watch::channel(false);
        let group = Group::of(&child);
        running.spawn(look_after(child, group, stop.clone(), ending, going));
        Ok((Self { stop, ended, gone }, spawned))
    }

    /// Returns the exit status of the program. Returns `None` if the program does not exit within
    /// [`GRACE`].
    pub(crate) async fn status(&self) -> Option<ExitStatus> {
        let mut ended = self.ended.clone();
        let waited = tokio::time::timeout(GRACE, ended.wait_for(Option::is_some)).await;
        waited.ok()?.ok().and_then(|status| *status)
    }

    /// Checks whether the program has ended. When it has, the processes that it started have been
    /// killed too.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.borrow().is_some()
    }

    /// Stops the program, and waits until it has stopped. The standard input of the program is
    /// already closed, so the program first has [`GRACE`] to exit. Then the program receives
    /// SIGTERM, and after another [`GRACE`] it is killed.
    pub(crate) async fn end(&self) {
        self.stop.cancel();
        let mut gone = self.gone.clone();
        // An error means that the supervising task has ended, and the program with it.
        let _ = gone.wait_for(|gone| *gone).await;
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Reads a server's standard error until it ends, and stores the last bytes in `tail`.
async fn listen(mut stderr: ChildStderr, tail: StderrTail) {
    let mut buffer = [0_u8; 4096];
    while let Ok(len @ 1..) = stderr.read(&mut buffer).await {
        tail.push(buffer.get(..len).unwrap_or_default());
    }
}

/// Waits until a child process exits, or until `stop` requests its end. Then stops all processes of
/// its group.
async fn look_after(
    mut child: Child,
    group: Group,
    stop: CancellationToken,
    ending: watch::Sender<Option<ExitStatus>>,
    going: watch::Sender<bool>,
) {
    let mut status = tokio::select! {
        status = child.wait() => status.ok(),
        () = stop.cancelled() => None,
    };
    if status.is_none() {
        status = within_grace(&mut child).await;
    }
    if status.is_none() {
        group.ask_to_end();
        status = within_grace(&mut child).await;
    }
    // Kill the processes that the program left running, and the program itself if it still runs.
    drop(group);
    if status.is_none() {
        let _ = child.start_kill();
        status = child.wait().await.ok();
    }
    ending.send_replace(status);
    going.send_replace(true);
}

async fn within_grace(child: &mut Child) -> Option<ExitStatus> {
    tokio::time::timeout(GRACE, child.wait()).await.ok()?.ok()
}

/// The process group of a server. Dropping this value kills the group, even when the async runtime
/// shuts down.
#[derive(Debug)]
struct Group(#[cfg(unix)] Option<rustix::process::Pid>);

#[cfg(unix)]
impl Group {
    fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self(id.and_then(rustix::process::Pid::from_raw))
    }

    fn ask_to_end(&self) {
        self.signal(rustix::process::Signal::TERM);
    }

    /// Sends a signal to the group. Ignores the error if all processes of the group have ended.
    fn signal(&self, signal: rustix::process::Signal) {
        if let Some(group) = self.0 {
            let _ = rustix::process::kill_process_group(group, signal);
        }
    }
}

#[cfg(unix)]
impl Drop for Group {
    fn drop(&mut self) {
        self.signal(rustix::process::Signal::KILL);
    }
}

#[cfg(not(unix))]
impl Group {
    fn of(_: &Child) -> Self {
        Self()
    }

    fn ask_to_end(&self) {}
}

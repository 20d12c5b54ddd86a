//! The child process behind a server: its environment, its last words, its end.

use std::ffi::OsString;
use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::stderr_tail::StderrTail;

/// What every program may know of its surroundings, and no secret.
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

/// How long a server may take to end after its input has, and then once more after a signal.
const GRACE: Duration = Duration::from_secs(2);

/// A child process, which ends with this value, and its whole group with it.
#[derive(Debug)]
pub(crate) struct Process {
    stop: CancellationToken,
    ended: watch::Receiver<Option<ExitStatus>>,
    gone: watch::Receiver<bool>,
}

/// A child that has just been started.
pub(crate) struct Spawned {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
}

impl Process {
    /// Starts a program in a group of its own, so that a Ctrl-C at the terminal does not reach it
    /// and what it starts ends with it.
    pub(crate) fn start(
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
        tokio::spawn(look_after(child, group, stop.clone(), ending, going));
        Ok((Self { stop, ended, gone }, spawned))
    }

    /// How the program ended, if it does so within a moment.
    pub(crate) async fn status(&self) -> Option<ExitStatus> {
        let mut ended = self.ended.clone();
        let waited = tokio::time::timeout(GRACE / 4, ended.wait_for(Option::is_some)).await;
        waited.ok()?.ok().and_then(|status| *status)
    }

    /// Ends it: its input has ended already, so it gets a little time, then a signal, then no
    /// choice.
    pub(crate) async fn end(&self) {
        self.stop.cancel();
        let mut gone = self.gone.clone();
        // An error means that the task that looked after it is gone, and it too.
        let _ = gone.wait_for(|gone| *gone).await;
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Keeps the end of what a server says on standard error.
async fn listen(mut stderr: ChildStderr, tail: StderrTail) {
    let mut buffer = [0_u8; 4096];
    while let Ok(len @ 1..) = stderr.read(&mut buffer).await {
        tail.push(buffer.get(..len).unwrap_or_default());
    }
}

/// Waits for a child to exit, or ends it.
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
    // Ends the processes that the program left behind, and the program if it still runs.
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

/// The processes that a server consists of. They are killed when this goes, also where a runtime
/// is shut down around it.
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

    /// A group that has no process any more is no matter.
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

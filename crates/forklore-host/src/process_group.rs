//! The process group of a program that the host starts.

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::Child;

/// The process group of a program and of what it starts. The program must have been started with a
/// group of its own, so that Ctrl-C at the terminal does not reach it. Dropping this value kills the
/// group.
#[derive(Debug)]
pub struct ProcessGroup(Option<Pid>);

impl ProcessGroup {
    /// Returns the group of a program.
    #[must_use]
    pub fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self(id.and_then(Pid::from_raw))
    }

    /// Asks all processes of the group to end.
    pub fn terminate(&self) {
        self.send(Signal::TERM);
    }

    fn send(&self, signal: Signal) {
        if let Some(group) = self.0 {
            // The call fails if all processes of the group have ended, which is no error.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.send(Signal::KILL);
    }
}

//! Signals that ask to stop what runs.

use std::task::Poll;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// How soon it is tried again to interrupt a turn that is about to begin.
pub(crate) const MOMENT: Duration = Duration::from_millis(5);

/// Who asked the program to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The person, with Ctrl-C (SIGINT).
    Interrupt,
    /// Another program (SIGTERM).
    Terminate,
    /// The terminal that is gone (SIGHUP).
    HangUp,
}

impl Stop {
    const ALL: [Self; 3] = [Self::Interrupt, Self::Terminate, Self::HangUp];

    /// With what the program then ends: 128 and the signal's number, as shells say it.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        let number = self.signal().as_raw_value();
        u8::try_from(number).map_or(u8::MAX, |number| number.saturating_add(128))
    }

    fn signal(self) -> SignalKind {
        match self {
            Self::Interrupt => SignalKind::interrupt(),
            Self::Terminate => SignalKind::terminate(),
            Self::HangUp => SignalKind::hangup(),
        }
    }
}

/// The signals that come from now on; none is missed.
pub(crate) struct Interrupts(Vec<(Stop, Signal)>);

impl Interrupts {
    /// Listens from now on to whatever stops a turn. Where a system cannot be listened to, nothing
    /// is ever heard.
    pub(crate) fn listen(runtime: &Runtime) -> Self {
        let _inside = runtime.enter();
        // Under `nohup` the program outlives its terminal.
        let wanted = Stop::ALL.iter().filter(|stop| **stop != Stop::HangUp || !outlives_terminal());
        let listened = wanted.filter_map(|stop| Some((*stop, signal(stop.signal()).ok()?)));
        Self(listened.collect())
    }

    /// The next one that ends a conversation wherever it is. Ctrl-C interrupts a turn.
    pub(crate) async fn end(&mut self) -> Stop {
        loop {
            let stop = self.next().await;
            if stop != Stop::Interrupt {
                return stop;
            }
        }
    }

    /// One that has come already.
    pub(crate) fn heard(&mut self) -> Option<Stop> {
        self.next().now_or_never()
    }

    /// The next one.
    pub(crate) async fn next(&mut self) -> Stop {
        std::future::poll_fn(|context| {
            let heard = self.0.iter_mut().find_map(|(stop, signal)| {
                matches!(signal.poll_recv(context), Poll::Ready(Some(()))).then_some(*stop)
            });
            heard.map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}

/// Whether whoever started the program had it ignore the end of its terminal.
fn outlives_terminal() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // The first bit is that of signal 1, SIGHUP.
    ignored.is_some_and(|mask| mask & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_know_who_stopped_it() {
        assert_eq!(Stop::ALL.map(Stop::exit_code), [130, 143, 129]);
    }
}

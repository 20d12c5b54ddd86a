//! The signals that stop a program at a terminal.

use std::task::Poll;

use forklore_host::CancellationToken;
use futures_util::FutureExt;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// A signal that stops the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// SIGINT: the user pressed Ctrl-C.
    Interrupt,
    /// SIGTERM: another program requested that this program ends.
    Terminate,
    /// SIGHUP: the terminal was closed.
    HangUp,
}

impl Stop {
    const ALL: [Self; 3] = [Self::Interrupt, Self::Terminate, Self::HangUp];

    /// Returns the exit code of the program: 128 plus the signal's number, as shells report it.
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

/// A receiver of the stop signals that arrive after its creation.
pub(crate) struct Signals(Vec<(Stop, Signal)>);

impl Signals {
    /// Registers a handler for each stop signal. Skips a signal for which the system allows no
    /// handler.
    pub(crate) fn listen(runtime: &Runtime) -> Self {
        let _inside = runtime.enter();
        // Under `nohup`, SIGHUP must stay ignored, so that the program outlives its terminal.
        let wanted = Stop::ALL.iter().filter(|stop| **stop != Stop::HangUp || !outlives_terminal());
        let listened = wanted.filter_map(|stop| Some((*stop, signal(stop.signal()).ok()?)));
        Self(listened.collect())
    }

    /// Runs an operation. The first signal triggers `cancel`; a second signal drops the operation.
    /// Returns the operation's result (`None` if the operation was dropped) and the first signal,
    /// if any.
    pub(crate) async fn cancelling<T>(
        &mut self,
        cancel: &CancellationToken,
        operation: impl Future<Output = T>,
    ) -> (Option<T>, Option<Stop>) {
        let mut operation = std::pin::pin!(operation);
        let mut stopped = None;
        loop {
            tokio::select! {
                biased;
                done = &mut operation => return (Some(done), stopped),
                stop = self.next() => {
                    if stopped.is_some() {
                        return (None, stopped);
                    }
                    stopped = Some(stop);
                    cancel.cancel();
                }
            }
        }
    }

    /// Waits for the next signal that ends a conversation. Skips Ctrl-C, which only interrupts a
    /// turn.
    pub(crate) async fn end(&mut self) -> Stop {
        loop {
            let stop = self.next().await;
            if stop != Stop::Interrupt {
                return stop;
            }
        }
    }

    /// Returns a signal that has already arrived, or `None`, without waiting.
    pub(crate) fn arrived(&mut self) -> Option<Stop> {
        self.next().now_or_never()
    }

    /// Waits for the next stop signal, including Ctrl-C.
    pub(crate) async fn next(&mut self) -> Stop {
        std::future::poll_fn(|context| {
            let arrived = self.0.iter_mut().find_map(|(stop, signal)| {
                matches!(signal.poll_recv(context), Poll::Ready(Some(()))).then_some(*stop)
            });
            arrived.map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}

/// Checks whether the program was started with SIGHUP ignored (as `nohup` does).
fn outlives_terminal() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // The lowest bit of the mask represents signal 1, SIGHUP.
    ignored.is_some_and(|mask| mask & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_128_and_the_number_of_the_signal() {
        assert_eq!(Stop::ALL.map(Stop::exit_code), [130, 143, 129]);
    }
}

//! The calls of a store: each is one exchange with the server, or several if one failed.

use std::hash::{BuildHasher, RandomState};
use std::io::Read;
use std::time::{Duration, Instant};

use forklore_store::clock::ServerClock;
use forklore_store::{Error, Result};
use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use ureq::{Agent, AsSendBody, SendBody};

use crate::address::Address;
use crate::exchange::{self, Answered, Limit, doing};
use crate::failure::Failed;
use crate::protocol::{Call, Done};

const SHORTEST_PAUSE: Duration = Duration::from_millis(5);
/// About the longest pause while no server answers. A restart takes seconds.
const LONGEST_PAUSE: Duration = Duration::from_millis(400);
/// How long a read or a write of the bytes of an attachment may take.
const STEP: Duration = Duration::from_secs(120);

/// What executes calls on a server.
pub(crate) struct Client {
    pub(crate) address: Address,
    pub(crate) clock: ServerClock,
    agent: Agent,
}

/// How much is done for one call.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    /// When the call must end.
    pub(crate) deadline: Duration,
    /// Whether a second execution does no harm.
    pub(crate) is_repeatable: bool,
    /// Whether to wait for a server that cannot be reached.
    pub(crate) is_patient: bool,
}

impl Client {
    pub(crate) fn new(address: Address) -> Result<Self> {
        let agent = exchange::agent(&address)?;
        // The first answer sets the clock.
        Ok(Self { address, clock: ServerClock::new(Timestamp::UNIX_EPOCH), agent })
    }

    /// Executes a call that changes nothing.
    pub(crate) fn read<T: DeserializeOwned>(
        &self,
        call: Call,
        arguments: &(impl Serialize + ?Sized),
    ) -> Result<T> {
        self.call(call, arguments, self.usual(true))
    }

    /// Returns the effort of a call that is not expected to take long.
    pub(crate) fn usual(&self, is_repeatable: bool) -> Effort {
        Effort { deadline: self.address.deadline, is_repeatable, is_patient: true }
    }

    /// Executes a call. If the server could not be reached or did not answer, executes it again, as
    /// long as there is time and a second execution does no harm.
    pub(crate) fn call<T: DeserializeOwned>(
        &self,
        call: Call,
        arguments: &(impl Serialize + ?Sized),
        effort: Effort,
    ) -> Result<T> {
        let body = serde_json::to_vec(arguments)
            .map_err(|error| Error::io("encoding a request", error))?;
        let once = |left| {
            let body = body.as_slice();
            let answered = self.send(call.as_str(), body, Limit::Whole(left))?;
            answered.map_or_else(|| Err(nothing()), Answered::result)
        };
        let Done { now, result } = self.repeat(call, effort, once)?;
        self.clock.advance(now);
        Ok(result)
    }

    /// Returns the time that the clock of the store shows.
    pub(crate) fn look_at_clock(&self, effort: Effort) -> Result<Timestamp> {
        let once = |left| {
            let body = b"null".as_slice();
            let answered = self.send(Call::Now.as_str(), body, Limit::Whole(left))?;
            answered.map_or_else(|| Err(nothing()), Answered::result)
        };
        let Done { now, result: () } = self.repeat(Call::Now, effort, once)?;
        Ok(now)
    }

    fn repeat<T>(
        &self,
        call: Call,
        effort: Effort,
        once: impl Fn(Duration) -> Result<T, Failed>,
    ) -> Result<T> {
        let until = Instant::now() + effort.deadline;
        let (mut attempt, mut is_unknown) = (0, false);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let failed = match once(left.max(SHORTEST_PAUSE)) {
                Ok(done) => return Ok(done),
                Err(failed) => failed,
            };
            // A later attempt that fails says nothing about an earlier one.
            is_unknown |= failed.is_unknown();
            let may_repeat = !is_unknown || effort.is_repeatable;
            attempt += 1;
            let pause = pause(attempt);
            let has_time = Instant::now() + pause < until;
            let is_hopeful = failed.is_temporary()
                && (effort.is_patient || !matches!(failed, Failed::Unreached(_)));
            if may_repeat && has_time && is_hopeful {
                std::thread::sleep(pause);
                continue;
            }
            return Err(self.failed(call, failed, is_unknown && !is_read(call)));
        }
    }

    /// Returns the error for the caller. What the store says about a session, such as a conflict,
    /// also says that an earlier attempt was not executed.
    fn failed(&self, call: Call, failed: Failed, is_unknown: bool) -> Error {
        let is_certain = matches!(&failed, Failed::Store(error) if !error.is_of_store());
        let location = self.address.to_string();
        let error = failed.into_error(doing(call), &location);
        if !is_unknown || is_certain {
            return error;
        }
        Error::io(
            format!("{} {location}", doing(call)),
            format!(
                "the connection ended before the answer came, and it is not known whether the call was \
                 executed; look before you repeat it ({error})"
            ),
        )
    }

    /// Sends the bytes of an attachment, which cannot be sent again. `rest` is what follows the call in
    /// the path.
    pub(crate) fn upload<T: DeserializeOwned>(
        &self,
        call: Call,
        rest: &str,
        bytes: &mut dyn Read,
    ) -> Result<T, Failed> {
        let path = format!("{}/{rest}", call.as_str());
        let answered = self.send(&path, SendBody::from_reader(bytes), Limit::Step(STEP))?;
        let Done { now, result } = answered.map_or_else(|| Err(nothing()), Answered::result)?;
        self.clock.advance(now);
        Ok(result)
    }

    /// Begins to receive the bytes of an attachment; `None` if there is none.
    pub(crate) fn download(
        &self,
        call: Call,
        arguments: &(impl Serialize + ?Sized),
    ) -> Result<Option<Answered>> {
        let body = serde_json::to_vec(arguments)
            .map_err(|error| Error::io("encoding a request", error))?;
        self.repeat(call, self.usual(true), |_| {
            self.send(call.as_str(), body.as_slice(), Limit::Step(STEP))
        })
    }

    fn send(
        &self,
        call: &str,
        body: impl AsSendBody,
        limit: Limit,
    ) -> Result<Option<Answered>, Failed> {
        exchange::send((&self.agent, &self.address), call, body, limit)
    }
}

/// Checks whether a call changes nothing, so that it does not count whether it was executed.
fn is_read(call: Call) -> bool {
    !matches!(
        call,
        Call::Commit | Call::CommitAll | Call::Put | Call::Gc | Call::Pack | Call::Sweep
    )
}

fn nothing() -> Failed {
    Failed::Garbled(crate::failure::not_forklore("its answer is empty"))
}

/// Returns how long to wait: longer each time, and not the same for two callers that wait for the
/// same server.
fn pause(attempt: u32) -> Duration {
    let random = RandomState::new().hash_one(attempt) % 1_000;
    let longest = SHORTEST_PAUSE.saturating_mul(1 << attempt.min(10)).min(LONGEST_PAUSE);
    longest.mul_f64(0.5 + random as f64 / 2_000.0)
}

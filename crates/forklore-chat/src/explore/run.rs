//! The continuations, side by side.

use std::sync::Arc;
use std::time::Instant;

use forklore_agent::notify::{Heard, KernelEvent};
use forklore_agent::{AgentSession, Turn};
use futures_util::future::join_all;
use futures_util::{FutureExt, StreamExt};
use tokio::sync::{Notify, Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use super::{Changed, Explore, Judge, Row, State, seconds, state_of};
use crate::interrupts::MOMENT;

/// Notifications of one continuation that wait to be shown.
const WAITING: usize = 1024;

/// Runs all: the first one ahead, until its answer begins or it ends.
pub(super) async fn all(
    branches: Vec<Option<AgentSession>>,
    explore: &Explore,
    rows: Vec<Row>,
    told: mpsc::UnboundedSender<Changed>,
    cancel: CancellationToken,
) {
    let warm = Arc::new(Notify::new());
    let places = Arc::new(Semaphore::new(explore.jobs.max(1)));
    let mut first = true;
    let running = branches.into_iter().zip(rows).enumerate().filter_map(|(at, (branch, row))| {
        let one = One {
            at,
            row,
            session: branch?,
            told: told.clone(),
            judge: explore.judge.clone(),
            cancel: cancel.clone(),
        };
        let leads = std::mem::take(&mut first);
        let (warm, places) = (warm.clone(), places.clone());
        Some(async move {
            // Nobody closes it.
            let _place = places.acquire().await;
            if leads {
                one.run(Some(&warm)).await;
                // However it ended, nobody waits for it any more.
                warm.notify_waiters();
                warm.notify_one();
            } else {
                one.run(None).await;
            }
        })
    });
    let mut running: Vec<_> = running.collect();
    if running.is_empty() {
        return;
    }
    let others = running.split_off(1);
    let mut ahead = join_all(running);
    tokio::select! {
        biased;
        () = warm.notified() => {}
        _ = &mut ahead => {
            join_all(others).await;
            return;
        }
    }
    futures_util::future::join(ahead, join_all(others)).await;
}

/// One continuation.
struct One {
    at: usize,
    row: Row,
    session: AgentSession,
    told: mpsc::UnboundedSender<Changed>,
    judge: Option<Judge>,
    cancel: CancellationToken,
}

impl One {
    async fn run(mut self, warm: Option<&Notify>) {
        let began = Instant::now();
        self.row.state = State::Asked;
        self.tell();
        let done = self.turn(warm).await;
        self.row.seconds = seconds(began.elapsed());
        match done {
            Ok(turn) => {
                (self.row.state, self.row.error) = state_of(&turn.status);
                self.row.session_id = Some(turn.session_id);
                self.row.answer = turn.text;
                self.row.usage = turn.usage;
            }
            Err(error) => self.row.fail(&error.into()),
        }
        if self.row.state == State::Done
            && let Some(judge) = self.judge.take()
        {
            self.row.state = State::Judged;
            self.tell();
            match judge.mark(&self.row.answer, &self.cancel).await {
                Ok(score) => self.row.score = Some(score),
                Err(error) => self.row.error = Some(error),
            }
            self.row.state = State::Done;
        }
        self.session.cleanup(true).await;
        self.tell();
    }

    async fn turn(&mut self, warm: Option<&Notify>) -> forklore_agent::Result<Turn> {
        if self.cancel.is_cancelled() {
            // It was interrupted before it began: nothing is asked.
            return Ok(self.not_begun());
        }
        let mut heard = self.session.subscribe(WAITING);
        let session = self.session.clone();
        let prompt = self.row.prompt.clone();
        let turn = async move { session.execute(&prompt).await };
        let mut turn = std::pin::pin!(turn);
        let mut told_to_stop = false;
        let done = loop {
            tokio::select! {
                biased;
                Some(heard) = heard.next() => self.hear(&heard, warm),
                done = &mut turn => break done,
                () = self.cancel.cancelled(), if !told_to_stop => {
                    told_to_stop = self.session.interrupt();
                    if !told_to_stop {
                        // The turn is about to begin: look again when it has.
                        tokio::time::sleep(MOMENT).await;
                    }
                }
            }
        };
        // A turn that ended at once has not been listened to yet.
        while let Some(Some(heard)) = heard.next().now_or_never() {
            self.hear(&heard, warm);
        }
        done
    }

    fn hear(&mut self, heard: &Heard, warm: Option<&Notify>) {
        let Heard::Told(told) = heard else { return };
        let answer = match &told.event {
            KernelEvent::ContentBlockDelta(piece) => Some(piece),
            KernelEvent::ThinkingDelta(_) => None,
            _ => return,
        };
        if let Some(warm) = warm {
            warm.notify_one();
        }
        self.row.state = State::Answering;
        if let Some(piece) = answer {
            self.row.answer.push_str(&piece.delta);
        }
        self.tell();
    }

    fn not_begun(&self) -> Turn {
        Turn {
            session_id: self.session.id(),
            moved_from: None,
            status: forklore_agent::Status::Cancelled,
            text: String::new(),
            model_calls: 0,
            tool_calls: 0,
            usage: forklore_agent::Spent::default(),
            head_seq: -1,
        }
    }

    fn tell(&self) {
        // Nobody listens any more only when all is over.
        let _ = self.told.send((self.at, self.row.clone()));
    }
}

//! Runs the continuations concurrently.

use std::sync::Arc;
use std::time::Instant;

use forklore_agent::notify::{KernelEvent, Received};
use forklore_agent::{AgentSession, Turn};
use forklore_engine::Engine;
use futures_util::StreamExt;
use futures_util::future::join_all;
use futures_util::future::{BoxFuture, FutureExt};
use tokio::sync::{Notify, Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use super::{Changed, Judge, Plan, Row, State, fail, mark, seconds, state_of};
use crate::Host;
use crate::interrupt::interruptible;

/// The capacity of the queue for the notifications of one continuation.
const CAPACITY: usize = 1024;

/// Runs all continuations of an exploration. The first continuation runs alone until its answer
/// begins or until it ends.
pub(super) fn all<'a>(
    host: &'a Host,
    branches: Vec<Option<AgentSession>>,
    plan: &'a Plan,
    rows: Vec<Row>,
    changed: mpsc::UnboundedSender<Changed>,
    cancel: CancellationToken,
) -> BoxFuture<'a, ()> {
    async move {
        let warm = Arc::new(Notify::new());
        let jobs = Arc::new(Semaphore::new(plan.jobs.max(1)));
        let mut first = true;
        let running =
            branches.into_iter().zip(rows).enumerate().filter_map(|(at, (branch, row))| {
                let one = One {
                    engine: host.engine(),
                    at,
                    row,
                    session: branch?,
                    changed: changed.clone(),
                    judge: plan.judge.clone(),
                    cancel: cancel.clone(),
                };
                let leads = std::mem::take(&mut first);
                let (warm, jobs) = (warm.clone(), jobs.clone());
                Some(async move {
                    // An error is impossible, because the semaphore is never closed.
                    let _job = jobs.acquire().await;
                    if leads {
                        one.run(Some(&warm)).await;
                        // Start the other continuations, even if the first one ended without an
                        // answer.
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
        let mut leader = join_all(running);
        tokio::select! {
            biased;
            () = warm.notified() => {}
            _ = &mut leader => {
                join_all(others).await;
                return;
            }
        }
        futures_util::future::join(leader, join_all(others)).await;
    }
    .boxed()
}

/// A continuation that runs in a fork, with its row in the result of the exploration.
struct One<'a> {
    engine: &'a Engine,
    at: usize,
    row: Row,
    session: AgentSession,
    changed: mpsc::UnboundedSender<Changed>,
    judge: Option<Judge>,
    cancel: CancellationToken,
}

impl One<'_> {
    async fn run(mut self, warm: Option<&Notify>) {
        let began = Instant::now();
        self.row.state = State::Requested;
        self.report();
        let done = self.turn(warm).await;
        self.row.seconds = seconds(began.elapsed());
        match done {
            Ok(turn) => {
                (self.row.state, self.row.error) = state_of(&turn.status);
                self.row.session_id = Some(turn.session_id);
                self.row.answer = turn.text;
                self.row.usage = turn.usage;
            }
            Err(error) => fail(&mut self.row, &error.into()),
        }
        let judge = self.judge.take().filter(|_| self.row.state == State::Done);
        if let Some(judge) = &judge {
            self.row.state = State::Judging;
            self.report();
            match judge.score(&self.row.answer, &self.cancel).await {
                Ok(score) => self.row.score = Some(score),
                Err(error) => self.row.error = Some(error),
            }
            self.row.state = State::Done;
        }
        self.session.cleanup(true).await;
        // The session is released now, so its log is open to others.
        if let Some(judge) = &judge
            && let Err(why) = mark::record(self.engine, &judge.line(), &self.row).await
        {
            self.row.error.get_or_insert(why);
        }
        self.report();
    }

    async fn turn(&mut self, warm: Option<&Notify>) -> forklore_agent::Result<Turn> {
        if self.cancel.is_cancelled() {
            // The continuation was interrupted before it began, so send no request.
            return Ok(self.not_begun());
        }
        let mut notifications = self.session.subscribe(CAPACITY);
        let (session, cancel) = (self.session.clone(), self.cancel.clone());
        let prompt = self.row.prompt.clone();
        let turn = interruptible(&session, &cancel, session.execute(&prompt));
        let mut turn = std::pin::pin!(turn);
        let done = loop {
            tokio::select! {
                biased;
                Some(received) = notifications.next() => self.follow(&received, warm),
                done = &mut turn => break done,
            }
        };
        // Process the notifications that the loop had not read when the turn ended.
        while let Some(Some(received)) = notifications.next().now_or_never() {
            self.follow(&received, warm);
        }
        done
    }

    fn follow(&mut self, received: &Received, warm: Option<&Notify>) {
        let Received::Event(notification) = received else { return };
        let answer = match &notification.event {
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
        self.report();
    }

    fn not_begun(&self) -> Turn {
        Turn {
            session_id: self.session.id(),
            moved_from: None,
            status: forklore_agent::Status::Cancelled,
            text: String::new(),
            model_calls: 0,
            tool_calls: 0,
            usage: forklore_agent::TurnUsage::default(),
            head_seq: -1,
        }
    }

    fn report(&self) {
        // Sending fails only after the exploration has ended.
        let _ = self.changed.send((self.at, self.row.clone()));
    }
}

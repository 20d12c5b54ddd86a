//! What all routes share: the engine, how many calls of it run at once, and who may call.

use std::path::Path;
use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode, header};
use forklore::{Engine, Error};
use forklore_core::ErrorKind;
use forklore_remote::Dispatcher;
use jiff::Timestamp;
use tokio::sync::{Mutex, Semaphore, watch};

use crate::access::Caller;
use crate::access::hosts::Hosts;
use crate::access::login::{Logins, Who};
use crate::access::token::{self, TokenFile};
use crate::audit::Audit;
use crate::live::feed::Feed;
use crate::mcp::Agents;
use crate::problem::Problem;
use crate::threads::Threads;

/// How many calls of the engine run at the same time. Others wait without a thread.
const AT_ONCE: usize = 32;
/// How many queries of graphs run at the same time. Each may need much memory.
const QUERIES: usize = 2;
/// How many programs may wait for changes of the store at the same time, each on a thread.
const WAITING: usize = 256;

/// The state of the server. Clones share it.
#[derive(Clone)]
pub(crate) struct Service {
    engine: Engine,
    pub(crate) steps: Arc<Semaphore>,
    pub(crate) threads: Threads,
    /// Limits those who wait for changes of the store.
    pub(crate) waiting: Arc<Semaphore>,
    /// Limits the queries of graphs.
    #[cfg_attr(not(feature = "graph"), allow(dead_code, reason = "nobody queries"))]
    pub(crate) queries: Arc<Semaphore>,
    /// Locked by the import that runs.
    pub(crate) importing: Arc<Mutex<()>>,
    pub(crate) dispatcher: Arc<Dispatcher>,
    pub(crate) agents: Agents,
    pub(crate) feed: Feed,
    pub(crate) hosts: Arc<Hosts>,
    pub(crate) tokens: TokenFile,
    pub(crate) logins: Logins,
    pub(crate) audit: Audit,
    /// The folder of the server's own files.
    pub(crate) state: Arc<Path>,
    /// The token of this run, which is stored nowhere.
    pub(crate) own: Arc<(String, Caller)>,
    pub(crate) is_encrypted: bool,
    /// True when the server is to stop.
    pub(crate) stopping: watch::Sender<bool>,
}

impl Service {
    pub(crate) fn new(
        engine: Engine,
        (hosts, is_encrypted): (Hosts, bool),
        (tokens, own): (TokenFile, (String, Caller)),
        (audit, state): (Audit, &Path),
    ) -> Self {
        let feed = Feed::follow(engine.clone());
        let (agents, dispatcher) = (Agents::new(&engine), Dispatcher::new(engine.shared_store()));
        Self {
            engine,
            steps: Arc::new(Semaphore::new(AT_ONCE)),
            threads: Threads::new(AT_ONCE),
            waiting: Arc::new(Semaphore::new(WAITING)),
            queries: Arc::new(Semaphore::new(QUERIES)),
            importing: Arc::default(),
            dispatcher: Arc::new(dispatcher),
            agents,
            feed,
            hosts: Arc::new(hosts),
            tokens,
            logins: Logins::default(),
            audit,
            state: Arc::from(state),
            own: Arc::new(own),
            is_encrypted,
            stopping: watch::Sender::new(false),
        }
    }

    /// Returns the same service for another store. Both share the limits.
    pub(crate) fn on(&self, engine: Engine) -> Self {
        let feed = Feed::follow(engine.clone());
        let (agents, dispatcher) = (Agents::new(&engine), Dispatcher::new(engine.shared_store()));
        Self { engine, agents, feed, dispatcher: Arc::new(dispatcher), ..self.clone() }
    }

    /// Runs a call of the engine, which blocks, on a thread of its own. If the client goes away, the
    /// call still runs to its end.
    pub(crate) async fn call<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Engine) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Problem> {
        self.run(self.engine.clone(), call).await
    }

    /// Runs a call like [`call`](Self::call), on behalf of a caller. The store records who it is.
    pub(crate) async fn call_as<T: Send + 'static>(
        &self,
        caller: &Caller,
        call: impl FnOnce(&Engine) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Problem> {
        self.run(self.engine.clone().with_principal(&caller.name), call).await
    }

    /// Runs a call like [`call`](Self::call) whose failures are problems already.
    pub(crate) async fn answer<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Engine) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        self.run(self.engine.clone(), call).await
    }

    /// Runs a call like [`answer`](Self::answer), on behalf of a caller.
    pub(crate) async fn answer_as<T: Send + 'static>(
        &self,
        caller: &Caller,
        call: impl FnOnce(&Engine) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        self.run(self.engine.clone().with_principal(&caller.name), call).await
    }

    async fn run<T: Send + 'static, E: Into<Problem> + Send + 'static>(
        &self,
        engine: Engine,
        call: impl FnOnce(&Engine) -> Result<T, E> + Send + 'static,
    ) -> Result<T, Problem> {
        let stopped = || Problem::new(ErrorKind::Interrupted, "the server is stopping");
        let permit = Arc::clone(&self.steps).acquire_owned().await.map_err(|_| stopped())?;
        let done = self.threads.run(move || {
            let _permit = permit;
            call(&engine)
        });
        match done.await {
            Some(done) => done.map_err(Into::into),
            None => Err(Problem::new(ErrorKind::Internal, "the call ended without an answer")),
        }
    }

    /// Returns who sent a request with these headers.
    pub(crate) fn caller(&self, headers: &HeaderMap) -> Result<Caller, Problem> {
        let now = Timestamp::now();
        let Some(given) = headers.get(header::AUTHORIZATION) else {
            return match self.logins.who(headers, now) {
                Some(Who::Starter(caller)) => Ok(caller),
                Some(Who::Owner(sha256)) => self.owner(&sha256),
                None => Err(refused("this request has no token")
                    .or_try("send the header: Authorization: Bearer TOKEN")
                    .or_try("open the link that forklore serve printed")),
            };
        };
        let secret = given.to_str().ok().and_then(|given| given.strip_prefix("Bearer "));
        let secret =
            secret.ok_or_else(|| refused("the header Authorization has no bearer token"))?;
        self.owner(&token::hash(secret))
    }

    /// Returns who has the token with this hash.
    pub(crate) fn owner(&self, sha256: &str) -> Result<Caller, Problem> {
        let (own, caller) = self.own.as_ref();
        if sha256 == own {
            return Ok(caller.clone());
        }
        let found = self.tokens.caller(sha256, Timestamp::now());
        let found = found.map_err(|error| Problem::new(ErrorKind::Internal, error.to_string()))?;
        found.ok_or_else(|| {
            refused("the token is unknown, revoked or expired").or_try("forklore token add NAME")
        })
    }
}

fn refused(detail: &str) -> Problem {
    Problem::with_status(StatusCode::UNAUTHORIZED, ErrorKind::PermissionDenied, detail)
}

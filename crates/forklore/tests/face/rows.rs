//! Tests of row streams: they return the rows of the engine's iterators, and read only as far as
//! rows are consumed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use forklore::engine::{LogRange, Pace, Result};
use forklore::store::port::{At, LogEntry};
use futures_lite::StreamExt;
use futures_lite::future::{block_on, poll_once};

use crate::{message, with_messages};

/// Enough messages to fill more than two pages of rows.
const MANY: usize = 1_200;

#[test]
fn they_are_what_the_engine_gives() {
    block_on(async {
        let (store, session) = with_messages(MANY).await;
        let engine = store.engine();

        let events: Vec<LogEntry> = store.events(&session, At::Seq(7)).all().await.unwrap();
        let same: Result<Vec<_>> = engine.events(&session, At::Seq(7)).collect();
        assert_eq!(events, same.unwrap());
        assert_eq!(events.len(), MANY - 7);

        let cut = "message:1000".parse().unwrap();
        let records = store.replay(&session, Some(&cut)).await.unwrap().all().await.unwrap();
        let same: Result<Vec<_>> = engine.replay(&session, Some(&cut)).unwrap().collect();
        assert_eq!(records, same.unwrap());
        assert_eq!(records.len(), 1_001);

        let header = store.show(&session).await.unwrap();
        let range = LogRange { from: 3, to: Some(600), own: false };
        let log = store.log_events(&header, range).all().await.unwrap();
        let same: Result<Vec<_>> = engine.log_events(&header, range).collect();
        assert_eq!(log, same.unwrap());
        assert_eq!(log.len(), 598);
    });
}

#[test]
fn a_row_that_nobody_took_is_not_lost() {
    block_on(async {
        let (store, session) = with_messages(40).await;
        let mut events = store.events(&session, At::Seq(0));
        let mut seqs = Vec::new();
        while seqs.len() < 40 {
            // `poll_once` drops the future after one poll, as a timeout or a `select` does.
            if let Some(Some(row)) = poll_once(events.next()).await {
                seqs.push(row.unwrap().seq);
            }
        }
        assert_eq!(seqs, (0..40).collect::<Vec<_>>());
        assert!(events.next().await.is_none());
    });
}

#[test]
fn an_error_is_the_last_row() {
    block_on(async {
        let (store, _) = with_messages(0).await;
        let nobody = "nobody".parse().unwrap();
        let mut events = store.events(&nobody, At::Seq(0));
        let kind = events.next().await.unwrap().unwrap_err().kind();
        assert_eq!(kind, forklore::core::ErrorKind::NotFound);
        assert!(events.next().await.is_none());
        assert!(store.events(&nobody, At::Seq(0)).all().await.is_err());
    });
}

#[test]
fn events_appended_while_it_is_read_are_among_them() {
    block_on(async {
        let (store, session) = with_messages(20).await;
        let mut events = store.events(&session, At::Seq(0));
        assert_eq!(events.next().await.unwrap().unwrap().seq, 0);
        store.append(&session, message("late")).await.unwrap();
        assert_eq!(events.all().await.unwrap().len(), 20);
    });
}

#[test]
fn playback_says_how_long_to_wait() {
    block_on(async {
        let (store, session) = with_messages(0).await;
        let at = |second: i64| {
            let ts = jiff::Timestamp::from_second(second).unwrap();
            forklore::engine::NewEvent { ts: Some(ts), ..message("said") }
        };
        store.append(&session, vec![at(100), at(104), at(100_000)]).await.unwrap();
        let pace = Pace::new(2.0).unwrap();
        let rows = store.playback(&session, None, pace).await.unwrap().all().await.unwrap();
        let pauses: Vec<_> = rows.iter().map(|(pause, _)| *pause).collect();
        assert_eq!(pauses, [0, 2, 5].map(Duration::from_secs));
    });
}

#[test]
fn it_is_a_stream_like_any_other() {
    block_on(async {
        let (store, session) = with_messages(30).await;
        let outcome = Arc::new(AtomicUsize::new(0));
        let counter = outcome.clone();
        let records = store.replay(&session, None).await.unwrap();
        let indexes: Vec<_> = records
            .inspect(move |_| {
                counter.fetch_add(1, Ordering::SeqCst);
            })
            .map(|record| record.unwrap().index)
            .skip(2)
            .take(3)
            .collect()
            .await;
        assert_eq!((indexes, outcome.load(Ordering::SeqCst)), (vec![2, 3, 4], 5));
    });
}

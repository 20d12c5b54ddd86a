//! Runs two closures in two threads that begin at the same time.

use std::sync::Barrier;

/// Runs both closures at the same time and returns their results.
///
/// # Panics
/// If one of the closures panics.
pub fn race<A: Send, B: Send>(
    first: impl FnOnce() -> A + Send,
    second: impl FnOnce() -> B + Send,
) -> (A, B) {
    let barrier = Barrier::new(2);
    std::thread::scope(|scope| {
        let first = scope.spawn(|| {
            barrier.wait();
            first()
        });
        let second = scope.spawn(|| {
            barrier.wait();
            second()
        });
        (first.join().expect("the first thread"), second.join().expect("the second thread"))
    })
}

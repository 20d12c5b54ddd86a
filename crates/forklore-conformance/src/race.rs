//! Two threads that begin at the same moment.

use std::sync::Barrier;

/// Runs both at once and gives what they came to.
///
/// # Panics
/// When one of them does.
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

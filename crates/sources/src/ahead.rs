//! Runs the making of items in a thread of its own, a bounded number of items ahead of their use.
//!
//! Items arrive in the order in which they were made, so what is made of them does not depend on the threads.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Runs `make` in a thread of its own and `take` in this one; at most `depth` items wait in between.
///
/// A send fails once `take` has returned, which is how it stops the making. A panic of `make` is one of the caller.
pub(crate) fn ahead<T: Send, M: Send, R>(
    depth: usize,
    make: impl FnOnce(SyncSender<T>) -> M + Send,
    take: impl FnOnce(Receiver<T>) -> R,
) -> (M, R) {
    let (give, receive) = sync_channel(depth);
    std::thread::scope(|scope| {
        let maker = scope.spawn(move || make(give));
        let taken = take(receive);
        match maker.join() {
            Ok(made) => (made, taken),
            Err(payload) => std::panic::resume_unwind(payload),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_in_order_and_a_taker_that_stops_stops_the_maker() {
        let (made, taken) = ahead(
            2,
            |give| (0..1_000_000).take_while(|item| give.send(*item).is_ok()).count(),
            |receive| receive.iter().take(10).collect::<Vec<i32>>(),
        );
        assert_eq!(taken, (0..10).collect::<Vec<_>>());
        assert!((10..=13).contains(&made), "made {made}");
    }

    #[test]
    fn a_maker_ends_the_items_by_returning() {
        let (made, taken) = ahead(1, |give| give.send(7).is_ok(), |receive| receive.iter().sum::<i32>());
        assert_eq!((made, taken), (true, 7));
    }
}

//! The pins that a server has for its clients.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use forklore_store::attachments::Pin;
use forklore_store::{Error, Result};

use crate::protocol::{Holder, MOST_PINS, PINNED, Pinned};

/// Pins by their names. A client that ends without dropping its pin loses it after an hour, and at the
/// next sweep if it ran on this machine.
#[derive(Default)]
pub(super) struct Pins {
    pins: Mutex<HashMap<String, OfClient>>,
    number: AtomicU64,
    random: RandomState,
}

struct OfClient {
    since: Instant,
    holder: Holder,
    _pin: Pin,
}

impl Pins {
    /// Adds a pin, and drops those that are too old.
    ///
    /// # Errors
    /// `busy` if there are [`MOST_PINS`] already. The given pin is dropped then.
    pub(super) fn add(&self, pin: Pin, holder: Holder) -> Result<Pinned> {
        self.drop_old();
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        // The names differ from those that this server gave before it was restarted.
        let name = format!("{:016x}-{number}", self.random.hash_one(number));
        let pinned = Pinned { id: pin.id, bytes: pin.bytes, new: pin.new, pin: name.clone() };
        let mut pins = self.pins.lock().unwrap_or_else(PoisonError::into_inner);
        if pins.len() >= MOST_PINS {
            drop(pins);
            return Err(Error::Locked(format!(
                "clients of this server are attaching {MOST_PINS} files; repeat it later"
            )));
        }
        pins.insert(name, OfClient { since: Instant::now(), holder, _pin: pin });
        Ok(pinned)
    }

    /// Drops the pins that are too old.
    pub(super) fn drop_old(&self) {
        let now = Instant::now();
        let mut pins = self.pins.lock().unwrap_or_else(PoisonError::into_inner);
        let old = pins.extract_if(|_, pin| now.duration_since(pin.since) > PINNED);
        let old: Vec<_> = old.collect();
        // Dropping a pin may wait for the store, and nobody has to wait for that.
        drop(pins);
        drop(old);
    }

    /// Drops the pins of processes of this machine that are gone.
    pub(super) fn drop_unused(&self) {
        let mut pins = self.pins.lock().unwrap_or_else(PoisonError::into_inner);
        let unused: Vec<_> = pins.extract_if(|_, pin| pin.holder.is_gone()).collect();
        drop(pins);
        drop(unused);
    }

    /// Drops the pin with this name, if there is one.
    pub(super) fn drop(&self, name: &str) {
        let pin = self.pins.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
        drop(pin);
    }
}

#[cfg(test)]
mod tests {
    use forklore_store::Store as _;
    use forklore_store::memory::MemoryStore;

    use super::*;

    #[test]
    fn pins_are_limited_and_end_with_their_client() {
        let store = MemoryStore::default();
        let attachments = store.attachments().unwrap();
        let id = attachments.put(&mut &b"plan"[..], 10).unwrap().id;
        let pin = || attachments.pin(&id).unwrap().unwrap();
        let pins = Pins::default();
        let holder = Holder::of("far away");
        let first = pins.add(pin(), holder.clone()).unwrap();
        for _ in 1..MOST_PINS {
            pins.add(pin(), holder.clone()).unwrap();
        }
        let refused = pins.add(pin(), holder.clone()).unwrap_err();
        assert!(matches!(refused, Error::Locked(_)), "{refused}");
        pins.drop(&first.pin);
        pins.add(pin(), holder).unwrap();
    }
}

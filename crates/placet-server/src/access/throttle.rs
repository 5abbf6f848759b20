//! Buckets that fill with time: how often a client may try, or ask.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// More keys than this are not remembered; full buckets are forgotten first.
const KEYS_MAX: usize = 10_000;

/// One bucket for each key.
pub(crate) struct Throttle<K> {
    per_second: f64,
    burst: f64,
    buckets: Mutex<HashMap<K, Bucket>>,
}

struct Bucket {
    level: f64,
    at: Instant,
}

impl<K: Hash + Eq> Throttle<K> {
    /// So many a second in the long run, and so many at once.
    pub(crate) fn new(per_second: f64, burst: f64) -> Self {
        Self {
            per_second,
            burst,
            buckets: Mutex::default(),
        }
    }

    /// Takes one; whether there was one.
    pub(crate) fn take(&self, key: K) -> bool {
        let now = Instant::now();
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let level = |bucket: &Bucket| {
            let passed = now.saturating_duration_since(bucket.at).as_secs_f64();
            (bucket.level + passed * self.per_second).min(self.burst)
        };
        if buckets.len() >= KEYS_MAX && !buckets.contains_key(&key) {
            buckets.retain(|_, bucket| level(bucket) < self.burst);
            // Every bucket is in use: a new client waits until one is free.
            if buckets.len() >= KEYS_MAX {
                return false;
            }
        }
        let bucket = buckets.entry(key).or_insert(Bucket {
            level: self.burst,
            at: now,
        });
        let filled = level(bucket);
        let enough = filled >= 1.0;
        *bucket = Bucket {
            level: if enough { filled - 1.0 } else { filled },
            at: now,
        };
        enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_empty_after_its_burst_and_others_are_not() {
        let throttle = Throttle::new(0.001, 3.0);
        assert_eq!([(); 4].map(|()| throttle.take("a")), [true, true, true, false]);
        assert!(throttle.take("b"));
    }

    #[test]
    fn buckets_of_those_who_went_away_are_forgotten() {
        let throttle = Throttle::new(1e9, 1.0);
        for key in 0..3 * KEYS_MAX {
            assert!(throttle.take(key));
        }
        assert!(throttle.buckets.lock().unwrap().len() <= KEYS_MAX);
    }
}

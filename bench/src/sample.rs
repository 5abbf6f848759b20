//! Samples: medians with their extremes, and how to take them.

use std::hint::black_box;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::{Effort, Plan};

/// What several tries came to.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Sample {
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
    /// How many tries.
    pub(crate) n: usize,
}

impl Sample {
    pub(crate) fn of(tries: impl IntoIterator<Item = f64>) -> Self {
        let mut tries: Vec<f64> = tries.into_iter().collect();
        tries.sort_by(f64::total_cmp);
        Self {
            median: quantile(&tries, 0.5),
            min: tries.first().copied().unwrap_or(f64::NAN),
            max: tries.last().copied().unwrap_or(f64::NAN),
            n: tries.len(),
        }
    }

    pub(crate) fn scaled(self, by: f64) -> Self {
        Self {
            median: self.median * by,
            min: self.min * by,
            max: self.max * by,
            n: self.n,
        }
    }
}

/// The value below which a share `q` of the sorted values lies; by nearest rank.
pub(crate) fn quantile(sorted: &[f64], q: f64) -> f64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a rank among a few thousand values"
    )]
    let rank = (q * sorted.len().saturating_sub(1) as f64).round() as usize;
    sorted.get(rank).copied().unwrap_or(f64::NAN)
}

/// Nanoseconds and allocations of one `work`.
pub(crate) struct Cost {
    pub(crate) nanos: Sample,
    pub(crate) allocations: f64,
}

/// Times `work`, which is repeated until a try is long enough to be timed.
pub(crate) fn time<T>(plan: &Plan, mut work: impl FnMut() -> T) -> Cost {
    let (tries, shortest) = match plan.effort {
        Effort::Full => (15, Duration::from_millis(40)),
        Effort::Quick => (5, Duration::from_micros(200)),
    };
    let mut repeats: u32 = 1;
    loop {
        let took = once(repeats, &mut work);
        if took >= shortest {
            break;
        }
        repeats = repeats.saturating_mul(2);
    }
    let nanos =
        Sample::of((0..tries).map(|_| once(repeats, &mut work).as_secs_f64() * 1e9 / f64::from(repeats)));
    let counted = repeats.min(1000);
    let allocations = allocation_counter::measure(|| {
        once(counted, &mut work);
    })
    .count_total;
    #[expect(
        clippy::cast_precision_loss,
        reason = "a count of allocations in a thousand repeats"
    )]
    let allocations = allocations as f64 / f64::from(counted);
    Cost { nanos, allocations }
}

fn once<T>(repeats: u32, work: &mut impl FnMut() -> T) -> Duration {
    let start = Instant::now();
    for _ in 0..repeats {
        black_box(work());
    }
    start.elapsed()
}

pub(crate) fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// How often a second something happened `count` times in `took`.
pub(crate) fn per_second(count: usize, took: Duration) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 cycles in a try")]
    let count = count as f64;
    count / took.as_secs_f64()
}

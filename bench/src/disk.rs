//! What the disk itself can do: 4 KiB written and synced, over and over.

use std::io::{Seek, SeekFrom, Write};
use std::time::{Duration, Instant};

use crate::Plan;
use crate::sample::{Sample, per_second};

/// Syncs a second, over a few short tries. As long as one try of what it stands beside would be too disturbing.
pub(crate) fn syncs(plan: &Plan) -> anyhow::Result<Sample> {
    let tries = (0..plan.pick(5, 2))
        .map(|_| try_once(plan))
        .collect::<anyhow::Result<Vec<_>>>()?;
    Ok(Sample::of(tries))
}

fn try_once(plan: &Plan) -> anyhow::Result<f64> {
    let mut file = tempfile::tempfile_in(&plan.dir)?;
    let page = [0x5a; 4096];
    let (start, long_enough) = (
        Instant::now(),
        plan.pick(Duration::from_millis(100), Duration::from_millis(5)),
    );
    let mut count = 0;
    while count == 0 || start.elapsed() < long_enough {
        // Like a write-ahead log: the same pages, over and over.
        file.seek(SeekFrom::Start((count as u64 % 1024) * 4096))?;
        file.write_all(&page)?;
        file.sync_data()?;
        count += 1;
    }
    Ok(per_second(count, start.elapsed()))
}

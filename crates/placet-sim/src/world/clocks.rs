//! What clocks do.

use placet_core::journal::Event;
use placet_core::listing::{DueBy, JournalPage};
use placet_core::steps;

use super::{Check, World};

impl World {
    pub(super) fn let_time_pass(&mut self) -> Check {
        let open = self.pending(8)?;
        let deadlines: Vec<i64> = open.iter().map(|row| row.deadline.as_millis()).collect();
        let by = match (self.roll(4), deadlines.is_empty()) {
            // To the edge of a deadline: just before, at, just after.
            (0 | 1, false) => *self.dice.choose(&deadlines) - self.clock + i64::from(self.roll(3)) - 1,
            (2, _) => i64::from(self.roll(1_000)),
            _ => i64::from(self.roll(25_000)),
        };
        self.live += by.max(0);
        self.clock += by.max(0);
        self.wall += by.max(0);
        if self.roll(6) == 0 {
            // The clock is set.
            self.wall += i64::from(self.roll(400_000)) - 200_000;
        }
        self.tell(|world| format!("it is {} now", world.live));
        Ok(())
    }

    pub(super) fn tick(&mut self) -> Check {
        let Some(timers) = self.keeps_time() else {
            return Ok(());
        };
        if self.wall != self.clock {
            let before = self.head()?;
            // A commit that fails is followed by a crash. The clock is set if the row is there.
            let _ = self.record_outage(self.clock, self.wall);
            let rows = JournalPage::of_all(before, 16);
            let rows = self.look(|stored| stored.journal(&rows).cloned())?;
            if rows.iter().any(|row| matches!(row.event, Event::Outage { .. })) {
                self.clock = self.wall;
            }
        }
        let by = DueBy {
            at: self.now(),
            limit: 16,
            process: self.name(),
        };
        let due = self.look(|stored| stored.due(&by).cloned())?;
        for id in due.questions {
            self.tell(|_| format!("{id} is due"));
            let under = vec![timers.clone()];
            let _ = self.step_under(&under, |_, snapshot, now| steps::expire(snapshot, now, &id));
        }
        for id in due.escalations {
            let under = vec![timers.clone()];
            let _ = self.step_under(&under, |rules, snapshot, now| {
                steps::escalate(rules, snapshot, now, &id)
            });
        }
        for key in due.claims {
            let (under, fresh) = (vec![timers.clone()], self.fresh());
            let lost = self.step_under(&under, |rules, snapshot, now| {
                steps::lose_lease(rules, snapshot, now, &key, &fresh)
            });
            self.tally.unknown += u64::from(lost.is_ok());
        }
        Ok(())
    }
}

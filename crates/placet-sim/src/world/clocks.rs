//! What clocks do.

use placet_core::steps;

use super::{Check, World};

impl World {
    pub(super) fn let_time_pass(&mut self) -> Check {
        let deadlines: Vec<i64> = {
            let view = self.store.view();
            let page = view.pending_page(None, 8).map_err(|error| error.to_string())?;
            page.rows.iter().map(|row| row.deadline.as_millis()).collect()
        };
        let by = match (self.roll(4), deadlines.is_empty()) {
            // To the edge of a deadline: just before, at, just after.
            (0 | 1, false) => *self.dice.choose(&deadlines) - self.live + i64::from(self.roll(3)) - 1,
            (2, _) => i64::from(self.roll(1_000)),
            _ => i64::from(self.roll(25_000)),
        };
        self.live += by.max(0);
        self.wall += by.max(0);
        if self.roll(6) == 0 {
            // Somebody sets the clock.
            self.wall += i64::from(self.roll(400_000)) - 200_000;
        }
        self.tell(|world| format!("it is {} now", world.live));
        Ok(())
    }

    pub(super) fn tick(&mut self) -> Check {
        let (due, escalations) = {
            let view = self.store.view();
            let now = self.now().live;
            (
                view.due(now, 16).map_err(|e| e.to_string())?,
                view.due_escalations(now, 16).map_err(|e| e.to_string())?,
            )
        };
        for id in due {
            self.tell(|_| format!("{id} is due"));
            let _ = self.step(|_, snapshot, now| steps::expire(snapshot, now, &id));
        }
        for id in escalations {
            let _ = self.step(|rules, snapshot, now| steps::escalate(rules, snapshot, now, &id));
        }
        Ok(())
    }
}

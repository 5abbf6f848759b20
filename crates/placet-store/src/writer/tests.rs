//! What can only be tried from inside: another process that commits at the worst moment.

use std::convert::Infallible;
use std::time::Duration;

use super::*;
use crate::inline::BoxedDecide;
use crate::schema;

fn now() -> Now {
    Now {
        wall: Timestamp::from_millis(0),
        live: LiveTime::from_millis(0),
    }
}

/// A step that stores one event.
fn harmless() -> Deciding<(), Infallible, BoxedDecide<'static, (), Infallible>> {
    Deciding::new(Box::new(|_, _| {
        let ended = Event::SessionEnded { by: "a test".into() };
        Ok(Step::new(()).event(SessionId::new("s").unwrap(), ended))
    }))
}

/// Contradicts the store, and lets the neighbour in when the transaction has been rolled back.
struct Opening<'a> {
    neighbour: Option<&'a Writer>,
}

impl Job for Opening<'_> {
    fn decide(&mut self, _: &View<'_>, now: Now) -> Option<Writes> {
        Some(Writes {
            now,
            events: Vec::new(),
            changes: vec![Change::Took { queue_id: 9 }],
        })
    }

    fn fail(&mut self, _: &StoreError) {
        if let Some(neighbour) = self.neighbour.take() {
            let mut step = harmless();
            neighbour.group(&mut [&mut step], &now, CommitFault::None);
            step.into_result().unwrap();
        }
    }
}

#[test]
fn what_was_decided_is_not_written_again_over_what_another_process_committed_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("placet.db");
    let open = || {
        std::fs::OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .unwrap();
        schema::open_writer(&path, Duration::ZERO).unwrap()
    };
    let writer = Writer::new(open(), 64, Role::Owner).unwrap();
    let neighbour = Writer::new(open(), 64, Role::Guest).unwrap();
    let (mut decided, mut opening) = (
        harmless(),
        Opening {
            neighbour: Some(&neighbour),
        },
    );
    let told = writer.group(&mut [&mut decided, &mut opening], &now, CommitFault::None);
    assert_eq!(told, []);
    assert_eq!(decided.into_result(), Err(StepError::Store(StoreError::Busy)));
    assert_eq!(View::new(&writer.conn).head(), Ok(1), "only the neighbour's row");
}

//! Several keys at one stroke: a paste without its marks.
//!
//! Not every terminal says where a paste begins and ends. To one that does not, pasted text is keys, and a `y` or an Enter among
//! them would be an answer. No hand types two keys within `GAP`, so what comes that fast is looked at together, before the
//! first of it counts.

use std::io;
use std::time::Duration;

use crossterm::event::{self, Event, KeyEvent, KeyEventKind};

/// Keys closer together than this came at one stroke.
const GAP: Duration = Duration::from_millis(20);
/// More than this at one stroke is looked at in parts.
const EVENTS_MAX: usize = 100_000;

/// An event, and whatever comes at the same stroke.
pub fn with(first: Event) -> io::Result<Vec<Event>> {
    let mut all = vec![first];
    while all.iter().any(|event| matches!(event, Event::Key(_)))
        && all.len() < EVENTS_MAX
        && event::poll(GAP)?
    {
        all.push(event::read()?);
    }
    Ok(all)
}

/// The keys pressed, when they are several: what no hand does.
pub fn keys(events: &[Event]) -> Option<Vec<KeyEvent>> {
    let pressed = events.iter().filter_map(|event| match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => Some(*key),
        _ => None,
    });
    let keys: Vec<KeyEvent> = pressed.collect();
    (keys.len() > 1).then_some(keys)
}

//! The terminal: an inline question to the person who sits at it.

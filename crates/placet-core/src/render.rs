//! What people are shown: safe and complete, or plainly marked as a part.
//!
//! From a question to a surface in two steps. [`question`] and [`decided`] make a [`Document`]: structure, in which every
//! text is [`SafeText`] (control characters, bidi, zero-width and look-alikes made visible) and secrets are
//! [masked](mask) without hiding command, path or host. [`to_text`] lays it out for a surface; a surface too small for
//! all of it gets a part that says so, and the answer given there carries [`Shown::Part`](crate::interaction::Shown).
//!
//! **Invariant.** Nothing is silently cut: a rendering is `Whole` exactly if every block of the document is in it.

mod decided;
mod diff;
mod document;
pub(crate) mod glyph;
pub mod mask;
mod question;
mod safe;
mod text;
mod wrap;

#[cfg(test)]
pub(crate) mod tests;

pub use decided::decided;
pub use document::{Arg, ArgValue, Block, Change, CommandLine, DiffLine, Document, Hunk, OptionLine, Weight};
pub use question::{GistOf, QuestionView, gist, question};
pub use safe::SafeText;
pub use text::{Extent, Markup, Rendered, Surface, details, to_text};

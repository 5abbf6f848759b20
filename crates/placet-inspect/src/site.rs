//! Where a call would run.

use std::ops::Deref;

use placet_core::analysis::Places;

use crate::shell::Programs;

/// The workspace a call would run in, and what is known about programs.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    places: &'a dyn Places,
    programs: &'a Programs,
}

impl<'a> Site<'a> {
    /// A workspace where these programs are known.
    pub(crate) fn new(places: &'a dyn Places, programs: &'a Programs) -> Self {
        Self { places, programs }
    }

    /// What is known about programs.
    pub(crate) fn programs(self) -> &'a Programs {
        self.programs
    }

    /// The workspace's real root.
    pub(crate) fn workspace(self) -> &'a str {
        self.places.workspace()
    }

    /// The user's home folder, if there is one.
    pub(crate) fn home(self) -> Option<&'a str> {
        self.places.home()
    }
}

/// A workspace where the programs are known that come with Placet.
impl<'a, P: Places> From<&'a P> for Site<'a> {
    fn from(places: &'a P) -> Self {
        Self::new(places, Programs::builtin_ref())
    }
}

impl<'a> Deref for Site<'a> {
    type Target = dyn Places + 'a;

    fn deref(&self) -> &Self::Target {
        self.places
    }
}

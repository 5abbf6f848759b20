//! Ways to break the world on purpose. A simulator that cannot fail proves nothing.

/// One thing done wrong between the world and what it tests, as a defect in the code would do it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sabotage {
    /// Nothing is wrong.
    None,
    /// An answer at the very deadline counts: `<` where `<=` belongs.
    LateAnswerCounts,
    /// A commit is acknowledged before it is on disk, and the crash takes it.
    DroppedSync,
    /// A stranger's answer is taken for an approver's.
    StrangerCounts,
    /// One person's approval counts as often as they give it.
    VotesCountTwice,
    /// After a crash, what was claimed is simply run again.
    RunsAgainAfterCrash,
    /// A claim does not look whether the grant was claimed before.
    ClaimsTwice,
    /// An approval is taken for an approval of whatever the arguments are now.
    RunsOtherArguments,
    /// A journal row is edited.
    EditsJournal,
    /// A commit does not look whether its sessions have changed since it was decided.
    IgnoresVersions,
    /// A commit does not look whether an outage has moved its deadlines since it was decided.
    IgnoresEpoch,
    /// What is pending is not moved by outages.
    ForgetsOutages,
    /// A commit does not look whether another process has taken its lease.
    StaleFenceCounts,
    /// A claim does not look whether its process counts as gone.
    GoneProcessClaims,
    /// A place in the stream of events is a number that was handed out, and not the last row that was seen.
    CursorSkipsLateRow,
}

impl Sabotage {
    /// Every way.
    pub const ALL: [Self; 14] = [
        Self::LateAnswerCounts,
        Self::DroppedSync,
        Self::StrangerCounts,
        Self::VotesCountTwice,
        Self::RunsAgainAfterCrash,
        Self::ClaimsTwice,
        Self::RunsOtherArguments,
        Self::EditsJournal,
        Self::IgnoresVersions,
        Self::IgnoresEpoch,
        Self::ForgetsOutages,
        Self::StaleFenceCounts,
        Self::GoneProcessClaims,
        Self::CursorSkipsLateRow,
    ];

    /// By the name used on the command line.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|sabotage| format!("{sabotage:?}").eq_ignore_ascii_case(name))
    }
}

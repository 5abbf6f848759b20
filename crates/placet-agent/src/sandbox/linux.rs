//! The rules, as the kernel takes them.
//!
//! All of them are required: a kernel that lacks one confines nothing. Landlock before ABI 3 lets `truncate` pass, and before
//! ABI 6 signals to processes outside. Landlock does not stop connections to unix sockets such as the one of Docker, so seccomp
//! denies the sockets themselves.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, PathBeneath, PathFd,
    Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
};
use placet_core::confine::{Confinement, Writes};
use rustix::thread::{CapabilitySet, CapabilitySets};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
};

use super::places::{DEVICES, Places};

/// The oldest Landlock that confines as promised: Linux 6.12.
const REQUIRED: ABI = ABI::V6;

/// System calls that a confined program does without: ways around the rules for files and sockets, and the keys of the user.
const DENIED: [libc::c_long; 5] = [
    libc::SYS_io_uring_setup,
    libc::SYS_open_by_handle_at,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
];

/// Restricts this thread, and what it starts, for good.
pub(super) fn restrict(confinement: &Confinement, places: &Places) -> Result<(), String> {
    let enforced = ruleset(confinement, places).and_then(RulesetCreated::restrict_self);
    let status = enforced.map_err(|error| format!("Landlock, as of Linux 6.12, is needed: {error}"))?;
    if status.ruleset != RulesetStatus::FullyEnforced || !status.no_new_privs {
        return Err("the kernel does not enforce all of it".into());
    }
    let program = filter(confinement).map_err(|error| error.to_string())?;
    seccompiler::apply_filter(&program).map_err(|error| format!("seccomp is needed: {error}"))?;
    if confinement.writes() == Writes::Anywhere {
        return Ok(());
    }
    drop_capabilities().map_err(|error| format!("its capabilities cannot be dropped: {error}"))
}

/// Leaves root what it needs to work with files of other users. `PERFMON` alone would read the memory map and the environment of
/// every process, past Landlock. Because no new privileges can be gained, starting a program does not bring them back.
fn drop_capabilities() -> rustix::io::Result<()> {
    let keep =
        CapabilitySet::CHOWN | CapabilitySet::DAC_OVERRIDE | CapabilitySet::FOWNER | CapabilitySet::FSETID;
    let has = rustix::thread::capabilities(None)?;
    let sets = CapabilitySets {
        effective: has.effective & keep,
        permitted: has.permitted & keep,
        inheritable: CapabilitySet::empty(),
    };
    rustix::thread::set_capabilities(None, sets)
}

fn ruleset(confinement: &Confinement, places: &Places) -> Result<RulesetCreated, RulesetError> {
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .scope(Scope::from_all(REQUIRED))?;
    if !confinement.has_network() {
        ruleset = ruleset.handle_access(AccessNet::from_all(REQUIRED))?;
    }
    if confinement.writes() == Writes::Anywhere {
        return ruleset.create();
    }
    let read = AccessFs::from_read(REQUIRED);
    // A device made in the workspace would reach a disk past its files.
    let unwanted = AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev;
    let write = AccessFs::from_all(REQUIRED) & !unwanted;
    let created = ruleset.handle_access(AccessFs::from_all(REQUIRED))?.create()?;
    let created = allow(created, &places.read, read)?;
    let created = allow(created, &places.write, write)?;
    let devices = DEVICES.map(PathBuf::from);
    allow(created, &devices, AccessFs::from_file(REQUIRED))
}

/// Allows this below each of the places. What is not there needs no right.
fn allow(
    mut ruleset: RulesetCreated,
    places: &[PathBuf],
    rights: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    for place in places {
        let Ok(opened) = PathFd::new(place) else { continue };
        ruleset = ruleset.add_rule(PathBeneath::new(opened, fitting(place, rights)))?;
    }
    Ok(ruleset)
}

/// The rights a file can have, or all of them for a folder.
fn fitting(place: &Path, rights: BitFlags<AccessFs>) -> BitFlags<AccessFs> {
    if place.is_dir() {
        rights
    } else {
        rights & AccessFs::from_file(REQUIRED)
    }
}

fn filter(confinement: &Confinement) -> Result<BpfProgram, seccompiler::BackendError> {
    let family = |op| {
        let unix = u64::from(libc::AF_UNIX.unsigned_abs());
        let condition = SeccompCondition::new(0, SeccompCmpArgLen::Dword, op, unix)?;
        Ok::<_, seccompiler::BackendError>(vec![SeccompRule::new(vec![condition])?])
    };
    // A unix socket reaches daemons that write files on request; the other families reach other machines. No rule: any family.
    let sockets = match (
        confinement.has_network(),
        confinement.writes() == Writes::Anywhere,
    ) {
        (false, false) => Vec::new(),
        (false, true) => family(SeccompCmpOp::Ne)?,
        (true, _) => family(SeccompCmpOp::Eq)?,
    };
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = BTreeMap::new();
    rules.insert(libc::SYS_socket, sockets);
    rules.extend(DENIED.map(|number| (number, Vec::new())));
    #[cfg(target_arch = "x86_64")]
    {
        // The same calls under the numbers of the x32 ABI.
        let again: Vec<_> = rules
            .iter()
            .map(|(number, rules)| (number | 0x4000_0000, rules.clone()))
            .collect();
        rules.extend(again);
    }
    let denied = SeccompAction::Errno(libc::EACCES.unsigned_abs());
    let arch = std::env::consts::ARCH.try_into()?;
    SeccompFilter::new(rules, SeccompAction::Allow, denied, arch)?.try_into()
}

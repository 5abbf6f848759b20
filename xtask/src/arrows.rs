//! The crate arrows: who may depend on whom.
//!
//! They point one way, from the program down to the core, and each missing arrow is a promise. The core knows
//! no other crate, so it stays pure. The gateway sees only the client, so an agent that is not ours gets no more than the
//! published contract. Nothing but the cli knows the server.

use std::process::ExitCode;

use crate::workspace::{Arrow, Member, When, Workspace};

/// One crate and whom it may know.
struct Room {
    name: &'static str,
    duty: Duty,
    knows: &'static [&'static str],
}

/// Whether a crate is part of what users run.
#[derive(PartialEq, Eq)]
enum Duty {
    /// Part of the product.
    Shipped,
    /// There for us only. Any crate's tests may use it; no shipped crate may contain it.
    DevOnly,
}

const fn shipped(name: &'static str, knows: &'static [&'static str]) -> Room {
    Room {
        name,
        duty: Duty::Shipped,
        knows,
    }
}

const fn dev_only(name: &'static str, knows: &'static [&'static str]) -> Room {
    Room {
        name,
        duty: Duty::DevOnly,
        knows,
    }
}

/// Every crate of the workspace. One that is not listed is an error: its author decides here where it belongs.
const ROOMS: &[Room] = &[
    shipped("placet-core", &[]),
    shipped("placet-inspect", &["placet-core"]),
    shipped("placet-store", &["placet-core"]),
    shipped(
        "placet-engine",
        &["placet-core", "placet-inspect", "placet-store"],
    ),
    shipped(
        "placet-channels",
        &["placet-core", "placet-inspect", "placet-store", "placet-engine"],
    ),
    shipped(
        "placet-agent",
        &["placet-core", "placet-inspect", "placet-store", "placet-engine"],
    ),
    shipped(
        "placet-server",
        &[
            "placet-core",
            "placet-inspect",
            "placet-store",
            "placet-engine",
            "placet-channels",
            "placet-agent",
        ],
    ),
    shipped("placet-client", &["placet-core"]),
    shipped("placet-gateway", &["placet-client"]),
    shipped(
        "placet-cli",
        &[
            "placet-core",
            "placet-inspect",
            "placet-store",
            "placet-engine",
            "placet-channels",
            "placet-agent",
            "placet-server",
            "placet-client",
            "placet-gateway",
        ],
    ),
    dev_only(
        "placet-sim",
        &["placet-core", "placet-inspect", "placet-store", "placet-engine"],
    ),
    dev_only(
        "placet-bench",
        &[
            "placet-core",
            "placet-inspect",
            "placet-store",
            "placet-engine",
            "placet-agent",
        ],
    ),
    dev_only(
        "placet-examples",
        &[
            "placet-core",
            "placet-inspect",
            "placet-engine",
            "placet-agent",
            "placet-channels",
        ],
    ),
    dev_only(
        "placet-fuzz",
        &[
            "placet-core",
            "placet-inspect",
            "placet-engine",
            "placet-channels",
        ],
    ),
    dev_only("xtask", &[]),
];

/// `cargo xtask arrows`.
pub(crate) fn run() -> anyhow::Result<ExitCode> {
    let workspace = Workspace::read()?;
    let faults = check(&workspace.members);
    for fault in &faults {
        println!("{fault}");
    }
    if faults.is_empty() {
        println!(
            "{} crates, every arrow points the right way",
            workspace.members.len()
        );
        Ok(ExitCode::SUCCESS)
    } else {
        Ok(ExitCode::FAILURE)
    }
}

/// Every arrow that may not be, in the words a reader needs to mend it.
pub(crate) fn check(members: &[Member]) -> Vec<String> {
    let mut faults = Vec::new();
    for member in members {
        match room(&member.name) {
            None => faults.push(unlisted(&member.name)),
            Some(from) => faults.extend(member.arrows.iter().filter_map(|arrow| fault(from, arrow))),
        }
    }
    faults
}

fn fault(from: &Room, arrow: &Arrow) -> Option<String> {
    let Some(to) = room(&arrow.to) else {
        return Some(format!(
            "`{}` depends on `{}`; {}",
            from.name,
            arrow.to,
            unlisted(&arrow.to)
        ));
    };
    let for_tests = arrow.when == When::Testing && to.duty == Duty::DevOnly;
    if for_tests || from.knows.contains(&to.name) {
        return None;
    }
    let whom = match from.knows {
        [] => "it may know no other crate of ours".to_owned(),
        knows => format!("it may know only {}", knows.join(", ")),
    };
    Some(format!(
        "`{}` must not depend on `{}`: {whom}",
        from.name, to.name
    ))
}

fn room(name: &str) -> Option<&'static Room> {
    ROOMS.iter().find(|room| room.name == name)
}

fn unlisted(name: &str) -> String {
    format!("`{name}` is in no room: say in xtask/src/arrows.rs whom it may know")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn member(name: &str, arrows: &[(&str, When)]) -> Member {
        let arrows = arrows
            .iter()
            .map(|&(to, when)| Arrow {
                to: to.to_owned(),
                when,
            })
            .collect();
        Member {
            name: name.to_owned(),
            folder: PathBuf::new(),
            arrows,
        }
    }

    #[test]
    fn arrows_towards_the_core_are_fine() {
        let engine = member(
            "placet-engine",
            &[("placet-store", When::Always), ("placet-core", When::Always)],
        );
        assert!(check(&[engine]).is_empty());
    }

    #[test]
    fn the_core_may_know_nobody() {
        assert_eq!(
            check(&[member("placet-core", &[("placet-store", When::Always)])]),
            ["`placet-core` must not depend on `placet-store`: it may know no other crate of ours"],
        );
    }

    #[test]
    fn the_gateway_may_not_reach_past_the_client() {
        assert_eq!(
            check(&[member("placet-gateway", &[("placet-engine", When::Always)])]),
            ["`placet-gateway` must not depend on `placet-engine`: it may know only placet-client"],
        );
    }

    #[test]
    fn nobody_but_the_cli_may_know_the_server() {
        for room in ROOMS.iter().filter(|room| room.name != "placet-cli") {
            let faults = check(&[member(room.name, &[("placet-server", When::Always)])]);
            assert_eq!(faults.len(), 1, "{}", room.name);
        }
    }

    #[test]
    fn tests_may_use_the_simulator_but_the_product_may_not_contain_it() {
        assert!(check(&[member("placet-store", &[("placet-sim", When::Testing)])]).is_empty());
        assert_eq!(
            check(&[member("placet-store", &[("placet-sim", When::Always)])]).len(),
            1
        );
    }

    #[test]
    fn tests_may_not_turn_an_arrow_between_shipped_crates_round() {
        assert_eq!(
            check(&[member("placet-core", &[("placet-store", When::Testing)])]).len(),
            1
        );
    }

    #[test]
    fn a_crate_that_is_not_listed_is_reported_as_member_and_as_target() {
        let unlisted = "`placet-misc` is in no room: say in xtask/src/arrows.rs whom it may know";
        assert_eq!(
            check(&[
                member("placet-misc", &[]),
                member("placet-cli", &[("placet-misc", When::Always)])
            ]),
            [
                unlisted.to_owned(),
                format!("`placet-cli` depends on `placet-misc`; {unlisted}")
            ],
        );
    }

    #[test]
    fn every_room_lists_only_rooms_above_it_so_there_is_no_way_round() {
        for (position, room) in ROOMS.iter().enumerate() {
            for known in room.knows {
                assert!(
                    ROOMS[..position].iter().any(|above| above.name == *known),
                    "{} knows {known}",
                    room.name
                );
            }
        }
    }
}

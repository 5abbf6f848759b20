//! Real calls through inspection, policy, configuration and rendering.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on should stop"
)]

mod chinese;
mod configuration;
mod data;
mod denied_paths;
mod effects;
mod findings;
mod other_agents;
mod rules;
mod support;
mod titles;
mod unlisted;

//! A verdict, beyond parsing: the analysis is made beforehand.

use placet_core::analysis::{Analysis, FixedPlaces};
use placet_core::call::ToolCall;
use placet_core::config::Config;
use placet_core::policy::Context;
use placet_core::tool::Tool;
use placet_core::verdict::Verdict;
use serde_json::json;

use crate::Plan;
use crate::parsing::grammar;
use crate::sample::{Sample, time};
use crate::table::{Bar, Row, Table};
use crate::world::{self, SHELL_LINE};

/// A call that has been looked into.
struct Case {
    call: ToolCall,
    tool: Tool,
    analysis: Analysis,
}

pub(crate) fn run(plan: &Plan, table: &mut Table) -> anyhow::Result<()> {
    for rules in [1, 50, 1000] {
        let config = world::config(rules)?;
        let cases = cases(&config)?;
        let mut turn = cases.iter().cycle();
        let cost = time(plan, || turn.next().map(|case| case.verdict(&config)));
        table.add(
            Row::new(
                format!("verdict, {rules} rules, mixed calls"),
                "µs",
                cost.nanos.scaled(1e-3),
            )
            .bar(Bar::AtMost(2.0))
            .allocations(cost.allocations),
        );
    }
    let config = world::config(1000)?;
    for case in cases(&config)? {
        let cost = time(plan, || case.verdict(&config));
        table.add(
            Row::new(
                format!("verdict, 1000 rules, {}", case.call.tool),
                "µs",
                cost.nanos.scaled(1e-3),
            )
            .bar(Bar::AtMost(2.0))
            .allocations(cost.allocations),
        );
    }
    whole_line(plan, table, &config)
}

/// Parsing included: what an agent's shell call costs before anything is stored.
fn whole_line(plan: &Plan, table: &mut Table, config: &Config) -> anyhow::Result<()> {
    let call = world::call("bash", json!({ "command": SHELL_LINE }), 1, "line")?;
    let tool = config.builtin_tool(&call.tool);
    let decide = || {
        let analysis = config
            .inspect
            .inspect(&tool, &call.args, &FixedPlaces::of_examples())
            .analysis;
        verdict(config, &call, &tool, &analysis)
    };
    let cost = time(plan, decide);
    let micros = cost.nanos.scaled(1e-3);
    table.add(
        Row::new("analysis and verdict, 223-byte line, 1000 rules", "µs", micros)
            .allocations(cost.allocations),
    );
    // 60 µs were promised where the bare grammar takes 50. Machines differ by more than that, so the promise is a ratio.
    let mut parser = grammar()?;
    let ratios = (0..plan.pick(5, 1)).map(|_| {
        let ours = time(plan, decide).nanos.median;
        ours / time(plan, || parser.parse(SHELL_LINE, None)).nanos.median
    });
    table.add(
        Row::new("the same against the bare grammar", "×", Sample::of(ratios)).bar(Bar::AtMost(60.0 / 50.0)),
    );
    Ok(())
}

fn cases(config: &Config) -> anyhow::Result<Vec<Case>> {
    let calls = [
        (
            "bash",
            json!({ "command": "git status --short && kubectl get pods --namespace=team7 | head" }),
        ),
        (
            "write",
            json!({ "path": "services/api/src/main.rs", "content": "fn main() {}\n" }),
        ),
        (
            "fetch",
            json!({ "url": "https://docs.example.com/v2/guide?page=3" }),
        ),
        ("sql_query", json!({ "sql": "DELETE FROM orders WHERE id = 7" })),
        ("deploy", world::args(1)),
    ];
    calls
        .into_iter()
        .map(|(tool, args)| {
            let call = world::call(tool, args, 1, tool)?;
            let tool = config.builtin_tool(&call.tool);
            let analysis = config
                .inspect
                .inspect(&tool, &call.args, &FixedPlaces::of_examples())
                .analysis;
            Ok(Case { call, tool, analysis })
        })
        .collect()
}

impl Case {
    fn verdict(&self, config: &Config) -> Verdict {
        verdict(config, &self.call, &self.tool, &self.analysis)
    }
}

fn verdict(config: &Config, call: &ToolCall, tool: &Tool, analysis: &Analysis) -> Verdict {
    // Not part of deciding: the engine has computed it by then. Measured in `digest`.
    let digest = placet_core::call::CallDigest(config.policy.version());
    let context = Context::alone(digest, "/workspace");
    config.policy.decide(call, tool, analysis, &context)
}

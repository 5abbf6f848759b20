//! The table: rows as they come, and the same as JSON.

use std::fs;
use std::path::Path;

use anyhow::Context;
use serde::Serialize;

use crate::Plan;
use crate::disk;
use crate::sample::Sample;

/// What we promised about a row.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Bar {
    AtMost(f64),
    AtLeast(f64),
}

impl Bar {
    fn met(self, value: f64) -> bool {
        match self {
            Self::AtMost(limit) => value <= limit,
            Self::AtLeast(limit) => value >= limit,
        }
    }
}

/// One measured claim.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Row {
    name: String,
    unit: &'static str,
    #[serde(flatten)]
    sample: Sample,
    #[serde(skip_serializing_if = "Option::is_none")]
    bar: Option<Bar>,
    #[serde(skip_serializing_if = "Option::is_none")]
    met: Option<bool>,
    /// Of each verdict, digest and so on.
    #[serde(skip_serializing_if = "Option::is_none")]
    allocations: Option<f64>,
    /// 4 KiB syncs a second, measured beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    syncs_per_second: Option<f64>,
}

impl Row {
    pub(crate) fn new(name: impl Into<String>, unit: &'static str, sample: Sample) -> Self {
        Self {
            name: name.into(),
            unit,
            sample,
            bar: None,
            met: None,
            allocations: None,
            syncs_per_second: None,
        }
    }

    pub(crate) fn bar(mut self, bar: Bar) -> Self {
        self.met = Some(bar.met(self.sample.median));
        self.bar = Some(bar);
        self
    }

    pub(crate) fn allocations(mut self, allocations: f64) -> Self {
        self.allocations = Some(allocations);
        self
    }

    /// With the disk's own rate, measured right beside.
    pub(crate) fn beside(mut self, syncs: Sample) -> Self {
        self.syncs_per_second = Some(syncs.median);
        self
    }

    fn line(&self) -> String {
        let Sample { median, min, max, n } = self.sample;
        let spread = format!("{}–{}", short(min), short(max));
        let bar = match (self.bar, self.met) {
            (Some(bar), Some(met)) => {
                let (sign, limit) = match bar {
                    Bar::AtMost(limit) => ('≤', limit),
                    Bar::AtLeast(limit) => ('≥', limit),
                };
                format!("{sign} {} {}", short(limit), if met { "met" } else { "MISSED" })
            }
            _ => String::new(),
        };
        let allocations = self
            .allocations
            .map(|count| format!("{} allocations", short(count)));
        let syncs = self
            .syncs_per_second
            .map(|rate| format!("{} fsync/s beside", short(rate)));
        let notes = [allocations, syncs]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(", ");
        let line = format!(
            "| {:<44} | {:>9} {:<4} | {spread:>17} | {n:>3} | {bar:<16} | {notes:<24} |",
            self.name,
            short(median),
            self.unit
        );
        line
    }
}

/// Three significant digits, without exponents.
fn short(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// All rows so far, and where they were measured.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Table {
    quick: bool,
    cores: usize,
    cpu: String,
    /// 4 KiB syncs a second before anything else ran.
    syncs_per_second: f64,
    rows: Vec<Row>,
}

impl Table {
    pub(crate) fn new(plan: &Plan) -> Self {
        Self {
            quick: plan.pick(false, true),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            cpu: cpu(),
            syncs_per_second: disk::syncs(plan).map_or(f64::NAN, |syncs| syncs.median),
            rows: Vec::new(),
        }
    }

    pub(crate) fn heading(&self) -> String {
        format!(
            "{}, {} cores, {} fsync/s of 4 KiB\n\n| {:<44} | {:>14} | {:>17} | {:>3} | {:<16} | {:<24} |\n|---|---:|---:|---:|---|---|",
            self.cpu,
            self.cores,
            short(self.syncs_per_second),
            "what",
            "median",
            "min–max",
            "n",
            "bar",
            "beside"
        )
    }

    /// Adds a row and prints it at once: a full run takes minutes.
    pub(crate) fn add(&mut self, row: Row) {
        println!("{}", row.line());
        self.rows.push(row);
    }

    pub(crate) fn summary(&self) -> String {
        let met = self.rows.iter().filter(|row| row.met == Some(true)).count();
        let missed: Vec<&str> = self
            .rows
            .iter()
            .filter(|row| row.met == Some(false))
            .map(|row| row.name.as_str())
            .collect();
        match missed.as_slice() {
            [] => format!("\n{met} bars met"),
            missed => format!("\n{met} bars met, {} missed: {}", missed.len(), missed.join("; ")),
        }
    }

    pub(crate) fn write_json(&self, path: &Path) -> anyhow::Result<()> {
        let json = serde_json::to_string_pretty(self)?;
        fs::write(path, json + "\n").with_context(|| format!("cannot write {}", path.display()))
    }
}

fn cpu() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    model.map_or_else(
        || "an unknown processor".to_owned(),
        |(_, name)| name.trim().to_owned(),
    )
}

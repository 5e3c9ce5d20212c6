//! Reports of the program `papers`: text, JSON, and a figure per table.

use super::table::{Claim, Row, Table, Unit, What};
use liftc::bench::report::DeviceInfo;
use liftc::bench::{Case, Spread};
use liftc::figure::{self, Anchor, HAIR, HIGH, INK, LABEL, LOW, NUMBER, PEN, Point, Scene, TITLE};
use serde::Serialize;

/// The fastest of several block shapes.
#[derive(Clone, Debug, Serialize)]
pub struct Tuning {
    /// Number of shapes that were compared.
    pub of: usize,
    pub fastest: String,
}

/// Result of a row.
#[derive(Clone)]
pub enum Found {
    /// Times of the row and of a copy of the same data, in microseconds, with the schedules used.
    Measured { times: Box<[Spread; 2]>, schedules: Vec<String>, tuning: Option<Tuning> },
    /// Predicted time in copies, by the planner's model.
    Predicted(Option<f64>),
    /// A derived number.
    Derived(f64),
    /// Reason of a failure.
    Failed(String),
}

impl Found {
    pub fn measured(times: Spread, copies: Spread, schedules: Vec<String>) -> Found {
        Found::Measured { times: Box::new([times, copies]), schedules, tuning: None }
    }

    /// Time in copies.
    fn copies(&self) -> Option<f64> {
        match self {
            Found::Measured { times, .. } => Some(times[0].median / times[1].median),
            _ => None,
        }
    }
}

#[derive(Serialize)]
pub struct Report {
    format: &'static str,
    version: u32,
    liftc: &'static str,
    command: Vec<String>,
    device: Option<DeviceInfo>,
    tables: Vec<Section>,
}

#[derive(Serialize)]
struct Section {
    table: &'static str,
    title: &'static str,
    /// Device of the paper's figures.
    paper_device: &'static str,
    /// Bandwidth of a copy on it.
    paper_gb_per_s: f64,
    /// Source of this bandwidth.
    paper_bandwidth: String,
    unit: &'static str,
    rows: Vec<Line>,
    /// Claims of the paper, and whether they hold here.
    conclusions: Vec<Conclusion>,
}

#[derive(Serialize)]
struct Line {
    label: String,
    /// The paper's figure, in the table's unit.
    paper: Option<f64>,
    /// The paper's figure in copies on its device, from the device's bandwidth.
    paper_copies: Option<f64>,
    here: Option<f64>,
    here_copies: Option<f64>,
    time_us: Option<Spread>,
    copy_us: Option<Spread>,
    schedules: Vec<String>,
    /// The fastest block shape, if there was a choice.
    tuning: Option<Tuning>,
    /// Prediction by the planner's model, in copies.
    predicted_copies: Option<f64>,
    failed: Option<String>,
}

#[derive(Serialize)]
struct Conclusion {
    text: String,
    holds: Option<bool>,
}

/// Samples of a row, and bytes that a copy of them reads and writes in the paper.
fn size(row: &Row) -> [usize; 2] {
    let of = |case: &Case| [case.samples(), 2 * row.stored.map_or(case.bytes(), |bytes| bytes * case.samples())];
    match &row.what {
        What::Transform(cases) => of(&cases[0]),
        What::Copy(case) | What::OnCpu(case) => of(case),
        What::Transfer(transfer) => [transfer.bytes, 2 * transfer.bytes],
        What::Coder(coder) => coder.size(),
        What::Derived(_) | What::Counted { .. } | What::Used { .. } | What::Coded { .. } => [1, 0],
    }
}

impl Report {
    pub fn new(device: Option<DeviceInfo>) -> Report {
        Report {
            format: "lifting-papers",
            version: 1,
            liftc: env!("CARGO_PKG_VERSION"),
            command: std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect(),
            device,
            tables: Vec::new(),
        }
    }

    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a report has names and numbers") + "\n"
    }

    /// Adds the results of a table, and returns its text.
    pub fn add(&mut self, table: &Table, found: Vec<Found>) -> String {
        let (device, bandwidth) = table.device;
        let gb_per_s = bandwidth.of_copies();
        let lines: Vec<Line> = table
            .rows
            .iter()
            .zip(&found)
            .map(|(row, found)| {
                let [samples, bytes] = size(row);
                let copy = bytes as f64 / (gb_per_s * 1e3);
                let paper_time = row.paper.and_then(|figure| table.unit.microseconds(figure, samples));
                let mut line = Line {
                    label: row.label.clone(),
                    paper: row.paper,
                    paper_copies: paper_time.map(|time| time / copy),
                    here: None,
                    here_copies: found.copies(),
                    time_us: None,
                    copy_us: None,
                    schedules: Vec::new(),
                    tuning: None,
                    predicted_copies: None,
                    failed: None,
                };
                match found {
                    Found::Measured { times, schedules, tuning } => {
                        let [time, copy] = &**times;
                        line.here = Some(table.unit.of(time.median, samples));
                        (line.time_us, line.copy_us) = (Some(time.clone()), Some(copy.clone()));
                        (line.schedules, line.tuning) = (schedules.clone(), tuning.clone());
                    }
                    Found::Predicted(copies) => line.predicted_copies = *copies,
                    Found::Derived(number) => line.here = Some(*number),
                    Found::Failed(text) => line.failed = Some(text.clone()),
                }
                line
            })
            .collect();
        let conclusions = table.claims.iter().map(|claim| conclude(claim, table.unit, &lines)).collect();
        let section = Section {
            table: table.id,
            title: table.title,
            paper_device: device,
            paper_gb_per_s: gb_per_s,
            paper_bandwidth: bandwidth.to_string(),
            unit: table.unit.name(),
            rows: lines,
            conclusions,
        };
        let text = section.text(self.device.is_some(), table.unit);
        self.tables.push(section);
        text
    }

    /// Figure of the table added last: bars for copies here, marks for the paper's.
    pub fn draw(&self) -> Scene {
        let section = self.tables.last().expect("a table was added");
        // Tables of numbers have no copies.
        let is_number = section.unit == Unit::Number.name();
        let of_paper = |line: &Line| if is_number { line.paper } else { line.paper_copies };
        let values = |line: &Line| if is_number { line.here } else { line.here_copies.or(line.predicted_copies) };
        let longest = section.rows.iter().filter_map(|l| values(l).into_iter().chain(of_paper(l)).reduce(f64::max));
        let longest = longest.fold(1.0, f64::max);
        let labels: Vec<String> = section.rows.iter().map(|line| figure::literal(&line.label)).collect();
        let left = 10.0 + labels.iter().map(|label| figure::advance(label, LABEL)).fold(60.0, f64::max);
        let (top, bar, width) = (34.0, 8.0, 230.0);
        let title = figure::literal(section.title);
        let whole = (left + width + 40.0).max(figure::advance(&title, TITLE) + 16.0);
        let bottom = top + bar * section.rows.len() as f64;
        let mut scene = Scene::new(whole, bottom + 26.0, section.title);
        scene.text(&title, Point { x: whole / 2.0, y: 3.0 + TITLE }, TITLE, Anchor::Middle, INK);
        let bars = match &self.device {
            _ if is_number => "here",
            Some(_) => "measured here",
            None => "predicted for an H200",
        };
        let key = format!("bars: {bars}; marks: the paper, on a {}", section.paper_device);
        scene.text(&figure::literal(&key), Point { x: left, y: top - 6.0 }, NUMBER, Anchor::Start, INK);
        let x = |value: f64| left + width * value / longest;
        for (i, (line, label)) in section.rows.iter().zip(&labels).enumerate() {
            let middle = top + bar * (i as f64 + 0.5);
            let text = Point { x: left - 4.0, y: middle + 0.35 * LABEL };
            scene.text(label, text, LABEL, Anchor::End, INK);
            if let Some(value) = values(line) {
                let centre = Point { x: (left + x(value)) / 2.0, y: middle };
                scene.rectangle(centre, x(value) - left, bar - 2.0, LOW, None);
                let at = Point { x: x(value) + 3.0, y: middle + 0.35 * NUMBER };
                scene.text(&format!("{value:.2}"), at, NUMBER, Anchor::Start, INK);
            }
            if let Some(paper) = of_paper(line) {
                let mark = [-0.45, 0.45].map(|half| Point { x: x(paper), y: middle + half * bar });
                scene.line(&mark, HIGH, 3.0 * HAIR);
            }
        }
        if !is_number {
            scene.line(&[Point { x: x(1.0), y: top }, Point { x: x(1.0), y: bottom }], INK, HAIR);
        }
        let frame = [Point { x: left, y: top }, Point { x: left, y: bottom }, Point { x: left + width, y: bottom }];
        scene.line(&frame, INK, PEN);
        let below = Point { x: left + width / 2.0, y: bottom + 6.0 + LABEL };
        let axis = if is_number { "number" } else { "time, in copies of the same data; the line is one" };
        scene.text(axis, below, LABEL, Anchor::Middle, INK);
        scene
    }
}

/// Decides whether a claim holds here.
fn conclude(claim: &Claim, unit: Unit, lines: &[Line]) -> Conclusion {
    let Claim { less, more, most, else_ } = claim;
    let line = |label: &str| lines.iter().find(|line| line.label == label);
    let value = |line: &Line| match unit {
        Unit::Number => line.here,
        _ => line.time_us.as_ref().map(|time| time.median),
    };
    let own = line(less);
    let other = match line(more) {
        None => own.and_then(|line| line.copy_us.as_ref()).map(|copy| copy.median),
        Some(line) => value(line),
    };
    let most = most.or(own.and_then(|line| line.paper_copies));
    let values = own.and_then(value).zip(other);
    let holds = values.zip(most).map(|((a, b), most)| a < most * b);
    let claimed = match most {
        Some(most) if most != 1.0 => format!("`{less}` takes less than {most:.2} times the time of `{more}`"),
        _ => format!("`{less}` takes less than `{more}`"),
    };
    let values = values.map_or(String::new(), |(a, b)| match unit {
        Unit::Number => format!(" ({a:.0} and {b:.0})"),
        _ => format!(" ({a:.1} and {b:.1} µs)"),
    });
    let text = match holds {
        Some(true) => format!("reproduced: {claimed}{values}"),
        Some(false) => format!("not reproduced: {claimed}{values}: {else_}"),
        None => format!("claim: {claimed}"),
    };
    Conclusion { text, holds }
}

impl Section {
    fn text(&self, measured: bool, unit: Unit) -> String {
        let width = self.rows.iter().map(|line| line.label.chars().count()).max().unwrap_or(0);
        let number = |value: Option<f64>| match value {
            Some(value) if value.abs() >= 1000.0 => format!("{value:10.0}"),
            Some(value) if value.abs() >= 10.0 => format!("{value:10.1}"),
            Some(value) => format!("{value:10.3}"),
            None => format!("{:>10}", "–"),
        };
        let copies = |value: Option<f64>| value.map_or_else(|| format!("{:>10}", "–"), |v| format!("{v:10.2}"));
        let mut text = format!("{}: {}\n", self.table, self.title);
        text += &format!("the paper's device: {}, {}\n", self.paper_device, self.paper_bandwidth);
        let heads = match (unit, measured) {
            (Unit::Number, _) => ["paper", "", "here", ""],
            (_, true) => ["paper", "copies", "here", "copies"],
            (_, false) => ["paper", "copies", "predicted", ""],
        };
        text += &" ".repeat(width);
        heads.iter().for_each(|head| text += &format!("{head:>10}"));
        text += &format!("   {}\n", self.unit);
        for line in &self.rows {
            let pad = width - line.label.chars().count();
            text += &format!("{}{}{}{}", line.label, " ".repeat(pad), number(line.paper), copies(line.paper_copies));
            match &line.failed {
                Some(failed) => text += &format!("   {failed}"),
                None if measured || unit == Unit::Number => {
                    text += &format!("{}{}", number(line.here), copies(line.here_copies));
                }
                None => text += &copies(line.predicted_copies),
            }
            if let Some(Tuning { of, fastest }) = &line.tuning {
                text += &format!("   best of {of}: {fastest}");
            }
            text = text.trim_end().to_owned() + "\n";
        }
        for conclusion in &self.conclusions {
            text += &format!("- {}\n", conclusion.text);
        }
        text + "\n"
    }
}

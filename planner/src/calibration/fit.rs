//! Constants that bring predictions nearer to what was measured.

use super::{Case, Residuals};
use lifting_codegen::machine::Machine;

/// Launches that there are to be for each constant, at least: with fewer, noise is fitted.
const LAUNCHES_FOR_EACH: usize = 4;
/// Up to which deviation of logarithms a launch counts in full; beyond, outliers count linearly (Huber, Annals of
/// Mathematical Statistics 35, 1964).
const OUTLYING: f64 = 0.15;
/// By how much constants are changed at first, and at last.
const STEPS: [f64; 2] = [0.2, 0.004];

/// What came of it.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The device's file.
    pub text: String,
    /// What it says.
    pub machine: Machine,
    /// Before and after.
    pub residuals: [Residuals; 2],
    /// Constants that were fitted.
    pub fitted: Vec<String>,
    /// Constants on which no launch depends: they stay what they were.
    pub kept: Vec<String>,
}

/// A number of a file.
struct Constant {
    /// Its section and name, and which it is of several.
    name: String,
    line: usize,
    index: usize,
    value: f64,
}

/// A device's file, taken apart.
struct File {
    lines: Vec<String>,
    constants: Vec<Constant>,
}

impl File {
    /// All constants that have a fraction. What is a fact of the device, or a whole number, is not to be fitted; nor
    /// are sections of steps, on which a launch's choice depends and its predicted time does not.
    fn new(text: &str) -> File {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let (mut section, mut constants) = (String::new(), Vec::new());
        for (line, text) in lines.iter().enumerate() {
            if let Some(name) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
                section = name.to_owned();
            } else if let Some((name, values)) =
                text.split_once(" = ").filter(|_| section != "device" && !section.ends_with("_steps"))
            {
                let values: Vec<&str> = values.trim_matches(['[', ']']).split(", ").collect();
                for (index, value) in values.iter().enumerate().filter(|(_, value)| value.contains('.')) {
                    let which = if values.len() > 1 { format!("[{index}]") } else { String::new() };
                    if let Ok(value) = value.parse() {
                        constants.push(Constant { name: format!("{section}.{name}{which}"), line, index, value });
                    }
                }
            }
        }
        File { lines, constants }
    }

    fn text(&self) -> String {
        let mut lines = self.lines.clone();
        for constant in &self.constants {
            let (name, values) = lines[constant.line].split_once(" = ").expect("it is a line of a constant");
            let is_list = values.starts_with('[');
            let mut values: Vec<String> = values.trim_matches(['[', ']']).split(", ").map(str::to_owned).collect();
            values[constant.index] = format!("{:?}", constant.value);
            let values = values.join(", ");
            lines[constant.line] = if is_list { format!("{name} = [{values}]") } else { format!("{name} = {values}") };
        }
        lines.join("\n") + "\n"
    }

    fn machine(&self) -> Machine {
        Machine::read(&self.text()).expect("only numbers have changed")
    }
}

/// Four digits, which are more than measurements have.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().expect("it is a number")
}

/// How far predictions are from what was measured: the mean over all launches.
fn distance(cases: &[Case], machine: &Machine) -> f64 {
    let of = |case: &Case| {
        let off = (case.predicted(machine) / case.microseconds).ln().abs();
        let huber = if off <= OUTLYING { off * off / 2.0 } else { OUTLYING * (off - OUTLYING / 2.0) };
        if off.is_finite() { huber } else { f64::INFINITY }
    };
    cases.iter().map(of).sum::<f64>() / cases.len() as f64
}

/// Fits the constants of a device's file to launches: one constant after the other is made larger or smaller while that
/// brings predictions nearer, by less and less. The result is never farther than the start.
///
/// # Errors
/// If the file is none, or there are too few launches for the constants that they depend on.
pub fn fit(text: &str, cases: &[Case]) -> Result<Fitted, String> {
    let before = Machine::read(text)?;
    let mut file = File::new(text);
    let mut best = distance(cases, &before);
    let (mut kept, mut free) = (Vec::new(), Vec::new());
    for i in 0..file.constants.len() {
        let value = file.constants[i].value;
        file.constants[i].value = value * 1.1;
        let is_felt = distance(cases, &file.machine()) != best;
        file.constants[i].value = value;
        if is_felt { free.push(i) } else { kept.push(file.constants[i].name.clone()) }
    }
    let needed = LAUNCHES_FOR_EACH * free.len().max(1);
    if cases.len() < needed {
        return Err(format!(
            "{} launches are too few for the {} constants that they depend on: measure at least {needed}, of several \
             wavelets, sizes and shapes, in both directions",
            cases.len(),
            free.len()
        ));
    }
    let mut step = STEPS[0];
    while step >= STEPS[1] {
        let start = best;
        for &i in &free {
            for factor in [1.0 + step, 1.0 / (1.0 + step)] {
                loop {
                    let value = file.constants[i].value;
                    file.constants[i].value = rounded(value * factor);
                    let now = distance(cases, &file.machine());
                    if now >= best {
                        file.constants[i].value = value;
                        break;
                    }
                    best = now;
                }
            }
        }
        if start - best < 0.01 * start {
            step /= 2.0;
        }
    }
    let machine = file.machine();
    let residuals = [&before, &machine].map(|machine| Residuals::of(cases.iter(), machine));
    let fitted = free.iter().map(|&i| file.constants[i].name.clone()).collect();
    Ok(Fitted { text: file.text(), machine, residuals, fitted, kept })
}

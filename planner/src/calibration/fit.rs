//! Fit of the model's constants to measurements.

use super::{Case, Residuals};
use lifting_codegen::machine::Machine;

/// Minimum number of launches for each constant: fewer would fit noise.
const LAUNCHES_FOR_EACH: usize = 4;
/// Largest deviation of logarithms with full weight; beyond it, outliers count linearly (Huber, Annals of Mathematical
/// Statistics 35, 1964).
const OUTLYING: f64 = 0.15;
/// First and last relative step of the constants.
const STEPS: [f64; 2] = [0.2, 0.004];

/// Result of a fit.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// Text of the fitted device file.
    pub text: String,
    /// The machine that the file describes.
    pub machine: Machine,
    /// Residuals before and after the fit.
    pub residuals: [Residuals; 2],
    /// Fitted constants.
    pub fitted: Vec<String>,
    /// Constants that no launch depends on: they keep their values.
    pub kept: Vec<String>,
}

/// A number of a device file.
struct Constant {
    /// Section and name, and the index in a list.
    name: String,
    line: usize,
    index: usize,
    value: f64,
}

/// A parsed device file.
struct File {
    lines: Vec<String>,
    constants: Vec<Constant>,
}

impl File {
    /// Collects all constants with a fraction. Facts of the device and whole numbers are not fitted. Sections of steps
    /// are not fitted either: they affect the choice of a launch, not its predicted time.
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

/// Rounds to four digits, more than measurements have.
fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().expect("it is a number")
}

/// Mean distance between predictions and measurements over all launches.
fn distance(cases: &[Case], machine: &Machine) -> f64 {
    let of = |case: &Case| {
        let off = (case.predicted(machine) / case.microseconds).ln().abs();
        let huber = if off <= OUTLYING { off * off / 2.0 } else { OUTLYING * (off - OUTLYING / 2.0) };
        if off.is_finite() { huber } else { f64::INFINITY }
    };
    cases.iter().map(of).sum::<f64>() / cases.len() as f64
}

/// Fits the constants of a device file to launches by coordinate descent with shrinking steps. The result is never
/// worse than the start.
///
/// # Errors
/// If the file is invalid, or there are too few launches for the constants that they depend on.
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

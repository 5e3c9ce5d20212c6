//! `cargo xtask fit`: fits the constants of a device's file to measurements.

use lifting_codegen::machine::{FILES, Machine};
use lifting_planner::calibration::{Case, Fitted, Measurements, Residuals, fit};
use std::collections::BTreeMap;
use std::path::Path;

/// Reads measurements and a device's file, fits its constants, prints the deviations, and writes the new file.
pub fn run(measurements: &Path, from: Option<&Path>, output: &Path) -> Result<(), String> {
    let read = |path: &Path| std::fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}", path.display()));
    let measured = Measurements::read(&read(measurements)?)?;
    let text = from.map_or_else(|| Ok(FILES[0].1.to_owned()), read)?;
    let machine = Machine::read(&text)?;
    if machine.name() != measured.device {
        println!("note: measured on {}, but the facts are those of {}", measured.device, machine.name());
    }
    let mut schemes = BTreeMap::new();
    let mut cases = Vec::new();
    for launch in &measured.launches {
        if !schemes.contains_key(&launch.wavelet) {
            let entry = lifting_filters::find(&launch.wavelet);
            let entry = entry.ok_or_else(|| format!("unknown wavelet `{}`", launch.wavelet))?;
            let compiled = lifting_dsl::compile(entry.source).map_err(|_| "the catalogue does not compile")?;
            let scheme = compiled.schemes.into_iter().find(|scheme| scheme.name() == entry.name);
            schemes.insert(launch.wavelet.clone(), scheme.ok_or("the catalogue lacks what it lists")?);
        }
        cases.push(Case::new(launch, &schemes[&launch.wavelet], &machine)?);
    }
    let Fitted { text, machine: fitted_machine, residuals: [before, after], fitted, kept } = fit(&text, &cases)?;
    say("before", &before);
    say("after", &after);
    let mut schedules: Vec<&str> = cases.iter().map(|case| &case.schedule[..]).collect();
    schedules.sort_unstable();
    schedules.dedup();
    for schedule in schedules {
        say(schedule, &Residuals::of(cases.iter().filter(|case| case.schedule == schedule), &fitted_machine));
    }
    println!("{} constants were fitted to {} launches", fitted.len(), cases.len());
    if !kept.is_empty() {
        println!("unchanged, as no launch depends on them: {}", kept.join(", "));
    }
    std::fs::write(output, text).map_err(|e| format!("cannot write {}: {e}", output.display()))?;
    println!("wrote {}: add it to `FILES` in codegen/src/machine/mod.rs to use it in plans", output.display());
    Ok(())
}

fn say(what: &str, residuals: &Residuals) {
    let Residuals { count, deviation, range: [least, most] } = residuals;
    println!(
        "{what:>8}: {count} launches, deviation {:.1} %, from {least:.2} to {most:.2} of the time",
        deviation * 100.0
    );
}

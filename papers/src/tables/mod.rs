//! Measurement of the papers' tables on this machine, with the papers' figures and a row for plans.
//!
//! `table` defines tables; `laan`, `kucis`, `enfedaque`, `coder` (with `strict`), `paco` and `others` hold those of the
//! papers. A
//! transform in a row is a case of `liftc bench`, and is measured and verified in the same way. `measure` runs rows on
//! a device, `predict` predicts times without one, and `report` writes results.

mod coder;
mod enfedaque;
mod kucis;
mod laan;
mod measure;
mod others;
mod paco;
mod predict;
mod report;
mod strict;
mod table;

use clap::Parser;
use liftc::cli::{DeviceArg, device};
use liftc::failure::{Failure, Outcome, eprint_quietly, input, usage};
use liftc::figure;
use liftc::output::{check_distinct, print, why, write_file};
use lifting::Device;
use measure::Runner;
use report::{Found, Report};
use std::collections::HashMap;
use std::path::PathBuf;
use table::{Counter, Table, What};

/// All tables, in the order of the papers; tables of coders use these pictures.
fn tables(pictures: &[PathBuf]) -> Outcome<Vec<Table>> {
    let coders = [coder::tables(pictures)?, paco::tables(pictures)];
    let tables = [laan::tables()?, kucis::tables()?, enfedaque::tables()?];
    Ok(tables.into_iter().chain(coders).chain([others::tables()?]).flatten().collect())
}

/// Measures the tables of papers, next to the papers' figures and current plans.
#[derive(Debug, Parser)]
#[command(name = "papers", version, after_help = NOTES, max_term_width = 120)]
pub struct Args {
    /// Tables, as named by --list [default: all]
    #[arg(value_name = "TABLE")]
    tables: Vec<String>,
    /// Pictures for the tables of coders
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pictures: Vec<PathBuf>,
    /// Only rows whose name contains this
    #[arg(long, value_name = "TEXT")]
    rows: Option<String>,
    /// Only list the tables
    #[arg(long)]
    list: bool,
    /// Device: best, cuda, or cuda:N for device number N; opencl or opencl:N measures transforms only
    #[arg(long, value_name = "DEVICE", default_value = "best", value_parser = device)]
    device: DeviceArg,
    /// Number of timings; the median is reported
    #[arg(long, value_name = "N", default_value = "7", value_parser = clap::value_parser!(u16).range(1..=10000))]
    repeats: u16,
    /// Also write the results as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Also draw each table, as TABLE.svg in this directory
    #[arg(long, value_name = "DIR")]
    svg: Option<PathBuf>,
    /// Print only the tables and errors
    #[arg(short, long)]
    quiet: bool,
}

const NOTES: &str = "\
Without a CUDA device, it prints the papers' figures and the predictions.

Examples:
  papers --list
  papers kucis-1 kucis-3
  papers enfedaque-2.7 --rows 8192
  papers --json papers.json --svg figures/";

/// Measures the requested tables.
///
/// # Errors
/// If a table is unknown, a file cannot be written, or a measurement fails.
pub fn run(args: &Args) -> Outcome {
    let all = tables(&args.pictures)?;
    if args.list {
        let lines = all.iter().map(|table| format!("{:25}{}\n", table.id, table.title));
        return print(&lines.collect::<String>());
    }
    if let Some(unknown) = args.tables.iter().find(|id| all.iter().all(|table| table.id != **id)) {
        let help = "`papers --list` prints all tables";
        return Err(usage(format!("unknown table `{unknown}`")).help(help));
    }
    if let Some(path) = &args.json {
        check_distinct(&[], &[path])?;
    }
    let mut wanted: Vec<Table> =
        all.into_iter().filter(|t| args.tables.is_empty() || args.tables.iter().any(|id| id == t.id)).collect();
    if let Some(text) = &args.rows {
        wanted.iter_mut().for_each(|table| table.keep(|label| label.contains(text.as_str())));
        wanted.retain(|table| !table.rows.is_empty());
        if wanted.is_empty() {
            return Err(usage(format!("no row contains `{text}`")).help("`papers` prints the rows of all tables"));
        }
    }
    // Reports a bad picture or path once, before anything is measured.
    args.pictures.iter().try_for_each(|path| coder::check(path))?;
    let runner = runner(args)?;
    let mut report = Report::new(runner.as_ref().map(|runner| runner.device()));
    if let Some(path) = &args.json {
        write_file(path, |w| w.write_all(report.to_json().as_bytes()))?;
    }
    let mut failures = Vec::new();
    let mut runner = runner;
    // Transforms and pictures that several rows have are measured and coded once.
    let mut known: HashMap<String, Found> = HashMap::new();
    let mut coded = coder::Known::new();
    for (i, table) in wanted.iter().enumerate() {
        let say = |text: &str| {
            if !args.quiet {
                eprint_quietly(&format!("[{}/{}] {}{text}\n", i + 1, wanted.len(), table.id));
            }
        };
        let rows = table.rows.iter().enumerate().map(|(n, row)| {
            // Report progress for measured rows: a row takes seconds if its kernels are compiled.
            if runner.is_some() && row.what.is_measured() {
                say(&format!(", {} of {}: {}", n + 1, table.rows.len(), row.label));
            }
            let found = match (&mut runner, &row.what) {
                (_, What::Derived(number)) => Ok(Found::Derived(*number)),
                (_, What::Coded { pictures, .. }) if pictures.is_empty() => Ok(Found::Predicted(None)),
                (_, What::Coded { pictures, coding }) => coder::bits(pictures, *coding, &mut coded).map(Found::Derived),
                (_, What::Counted { case, of: Counter::Workspace, .. }) => predict::workspace(case).map(Found::Derived),
                (_, What::Counted { case, levels, of }) => predict::thousands(case, *levels, *of).map(Found::Derived),
                (Some(runner), what @ What::Transform(cases)) => {
                    let key = format!("{cases:?}");
                    let measured = || runner.measure(what, args.repeats.into());
                    let found = known.get(&key).cloned().map_or_else(measured, Ok);
                    found.inspect(|found| drop(known.insert(key, found.clone())))
                }
                (Some(runner), what) => runner.measure(what, args.repeats.into()),
                (None, what) => Ok(predict::predict(what)),
            };
            found.unwrap_or_else(|failure: Failure| {
                let text = failure.render(false, 100);
                failures.push(failure.at(format!("{}, {}", table.id, row.label)));
                Found::Failed(text.trim().to_owned())
            })
        });
        let rows = rows.collect();
        let text = report.add(table, rows);
        print(&text)?;
        say("");
        // Write after every table, so that an interrupted run keeps its results.
        if let Some(path) = &args.json {
            write_file(path, |w| w.write_all(report.to_json().as_bytes()))?;
        }
        if let Some(directory) = &args.svg {
            std::fs::create_dir_all(directory)
                .map_err(|e| input(format!("{}: cannot create the directory: {}", directory.display(), why(&e))))?;
            let path = directory.join(format!("{}.svg", table.id));
            figure::write(&path, &report.draw(), figure::DPI)?;
        }
    }
    match failures.len() {
        0 => Ok(()),
        1 => Err(failures.remove(0)),
        _ => Err(Failure::Many(failures)),
    }
}

/// Device for the measurement. Without one, prints a note if none was requested.
fn runner(args: &Args) -> Outcome<Option<Runner>> {
    let device = match args.device {
        DeviceArg::Cpu => return Err(usage("`papers` measures on GPUs only").help("omit --device")),
        DeviceArg::OpenCl(ordinal) => Device::opencl(ordinal).map_err(input)?,
        DeviceArg::Cuda(ordinal) => Device::cuda(ordinal).map_err(input)?,
        DeviceArg::CudaAll => return Err(usage("`papers` measures one GPU").help("write cuda or cuda:N")),
        DeviceArg::Best => match Device::cuda(0) {
            Ok(device) => device,
            Err(why) => {
                eprint_quietly(&format!(
                    "note: measuring needs a CUDA device and NVRTC: {why}. The tables have the papers' figures, and \
                     predictions for an H200\n"
                ));
                return Ok(None);
            }
        },
    };
    Runner::new(&device).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use table::Claim;

    /// Tables have distinct names, as have the rows of a table, and claims refer to existing rows.
    #[test]
    fn tables_are_sound() {
        let all = tables(&[]).expect("the catalogue has all wavelets");
        let ids: BTreeSet<&str> = all.iter().map(|table| table.id).collect();
        assert_eq!(ids.len(), all.len());
        for table in &all {
            let labels: BTreeSet<&str> = table.rows.iter().map(|row| row.label.as_str()).collect();
            assert_eq!(labels.len(), table.rows.len(), "{}", table.id);
            for claim in &table.claims {
                let known = |label: &str| labels.contains(label) || label == Claim::COPY;
                assert!(known(&claim.less) && known(&claim.more), "{}: {} and {}", table.id, claim.less, claim.more);
            }
        }
    }

    /// Workspaces in thousandths of an image: passes need one array between them, transposed images two more.
    #[test]
    fn workspaces_are_counted() {
        let all = tables(&[]).expect("the catalogue has all wavelets");
        let memory = all.iter().find(|table| table.id == "laan-memory").expect("the table exists");
        let found = memory.rows.iter().map(|row| {
            let What::Counted { case, .. } = &row.what else { panic!("{}", row.label) };
            let images = predict::workspace(case).expect("it is planned");
            (row.label.as_str(), (1000.0 * images).round() as u32)
        });
        let wanted = |way: &str| {
            [("sliding window", 1000), ("transposed", 3000), ("plan", 1313)]
                .map(|(how, n)| (format!("{way}, {how}"), n))
        };
        let wanted = [wanted("analysis"), wanted("synthesis")].concat();
        let found: Vec<(String, u32)> = found.map(|(label, images)| (label.to_owned(), images)).collect();
        assert_eq!(found, wanted);
    }

    /// Only chosen rows, and claims about them.
    #[test]
    fn rows_are_kept_by_name() {
        let all = tables(&[]).expect("the catalogue has all wavelets");
        let mut table = all.into_iter().find(|table| table.id == "kucis-3").expect("the table exists");
        let [rows, claims] = [table.rows.len(), table.claims.len()];
        table.keep(|label| label.contains(", 1 Mpel"));
        assert_eq!([table.rows.len(), table.claims.len()], [rows / 2, claims / 2]);
    }

    /// Stored in 16 bits, the 9/7 touches fewer sectors, but more than half of them: blocks store partial sectors.
    #[test]
    fn sectors_of_halves() {
        let all = tables(&[]).expect("the catalogue has all wavelets");
        let table = all.iter().find(|table| table.id == "enfedaque-2.4").expect("the table exists");
        let sectors = |label: &str| {
            let row = table.rows.iter().find(|row| row.label == label).expect("the row exists");
            let What::Counted { case, levels, of } = &row.what else { panic!("{label}") };
            predict::thousands(case, *levels, *of).expect("it is counted")
        };
        let [halves, words] = ["9/7, 1024², memory accesses, f16", "9/7, 1024², memory accesses"].map(sectors);
        assert!(halves > 0.5 * words && halves < 0.75 * words, "{halves} {words}");
    }

    /// Numbers derived from shapes equal the paper's.
    #[test]
    fn derived_halo_traffic_matches_the_paper() {
        let all = tables(&[]).expect("the catalogue has all wavelets");
        let derived = all.iter().find(|table| table.id == "enfedaque-2.1").expect("the table exists");
        for row in &derived.rows {
            let (What::Derived(found), Some(paper)) = (&row.what, row.paper) else { panic!("{}", row.label) };
            assert!((found - paper).abs() < 0.006, "{}: {found}", row.label);
        }
    }
}

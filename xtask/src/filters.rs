//! `cargo xtask filters`: the catalogue's long families, generated and factored in high precision.
//!
//! [`lifting_dsl::spectral`] generates every wavelet. The best of its factorisations
//! ([`candidates`](mod@lifting_dsl::factor::candidates)) is written, with its cost.

use lifting_dsl::body::Factor;
use lifting_dsl::factor::{Known, Options, candidates};
use lifting_dsl::print_scheme;
use lifting_dsl::spectral::SPLINES;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// One wavelet to write.
struct Job {
    /// PyWavelets' name.
    name: String,
    /// The first line of its documentation.
    about: String,
}

/// Writes the generated files of `filters/`, or only the file `only`. With `check`, writes nothing and lists the stale
/// files in an error.
pub fn run(check: bool, only: Option<&str>) -> Result<(), String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../filters");
    let mut stale: Vec<PathBuf> = Vec::new();
    for (file, title, jobs) in files().into_iter().filter(|f| only.is_none_or(|only| only == f.0)) {
        let path = folder.join(file);
        let text = text(title, &jobs)?;
        if check {
            if std::fs::read_to_string(&path).ok().as_deref() != Some(&text) {
                stale.push(path);
            }
        } else {
            std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
            println!("{}: {} wavelets", path.display(), jobs.len());
        }
    }
    match &stale[..] {
        [] => Ok(()),
        _ => Err(format!("run `cargo xtask filters`, these files are not what it writes: {stale:?}")),
    }
}

fn files() -> Vec<(&'static str, &'static str, Vec<Job>)> {
    let job = |name: String, about: String| Job { name, about };
    // haar, db1 and rbio1.1 are one wavelet with bior1.1; sym2 and sym3 with db2 and db3.
    let db = |n: u32| job(format!("db{n}"), format!("Daubechies' extremal phase wavelet with {n} vanishing moments."));
    let sym =
        |n: u32| job(format!("sym{n}"), format!("Daubechies' least asymmetric wavelet with {n} vanishing moments."));
    let coif = |k: u32| {
        let about =
            format!("Coiflet: {} vanishing moments of the wavelet, {} of the scaling function.", 2 * k, 2 * k - 1);
        job(format!("coif{k}"), about)
    };
    let bior = |orders: &str| job(format!("bior{orders}"), format!("Biorthogonal wavelet {orders}."));
    let rbio = |orders: String| {
        job(format!("rbio{orders}"), format!("bior{orders} with the roles of analysis and synthesis exchanged."))
    };
    let splines = SPLINES.iter().filter(|s| **s != (1, 1)).map(|(r, d)| format!("{r}.{d}"));
    let rest = ["4.4", "5.5", "6.8"].map(String::from);
    let mut biorthogonal = vec![bior("5.5"), bior("6.8")];
    biorthogonal.extend(splines.chain(rest).map(rbio));
    vec![
        (
            "daubechies.lift",
            "Daubechies' orthogonal wavelets (Ten Lectures on Wavelets, section 6.4).",
            (2..=38).map(db).collect(),
        ),
        (
            "symlets.lift",
            "Daubechies' least asymmetric orthogonal wavelets (Ten Lectures on Wavelets, section 8.1).",
            (4..=20).map(sym).collect(),
        ),
        ("coiflets.lift", "Coiflets (Daubechies, SIAM J. Math. Anal. 24, 1993).", (1..=17).map(coif).collect()),
        (
            "biorthogonal.lift",
            "Biorthogonal wavelets beside the splines of cdf.lift (Ten Lectures on Wavelets, section 8.3).",
            biorthogonal,
        ),
        (
            "meyer.lift",
            "Meyer's wavelet (Ten Lectures on Wavelets, section 4.2), as nearly as an orthogonal filter of 62 taps can have it.",
            vec![job("dmey".into(), DMEY.into())],
        ),
    ]
}

const DMEY: &str = "Discrete Meyer wavelet: the orthogonal filter with two vanishing moments that is nearest to PyWavelets' dmey.
///
/// PyWavelets' own taps do not reconstruct: a round trip by them is off by up to 2.3e-3. These differ from them by up to
/// 8.1e-4, and reconstruct.";

fn text(title: &str, jobs: &[Job]) -> Result<String, String> {
    // dmey alone has no equal in PyWavelets.
    let head = if jobs.iter().any(|job| job.name == "dmey") {
        format!(
            "// {title}\n//\n// Written by `cargo xtask filters`: generated to 140 digits, factored, and the steps' weights rounded once.\n"
        )
    } else {
        format!(
            "// {title}\n//\n{}",
            "// Written by `cargo xtask filters`: filters generated to 140 digits, factored, and the steps' weights rounded once. On a\n\
             // periodic line they are PyWavelets' `periodization`, sample for sample. The round trip stated is the worst of all border\n\
             // rules, relative to the largest sample, two levels deep: rules other than `periodic` lose digits as filters grow longer.\n"
        )
    };
    // The searches for long filters take seconds each: spread them over the cores.
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<Option<Result<String, String>>>> = Mutex::new(jobs.iter().map(|_| None).collect());
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(i) else { break };
                    let result = entry(job).map_err(|e| format!("{}: {e}", job.name));
                    done.lock().expect("no worker panics")[i] = Some(result);
                }
            });
        }
    });
    let done = done.into_inner().expect("no worker panics");
    let entries: Vec<String> = done.into_iter().flatten().collect::<Result<_, _>>()?;
    Ok(format!("{head}\n{}", entries.join("\n")))
}

fn entry(job: &Job) -> Result<String, String> {
    let known = Known::named(&job.name).map_err(|e| e.to_string())?;
    let found = candidates(&known, Factor::Lifting, Options::default().beam).map_err(|e| e.to_string())?;
    let best = &found[0];
    if best.off > 1e-13 {
        return Err(format!("the rounded steps differ from the filter by {:.1e}", best.off));
    }
    let scheme = best
        .scheme(&job.name.replace('.', "_"), known.boundary())
        .map_err(|errors| errors.iter().map(|e| e.message.clone()).collect::<Vec<_>>().join("; "))?;
    let bank = known.bank();
    let taps = match (bank.low.width(), bank.high.width()) {
        (a, b) if a == b => format!("{a} taps"),
        (a, b) => format!("{a} and {b} taps"),
    };
    let text = print_scheme(&scheme).replace(&format!("f64({})", std::f64::consts::SQRT_2), "sqrt(2)");
    let (cost, how) = (&best.cost, best.how);
    Ok(format!(
        "/// {}\n///\n/// {taps}. Steps by {how}: {} operations a pair of samples, largest coefficient {:.2}, round trip in f32 to {:.0e}.\n{text}",
        job.about, cost.operations, cost.largest, cost.error_f32,
    ))
}

//! `lifting!` in a foreign crate: another workspace, no dependency but `lifting`, every warning an error. Also the
//! error messages of `lifting!`.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const MAIN: &str = r##"
//! Two wavelets of our own.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unreachable_pub, clippy::all, clippy::pedantic)]
#![deny(unused_qualifications, missing_debug_implementations, rustdoc::all)]

wavelets::lifting! {
    /// The simplest one there is.
    ///
    /// With a second paragraph, `code`, \"quotes\" and */ what ends a comment.
    pub wavelet haar {
        domain integer;
        odd  -= even[0];
        even += (odd[0] + 1) >> 1;
    }

    /// Le Gall (5,3), in real numbers.
    #[allow(dead_code)]
    pub(crate) wavelet legall53 {
        domain real;
        odd  -= 0.5*(even[0] + even[1]);
        even += 0.25*(odd[-1] + odd[0]);
    }

    #[cfg(any())]
    wavelet not_there { domain real; odd -= even[0]; }
}

/// A public one in a module of its own.
pub mod inner {
    wavelets::lifting!(pub "wavelets/mine.lift");
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let shape = haar::Shape::new(&[4], 1);
    let mut line = [10, 14, 3, 1];
    let mut scratch = vec![0; haar::scratch_samples_i32(&shape)?];
    haar::forward_i32(&shape, &mut line, &mut scratch)?;
    assert_eq!(line, [12, 2, 4, -2]);
    haar::inverse_i32(&shape, &mut line, &mut scratch)?;
    assert_eq!(line, [10, 14, 3, 1]);

    let shape = inner::mine::Shape::new(&[5, 7], 2);
    let image: Vec<i16> = (0..35).map(|i| i * i % 97).collect();
    let mut data = image.clone();
    let mut scratch = vec![0; inner::mine::scratch_samples_i16(&shape)?];
    inner::mine::forward_i16(&shape, &mut data, &mut scratch)?;
    let plan = wavelets::Plan::builder(&inner::mine).shape(&[5, 7]).levels(2).sample::<i16>();
    let plan = plan.build(&wavelets::Device::cpu())?;
    let mut coefficients = vec![0; 35];
    plan.forward(&image, &mut coefficients)?;
    assert_eq!(coefficients, data);
    assert_eq!(inner::mine::forward_i16(&shape, &mut data[1..], &mut scratch), Err(inner::mine::Error::DataLength));

    assert!(haar::SOURCE.contains("wavelet haar {"));
    assert!(legall53::CUDA.contains("legall53_cuda_forward_f32"));
    println!("{} {} fine", haar.name(), legall53.name());
    Ok(())
}
"##;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the workspace")
}

/// The workspace's profile, so that third-party crates are not rebuilt. Another workspace never shares ours: these get
/// the fastest profile to build.
fn profile() -> String {
    let workspace = std::fs::read_to_string(root().join("Cargo.toml")).expect("the workspace's manifest");
    let (before, profiles) = workspace.split_once("[profile.dev]").expect("profiles come last");
    let (dev, _) = profiles.split_once("[profile.release]").expect("the profile of releases follows");
    let paths = before.lines().filter(|line| line.contains("{ path = ")).filter_map(|line| line.split_once(" = "));
    let ours: Vec<String> = paths.map(|(name, _)| format!("[profile.dev.package.{name}]\n")).collect();
    assert!(ours.len() > 5, "{ours:?}");
    let others = format!("[profile.dev]{dev}").split_inclusive("\n\n").map(String::from).collect::<Vec<String>>();
    let others = others.into_iter().filter(|section| !ours.iter().any(|ours| section.contains(ours)));
    others.chain(ours.iter().map(|section| format!("{section}opt-level = 0\n"))).collect()
}

/// A package of another workspace in a temporary folder. `lifting` is its only dependency.
struct Outside(tempfile::TempDir);

impl Outside {
    /// `name` is the package's name for `lifting`.
    fn new(name: &str, targets: &str) -> Outside {
        let package = Outside(tempfile::tempdir().expect("a temporary directory"));
        let lifting = root().join("runtime");
        package.write(
            "Cargo.toml",
            &format!(
                "[package]\nname = \"outside\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n\n{targets}\n\
                 [dependencies]\n{name} = {{ package = \"lifting\", path = {lifting:?} }}\n\n{}",
                profile()
            ),
        );
        package.write("Cargo.lock", &std::fs::read_to_string(root().join("Cargo.lock")).expect("the lock file"));
        package
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder");
        std::fs::write(path, text).expect("the temporary directory can be written");
    }

    fn cargo(&self, arguments: &[&str]) -> Output {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it is in the target directory");
        let mut command = Command::new(env!("CARGO"));
        command.args(arguments).args(["--offline", "--quiet", "--target-dir"]).arg(target).current_dir(self.0.path());
        command.env_remove("RUSTFLAGS").output().expect("cargo can be run")
    }
}

/// `LIFTING_FULL=1` runs the crate; without it, compilers only check it.
#[test]
fn a_crate_that_depends_on_lifting_alone() {
    let package = Outside::new("wavelets", "");
    package.write("src/main.rs", MAIN);
    package.write(
        "wavelets/mine.lift",
        "wavelet mine {\n    domain integer;\n    boundary edge;\n    odd -= (even[-1] + 3*even[1]) >> 2;\n    even += odd[0] >> 1;\n}\n",
    );
    let full = lifting_tests::full();
    let output = package.cargo(&[if full { "run" } else { "check" }]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(said, if full { "haar legall53 fine\n" } else { "" });
}

/// The compiler's messages about `tests/ui/*.rs`, and their spans.
#[test]
fn errors_point_at_their_tokens() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ui");
    let files = std::fs::read_dir(&folder).expect("the folder of cases").map(|entry| entry.expect("an entry").path());
    let mut cases: Vec<_> = files.filter(|path| path.extension().is_some_and(|e| e == "rs")).collect();
    cases.sort();
    let name = |path: &PathBuf| path.file_stem().and_then(|name| name.to_str()).expect("a name").to_owned();
    let bin = |path| format!("[[bin]]\nname = {0:?}\npath = \"tests/ui/{0}.rs\"\n\n", name(path));
    let package = Outside::new("lifting", &cases.iter().map(bin).collect::<String>());
    for path in &cases {
        let text = std::fs::read_to_string(path).expect("a case");
        package.write(&format!("tests/ui/{}.rs", name(path)), &text);
    }
    let output = package.cargo(&["check", "--keep-going", "--message-format=json"]);
    assert!(!output.status.success(), "the cases must not compile");
    let messages = String::from_utf8(output.stdout).expect("JSON is UTF-8");
    let messages = messages.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line is JSON"));
    let messages: Vec<Value> = messages.filter(|value| value["reason"] == "compiler-message").collect();
    assert!(!cases.is_empty() && !messages.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    for case in cases.iter().map(name) {
        let of_case = messages.iter().filter(|value| value["target"]["name"] == *case).map(|value| &value["message"]);
        // The compiler's summary has no place.
        let of_case: Vec<&Value> = of_case.filter(|m| m["spans"].as_array().is_some_and(|s| !s.is_empty())).collect();
        assert!(of_case.iter().any(|message| message["level"] == "error"), "`{case}.rs` compiles");
        let text: String = of_case.iter().filter_map(|message| message["rendered"].as_str()).collect();
        insta::with_settings!({ snapshot_path => "ui", prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(case.clone(), text);
        });
    }
}

//! `lifting!` in a foreign crate: another workspace, no dependency but `lifting`, every warning an error.

use std::path::{Path, PathBuf};
use std::process::Command;

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

/// Build profiles: third-party crates as in the workspace, so that they are not rebuilt. Another workspace never shares
/// ours, so ours get the fastest profile to build.
fn manifest() -> String {
    let workspace = std::fs::read_to_string(root().join("Cargo.toml")).expect("the workspace's manifest");
    let (before, profiles) = workspace.split_once("[profile.dev]").expect("profiles come last");
    let profiles = profiles.replace("opt-level = 1\ndebug = \"line-tables-only\"\n", "opt-level = 0\ndebug = false\n");
    let paths = before.lines().filter(|line| line.contains("{ path = ")).filter_map(|line| line.split_once(" = "));
    let ours = paths.map(|(name, _)| format!("[profile.dev.package.{name}]\n"));
    let others = ours.filter(|section| !profiles.contains(section));
    let others: String = others.map(|section| section + "opt-level = 0\ndebug = false\n").collect();
    assert!(others.contains("package.lifting]") && others.contains("package.lifting-macros]"), "{others}");
    format!(
        "[package]\nname = \"outside\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n\n\
         [dependencies]\nwavelets = {{ package = \"lifting\", path = {:?} }}\n\n{others}\n[profile.dev]{profiles}",
        root().join("runtime")
    )
}

/// `LIFTING_FULL=1` runs the crate; without it, compilers only check it.
#[test]
fn a_crate_that_depends_on_lifting_alone() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let write = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().expect("it is in a folder")).expect("a folder");
        std::fs::write(path, text).expect("the temporary directory can be written");
    };
    write("Cargo.toml", &manifest());
    write("src/main.rs", MAIN);
    write(
        "wavelets/mine.lift",
        "wavelet mine {\n    domain integer;\n    boundary edge;\n    odd -= (even[-1] + 3*even[1]) >> 2;\n    even += odd[0] >> 1;\n}\n",
    );
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).expect("the workspace's lock file");
    write("Cargo.lock", &lock);
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it is in the target directory");
    let full = lifting_tests::full();
    let output = Command::new(env!("CARGO"))
        .args([if full { "run" } else { "check" }, "--offline", "--quiet", "--target-dir"])
        .arg(target)
        .current_dir(dir.path())
        .env_remove("RUSTFLAGS")
        .output()
        .expect("cargo can be run");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(said, if full { "haar legall53 fine\n" } else { "" });
}

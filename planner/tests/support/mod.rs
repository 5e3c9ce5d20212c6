//! Host functions of emitted CUDA files, compiled by g++ against a mock runtime that logs launches.

use lifting_codegen::ir::{Access, Kernel, ParamKind};
use lifting_dsl::Scheme;
use lifting_planner::emit::File;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

/// Base addresses of the calls' arrays; the top bits identify the array.
pub const SIGNAL: u64 = 1 << 44;
pub const BANDS: u64 = 2 << 44;
pub const SCRATCH: u64 = 3 << 44;

pub fn wavelet(name: &str) -> Scheme {
    let entry = lifting_filters::find(name).expect("the catalogue has it");
    let compiled = lifting_dsl::compile(entry.source).expect("the catalogue compiles");
    compiled.schemes.into_iter().find(|scheme| scheme.name() == entry.name).expect("the file has it")
}

/// A device: CUDA's version, the architectures of PTX and of machine code, and the features of files on it.
#[derive(Clone, Copy, Debug)]
pub struct Device {
    pub version: u32,
    pub ptx: u32,
    pub binary: u32,
    /// Features: 0 for plain launches, 1 for overlapping ones, 2 with clusters as well.
    #[allow(dead_code)]
    pub able: u32,
}

/// Devices with different behaviour.
pub const DEVICES: [Device; 5] = [
    Device { version: 13000, ptx: 90, binary: 90, able: 2 },
    Device { version: 13000, ptx: 80, binary: 80, able: 0 },
    Device { version: 13000, ptx: 90, binary: 100, able: 1 },
    Device { version: 12030, ptx: 90, binary: 90, able: 2 },
    Device { version: 11080, ptx: 90, binary: 90, able: 0 },
];

/// Log of a file's functions on each device: a line a launch, and the calls' own output.
///
/// # Panics
/// If g++ fails, or a call sets `failed`.
pub fn launched(folder: &str, file: &File, devices: &[Device], calls: &str) -> Vec<String> {
    let (_, host) = file.text.split_once("#ifndef __CUDACC_RTC__\n").expect("there is a host part");
    let host = host.strip_suffix("\n#endif\n").expect("the host part ends the file");
    let mut main = String::from("#include <stdint.h>\n#include <stdio.h>\n#include <string.h>\n");
    let stubs: BTreeSet<String> = file.kernels.iter().map(|(name, ..)| stub(name)).collect();
    main.extend(stubs);
    main += host;
    main += "\nint mock_ptx, mock_binary;\n";
    main += "static const struct { const void *kernel; const char *name, *bytes; } known[] = {\n";
    for (name, kernel, _) in &file.kernels {
        let _ = writeln!(main, "    {{(const void *)&{name}, \"{}\", \"{}\"}},", logged(name), bytes(kernel));
    }
    main += "};\n";
    main += include_str!("mock.inc");
    main += calls;
    main += "    return failed;\n}\n";
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(folder);
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let source = folder.join("main.cpp");
    std::fs::write(&source, &main).expect("the file can be written");
    let mock = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mock");
    let mut built = BTreeMap::new();
    let run = |device: &Device| {
        let program = built.entry(device.version).or_insert_with(|| {
            let program = folder.join(format!("main-{}", device.version));
            let mut command = Command::new("g++");
            command.args(["-std=c++11", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-cast-function-type", "-I", mock]);
            command.arg(format!("-DMOCK_VERSION={}", device.version)).arg(&source).arg("-o").arg(&program);
            let output = command.output().expect("g++ is needed: install it (Debian: apt-get install g++)");
            let words = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{}: {words}", source.display());
            program
        });
        let arguments = [device.ptx, device.binary].map(|n| n.to_string());
        let output = Command::new(&*program).args(arguments).output().expect("it runs");
        let text = String::from_utf8(output.stdout).expect("it is text");
        assert!(output.status.success(), "{}: {text}", source.display());
        text
    };
    devices.iter().map(run).collect()
}

/// The name of a kernel of a file in the log: one word.
pub fn logged(name: &str) -> String {
    name.replace(' ', "")
}

/// An empty function in place of a kernel, or of all instances of a template.
fn stub(name: &str) -> String {
    let Some((template, constants)) = name.split_once('<') else {
        return format!("extern \"C\" void {name}(void) {{}}\n");
    };
    let kind = |constant: &str| if matches!(constant, "true" | "false") { "bool" } else { "int" };
    let kinds: Vec<&str> = constants.trim_end_matches('>').split(", ").map(kind).collect();
    format!("template <{}> static void {template}(void) {{}}\n", kinds.join(", "))
}

/// Size in bytes of each parameter, a digit each.
fn bytes(kernel: &Kernel) -> String {
    let of = |kind| match kind {
        ParamKind::Pointer(..) => '8',
        ParamKind::Scalar(s) => char::from(b'0' + s.bytes() as u8),
    };
    kernel.params.iter().map(|param| of(param.kind)).collect()
}

/// Whether a parameter is written.
#[allow(dead_code)]
pub fn is_written(kind: ParamKind) -> bool {
    matches!(kind, ParamKind::Pointer(_, Access::Write | Access::ReadWrite))
}

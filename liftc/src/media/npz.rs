//! numpy's `.npz` format: a zip archive of `.npy` files.

use super::{Array, Data, Origin, npy};
use crate::failure::{Failure, Outcome, input};
use crate::output::why;
use std::io::{self, BufReader, Read, Seek, Write};
use zip::CompressionMethod;
use zip::result::ZipError;

/// Help for unsupported archives.
const ANEW: &str = "rewrite it: np.savez_compressed(path, **np.load(path))";

/// Reads the array called `member`, or the only one.
pub fn read<R: Read + Seek>(file: R, member: Option<&str>) -> Outcome<Array> {
    let mut archive = zip::ZipArchive::new(BufReader::new(file)).map_err(broken)?;
    let mut names: Vec<String> =
        archive.file_names().flatten().filter_map(|n| Some(n.strip_suffix(".npy")?.to_owned())).collect();
    names.sort();
    // numpy accepts both forms.
    let named = |name: &str| {
        let plain = name.strip_suffix(".npy").unwrap_or(name);
        names.iter().find(|n| *n == name).or_else(|| names.iter().find(|n| *n == plain)).cloned()
    };
    let name = match (member.map(|name| named(name).ok_or(name)), names.as_slice()) {
        (Some(Ok(name)), _) => name,
        (Some(Err(name)), []) => return Err(input(format!("is a zip file without arrays, and has no `{name}`"))),
        (Some(Err(name)), _) => {
            return Err(input(format!("has no array `{name}`")).help(format!("it has {}", listed(&names))));
        }
        (None, [only]) => only.clone(),
        (None, []) => return Err(input("is a zip file without arrays")),
        (None, _) => {
            return Err(input(format!("has {} arrays", names.len()))
                .help(format!("choose one with --array NAME: {}", listed(&names))));
        }
    };
    let member = archive.by_name(&format!("{name}.npy")).map_err(broken)?;
    if ![CompressionMethod::Stored, CompressionMethod::Deflated].contains(&member.compression()) {
        return Err(
            input(format!("{name}: uses a compression that numpy does not write, which is not supported")).help(ANEW)
        );
    }
    let mut array = npy::read(&mut BufReader::new(member), None).map_err(|f| f.at(&name))?;
    if let Origin::Array { member, .. } = &mut array.origin {
        *member = Some(name);
    }
    Ok(array)
}

/// Error of an archive.
fn broken(error: ZipError) -> Failure {
    match error {
        ZipError::Io(e) => input(format!("cannot read: {}", why(&e))),
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) | ZipError::InvalidPassword => {
            input("is an archive with a password, which is not supported").help("extract the arrays first")
        }
        ZipError::UnsupportedArchive(_) | ZipError::CompressionMethodNotSupported(_) => {
            input("is an archive of a kind that numpy does not write, which is not supported").help(ANEW)
        }
        _ => input("is not a readable .npz file: it is cut short or corrupted"),
    }
}

/// Writes an archive of one array, deflated as by `numpy.savez_compressed`.
///
/// # Errors
/// If writing fails.
pub fn write(w: &mut dyn Write, member: &str, shape: &[usize], data: &Data) -> io::Result<()> {
    let mut zip = zip::ZipWriter::new_stream(w);
    // Sizes follow the data, and may exceed 4 GiB.
    zip.start_file(format!("{member}.npy"), zip::write::SimpleFileOptions::default().large_file(true))?;
    npy::write(&mut zip, shape, data)?;
    zip.finish()?;
    Ok(())
}

fn listed(names: &[String]) -> String {
    const SHOWN: usize = 20;
    let more = if names.len() > SHOWN { ", …" } else { "" };
    names[..names.len().min(SHOWN)].join(", ") + more
}

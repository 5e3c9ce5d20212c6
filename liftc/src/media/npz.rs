//! numpy's `.npz`: a zip archive of `.npy` files.

use super::{Array, Data, Origin, npy};
use crate::failure::{Outcome, input};
use std::io::{self, BufReader, Read, Seek, Write};

/// Reads the array called `member`, or the only one.
pub fn read<R: Read + Seek>(file: R, member: Option<&str>) -> Outcome<Array> {
    let broken = |e: zip::result::ZipError| input(format!("is no readable .npz file: {e}"));
    let mut archive = zip::ZipArchive::new(BufReader::new(file)).map_err(broken)?;
    let mut names: Vec<String> =
        archive.file_names().flatten().filter_map(|n| Some(n.strip_suffix(".npy")?.to_owned())).collect();
    names.sort();
    let name = match (member, names.as_slice()) {
        (Some(name), _) if names.iter().any(|n| n == name) => name.to_owned(),
        (Some(name), _) => {
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
    let mut array = npy::read(&mut BufReader::new(member), None).map_err(|f| f.at(&name))?;
    if let Origin::Array { member, .. } = &mut array.origin {
        *member = Some(name);
    }
    Ok(array)
}

/// Writes an archive of one array, deflated as by `numpy.savez_compressed`.
///
/// # Errors
/// If it cannot be written.
pub fn write(w: &mut dyn Write, member: &str, shape: &[usize], data: &Data) -> io::Result<()> {
    let mut zip = zip::ZipWriter::new_stream(w);
    // Sizes follow the array, and may be those of any array.
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

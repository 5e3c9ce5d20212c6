//! Writing: whole files or nothing, never over an input; and the standard output stream.

use crate::failure::{Failure, Outcome, input, usage};
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Writes a file in full or not at all: `write` fills a temporary file beside it, which then takes its place.
pub fn write_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Outcome {
    let failed = |e: io::Error| input(format!("{}: cannot write: {e}", path.display()));
    // A link keeps pointing where it points; its target is replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match fs::metadata(&target) {
        Ok(m) if m.is_dir() => return Err(input(format!("{}: cannot write: it is a directory", path.display()))),
        // Pipes and devices cannot be replaced.
        Ok(m) if !m.is_file() => {
            let mut out = io::BufWriter::new(fs::OpenOptions::new().write(true).open(&target).map_err(failed)?);
            return write(&mut out).and_then(|()| out.flush()).map_err(failed);
        }
        _ => {}
    }
    let folder = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".liftc-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // What any program asks for; the umask takes its part of it. An existing file keeps its permissions.
        let mode = fs::metadata(&target).map_or(0o666, |m| m.permissions().mode() & 0o777);
        builder.permissions(fs::Permissions::from_mode(mode));
    }
    let file = builder.tempfile_in(folder).map_err(failed)?;
    let mut out = io::BufWriter::new(file);
    write(&mut out).and_then(|()| out.flush()).map_err(failed)?;
    let file = out.into_inner().map_err(|e| failed(e.into_error()))?;
    file.persist(&target).map_err(|e| failed(e.error))?;
    Ok(())
}

/// Creates a directory and its parents.
pub fn create_folder(path: &Path) -> Outcome {
    fs::create_dir_all(path).map_err(|e| input(format!("{}: cannot create the directory: {e}", path.display())))
}

/// Refuses outputs that are an input, or each other.
pub fn check_distinct(inputs: &[&Path], outputs: &[&Path]) -> Outcome {
    // A file that does not exist yet is found through its directory.
    let identity = |path: &Path| {
        fs::canonicalize(path).ok().or_else(|| {
            let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
            Some(fs::canonicalize(folder).ok()?.join(path.file_name()?))
        })
    };
    let known: Vec<_> = inputs.iter().filter_map(|p| identity(p)).collect();
    let mut written = Vec::new();
    for output in outputs {
        let Some(id) = identity(output) else { continue };
        if known.contains(&id) {
            return Err(usage(format!("{}: would be written over, and it is an input", output.display()))
                .help("give another name with -o"));
        }
        if fs::metadata(&id).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
            continue;
        }
        if written.contains(&id) {
            return Err(usage(format!("{}: two outputs would have this name", output.display()))
                .help("take the inputs one by one, each with its own -o"));
        }
        written.push(id);
    }
    Ok(())
}

/// Writes to the standard output stream. A reader that has gone away ends the program quietly.
pub fn print(text: &str) -> Outcome {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(()),
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Err(Failure::BrokenPipe),
        Err(e) => Err(input(format!("standard output: cannot write: {e}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_what_was_there() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.txt");
        write_file(&path, |w| w.write_all(b"first")).unwrap();
        let error = write_file(&path, |w| {
            w.write_all(b"second")?;
            Err(io::Error::other("the disk is full"))
        });
        assert!(error.is_err());
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no temporary file stays");
    }

    #[test]
    fn outputs_differ_from_inputs_and_each_other() {
        let dir = tempfile::tempdir().unwrap();
        let a = dir.path().join("a.png");
        fs::write(&a, b"x").unwrap();
        let roundabout = dir.path().join(".").join("a.png");
        assert_eq!(check_distinct(&[&a], &[&roundabout]).unwrap_err().exit_code(), 2);
        let new = dir.path().join("new");
        assert!(check_distinct(&[&a], &[&new]).is_ok());
        assert!(check_distinct(&[&a], &[&new, &dir.path().join(".").join("new")]).is_err());
    }
}

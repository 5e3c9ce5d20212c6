//! Output: files are written whole and in groups, never over an input; and standard output.

use crate::failure::{Failure, Outcome, input, usage};
use crate::interrupt::Uninterrupted;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::NamedTempFile;

/// Whether the standard output was closed when the program began.
static CLOSED: AtomicBool = AtomicBool::new(false);

/// Makes writes to the standard output errors. Rust opens `/dev/null` in place of a closed one.
pub fn close_standard() {
    CLOSED.store(true, Ordering::Relaxed);
}

/// Standard output, unless it was closed when the program began.
pub fn standard() -> io::Result<io::StdoutLock<'static>> {
    match CLOSED.load(Ordering::Relaxed) {
        true => Err(io::Error::other("it is closed")),
        false => Ok(io::stdout().lock()),
    }
}

/// Writer of a file's content.
type Filler<'a> = dyn FnOnce(&mut dyn Write) -> io::Result<()> + 'a;

/// Group of files, written all or none. Each is written to a temporary file in the target's folder. Once all are
/// complete, they are moved to their places. Earlier failures and interrupts change nothing.
#[derive(Default)]
pub struct Files {
    complete: Vec<Temporary>,
}

/// Complete file, not yet in its place.
struct Temporary {
    file: Option<NamedTempFile>,
    target: PathBuf,
    /// Target, as the user named it.
    name: String,
}

impl Files {
    /// Writes a file. Streams ([`is_stream`]) have no temporary file and are written directly.
    pub fn add(&mut self, path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Outcome {
        if is_standard(path) || path == Path::new("/dev/stdout") {
            return standard()
                .map(io::BufWriter::new)
                .and_then(|mut out| write(&mut out).and_then(|()| out.flush()))
                .map_err(|e| cannot_write(path, &e));
        }
        self.add_file(path, Box::new(write)).map_err(|e| cannot_write(path, &e))
    }

    fn add_file(&mut self, path: &Path, write: Box<Filler<'_>>) -> io::Result<()> {
        // A link is kept; its target is replaced.
        let target = followed(path);
        match fs::metadata(&target) {
            Ok(m) if m.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            // Pipes and devices cannot be replaced, nor can a file that another process holds open.
            Ok(m) if !m.is_file() || is_open(path) => {
                let mut out = io::BufWriter::new(fs::OpenOptions::new().write(true).open(path)?);
                return write(&mut out).and_then(|()| out.flush());
            }
            // Replacing a file asks only for its directory's permission.
            Ok(m) if m.permissions().readonly() => return Err(io::Error::other("the file is read-only")),
            _ => {}
        }
        let folder = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        builder.prefix(".liftc-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // The usual mode, reduced by the umask. An existing file keeps its permissions.
            let mode = fs::metadata(&target).map_or(0o666, |m| m.permissions().mode() & 0o777);
            builder.permissions(fs::Permissions::from_mode(mode));
        }
        let mut now = Uninterrupted::new();
        let file = builder.tempfile_in(folder)?;
        now.add(file.path());
        drop(now);
        let temporary = Temporary { file: Some(file), target, name: path.display().to_string() };
        // On failure, the temporary file is removed.
        let mut out = io::BufWriter::new(temporary.file.as_ref().expect("not in its place yet").as_file());
        write(&mut out).and_then(|()| out.flush())?;
        drop(out);
        self.complete.push(temporary);
        Ok(())
    }

    /// Moves all files to their places. Signals are delayed meanwhile.
    pub fn commit(self) -> Outcome {
        let mut now = Uninterrupted::new();
        for mut temporary in self.complete {
            let Some(file) = temporary.file.take() else { continue };
            let path = file.path().to_owned();
            // On failure, the error holds the file, and dropping it removes the file.
            let persisted = file.persist(&temporary.target);
            now.remove(&path);
            if let Err(e) = persisted {
                drop(now);
                return Err(cannot_write(Path::new(&temporary.name), &e.error));
            }
        }
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            let path = file.path().to_owned();
            drop(file);
            Uninterrupted::new().remove(&path);
        }
    }
}

/// Writes a file completely or not at all; `-` is standard output.
pub fn write_file(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Outcome {
    let mut files = Files::default();
    files.add(path, write)?;
    files.commit()
}

/// Whether a path means standard input or output.
pub fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

/// Whether a path is a stream: `-`, a pipe, a device or an open file. It is read or written once, in order.
pub fn is_stream(path: &Path) -> bool {
    is_standard(path) || is_open(path) || fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir())
}

/// Whether a path is a system name of an open pipe or file.
fn is_open(path: &Path) -> bool {
    let standard = ["/dev/stdin", "/dev/stdout", "/dev/stderr"];
    let numbered =
        |folder: &Path| folder == Path::new("/dev/fd") || folder.starts_with("/proc") && folder.ends_with("fd");
    standard.iter().any(|name| path == Path::new(name)) || path.parent().is_some_and(numbered)
}

/// Name of an input in messages.
pub fn input_name(path: &Path) -> String {
    if is_standard(path) { "standard input".into() } else { path.display().to_string() }
}

/// Name of an output in messages.
pub fn output_name(path: &Path) -> String {
    if is_standard(path) { "standard output".into() } else { path.display().to_string() }
}

/// System error text, without numbers and names of temporary files.
pub fn why(error: &io::Error) -> String {
    let code = error.raw_os_error().or_else(|| {
        // `tempfile` wraps the system error.
        let mut cause = std::error::Error::source(error.get_ref()?);
        while let Some(e) = cause {
            if let Some(code) = e.downcast_ref::<io::Error>().and_then(io::Error::raw_os_error) {
                return Some(code);
            }
            cause = e.source();
        }
        None
    });
    let said = code.map_or_else(|| error.to_string(), |code| io::Error::from_raw_os_error(code).to_string());
    said.split(" (os error ").next().unwrap_or_default().to_owned()
}

/// Failure of a write. A closed pipe ends the program quietly.
pub fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::BrokenPipe,
        io::ErrorKind::IsADirectory => input(format!("{}: cannot write: it is a directory", path.display())),
        _ => input(format!("{}: cannot write: {}", output_name(path), why(error))),
    }
}

/// Directory for outputs. If nothing was written to it, and it was not there before, it is removed again.
#[derive(Debug)]
#[must_use = "an empty directory is removed when this is dropped"]
pub struct Folder {
    /// Directories that were created, the innermost first.
    created: Vec<PathBuf>,
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Only empty directories can be removed so.
        self.created.iter().all(|path| fs::remove_dir(path).is_ok());
    }
}

/// Creates a directory and its parents.
pub fn create_folder(path: &Path) -> Outcome<Folder> {
    let missing = path.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.exists());
    let created = missing.map(Path::to_owned).collect();
    fs::create_dir_all(path).map_err(|e| match e.kind() {
        io::ErrorKind::AlreadyExists => input(format!("{}: is a file, but a directory is needed", path.display())),
        _ => input(format!("{}: cannot create the directory: {}", path.display(), why(&e))),
    })?;
    Ok(Folder { created })
}

/// File that a path means: links are followed, also those to a file that is still missing.
fn followed(path: &Path) -> PathBuf {
    /// Limit of Linux.
    const MOST: usize = 40;
    let mut target = path.to_owned();
    for _ in 0..MOST {
        match fs::canonicalize(&target) {
            Ok(whole) => return whole,
            Err(_) => match fs::read_link(&target) {
                Ok(link) => target = target.parent().unwrap_or(Path::new("")).join(link),
                Err(_) => break,
            },
        }
    }
    target
}

/// Refuses outputs that would overwrite an input or one another.
pub fn check_distinct(inputs: &[&Path], outputs: &[&Path]) -> Outcome {
    // A missing file is identified by its directory.
    let identity = |path: &Path| {
        fs::canonicalize(path).ok().or_else(|| {
            let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
            Some(fs::canonicalize(folder).ok()?.join(path.file_name()?))
        })
    };
    let mut standard = 0;
    let known: Vec<_> = inputs.iter().filter(|p| !is_standard(p)).filter_map(|p| identity(p)).collect();
    let mut written = Vec::new();
    for output in outputs {
        if is_standard(output) {
            standard += 1;
            if standard > 1 {
                return Err(usage("two outputs would go to the standard output").help("name a file for one of them"));
            }
            continue;
        }
        let Some(id) = identity(output) else { continue };
        if known.contains(&id) {
            return Err(usage(format!("{}: would be overwritten, but it is an input", output.display()))
                .help("choose another name with -o"));
        }
        if fs::metadata(&id).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
            continue;
        }
        if written.contains(&id) {
            return Err(usage(format!("{}: two outputs would have this name", output.display())).help(
                "give each output its own name; process inputs of the same name one by one, each with its own -o",
            ));
        }
        written.push(id);
    }
    Ok(())
}

/// Writes JSON to standard output.
pub fn print_json(value: &impl serde::Serialize) -> Outcome {
    let json = serde_json::to_string_pretty(value).map_err(|e| input(format!("cannot be written as JSON: {e}")))?;
    print(&(json + "\n"))
}

/// Writes to standard output. A closed pipe ends the program quietly.
pub fn print(text: &str) -> Outcome {
    standard()
        .and_then(|mut out| out.write_all(text.as_bytes()).and_then(|()| out.flush()))
        .map_err(|e| cannot_write(Path::new("-"), &e))
}

/// Outcome of writing help or the version to standard output.
pub fn printed(help: io::Result<()>) -> Outcome {
    standard().and(help).and_then(|()| io::stdout().flush()).map_err(|e| cannot_write(Path::new("-"), &e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failed_writes_keep_the_old_file() {
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
    fn unused_directories_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let (outer, inner) = (dir.path().join("a"), dir.path().join("a/b/c"));
        drop(create_folder(&inner).unwrap());
        assert!(!outer.exists());
        let folder = create_folder(&inner).unwrap();
        fs::write(inner.join("file"), b"x").unwrap();
        drop(folder);
        assert!(inner.join("file").exists());
        drop(create_folder(&outer).unwrap());
        assert!(outer.exists(), "it was there before");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_and_read_only_files_kept() {
        let dir = tempfile::tempdir().unwrap();
        let [file, link, other] = ["file", "link", "other"].map(|name| dir.path().join(name));
        std::os::unix::fs::symlink("link", &other).unwrap();
        std::os::unix::fs::symlink("file", &link).unwrap();
        write_file(&other, |w| w.write_all(b"through two links")).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"through two links");
        assert!(link.is_symlink() && other.is_symlink());
        let mut permissions = fs::metadata(&file).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&file, permissions).unwrap();
        let failure = write_file(&file, |w| w.write_all(b"again")).unwrap_err().render(false, 200);
        assert!(failure.contains("cannot write: the file is read-only"), "{failure}");
        assert_eq!(fs::read(&file).unwrap(), b"through two links");
    }

    #[test]
    fn groups_are_written_together() {
        let dir = tempfile::tempdir().unwrap();
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        let mut files = Files::default();
        files.add(&a, |w| w.write_all(b"new")).unwrap();
        assert!(!a.exists(), "not before all are complete");
        assert!(files.add(&b, |_| Err(io::Error::other("the disk is full"))).is_err());
        drop(files);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "no temporary file stays");
        let mut files = Files::default();
        files.add(&a, |w| w.write_all(b"1")).unwrap();
        files.add(&b, |w| w.write_all(b"2")).unwrap();
        files.commit().unwrap();
        assert_eq!((fs::read(&a).unwrap(), fs::read(&b).unwrap()), (b"1".to_vec(), b"2".to_vec()));
    }

    #[test]
    fn causes_hide_numbers_and_temporary_names() {
        let error = tempfile::Builder::new().prefix(".liftc-").tempfile_in("/nowhere/at/all").unwrap_err();
        assert!(error.to_string().contains(".liftc-"), "{error}");
        assert_eq!(why(&error), "No such file or directory");
        assert_eq!(why(&io::Error::other("a broken thing")), "a broken thing");
        let failure = write_file(Path::new("/nowhere/at/all"), |_| Ok(())).unwrap_err().render(false, 200);
        assert!(failure.contains("/nowhere/at/all: cannot write: No such file or directory\n"), "{failure}");
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

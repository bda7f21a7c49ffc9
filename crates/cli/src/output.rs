//! Writes files atomically: completely or not at all.
//!
//! An existing file is unchanged until the new content is complete next to it, so that a full disk
//! or power loss leaves neither a partial file nor none.

use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Writes or replaces a file. Other types (a pipe, a terminal) are written directly.
///
/// # Errors
/// The I/O error; an existing file is then unchanged.
pub(crate) fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    write_with(path, &mut |out| out.write_all(content))
}

/// Like [`write()`], with a function that writes the content part by part.
///
/// # Errors
/// The I/O error or that of the function; an existing file is then unchanged.
pub(crate) fn write_with<E: From<io::Error>>(
    path: &Path,
    content: &mut dyn FnMut(&mut dyn Write) -> Result<(), E>,
) -> Result<(), E> {
    let (path, there) = match path.metadata() {
        // Keep a link, and replace the file it leads to.
        Ok(there) if there.is_file() => (path.canonicalize()?, Some(there)),
        Ok(_) => return in_place(path, content),
        // A dangling link is followed when the file is created.
        Err(_) if path.symlink_metadata().is_ok() => return in_place(path, content),
        Err(_) => (path.to_owned(), None),
    };
    let beside = beside(&path)?;
    let done = match File::create_new(&beside) {
        // The user may be permitted to write a file but not its directory.
        Err(error) if error.kind() == ErrorKind::PermissionDenied && there.is_some() => {
            return in_place(&path, content);
        }
        Err(error) => Err(error.into()),
        Ok(file) => filled(file, content, there.as_ref()),
    };
    let done = done.and_then(|()| Ok(std::fs::rename(&beside, &path)?));
    if done.is_err() {
        // The file belongs to this process: its name contains the process ID.
        let _ = std::fs::remove_file(&beside);
    }
    done
}

/// Writes an existing file, or what a link leads to, without a new file beside it.
fn in_place<E: From<io::Error>>(
    path: &Path,
    content: &mut dyn FnMut(&mut dyn Write) -> Result<(), E>,
) -> Result<(), E> {
    let mut file = BufWriter::new(File::create(path)?);
    content(&mut file)?;
    Ok(file.flush()?)
}

fn filled<E: From<io::Error>>(
    file: File,
    content: &mut dyn FnMut(&mut dyn Write) -> Result<(), E>,
    there: Option<&Metadata>,
) -> Result<(), E> {
    if let Some(there) = there {
        file.set_permissions(there.permissions())?;
    }
    let mut file = BufWriter::new(file);
    content(&mut file)?;
    file.flush()?;
    // Some file systems report a lack of space only now.
    Ok(file.get_ref().sync_all()?)
}

/// Returns the path of the temporary file, such as `.report.html.1234.new` for `report.html`.
fn beside(path: &Path) -> io::Result<PathBuf> {
    let Some(name) = path.file_name() else {
        return Err(io::Error::new(
            ErrorKind::InvalidInput,
            both!("it has no file name", "ファイル名がありません"),
        ));
    };
    let mut new = OsString::from(".");
    new.push(name);
    new.push(format!(".{}.new", std::process::id()));
    Ok(path.with_file_name(new))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_file_is_replaced_whole() {
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join("a.html"), dir.path().join("link"));
        write(&file, b"one").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
        symlink("a.html", &link).unwrap();
        write(&link, b"two").unwrap();
        assert_eq!(std::fs::read(&file).unwrap(), b"two");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o640);
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn what_cannot_be_written_leaves_what_was_there() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a.csv");
        std::fs::write(&file, "before").unwrap();
        // A directory that is never removed occupies the name of the temporary file.
        std::fs::create_dir(beside(&file).unwrap()).unwrap();
        assert!(write(&file, b"after").is_err());
        assert_eq!(std::fs::read(&file).unwrap(), b"before");
        assert_eq!(
            write(&dir.path().join("no/x"), b"").unwrap_err().kind(),
            ErrorKind::NotFound
        );
        write(Path::new("/dev/null"), b"gone").unwrap();
        assert!(write(Path::new("/"), b"").is_err());
    }
}

//! The names in a patch or an archive: what `git apply` or `tar x` would write.

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;

use flate2::read::GzDecoder;

/// More than this of a file is not read, unpacked.
const BYTES_MAX: u64 = 64 * 1024 * 1024;
/// More names than these are not looked at one by one.
const NAMES_MAX: usize = 10_000;

/// The names of the files that would be written; `None` when the file is of no kind that is known here, or too large.
pub(super) fn names(path: &Path) -> Option<Vec<String>> {
    let mut file = File::open(path).ok()?;
    let entry = file.metadata().ok()?;
    if !entry.is_file() || entry.len() > BYTES_MAX {
        return None;
    }
    let mut start = [0; 4];
    let read = file.read(&mut start).ok()?;
    file.rewind().ok()?;
    match start.get(..read)? {
        [0x1f, 0x8b, ..] => of_tar(GzDecoder::new(BufReader::new(file))),
        [b'P', b'K', ..] => of_zip(file),
        _ => of_patch(&file).or_else(|| of_tar(BufReader::new(File::open(path).ok()?))),
    }
}

fn of_tar(reader: impl Read) -> Option<Vec<String>> {
    let mut archive = tar::Archive::new(reader.take(BYTES_MAX));
    let mut names = Vec::new();
    for entry in archive.entries().ok()? {
        let entry = entry.ok()?;
        names.push(entry.path().ok()?.to_str()?.to_owned());
        if names.len() > NAMES_MAX {
            return None;
        }
    }
    (!names.is_empty()).then_some(names)
}

fn of_zip(file: File) -> Option<Vec<String>> {
    let archive = zip::ZipArchive::new(BufReader::new(file)).ok()?;
    (archive.len() <= NAMES_MAX).then(|| archive.file_names().map(str::to_owned).collect())
}

/// The files of a unified diff, without the folder that `-p1` takes off.
fn of_patch(mut file: &File) -> Option<Vec<String>> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    let mut names = Vec::new();
    for line in text.lines() {
        let rest = ["+++ ", "--- ", "rename to ", "copy to "]
            .iter()
            .find_map(|start| line.strip_prefix(start));
        let Some(name) = rest.and_then(|rest| rest.split('\t').next()) else {
            continue;
        };
        let name = name.trim().trim_matches('"');
        names.extend(name.split_once('/').map(|(_, below)| below.to_owned()));
        names.push(name.to_owned());
        if names.len() > NAMES_MAX {
            return None;
        }
    }
    (!names.is_empty()).then_some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_of(bytes: &[u8]) -> Option<Vec<String>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        std::fs::write(&path, bytes).unwrap();
        names(&path)
    }

    fn tarred() -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        header.set_size(1);
        header.set_cksum();
        builder
            .append_data(&mut header, ".github/workflows/x.yml", &b"x"[..])
            .unwrap();
        builder.into_inner().unwrap()
    }

    #[test]
    fn the_files_of_patches_and_archives_are_named() {
        let patch =
            b"diff --git a/AGENTS.md b/AGENTS.md\n--- a/AGENTS.md\n+++ b/AGENTS.md\n@@ -1 +1 @@\n-a\n+b\n";
        assert!(names_of(patch).unwrap().contains(&"AGENTS.md".to_owned()));
        assert_eq!(names_of(&tarred()).unwrap(), [".github/workflows/x.yml"]);
        let mut zipped = std::io::Cursor::new(Vec::new());
        let mut writer = zip::ZipWriter::new(&mut zipped);
        writer
            .start_file(".cargo/config.toml", zip::write::SimpleFileOptions::default())
            .unwrap();
        writer.finish().unwrap();
        assert_eq!(names_of(&zipped.into_inner()).unwrap(), [".cargo/config.toml"]);
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut encoder, &tarred()).unwrap();
        assert_eq!(
            names_of(&encoder.finish().unwrap()).unwrap(),
            [".github/workflows/x.yml"]
        );
    }

    #[test]
    fn what_is_neither_has_no_names() {
        assert_eq!(names_of(b"hello"), None);
        assert_eq!(names_of(b""), None);
    }
}

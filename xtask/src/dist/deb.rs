//! Writes a Debian package according to deb(5): an ar archive of a version file and two compressed tar
//! archives.

use std::{
    collections::BTreeSet,
    io::Write,
    path::{Component, Path},
};

use flate2::{Compression, GzBuilder, write::GzEncoder};
use tar::{Builder, EntryType, Header};

#[derive(Debug)]
pub(super) struct Package<'a> {
    pub version: &'a str,
    pub architecture: &'a str,
    pub entries: Vec<Entry>,
    pub time: u64,
}

#[derive(Debug)]
pub(super) struct Entry {
    path: String,
    mode: u32,
    content: Vec<u8>,
}

impl Entry {
    pub(super) fn file(path: impl Into<String>, content: Vec<u8>) -> Self {
        Self { path: path.into(), mode: 0o644, content }
    }

    pub(super) fn program(path: impl Into<String>, content: Vec<u8>) -> Self {
        Self { path: path.into(), mode: 0o755, content }
    }

    pub(super) fn zipped(path: impl Into<String>, content: &[u8]) -> anyhow::Result<Self> {
        let mut zip = zip();
        zip.write_all(content)?;
        Ok(Self::file(path, zip.finish()?))
    }
}

impl Package<'_> {
    pub(super) fn bytes(&self) -> anyhow::Result<Vec<u8>> {
        let mut archive = b"!<arch>\n".to_vec();
        let control = self.tar(&[&Entry::file("control", self.control().into_bytes())])?;
        let mut entries: Vec<_> = self.entries.iter().collect();
        entries.sort_by(|a, b| a.path.cmp(&b.path));
        let data = self.tar(&entries)?;
        let members =
            [("debian-binary", b"2.0\n".to_vec()), ("control.tar.gz", control), ("data.tar.gz", data)];
        for (name, content) in members {
            writeln!(
                archive,
                "{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`",
                self.time,
                0,
                0,
                100_644,
                content.len()
            )?;
            archive.extend(&content);
            if content.len() % 2 == 1 {
                archive.push(b'\n');
            }
        }
        Ok(archive)
    }

    fn control(&self) -> String {
        let kilobytes: usize = self.entries.iter().map(|entry| entry.content.len().div_ceil(1024)).sum();
        format!(
            "Package: longhaul\nVersion: {}\nArchitecture: {}\nMaintainer: Longhaul maintainers\nInstalled-Size: {kilobytes}\n\
             Section: net\nPriority: optional\n\
             Description: measure, compare and emulate networks\n \
             Says what people experience of latency: every phase of every request, whole\n \
             distributions, and verdicts with how sure they are. Emulates a planet on one\n \
             machine, with the kernel's own TCP and light-speed delays between its cities.\n",
            self.version, self.architecture
        )
    }

    fn tar(&self, entries: &[&Entry]) -> anyhow::Result<Vec<u8>> {
        let mut builder = Builder::new(zip());
        let mut folders = BTreeSet::new();
        for entry in entries {
            let mut folder = String::new();
            let parts = Path::new(&entry.path).parent().map(Path::components);
            for part in parts.into_iter().flatten().filter_map(normal) {
                folder = format!("{folder}{part}/");
                if folders.insert(folder.clone()) {
                    let mut header = self.header(EntryType::Directory, 0o755, 0);
                    builder.append_data(&mut header, &folder, std::io::empty())?;
                }
            }
            let mut header = self.header(EntryType::Regular, entry.mode, entry.content.len());
            builder.append_data(&mut header, &entry.path, entry.content.as_slice())?;
        }
        Ok(builder.into_inner()?.finish()?)
    }

    fn header(&self, kind: EntryType, mode: u32, size: usize) -> Header {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_size(size as u64);
        header.set_mtime(self.time);
        header.set_uid(0);
        header.set_gid(0);
        header
    }
}

fn normal<'p>(part: Component<'p>) -> Option<&'p str> {
    if let Component::Normal(name) = part { name.to_str() } else { None }
}

fn zip() -> GzEncoder<Vec<u8>> {
    GzBuilder::new().write(Vec::new(), Compression::best())
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::*;

    fn package() -> Package<'static> {
        let entries = vec![
            Entry::program("usr/bin/longhaul", b"#!/bin/sh\n".to_vec()),
            Entry::file("usr/share/doc/longhaul/copyright", b"odd".to_vec()),
            Entry::zipped("usr/share/man/man1/longhaul.1.gz", b".TH").unwrap(),
        ];
        Package { version: "1.2.3", architecture: "amd64", entries, time: 1_700_000_000 }
    }

    fn members(mut archive: &[u8]) -> Vec<(String, Vec<u8>)> {
        assert_eq!(&archive[..8], b"!<arch>\n");
        archive = &archive[8..];
        let mut members = Vec::new();
        while !archive.is_empty() {
            let header = std::str::from_utf8(&archive[..60]).unwrap();
            assert!(header.ends_with("`\n"), "{header:?}");
            let size: usize = header[48..58].trim().parse().unwrap();
            members.push((header[..16].trim().to_owned(), archive[60..60 + size].to_vec()));
            archive = &archive[60 + size + size % 2..];
        }
        members
    }

    #[test]
    fn a_package_has_what_debian_expects() {
        let members = members(&package().bytes().unwrap());
        let names: Vec<_> = members.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["debian-binary", "control.tar.gz", "data.tar.gz"]);
        assert_eq!(members[0].1, b"2.0\n");
        let mut data = tar::Archive::new(GzDecoder::new(members[2].1.as_slice()));
        let mut listed = Vec::new();
        for entry in data.entries().unwrap() {
            let mut entry = entry.unwrap();
            let path = entry.path().unwrap().display().to_string();
            let header = entry.header().clone();
            assert_eq!((header.uid().unwrap(), header.mtime().unwrap()), (0, 1_700_000_000));
            let mut content = Vec::new();
            entry.read_to_end(&mut content).unwrap();
            listed.push((path, header.mode().unwrap(), content.len()));
        }
        let programs: Vec<_> = listed.iter().filter(|(path, ..)| path.ends_with("bin/longhaul")).collect();
        assert_eq!(programs, [&("usr/bin/longhaul".to_owned(), 0o755, 10)]);
        let folders = listed.iter().filter(|(path, ..)| path.ends_with('/')).count();
        assert_eq!((folders, listed.len()), (7, 10));
        assert_eq!(listed[0].0, "usr/");
        let mut control = tar::Archive::new(GzDecoder::new(members[1].1.as_slice()));
        let mut text = String::new();
        control.entries().unwrap().next().unwrap().unwrap().read_to_string(&mut text).unwrap();
        // Three files, rounded up to one kilobyte each.
        assert!(text.contains("\nVersion: 1.2.3\n") && text.contains("\nInstalled-Size: 3\n"), "{text}");
    }

    #[test]
    fn a_package_is_the_same_whenever_it_is_made() {
        let mut turned = package();
        turned.entries.reverse();
        assert_eq!(package().bytes().unwrap(), turned.bytes().unwrap());
    }
}

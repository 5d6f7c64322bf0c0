//! Temporary and final names, permissions, and packing.

use super::*;

fn listed(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn the_name_comes_last() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    fs::write(&path, "before").unwrap();
    let mut output = Output::create(&path).unwrap();
    output.write_all(b"after").unwrap();
    assert_eq!((fs::read_to_string(&path).unwrap().as_str(), listed(folder.path()).len()), ("before", 2));
    output.finish(1).unwrap();
    assert_eq!((fs::read_to_string(&path).unwrap().as_str(), listed(folder.path()).len()), ("after", 1));
}

#[test]
fn what_is_given_up_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut output = Output::create(&folder.path().join("a.csv.gz")).unwrap();
    output.write_all(b"half").unwrap();
    drop(output);
    assert_eq!(listed(folder.path()), [""; 0]);
    let missing = folder.path().join("no/such/a.csv");
    assert!(matches!(Output::create(&missing), Err(Error::Open { path, .. }) if path == missing));
    assert!(Output::create(Path::new("/")).is_err());
}

#[test]
fn what_is_packed_is_what_the_name_says() {
    let folder = tempfile::tempdir().unwrap();
    for (name, magic) in
        [("a.csv.GZ", &[0x1F, 0x8B][..]), ("a.csv.Zst", &[0x28, 0xB5, 0x2F, 0xFD]), ("a.gz.csv", b"text")]
    {
        let path = folder.path().join(name);
        let mut output = Output::create(&path).unwrap();
        output.write_all(b"text").unwrap();
        output.finish(1).unwrap();
        assert!(fs::read(&path).unwrap().starts_with(magic), "{name}");
    }
    assert_eq!(packing(Path::new("no/A.CSV.GZ")), ("a.csv".to_owned(), Packing::Gzip));
}

#[test]
fn a_name_may_be_as_long_as_names_are() {
    let folder = tempfile::tempdir().unwrap();
    let long = |end: &str| "a".repeat(LONGEST_NAME - end.len()) + end;
    let names = [long(".csv"), long("x.csv"), "\u{20ac}".repeat(83) + ".csv"];
    let outputs = names.each_ref().map(|name| {
        let path = folder.path().join(name);
        let mut output = Output::create(&path).unwrap();
        output.write_all(name.as_bytes()).unwrap();
        assert!(temporaries_of(&path)[0].exists());
        output
    });
    outputs.into_iter().for_each(|output| output.finish(1).unwrap());
    for name in &names {
        assert_eq!(&fs::read_to_string(folder.path().join(name)).unwrap(), name);
    }
    assert_eq!(listed(folder.path()).len(), names.len());
    assert!(temporaries_of(Path::new("/dev/null")).is_empty());
}

#[cfg(unix)]
#[test]
fn who_may_read_it_stays_so() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for wanted in [0o600, 0o640, 0o664, 0o400] {
        fs::write(&path, "before").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(wanted)).unwrap();
        let mut output = Output::create(&path).unwrap();
        assert_eq!(mode(&temporaries_of(&path)[0]), wanted);
        output.write_all(b"after").unwrap();
        output.finish(1).unwrap();
        assert_eq!((mode(&path), fs::read_to_string(&path).unwrap().as_str()), (wanted, "after"));
        fs::remove_file(&path).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn a_link_stays_and_a_device_is_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("a.csv"), folder.path().join("link.csv"));
    fs::write(&file, "before").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let mut output = Output::create(&link).unwrap();
    output.write_all(b"after").unwrap();
    output.finish(1).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&file).unwrap(), "after");
    let mut output = Output::create(Path::new("/dev/null")).unwrap();
    output.write_all(b"gone").unwrap();
    output.finish(1).unwrap();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}

#[test]
fn long_files_are_several_frames() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.zst");
    let text: Vec<u8> = (0..1_500_000_u32).flat_map(|number| format!("{number}\n").into_bytes()).collect();
    assert!(text.len() > 2 * FRAME);
    let mut output = Output::create(&path).unwrap();
    output.write_all(&text).unwrap();
    output.finish(1).unwrap();
    let packed = fs::read(&path).unwrap();
    assert!(packed.len() < text.len() / 2);
    let (mut rest, mut unpacked, mut frames) = (packed.as_slice(), Vec::new(), 0);
    while !rest.is_empty() {
        let mut frame = ruzstd::decoding::StreamingDecoder::new(&mut rest).unwrap();
        io::Read::read_to_end(&mut frame, &mut unpacked).unwrap();
        frames += 1;
    }
    assert_eq!((unpacked == text, frames), (true, text.len().div_ceil(FRAME)));
}

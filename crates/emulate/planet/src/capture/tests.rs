//! Reads captures back with an independent reader, from faulty disks and pipes.

use std::{
    fs::File,
    io::{self, Read, Seek},
    sync::{Arc, Mutex, mpsc},
};

use nix::{
    fcntl::{FcntlArg, SealFlag, fcntl},
    sys::memfd::{MFdFlags, memfd_create},
};
use proptest::prelude::*;

use super::*;
use crate::frame::sample::{Sample, TCP, UDP, fault};

#[derive(Debug, PartialEq, Eq)]
struct Block(u32, Vec<u8>);

#[derive(Debug, PartialEq, Eq)]
struct Seen {
    interface: u32,
    at: Duration,
    length: u32,
    bytes: Vec<u8>,
    comment: Option<String>,
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

fn blocks(mut file: &[u8]) -> Vec<Block> {
    let mut blocks = Vec::new();
    while !file.is_empty() {
        let length = u32_at(file, 4) as usize;
        assert_eq!(length % 4, 0);
        assert_eq!(u32_at(file, length - 4) as usize, length, "the length is there twice");
        blocks.push(Block(u32_at(file, 0), file[8..length - 4].to_vec()));
        file = &file[length..];
    }
    blocks
}

fn options(mut bytes: &[u8]) -> Vec<(u16, Vec<u8>)> {
    let mut options = Vec::new();
    while !bytes.is_empty() {
        let [code, length] = [0, 2].map(|at| u16::from_le_bytes([bytes[at], bytes[at + 1]]));
        if code == 0 {
            assert_eq!((length, bytes.len()), (0, 4), "the end of options is the end of the block");
            break;
        }
        options.push((code, bytes[4..4 + usize::from(length)].to_vec()));
        bytes = &bytes[4 + usize::from(length).next_multiple_of(4)..];
    }
    options
}

fn packets(blocks: &[Block]) -> Vec<Seen> {
    let packet = |Block(_, body): &Block| {
        let nanoseconds = u64::from(u32_at(body, 4)) << 32 | u64::from(u32_at(body, 8));
        let kept = u32_at(body, 12) as usize;
        let options = options(&body[20 + kept.next_multiple_of(4)..]);
        // The address family for LINKTYPE_NULL: IPv4, and IPv6 on macOS.
        assert_eq!(u32_at(body, 20), if body[24] >> 4 == 4 { 2 } else { 30 });
        Seen {
            interface: u32_at(body, 0),
            at: Duration::from_nanos(nanoseconds),
            length: u32_at(body, 16) - 4,
            bytes: body[24..20 + kept].to_vec(),
            comment: options
                .into_iter()
                .find(|option| option.0 == 1)
                .map(|o| String::from_utf8(o.1).unwrap()),
        }
    };
    blocks.iter().filter(|block| block.0 == 6).map(packet).collect()
}

fn statistics(blocks: &[Block]) -> Vec<(u32, u64, u64)> {
    let statistics = |Block(_, body): &Block| {
        let options = options(&body[12..]);
        assert_eq!((options[0].0, options[1].0), (4, 5));
        (u32_at(body, 0), u64_at(&options[0].1, 0), u64_at(&options[1].1, 0))
    };
    blocks.iter().filter(|block| block.0 == 5).map(statistics).collect()
}

#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Slow(Memory, mpsc::Receiver<()>);

impl Write for Slow {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = self.1.recv();
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

const AT: Duration = Duration::new(1_700_000_000, 123_456_789);

fn see(capture: &mut Capture, at: Duration, interface: u32, bytes: &[u8], comment: Option<&'static str>) {
    let frame = Frame::parse(bytes).unwrap();
    let (segments, treatment) = (0..frame.packet.segments(), Treatment::default());
    capture.packet(&Sighting { at, interface, frame: &frame, bytes, segments, treatment, comment });
}

fn stream(output: impl Write + Send + 'static, snap: u32) -> Capture {
    Capture::stream(output, Path::new("test"), NonZeroU32::new(snap)).unwrap()
}

#[test]
fn a_capture_has_what_was_seen_where_and_when() {
    let memory = Memory::default();
    let mut capture = stream(memory.clone(), 0);
    let there = capture.interface("newyork-london");
    let back = capture.interface("london-newyork");
    let (tcp, udp) = (Sample::new(4, TCP, 101, 0), Sample::new(6, UDP, 102, 0));
    see(&mut capture, AT, there, &tcp.frame(), None);
    see(&mut capture, AT + Duration::from_nanos(1), back, &udp.frame(), Some("dropped: queue"));
    let summary = capture.finish().unwrap();

    let file = memory.0.lock().unwrap();
    assert_eq!(summary, Summary { packets: 2, missed: 0, bytes: file.len() as u64 });
    let blocks = blocks(&file);
    let kinds: Vec<u32> = blocks.iter().map(|block| block.0).collect();
    assert_eq!(kinds, [0x0a0d_0d0a, 1, 1, 6, 6, 5, 5]);
    assert_eq!(
        blocks[0].1[..16],
        [0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255]
    );
    for (block, name) in blocks[1..3].iter().zip(["newyork-london", "london-newyork"]) {
        assert_eq!(block.1[..8], [0; 8], "LINKTYPE_NULL, packets kept whole");
        assert_eq!(options(&block.1[8..]), [(2, name.as_bytes().to_vec()), (9, vec![9])]);
    }
    let seen = |interface, at, sample: Sample, comment: Option<&str>| {
        let bytes = sample.complete();
        Seen {
            interface,
            at,
            length: u32::try_from(bytes.len()).unwrap(),
            bytes,
            comment: comment.map(str::to_owned),
        }
    };
    let expected =
        [seen(there, AT, tcp, None), seen(back, AT + Duration::from_nanos(1), udp, Some("dropped: queue"))];
    assert_eq!(packets(&blocks), expected);
    assert_eq!(statistics(&blocks), [(there, 1, 0), (back, 1, 0)]);
}

#[test]
fn a_super_packet_is_seen_as_its_segments() {
    let memory = Memory::default();
    let mut capture = stream(memory.clone(), 0);
    let interface = capture.interface("link");
    let bytes = Sample { ttl: 9, ..Sample::new(4, TCP, 5000, 1448) }.frame();
    let frame = Frame::parse(&bytes).unwrap();
    let treatment = Treatment { hops: 2, ..Treatment::default() };
    let mut run = |segments, treatment| {
        capture.packet(&Sighting {
            at: AT,
            interface,
            frame: &frame,
            bytes: &bytes,
            segments,
            treatment,
            comment: None,
        });
    };
    run(1..4, treatment);
    run(0..1, Treatment { corrupt: Some(1), ..treatment });
    capture.finish().unwrap();

    let seen = packets(&blocks(&memory.0.lock().unwrap()));
    // 5000 bytes are three segments of 1448 and one of 656, each with 52 bytes of headers.
    assert_eq!(seen.iter().map(|packet| packet.length).collect::<Vec<_>>(), [1500, 1500, 708, 1500]);
    let faults: Vec<_> = seen.iter().map(|packet| fault(&packet.bytes)).collect();
    assert_eq!(faults, [None, None, None, Some("transport checksum")]);
    assert!(seen.iter().all(|packet| packet.bytes[8] == 7));
}

#[test]
fn a_snap_length_keeps_the_beginning() {
    let memory = Memory::default();
    let mut capture = stream(memory.clone(), 54);
    let interface = capture.interface("link");
    let sample = Sample::new(4, TCP, 1000, 0);
    see(&mut capture, AT, interface, &sample.frame(), None);
    capture.finish().unwrap();
    let blocks = blocks(&memory.0.lock().unwrap());
    assert_eq!(u32_at(&blocks[1].1, 4), 4 + 54, "the address family counts");
    let seen = &packets(&blocks)[0];
    assert_eq!((seen.length, seen.bytes.as_slice()), (1052, &sample.complete()[..54]));
}

#[test]
fn what_a_slow_disk_cannot_take_is_counted() {
    let memory = Memory::default();
    let (gate, closed) = mpsc::channel();
    let output = Output::Stream(Box::new(Slow(memory.clone(), closed)));
    let mut capture = Capture::begin(output, Path::new("test"), None, 100_000).unwrap();
    let interface = capture.interface("link");
    let bytes = Sample::new(4, UDP, 60_000, 1000).frame();
    // 2.4 MB: the queue holds 100 kB, and the writer buffers at most about 256 KB before it has to write.
    for _ in 0..40 {
        see(&mut capture, AT, interface, &bytes, None);
    }
    drop(gate);
    let summary = capture.finish().unwrap();
    assert!(summary.missed > 0 && summary.packets > 0, "{summary:?}");
    assert_eq!(summary.packets + summary.missed, 40 * 60);
    let blocks = blocks(&memory.0.lock().unwrap());
    assert_eq!(packets(&blocks).len() as u64, summary.packets);
    assert_eq!(statistics(&blocks), [(interface, 40 * 60, summary.missed)]);
}

fn small_disk(size: u64) -> File {
    let file = File::from(memfd_create("small disk", MFdFlags::MFD_ALLOW_SEALING).unwrap());
    file.set_len(size).unwrap();
    fcntl(&file, FcntlArg::F_ADD_SEALS(SealFlag::F_SEAL_GROW)).unwrap();
    file
}

#[test]
fn a_full_disk_leaves_whole_packets() {
    let mut disk = small_disk(32 << 10);
    let path = Path::new("/mnt/full/trip.pcapng");
    let mut capture =
        Capture::begin(Output::File(disk.try_clone().unwrap()), path, None, MOST_QUEUED).unwrap();
    let interface = capture.interface("link");
    // 40 packets of 1 KB, with 36 bytes of block around each, do not fit into 32 KB.
    for _ in 0..40 {
        see(&mut capture, AT, interface, &Sample::new(4, UDP, 996, 0).frame(), None);
    }
    let error = capture.finish().unwrap_err();
    let mut file = Vec::new();
    disk.rewind().unwrap();
    disk.read_to_end(&mut file).unwrap();
    assert!(packets(&blocks(&file)).len() < 40);
    let Error::Capture { written, .. } = &error else { panic!("{error}") };
    assert_eq!(*written, file.len() as u64);
    let said = format!("/mnt/full/trip.pcapng: the capture stopped after {written} bytes: ");
    assert!(error.to_string().starts_with(&said), "{error}");
}

#[test]
fn who_reads_along_is_not_kept_waiting() {
    let (mut reader, writer) = io::pipe().unwrap();
    let mut capture = stream(writer, 0);
    let interface = capture.interface("link");
    let sample = Sample::new(4, UDP, 100, 0);
    see(&mut capture, AT, interface, &sample.frame(), None);
    let mut expected = Vec::new();
    pcapng::section(&mut expected);
    pcapng::interface(&mut expected, "link", 0);
    let mut file = vec![0; expected.len() + 36 + 128];
    reader.read_exact(&mut file).unwrap();
    assert_eq!(packets(&blocks(&file))[0].bytes, sample.complete());

    drop(reader);
    see(&mut capture, AT, interface, &sample.frame(), None);
    let Error::Capture { source, written, .. } = capture.finish().unwrap_err() else {
        panic!("another error")
    };
    assert_eq!((source.kind(), written), (io::ErrorKind::BrokenPipe, file.len() as u64));
}

#[test]
fn a_file_that_cannot_be_made_is_named() {
    let error = Capture::create(Path::new("/nowhere/at/all.pcapng"), None).unwrap_err();
    assert_eq!(error.to_string(), "/nowhere/at/all.pcapng: No such file or directory (os error 2)");
}

proptest! {
    #[test]
    fn blocks_are_whole_up_to_any_cut(cut in any::<prop::sample::Index>(), lengths in prop::collection::vec(0_usize..50, 1..9)) {
        let mut file = Vec::new();
        let mut ends = vec![0];
        for length in &lengths {
            let about = pcapng::Packet { at: AT, interface: 0, comment: None };
            pcapng::packet(&mut file, &about, &vec![1; *length], 50);
            ends.push(file.len());
        }
        let cut = cut.index(file.len() + 1);
        let expected = ends.iter().rposition(|&end| end <= cut).unwrap();
        prop_assert_eq!(blocks::whole(&file[..cut]), (ends[expected], expected as u64));
    }
}

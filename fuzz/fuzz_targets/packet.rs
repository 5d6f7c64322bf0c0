//! Frames written to a TUN device: accepted frames can be sliced, modified, replied to and captured,
//! with consistent lengths.
//!
//! `cargo +nightly fuzz run packet corpus/packet seeds/packet`

#![no_main]

use std::{
    io::{self, Write},
    ops::Range,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use libfuzzer_sys::fuzz_target;
use planet::{
    capture::{Capture, Sighting},
    frame::{
        Frame, Treatment, VIRTIO_HEADER,
        icmp::{Unreachable, echo_reply, time_exceeded, unreachable},
    },
};

fuzz_target!(|bytes: &[u8]| {
    let Ok(frame) = Frame::parse(bytes) else { return };
    // The kernel creates super-packets of about 45 segments; a hostile program can claim one per byte.
    let run = 0..frame.packet.segments().min(256);
    let last = bytes[bytes.len() - 1];
    let treatment = Treatment { hops: last, mark: last % 2 == 1, corrupt: None };
    slices_have_their_length(bytes, &frame, &run, treatment);
    answers_are_frames(bytes);
    a_capture_is_whole(bytes, &frame, run, treatment);
});

fn slices_have_their_length(bytes: &[u8], frame: &Frame, run: &Range<u32>, treatment: Treatment) {
    let wrong = Treatment { corrupt: Some(frame.flow), ..treatment };
    let mut payload = 0;
    for segment in run.clone() {
        let one = segment..segment + 1;
        let (headers, part) = frame.slice(bytes, &one, Treatment::default());
        payload += part.len();
        for treatment in [treatment, wrong] {
            let treated = frame.slice(bytes, &one, treatment);
            let treated = [&treated.0, &*treated.1].concat();
            assert_eq!(treated.len(), headers.len() + part.len());
            let treated = Frame::parse(&treated).expect("a treated frame is a frame");
            assert_eq!(treated.ttl, frame.ttl.saturating_sub(treatment.hops));
        }
    }
    assert!(payload <= bytes.len());
}

fn answers_are_frames(bytes: &[u8]) {
    for router in ["192.0.2.1", "2001:db8::1"] {
        let router = router.parse().expect("an address");
        let errors = [time_exceeded(router, bytes), unreachable(router, bytes, 1, Unreachable::Net)];
        for error in errors.into_iter().flatten() {
            assert!(error.len() <= VIRTIO_HEADER + 1280);
            assert_eq!(Frame::parse(&error).map(|frame| frame.from), Ok(router));
            assert_eq!(time_exceeded(router, &error), None, "no error about an error");
        }
    }
    assert!(echo_reply(bytes).is_none_or(|reply| reply.len() <= bytes.len()));
}

fn a_capture_is_whole(bytes: &[u8], frame: &Frame, segments: Range<u32>, treatment: Treatment) {
    let memory = Memory::default();
    let mut capture = Capture::stream(memory.clone(), Path::new("fuzz"), None).expect("a thread");
    let interface = capture.interface("fuzz");
    let at = Duration::from_nanos(frame.flow);
    let count = u64::from(segments.end);
    let on_wire = frame.packet.link_bytes(segments.end, 0);
    capture.packet(&Sighting { at, interface, frame, bytes, segments, treatment, comment: Some("fuzz") });
    let summary = capture.finish().expect("memory takes everything");
    assert_eq!((summary.packets, summary.missed), (count, 0));

    let file = memory.0.lock().expect("no panic");
    let mut left = file.as_slice();
    while let Some(header) = left.first_chunk::<8>() {
        let length = u32::from_le_bytes([header[4], header[5], header[6], header[7]]);
        left = &left[length as usize..];
    }
    assert!(left.is_empty());
    // A block adds 36 bytes, 12 bytes for the comment and its end, and up to 3 bytes of padding; the
    // blocks that occur once take less than 256 bytes.
    assert!(file.len() as u64 <= on_wire + 51 * count + 256);
}

/// An in-memory file.
#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Vec<u8>>>);

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panic").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

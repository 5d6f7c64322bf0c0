//! Memory pages that the kernel sends without copying.
//!
//! `sendfile` passes the pages of a file to the socket without a copy. So cached bodies can be
//! moved into an in-memory file (`memfd_create`) that this process maps.
//!
//! When the bytes are dropped, the pages are removed from the file (hole punching): a socket that
//! has not sent them yet keeps its references, and the next user of the range gets new pages.

use std::{
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::{Mutex, OnceLock, PoisonError},
};

use bytes::Bytes;

use crate::sys::{Mapping, memory_file, punch_hole, write_at};

/// Moves a body, given in pieces, into pages. `None` if it is shorter than [`LEAST`] or longer than
/// [`MOST`], or the system does not support it; the caller then keeps the pieces.
pub fn moved<'p>(pieces: impl Iterator<Item = &'p Bytes> + Clone) -> Option<Bytes> {
    let length = pieces.clone().map(Bytes::len).sum();
    let pages = PAGES.get_or_init(Pages::new).as_ref().filter(|_| (LEAST..=MOST).contains(&length))?;
    let class = class(length);
    let place = pages.take(class)?;
    let extent = Extent { pages, class, place, length };
    let mut end = place;
    for piece in pieces {
        // On an error, dropping the extent releases the range.
        write_at(&pages.file, piece, end).ok()?;
        end += piece.len() as u64;
    }
    Some(Bytes::from_owner(extent))
}

pub(crate) fn place_of(bytes: &[u8]) -> Option<(BorrowedFd<'static>, u64)> {
    let pages = PAGES.get()?.as_ref()?;
    Some((pages.file.as_fd(), pages.mapping.offset_of(bytes)?))
}

static PAGES: OnceLock<Option<Pages>> = OnceLock::new();

struct Pages {
    file: OwnedFd,
    mapping: Mapping,
    room: Mutex<Room>,
}

#[derive(Default)]
struct Room {
    free: [Vec<u64>; CLASSES],
    end: u64,
}

struct Extent {
    pages: &'static Pages,
    class: usize,
    place: u64,
    length: usize,
}

impl Pages {
    fn new() -> Option<Self> {
        let file = memory_file("longhaul-bodies", SPACE).ok()?;
        let mapping = Mapping::new(&file, SPACE).ok()?;
        Some(Self { file, mapping, room: Mutex::default() })
    }

    fn take(&self, class: usize) -> Option<u64> {
        let mut room = self.room.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = room.free[class].pop() {
            return Some(place);
        }
        let (place, end) = (room.end, room.end + size(class) as u64);
        (end <= SPACE).then(|| {
            room.end = end;
            place
        })
    }

    /// If its pages cannot be removed, the range is not reused, because a socket may still send
    /// them.
    fn give_back(&self, class: usize, place: u64) {
        if punch_hole(&self.file, place, size(class) as u64).is_ok() {
            self.room.lock().unwrap_or_else(PoisonError::into_inner).free[class].push(place);
        }
    }
}

impl AsRef<[u8]> for Extent {
    fn as_ref(&self) -> &[u8] {
        self.pages.mapping.bytes(self.place, self.length)
    }
}

impl Drop for Extent {
    fn drop(&mut self) {
        self.pages.give_back(self.class, self.place);
    }
}

/// There are four classes per power of two, so at most a fifth of a range is unused; unused pages
/// are not allocated.
fn class(length: usize) -> usize {
    (0..CLASSES).find(|&class| size(class) >= length).unwrap_or(CLASSES - 1)
}

/// A multiple of any kernel's page size.
const fn size(class: usize) -> usize {
    (LEAST + (class % 4) * LEAST / 4) << (class / 4)
}

/// Shorter bodies are copied.
pub const LEAST: usize = 32 << 10;
/// Longer bodies stay in pieces.
pub const MOST: usize = 1 << 20;
const CLASSES: usize = 4 * (MOST / LEAST).ilog2() as usize + 1;
/// Address space, not memory: more than the bodies of any machine including gaps, and a small part of a
/// process's address space.
const SPACE: u64 = 256 << 30;

const _: () = assert!(size(CLASSES - 1) == MOST && (LEAST / 4).is_multiple_of(4096));

#[cfg(test)]
mod tests {
    use std::{
        io::{Read, Write},
        net::{TcpListener, TcpStream},
    };

    use super::*;

    fn body(length: usize, first: u8) -> Bytes {
        (0..length).map(|n| u8::try_from(n % 251).unwrap() ^ first).collect()
    }

    fn in_pages(body: &Bytes) -> Bytes {
        let (a, b) = (body.slice(..body.len() / 3), body.slice(body.len() / 3..));
        moved([a, b].iter()).unwrap()
    }

    #[test]
    fn a_class_has_room_and_little_more() {
        for length in [LEAST, LEAST + 1, 40 << 10, (40 << 10) + 1, 65_537, MOST - 1, MOST] {
            let size = size(class(length));
            assert!(size >= length && size * 4 <= length * 5 + 4, "{length} {size}");
        }
    }

    #[test]
    fn bytes_are_read_where_they_were_moved_to() {
        for length in [LEAST, 100_000, MOST] {
            let whole = body(length, 7);
            let moved = in_pages(&whole);
            assert_eq!(moved, whole);
            let (_, place) = place_of(&moved).unwrap();
            assert_eq!(place_of(&moved.slice(5..)).unwrap().1, place + 5);
        }
        assert!(place_of(&body(LEAST, 0)).is_none());
        assert!(moved([body(LEAST - 1, 0)].iter()).is_none() && moved([body(MOST + 1, 0)].iter()).is_none());
    }

    #[test]
    fn what_a_socket_has_yet_to_send_stays_as_it_was() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let writer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut reader, _) = listener.accept().unwrap();
        let first = body(LEAST, 1);
        let moved = in_pages(&first);
        let (file, place) = place_of(&moved).unwrap();
        let sent = crate::sys::send_file(&writer, file, place, LEAST).unwrap();
        drop(moved);
        // One of the new ranges is the released one; all are written with other data.
        let others: Vec<_> = (0..64).map(|_| in_pages(&body(LEAST, 2))).collect();
        (&writer).write_all(b"end").unwrap();
        drop(writer);
        let mut read = Vec::new();
        reader.read_to_end(&mut read).unwrap();
        assert_eq!(read, [&first[..sent], b"end"].concat());
        assert!(others.iter().all(|other| *other == body(LEAST, 2)));
    }

    #[test]
    fn many_threads_have_places_of_their_own() {
        let work = |first: u8| {
            for round in 0..50 {
                let whole = body(LEAST + round * 999, first);
                assert_eq!(in_pages(&whole), whole);
            }
        };
        std::thread::scope(|scope| (0..8).for_each(|first| drop(scope.spawn(move || work(first)))));
    }
}

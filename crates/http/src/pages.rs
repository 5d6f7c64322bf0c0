//! Bytes in pages that the kernel sends from where they are.
//!
//! To copy a body of 64 KB into a socket takes as much processor time as all else that its response takes. Pages of a file need not be
//! copied: `sendfile` puts them into the socket. So bodies that are kept can be moved into a file that is in memory alone
//! (`memfd_create`) and that this process maps: whoever reads such bytes finds them like any others, and a connection in clear
//! text asks [`place_of`] where they are in the file.
//!
//! A place in the file is written once, before anybody sees it. When its bytes are dropped, its pages are taken out of the file: a
//! socket that has yet to send them holds on to them, and whoever gets the same place next gets other pages.

use std::{
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    sync::{Mutex, OnceLock, PoisonError},
};

use bytes::Bytes;

use crate::sys::{Mapping, memory_file, punch_hole, write_at};

/// Moves a body, given in pieces, into pages. `None` if it is shorter than [`LEAST`] or longer than [`MOST`], or the system has none:
/// then the pieces are as good.
pub fn moved<'p>(pieces: impl Iterator<Item = &'p Bytes> + Clone) -> Option<Bytes> {
    let length = pieces.clone().map(Bytes::len).sum();
    let pages = PAGES.get_or_init(Pages::new).as_ref().filter(|_| (LEAST..=MOST).contains(&length))?;
    let class = class(length);
    let place = pages.take(class)?;
    let extent = Extent { pages, class, place, length };
    let mut end = place;
    for piece in pieces {
        // What was written until then is given back with the extent.
        write_at(&pages.file, piece, end).ok()?;
        end += piece.len() as u64;
    }
    Some(Bytes::from_owner(extent))
}

/// The file in which bytes are, and where in it; `None` if they are elsewhere.
pub(crate) fn place_of(bytes: &[u8]) -> Option<(BorrowedFd<'static>, u64)> {
    let pages = PAGES.get()?.as_ref()?;
    Some((pages.file.as_fd(), pages.mapping.offset_of(bytes)?))
}

/// The one file of this process, if it could be made.
static PAGES: OnceLock<Option<Pages>> = OnceLock::new();

struct Pages {
    file: OwnedFd,
    mapping: Mapping,
    room: Mutex<Room>,
}

/// Places that nobody has.
#[derive(Default)]
struct Room {
    /// Those that were given back, by class.
    free: [Vec<u64>; CLASSES],
    /// From here on the file was never used.
    end: u64,
}

/// A place in the file with bytes in it.
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

    /// A place for bytes of a class.
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

    /// Gives a place back. One whose pages cannot be taken out is never used again, as a socket may still send them.
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

/// The smallest class that has room for so many bytes. There are four to each power of two, so that a fifth of a place is empty at
/// the most; what is empty has no pages.
fn class(length: usize) -> usize {
    (0..CLASSES).find(|&class| size(class) >= length).unwrap_or(CLASSES - 1)
}

/// Bytes of a place of this class: a whole number of pages, of whichever size a kernel has.
const fn size(class: usize) -> usize {
    (LEAST + (class % 4) * LEAST / 4) << (class / 4)
}

/// Shorter bodies are copied. Pages are whole, so that at least eight ninths of those of a body so long have something in them; from which
/// length on they also cost less time was not measured.
pub const LEAST: usize = 32 << 10;
/// Longer bodies stay in pieces.
pub const MOST: usize = 1 << 20;
const CLASSES: usize = 4 * (MOST / LEAST).ilog2() as usize + 1;
/// Of addresses, not of memory: more than any machine's bodies have, with what is empty between them; and a small part of what a
/// process can address.
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
        // Of all places of its class one is the same; each is written with something else.
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

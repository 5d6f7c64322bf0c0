//! Tests of concurrent readers of one body.

use http::{Body, Stage};

use super::*;

fn data(reader: Reader) -> impl Future<Output = Result<Bytes, Failure>> {
    Body::stream(reader).collect(1 << 20)
}

#[tokio::test]
async fn readers_see_all_of_it_whenever_they_come() {
    let fill = Arc::new(Fill::default());
    let early = fill.read();
    fill.push(Bytes::from_static(b"abc"));
    let between = fill.read();
    fill.push(Bytes::from_static(b"def"));
    let early = tokio::spawn(data(early));
    tokio::task::yield_now().await;
    fill.finish(Ok(()));
    for reader in [early.await.unwrap(), data(between).await, data(fill.read()).await] {
        assert_eq!(reader.unwrap(), "abcdef");
    }
    assert_eq!(fill.length(), Some(6));
}

#[tokio::test]
async fn a_part_is_what_it_says_across_pieces() {
    let fill = Arc::new(Fill::default());
    for piece in ["abc", "def", "ghi"] {
        fill.push(Bytes::from_static(piece.as_bytes()));
    }
    for (skip, length, expected) in [(0, 1, "a"), (2, 2, "cd"), (3, 3, "def"), (2, 6, "cdefgh"), (8, 1, "i")]
    {
        assert_eq!(data(fill.read_part(skip, Some(length))).await.unwrap(), expected);
    }
}

#[tokio::test]
async fn who_waits_for_a_body_that_breaks_off_is_told() {
    let fill = Arc::new(Fill::default());
    fill.push(Bytes::from_static(b"abc"));
    let reader = tokio::spawn(data(fill.read()));
    tokio::task::yield_now().await;
    fill.finish(Err(Failure::Closed(Stage::Body)));
    assert_eq!(reader.await.unwrap(), Err(Failure::Closed(Stage::Body)));
    assert!(fill.is_broken() && fill.length().is_none());
}

#[tokio::test]
async fn what_is_passed_on_is_dropped_once_all_have_seen_it() {
    let fill = Arc::new(Fill::default());
    let (mut quick, slow) = (Body::stream(fill.read()), fill.read());
    fill.pass_on();
    let large = Bytes::from(vec![0; within(WINDOW) + 1]);
    fill.push(large);
    quick.data().await.unwrap();
    let source = tokio::spawn({
        let fill = Arc::clone(&fill);
        async move { fill.room().await }
    });
    tokio::task::yield_now().await;
    assert!(!source.is_finished());
    drop(slow);
    assert_eq!(source.await.unwrap(), Ok(()));
    assert_eq!(fill.lock().held(), 0);
    drop(quick);
    assert_eq!(fill.room().await, Err(Unwanted));
}

/// A body that is written to the disk, with its first `bytes` bytes written.
fn on_its_way(store: &disk::Store, bytes: u64) -> (Arc<Fill>, disk::Writer) {
    let fill = Arc::new(Fill::default());
    fill.go_to_disk();
    let mut writer = store.begin(b"key", b"").unwrap();
    fill.is_read_from(&writer.written());
    fill.push(Bytes::from(vec![7; within(bytes)]));
    writer.write(&fill.piece_at(0).unwrap()).unwrap();
    fill.was_written();
    (fill, writer)
}

fn store(folder: &tempfile::TempDir) -> disk::Store {
    disk::Store::open(disk::Config::new(folder.path(), 64 << 20)).unwrap().0
}

#[tokio::test]
async fn what_goes_to_disk_waits_for_the_disk_and_for_no_reader() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let (fill, mut writer) = on_its_way(&store, AHEAD);
    let slow = fill.read();
    fill.push(Bytes::from(vec![8; within(AHEAD)]));
    let source = tokio::spawn({
        let fill = Arc::clone(&fill);
        async move { fill.room().await }
    });
    tokio::task::yield_now().await;
    // The disk buffers its last block until more bytes arrive.
    assert!(!source.is_finished());
    writer.write(&fill.piece_at(AHEAD).unwrap()).unwrap();
    fill.was_written();
    assert_eq!(source.await.unwrap(), Ok(()));
    fill.finish(Ok(()));
    let written = writer.written();
    writer.finish().unwrap();
    fill.is_on_disk(written.kept());
    assert_eq!(fill.lock().held(), 0);
    assert_eq!(fill.kept().await, Keeping::Disk);
    let whole = Body::stream(slow).collect(1 << 24).await.unwrap();
    assert!(whole.len() as u64 == 2 * AHEAD && whole[within(AHEAD) - 1] == 7 && whole[within(AHEAD)] == 8);
}

#[tokio::test]
async fn what_the_disk_leaves_is_read_from_there_as_far_as_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let (fill, writer) = on_its_way(&store, AHEAD);
    let slow = fill.read();
    drop(writer);
    fill.leave_disk();
    // The first piece was not dropped, because the body is not completely on disk.
    assert_eq!(fill.keeping(), Keeping::Memory);
    let (fill, mut writer) = on_its_way(&store, AHEAD);
    let behind = fill.read();
    fill.push(Bytes::from(vec![8; within(AHEAD)]));
    writer.write(&fill.piece_at(AHEAD).unwrap()).unwrap();
    fill.was_written();
    drop(writer);
    fill.leave_disk();
    assert_eq!(fill.keeping(), Keeping::Nowhere);
    fill.finish(Ok(()));
    assert_eq!(Body::stream(behind).collect(1 << 24).await.unwrap().len() as u64, 2 * AHEAD);
    fill.leave_disk();
    drop(slow);
}

#[tokio::test]
async fn a_later_part_does_not_wait_until_all_before_it_is_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let mut writer = store.begin(b"key", b"").unwrap();
    let blocks: Vec<u8> = (0..10).flat_map(|number| vec![number; disk::format::BLOCK]).collect();
    writer.write(&blocks).unwrap();
    let written = writer.written();
    writer.finish().unwrap();
    let fill = Arc::new(Fill::loading(written.kept()));
    let last = 9 * disk::format::BLOCK as u64;
    assert_eq!(data(fill.read_part(last, Some(3))).await.unwrap(), &[9; 3][..]);
    let next = tokio::spawn(data(fill.read_part(0, Some(3))));
    tokio::task::yield_now().await;
    assert!(!next.is_finished());
    fill.push(Bytes::from(blocks));
    fill.finish(Ok(()));
    assert_eq!(next.await.unwrap().unwrap(), &[0; 3][..]);
}

#[tokio::test]
async fn who_comes_too_late_for_what_is_passed_on_is_told() {
    let fill = Arc::new(Fill::default());
    let early = fill.read();
    fill.pass_on();
    fill.push(Bytes::from_static(b"abc"));
    assert_eq!(Body::stream(early).data().await.unwrap().unwrap(), "abc");
    fill.finish(Ok(()));
    assert_eq!(data(fill.read()).await, Err(Failure::Source));
}

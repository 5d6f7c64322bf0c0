//! Tests of concurrent readers of one body.

use http_stack::{Body, Stage};

use super::*;

fn data(reader: BodyReader) -> impl Future<Output = Result<Bytes, Failure>> {
    Body::stream(reader).collect(1 << 20)
}

#[tokio::test]
async fn readers_get_the_whole_body_whenever_they_start() {
    let fill = Arc::new(SharedBody::default());
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
async fn range_read_spans_pieces() {
    let fill = Arc::new(SharedBody::default());
    for piece in ["abc", "def", "ghi"] {
        fill.push(Bytes::from_static(piece.as_bytes()));
    }
    for (skip, length, expected) in [(0, 1, "a"), (2, 2, "cd"), (3, 3, "def"), (2, 6, "cdefgh"), (8, 1, "i")]
    {
        assert_eq!(data(fill.read_part(skip, Some(length))).await.unwrap(), expected);
    }
}

#[tokio::test]
async fn waiting_reader_sees_an_aborted_body() {
    let fill = Arc::new(SharedBody::default());
    fill.push(Bytes::from_static(b"abc"));
    let reader = tokio::spawn(data(fill.read()));
    tokio::task::yield_now().await;
    fill.finish(Err(Failure::Closed(Stage::Body)));
    assert_eq!(reader.await.unwrap(), Err(Failure::Closed(Stage::Body)));
    assert!(fill.is_broken() && fill.length().is_none());
}

#[tokio::test]
async fn pass_through_drops_pieces_all_readers_have_read() {
    let fill = Arc::new(SharedBody::default());
    let (mut quick, slow) = (Body::stream(fill.read()), fill.read());
    fill.stop_retaining();
    let large = Bytes::from(vec![0; within(MAX_READER_LAG) + 1]);
    fill.push(large);
    quick.data().await.unwrap();
    let source = tokio::spawn({
        let fill = Arc::clone(&fill);
        async move { fill.wait_for_room().await }
    });
    tokio::task::yield_now().await;
    assert!(!source.is_finished());
    drop(slow);
    assert_eq!(source.await.unwrap(), Ok(()));
    assert_eq!(fill.lock().held_bytes(), 0);
    drop(quick);
    assert_eq!(fill.wait_for_room().await, Err(NoReaders));
}

fn on_its_way(store: &segment_store::Store, bytes: u64) -> (Arc<SharedBody>, segment_store::Writer) {
    let fill = Arc::new(SharedBody::default());
    fill.start_writing_to_disk();
    let mut writer = store.begin(b"key", b"").unwrap();
    fill.set_disk_reader(&writer.written());
    fill.push(Bytes::from(vec![7; within(bytes)]));
    writer.write(&fill.piece_at(0).unwrap()).unwrap();
    fill.mark_written();
    (fill, writer)
}

fn store(folder: &tempfile::TempDir) -> segment_store::Store {
    segment_store::Store::open(segment_store::Config::new(folder.path(), 64 << 20)).unwrap().0
}

#[tokio::test]
async fn disk_bound_body_waits_for_the_disk_only() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let (fill, mut writer) = on_its_way(&store, MAX_DISK_LAG);
    let slow = fill.read();
    fill.push(Bytes::from(vec![8; within(MAX_DISK_LAG)]));
    let source = tokio::spawn({
        let fill = Arc::clone(&fill);
        async move { fill.wait_for_room().await }
    });
    tokio::task::yield_now().await;
    // The disk buffers its last block until more bytes arrive.
    assert!(!source.is_finished());
    writer.write(&fill.piece_at(MAX_DISK_LAG).unwrap()).unwrap();
    fill.mark_written();
    assert_eq!(source.await.unwrap(), Ok(()));
    fill.finish(Ok(()));
    let written = writer.written();
    writer.finish().unwrap();
    fill.is_on_disk(written.kept());
    assert_eq!(fill.lock().held_bytes(), 0);
    assert_eq!(fill.final_retention().await, Retention::Disk);
    let whole = Body::stream(slow).collect(1 << 24).await.unwrap();
    assert!(
        whole.len() as u64 == 2 * MAX_DISK_LAG
            && whole[within(MAX_DISK_LAG) - 1] == 7
            && whole[within(MAX_DISK_LAG)] == 8
    );
}

#[tokio::test]
async fn abandoned_disk_write_is_read_as_far_as_written() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let (fill, writer) = on_its_way(&store, MAX_DISK_LAG);
    let slow = fill.read();
    drop(writer);
    fill.abandon_disk();
    assert_eq!(fill.retention(), Retention::Memory);
    let (fill, mut writer) = on_its_way(&store, MAX_DISK_LAG);
    let behind = fill.read();
    fill.push(Bytes::from(vec![8; within(MAX_DISK_LAG)]));
    writer.write(&fill.piece_at(MAX_DISK_LAG).unwrap()).unwrap();
    fill.mark_written();
    drop(writer);
    fill.abandon_disk();
    assert_eq!(fill.retention(), Retention::PassThrough);
    fill.finish(Ok(()));
    assert_eq!(Body::stream(behind).collect(1 << 24).await.unwrap().len() as u64, 2 * MAX_DISK_LAG);
    fill.abandon_disk();
    drop(slow);
}

#[tokio::test]
async fn late_range_does_not_wait_for_earlier_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let store = store(&folder);
    let mut writer = store.begin(b"key", b"").unwrap();
    let blocks: Vec<u8> = (0..10).flat_map(|number| vec![number; segment_store::format::BLOCK]).collect();
    writer.write(&blocks).unwrap();
    let written = writer.written();
    writer.finish().unwrap();
    let fill = Arc::new(SharedBody::loading_from_disk(written.kept()));
    let last = 9 * segment_store::format::BLOCK as u64;
    assert_eq!(data(fill.read_part(last, Some(3))).await.unwrap(), &[9; 3][..]);
    let next = tokio::spawn(data(fill.read_part(0, Some(3))));
    tokio::task::yield_now().await;
    assert!(!next.is_finished());
    fill.push(Bytes::from(blocks));
    fill.finish(Ok(()));
    assert_eq!(next.await.unwrap().unwrap(), &[0; 3][..]);
}

#[tokio::test]
async fn late_reader_of_a_pass_through_body_fails() {
    let fill = Arc::new(SharedBody::default());
    let early = fill.read();
    fill.stop_retaining();
    fill.push(Bytes::from_static(b"abc"));
    assert_eq!(Body::stream(early).data().await.unwrap().unwrap(), "abc");
    fill.finish(Ok(()));
    assert_eq!(data(fill.read()).await, Err(Failure::Source));
}

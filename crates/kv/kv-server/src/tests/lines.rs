//! Tests of a store in NATS whose connections are cut silently.

use std::{
    future::pending,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, copy},
    net::TcpListener,
    sync::watch,
    time::sleep,
};

use super::{nats::Nats, *};

struct Between {
    port: u16,
    connections: Arc<Mutex<Vec<Connection>>>,
}

struct Connection {
    cut: watch::Sender<bool>,
    received: Arc<AtomicUsize>,
}

impl Between {
    async fn before(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&connections);
        tokio::spawn(async move {
            loop {
                let (near, _) = listener.accept().await.unwrap();
                // The server may not be running yet.
                let Ok(far) = TcpStream::connect(("127.0.0.1", server)).await else { continue };
                let (cut, is_cut) = watch::channel(false);
                let received = Arc::default();
                tokio::spawn(relay(near, far, is_cut, Arc::clone(&received)));
                all.lock().unwrap_or_else(PoisonError::into_inner).push(Connection { cut, received });
            }
        });
        Self { port, connections }
    }

    async fn had(&self, many: usize) {
        while self.connections.lock().unwrap_or_else(PoisonError::into_inner).len() < many {
            sleep(Duration::from_millis(10)).await;
        }
    }

    /// Drops all data from now on, without closing the connection.
    fn cut(&self, number: usize) {
        let _ = self.connections.lock().unwrap_or_else(PoisonError::into_inner)[number].cut.send(true);
    }

    fn received(&self, number: usize) -> usize {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)[number].received.load(SeqCst)
    }

    fn open(&self) -> usize {
        let connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        connections.iter().filter(|connection| !connection.cut.is_closed()).count()
    }
}

async fn relay(
    mut near: TcpStream,
    mut far: TcpStream,
    mut is_cut: watch::Receiver<bool>,
    received: Arc<AtomicUsize>,
) {
    let ((mut from_near, mut to_near), (mut from_far, mut to_far)) = (near.split(), far.split());
    let down = async {
        let mut piece = [0; 8192];
        while let Ok(length @ 1..) = from_far.read(&mut piece).await {
            received.fetch_add(length, SeqCst);
            if to_near.write_all(&piece[..length]).await.is_err() {
                break;
            }
        }
    };
    let is_over = tokio::select! {
        _ = copy(&mut from_near, &mut to_far) => true,
        () = down => true,
        _ = is_cut.changed() => false,
    };
    if !is_over {
        pending::<()>().await;
    }
}

fn put(key: &str) -> Vec<kv_nats::Put> {
    let (key, value) = (key.to_owned(), key.to_owned().into());
    vec![kv_nats::Put { key, value, expiration: None, metadata: None, version: None }]
}

#[tokio::test]
async fn a_connection_that_does_not_answer_is_given_up_for_another_one() {
    let nats = Nats::start();
    let between = Between::before(nats.port).await;
    let address = format!("nats://127.0.0.1:{}", between.port).parse().unwrap();
    let name = StoreName::new("lhr").unwrap();
    let open =
        move || kv_nats::Bucket::open(address, name, Pairing::Alone, None, crate::service::now).unwrap();
    let bucket = spawn_blocking(open).await.unwrap();
    while bucket.trouble().is_some() {
        sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(between.open(), 1);
    let first = bucket.put("ns", put("a")).await.unwrap().remove(0);
    between.had(2).await;
    // The second connection is in use once a response did not arrive on the first one.
    loop {
        let before = between.received(0);
        bucket.look("ns", "a").await.unwrap();
        if between.received(0) == before {
            break;
        }
    }
    between.cut(1);
    let why = loop {
        match bucket.look("ns", "a").await {
            Ok(found) => assert_eq!(found.unwrap().record.version, first),
            Err(why) => break why,
        }
    };
    assert!(matches!(why, kv_nats::Error::NotAnswered(_)), "{why:?}");
    let second = bucket.put("ns", put("a")).await.unwrap().remove(0);
    assert_eq!(bucket.look("ns", "a").await.unwrap().unwrap().record.version, second);
    between.had(3).await;
    let mut known = second;
    for _ in 0..100 {
        let version = bucket.put("ns", put("a")).await.unwrap().remove(0);
        assert!(version > known);
        known = version;
        assert_eq!(bucket.look("ns", "a").await.unwrap().unwrap().record.version, known);
    }
    bucket.close();
    while between.open() > 1 {
        sleep(Duration::from_millis(10)).await;
    }
    assert!(matches!(bucket.look("ns", "a").await, Err(kv_nats::Error::NotReady(_))));
}

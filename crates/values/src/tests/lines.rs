//! Tests of a store in NATS whose connections are cut silently.

use std::{
    future::pending,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::{io::copy_bidirectional, net::TcpListener, sync::watch, time::sleep};

use super::{nats::Nats, *};

/// A relay between a store and its server.
struct Between {
    port: u16,
    /// One per connection, in order.
    cuts: Arc<Mutex<Vec<watch::Sender<bool>>>>,
}

impl Between {
    async fn before(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let cuts = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&cuts);
        tokio::spawn(async move {
            loop {
                let (near, _) = listener.accept().await.unwrap();
                // The server may not be running yet.
                let Ok(far) = TcpStream::connect(("127.0.0.1", server)).await else { continue };
                let (cut, is_cut) = watch::channel(false);
                tokio::spawn(relay(near, far, is_cut));
                all.lock().unwrap_or_else(PoisonError::into_inner).push(cut);
            }
        });
        Self { port, cuts }
    }

    /// Waits until this number of connections was made.
    async fn had(&self, many: usize) {
        while self.cuts.lock().unwrap_or_else(PoisonError::into_inner).len() < many {
            sleep(Duration::from_millis(10)).await;
        }
    }

    /// Drops all data on this connection from now on, without closing it.
    fn cut(&self, number: usize) {
        let _ = self.cuts.lock().unwrap_or_else(PoisonError::into_inner)[number].send(true);
    }

    /// Number of open connections.
    fn open(&self) -> usize {
        let cuts = self.cuts.lock().unwrap_or_else(PoisonError::into_inner);
        cuts.iter().filter(|cut| !cut.is_closed()).count()
    }
}

async fn relay(mut near: TcpStream, mut far: TcpStream, mut is_cut: watch::Receiver<bool>) {
    let is_over = tokio::select! {
        _ = copy_bidirectional(&mut near, &mut far) => true,
        _ = is_cut.changed() => false,
    };
    if !is_over {
        pending::<()>().await;
    }
}

fn put(key: &str) -> Vec<jetstream::Put> {
    let (key, value) = (key.to_owned(), key.to_owned().into());
    vec![jetstream::Put { key, value, expiration: None, metadata: None, version: None }]
}

/// Both connections reach the same store.
#[tokio::test]
async fn a_connection_that_does_not_answer_is_given_up_for_another_one() {
    let nats = Nats::start();
    let between = Between::before(nats.port).await;
    let address = format!("nats://127.0.0.1:{}", between.port).parse().unwrap();
    let name = StoreName::new("lhr").unwrap();
    let open =
        move || jetstream::Bucket::open(address, name, Company::Alone, None, crate::service::now).unwrap();
    let bucket = spawn_blocking(open).await.unwrap();
    while bucket.trouble().is_some() {
        sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(between.open(), 1);
    // Requests before the runtime has its own connection use the first one.
    let first = bucket.put("ns", put("a")).await.unwrap().remove(0);
    between.had(2).await;
    between.cut(1);
    let why = loop {
        match bucket.look("ns", "a").await {
            Ok(found) => assert_eq!(found.unwrap().record.version, first),
            Err(why) => break why,
        }
    };
    assert!(matches!(why, jetstream::Error::NotAnswered(_)), "{why:?}");
    let second = bucket.put("ns", put("a")).await.unwrap().remove(0);
    assert_eq!(bucket.look("ns", "a").await.unwrap().unwrap().record.version, second);
    // A new connection is made and used.
    between.had(3).await;
    let mut known = second;
    for _ in 0..100 {
        let version = bucket.put("ns", put("a")).await.unwrap().remove(0);
        assert!(version > known);
        known = version;
        assert_eq!(bucket.look("ns", "a").await.unwrap().unwrap().record.version, known);
    }
    bucket.close();
    // Except the connection that was cut silently.
    while between.open() > 1 {
        sleep(Duration::from_millis(10)).await;
    }
    assert!(matches!(bucket.look("ns", "a").await, Err(jetstream::Error::NotReady(_))));
}

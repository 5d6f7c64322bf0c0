//! A store in NATS whose connections end, one of them or all, without anybody's being told.

use std::{
    future::pending,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::{io::copy_bidirectional, net::TcpListener, sync::watch, time::sleep};

use super::{nats::Nats, *};

/// Stands between a store and its server.
struct Between {
    port: u16,
    /// Of each connection that there was, in their order.
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
                // The server may not be there yet.
                let Ok(far) = TcpStream::connect(("127.0.0.1", server)).await else { continue };
                let (cut, is_cut) = watch::channel(false);
                tokio::spawn(relay(near, far, is_cut));
                all.lock().unwrap_or_else(PoisonError::into_inner).push(cut);
            }
        });
        Self { port, cuts }
    }

    /// Until there were so many connections.
    async fn had(&self, many: usize) {
        while self.cuts.lock().unwrap_or_else(PoisonError::into_inner).len() < many {
            sleep(Duration::from_millis(10)).await;
        }
    }

    /// From now on nothing arrives of what is sent over this one, and neither end is told.
    fn cut(&self, number: usize) {
        let _ = self.cuts.lock().unwrap_or_else(PoisonError::into_inner)[number].send(true);
    }

    /// How many connections have not ended.
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

/// What goes on over either connection is the same store.
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
    // What is asked before this runtime has a connection goes over the first one.
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
    // Another one is made, and is good for as much.
    between.had(3).await;
    let mut known = second;
    for _ in 0..100 {
        let version = bucket.put("ns", put("a")).await.unwrap().remove(0);
        assert!(version > known);
        known = version;
        assert_eq!(bucket.look("ns", "a").await.unwrap().unwrap().record.version, known);
    }
    bucket.close();
    // All but the one that was cut, of which neither end knows.
    while between.open() > 1 {
        sleep(Duration::from_millis(10)).await;
    }
    assert!(matches!(bucket.look("ns", "a").await, Err(jetstream::Error::NotReady(_))));
}

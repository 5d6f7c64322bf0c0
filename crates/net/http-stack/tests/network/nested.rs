//! HTTP/1.1 on streams of a connection between members.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use http_stack::{
    Body, Client, Failure, Origin, PeerIdentity, Request, Response, Server, ShutdownSignal,
    client::{Config, Known, Limits, Protocol, Windows},
    server::{self, End, Handler},
};
use tokio::{sync::Semaphore, task::JoinHandle};

use crate::{
    members::Circle,
    support::{Security, client, get, request, serve as serve_tls},
};

struct Pair {
    outer: Client,
    nested: Client,
    origin: Origin,
    stop: ShutdownSignal,
    ended: JoinHandle<End>,
}

impl Pair {
    async fn new(streams: usize, config: server::Config, handler: impl Handler) -> Self {
        let circle = Circle::new();
        let server = Server::listen(&["127.0.0.1:0".parse().unwrap()]).unwrap();
        let server = server.with_members(&circle.member("fra")).with_config(config);
        let (address, stop) = (server.addresses().unwrap()[0], ShutdownSignal::new());
        let asked = stop.clone();
        let ended = tokio::spawn(async move { server.serve(handler, &asked).await });
        let known = vec![Known { host: "fra".to_owned(), port: address.port(), address: address.ip() }];
        let windows = Windows { stream: WINDOW, connection: 16 * WINDOW };
        let member = Some(circle.member("lhr"));
        let config = Config { known, member, windows, protocol: Protocol::Http2, ..Config::default() };
        let outer = Client::new(&config).unwrap();
        let origin = format!("https://fra:{}", address.port()).parse().unwrap();
        outer.open(&origin).await.unwrap();
        while !outer.is_nesting(&origin) {
            tokio::task::yield_now().await;
        }
        Self { nested: outer.nested(streams), outer, origin, stop, ended }
    }

    async fn get(&self) -> Result<Response<Body>, Failure> {
        get(&self.nested, &self.origin).await.1
    }

    async fn text(&self) -> String {
        let body = self.get().await.unwrap().into_body().collect(1000).await.unwrap();
        String::from_utf8(body.to_vec()).unwrap()
    }

    fn open(&self) -> (usize, usize) {
        (self.nested.connections(&self.origin), self.outer.connections(&self.origin))
    }
}

const WINDOW: u32 = 64 << 10;

#[tokio::test]
async fn requests_follow_one_another_on_a_stream_and_the_member_is_known() {
    let pair = Pair::new(8, server::Config::default(), async |request: Request<Body>| {
        let caller: &PeerIdentity = request.extensions().get().unwrap();
        Ok(Response::new(Body::whole(format!("{:?} {:?}", request.version(), caller.names().next()))))
    })
    .await;
    for _ in 0..5 {
        assert_eq!(pair.text().await, "HTTP/1.1 Some(\"lhr\")");
        assert_eq!(pair.open(), (1, 1));
    }
}

#[tokio::test]
async fn no_more_of_them_are_under_way_than_there_may_be_streams() {
    let (under_way, most) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
    let go_on = Arc::new(Semaphore::new(0));
    let handler = {
        let (under_way, most, go_on) = (Arc::clone(&under_way), Arc::clone(&most), Arc::clone(&go_on));
        move |_: Request<Body>| {
            let (under_way, most, go_on) = (Arc::clone(&under_way), Arc::clone(&most), Arc::clone(&go_on));
            async move {
                most.fetch_max(under_way.fetch_add(1, SeqCst) + 1, SeqCst);
                go_on.acquire().await.unwrap().forget();
                under_way.fetch_sub(1, SeqCst);
                Ok(Response::new(Body::whole("it")))
            }
        }
    };
    let pair = Arc::new(Pair::new(2, server::Config::default(), handler).await);
    let asking: Vec<_> = (0..5)
        .map(|_| Arc::clone(&pair))
        .map(|pair| tokio::spawn(async move { pair.text().await }))
        .collect();
    while under_way.load(SeqCst) < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(pair.open(), (2, 1));
    go_on.add_permits(5);
    for asked in asking {
        assert_eq!(asked.await.unwrap(), "it");
    }
    assert_eq!((most.load(SeqCst), pair.open()), (2, (2, 1)));
}

#[tokio::test]
async fn a_body_that_nobody_reads_for_long_holds_up_no_other_and_comes_whole() {
    let long = vec![b'x'; 20 * WINDOW as usize];
    let sent = long.clone();
    let handler = move |_: Request<Body>| std::future::ready(Ok(Response::new(Body::whole(sent.clone()))));
    let config = server::Config { read_timeout: PATIENCE, ..server::Config::default() };
    let pair = Pair::new(2, config, handler).await;
    let unread = pair.get().await.unwrap();
    let read = pair.get().await.unwrap().into_body().collect(long.len()).await.unwrap();
    assert!(read == long);
    tokio::time::sleep(2 * PATIENCE).await;
    assert!(unread.into_body().collect(long.len()).await.unwrap() == long);
}

const PATIENCE: Duration = Duration::from_secs(1);

#[tokio::test]
async fn a_request_that_is_given_up_ends_there_and_others_go_on() {
    let (begun, ended) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
    struct Ended(Arc<AtomicUsize>);
    impl Drop for Ended {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    let handler = {
        let (begun, ended) = (Arc::clone(&begun), Arc::clone(&ended));
        move |_: Request<Body>| {
            let (number, ended) = (begun.fetch_add(1, SeqCst), Ended(Arc::clone(&ended)));
            async move {
                let _ended = ended;
                if number == 0 {
                    std::future::pending::<()>().await;
                }
                Ok(Response::new(Body::whole("it")))
            }
        }
    };
    let pair = Arc::new(Pair::new(8, server::Config::default(), handler).await);
    let given_up = {
        let pair = Arc::clone(&pair);
        tokio::spawn(async move { pair.get().await })
    };
    while begun.load(SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(ended.load(SeqCst), 0);
    given_up.abort();
    while ended.load(SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!((pair.text().await, pair.open()), ("it".to_owned(), (1, 1)));
}

#[tokio::test]
async fn without_a_connection_requests_are_made_on_a_new_one_and_then_on_its_streams() {
    let pair = Pair::new(8, server::Config::default(), async |request: Request<Body>| {
        Ok(Response::new(Body::whole(format!("{:?}", request.version()))))
    })
    .await;
    assert_eq!(pair.text().await, "HTTP/1.1");
    pair.outer.leave(&pair.origin);
    pair.nested.leave(&pair.origin);
    assert_eq!((pair.text().await, pair.nested.connections(&pair.origin)), ("HTTP/2.0".to_owned(), 0));
    while !pair.outer.is_nesting(&pair.origin) {
        tokio::task::yield_now().await;
    }
    assert_eq!((pair.text().await, pair.nested.connections(&pair.origin)), ("HTTP/1.1".to_owned(), 1));
}

#[tokio::test]
async fn a_server_that_is_stopped_ends_idle_streams_and_finishes_the_others() {
    let go_on = Arc::new(Semaphore::new(1));
    let handler = {
        let go_on = Arc::clone(&go_on);
        move |_: Request<Body>| {
            let go_on = Arc::clone(&go_on);
            async move {
                go_on.acquire().await.unwrap().forget();
                Ok(Response::new(Body::whole("it")))
            }
        }
    };
    let pair = Arc::new(Pair::new(8, server::Config::default(), handler).await);
    assert_eq!(pair.text().await, "it");
    let under_way = {
        let pair = Arc::clone(&pair);
        tokio::spawn(async move { pair.text().await })
    };
    tokio::time::sleep(Duration::from_millis(50)).await;
    pair.stop.request();
    tokio::time::sleep(Duration::from_millis(50)).await;
    go_on.add_permits(1);
    assert_eq!(under_way.await.unwrap(), "it");
    let Ok(pair) = Arc::try_unwrap(pair) else { panic!("nobody else has it") };
    assert_eq!(pair.ended.await.unwrap(), End::Complete);
}

#[tokio::test]
async fn a_stranger_has_no_such_streams() {
    let serving = serve_tls(Security::Tls, server::Config::default(), async |_: Request<Body>| {
        Ok(Response::new(Body::empty()))
    });
    let stranger = client(Protocol::Http2, Limits::default());
    for _ in 0..2 {
        let mut trace = http_stack::client::Trace::start(stranger.clock().now());
        let response = stranger.send(&serving.origin, request("GET", Body::empty()), &mut trace).await;
        assert_eq!(response.unwrap().status(), 200);
    }
    assert!(stranger.is_open(&serving.origin) && !stranger.is_nesting(&serving.origin));
}

//! Tests of the handover of a store to another process and back, and of expiration.

use super::*;

#[tokio::test]
async fn what_is_left_is_neither_read_nor_written_and_can_be_taken_back() {
    let store = Store::open().await;
    store.own("PUT /k", "", b"1").await;
    store.own("GET /k", "", b"").await;
    store.leave().await;
    for line in ["GET /k", "PUT /k", "DELETE /k", "GET /"] {
        let came = store.own(line, "", if line == "PUT /k" { b"2" } else { b"" }).await;
        assert_eq!(came.status, 503, "{line}");
    }
    assert_eq!(store.service.report().error.as_deref(), Some("the store is closed"));
    let config = Config {
        place: Some(Place::File(store.folder.path().join("kv.redb"))),
        name: StoreName::new("fra").unwrap(),
        memory: 1 << 20,
        disk: None,
        streams: None,
        company: Pairing::Alone,
        largest: 100,
    };
    spawn_blocking(move || {
        let other = Service::open(config, access()).unwrap();
        assert_eq!(other.report().keys, Some(1));
        other.release();
    })
    .await
    .unwrap();
    let service = Arc::clone(&store.service);
    spawn_blocking(move || service.resume()).await.unwrap();
    let got = store.own("GET /k", "", b"").await;
    assert_eq!((got.text(), got.field("kv-source")), ("1", Some("store")));
    assert_eq!(store.service.report().error, None);
}

#[tokio::test]
async fn who_still_asks_the_old_process_is_answered_by_the_new_one() {
    let old = Store::open().await;
    old.own("PUT /k", "", b"1").await;
    let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    socket.set_nonblocking(true).unwrap();
    let address = socket.local_addr().unwrap();
    let serve = |service: &Arc<Service>, stop: &ShutdownSignal| {
        let server = Server::on(vec![socket.try_clone().unwrap()]).unwrap();
        let (door, stop) = (KvHandler::of(service).on(http_stack::Scheme::Http, Some(address)), stop.clone());
        tokio::spawn(async move { server.serve(door, &stop).await })
    };
    serve(&old.service, &old.stop);
    let mut kept = TcpStream::connect(address).await.unwrap();
    kept.write_all(b"GET /none HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer s\r\n\r\n").await.unwrap();
    let mut said = vec![0; 1000];
    let length = kept.read(&mut said).await.unwrap();
    assert!(said[..length].starts_with(b"HTTP/1.1 404"));
    old.leave().await;
    kept.write_all(b"PUT /k HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer s\r\nContent-Length: 3\r\n\r\nnew")
        .await
        .unwrap();
    let config = Config {
        place: Some(Place::File(old.folder.path().join("kv.redb"))),
        name: StoreName::new("lhr").unwrap(),
        memory: 1 << 20,
        disk: None,
        streams: None,
        company: Pairing::Alone,
        largest: 100,
    };
    let new = spawn_blocking(move || Arc::new(Service::open(config, access()).unwrap())).await.unwrap();
    let stop = ShutdownSignal::new();
    serve(&new, &stop);
    let length = kept.read(&mut said).await.unwrap();
    assert!(said[..length].starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&said[..length]));
    kept.write_all(b"GET /k HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer s\r\nConnection: close\r\n\r\n")
        .await
        .unwrap();
    let mut rest = Vec::new();
    kept.read_to_end(&mut rest).await.unwrap();
    assert!(rest.ends_with(b"\r\n\r\nnew"), "{}", String::from_utf8_lossy(&rest));
    assert_eq!((new.report().writes, old.service.report().writes), (1, 1));
    stop.request();
    stop.request();
}

#[tokio::test]
async fn requests_that_arrive_while_the_file_is_handed_over_get_no_error() {
    let mut current = Store::open().await;
    let folder = std::mem::replace(&mut current.folder, TempDir::new().unwrap());
    let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    socket.set_nonblocking(true).unwrap();
    let address = socket.local_addr().unwrap();
    let serve = |service: &Arc<Service>| {
        let (server, stop) = (Server::on(vec![socket.try_clone().unwrap()]).unwrap(), ShutdownSignal::new());
        let (door, stop_server) =
            (KvHandler::of(service).on(http_stack::Scheme::Http, Some(address)), stop.clone());
        tokio::spawn(async move { server.serve(door, &stop_server).await });
        stop
    };
    let mut stop = serve(&current.service);
    let (is_over, ended) = tokio::sync::watch::channel(false);
    let write = |client: usize| {
        let ended = ended.clone();
        async move {
            let mut number = 0;
            while !*ended.borrow() {
                let body = number.to_string();
                let request = format!(
                    "PUT /{client} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer s\r\nConnection: close\r\n\
                     Content-Length: {}\r\n\r\n{body}",
                    body.len()
                );
                let mut stream = TcpStream::connect(address).await.unwrap();
                stream.write_all(request.as_bytes()).await.unwrap();
                let mut said = String::new();
                stream.read_to_string(&mut said).await.unwrap();
                assert!(said.starts_with("HTTP/1.1 200"), "write {number} of client {client}: {said}");
                number += 1;
            }
        }
    };
    let clients: Vec<_> = (0..8).map(|client| tokio::spawn(write(client))).collect();
    let mut service = Arc::clone(&current.service);
    for _ in 0..10 {
        let leaving = Arc::clone(&service);
        spawn_blocking(move || leaving.release()).await.unwrap();
        let config = Config {
            place: Some(Place::File(folder.path().join("kv.redb"))),
            name: StoreName::new("lhr").unwrap(),
            memory: 1 << 20,
            disk: None,
            streams: None,
            company: Pairing::Alone,
            largest: 100,
        };
        service = spawn_blocking(move || Arc::new(Service::open(config, access()).unwrap())).await.unwrap();
        let old = std::mem::replace(&mut stop, serve(&service));
        old.request();
        while service.report().writes < 20 && !clients.iter().all(tokio::task::JoinHandle::is_finished) {
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
    }
    is_over.send(true).unwrap();
    for client in clients {
        client.await.unwrap();
    }
    stop.request();
    stop.request();
}

#[tokio::test]
async fn what_the_file_says_is_told_when_it_cannot_be_the_store() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("kv.redb");
    std::fs::write(&path, "not a store, whatever it is".repeat(1000)).unwrap();
    let config = Config {
        place: Some(Place::File(path)),
        name: StoreName::new("lhr").unwrap(),
        memory: 1 << 20,
        disk: None,
        streams: None,
        company: Pairing::Alone,
        largest: 100,
    };
    let error = spawn_blocking(|| Service::open(config, access()).unwrap_err().to_string()).await.unwrap();
    assert!(error.contains("is not a store; move it away"), "{error}");
}

#[tokio::test]
async fn what_is_being_read_when_the_file_is_left_is_read_to_its_end() {
    let store = Store::open().await;
    let value = vec![7; 8 << 20];
    store.own("PUT /k", "", &value).await;
    let mut stream = TcpStream::connect(store.address).await.unwrap();
    let head = b"GET /k HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer s\r\nConnection: close\r\n\r\n";
    stream.write_all(head).await.unwrap();
    let mut first = [0; 100];
    stream.read_exact(&mut first).await.unwrap();
    let service = Arc::clone(&store.service);
    let leaving = spawn_blocking(move || service.release());
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.unwrap();
    assert!(rest.ends_with(&value[100..]));
    leaving.await.unwrap();
}

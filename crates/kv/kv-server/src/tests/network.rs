//! Tests of a network of five data centres with one store: requests, notifications, copies, and
//! failing links.

mod history;
mod namespaces;
mod on_disk;
mod two_in_nats;
mod two_stores;

use std::{
    collections::HashSet,
    sync::{
        Mutex, OnceLock,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use http_stack::{Body, HeaderMap, Method, Request, StatusCode, header, server::Handler};
use kv::{Placement, Tier};
use tier_routing::{Centre, DataCentreId, KeyHash};
use tokio::{sync::Notify, task::JoinHandle};

use super::*;
use crate::{CopyReport, PeerError, PeerLinks, Sending};

/// The store is in the first data centre.
const NAMES: [(&str, &str); 5] = [("lhr", "eu"), ("fra", "eu"), ("nyc", "us"), ("sea", "us"), ("sin", "as")];
const LHR: usize = 0;
const FRA: usize = 1;
const SIN: usize = 4;

struct World {
    services: Vec<Arc<Service>>,
    wires: Arc<Wires>,
    folder: TempDir,
}

struct Wires {
    places: Placement,
    services: OnceLock<Vec<Arc<Service>>>,
    /// Pairs of sender and receiver.
    cut: Mutex<HashSet<(usize, usize)>>,
    /// Data centres detect a cut link before they use it.
    is_known: bool,
    asked: AtomicUsize,
    told: AtomicUsize,
    held: Mutex<Option<Held>>,
    order: Mutex<Vec<usize>>,
    length: Mutex<Option<String>>,
}

/// The data centre, the method, the notification that a response is ready, and the notification to
/// release it.
type Held = (usize, Method, Arc<Notify>, Arc<Notify>);

struct From {
    here: DataCentreId,
    wires: Arc<Wires>,
}

struct Answer {
    status: u16,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Answer {
    fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    fn field(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |field| field.to_str().unwrap())
    }

    fn source(&self) -> &str {
        self.field("kv-source")
    }

    fn age(&self) -> u64 {
        self.field("kv-age").parse().unwrap()
    }
}

impl PeerLinks for From {
    fn next(&self, key: KeyHash, asked_as: Tier) -> Option<(DataCentreId, Tier)> {
        self.wires.places.next(key, (self.here, asked_as), |centre| self.answers(centre))
    }

    fn store(&self) -> Option<DataCentreId> {
        self.wires.places.far_store(self.here, |centre| self.answers(centre))
    }

    fn stores(&self) -> Vec<DataCentreId> {
        self.wires.places.stores().to_vec()
    }

    fn is_up(&self, centre: DataCentreId) -> bool {
        Self::answers(self, centre)
    }

    fn subscribers(&self, key: KeyHash) -> Vec<DataCentreId> {
        self.wires.places.told(key, |centre| self.answers(centre))
    }

    fn local(&self) -> DataCentreId {
        self.here
    }

    fn all(&self) -> Vec<DataCentreId> {
        (0..self.wires.order.lock().unwrap().len()).map(id).collect()
    }

    fn name(&self, centre: DataCentreId) -> String {
        self.wires.number(centre).map_or_else(String::new, |number| NAMES[number].0.to_owned())
    }

    fn send(&self, centre: DataCentreId, request: Request<Body>) -> Sending<'_> {
        Box::pin(async move {
            let number = self.wires.number(centre).expect("a number of the file that is read");
            if self.is_cut(id(number)) {
                return Err(PeerError::NotAsked("the link is cut".to_owned()));
            }
            let method = request.method().clone();
            if method == Method::PUT {
                let length = request.headers().get(header::CONTENT_LENGTH);
                *self.wires.length.lock().unwrap() = length.map(|length| length.to_str().unwrap().to_owned());
            }
            let counted = if request.method() == Method::POST { &self.wires.told } else { &self.wires.asked };
            counted.fetch_add(1, SeqCst);
            let service = Arc::clone(&self.wires.services.get().unwrap()[number]);
            let response = service.answer_other(request).await;
            let held = {
                let mut held = self.wires.held.lock().unwrap();
                held.take_if(|(of, wanted, ..)| *wanted == method && *of == number)
            };
            if let Some((_, _, begun, go_on)) = held {
                begun.notify_one();
                go_on.notified().await;
            }
            Ok(response)
        })
    }
}

impl Wires {
    fn number(&self, centre: DataCentreId) -> Option<usize> {
        self.order.lock().unwrap().get(usize::from(centre.0)).copied()
    }
}

impl From {
    fn is_cut(&self, centre: DataCentreId) -> bool {
        self.wires.cut.lock().unwrap().contains(&(usize::from(self.here.0), usize::from(centre.0)))
    }

    fn answers(&self, centre: DataCentreId) -> bool {
        !self.wires.is_known || !self.is_cut(centre)
    }
}

fn id(number: usize) -> DataCentreId {
    DataCentreId(u16::try_from(number).unwrap())
}

impl World {
    async fn new() -> Self {
        Self::of(true).await
    }

    async fn of(is_known: bool) -> Self {
        Self::with(is_known, &[LHR]).await
    }

    async fn with(is_known: bool, stores: &[usize]) -> Self {
        Self::in_folder(is_known, stores, TempDir::new().unwrap(), false).await
    }

    async fn in_folder(is_known: bool, stores: &[usize], folder: TempDir, have_disks: bool) -> Self {
        let file = |store: usize| Place::File(folder.path().join(format!("{}.redb", NAMES[store].0)));
        let places: Vec<_> = stores.iter().map(|&store| (store, file(store))).collect();
        Self::at(is_known, &places, folder, have_disks).await
    }

    async fn at(is_known: bool, stores: &[(usize, Place)], folder: TempDir, have_disks: bool) -> Self {
        let centre =
            |(name, region): (&str, &str)| Centre { name: name.into(), region: region.into(), weight: 1 };
        let network =
            tier_routing::Network::new(NAMES.into_iter().map(centre).collect(), |_, _| Duration::ZERO);
        let wires = Arc::new(Wires {
            places: Placement::new(network, &stores.iter().map(|(store, _)| id(*store)).collect::<Vec<_>>()),
            services: OnceLock::new(),
            cut: Mutex::default(),
            is_known,
            asked: AtomicUsize::new(0),
            told: AtomicUsize::new(0),
            held: Mutex::default(),
            order: Mutex::new((0..NAMES.len()).collect()),
            length: Mutex::default(),
        });
        let mut services = Vec::new();
        for (number, (name, _)) in NAMES.into_iter().enumerate() {
            let config = Config {
                place: stores.iter().find(|(store, _)| *store == number).map(|(_, place)| place.clone()),
                name: StoreName::new(name).unwrap(),
                memory: 4 << 20,
                disk: have_disks.then(|| {
                    segment_store::Config::new(folder.path().join(format!("values-{name}")), 64 << 20)
                }),
                streams: None,
                company: if stores.len() > 1 { Pairing::Paired } else { Pairing::Alone },
                largest: Config::LARGEST,
            };
            let service = spawn_blocking(move || Service::open(config, access()).unwrap()).await.unwrap();
            let links = From { here: id(number), wires: Arc::clone(&wires) };
            services.push(Arc::new(service.with_replication(Arc::new(links))));
        }
        assert!(wires.services.set(services.clone()).is_ok());
        Self { services, wires, folder }
    }

    async fn ask(&self, centre: usize, method: Method, target: &str, body: impl Into<Vec<u8>>) -> Answer {
        self.ask_as("s", centre, method, target, body).await
    }

    async fn ask_as(
        &self,
        token: &str,
        centre: usize,
        method: Method,
        target: &str,
        body: impl Into<Vec<u8>>,
    ) -> Answer {
        let body: Vec<u8> = body.into();
        let mut request = Request::new(Body::empty());
        *request.method_mut() = method;
        *request.uri_mut() = target.parse().unwrap();
        request.headers_mut().insert(header::AUTHORIZATION, format!("Bearer {token}").parse().unwrap());
        if !body.is_empty() {
            request.headers_mut().insert(header::CONTENT_LENGTH, body.len().into());
            *request.body_mut() = Body::whole(body);
        }
        let response = KvHandler::of(&self.services[centre]).handle(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = body.collect(32 << 20).await.unwrap().to_vec();
        Answer { status: parts.status.as_u16(), headers: parts.headers, body }
    }

    async fn get(&self, centre: usize, key: &str) -> Answer {
        self.ask(centre, Method::GET, &format!("/{key}"), "").await
    }

    fn reading(self: &Arc<Self>, centre: usize, target: String) -> JoinHandle<Answer> {
        let world = Arc::clone(self);
        tokio::spawn(async move { world.ask(centre, Method::GET, &target, "").await })
    }

    async fn put(&self, centre: usize, key: &str, value: &str) -> String {
        let put = self.ask(centre, Method::PUT, &format!("/{key}"), value).await;
        assert_eq!(put.status, 200, "{}", put.text());
        put.field("kv-version").to_owned()
    }

    fn pass(&self, seconds: u64) {
        for service in &self.services {
            service.let_pass_ms.fetch_add(seconds * 1000, SeqCst);
        }
    }

    fn cut(&self, a: usize, b: usize) {
        self.wires.cut.lock().unwrap().extend([(a, b), (b, a)]);
    }

    fn hold(&self, centre: usize, method: Method) -> (Arc<Notify>, Arc<Notify>) {
        let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        *self.wires.held.lock().unwrap() = Some((centre, method, Arc::clone(&begun), Arc::clone(&go_on)));
        (begun, go_on)
    }

    fn heal(&self) {
        self.wires.cut.lock().unwrap().clear();
    }

    /// Returns the number of delivered notifications.
    async fn told(&self) -> usize {
        loop {
            let network = self.services[LHR].report().network.unwrap();
            if network.to_tell == network.told + network.untold {
                return self.wires.told.load(SeqCst);
            }
            tokio::task::yield_now().await;
        }
    }

    fn asked(&self) -> usize {
        self.wires.asked.load(SeqCst)
    }
}

fn key_with(world: &World, wanted: impl Fn(usize, usize) -> bool, of: usize) -> String {
    let namespace = Namespace::id_of("sessions");
    let is_it = |key: &String| {
        let hash = Placement::hash(&namespace, key);
        let regional = world.wires.places.regional(hash, id(of), |_| true).unwrap();
        let upper = world.wires.places.upper(hash, |_| true).unwrap();
        wanted(usize::from(regional.0), usize::from(upper.0))
    };
    (0..1000).map(|number| format!("k{number}")).find(is_it).unwrap()
}

const NYC: usize = 2;
const SEA: usize = 3;

#[tokio::test]
async fn a_read_goes_by_the_places_of_its_key_and_leaves_copies_there() {
    let world = World::new().await;
    let key = key_with(&world, |regional, upper| regional == NYC && upper == FRA, SEA);
    let version = world.put(LHR, &key, "1").await;
    let first = world.get(SEA, &key).await;
    assert_eq!((first.text(), first.source(), first.field("kv-version")), ("1", "store", version.as_str()));
    assert_eq!((world.asked(), first.field("cf-cache-status")), (3, "MISS"));
    let again = world.get(SEA, &key).await;
    assert_eq!((again.text(), again.source(), again.field("cf-cache-status")), ("1", "lower", "HIT"));
    assert_eq!(world.asked(), 3);
    assert_eq!(world.get(NYC, &key).await.source(), "lower");
    world.services[NYC].copies.forget_all();
    assert_eq!(world.get(NYC, &key).await.source(), "upper");
    world.services[SEA].copies.forget_all();
    assert_eq!(world.get(SEA, &key).await.source(), "regional");
    assert_eq!(world.asked(), 5);
    world.services[SEA].copies.forget_all();
    world.pass(30);
    let old = world.get(SEA, &key).await;
    assert_eq!((old.source(), old.age()), ("regional", 30));
    world.pass(5);
    let older = world.get(SEA, &key).await;
    assert_eq!((older.source(), older.age()), ("lower", 35));
    let status = world.services[SEA].report();
    assert_eq!((status.reads, status.hits, status.keys), (5, 2, None));
    let of_others = status.of_others.unwrap();
    assert_eq!((of_others.regional, of_others.upper, of_others.store), (2, 0, 1));
}

#[tokio::test]
async fn that_there_is_no_value_is_kept_for_a_shorter_time() {
    let world = World::new().await;
    let key = key_with(&world, |regional, upper| regional == SIN && upper == FRA, SIN);
    let absent = async |source: &str| {
        let absent = world.get(SIN, &key).await;
        assert_eq!((absent.status, absent.source()), (404, source));
    };
    absent("store").await;
    world.pass(10);
    absent("lower").await;
    assert_eq!(world.asked(), 2);
    // The refresh starts at an age of 14 to 18 seconds.
    world.pass(9);
    absent("lower").await;
    while world.asked() < 4 {
        tokio::task::yield_now().await;
    }
    world.pass(21);
    absent("store").await;
    assert_eq!(world.services[SIN].report().network.unwrap().refreshes, 1);
}

#[tokio::test]
async fn a_write_tells_the_places_of_its_key_and_no_others() {
    let world = World::new().await;
    for number in 0..20 {
        let key = format!("k{number}");
        let hash = Placement::hash(&Namespace::id_of("sessions"), &key);
        let places = world.wires.places.told(hash, |_| true);
        let places = places.iter().filter(|&&centre| centre != id(LHR)).count();
        assert!((2..=4).contains(&places));
        let before = world.told().await;
        world.put(SIN, &key, "1").await;
        assert_eq!(world.told().await - before, places);
    }
    let network = world.services[LHR].report().network.unwrap();
    assert_eq!((network.messages, network.untold), (network.told, 0));
}

#[tokio::test]
async fn after_a_write_the_writers_own_data_centre_and_the_keys_places_answer_with_it() {
    let world = World::new().await;
    let key = key_with(&world, |regional, upper| regional == NYC && upper == FRA, SEA);
    world.put(SEA, &key, "1").await;
    for centre in [FRA, NYC, SEA, SIN] {
        assert_eq!(world.get(centre, &key).await.text(), "1");
    }
    let version = world.put(SEA, &key, "2").await;
    let got = world.get(SEA, &key).await;
    assert_eq!((got.text(), got.field("kv-version")), ("2", version.as_str()));
    world.told().await;
    for centre in [FRA, NYC] {
        assert_eq!(world.get(centre, &key).await.text(), "2", "{centre}");
    }
    let deleted = world.ask(FRA, Method::DELETE, &format!("/{key}"), "").await;
    assert_eq!(deleted.status, 200);
    let gone = world.get(FRA, &key).await;
    assert_eq!((gone.status, gone.field("kv-version")), (404, deleted.field("kv-version")));
    world.told().await;
    assert_eq!(world.get(NYC, &key).await.status, 404);
}

#[tokio::test]
async fn an_answer_that_began_before_a_write_is_nobodys_copy() {
    let world = Arc::new(World::new().await);
    let key = key_with(&world, |regional, upper| regional == SIN && upper == FRA, SIN);
    world.put(LHR, &key, "old").await;
    world.told().await;
    let (begun, go_on) = world.hold(LHR, Method::GET);
    let reading = world.reading(SIN, format!("/{key}"));
    begun.notified().await;
    world.put(LHR, &key, "new").await;
    world.told().await;
    assert_eq!(world.get(FRA, &key).await.text(), "new");
    go_on.notify_one();
    // The notified tiers know that a newer version exists.
    assert_eq!(reading.await.unwrap().text(), "new");
    assert_eq!(world.get(SIN, &key).await.text(), "new");
}

#[tokio::test]
async fn a_copy_is_asked_for_again_beside_the_answer_before_it_is_too_old() {
    let world = World::new().await;
    let key = key_with(&world, |regional, upper| regional == SIN && upper == FRA, SIN);
    world.put(LHR, &key, "1").await;
    world.get(SIN, &key).await;
    world.cut(LHR, SIN);
    world.cut(LHR, FRA);
    world.put(LHR, &key, "2").await;
    world.heal();
    world.pass(55);
    let before = world.asked();
    let hot = world.get(SIN, &key).await;
    assert_eq!((hot.text(), hot.source(), hot.age()), ("1", "lower", 55));
    for _ in 0..5 {
        world.get(SIN, &key).await;
    }
    while world.asked() < before + 2 || world.get(SIN, &key).await.text() == "1" {
        tokio::task::yield_now().await;
    }
    assert_eq!(world.asked(), before + 2);
    assert_eq!(world.get(SIN, &key).await.age(), 0);
    let network = world.services[SIN].report().network.unwrap();
    assert_eq!((network.refreshes, network.stood_in), (1, 0));
}

#[tokio::test]
async fn who_could_not_be_told_is_told_when_it_can_be() {
    let world = World::of(false).await;
    let key = key_with(&world, |regional, upper| regional == SIN && upper == FRA, SIN);
    world.put(LHR, &key, "1").await;
    world.told().await;
    world.get(SIN, &key).await;
    world.cut(LHR, SIN);
    world.put(LHR, &key, "2").await;
    assert_eq!(world.get(SIN, &key).await.text(), "1");
    world.heal();
    world.told().await;
    assert_eq!(world.get(SIN, &key).await.text(), "2");
    world.cut(LHR, SIN);
    world.put(LHR, &key, "3").await;
    world.pass(61);
    world.told().await;
    assert_eq!(world.services[LHR].report().network.unwrap().untold, 1);
}

#[tokio::test]
async fn where_the_store_is_not_reached_copies_answer_while_they_may() {
    for is_known in [true, false] {
        let world = World::of(is_known).await;
        let key = key_with(&world, |regional, upper| regional == SIN && upper == FRA, SIN);
        world.put(LHR, &key, "1").await;
        world.get(SIN, &key).await;
        for centre in [FRA, NYC, SEA, SIN] {
            world.cut(LHR, centre);
        }
        for (method, target, body) in [
            (Method::PUT, "/a", "1"),
            (Method::DELETE, "/a", ""),
            (Method::GET, "/?prefix=a", ""),
            (Method::GET, "/a", ""),
        ] {
            let refused = world.ask(SIN, method, target, body).await;
            assert_eq!(refused.status, 503, "{target}");
            let sentence = "the store is in data centre \"lhr\", which has not responded";
            assert!(
                refused.text().starts_with(sentence) && refused.text().ends_with("the link is cut"),
                "{}",
                refused.text()
            );
        }
        assert_eq!(world.ask(SIN, Method::PUT, &format!("/{key}"), "2").await.status, 503);
        assert_eq!(world.get(SIN, &key).await.text(), "1");
        world.pass(61);
        assert_eq!(world.get(SIN, &key).await.status, 503);
        let long = world.ask(SIN, Method::GET, &format!("/{key}?cache_ttl=3600"), "").await;
        // The upper tier has a copy of the same age.
        assert_eq!((long.text(), long.source(), long.age()), ("1", "upper", 61));
        assert_eq!(world.services[FRA].report().network.unwrap().stood_in, 1);
        world.cut(SIN, FRA);
        let long = world.ask(SIN, Method::GET, &format!("/{key}?cache_ttl=3600"), "").await;
        assert_eq!((long.text(), long.source(), long.age()), ("1", "lower", 61));
        assert_eq!(world.services[SIN].report().network.unwrap().stood_in, 2);
        world.heal();
        let new = world.ask(SIN, Method::GET, &format!("/{key}?cache_ttl=3600"), "").await;
        assert_eq!((new.text(), new.source(), new.age()), ("1", "store", 0));
    }
}

#[tokio::test]
async fn where_a_tier_is_not_reached_another_way_is() {
    for is_known in [true, false] {
        let world = World::of(is_known).await;
        let key = key_with(&world, |regional, upper| regional == NYC && upper == FRA, SEA);
        world.put(LHR, &key, "1").await;
        world.cut(SEA, NYC);
        assert_eq!(world.get(SEA, &key).await.text(), "1");
        world.services.iter().for_each(|service| service.copies.forget_all());
        world.cut(SEA, FRA);
        let got = world.get(SEA, &key).await;
        assert_eq!((got.text(), got.source()), ("1", "store"));
    }
}

#[tokio::test]
async fn a_large_value_passes_through_in_both_directions_and_is_kept_nowhere() {
    let world = World::new().await;
    let key = key_with(&world, |regional, upper| regional == NYC && upper == FRA, SEA);
    let value: Vec<u8> = (0..3_000_000_u32).map(|at| u8::try_from(at * 31 % 251).unwrap()).collect();
    let put = world.ask(SEA, Method::PUT, &format!("/{key}"), value.clone()).await;
    assert_eq!(put.status, 200);
    for _ in 0..2 {
        let got = world.get(SEA, &key).await;
        assert_eq!((got.source(), got.field("content-length")), ("store", "3000000"));
        assert!(got.body == value);
    }
    assert!([SEA, NYC, FRA].iter().all(|&centre| world.services[centre].copies.bytes() < 1000));
    let too_long = vec![0; usize::try_from(Config::LARGEST).unwrap() + 1];
    let refused = world.ask(SEA, Method::PUT, &format!("/{key}"), too_long).await;
    assert_eq!(
        (refused.status, refused.text()),
        (413, "Value length of 26214401 exceeds limit of 26214400.")
    );
}

#[tokio::test]
async fn all_else_is_answered_as_where_the_store_is() {
    let world = World::new().await;
    let rest = |below: &str| format!("/client/v4/accounts/a/storage/kv/namespaces/sessions/{below}");
    let pairs = r#"[{"key":"a","value":"1"},{"key":"b/ü","value":"2","metadata":{"x":1}}]"#;
    let bulk = world.ask(SIN, Method::PUT, &rest("bulk"), pairs).await;
    assert_eq!(bulk.status, 200, "{}", bulk.text());
    assert!(bulk.text().contains("\"successful_key_count\":2"));
    let wrong = world.ask(SIN, Method::PUT, &rest("bulk"), r#"[{"key":"a"}]"#).await;
    assert_eq!(wrong.status, 400);
    let refused = world.ask(SIN, Method::PUT, "/c?expiration_ttl=1", "1").await;
    assert_eq!(
        (refused.status, refused.text()),
        (400, "Invalid expiration_ttl of 1. Expiration TTL must be at least 60.")
    );
    for centre in [LHR, SIN] {
        let listed = world.ask(centre, Method::GET, "/?prefix=b", "").await;
        assert_eq!(listed.text(), r#"{"keys":[{"name":"b/ü","metadata":"{\"x\":1}"}],"list_complete":true}"#);
        let keys = world.ask(centre, Method::GET, &rest("keys?limit=1"), "").await;
        assert!(keys.text().contains(r#""result":[{"name":"a"}]"#), "{}", keys.text());
        let both = world.ask(centre, Method::POST, "/bulk/get", r#"{"keys":["b/ü","a","none"]}"#).await;
        assert_eq!(both.text(), r#"{"b/ü":"2","a":"1","none":null}"#);
        let metadata = world.ask(centre, Method::GET, &rest("metadata/b%2F%C3%BC"), "").await;
        assert!(metadata.text().contains(r#""result":{"x":1}"#), "{}", metadata.text());
    }
    let put = world.ask(SIN, Method::PUT, &rest("values/c?expiration_ttl=600"), "3").await;
    assert_eq!((put.status, put.field("kv-version").is_empty()), (200, false));
    assert!(world.get(SIN, "c").await.headers.contains_key("cf-expiration"));
    let deleted = world.ask(SIN, Method::DELETE, &rest("bulk"), r#"["a","c"]"#).await;
    assert_eq!(deleted.status, 200);
    for key in ["a", "c"] {
        assert_eq!(world.get(SIN, key).await.status, 404);
    }
    let other = world.ask(SIN, Method::GET, &rest("whereabouts/.."), "").await;
    assert_eq!(other.status, 400);
}

#[tokio::test]
async fn no_visitor_is_taken_for_a_data_centre() {
    let world = World::new().await;
    world.put(LHR, "a", "secret").await;
    for (method, word) in [(Method::GET, "store"), (Method::PUT, "write"), (Method::POST, "tell")] {
        for (token, status) in [(None, 401), (Some("f"), 403)] {
            let mut request = Request::new(Body::whole("1"));
            *request.method_mut() = method.clone();
            *request.uri_mut() = "/a".parse().unwrap();
            let namespace = Namespace::id_of("sessions");
            let headers = request.headers_mut();
            for (name, value) in
                [("lh-tier-name", word), ("kv-namespace", &*namespace), ("lh-request-kind", "values")]
            {
                headers.insert(name, value.parse().unwrap());
            }
            if let Some(token) = token {
                headers.insert(header::AUTHORIZATION, format!("Bearer {token}").parse().unwrap());
            }
            let response = KvHandler::of(&world.services[LHR]).handle(request).await.unwrap();
            assert_eq!(response.status().as_u16(), status, "{word} {token:?}");
        }
    }
    assert_eq!(world.get(LHR, "a").await.text(), "secret");
}

#[tokio::test]
async fn what_each_would_answer_is_shown_and_changes_nothing() {
    let world = World::new().await;
    let key = key_with(&world, |regional, upper| regional == NYC && upper == FRA, SEA);
    let version = world.put(LHR, &key, "1").await;
    world.told().await;
    world.get(NYC, &key).await;
    world.pass(10);
    world.cut(SIN, LHR);
    let target = format!("/client/v4/accounts/a/storage/kv/namespaces/sessions/whereabouts/{key}");
    for _ in 0..2 {
        let asked = world.ask(SEA, Method::GET, &target, "").await;
        let result = serde_json::from_str::<serde_json::Value>(asked.text()).unwrap()["result"].take();
        let all: CopyReport = serde_json::from_value(result).unwrap();
        assert_eq!(all.key, key);
        let told: Vec<_> = all
            .data_centres
            .iter()
            .map(|one| (one.data_centre.as_str(), one.source.as_deref(), one.age_ms.map(|ms| ms / 10_000)))
            .collect();
        assert_eq!(
            told,
            [
                ("lhr", Some("lower"), Some(1)),
                ("fra", Some("lower"), Some(1)),
                ("nyc", Some("lower"), Some(1)),
                ("sea", Some("regional"), Some(1)),
                ("sin", Some("upper"), Some(1)),
            ]
        );
        assert!(all.data_centres.iter().all(|one| one.version.as_deref() == Some(&version)));
    }
    world.cut(SEA, SIN);
    let asked = world.ask(SEA, Method::GET, &target, "").await;
    assert!(asked.text().contains(r#"{"data_centre":"sin","error":"the link is cut"}"#), "{}", asked.text());
    assert_eq!(world.services[SIN].report().reads, 0);
}

#[tokio::test]
async fn who_says_something_wrong_over_a_link_is_refused() {
    let world = World::new().await;
    let ask = async |method: Method, fields: &[(&'static str, &str)], body: &'static str| {
        let mut request = Request::new(Body::whole(body));
        *request.method_mut() = method;
        *request.uri_mut() = "/k".parse().unwrap();
        for (name, value) in fields {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        world.services[FRA].answer_other(request).await.status()
    };
    let namespace = ("kv-namespace", &*Namespace::id_of("sessions"));
    assert_eq!(ask(Method::POST, &[("lh-tier-name", "tell")], "{}").await, StatusCode::BAD_REQUEST);
    assert_eq!(ask(Method::GET, &[("lh-tier-name", "upper")], "").await, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(ask(Method::GET, &[("lh-tier-name", "lower"), namespace], "").await, StatusCode::BAD_REQUEST);
    let wrong = [("lh-tier-name", "upper"), ("lh-kv-ttl", "-1"), namespace];
    assert_eq!(ask(Method::GET, &wrong, "").await, StatusCode::BAD_REQUEST);
    for (method, word) in [(Method::PUT, "write"), (Method::GET, "store")] {
        let status = ask(method, &[("lh-tier-name", word), namespace], "1").await;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{word}");
    }
    assert_eq!(ask(Method::GET, &[("lh-tier-name", "upper"), namespace], "").await, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn who_asks_while_another_process_takes_the_stores_place_waits_for_that() {
    let world = Arc::new(World::new().await);
    let service = Arc::clone(&world.services[LHR]);
    spawn_blocking(move || service.release()).await.unwrap();
    let asked = world.asked();
    let writing = {
        let world = Arc::clone(&world);
        tokio::spawn(async move { world.put(SIN, "a", "1").await })
    };
    while world.asked() < asked + 2 {
        tokio::task::yield_now().await;
    }
    let service = Arc::clone(&world.services[LHR]);
    spawn_blocking(move || service.resume()).await.unwrap();
    let version = writing.await.unwrap();
    assert_eq!(world.get(LHR, "a").await.field("kv-version"), version);
}

#[tokio::test]
async fn an_old_answer_of_another_place_is_none_without_a_longer_cache_ttl() {
    let world = World::of(false).await;
    let key = key_with(&world, |regional, upper| regional == SIN && upper == FRA, SIN);
    world.put(LHR, &key, "1").await;
    world.told().await;
    assert_eq!(world.get(FRA, &key).await.text(), "1");
    world.pass(50);
    let (begun, go_on) = world.hold(FRA, Method::GET);
    world.cut(LHR, FRA);
    world.cut(LHR, SIN);
    let world = Arc::new(world);
    let reading = world.reading(SIN, format!("/{key}"));
    begun.notified().await;
    world.pass(20);
    go_on.notify_one();
    assert_eq!(reading.await.unwrap().status, 503);
    let long = world.ask(SIN, Method::GET, &format!("/{key}?cache_ttl=3600"), "").await;
    assert_eq!((long.text(), long.age()), ("1", 70));
    assert_eq!(world.services[SIN].report().network.unwrap().stood_in, 1);
}

#[tokio::test]
async fn a_copy_that_was_written_while_it_waited_does_not_stand_in() {
    let world = Arc::new(World::of(false).await);
    let key = key_with(&world, |regional, upper| regional == SIN && upper == FRA, SIN);
    world.put(LHR, &key, "1").await;
    world.told().await;
    assert_eq!(world.get(SIN, &key).await.text(), "1");
    world.pass(61);
    let (begun, go_on) = world.hold(FRA, Method::GET);
    let reading = world.reading(SIN, format!("/{key}?cache_ttl=3600"));
    begun.notified().await;
    world.put(LHR, &key, "2").await;
    world.told().await;
    world.cut(LHR, SIN);
    go_on.notify_one();
    assert_eq!(reading.await.unwrap().status, 503);
}

#[tokio::test]
async fn the_store_is_asked_once_more_if_its_answer_is_older_than_a_write_that_is_known() {
    let world = Arc::new(World::new().await);
    let key = key_with(&world, |regional, upper| regional == SIN && upper == FRA, SIN);
    world.put(LHR, &key, "old").await;
    world.told().await;
    let (begun, go_on) = world.hold(LHR, Method::GET);
    let reading = world.reading(FRA, format!("/{key}"));
    begun.notified().await;
    world.put(LHR, &key, "new").await;
    world.told().await;
    assert_eq!(world.get(FRA, &key).await.text(), "new");
    go_on.notify_one();
    assert_eq!(reading.await.unwrap().text(), "new");
}

#[tokio::test]
async fn many_values_on_their_way_have_their_place_and_their_length_until_the_store_has_them() {
    let world = Arc::new(World::new().await);
    let target = "/client/v4/accounts/a/storage/kv/namespaces/sessions/bulk";
    let pairs = r#"[{"key":"a","value":"1"}]"#;
    let (begun, go_on) = world.hold(LHR, Method::PUT);
    let writing = {
        let world = Arc::clone(&world);
        tokio::spawn(async move {
            let mut request = Request::new(Body::whole(pairs));
            *request.method_mut() = Method::PUT;
            *request.uri_mut() = target.parse().unwrap();
            request.headers_mut().insert(header::AUTHORIZATION, "Bearer s".parse().unwrap());
            KvHandler::of(&world.services[SIN]).handle(request).await.map(drop)
        })
    };
    begun.notified().await;
    assert_eq!(world.wires.length.lock().unwrap().as_deref(), Some(&*pairs.len().to_string()));
    writing.abort();
    assert!(writing.await.unwrap_err().is_cancelled());
    let places = &world.services[SIN].large_writes;
    assert_eq!(places.available_permits(), 1);
    go_on.notify_one();
    while places.available_permits() < 2 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn who_has_another_number_in_a_new_file_is_told_by_its_name() {
    let world = World::of(false).await;
    let key = key_with(&world, |regional, upper| regional == SIN && upper == FRA, SIN);
    world.put(LHR, &key, "1").await;
    world.told().await;
    assert_eq!(world.get(SIN, &key).await.text(), "1");
    world.cut(LHR, SIN);
    world.put(LHR, &key, "2").await;
    *world.wires.order.lock().unwrap() = vec![LHR, SIN];
    world.heal();
    let name = crate::value_cache::Name::of(&Namespace::id_of("sessions"), &key);
    while world.services[SIN]
        .copies
        .find(&name, kv::ReadOptions::default(), world.services[SIN].elapsed())
        .is_some()
    {
        tokio::task::yield_now().await;
    }
    *world.wires.order.lock().unwrap() = (0..NAMES.len()).collect();
    assert_eq!(world.get(SIN, &key).await.text(), "2");
    world.pass(61);
    world.told().await;
}

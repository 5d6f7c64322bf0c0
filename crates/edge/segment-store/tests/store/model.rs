//! Random operations compared with a map: a store returns the last stored object, and removed
//! objects do not reappear.

use std::collections::BTreeMap;

use segment_store::{Config, Id, Store, Writer};

use crate::bodies::{Random, below, body, config, random, read};

struct Model {
    store: Option<Store>,
    config: Config,
    random: Random,
    objects: BTreeMap<u64, Expected>,
    gone: Vec<u64>,
    writers: Vec<(u64, usize, usize, Writer)>,
    notes: Vec<Vec<u8>>,
    next_key: u64,
}

struct Expected {
    id: Id,
    head: Vec<u8>,
    length: usize,
}

impl Model {
    fn new(config: Config, seed: u64) -> Self {
        let store = Some(Store::open(config.clone()).unwrap().0);
        let (objects, gone, writers, notes) = (BTreeMap::new(), vec![], vec![], vec![]);
        Self { store, config, random: random(seed), objects, gone, writers, notes, next_key: 0 }
    }

    fn store(&self) -> &Store {
        self.store.as_ref().unwrap()
    }

    fn below(&mut self, limit: u64) -> u64 {
        below(&mut self.random, limit)
    }

    fn any(&mut self) -> Option<u64> {
        let count = self.objects.len() as u64;
        let nth = if count == 0 { 0 } else { self.below(count) };
        self.objects.keys().nth(usize::try_from(nth).unwrap()).copied()
    }

    fn step(&mut self) {
        match self.below(20) {
            0..=5 => self.begin(),
            6..=12 => self.go_on(),
            13 => drop(self.writers.pop()),
            14..=15 => self.replace(),
            16 => self.remove(),
            17..=18 => self.read(),
            _ => match self.below(8) {
                0 => self.restart(),
                1..=4 => self.note(),
                5 => self.rewrite(),
                6 if self.below(10) == 0 => self.clear(),
                _ => {}
            },
        }
        let usage = self.store().usage();
        assert!(usage.bytes <= self.config.capacity, "{usage:?}");
    }

    fn begin(&mut self) {
        let most = [10, 1_000, 70_000, 300_000][usize::try_from(self.below(4)).unwrap()];
        let (key, length) = (self.next_key, usize::try_from(self.below(most)).unwrap());
        self.next_key += 1;
        let writer = self.store().begin(&key.to_le_bytes(), b"first").unwrap();
        self.writers.push((key, length, 0, writer));
    }

    fn go_on(&mut self) {
        if self.writers.is_empty() {
            return;
        }
        let one = usize::try_from(self.below(self.writers.len() as u64)).unwrap();
        let piece = usize::try_from(self.below(200_000)).unwrap();
        let (key, length, done, writer) = &mut self.writers[one];
        let end = (*done + piece).min(*length);
        writer.write(&body(*key, *length)[*done..end]).unwrap();
        *done = end;
        if end < *length {
            return;
        }
        let (key, length, _, writer) = self.writers.remove(one);
        // The small store may evict it while it is written.
        match writer.finish() {
            Ok(id) => drop(self.objects.insert(key, Expected { id, head: b"first".to_vec(), length })),
            Err(error) => {
                assert!(matches!(error, segment_store::Error::Overtaken), "{error}");
                self.gone.push(key);
            }
        }
    }

    fn replace(&mut self) {
        let Some(key) = self.any() else { return };
        let length = usize::try_from(self.below(300)).unwrap();
        let (id, head) = (self.objects[&key].id, body(self.next_key, length));
        if self.store().replace(id, &head).unwrap() {
            self.objects.get_mut(&key).unwrap().head = head;
        } else {
            self.lose(key);
        }
    }

    fn remove(&mut self) {
        let Some(key) = self.any() else { return };
        self.store().remove(self.objects[&key].id).unwrap();
        self.lose(key);
    }

    fn lose(&mut self, key: u64) {
        self.objects.remove(&key);
        self.gone.push(key);
    }

    fn read(&mut self) {
        if let Some(key) = self.any() {
            self.check(key);
        }
    }

    fn check(&mut self, key: u64) {
        let (store, expected) = (self.store(), &self.objects[&key]);
        let mut found = store.find(&key.to_le_bytes()).unwrap();
        assert!(found.len() <= 1);
        let Some(found) = found.pop() else { return self.lose(key) };
        assert_eq!((found.id, &found.head), (expected.id, &expected.head), "{key}");
        let whole = body(key, expected.length);
        let length = expected.length as u64;
        let begin = below(&mut self.random.clone(), length + 1);
        assert_eq!(read(store, &found, begin..), whole[usize::try_from(begin).unwrap()..], "{key}");
    }

    fn note(&mut self) {
        let length = usize::try_from(self.below(100)).unwrap();
        let note = body(self.next_key, length);
        self.store().note(&note).unwrap();
        self.notes.push(note);
    }

    fn rewrite(&mut self) {
        let half = self.notes.len() / 2;
        self.notes.drain(..half);
        self.store().rewrite_notes(&self.notes).unwrap();
    }

    fn clear(&mut self) {
        self.store().clear().unwrap();
        let keys = self.objects.keys().copied();
        self.gone.extend(keys);
        self.objects.clear();
    }

    fn restart(&mut self) {
        let before = self.store().usage();
        self.writers.clear();
        self.store = None;
        let (store, opened) = Store::open(self.config.clone()).unwrap();
        self.store = Some(store);
        assert_eq!((&opened.notes, opened.has_lost_notes), (&self.notes, false));
        assert_eq!(self.store().usage().objects, before.objects);
        self.check_all();
    }

    fn check_all(&mut self) {
        for key in self.objects.keys().copied().collect::<Vec<_>>() {
            self.check(key);
        }
        for key in &self.gone {
            assert!(self.store().find(&key.to_le_bytes()).unwrap().is_empty(), "{key} came back");
        }
        assert_eq!(self.store().usage().objects, self.objects.len() as u64);
    }
}

fn run(capacity: u64, seed: u64, steps: usize) -> Model {
    let folder = tempfile::tempdir().unwrap();
    let mut model = Model::new(config(&folder, capacity), seed);
    for _ in 0..steps {
        model.step();
    }
    model.check_all();
    model.restart();
    model
}

#[test]
fn a_store_with_room_for_all_has_all() {
    for seed in 0..4 {
        println!("seed {seed}");
        let model = run(1 << 30, seed, 600);
        assert_eq!(model.store().usage().evicted, 0);
    }
}

#[test]
fn a_small_store_has_what_it_did_not_give_up() {
    for seed in 10..22 {
        println!("seed {seed}");
        // Room for about 40 objects, in segments of 128 KiB.
        let model = run(4 << 20, seed, 1_500);
        assert!(model.gone.len() > 100 && model.objects.len() > 5);
    }
}

//! Measures a store: write and read throughput, the time to open it, and memory per object.
//!
//! `cargo run --release -p segment-store --example throughput DIRECTORY [OBJECTS]` writes objects
//! of 8 kB (100 000 by default) to a new folder in the directory and reads them in a random order.
//! The objects are in the page cache, so the result is the overhead of the store without the disk.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a program of its own, which measures and prints"
)]

use std::{
    env,
    error::Error,
    fs, io,
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use segment_store::{Config, Store};

const BODY: usize = 8_000;
const HEAD: usize = 500;
const LARGE: usize = 256 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = env::args().skip(1);
    let parent = words.next().ok_or("throughput DIRECTORY [OBJECTS]")?;
    if parent == "open" {
        let (folder, capacity) = words.next().zip(words.next()).ok_or("open DIRECTORY CAPACITY")?;
        return open(Config::new(folder, capacity.parse()?));
    }
    let objects: u64 = words.next().map_or(Ok(100_000), |count| count.parse())?;
    let folder = tempfile::tempdir_in(parent)?;
    let capacity = (objects * 10_000).max(1 << 30) * 2;
    let config = Config::new(folder.path(), capacity);
    let mut bytes = vec![0; 1 << 20];
    Xoshiro256PlusPlus::seed_from_u64(1).fill_bytes(&mut bytes);

    let (store, _) = Store::open(config.clone())?;
    let took = write(&store, &bytes, 0..objects)?;
    println!("written, {objects} objects of {BODY} B: {}", rate(objects, took));
    let took = write_large(&store, &bytes)?;
    println!("written, one body of {} MiB: {:.0} MB/s", LARGE >> 20, LARGE as f64 / 1e6 / took.as_secs_f64());
    for threads in [1, 2] {
        let began = Instant::now();
        let readers: Vec<_> = (0..threads)
            .map(|seed| {
                let store = store.clone();
                thread::spawn(move || read(&store, objects, seed))
            })
            .collect();
        for reader in readers {
            reader.join().map_err(|_| "a reader panicked")??;
        }
        println!("read, {threads} threads: {}", rate(objects * threads, began.elapsed()));
    }
    let began = Instant::now();
    let absent = (0..objects).map(|key| key | 1 << 63);
    let found = absent.filter(|key| store.contains(&key.to_le_bytes())).count();
    println!("looked up and not there: {:.0} ns ({found} found)", nanos_each(objects, began));
    drop(store);
    // A new process, because this one would reuse memory that it has freed.
    let status = Command::new(env::current_exe()?)
        .arg("open")
        .arg(folder.path())
        .arg(capacity.to_string())
        .status()?;
    status.success().then_some(()).ok_or("it could not be opened")?;
    Ok(())
}

fn open(config: Config) -> Result<(), Box<dyn Error>> {
    let before = resident()?;
    let began = Instant::now();
    let (store, opened) = Store::open(config)?;
    let took = began.elapsed();
    let usage = store.usage();
    let each = (resident()?.saturating_sub(before)) as f64 / usage.objects as f64;
    println!(
        "opened, {} objects in {} segments, {} of them read record by record: {took:.1?}",
        usage.objects, usage.segments, opened.scanned
    );
    println!("memory, by what the process grew: {each:.0} B an object");
    Ok(())
}

fn write(store: &Store, bytes: &[u8], keys: std::ops::Range<u64>) -> Result<Duration, segment_store::Error> {
    let began = Instant::now();
    for key in keys {
        let mut writer = store.begin(&key.to_le_bytes(), &bytes[..HEAD])?;
        writer.write(&bytes[..BODY])?;
        writer.finish()?;
    }
    Ok(began.elapsed())
}

fn write_large(store: &Store, bytes: &[u8]) -> Result<Duration, segment_store::Error> {
    let began = Instant::now();
    let mut writer = store.begin(b"large", b"")?;
    for _ in 0..LARGE / bytes.len() {
        writer.write(bytes)?;
    }
    writer.finish()?;
    Ok(began.elapsed())
}

fn read(store: &Store, objects: u64, seed: u64) -> Result<(), segment_store::Error> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    for _ in 0..objects {
        let key = random.next_u64() % objects;
        let found = store.find(&key.to_le_bytes())?;
        let mut length = 0;
        for piece in found.first().map(|found| store.read(found, ..)).into_iter().flatten() {
            length += piece?.len();
        }
        assert_eq!(length, BODY);
    }
    Ok(())
}

fn rate(objects: u64, took: Duration) -> String {
    let seconds = took.as_secs_f64();
    let megabytes = objects as f64 * (BODY + HEAD) as f64 / 1e6;
    format!("{:.0} objects/s, {:.0} MB/s", objects as f64 / seconds, megabytes / seconds)
}

fn nanos_each(count: u64, began: Instant) -> f64 {
    began.elapsed().as_secs_f64() * 1e9 / count as f64
}

fn resident() -> io::Result<u64> {
    let status = fs::read_to_string(Path::new("/proc/self/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kibibytes.map(|kibibytes| kibibytes * 1024).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

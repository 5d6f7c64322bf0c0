//! `longhaul tcp explain` on a planet: connections with one bottleneck each, and a control without
//! that cause for each. All run concurrently, each on a separate link.

mod loopback;
mod trouble;
mod ways;

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::Value;

use self::ways::{WAYS, Way};
use crate::{
    documents,
    harness::{LONGHAUL, Planet, Running, World},
};

/// `rate` in Mbit/s, bytes per read (`chunk`), pacing in bytes per second, `burst` of bytes `every`
/// number of seconds, `bytes` in total. Prints "moved" after `warm` bytes.
const TRAFFIC: &str = "
import socket, sys, time
options = dict(word.split('=') for word in sys.argv[2:])
number = lambda name, other=0: float(options.get(name, other))
def prepare(end):
    for name, level, option in [('rcvbuf', 1, 8), ('sndbuf', 1, 7), ('pacing', 1, 47), ('notsent', 6, 25)]:
        if name in options:
            end.setsockopt(level, option, int(options[name]))
    if 'control' in options:
        end.setsockopt(6, 13, options['control'].encode())
def pause(begin, done):
    if number('rate'):
        time.sleep(max(0, begin + done * 8 / number('rate') / 1e6 - time.monotonic()))
    elif done % max(1, number('burst')) == 0 and 'every' in options:
        time.sleep(number('every'))
def read():
    listener = socket.socket()
    prepare(listener)
    listener.bind(('', 5000))
    listener.listen()
    print('listening', file=sys.stderr, flush=True)
    end, _ = listener.accept()
    done, warm, begin = 0, number('warm'), time.monotonic()
    while data := end.recv(int(number('chunk', 65536))):
        if done < warm <= done + len(data):
            print('moved', file=sys.stderr, flush=True)
        done += len(data)
        pause(begin, done)
def send():
    end = socket.socket()
    prepare(end)
    end.connect((options['to'], 5000))
    done, begin = 0, time.monotonic()
    data = bytes(20000)
    while done < number('bytes', 1e18):
        end.sendall(data)
        done += len(data)
        pause(begin, done)
{'read': read, 'send': send}[sys.argv[1]]()
";

/// `NAME-s` sends and `NAME-r` reads, in separate cities.
fn planet(ways: &[Way]) -> Planet {
    let mut world = World::named("tcp-explain");
    for (number, way) in ways.iter().enumerate() {
        let Way { name, path, sender, receiver, .. } = way;
        let city = |side: &str, lat: usize| {
            format!("[[city]]\nname = \"{name}-{side}\"\nlat = {lat}\nlon = {number}\n")
        };
        let host = |side: &str, sysctl: &str| {
            format!("[[host]]\nname = \"{name}-{side}\"\ncity = \"{name}-{side}\"\nsysctl = {{ {sysctl} }}\n")
        };
        world = world
            .tables(&(city("s", 0) + &city("r", 1) + &host("s", sender) + &host("r", receiver)))
            .link(&format!("{name}-s"), &format!("{name}-r"), path);
    }
    world.up()
}

fn traffic(planet: &Planet, host: &str, arguments: &[&str]) -> Running {
    let command = [&["python3", "-c", TRAFFIC], arguments].concat();
    Running::start(planet.command(host, &command).stderr(Stdio::piped()))
}

#[track_caller]
fn explain(planet: &Planet, host: &str, arguments: &[&str]) -> Value {
    let all = planet.exec(host, &[&[LONGHAUL, "tcp", "explain", "--json"], arguments].concat()).json();
    assert_eq!(all.as_array().unwrap().len(), 1, "{host}: {all}");
    all[0].clone()
}

fn kinds(explanation: &Value) -> Vec<&str> {
    let also = explanation["also"].as_array().unwrap().iter().map(|finding| &finding["kind"]);
    std::iter::once(&explanation["kind"]).chain(also).map(|kind| kind.as_str().unwrap()).collect()
}

fn check(planet: &Planet, way: &Way) -> Vec<String> {
    let [sender, receiver] = ["s", "r"].map(|side| format!("{}-{side}", way.name));
    let warm = format!("warm={}", way.warm);
    let words = |text: &'static str| text.split_whitespace().collect::<Vec<_>>();
    let mut reads = traffic(planet, &receiver, &[vec!["read", &warm], words(way.reads)].concat());
    reads.says("listening");
    let to = format!("to={receiver}");
    let _sends = traffic(planet, &sender, &[vec!["send", &to], words(way.sends)].concat());
    reads.says("moved");
    std::thread::scope(|scope| {
        let ends = [(sender, &way.at_sender), (receiver, &way.at_receiver)];
        let looks = ends.map(|(host, expected)| {
            scope.spawn(move || {
                let said = explain(planet, &host, way.look);
                let mistakes = mistakes_in(&said, expected, way.never);
                mistakes.into_iter().map(|mistake| format!("{host}: {mistake}: {said:#}")).collect::<Vec<_>>()
            })
        });
        looks.into_iter().flat_map(|look| look.join().unwrap()).collect()
    })
}

fn mistakes_in(said: &Value, (limit, found): &(&str, &[&str]), never: &[&str]) -> Vec<String> {
    let mut mistakes = Vec::new();
    let mut expect = |holds: bool, what: String| mistakes.extend((!holds).then_some(what));
    expect(said["limit"] == *limit, format!("the limit should be {limit}"));
    let kinds = kinds(said);
    expect(kinds.starts_with(found), format!("{found:?} should be found"));
    for never in never {
        expect(!kinds.contains(never), format!("{never} must not be blamed"));
    }
    let shares = said["shares"].as_object().unwrap().values().map(|share| share.as_f64().unwrap());
    expect((shares.sum::<f64>() - 1.0).abs() < 1e-9, "shares should sum to 1".to_owned());
    expect(said["process"] == "python3", "the process should be known".to_owned());
    mistakes
}

#[test]
fn each_way_to_be_slow_is_told_from_its_neighbour() {
    let planet = planet(&WAYS);
    // All of them would overload a small machine.
    let next = AtomicUsize::new(0);
    let mistakes = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..5 {
            scope.spawn(|| {
                while let Some(way) = WAYS.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let wrong = check(&planet, way);
                    mistakes.lock().unwrap().extend(wrong);
                }
            });
        }
    });
    let mistakes = mistakes.into_inner().unwrap();
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
}

#[test]
fn watching_ends_with_its_reader() {
    let mut command = Command::new(LONGHAUL);
    command.args(["tcp", "explain", "--watch", "--json", "--for", "100ms"]).stdout(Stdio::piped());
    let mut watching = command.spawn().unwrap();
    let mut lines = BufReader::new(watching.stdout.take().unwrap()).lines();
    documents::keep(&lines.next().unwrap().unwrap());
    drop(lines);
    assert_eq!(watching.wait().unwrap().code(), Some(0));
}

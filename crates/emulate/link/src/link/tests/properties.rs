//! Properties that hold for every link, load and caller.

use proptest::{collection::vec, option, prelude::*, sample::select};

use super::*;
use crate::{Discipline, Jitter, LossTrace, Order, Shape, Trace};
use std::sync::Arc;

#[derive(Debug, Clone)]
enum Event {
    Offer { packet: Packet, flow: u64, ecn: Ecn },
    Reconfigure(Config),
}

type Script = Vec<(Duration, Event)>;

fn rates() -> impl Strategy<Value = Rate> {
    let trace = Arc::new(Trace::parse(b"0 3 3 3 7 20").unwrap());
    prop_oneof![
        Just(Rate::Unlimited),
        select(vec!["100Kbit", "3Mbit", "50Mbit", "1Gbit"])
            .prop_map(|rate| Rate::Constant(rate.parse().unwrap())),
        Just(Rate::Trace(trace)),
    ]
}

fn disciplines() -> impl Strategy<Value = Discipline> {
    select(vec![
        "droptail",
        "codel",
        "codel target 1ms interval 5ms",
        "fq_codel",
        "fq_codel flows 2 quantum 300",
    ])
    .prop_map(|text| text.parse().unwrap())
}

fn losses() -> impl Strategy<Value = Loss> {
    prop_oneof![
        select(vec![0.0, 0.02, 0.5, 1.0]).prop_map(|share| Loss::Bernoulli(chance(share))),
        Just(Loss::GilbertElliott {
            to_bad: chance(0.05),
            to_good: chance(0.3),
            in_bad: chance(0.8),
            in_good: chance(0.01),
        }),
        Just(Loss::Trace(Arc::new(LossTrace::parse(b"0010 1100 0").unwrap()))),
    ]
}

fn jitters() -> impl Strategy<Value = Option<Jitter>> {
    let shapes = select(vec![Shape::Uniform, Shape::Normal, Shape::Pareto]);
    let orders = select(vec![Order::Kept, Order::Free]);
    option::of((0..20_u64, shapes, orders).prop_map(|(spread_ms, shape, order)| Jitter {
        spread: Duration::from_millis(spread_ms),
        shape,
        order,
    }))
}

fn configs() -> impl Strategy<Value = Config> {
    let queues = select(vec!["0B", "4KB", "1MB", "20ms", "0p", "7p"]);
    let receives = select(vec![Receive::Slice, Receive::Segment, Receive::Gso]);
    let chances = || select(vec![0.0, 0.05, 1.0]).prop_map(chance);
    let queue = (queues, disciplines(), any::<bool>(), select(vec![0, 38]), receives);
    let transit = (losses(), chances(), chances(), chances());
    (rates(), 0..50_u64, jitters(), queue, transit).prop_map(
        |(rate, propagation_ms, jitter, (queue, discipline, ecn, overhead, receive), transit)| {
            let (loss, duplicate, corrupt, reorder) = transit;
            let propagation = Duration::from_millis(propagation_ms);
            let queue = queue.parse().unwrap();
            Config {
                rate,
                propagation,
                jitter,
                queue,
                discipline,
                ecn,
                loss,
                duplicate,
                corrupt,
                reorder,
                overhead,
                receive,
            }
        },
    )
}

fn events() -> impl Strategy<Value = Event> {
    let packets = prop_oneof![
        select(vec![0, 1, 40, 800, 1500]).prop_map(Packet::single),
        (1..60_000_u32).prop_map(|payload| Packet::segmented(52, payload, 1448)),
    ];
    let ecn = select(vec![Ecn::Capable, Ecn::NotCapable]);
    prop_oneof![
        12 => (packets, 0..4_u64, ecn).prop_map(|(packet, flow, ecn)| Event::Offer { packet, flow, ecn }),
        1 => configs().prop_map(Event::Reconfigure),
    ]
}

fn scripts() -> impl Strategy<Value = Script> {
    let pauses = prop_oneof![Just(0), 0..200_000_u64, 0..30_000_000_u64, Just(1_000_000)];
    vec((pauses.prop_map(Duration::from_nanos), events()), 1..60)
}

#[derive(Clone, Copy, PartialEq)]
enum Caller {
    Lazy,
    Restless,
    Punctual,
}

fn told(config: &Config, script: &Script, caller: Caller) -> (Vec<(usize, Verdict, Duration)>, Link<usize>) {
    let mut link = Link::new(config.clone(), 5);
    let mut told = Vec::new();
    let mut before = Duration::ZERO;
    for (index, (pause, event)) in script.iter().enumerate() {
        let now = before + *pause;
        let wakes = std::iter::from_fn(|| Some(())).take(100_000);
        for () in wakes {
            let wake = match caller {
                Caller::Lazy => break,
                Caller::Restless => before + *pause / 2,
                Caller::Punctual => match link.next_timeout() {
                    Some(timeout) if timeout < now => timeout.max(before),
                    _ => break,
                },
            };
            link.advance(wake, &mut |tag, verdict| told.push((*tag, verdict, wake)));
            if caller == Caller::Restless {
                break;
            }
        }
        match event.clone() {
            Event::Offer { packet, flow, ecn } => {
                let arrival = Arrival { packet, flow, ecn, tag: index };
                link.offer(now, arrival, &mut |tag, verdict| told.push((*tag, verdict, now)));
            }
            Event::Reconfigure(config) => link.reconfigure(now, config),
        }
        before = now;
    }
    while let Some(timeout) = link.next_timeout() {
        let wake = timeout.max(before);
        link.advance(wake, &mut |tag, verdict| told.push((*tag, verdict, wake)));
    }
    (told, link)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn verdicts_depend_on_arrivals_only((config, script) in (configs(), scripts())) {
        let verdicts = |caller| {
            told(&config, &script, caller).0.into_iter().map(|(tag, verdict, _)| (tag, verdict)).collect::<Vec<_>>()
        };
        let lazy = verdicts(Caller::Lazy);
        prop_assert_eq!(&lazy, &verdicts(Caller::Restless));
        prop_assert_eq!(&lazy, &verdicts(Caller::Punctual));
    }

    #[test]
    fn who_calls_when_asked_is_told_before_it_is_due((config, script) in (configs(), scripts())) {
        for (tag, verdict, at) in told(&config, &script, Caller::Punctual).0 {
            if let Verdict::Deliver { due, .. } = verdict {
                prop_assert!(due >= at, "packet {} was due at {:?} and told at {:?}", tag, due, at);
            }
        }
    }

    #[test]
    fn every_segment_has_one_fate((config, script) in (configs(), scripts())) {
        let (told, link) = told(&config, &script, Caller::Lazy);
        let mut fates: Vec<_> = script
            .iter()
            .map(|(_, event)| match event {
                Event::Offer { packet, .. } => vec![0_u64; packet.segments() as usize],
                Event::Reconfigure(_) => Vec::new(),
            })
            .collect();
        for (tag, verdict, _) in told {
            let (Verdict::Deliver { segments, .. } | Verdict::Drop { segments, .. }) = &verdict;
            prop_assert!(!segments.is_empty());
            if let Verdict::Deliver { treatment: Treatment { mark, corrupt }, .. } = verdict {
                prop_assert!(segments.len() == 1 || !(mark || corrupt.is_some()));
            }
            for segment in segments.clone() {
                fates[tag][segment as usize] += 1;
            }
        }
        prop_assert!(fates.iter().flatten().all(|fates| (1..=2).contains(fates)));
        let copies: u64 = fates.iter().flatten().map(|fates| fates - 1).sum();
        prop_assert_eq!(copies, link.counters().duplicated.segments);
    }

    #[test]
    fn nothing_is_created_or_forgotten((config, script) in (configs(), scripts())) {
        let mut link = Link::new(config, 5);
        let mut now = Duration::ZERO;
        for (pause, event) in script {
            now += pause;
            match event {
                Event::Offer { packet, flow, ecn } => {
                    link.offer(now, Arrival { packet, flow, ecn, tag: () }, &mut |(), _| {});
                }
                Event::Reconfigure(config) => link.reconfigure(now, config),
            }
            let Counters { offered, delivered, lost, overflowed, managed, duplicated, marked, corrupted } =
                link.counters();
            let (mut came, mut went) = (offered, link.backlog());
            came += duplicated;
            [delivered, lost, overflowed, managed].into_iter().for_each(|amount| went += amount);
            prop_assert_eq!(came, went);
            prop_assert!(marked.is_within(delivered) && corrupted.is_within(delivered));
        }
    }
}

//! Netem lines and their meaning.

use super::*;

fn said(text: &str) -> String {
    parse(text).unwrap_err().to_string()
}

fn chance(percent: f64) -> Probability {
    Probability::new(percent / 100.0).unwrap()
}

#[test]
fn a_line_says_what_tc_would_understand() {
    let line = "netem delay 40ms 5ms distribution normal loss 0.1% duplicate 1% corrupt 0.02% reorder 25% gap 1 \
                rate 10mbit limit 1000";
    let shape = distribution::named("normal").unwrap();
    let jitter = Jitter { spread: Duration::from_millis(5), shape, order: Order::Free };
    assert_eq!(
        parse(line),
        Ok(Impairment {
            delay: Some(Duration::from_millis(40)),
            jitter: Some(jitter),
            loss: Some(Loss::Bernoulli(chance(0.1))),
            duplicate: Some(chance(1.0)),
            corrupt: Some(chance(0.02)),
            reorder: Some(chance(25.0)),
            rate: Bitrate::from_bits_per_second(10_000_000),
            overhead: None,
            limit: Some(1000),
        })
    );
    assert_eq!(parse(""), Ok(Impairment::default()));
}

#[test]
fn units_are_those_of_tc() {
    for (text, nanos) in [
        ("40ms", 40_000_000),
        ("0.5s", 500_000_000),
        ("200", 200_000),
        ("7usecs", 7_000),
        ("9ns", 9),
        ("1MSEC", 1_000_000),
    ] {
        assert_eq!(
            parse(&format!("delay {text}")).unwrap().delay,
            Some(Duration::from_nanos(nanos)),
            "{text}"
        );
    }
    for (text, bits) in [
        ("10mbit", 10_000_000),
        ("1gbit", 1_000_000_000),
        ("64000", 64_000),
        ("1mbps", 8_000_000),
        ("1Kibit", 1024),
        ("2.5kbit", 2500),
    ] {
        assert_eq!(
            parse(&format!("rate {text}")).unwrap().rate,
            Bitrate::from_bits_per_second(bits),
            "{text}"
        );
    }
    for (text, percent) in [("0.3%", 0.3), ("0.3", 0.3), ("random 2%", 2.0), ("100%", 100.0), ("1% 0%", 1.0)]
    {
        let loss = Some(Loss::Bernoulli(chance(percent)));
        assert_eq!(parse(&format!("loss {text}")).unwrap().loss, loss, "{text}");
    }
}

#[test]
fn gemodel_has_netems_defaults() {
    let loss = |p, r, bad, good| {
        Some(Loss::GilbertElliott {
            to_bad: chance(p),
            to_good: chance(r),
            in_bad: chance(bad),
            in_good: chance(good),
        })
    };
    assert_eq!(parse("loss gemodel 1% 10% 70% 0.1%").unwrap().loss, loss(1.0, 10.0, 70.0, 0.1));
    assert_eq!(parse("loss gemodel 1% 10%").unwrap().loss, loss(1.0, 10.0, 100.0, 0.0));
    assert_eq!(parse("loss gemodel 25%").unwrap().loss, loss(25.0, 75.0, 100.0, 0.0));
}

#[test]
fn what_is_not_mentioned_stays() {
    let mut config =
        Config { propagation: Duration::from_millis(9), duplicate: chance(3.0), ..Config::default() };
    parse("rate 1mbit 14 limit 50 loss 1%").unwrap().apply(&mut config);
    let mut expected = Config {
        rate: Rate::Constant("1Mbit".parse().unwrap()),
        overhead: 14,
        queue: Limit::Packets(50),
        loss: Loss::Bernoulli(chance(1.0)),
        propagation: Duration::from_millis(9),
        duplicate: chance(3.0),
        ..Config::default()
    };
    assert_eq!(config, expected);

    parse("delay 20ms 3ms").unwrap().apply(&mut config);
    expected.propagation = Duration::from_millis(20);
    expected.jitter =
        Some(Jitter { spread: Duration::from_millis(3), shape: Shape::Uniform, order: Order::Free });
    assert_eq!(config, expected);
    parse("delay 20ms").unwrap().apply(&mut config);
    expected.jitter = None;
    assert_eq!(config, expected);
}

#[test]
fn mistakes_are_sentences() {
    for (line, expected) in [
        ("delai 3ms", "netem has no option \"delai\"; did you mean \"delay\"?"),
        ("delay", "delay has no value; expected a time such as 40ms (without a unit: microseconds)"),
        (
            "delay soon",
            "delay cannot be \"soon\"; expected a time such as 40ms (without a unit: microseconds)",
        ),
        (
            "delay -3ms",
            "delay cannot be \"-3ms\"; expected a time such as 40ms (without a unit: microseconds)",
        ),
        ("loss 120%", "loss cannot be \"120%\"; expected a percentage from 0% to 100%"),
        (
            "rate 0bit",
            "rate cannot be \"0bit\"; expected a rate such as 10mbit (without a unit: bits a second), at most 1000gbit",
        ),
        ("limit many", "limit cannot be \"many\"; expected a number of packets"),
        ("delay 3ms delay 4ms", "delay is given twice; write it once"),
        ("latency 3ms delay 4ms", "delay is given twice; write it once"),
        ("reorder 5%", "reorder needs a delay, which it skips"),
        (
            "delay 3ms distribution normal",
            "distribution needs a delay and its jitter before it: delay 40ms 5ms",
        ),
        (
            "delay 3ms 1ms distribution cauchy",
            "distribution cannot be \"cauchy\"; expected normal, pareto, paretonormal or uniform (another of tc's files is \
             the jitter_table of a link)",
        ),
    ] {
        assert_eq!(said(line), expected, "{line}");
    }
    assert!(said("bandwidth 3").contains("expected one of delay, latency, distribution, loss"));
}

#[test]
fn what_a_link_cannot_do_is_refused() {
    for (line, start) in [
        ("delay 40ms 5ms 25%", "the correlation of delay is not supported; leave it out"),
        ("loss 1% 25%", "the correlation of loss is not supported"),
        ("corrupt 1% 25%", "the correlation of corrupt is not supported"),
        ("duplicate 1% 25%", "the correlation of duplicate is not supported"),
        ("delay 3ms reorder 1% 25%", "the correlation of reorder is not supported"),
        ("delay 3ms reorder 1% gap 5", "a gap of more than 1 between reordered packets is not supported"),
        ("loss state 1%", "loss state, netem's chain of four states, is not supported; write loss gemodel"),
        ("loss 1% ecn", "loss ... ecn, which marks what would be lost at random, is not supported"),
        ("slot 1ms", "slot, which holds packets back and sends them in bursts, is not supported"),
        ("seed 7", "seed is not supported; leave it out: the link has its own seed"),
        ("rate 1mbit 0 48 5", "rate with a cell size is not supported"),
    ] {
        assert!(said(line).starts_with(start), "{line}: {}", said(line));
    }
}

#[test]
fn a_distribution_is_the_table_that_iproute2_has_under_its_name() {
    // 32767 of 8192nds is slightly less than four times the jitter; the minimum of a Pareto is two thirds
    // of it, where the distribution starts. The normal quarter of paretonormal reaches -4.0085: -(4.0085 +
    // 3 x 0.6667) / 4 = -1.502.
    for (name, least, most) in
        [("normal", -4.0, 3.5), ("pareto", -0.6667, 4.0), ("paretonormal", -1.5022, 3.88)]
    {
        let jitter = parse(&format!("delay 100ms 5ms distribution {name}")).unwrap().jitter.unwrap();
        let (delay, mut random) = (Duration::from_millis(100), crate::random::Random::new(1, [0; 8]));
        let offsets: Vec<f64> =
            (0..100_000).map(|_| jitter.draw(delay, &mut random).as_secs_f64() * 200.0 - 20.0).collect();
        let (lowest, highest) = offsets
            .iter()
            .fold((0.0_f64, 0.0_f64), |(low, high), &offset| (low.min(offset), high.max(offset)));
        assert!((lowest - least).abs() < 0.01, "{name}: {lowest}");
        assert!((highest - most).abs() < 0.03, "{name}: {highest}");
    }
}

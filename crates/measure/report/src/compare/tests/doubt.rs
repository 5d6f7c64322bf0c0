//! Uncertain results must not read as if they were certain.

use super::{pages::hash, *};
use crate::{Certainty, markdown, terminal};

fn drawn(label: &str, n: u32, seed: u32) -> SideInput {
    let values: Vec<f64> = (0..n).map(|i| -100.0 * (1.0 - hash(i, seed)).ln()).collect();
    side(label, &values)
}

fn of(sides: &[SideInput], page: Page) -> Comparison {
    compare(&Question::new(Metric::Latency, page), sides).unwrap().comparison
}

#[test]
fn an_undecided_comparison_reads_undecided_everywhere() {
    let comparison = of(&[drawn("one", 40, 1), drawn("two", 40, 2)], page());
    let verdict = comparison.verdict.as_ref().unwrap();
    assert_eq!(speed(verdict).experienced.certainty, Some(Certainty::Undecided));
    assert!(verdict.headline.starts_with("Undecided"), "{}", verdict.headline);
    assert!(verdict.certainty.as_ref().unwrap().contains("In these samples "), "{}", verdict.sentence);
    assert!(markdown::summary(&comparison).starts_with("### Undecided"));
    let text = terminal::comparison(&comparison, terminal::Detail::Wide);
    assert!(!text.contains(" *"), "{text}");
}

/// `near` is down for two of eight seconds: a request then waits for the first retransmission.
fn with_outage(label: &str, base: f64, outage: bool) -> SideInput {
    let row = |i: u32| {
        let at = f64::from(i) / 20.0;
        let waited = if outage && (3.0..5.0).contains(&at) { 2000.0 - 600.0 * (at - 3.0) } else { 0.0 };
        format!("{at},{}\n", base + hash(i, 3) + at / 4.0 + waited)
    };
    let text = format!("started_s,latency_ms\n{}", (0..160).map(row).collect::<String>());
    SideInput { label: label.to_owned(), ..read(&text, None) }
}

#[test]
fn what_the_plan_lets_happen_is_no_chance() {
    let of = |planned_faults_s: &[[f64; 2]]| {
        let sides = [with_outage("near", 11.0, true), with_outage("far", 168.0, false)];
        let sides = sides.map(|side| SideInput { planned_faults_s: planned_faults_s.to_vec(), ..side });
        let question = Question::new(Metric::Latency, Page::new(20, 0.5).unwrap());
        let verdict = compare(&question, &sides).unwrap().comparison.verdict.unwrap();
        let speed = speed(&verdict);
        let certain = |one: &crate::Verdict| (one.better.clone(), one.certainty);
        (certain(&speed.median_request), certain(&speed.experienced))
    };
    let sure = |side: &str| (Some(side.to_owned()), Some(Certainty::Sure));
    // 40 of 160 requests are slow in each run; of ten requests one is, but for 0.75^10 = 6 % of
    // views.
    assert_eq!(of(&[[3.0, 5.0]]), (sure("near"), sure("far")));
    // Another recording may have a longer burst or none.
    let (median, page) = of(&[]);
    assert!(median.1 != Some(Certainty::Sure) && page.1 != Some(Certainty::Sure), "{median:?} {page:?}");
    assert_eq!(of(&[[3.0, f64::INFINITY]]).0.1, median.1);
}

#[test]
fn a_sure_one_has_a_star() {
    let comparison = of(&[side("fast", &spread_values(10.0)), side("slow", &spread_values(30.0))], page());
    let text = terminal::comparison(&comparison, terminal::Detail::Short);
    assert_eq!(text.matches(" *").count(), 2, "{text}");
    assert!(comparison.verdict.unwrap().headline.starts_with("fast is 20.0 ms ("));
}

/// 20 000 samples within 5 ms of each other.
fn spread_values(from: f64) -> Vec<f64> {
    (0..20_000).map(|i| from + 5.0 * hash(i, 3)).collect()
}

#[test]
fn the_word_and_the_percentage_come_from_one_rule() {
    // Means differ by 0 to 60 %: every word from undecided to sure.
    for shift in 0..13 {
        let mut other = drawn("other", 120, 8);
        other.distribution = Distribution::new(
            (0..120).map(|i| -(100.0 + 5.0 * f64::from(shift)) * (1.0 - hash(i, 8)).ln()).collect(),
        )
        .unwrap()
        .into();
        let verdict = of(&[drawn("one", 120, 7), other], Page::new(1, 1.0).unwrap()).verdict.unwrap();
        let (sure, word) =
            (speed(&verdict).request.sure.unwrap(), speed(&verdict).request.certainty.unwrap());
        match word {
            Certainty::Sure => assert!(sure > 0.975, "{sure}"),
            Certainty::Borderline => assert!((0.95..1.0).contains(&sure), "{sure}"),
            Certainty::Likely => assert!((0.9..0.985).contains(&sure), "{sure}"),
            Certainty::Undecided => assert!(sure < 0.93, "{sure}"),
        }
        assert_eq!(
            verdict.headline.starts_with("Undecided"),
            word == Certainty::Undecided,
            "{}",
            verdict.headline
        );
    }
}

#[test]
fn neither_seed_nor_order_turns_sure_into_unsure() {
    // A result that is sure once is always at least borderline.
    let one = Page::new(1, 1.0).unwrap();
    let mut seen = std::collections::BTreeSet::new();
    for shift in 0..7 {
        let scale = 118.0 + 4.0 * f64::from(shift);
        let values =
            |scale: f64, seed| (0..200).map(|i| -scale * (1.0 - hash(i, seed)).ln()).collect::<Vec<_>>();
        let (first, second) = (side("one", &values(100.0, 21)), side("other", &values(scale, 22)));
        let word = |sides: &[SideInput], seed| {
            let settings = Some(Settings { seed, ..Settings::default() });
            let question = Question { intervals: settings, ..Question::new(Metric::Latency, one) };
            compare(&question, sides)
                .unwrap()
                .comparison
                .verdict
                .unwrap()
                .speed
                .unwrap()
                .request
                .certainty
                .unwrap()
        };
        let (ahead, back) = ([first.clone(), second.clone()], [second, first]);
        let words: Vec<Certainty> =
            (1..=4).flat_map(|seed| [word(&ahead, seed), word(&back, seed)]).collect();
        let is_sure = words.contains(&Certainty::Sure);
        let is_less = words.iter().any(|word| matches!(word, Certainty::Likely | Certainty::Undecided));
        assert!(!(is_sure && is_less), "{scale}: {words:?}");
        seen.extend(words.iter().map(|word| format!("{word:?}")));
    }
    assert!(seen.contains("Sure") && seen.contains("Borderline"), "{seen:?}");
}

#[test]
fn many_pairs_are_less_sure_than_one() {
    // 28 pairs. Uncorrected, some pair would seem sure.
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let mut wrong = 0;
    for round in 0..5 {
        let sides: Vec<SideInput> =
            names.iter().zip(0..).map(|(name, i)| drawn(name, 300, 100 * round + i)).collect();
        let comparison = of(&sides, Page::new(1, 1.0).unwrap());
        assert_eq!(comparison.pairs.len(), 28);
        wrong +=
            usize::from(comparison.pairs.iter().any(|pair| pair.request.certainty == Some(Certainty::Sure)));
        let text = terminal::comparison(&comparison, terminal::Detail::Short);
        assert!(text.contains("certainty is corrected for 28 pairs (Holm)"), "{text}");
    }
    // One in twenty by the level; two of five have a chance of 2 %.
    assert!(wrong <= 1, "{wrong}");
}

#[test]
fn many_groups_are_less_sure_than_one() {
    // Uncorrected, one or two of 40 groups would be sure.
    let labelled = |seed| {
        let row = |i: u32| format!("{},g{}\n", -100.0 * (1.0 - hash(i, seed)).ln(), i % 40);
        read(&format!("latency_ms,group\n{}", (0..2000).map(row).collect::<String>()), Some("group"))
    };
    let question = Question {
        by: Some("group".to_owned()),
        ..Question::new(Metric::Latency, Page::new(1, 1.0).unwrap())
    };
    let groups =
        compare(&question, &[labelled(1), labelled(2)]).unwrap().comparison.breakdown.unwrap().groups;
    let sure = |group: &&crate::Group| {
        group.experienced.as_ref().is_some_and(|verdict| verdict.certainty == Some(Certainty::Sure))
    };
    assert_eq!((groups.len(), groups.iter().filter(sure).count()), (40, 0));
}

#[test]
fn a_group_alone_is_as_sure_as_the_whole() {
    let one = |from: f64| {
        let row = |i: u32| format!("{},all\n", from + 5.0 * hash(i, 3));
        read(&format!("latency_ms,group\n{}", (0..2000).map(row).collect::<String>()), Some("group"))
    };
    let question = Question {
        by: Some("group".to_owned()),
        ..Question::new(Metric::Latency, Page::new(1, 1.0).unwrap())
    };
    let groups = compare(&question, &[one(10.0), one(20.0)]).unwrap().comparison.breakdown.unwrap().groups;
    assert_eq!(groups[0].experienced.as_ref().unwrap().certainty, Some(Certainty::Sure));
}

#[test]
fn the_same_samples_are_named_so() {
    let comparison = of(&[drawn("old", 50, 1), drawn("new", 50, 1)], page());
    assert_eq!(comparison.identical, [["old".to_owned(), "new".to_owned()]]);
    let verdict = comparison.verdict.as_ref().unwrap();
    assert_eq!(verdict.sentence, "old and new hold the same 50 samples: there is nothing to compare.");
    assert!(of(&[drawn("old", 50, 1), drawn("new", 51, 1)], page()).identical.is_empty());
    let paged = |page: &str| read(&format!("page,latency_ms\n1,5\n{page},6\n"), None);
    assert!(of(&[paged("1"), paged("2")], page()).identical.is_empty());
    assert_eq!(of(&[paged("1"), paged("1")], page()).identical.len(), 1);
    let three = of(&[drawn("a", 50, 1), drawn("b", 50, 1), drawn("c", 50, 2)], page());
    assert!(three.warnings.iter().any(|warning| warning.starts_with("a and b hold the same samples")));
}

#[test]
fn differences_are_absolute_and_relative() {
    let comparison = of(&[side("fast", &spread_values(10.0)), side("slow", &spread_values(30.0))], page());
    let found = &comparison.differences[0];
    for differences in [&found.request, &found.experienced] {
        for name in ["mean", "50", "75", "90", "95", "99"] {
            let one = &differences[name];
            assert!((one.difference_ms - 20.0).abs() < 1e-9, "{name}: {one:?}");
            let base = 20.0 / one.relative.unwrap();
            assert!((10.0..15.0).contains(&base), "{name}: {one:?}");
            let ([low, high], [relative_low, relative_high]) = (one.ci_ms.unwrap(), one.relative_ci.unwrap());
            for (end, relative) in [(low, relative_low), (high, relative_high)] {
                assert!(end.is_some() || name == "99", "{name}: {one:?}");
                assert!(end.zip(relative).is_none_or(|(end, share)| (share * base - end).abs() < 1e-9));
                assert_eq!(end.is_some(), relative.is_some());
            }
            assert!(
                low.is_none_or(|low| low <= 20.0) && high.is_none_or(|high| high >= 20.0),
                "{name}: {one:?}"
            );
        }
    }
    let text = terminal::comparison(&comparison, terminal::Detail::Short);
    assert!(text.contains("slow less fast\n"), "{text}");
    let markdown = markdown::summary(&comparison);
    assert!(markdown.contains("| request p95 | +20.0 "), "{markdown}");
}

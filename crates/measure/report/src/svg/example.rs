//! A report for tests: swift has the better median and a tail of lost packets, steady has neither.

#![expect(clippy::cast_possible_truncation, reason = "positions in a list of 20 000")]

use std::{collections::BTreeMap, sync::LazyLock};

use crate::model::*;

pub(crate) fn report() -> Report {
    static MADE: LazyLock<Report> = LazyLock::new(make);
    MADE.clone()
}

fn make() -> Report {
    let sides = [Samples::new("swift", 1, swift), Samples::new("steady", 2, steady)];
    Report {
        schema: REPORT_SCHEMA.to_owned(),
        title: "swift and steady".to_owned(),
        summary: None,
        metric: "ttfb".to_owned(),
        start: None,
        valid: true,
        charts: sides.iter().map(Samples::charts).collect(),
        differences: vec![difference(&sides[0], &sides[1])],
        comparison: comparison(&sides),
        claims: Vec::new(),
        experiments: Vec::new(),
        details: BTreeMap::new(),
        faults: vec![FaultMark { label: "loss 5 %".to_owned(), at_s: 200.0, until_s: Some(240.0) }],
        partial: None,
        fidelity: None,
        conditions: Vec::new(),
        warnings: Vec::new(),
        doubts: Vec::new(),
    }
}

struct Samples {
    label: String,
    in_time: Vec<f64>,
    sorted: Vec<f64>,
}

impl Samples {
    fn new(label: &str, seed: u64, draw: fn(&mut Draws, f64) -> f64) -> Self {
        let mut draws = Draws(seed);
        let in_time: Vec<f64> = (0..N).map(|i| draw(&mut draws, i as f64 / N as f64)).collect();
        let mut sorted = in_time.clone();
        sorted.sort_by(f64::total_cmp);
        Self { label: label.to_owned(), in_time, sorted }
    }

    fn quantile(&self, share: f64) -> f64 {
        let position = share * (N - 1) as f64;
        let below = (position as usize).min(N - 2);
        self.sorted[below] + (position - below as f64) * (self.sorted[below + 1] - self.sorted[below])
    }

    fn mean(&self) -> f64 {
        self.sorted.iter().sum::<f64>() / N as f64
    }

    /// By the normal limit of the binomial distribution of ranks.
    fn ci(&self, share: f64) -> Ci {
        let spread = 1.96 * (share * (1.0 - share) / N as f64).sqrt();
        let end = |share: f64| (0.0..=1.0).contains(&share).then(|| self.quantile(share));
        // The last ten samples bound nothing.
        let upper = (share + spread < 1.0 - 2.0 / N as f64).then(|| end(share + spread)).flatten();
        [end((share - spread).max(0.0)), upper]
    }

    fn experienced(&self) -> Vec<Experienced> {
        let mut powers = vec![1.0; N + 1];
        let entry = |requests: u32| {
            for (i, power) in powers.iter_mut().enumerate() {
                *power *= i as f64 / N as f64;
            }
            let expected_ms = self.sorted.iter().zip(powers.windows(2)).map(|(x, p)| x * (p[1] - p[0])).sum();
            let percentiles_ms =
                PEOPLE.map(|people| self.quantile((people / 100.0_f64).powf(1.0 / f64::from(requests))));
            Experienced { expected_ms, percentiles_ms }
        };
        (1..=400).map(entry).collect()
    }

    fn charts(&self) -> SideCharts {
        SideCharts {
            label: self.label.clone(),
            quantiles: Quantiles {
                share: shares(),
                latency_ms: shares().iter().map(|&share| self.quantile(share)).collect(),
            },
            experienced: self.experienced(),
            band: Some(Band {
                share: shares(),
                ci_ms: shares().iter().map(|&share| self.ci(share)).collect(),
            }),
            page_views: None,
            page_views_band: None,
            over_time: Some(self.over_time()),
            heat: Some(self.heat()),
            phases: Some(self.phases()),
        }
    }

    fn over_time(&self) -> OverTime {
        let intervals = self.in_time.chunks(N / 60).map(|chunk| {
            let mut chunk = chunk.to_vec();
            chunk.sort_by(f64::total_cmp);
            [0.5, 0.9, 0.99, 1.0].map(|share| chunk[((chunk.len() - 1) as f64 * share) as usize])
        });
        let intervals: Vec<_> = intervals.take(60).collect();
        let column = |i: usize| intervals.iter().map(|interval| interval[i]).collect();
        OverTime {
            interval_s: 5.0,
            start_s: (0..60).map(|i| 5.0 * f64::from(i)).collect(),
            count: vec![(N / 60) as u64; 60],
            p50_ms: column(0),
            p90_ms: column(1),
            p99_ms: column(2),
            max_ms: column(3),
            left_out: 0,
        }
    }

    fn heat(&self) -> Heat {
        let edges_ms: Vec<f64> = (0..=48).map(|i| 40.0 * (f64::from(i) / 12.0).exp2()).collect();
        let mut counts = vec![0; 60 * 48];
        for (i, &ms) in self.in_time.iter().enumerate() {
            let row = ((ms / 40.0).log2() * 12.0).clamp(0.0, 47.0) as usize;
            counts[(i * 60 / N) * 48 + row] += 1;
        }
        Heat { interval_s: 5.0, start_s: 0.0, intervals: 60, edges_ms, counts, left_out: 0 }
    }

    fn phases(&self) -> PhaseStack {
        let parts =
            [("dns", 0.02), ("connect", 0.2), ("tls", 0.2), ("send", 0.01), ("wait", 0.55), ("rest", 0.02)];
        let column = |(phase, part): (&str, f64)| {
            let at = |&share: &f64| {
                let (all, median) = (self.quantile(share), self.quantile(0.5));
                let usual = all.min(median);
                part * usual + if phase == "wait" { all - usual } else { 0.0 }
            };
            PhaseColumn { phase: phase.to_owned(), mean_ms: shares().iter().map(at).collect() }
        };
        PhaseStack { share: shares(), phases: parts.map(column).into() }
    }

    fn side(&self) -> Side {
        let experienced = self.experienced();
        let by =
            |value: &dyn Fn(f64) -> f64| PEOPLE.iter().map(|&p| (p.to_string(), value(p / 100.0))).collect();
        let ci = |requests: f64| -> BTreeMap<String, Ci> {
            PEOPLE.iter().map(|&p| (p.to_string(), self.ci((p / 100.0).powf(1.0 / requests)))).collect()
        };
        let around = |ms: f64, half: f64| Some([Some(ms - half), Some(ms + half * 1.2)]);
        Side {
            label: self.label.clone(),
            format: "csv".to_owned(),
            read: N as u64,
            n: N as u64,
            failed: 0,
            without_metric: 0,
            excluded: 0,
            relative_error: None,
            invalid: Vec::new(),
            own_error_ms: None,
            figures: Some(SideFigures {
                expected_request_ms: self.mean(),
                expected_request_ci_ms: around(self.mean(), 1.1),
                standard_deviation_ms: 50.0,
                expected_experienced_ms: experienced[89].expected_ms,
                expected_experienced_ci_ms: around(
                    experienced[89].expected_ms,
                    experienced[89].expected_ms * 0.04,
                ),
                min_ms: self.sorted[0],
                max_ms: self.sorted[N - 1],
                request_percentiles_ms: by(&|share| self.quantile(share)),
                request_percentiles_ci_ms: ci(1.0),
                experienced_percentiles_ms: by(&|share| self.quantile(share.powf(1.0 / 90.0))),
                experienced_percentiles_ci_ms: ci(90.0),
                thin_above: 99.95,
                // 0.9995^90.
                experienced_thin_above: 95.6,
            }),
            block_length: (self.label == "swift").then_some(38),
            shifts: Vec::new(),
            failures: Failures::default(),
            pages: None,
        }
    }
}

fn difference(first: &Samples, second: &Samples) -> DifferenceCurve {
    let of = |&share: &f64| second.quantile(share) - first.quantile(share);
    let ci = |share: &f64| -> Ci {
        let ([low, high], [other_low, other_high]) = (first.ci(*share), second.ci(*share));
        let less = |one: Option<f64>, other: Option<f64>| Some(one? - other?);
        [less(other_low, high), less(other_high, low)]
    };
    DifferenceCurve {
        first: first.label.clone(),
        second: second.label.clone(),
        share: shares(),
        difference_ms: shares().iter().map(of).collect(),
        ci_ms: shares().iter().map(ci).collect(),
    }
}

fn comparison(sides: &[Samples; 2]) -> Comparison {
    let [swift, steady] = sides;
    let crossing = shares()
        .into_iter()
        .filter(|&share| share > 0.5)
        .find(|&share| swift.quantile(share) > steady.quantile(share));
    let crossing = crossing.unwrap_or(1.0);
    let verdict = |better: &str, difference_ms: f64| Verdict {
        better: Some(better.to_owned()),
        difference_ms,
        within_own_error: false,
        ci_ms: Some([Some(difference_ms * 0.9), Some(difference_ms * 1.1)]),
        share_better: Some(0.7),
        share_better_ci: Some([0.68, 0.72]),
        relative: None,
        sure: Some(1.0),
        certainty: Some(Certainty::Sure),
        samples_needed: None,
        basis: None,
    };
    let described = sides.each_ref().map(Samples::side);
    let expected = |side: &Side| side.figures.as_ref().map_or(0.0, |figures| figures.expected_experienced_ms);
    let lead = expected(&described[0]) - expected(&described[1]);
    let of_phases = |share: f64| PhaseDifference {
        percentile: (share * 100.0).to_string(),
        phases: swift
            .phases()
            .phases
            .iter()
            .zip(steady.phases().phases)
            .map(|(first, second)| {
                let at =
                    |column: &PhaseColumn| super::sentences::interpolated(&shares(), &column.mean_ms, share);
                PhaseShare { phase: first.phase.clone(), first_ms: at(first), second_ms: at(&second) }
            })
            .collect(),
        decisive: Some("wait".to_owned()),
    };
    Comparison {
        schema: "longhaul.compare/1".to_owned(),
        metric: "ttfb".to_owned(),
        excluded_phases: Vec::new(),
        valid: true,
        page: Page { requests: 180, required: 0.5, effective_requests: 90 },
        percentile_to_watch: PEOPLE.iter().map(|&p| (p.to_string(), 100.0 * (p / 100.0_f64).powf(1.0 / 90.0))).collect(),
        intervals: Some(Intervals { level: 0.95, resamples: 1000, seed: 1 }),
        verdict: Some(Verdicts {
            speed: Some(SpeedVerdicts {
                median_request: verdict("swift", 40.0),
                request: verdict("swift", 11.0),
                experienced: verdict("steady", lead),
                model: None,
            }),
            failures: None,
            headline: "swift is 40.0 ms faster at the median request, but steady is faster for the expected page of 180 \
                       requests (90 required)."
                .to_owned(),
            certainty: None,
            sentence: "swift is 40.0 ms faster at the median request, but steady is faster for the expected page of 180 \
                       requests (90 required)."
                .to_owned(),
        }),
        sides: described.into(),
        pairs: Vec::new(),
        identical: Vec::new(),
        differences: Vec::new(),
        crossovers: vec![Crossover {
            percentile: crossing * 100.0,
            ci: Some([crossing * 100.0 - 0.3, crossing * 100.0 + 0.3]),
            latency_ms: swift.quantile(crossing),
            faster_above: "steady".to_owned(),
        }],
        independence: Independence {
            checked: false,
            model_ms: None,
            observed_ms: None,
            sentence: "Not checked: the samples carry no page ids.".to_owned(),
            sides: Vec::new(),
        },
        phases: [0.5, 0.9, 0.99].map(of_phases).into(),
        breakdown: None,
        thresholds: Vec::new(),
        method: "Percentiles are type 7.".to_owned(),
        warnings: Vec::new(),
        doubts: Vec::new(),
    }
}

/// With a delay that grows for a while, and 2 % lost packets, retransmitted after 200 ms or more.
fn swift(draws: &mut Draws, time: f64) -> f64 {
    let usual = 95.0 * (0.25 * draws.normal()).exp() * if (0.65..0.8).contains(&time) { 1.3 } else { 1.0 };
    if draws.uniform() < 0.02 { usual + 200.0 + 300.0 * -draws.uniform().ln() } else { usual }
}

/// Hardly any spread.
fn steady(draws: &mut Draws, _: f64) -> f64 {
    140.0 * (0.1 * draws.normal()).exp()
}

/// Knuth's MMIX generator.
struct Draws(u64);

impl Draws {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (((self.0 >> 11) as f64) + 0.5) / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

fn shares() -> Vec<f64> {
    let body = (0..198).map(|i| f64::from(i) / 200.0);
    let tail = (0..=200_u32).map(|i| 1.0 - 0.01 * (1.0 - f64::from(i) / 200.0));
    body.chain(tail).collect()
}

const N: usize = 20_000;
const PEOPLE: [f64; 7] = [50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99];

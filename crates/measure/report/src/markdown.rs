//! A comparison as Markdown: a comment on a pull request, short enough to be read there.

use std::{collections::BTreeMap, fmt::Write};

use claim::Judgement;

use crate::{
    model::{Basis, Comparison, Crossover, Differences, Side, SideFigures},
    text::{
        self, count, difference, interval, label, latency, percent, plain, plural, signed_relative,
        with_interval,
    },
};

/// The verdict, thresholds, sides and crossovers; folded warnings; the conditions last.
pub fn summary(comparison: &Comparison) -> String {
    let sections = [
        headline(comparison),
        thresholds(&comparison.thresholds),
        sides(comparison),
        differences(comparison),
        crossovers(&comparison.crossovers),
        escape(&comparison.independence.sentence),
        warnings(&comparison.warnings),
        conditions(comparison),
    ];
    let sections: Vec<&str> =
        sections.iter().map(|section| section.trim_end()).filter(|section| !section.is_empty()).collect();
    sections.join("\n\n") + "\n"
}

fn headline(comparison: &Comparison) -> String {
    let mut text = match &comparison.verdict {
        Some(verdict) => match &verdict.certainty {
            Some(certainty) => format!("### {}\n\n{}\n", escape(&verdict.headline), escape(certainty)),
            None => format!("### {}\n", escape(&verdict.headline)),
        },
        None => format!("### {} of {}\n", escape(&comparison.metric), labels(comparison)),
    };
    for side in &comparison.sides {
        for reason in &side.invalid {
            let _ = write!(text, "\n**INVALID** {}: {}\n", escape(&side.label), escape(reason));
        }
    }
    let failed = comparison.thresholds.iter().filter(|one| !one.holds).count();
    match (comparison.thresholds.len(), failed) {
        (0, _) => {}
        (1, 0) => text += "\n**The threshold held.**\n",
        (all, 0) => {
            let _ = write!(text, "\n**All {all} thresholds held.**\n");
        }
        (all, failed) => {
            let _ = write!(text, "\n**FAILED: {failed} of {}.**\n", plural(all as u64, "threshold"));
        }
    }
    text
}

fn thresholds(thresholds: &[Judgement]) -> String {
    if thresholds.is_empty() {
        return String::new();
    }
    let mut text = "| threshold | held? | figure |\n| --- | --- | --- |\n".to_owned();
    for one in thresholds {
        let held = match (one.decided, one.holds) {
            (false, _) => "cannot be said",
            (true, true) => "yes",
            (true, false) => "**NO**",
        };
        let _ = writeln!(text, "| {} | {held} | {} |", escape(&one.claim), escape(&one.figure));
    }
    text
}

fn sides(comparison: &Comparison) -> String {
    let sides = &comparison.sides;
    if sides.is_empty() {
        return String::new();
    }
    let mut text = format!("| {}, ms |", escape(&comparison.metric));
    for side in sides {
        let _ = write!(text, " {} |", escape(&label(&side.label, LABEL)));
    }
    text += "\n| --- |";
    text += &" ---: |".repeat(sides.len());
    text.push('\n');
    let mut row = |name: &str, cell: &dyn Fn(&Side) -> String| {
        let _ = write!(text, "| {name} |");
        for side in sides {
            let _ = write!(text, " {} |", cell(side));
        }
        text.push('\n');
    };
    row("samples", &|side| count(side.n));
    row("expected request", &|side| {
        figure(side, &|it| with_interval(it.expected_request_ms, it.expected_request_ci_ms.as_ref()))
    });
    row("failed requests", &|side| {
        let failures = &side.failures;
        let counts = format!("{} of {}", count(side.failed), count(side.failed + side.n));
        format!("{counts}: {}", share(failures.request_share, failures.request_share_ci))
    });
    let has_pages = sides.iter().any(|side| side.pages.is_some());
    if has_pages || comparison.page.effective_requests > 1 {
        row("failed page views", &|side| {
            let failures = &side.failures;
            let by = if failures.basis == Some(Basis::Model) { " (model)" } else { "" };
            share(failures.page_share, failures.page_share_ci) + by
        });
    }
    if has_pages {
        row("real page views, mean", &|side| {
            let pages = side.pages.as_ref();
            pages
                .and_then(|pages| Some((pages.expected_ms?, pages)))
                .map_or_else(String::new, |(mean, pages)| with_interval(mean, pages.expected_ci_ms.as_ref()))
        });
        for name in SHOWN {
            row(&format!("real page views, p{name}"), &|side| {
                let pages = side.pages.as_ref();
                pages.map_or_else(String::new, |pages| {
                    percentile(&pages.percentiles_ms, name, pages.thin_above)
                })
            });
        }
    }
    let requests = comparison.page.effective_requests;
    row(&format!("expected experienced ({})", plural(requests.into(), "request")), &|side| {
        figure(side, &|it| with_interval(it.expected_experienced_ms, it.expected_experienced_ci_ms.as_ref()))
    });
    for name in SHOWN {
        row(&format!("request p{name}"), &|side| {
            figure(side, &|it| percentile(&it.request_percentiles_ms, name, it.thin_above))
        });
    }
    if sides.iter().any(|side| side.own_error_ms.is_some()) {
        row("of the mean, the emulator's own at most", &|side| {
            side.own_error_ms.as_ref().map_or_else(String::new, |error| latency(error.expected_request))
        });
        for name in SHOWN {
            row(&format!("of request p{name}"), &|side| {
                let error = side.own_error_ms.as_ref();
                error
                    .and_then(|error| error.request_percentiles.get(name))
                    .map_or_else(String::new, |ms| latency(*ms))
            });
        }
    }
    for name in SHOWN {
        row(&format!("experienced p{name}"), &|side| {
            figure(side, &|it| percentile(&it.experienced_percentiles_ms, name, it.experienced_thin_above))
        });
    }
    if text.contains('~') {
        text += "\n~ fewer than 10 samples beyond\n";
    }
    text
}

fn figure(side: &Side, cell: &dyn Fn(&SideFigures) -> String) -> String {
    side.figures.as_ref().map_or_else(String::new, cell)
}

fn share(share: f64, ci: Option<[f64; 2]>) -> String {
    let ends = ci.map_or_else(String::new, |[low, high]| {
        format!(" [{}, {}]", percent(low * 100.0), percent(high * 100.0))
    });
    format!("{} %{ends}", percent(share * 100.0))
}

fn differences(comparison: &Comparison) -> String {
    let one = |found: &Differences| {
        let (first, second) = (&found.first, &found.second);
        let mut text = format!(
            "| {} less {} | ms | % |\n| --- | ---: | ---: |\n",
            escape(&label(second, LABEL)),
            escape(&label(first, LABEL))
        );
        let people = match found.basis {
            Basis::ObservedPages => "real page views",
            Basis::Model => "experienced",
        };
        for (kind, differences) in [("request", &found.request), (people, &found.experienced)] {
            for name in ["mean", "50", "95", "99"] {
                let Some(found) = differences.get(name) else { continue };
                let name = if name == "mean" { "mean".to_owned() } else { format!("p{name}") };
                let ci = found.ci_ms.as_ref().map_or_else(String::new, |ci| format!(" {}", interval(ci)));
                let thin = if found.thin { "~" } else { "" };
                let relative = found.relative.map_or_else(String::new, signed_relative);
                let _ = writeln!(
                    text,
                    "| {kind} {name} | {}{thin}{ci} | {} |",
                    difference(found.difference_ms),
                    relative.replace(" %", "")
                );
            }
        }
        text
    };
    comparison.differences.iter().take(DIFFERENCES).map(one).collect::<Vec<_>>().join("\n")
}

fn percentile(values: &BTreeMap<String, f64>, name: &str, thin_above: f64) -> String {
    let is_thin = name.parse::<f64>().is_ok_and(|percentile| percentile >= thin_above);
    values
        .get(name)
        .map_or_else(String::new, |&ms| format!("{}{}", latency(ms), if is_thin { "~" } else { "" }))
}

fn crossovers(crossovers: &[Crossover]) -> String {
    let mut text = String::new();
    for one in crossovers.iter().take(CROSSOVERS) {
        let ci =
            one.ci.map_or_else(String::new, |[low, high]| format!(" [{}, {}]", percent(low), percent(high)));
        let faster = escape(&label(&one.faster_above, LABEL));
        let _ = writeln!(
            text,
            "- {faster} is faster above p{}{ci} ({} ms)",
            percent(one.percentile),
            latency(one.latency_ms)
        );
    }
    if crossovers.len() > CROSSOVERS {
        let _ = writeln!(text, "- and {} more", crossovers.len() - CROSSOVERS);
    }
    text
}

fn warnings(warnings: &[String]) -> String {
    if warnings.is_empty() {
        return String::new();
    }
    let mut text = format!("<details><summary>{}</summary>\n\n", plural(warnings.len() as u64, "warning"));
    for warning in warnings {
        let _ = writeln!(text, "- {}", escape(warning));
    }
    text + "\n</details>\n"
}

fn conditions(comparison: &Comparison) -> String {
    let samples = comparison
        .sides
        .iter()
        .map(|side| format!("{} {}", count(side.n), escape(&label(&side.label, LABEL))));
    let mut text = format!("<sub>n = {}", samples.collect::<Vec<_>>().join(", "));
    let _ = write!(text, "; {}", text::page(&comparison.page));
    if let Some(made) = &comparison.intervals {
        let level = percent(made.level * 100.0);
        let _ = write!(text, "; [{level} % intervals], {} resamples, seed {}", made.resamples, made.seed);
    }
    text + "</sub>\n"
}

fn labels(comparison: &Comparison) -> String {
    let labels: Vec<_> = comparison.sides.iter().map(|side| escape(&label(&side.label, LABEL))).collect();
    labels.join(", ")
}

/// Leaves nothing that Markdown interprets: code, links, emphasis, HTML, mentions, issue
/// references.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in plain(text).chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '\\' | '`' | '|' | '*' | '_' | '[' | ']' | '~' => escaped.extend(['\\', c]),
            '@' | '#' => escaped.extend([c, '\u{2060}']),
            c => escaped.push(c),
        }
    }
    escaped
}

const SHOWN: [&str; 3] = ["50", "95", "99"];
const CROSSOVERS: usize = 5;
const DIFFERENCES: usize = 4;
const LABEL: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::example;

    fn comparison() -> Comparison {
        let mut comparison = example::report().comparison;
        comparison.thresholds = vec![
            Judgement {
                claim: "experienced.p50 +5%".to_owned(),
                holds: true,
                decided: true,
                figure: "207.9 ms".to_owned(),
            },
            Judgement {
                claim: "request.mean < 100ms".to_owned(),
                holds: false,
                decided: true,
                figure: "129.9 | 130 ms".to_owned(),
            },
        ];
        comparison.warnings = vec!["swift: 3 of 110 events failed.".to_owned()];
        comparison
    }

    #[test]
    fn a_comment_has_the_verdict_first_and_the_conditions_last() {
        let text = summary(&comparison());
        let lines: Vec<_> = text.lines().collect();
        assert!(
            lines[0].starts_with("### swift is 40.0 ms faster at the median request, but steady"),
            "{text}"
        );
        assert_eq!(lines[2], "**FAILED: 1 of 2 thresholds.**");
        assert!(lines.contains(&"| request.mean &lt; 100ms | **NO** | 129.9 \\| 130 ms |"), "{text}");
        assert!(lines.contains(&"| ttfb, ms | swift | steady |"));
        assert!(lines.contains(&"| samples | 20 000 | 20 000 |"));
        assert!(lines.iter().any(|line| line.starts_with("| expected experienced (90 requests) | ")));
        let tail = lines.iter().find(|line| line.starts_with("| experienced p99 |")).unwrap();
        assert_eq!(tail.matches('~').count(), 2, "{tail}");
        assert!(lines.contains(&"<details><summary>1 warning</summary>"));
        assert_eq!(
            *lines.last().unwrap(),
            "<sub>n = 20 000 swift, 20 000 steady; page of 180 requests, 50 % required: 90 effective; [95 % intervals], \
             1000 resamples, seed 1</sub>"
        );
        for rows in lines.split(|line| !line.starts_with('|')).filter(|rows| !rows.is_empty()) {
            let cells = |row: &str| row.replace("\\|", "").matches('|').count();
            assert!(rows.iter().all(|row| cells(row) == cells(rows[0])), "{rows:?}");
        }
    }

    #[test]
    fn thresholds_that_held_are_said_to() {
        let mut comparison = comparison();
        comparison.thresholds.truncate(1);
        let verdict = comparison.verdict.as_mut().unwrap();
        (verdict.headline, verdict.certainty) =
            ("swift is faster.".to_owned(), Some("It is sure (99 %).".to_owned()));
        assert!(summary(&comparison).starts_with("### swift is faster.\n\nIt is sure (99 %).\n\n**The"));
        assert!(summary(&comparison).contains("\n**The threshold held.**\n"));
        comparison.thresholds.clear();
        let text = summary(&comparison);
        assert!(!text.contains("threshold") && !text.contains("\n\n\n"), "{text}");
    }

    #[test]
    fn a_label_stays_text() {
        let mut comparison = comparison();
        comparison.sides[0].label = "a|b`c`<img src=x>@you".to_owned();
        let text = summary(&comparison);
        assert!(text.contains("| a\\|b\\`c\\`&lt;img src=x&gt;@\u{2060}you |"), "{text}");
        assert!(!text.contains("<img"));
    }

    #[test]
    fn a_lone_side_has_a_headline_too() {
        let mut comparison = comparison();
        comparison.verdict = None;
        comparison.sides.truncate(1);
        assert!(summary(&comparison).starts_with("### ttfb of swift\n"));
    }
}

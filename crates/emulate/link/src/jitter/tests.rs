//! Distributions compared with their moments and quantiles.

use super::*;

const DRAWS: u32 = 100_000;

fn draws(shape: &Shape) -> Vec<f64> {
    let mut random = Random::new(3, [0; 8]);
    (0..DRAWS).map(|_| shape.draw(&mut random)).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt()
}

#[test]
fn uniform_has_its_moments() {
    let draws = draws(&Shape::Uniform);
    // sd 1 / sqrt(3); of the mean of 1e5 that is 0.0018. The sd's own error: sqrt(kurtosis - 1) sd / (2
    // sqrt(n)) with kurtosis 1.8, 0.0008. Four of each.
    assert!(mean(&draws).abs() < 0.0073, "{}", mean(&draws));
    assert!((deviation(&draws) - 1.0 / 3.0_f64.sqrt()).abs() < 0.0033, "{}", deviation(&draws));
}

#[test]
fn normal_has_its_moments() {
    let draws = draws(&Shape::Normal);
    // 1 / sqrt(1e5) = 0.0032, and 1 / sqrt(2e5) = 0.0022 for the deviation; four of each. The cut takes
    // 5e-4 of the variance.
    assert!(mean(&draws).abs() < 0.0127, "{}", mean(&draws));
    assert!((deviation(&draws) - 1.0).abs() < 0.009, "{}", deviation(&draws));
    // 15.87 % lie beyond one deviation: 15 866 +- 4 * 116.
    let beyond = draws.iter().filter(|draw| **draw > 1.0).count();
    assert!((15_400..=16_330).contains(&beyond), "{beyond}");
}

#[test]
fn pareto_has_its_quantiles() {
    let draws = draws(&Shape::Pareto);
    // P(X > x) = (3/2 + x sqrt(3) / 2)^-3; its fourth moment is infinite, so quantiles are tested.
    for x in [-0.5, 0.0, 1.0, 3.0] {
        let chance = (1.5 + x * 3.0_f64.sqrt() / 2.0).powi(-3);
        let beyond = draws.iter().filter(|draw| **draw > x).count() as f64;
        let expected = chance * f64::from(DRAWS);
        assert!((beyond - expected).abs() < 4.0 * (expected * (1.0 - chance)).sqrt(), "beyond {x}: {beyond}");
    }
    assert!(mean(&draws).abs() < 0.016, "{}", mean(&draws));
}

#[test]
fn a_table_gives_what_is_in_it() {
    let table = Table::parse(b"# mean 0\n-8192 0\n4096 4096 # two\n").unwrap();
    let shape = Shape::Table(Arc::new(table));
    let draws = draws(&shape);
    for (value, share) in [(-1.0, 0.25), (0.0, 0.25), (0.5, 0.5)] {
        let n = draws.iter().filter(|draw| **draw == value).count() as f64 / f64::from(DRAWS);
        assert!((n - share).abs() < 0.0064, "{value}: {n}");
    }
    assert_eq!(shape.least(), -1.0);
}

#[test]
fn no_draw_is_shorter_than_the_least() {
    let table = Arc::new(Table::parse(b"-32768 100 32767").unwrap());
    for shape in [Shape::Uniform, Shape::Normal, Shape::Pareto, Shape::Table(table)] {
        for spread in [0, 1, 333_333, 7_000_001] {
            let jitter =
                Jitter { spread: Duration::from_nanos(spread), shape: shape.clone(), order: Order::Kept };
            let mut random = Random::new(spread, [0; 8]);
            let propagation = Duration::from_millis(20);
            let least = jitter.least(propagation);
            assert!((0..20_000).all(|_| jitter.draw(propagation, &mut random) >= least), "{jitter:?}");
        }
    }
}

#[test]
fn tables_that_are_none_are_refused() {
    let said = |bytes: &[u8]| Table::parse(bytes).unwrap_err().to_string();
    assert_eq!(said(b"# nothing\n"), "the file is empty; expected whole numbers from -32768 to 32767");
    assert_eq!(said(b"1\n40000\n"), "line 2: found \"40000\"; expected whole numbers from -32768 to 32767");
    assert_eq!(said(&b"1 ".repeat(70_000)), "line 1: more than 65536 values; cut the file");
}

#[test]
fn names_print_what_parses_back() {
    for name in ["uniform", "normal", "pareto"] {
        assert_eq!(name.parse::<Shape>().unwrap().to_string(), name);
    }
    for name in ["kept", "free"] {
        assert_eq!(name.parse::<Order>().unwrap().to_string(), name);
    }
    assert_eq!(
        "gamma".parse::<Shape>().unwrap_err().to_string(),
        "\"gamma\" is not a shape of jitter; expected uniform, normal or pareto"
    );
}

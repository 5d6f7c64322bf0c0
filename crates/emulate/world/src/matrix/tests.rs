//! Valid tables, errors, and manually computed distances.

use super::*;
use crate::{Layout, World};

fn parse(text: &str) -> Result<Matrix, String> {
    let own = KnownCities::new([("mcmurdo".to_owned(), Place { lat: -77.85, lon: 166.67 })]);
    Matrix::parse(&Document::new("m.csv", text), &own).map_err(|mistake| mistake.to_string())
}

fn ms(matrix: &Matrix, a: &str, b: &str) -> Option<f64> {
    matrix.pairs.get(&(a.to_owned(), b.to_owned())).map(|rtt| rtt.as_secs_f64() * 1000.0)
}

#[test]
fn both_shapes_say_the_same() {
    let long =
        parse("from,to,rtt_ms\nlondon,paris,8.5\nLHR, JFK ,71.25\n# a word\n\nmcmurdo,AKL,600\n").unwrap();
    let wide =
        parse("\u{feff},london,\"paris\",JFK,akl\r\nlondon,0,8.5,71.25,\r\nmcmurdo,,,,600\r\n").unwrap();
    assert_eq!(long, wide);
    assert_eq!(ms(&long, "london", "newyork"), Some(71.25));
    assert_eq!(ms(&long, "auckland", "mcmurdo"), Some(600.0));
    assert_eq!((long.pairs.len(), long.notes.len()), (3, 0));
}

#[test]
fn two_directions_have_their_mean_and_are_mentioned() {
    let text = "from,to,rtt_ms\nlondon,tokyo,210\ntokyo,london,250\nlondon,paris,8\nparis,london,8\nparis,rome,30\nrome,paris,31\n";
    let matrix = parse(text).unwrap();
    assert_eq!(ms(&matrix, "london", "tokyo"), Some(230.0));
    let note = "2 pairs differ by direction and have their mean; most of all 210ms from london to tokyo, 250ms from tokyo to london";
    assert_eq!(matrix.notes, [note]);
}

#[test]
fn nonsense_has_a_place_and_a_remedy() {
    let long = |row: &str| format!("from,to,rtt_ms\n{row}\n");
    for (text, expected) in [
        (String::new(), "m.csv:1:1: the matrix is empty; expected the columns from,to,rtt_ms, or cities in"),
        (long("london,pariss,8"), "m.csv:2:8: unknown city \"pariss\"; did you mean \"paris\"?"),
        (
            long("london,paris,-8"),
            "m.csv:2:14: \"-8\" is not a round trip; expected milliseconds such as 71.5",
        ),
        (long("london,paris,NaN"), "m.csv:2:14: \"NaN\" is not a round trip"),
        (long("london,paris,inf"), "m.csv:2:14: \"inf\" is not a round trip"),
        (long("london,paris,8ms"), "m.csv:2:14: \"8ms\" is not a round trip"),
        (long("london,paris,0"), "m.csv:2:14: 0ms from london to paris is less than light needs"),
        // 5570 km minus a tolerance of 100 km, at 299 792 km/s: 36.5 ms. The value is in seconds.
        (long("london,newyork,0.071"), "m.csv:2:16: 71us from london to newyork is less than light needs"),
        (long("london,newyork,61000"), "m.csv:2:16: a round trip of 61s is more than the limit of 60s"),
        (
            long("london,paris,8\nparis,london,8\nlondon,paris,9"),
            "m.csv:4:14: the round trip from london to paris is there twice",
        ),
        (long("london,paris"), "m.csv:2:1: a row of 2 cells; expected from,to,rtt_ms"),
        (
            ",london,rom\n".to_owned(),
            "m.csv:1:9: unknown city \"rom\"; did you mean \"rome\"? (expected the columns",
        ),
        (",london,paris\nrome,1\n".to_owned(), "m.csv:2:1: a row of 2 cells, but the first has 3"),
        (",london\nrome;30\n".to_owned(), "m.csv:2:1: unknown city \"rome;30\""),
    ] {
        let said = parse(&text).unwrap_err();
        assert!(said.starts_with(expected), "expected {expected}\n  but got {said}");
    }
}

#[test]
fn a_matrix_has_a_limit() {
    let names: Vec<_> = (0..=MOST_CITIES).map(|number| format!("own{number}")).collect();
    let own = KnownCities::new(names.iter().map(|name| (name.clone(), Place { lat: 0.0, lon: 0.0 })));
    let row = |from: &String| format!("{from},{}\n", vec!["5"; names.len()].join(","));
    let text = format!(",{}\n{}", names.join(","), names.iter().map(row).collect::<String>());
    let said = Matrix::parse(&Document::new("m.csv", text), &own).unwrap_err().to_string();
    // 501 cities have 501 * 500 = 250 500 directed pairs; the 250 001st is in the last row.
    assert!(
        said.contains("m.csv:502:")
            && said.ends_with("more round trips than the limit of 250000, which is 500 cities"),
        "{said}"
    );
}

const THREE: &str = "
[world]
matrix = [['london', 'NRT', '300ms'], ['newyork', 'london', '70ms'], ['oslo', 'rome', '50ms']]
[[host]]
name = 'a'
city = 'london'
[[host]]
name = 'b'
city = 'newyork'
network = 'access'
[[host]]
name = 'c'
city = 'tokyo'
";

fn layout(text: &str) -> Layout {
    World::read(&Document::new("w.toml", text)).map(|(_, layout)| layout).unwrap()
}

#[test]
fn a_link_goes_before_the_matrix_and_the_matrix_before_the_map() {
    assert_eq!(layout(THREE).rtt(0, 1), Duration::from_millis(80));
    let lossy = layout(&format!("{THREE}[[link]]\nbetween = ['london', '*']\nloss = '1%'\n"));
    assert_eq!(lossy.rtt(0, 1), Duration::from_millis(80));
    let given = layout(&format!("{THREE}[[link]]\nbetween = ['london', '*']\nrtt = '90ms'\n"));
    assert_eq!(given.rtt(0, 1), Duration::from_millis(100));
    // New York to Tokyo has no measurement: 10 850 km with an inflation of 1.5 are 162.7 ms.
    let unmeasured = layout(&THREE.replace("network = 'access'\n", "")).rtt(1, 2).as_secs_f64();
    assert!((unmeasured - 0.1627).abs() < 0.001, "{unmeasured}");
}

#[test]
fn the_distance_is_what_one_computes_by_hand() {
    // London to New York, 5570 km: 83.6 ms generated, 70 measured: 19.4 % too long. London to Tokyo, 9560
    // km: 143.4 ms generated, 300 measured: 52.2 % too short. Of two values the first is the median and the
    // second the 90th percentile. The bias is (19.4 - 52.2) / 2 = -16.4 %.
    let distance = layout(THREE).distance().unwrap();
    assert_eq!((distance.measured, distance.pairs), (2, 3));
    assert!((distance.median - 0.194).abs() < 0.002 && (distance.p90 - 0.522).abs() < 0.002, "{distance:?}");
    assert!((distance.bias + 0.164).abs() < 0.002, "{distance:?}");
    assert_eq!(distance.worst.between, ["london", "tokyo"]);
    let said = distance.to_string();
    assert!(
        said.starts_with("2 of 3 pairs of cities have a measured round trip. The map's are off by 19."),
        "{said}"
    );
    assert!(
        said.contains("too short by 16.") && said.contains("between london and tokyo: 300 ms measured, 14"),
        "{said}"
    );
    assert_eq!(layout(&THREE.replace("matrix", "#")).distance(), None);
}

#[test]
fn a_list_of_pairs_is_checked_too() {
    let said = |pairs: &str| {
        let text = THREE.lines().map(|line| if line.starts_with("matrix") { pairs } else { line });
        World::read(&Document::new("w.toml", text.collect::<Vec<_>>().join("\n")))
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        said("matrix = [['london', 'pariss', '8ms']]"),
        "w.toml:3:10: unknown city \"pariss\"; did you mean \"paris\"?"
    );
    assert!(
        said("matrix = 'm.csv'").starts_with("w.toml:3:10: a text that is not a file cannot name a matrix")
    );
    assert!(
        said("matrix = 3").starts_with("w.toml:3:10: expected a file's name, or a list of pairs such as")
    );
}

//! Tests of the map of a synthetic planet, as text.

use planet::LinkStatus;
use world::{Document, World, file::Fault};

use super::*;
use crate::lab::example::{self, fault, host, link, status};
use crate::lab::view::picture;

fn layout(cities: &[&str]) -> Layout {
    let host = |(number, city)| format!("[[host]]\nname = 'h{number}'\ncity = '{city}'\n");
    let text: String = cities.iter().enumerate().map(host).collect();
    World::read(&Document::new("w.toml", text)).unwrap().1
}

fn window(links: Vec<LinkStatus>) -> Window {
    Window { before: None, now: status(vec![host("h0", "london")], links) }
}

fn text(window: &Window, cities: &[&str], columns: usize, rows: usize) -> Vec<String> {
    let lines = picture(window, &layout(cities), "", Size { columns, rows }, true);
    lines.iter().map(|line| example::plain(&line.to_string())).collect()
}

#[test]
fn cities_lie_as_they_do_on_earth() {
    let cities = ["newyork", "london", "singapore", "sydney"];
    let text = text(&window(Vec::new()), &cities, 100, 30);
    let at = |name: &str| {
        let row =
            text.iter().position(|line| line.contains(name)).unwrap_or_else(|| panic!("{name} in {text:#?}"));
        (text[row].split(name).next().unwrap().chars().count(), row)
    };
    let [newyork, london, singapore, sydney] = cities.map(at);
    assert!(newyork.0 < london.0 && london.0 < singapore.0 && singapore.0 < sydney.0, "{text:#?}");
    assert!(london.1 < newyork.1 && newyork.1 < singapore.1 && singapore.1 < sydney.1, "{text:#?}");
}

#[test]
fn a_link_over_the_date_line_goes_the_short_way() {
    let moving = window(vec![link("tokyo", "losangeles", 1_000_000)]);
    let cities = ["tokyo", "losangeles", "london"];
    let still = text(&window(Vec::new()), &cities, 120, 40);
    let moved = text(&moving, &cities, 120, 40);
    let changed = |columns: std::ops::Range<usize>| {
        let part = |line: &String| line.chars().skip(columns.start).take(columns.len()).collect::<String>();
        still.iter().zip(&moved).skip(2).any(|(a, b)| part(a) != part(b))
    };
    // The map ends in the Bering Strait, with london in the middle: the link must not cross it.
    assert!(changed(100..120) && changed(0..20));
    assert!(!changed(50..70));
}

#[test]
fn what_is_down_is_red() {
    let mut window = window(vec![LinkStatus { is_down: true, ..link("london", "paris", 0) }]);
    let dark = Fault { city: Some("paris".to_owned()), ..Fault::default() };
    window.now.faults.push(fault(1, dark));
    let lines = picture(&window, &layout(&["london", "paris"]), "", Size { columns: 80, rows: 24 }, true);
    let picture: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let letter = |style| Line::from(Words::styled('p', style)).to_string();
    assert!(picture.contains(&letter(RED)) && !picture.contains(&letter(BOLD)), "{picture}");
}

#[test]
fn every_size_of_window_is_filled_and_not_more() {
    let window = window(vec![link("london", "sydney", 1_000_000)]);
    for (columns, rows) in [(0, 0), (1, 1), (10, 3), (60, 14), (80, 24), (300, 90)] {
        let text = text(&window, &["london", "sydney"], columns, rows);
        assert!(text.len() <= rows && text.iter().all(|line| line.chars().count() <= columns), "{text:#?}");
    }
}

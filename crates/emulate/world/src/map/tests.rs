//! Maps are well-formed and complete, and cities are on land.

use std::collections::BTreeSet;

use config_file::Document;

use super::*;
use crate::{World, file::Fault, gazetteer};

fn layout(text: &str) -> Layout {
    World::read(&Document::new("w.toml", text)).map(|(_, layout)| layout).unwrap()
}

fn first(cities: usize) -> String {
    let host = |city: &gazetteer::Entry| format!("[[host]]\nname = 'in-{0}'\ncity = '{0}'\n", city.name);
    gazetteer::cities()[..cities].iter().map(host).collect()
}

fn count(svg: &str, element: &str, class: &str) -> usize {
    let document = roxmltree::Document::parse(svg).unwrap();
    let has = |node: &roxmltree::Node<'_, '_>| {
        node.has_tag_name(("http://www.w3.org/2000/svg", element))
            && node.attribute("class").is_some_and(|classes| classes.split(' ').any(|one| one == class))
            && node.parent().is_none_or(|parent| parent.attribute("class") != Some("legend"))
    };
    document.descendants().filter(has).count()
}

fn draw(text: &str, overlay: &Overlay) -> String {
    svg(&layout(text), Options::default(), overlay)
}

const LINK: &str = "[[link]]\nbetween = ['accra', 'abuja']\nrtt = '20ms'\n";

#[test]
fn up_to_thirty_cities_all_links_are_drawn() {
    let meshed = draw(&(first(30) + LINK), &Overlay::default());
    // 30 * 29 / 2 pairs, one of them named.
    assert_eq!((count(&meshed, "path", "generated"), count(&meshed, "path", "given")), (434, 1));
    assert_eq!(count(&meshed, "circle", "city"), 30);
    let crowd = draw(&(first(31) + LINK), &Overlay::default());
    assert_eq!((count(&crowd, "path", "generated"), count(&crowd, "path", "given")), (0, 1));
    let busiest = Overlay { links: BTreeSet::from([(3, 7)]), ..Overlay::default() };
    assert_eq!(count(&draw(&(first(31) + LINK), &busiest), "path", "given"), 2);
}

#[test]
fn a_link_for_all_others_is_no_named_one() {
    let wild = "[[link]]\nbetween = ['accra', '*']\nloss = '1%'\n";
    assert_eq!(count(&draw(&(first(31) + wild), &Overlay::default()), "path", "given"), 0);
}

#[test]
fn a_way_over_others_is_drawn_over_them() {
    let text = "[[host]]\nname = 'a'\ncity = 'london'\n[[host]]\nname = 'b'\ncity = 'tokyo'\n[[link]]\nbetween = ['london', 'tokyo']\nvia = ['dubai']\n";
    let svg = draw(text, &Overlay::default());
    assert!(
        svg.contains("london - dubai: ")
            && svg.contains("tokyo - dubai: ")
            && !svg.contains("london - tokyo")
    );
}

#[test]
fn faults_are_marked_where_they_are() {
    let layout = layout(&(first(31) + LINK));
    let with = |text: &str| {
        let fault: Fault = Document::new("f.toml", text).parse().unwrap();
        let overlay = Overlay { faults: vec![layout.effect(&fault).unwrap()], ..Overlay::default() };
        svg(&layout, Options::default(), &overlay)
    };
    let down = with("between = ['accra', 'abuja']\ndown = true");
    assert_eq!((count(&down, "path", "fault"), count(&down, "path", "rtt-1")), (1, 0));
    assert!(down.contains("abuja - accra: 20.0 ms, down"), "{down}");
    assert_eq!(count(&with("between = ['abidjan', 'abuja']\nloss = '5%'"), "path", "fault"), 1);
    let dark = with("city = 'accra'\ndown = true");
    assert_eq!((count(&dark, "circle", "dark"), count(&dark, "path", "fault")), (1, 1));
    assert_eq!(count(&with("partition = [['accra']]\ndown = true"), "path", "fault"), 1);
}

#[test]
fn a_catchment_colours_cities_by_their_site() {
    let text = first(40);
    let catchment = Catchment {
        name: "cdn".to_owned(),
        sites: vec![0, 1],
        of: (0..40).map(|city| if city == 39 { None } else { Some(city % 2) }).collect(),
    };
    let svg = draw(&text, &Overlay { catchment: Some(catchment), ..Overlay::default() });
    assert_eq!(
        (count(&svg, "path", "reach"), count(&svg, "circle", "ring"), count(&svg, "circle", "lost")),
        (37, 2, 1)
    );
    assert_eq!(count(&svg, "circle", "site-0"), 20 + 1);
    assert!(svg.contains("does not reach cdn") && svg.contains("reaches cdn in aarhus"));
    assert!(svg.contains("cdn in aarhus (20)") && svg.contains("out of reach (1)"));
}

#[test]
fn the_largest_cities_have_their_names() {
    let svg = draw(&first(gazetteer::cities().len()), &Overlay::default());
    for name in
        ["tokyo", "delhi", "newyork", "cairo", "saopaulo", "sydney", "lagos", "mexicocity", "istanbul"]
    {
        assert!(svg.contains(&format!(">{name}</text>")), "{name}");
    }
    let small =
        super::svg(&layout(&first(gazetteer::cities().len())), Options { width: 400 }, &Overlay::default());
    assert!(count(&small, "text", "label") < count(&svg, "text", "label"));
}

#[test]
fn any_name_makes_a_document() {
    let text = "[world]\nname = \"a <b> & \\u0001 'c'\"\n[[city]]\nname = '<script>\"&'\nlat = -77.85\nlon = 166.67\n[[host]]\nname = 'a'\ncity = '<script>\"&'\n";
    let svg = draw(text, &Overlay::default());
    let document = roxmltree::Document::parse(&svg).unwrap();
    assert!(document.descendants().any(|node| node.text() == Some("<script>\"&")));
    assert!(
        !svg.contains("http://") || svg.matches("http").count() == 1,
        "only the name space is an address"
    );
}

#[test]
fn antarctica_is_there_when_somebody_is() {
    let height = |text: &str| {
        let svg = draw(text, &Overlay::default());
        roxmltree::Document::parse(&svg)
            .unwrap()
            .root_element()
            .attribute("height")
            .unwrap()
            .parse::<f64>()
            .unwrap()
    };
    let south = "[[city]]\nname = 'mcmurdo'\nlat = -77.85\nlon = 166.67\n";
    assert!(height(&(first(2) + south)) > height(&first(2)) + 50.0);
}

fn is_land(lon: f64, lat: f64) -> bool {
    let lon = if lon < -169.0 { lon + 360.0 } else { lon };
    let is_inside = |coast: &[(f64, f64)]| {
        let next = coast.iter().cycle().skip(1);
        let crossed = |&(&(x1, y1), &(x2, y2)): &(&(f64, f64), &(f64, f64))| {
            (y1 > lat) != (y2 > lat) && lon < x1 + (lat - y1) / (y2 - y1) * (x2 - x1)
        };
        coast.iter().zip(next).filter(crossed).count() % 2 == 1
    };
    land::shapes().iter().any(|shape| !shape.name.starts_with("lake") && is_inside(&shape.coast))
}

#[test]
fn continents_are_where_they_are() {
    for (lon, lat) in [
        (25.0, 0.0),
        (-55.0, -10.0),
        (-100.0, 45.0),
        (100.0, 60.0),
        (134.0, -25.0),
        (2.0, 47.0),
        (0.0, -85.0),
        (-40.0, 72.0),
    ] {
        assert!(is_land(lon, lat), "{lon} {lat} is on land");
    }
    for (lon, lat) in [
        (-30.0, 30.0),
        (-150.0, 0.0),
        (80.0, -20.0),
        (-20.0, -30.0),
        (18.0, 35.0),
        (-85.0, 60.0),
        (35.0, 43.0),
        (-90.0, 25.0),
        (88.0, 15.0),
    ] {
        assert!(!is_land(lon, lat), "{lon} {lat} is at sea");
    }
    let names: BTreeSet<_> = land::shapes().iter().map(|shape| shape.name).collect();
    assert_eq!(names.len(), land::shapes().len());
    for shape in land::shapes() {
        assert!(shape.coast.len() >= 3, "{}", shape.name);
        assert!(
            shape.coast.iter().all(|&(lon, lat)| (-169.0..=191.0).contains(&lon) && lat.abs() <= 90.0),
            "{}",
            shape.name
        );
    }
}

#[test]
fn cities_are_on_land_or_near_it() {
    let is_far = |city: &&gazetteer::Entry| {
        let steps = || (-4..=4).map(|step| f64::from(step) * 0.5);
        !steps().any(|east| steps().any(|north| is_land(city.lon + east, city.lat + north)))
    };
    let lost: Vec<_> = gazetteer::cities().iter().filter(is_far).map(|city| city.name.as_str()).collect();
    let islands = [
        "apia",
        "bridgetown",
        "funchal",
        "guam",
        "male",
        "naha",
        "nassau",
        "papeete",
        "portlouis",
        "portvila",
        "praia",
        "saintdenis",
    ];
    assert_eq!(lost, islands);
}

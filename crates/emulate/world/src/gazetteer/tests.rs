//! Consistency of the gazetteer, and comparison with published distances.

use std::collections::BTreeSet;

use super::*;
use crate::geography::great_circle_km;

#[test]
fn every_city_is_on_earth_and_unique() {
    assert!(cities().len() >= 300);
    for pair in cities().windows(2) {
        assert!(pair[0].name < pair[1].name, "{} is out of order", pair[1].name);
    }
    for city in cities() {
        assert!(city.name.bytes().all(|byte| byte.is_ascii_lowercase()), "{}", city.name);
        assert!(city.lat.abs() <= 90.0 && city.lon.abs() <= 180.0, "{}", city.name);
        assert!(
            city.iata.len() == 3 && city.iata.bytes().all(|byte| byte.is_ascii_uppercase()),
            "{}",
            city.name
        );
    }
    let same = cities().iter().filter(|city| city.name.eq_ignore_ascii_case(&city.iata)).count();
    assert_eq!(BY_NAME.len(), 2 * cities().len() - same);
}

#[test]
fn a_citys_size_is_that_of_its_people() {
    for city in cities() {
        let expected = match city.people {
            10_000.. => Population::Mega,
            1_000.. => Population::Large,
            _ => Population::Small,
        };
        assert_eq!(city.population, expected, "{}", city.name);
    }
}

#[test]
fn no_two_cities_share_a_place() {
    for (index, a) in cities().iter().enumerate() {
        for b in &cities()[..index] {
            // The nearest pair, Kinshasa and Brazzaville, is separated by a river 8 km wide.
            assert!(great_circle_km(a.place(), b.place()) > 5.0, "{} and {}", a.name, b.name);
        }
    }
}

#[test]
fn every_city_has_a_country_and_every_country_a_place() {
    let codes: BTreeSet<_> = countries().iter().map(|country| country.code.as_str()).collect();
    let lived_in: BTreeSet<_> = cities().iter().map(|city| city.country.as_str()).collect();
    assert_eq!(codes.len(), countries().len(), "a code is there twice");
    assert_eq!(lived_in.difference(&codes).next(), None);
    for country in countries() {
        assert!(country.code.len() == 2 && country.code.bytes().all(|byte| byte.is_ascii_uppercase()));
        assert_eq!(country.place().is_some(), !lived_in.contains(country.code.as_str()), "{}", country.name);
        assert!(country.users > 0, "{}", country.name);
    }
}

#[test]
fn the_countries_add_up_to_the_world() {
    // The ITU counts 5.4 billion users in 2023; some countries have no figure.
    let users: u64 = countries().iter().map(|country| u64::from(country.users)).sum();
    assert!((5_250_000..=5_400_000).contains(&users), "{users} thousand");
}

#[test]
fn every_code_is_of_iso_3166() {
    for country in countries() {
        assert!(ISO_3166.split_whitespace().any(|code| code == country.code), "{}", country.code);
    }
}

#[test]
fn cities_are_found_by_name_and_airport() {
    assert_eq!(find("London").unwrap().country, "GB");
    assert_eq!(find("syd").unwrap().name, "sydney");
    assert!(find("atlantis").is_none());
}

#[test]
fn distances_are_those_that_others_publish() {
    // Great-circle distances from almanacs. 2 % covers rounding, the earth's flattening (0.5 %) and
    // the reference point in a city.
    for (a, b, km) in [
        ("amsterdam", "vienna", 935.0),
        ("auckland", "santiago", 9670.0),
        ("bangkok", "mumbai", 3010.0),
        ("buenosaires", "capetown", 6870.0),
        ("cairo", "capetown", 7240.0),
        ("chicago", "miami", 1910.0),
        ("dubai", "singapore", 5840.0),
        ("honolulu", "tokyo", 6210.0),
        ("istanbul", "moscow", 1760.0),
        ("johannesburg", "perth", 8320.0),
        ("lagos", "saopaulo", 6330.0),
        ("lima", "mexicocity", 4240.0),
        ("losangeles", "sydney", 12_070.0),
        ("madrid", "buenosaires", 10_050.0),
        ("moscow", "vladivostok", 6420.0),
        ("nairobi", "mumbai", 4530.0),
        ("newyork", "losangeles", 3940.0),
        ("oslo", "rome", 2010.0),
        ("paris", "hongkong", 9640.0),
        ("reykjavik", "london", 1890.0),
        ("anchorage", "seattle", 2320.0),
        ("manila", "jakarta", 2790.0),
    ] {
        let [from, to] = [a, b].map(|name| find(name).unwrap().place());
        let computed = great_circle_km(from, to);
        assert!((computed - km).abs() <= 0.02 * km, "{a} to {b}: {computed:.0} km, published {km} km");
    }
}

const ISO_3166: &str = "
    AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC
    CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD
    GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH
    KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW
    MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC
    SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY
    UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW";

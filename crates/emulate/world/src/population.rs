//! Distributes visitors over the cities of the gazetteer in proportion to Internet users.

use std::collections::BTreeMap;

use toml::Spanned;

use crate::{
    file::{Host, Spread, Visitors},
    gazetteer::{self, Country, Entry},
    geography::great_circle_km,
};

/// Number of `visitors` in each city, in the gazetteer's order, by the country's Internet users and
/// the city's population.
pub fn spread(visitors: u32) -> Vec<(&'static Entry, u32)> {
    let countries = gazetteer::countries();
    let users: Vec<_> = countries.iter().map(|country| country.users).collect();
    let mut counts = vec![0; gazetteer::cities().len()];
    for (country, count) in countries.iter().zip(apportion(visitors, &users)) {
        let cities = cities_of(country);
        let people: Vec<_> = cities.iter().map(|&city| gazetteer::cities()[city].people).collect();
        for (city, count) in cities.into_iter().zip(apportion(count, &people)) {
            counts[city] += count;
        }
    }
    gazetteer::cities().iter().zip(counts).filter(|&(_, count)| count > 0).collect()
}

/// Divides `total` in proportion to `weights`, by the largest remainder method (Hare-Niemeyer).
pub fn apportion(total: u32, weights: &[u32]) -> Vec<u32> {
    let sum: u64 = weights.iter().copied().map(u64::from).sum();
    if sum == 0 {
        return vec![0; weights.len()];
    }
    let shares = weights.iter().map(|&weight| u64::from(total) * u64::from(weight));
    let (mut counts, remainders): (Vec<_>, Vec<_>) = shares
        .map(|share| (u32::try_from(share / sum).expect("a share is at most the total"), share % sum))
        .unzip();
    let left = total - counts.iter().sum::<u32>();
    let mut by_remainder: Vec<_> = (0..weights.len()).collect();
    by_remainder.sort_by_key(|&index| std::cmp::Reverse(remainders[index]));
    for &index in by_remainder.iter().take(left as usize) {
        counts[index] += 1;
    }
    counts
}

impl Visitors {
    pub(crate) fn hosts(&self) -> Result<Vec<Host>, String> {
        let counts: Vec<(Spanned<String>, u32)> =
            match (self.spread, self.cities.as_slice()) {
                (Some(Spread::InternetUsers), []) => spread(*self.count.get_ref())
                    .into_iter()
                    .map(|(city, count)| (Spanned::new(self.count.span(), city.name.clone()), count))
                    .collect(),
                (None, [_, ..]) => {
                    let evenly = apportion(*self.count.get_ref(), &vec![1; self.cities.len()]);
                    self.cities.iter().cloned().zip(evenly).collect()
                }
                _ => return Err(
                    "visitors have either spread = \"internet-users\" or cities = [\"london\", \"paris\"]"
                        .to_owned(),
                ),
            };
        let cities = counts.into_iter().flat_map(|(city, count)| std::iter::repeat_n(city, count as usize));
        Ok(cities.enumerate().map(|(index, city)| self.host(index + 1, city)).collect())
    }

    fn host(&self, number: usize, city: Spanned<String>) -> Host {
        let name = self.name.as_ref().map_or("visitor", |name| name.get_ref().as_str());
        let span = self.name.as_ref().map_or(self.count.span(), Spanned::span);
        Host {
            name: Spanned::new(span, format!("{name}-{number}")),
            city,
            network: self.network,
            last_mile: self.last_mile,
            access: self.access.clone(),
            mptcp: self.mptcp,
            nic: None,
            congestion: self.congestion.clone(),
            sysctl: BTreeMap::new(),
        }
    }
}

fn cities_of(country: &Country) -> Vec<usize> {
    let cities = gazetteer::cities();
    match country.place() {
        None => (0..cities.len()).filter(|&city| cities[city].country == country.code).collect(),
        Some(capital) => {
            let km = |city: &usize| great_circle_km(cities[*city].place(), capital);
            (0..cities.len()).min_by(|a, b| km(a).total_cmp(&km(b))).into_iter().collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_name(visitors: u32) -> BTreeMap<&'static str, u32> {
        spread(visitors).into_iter().map(|(city, count)| (city.name.as_str(), count)).collect()
    }

    #[test]
    fn the_sum_is_exact() {
        for visitors in [0, 1, 2, 3, 10, 99, 300, 2000, 4999, 5000] {
            assert_eq!(spread(visitors).iter().map(|(_, count)| count).sum::<u32>(), visitors);
        }
    }

    #[test]
    fn the_largest_fractions_get_what_is_left() {
        assert_eq!(apportion(10, &[1, 2, 3]), [2, 3, 5]);
        assert_eq!(apportion(10, &[7, 7, 7]), [4, 3, 3]);
        assert_eq!(apportion(u32::MAX, &[u32::MAX, 0]), [u32::MAX, 0]);
        assert_eq!(apportion(10, &[0, 0]), [0, 0]);
        assert_eq!(apportion(10, &[]), []);
    }

    #[test]
    fn one_visitor_for_each_thousand_users_is_the_table() {
        // Every country's share is an integer. Ireland's 5100 are Dublin's and Cork's as 1300 :
        // 220. Ramallah's 4600 go to Tel Aviv (44 km), in addition to Israel's 8900.
        let world: u32 = gazetteer::countries().iter().map(|country| country.users).sum();
        let cities = by_name(world);
        assert_eq!((cities["dublin"], cities["cork"]), (4362, 738));
        assert_eq!(cities["telaviv"], 8900 + 4600);
        assert_eq!(cities["singapore"], 5700);
        assert_eq!(cities.len(), gazetteer::cities().len());
    }

    #[test]
    fn no_country_is_a_whole_visitor_from_its_share() {
        let world: u32 = gazetteer::countries().iter().map(|country| country.users).sum();
        let spread = spread(2000);
        let sends_elsewhere = |code: &str| {
            gazetteer::countries().iter().filter(|country| country.place().is_some()).any(|country| {
                cities_of(country).iter().any(|&city| gazetteer::cities()[city].country == code)
            })
        };
        for country in gazetteer::countries() {
            if country.place().is_some() || sends_elsewhere(&country.code) {
                continue;
            }
            let there = spread.iter().filter(|(city, _)| city.country == country.code);
            let count: u32 = there.map(|(_, count)| count).sum();
            let share = 2000.0 * f64::from(country.users) / f64::from(world);
            assert!((f64::from(count) - share).abs() < 1.0, "{}: {count} for {share:.2}", country.name);
        }
    }

    #[test]
    fn the_first_visitor_is_in_the_country_with_the_most_users() {
        // China's share of one visitor is 1 090 000 / 5 307 735 = 0.21, the largest; within China,
        // Shanghai's is the largest.
        assert_eq!(by_name(1), BTreeMap::from([("shanghai", 1)]));
    }
}

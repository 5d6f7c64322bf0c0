//! Resolves names on a planet; errors suggest existing names.

use anyhow::anyhow;
use config_file::suggestion;
use world::{CityId, Layout};

#[derive(Debug, Clone, Copy)]
pub(super) struct Names<'a> {
    pub planet: &'a str,
    pub layout: &'a Layout,
}

impl<'a> Names<'a> {
    pub(super) fn city(self, name: &str) -> anyhow::Result<String> {
        match self.layout.city(name) {
            Some(id) => Ok(self.name_of(id).to_owned()),
            None => Err(self.unknown("city", "cities", name, self.cities())),
        }
    }

    pub(super) fn host(self, name: &str) -> anyhow::Result<String> {
        match self.layout.host(name) {
            Some(id) => Ok(self.layout.hosts[id].name.clone()),
            None => Err(self.unknown("host", "hosts", name, self.hosts())),
        }
    }

    pub(super) fn access(self, host: &str, name: &str) -> anyhow::Result<String> {
        let host = self.host(host)?;
        let ports = self.layout.ports.iter().filter(|port| self.layout.hosts[port.host].name == host);
        let lines = ports.map(|port| {
            let kind = port.line.as_ref().and_then(|line| line.name.clone());
            (kind, format!("net{}", port.number))
        });
        let lines: Vec<_> = lines.collect();
        if lines.iter().any(|(kind, device)| kind.as_deref() == Some(name) || device == name) {
            return Ok(name.to_owned());
        }
        let known: Vec<_> = lines.into_iter().map(|(kind, device)| kind.unwrap_or(device)).collect();
        Err(anyhow!("host \"{host}\" has no access line \"{name}\"; it has {}", known.join(", ")))
    }

    pub(super) fn prefix(self, name: &str) -> anyhow::Result<String> {
        match self.layout.anycast(name) {
            Some(id) => Ok(self.layout.anycast[id].name.clone()),
            None => {
                let known = self.layout.anycast.iter().map(|any| any.name.as_str());
                Err(self.unknown("anycast prefix", "anycast prefixes", name, known))
            }
        }
    }

    /// Names may contain hyphens, so each hyphen may be the separator.
    pub(super) fn link(self, text: &str) -> anyhow::Result<[String; 2]> {
        let mut found = splits(text).filter_map(|(a, b)| Some([self.layout.city(a)?, self.layout.city(b)?]));
        match (found.next(), found.next()) {
            (Some([a, b]), None) => Ok([a, b].map(|id| self.name_of(id).to_owned())),
            (Some(first), Some(second)) => Err(anyhow!(
                "\"{text}\" can be read in two ways: {} and {}; declare the cities under other names",
                self.way(first),
                self.way(second)
            )),
            (None, _) => Err(self.no_link(text)),
        }
    }

    fn no_link(self, text: &str) -> anyhow::Error {
        if self.layout.city(text).is_some() {
            return anyhow!(
                "\"{text}\" is one city; name two, such as {}, or use: city {text}",
                self.example()
            );
        }
        if self.layout.host(text).is_some() {
            return anyhow!("\"{text}\" is a host; use: host {text}");
        }
        // Report the name that does not exist.
        for (a, b) in splits(text) {
            match (self.layout.city(a), self.layout.city(b)) {
                (Some(_), None) => return self.unknown("city", "cities", b, self.cities()),
                (None, Some(_)) => return self.unknown("city", "cities", a, self.cities()),
                _ => {}
            }
        }
        let cities = some(self.cities());
        anyhow!(
            "\"{text}\" is not a link on planet \"{}\"; expected two cities, such as {}; its cities are {cities}",
            self.planet,
            self.example()
        )
    }

    fn unknown<'n>(
        self,
        one: &str,
        many: &str,
        name: &str,
        known: impl Iterator<Item = &'n str> + Clone,
    ) -> anyhow::Error {
        let planet = self.planet;
        let hint = suggestion(name, known.clone());
        if !hint.is_empty() {
            return anyhow!("no {one} \"{name}\" on planet \"{planet}\"{hint}");
        }
        let known = some(known);
        if known.is_empty() {
            return anyhow!("no {one} \"{name}\" on planet \"{planet}\", nor any other");
        }
        anyhow!("no {one} \"{name}\" on planet \"{planet}\"; its {many} are {known}")
    }

    fn cities(self) -> impl Iterator<Item = &'a str> + Clone {
        self.layout.cities.iter().map(|city| city.name.as_str())
    }

    fn hosts(self) -> impl Iterator<Item = &'a str> + Clone {
        self.layout.hosts.iter().map(|host| host.name.as_str())
    }

    fn name_of(self, id: CityId) -> &'a str {
        &self.layout.cities[id].name
    }

    fn way(self, [a, b]: [CityId; 2]) -> String {
        format!("{} to {}", self.name_of(a), self.name_of(b))
    }

    fn example(self) -> String {
        self.cities().chain(["london", "newyork"]).take(2).collect::<Vec<_>>().join("-")
    }
}

fn splits(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.match_indices('-').map(|(at, _)| (&text[..at], &text[at + 1..]))
}

fn some<'n>(mut names: impl Iterator<Item = &'n str>) -> String {
    let shown: Vec<_> = names.by_ref().take(SHOWN).collect();
    shown.join(", ") + if names.next().is_some() { ", ..." } else { "" }
}

const SHOWN: usize = 20;

#[cfg(test)]
mod tests {
    use world::{Document, World};

    use super::*;

    fn with_names<T>(check: impl FnOnce(Names<'_>) -> T) -> T {
        let text = "
            [[city]]
            name = 'porto-novo'
            lat = 6.5
            lon = 2.6
            [[city]]
            name = 'novo-london'
            lat = 1.0
            lon = 1.0
            [[city]]
            name = 'porto'
            lat = 41.1
            lon = -8.6
            [[host]]
            name = 'origin'
            city = 'newyork'
            [[host]]
            name = 'visitor'
            city = 'london'
            access = ['cable', 'dsl']
        ";
        let (_, layout) = World::read(&Document::new("w.toml", text)).unwrap();
        check(Names { planet: "p", layout: &layout })
    }

    fn link(text: &str) -> Result<[String; 2], String> {
        with_names(|names| names.link(text).map_err(|error| error.to_string()))
    }

    #[test]
    fn a_link_is_two_cities_wherever_the_hyphen_is() {
        let pair = |a: &str, b: &str| Ok([a.to_owned(), b.to_owned()]);
        assert_eq!(link("london-newyork"), pair("london", "newyork"));
        assert_eq!(link("newyork-porto-novo"), pair("newyork", "porto-novo"));
        assert_eq!(link("porto-novo-newyork"), pair("porto-novo", "newyork"));
        assert_eq!(link("LHR-JFK"), pair("london", "newyork"));
    }

    #[test]
    fn a_link_with_two_readings_is_refused() {
        assert!(
            link("porto-novo-london").unwrap_err().contains("porto to novo-london and porto-novo to london")
        );
    }

    #[test]
    fn what_is_no_link_is_answered_with_what_there_is() {
        for (text, expected) in [
            ("lodnon-newyork", "no city \"lodnon\" on planet \"p\"; did you mean \"london\"?"),
            ("newyork-atlantis", "no city \"atlantis\" on planet \"p\"; its cities are "),
            ("london", "\"london\" is one city; name two"),
            ("origin", "\"origin\" is a host; use: host origin"),
            ("mars-venus", "\"mars-venus\" is not a link on planet \"p\"; expected two cities"),
            ("", "\"\" is not a link"),
        ] {
            let said = link(text).unwrap_err();
            assert!(said.starts_with(expected), "{text}: {said}");
        }
    }

    #[test]
    fn other_names_are_answered_alike() {
        let said = |result: anyhow::Result<String>| result.unwrap_err().to_string();
        with_names(|names| {
            assert_eq!(
                said(names.host("orign")),
                "no host \"orign\" on planet \"p\"; did you mean \"origin\"?"
            );
            assert_eq!(
                said(names.host("bob")),
                "no host \"bob\" on planet \"p\"; its hosts are origin, visitor"
            );
            assert_eq!(said(names.prefix("cdn")), "no anycast prefix \"cdn\" on planet \"p\", nor any other");
            assert_eq!(
                said(names.access("visitor", "lte")),
                "host \"visitor\" has no access line \"lte\"; it has cable, dsl"
            );
            assert_eq!(names.access("visitor", "cable").unwrap(), "cable");
            assert_eq!(names.access("visitor", "net0").unwrap(), "net0");
            assert_eq!(names.city("jfk").unwrap(), "newyork");
        });
    }
}

//! `longhaul lab catchment`: which site of an anycast prefix serves which city.

use std::{fmt::Write, path::PathBuf, process::ExitCode};

use clap::Args;
use planet::CatchmentOf;
use report::terminal::table::{Table, Words};
use units::show;
use world::{Layout, map};

use super::{
    Which, figures, layout_of,
    map::{running, write},
    names::Names,
};
use crate::output::{self, PLAIN, RED, YELLOW};

/// Show which site of an anycast prefix serves which city
///
/// Example: longhaul lab catchment cdn --map cdn.svg
#[derive(Debug, Args)]
pub(crate) struct Catchment {
    /// The prefix or its name
    prefix: String,
    /// Also write a map with the cities coloured by site
    #[arg(long, value_name = "FILE.svg")]
    map: Option<PathBuf>,
    #[command(flatten)]
    which: Which,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Catchment {
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let planet = self.which.find()?;
        let layout = layout_of(&planet)?;
        let names = Names { planet: planet.name(), layout: &layout };
        let catchment = planet.catchment(&names.prefix(&self.prefix)?)?;
        if let Some(path) = &self.map {
            let overlay = map::Overlay {
                catchment: Some(coloured(&catchment, &layout)),
                ..running(&planet.status()?, &layout)
            };
            write(path, &map::svg(&layout, map::Options::default(), &overlay))?;
        }
        if self.json {
            output::print_json(&output::named("longhaul.lab.catchment/1", &catchment))?;
        } else {
            output::print(&text(&catchment))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn text(catchment: &planet::Catchment) -> String {
    let prefixes = catchment.prefixes.join(" and ");
    let mut text = format!("{}: {prefixes}\n\n{}\n{}", catchment.name, sites(catchment), cities(catchment));
    let late = catchment.cities.iter().filter(|city| city.transient.is_some()).count();
    if late > 0 {
        let late = show::plural_of(late as u64, "city has", "cities have");
        let _ = writeln!(text, "{late} not heard of the last change yet");
    }
    text
}

fn sites(catchment: &planet::Catchment) -> Table {
    let mut table = Table::new(2, ["site", "in", "cities", "share"]);
    for site in &catchment.sites {
        let served = catchment.cities.iter().filter(|city| city.site.as_ref() == Some(&site.host)).count();
        let name = if site.is_announced {
            Words::from(&site.host)
        } else {
            Words::styled(format!("{}, withdrawn", site.host), YELLOW)
        };
        table.row([name, (&site.city).into(), served.to_string().into(), share(served, catchment).into()]);
    }
    let unserved = catchment.cities.iter().filter(|city| city.site.is_none()).count();
    if unserved > 0 {
        table.row([
            Words::styled("none", RED),
            "".into(),
            unserved.to_string().into(),
            share(unserved, catchment).into(),
        ]);
    }
    table
}

fn cities(catchment: &planet::Catchment) -> Table {
    let rank = |city: &CatchmentOf| {
        let place = catchment.sites.iter().position(|site| Some(&site.host) == city.site.as_ref());
        place.unwrap_or(usize::MAX)
    };
    let mut cities: Vec<_> = catchment.cities.iter().collect();
    cities.sort_by(|a, b| {
        let rtt = |city: &CatchmentOf| city.rtt_ms.unwrap_or(f64::MAX);
        rank(a).cmp(&rank(b)).then(rtt(a).total_cmp(&rtt(b))).then(a.city.cmp(&b.city))
    });
    let mut table = Table::new(2, ["city", "site", "rtt", "until it has heard"]);
    for city in cities {
        let site = city.site.as_ref().map_or_else(|| Words::styled("none", RED), Words::from);
        let rtt = city.rtt_ms.map_or_else(String::new, |ms| show::time(ms / 1e3));
        let transient = city.transient.clone().unwrap_or_default();
        let style = if transient.is_empty() { PLAIN } else { YELLOW };
        table.row([city.city.as_str().into(), site, rtt.into(), Words::styled(transient, style)]);
    }
    table
}

fn coloured(catchment: &planet::Catchment, layout: &Layout) -> map::Catchment {
    let mut of = vec![None; layout.cities.len()];
    for city in &catchment.cities {
        let site = catchment.sites.iter().position(|site| Some(&site.host) == city.site.as_ref());
        if let Some(id) = layout.city(&city.city) {
            of[id] = site;
        }
    }
    let sites = catchment.sites.iter().filter_map(|site| layout.city(&site.city)).collect();
    map::Catchment { name: catchment.name.clone(), sites, of }
}

fn share(part: usize, catchment: &planet::Catchment) -> String {
    let [part, all] = [part, catchment.cities.len()].map(|number| figures::whole(number as u64));
    show::share(part / all.max(1.0))
}

#[cfg(test)]
mod tests {
    use planet::SiteStatus;

    use super::*;

    fn site(host: &str, city: &str, is_announced: bool) -> SiteStatus {
        SiteStatus { host: host.to_owned(), city: city.to_owned(), is_announced }
    }

    fn city(name: &str, site: Option<(&str, f64)>, transient: Option<&str>) -> CatchmentOf {
        CatchmentOf {
            city: name.to_owned(),
            site: site.map(|(site, _)| site.to_owned()),
            rtt_ms: site.map(|(_, ms)| ms),
            transient: transient.map(str::to_owned),
        }
    }

    #[test]
    fn cities_are_grouped_by_site_and_counted() {
        let catchment = planet::Catchment {
            name: "cdn".to_owned(),
            prefixes: vec!["192.0.2.0/24".to_owned(), "2001:db8::/48".to_owned()],
            sites: vec![site("pop-nyc", "newyork", true), site("pop-fra", "frankfurt", false)],
            cities: vec![
                city("oslo", Some(("pop-fra", 16.4)), Some("old-site")),
                city("perth", None, None),
                city("boston", Some(("pop-nyc", 4.6)), None),
                city("newyork", Some(("pop-nyc", 0.3)), None),
            ],
        };
        let text = anstream::adapter::strip_str(&text(&catchment)).to_string();
        assert_eq!(
            text,
            "\
cdn: 192.0.2.0/24 and 2001:db8::/48

 site                 in          cities   share
─────────────────────────────────────────────────
 pop-nyc              newyork          2    50 %
 pop-fra, withdrawn   frankfurt        1    25 %
 none                                  1    25 %

 city      site          rtt   until it has heard
──────────────────────────────────────────────────
 newyork   pop-nyc    300 us
 boston    pop-nyc   4.60 ms
 oslo      pop-fra   16.4 ms             old-site
 perth     none
1 city has not heard of the last change yet
"
        );
    }
}

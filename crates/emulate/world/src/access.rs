//! Built-in access lines.

use std::sync::LazyLock;

use config_file::Document;
use serde::Deserialize;

use crate::file::Access;

/// The built-in access lines. `[[access]]` tables of a world file have the same format and take
/// precedence.
pub fn presets() -> &'static [Access] {
    &PRESETS.access
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Presets {
    access: Vec<Access>,
}

static PRESETS: LazyLock<Presets> = LazyLock::new(|| {
    Document::new("presets.toml", include_str!("access/presets.toml"))
        .parse()
        .expect("the presets are part of the program and are read by its tests")
});

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{Layout, World};

    fn layout(text: &str) -> Result<Layout, String> {
        let hosts = "[[host]]\nname = 'origin'\ncity = 'paris'\n[[host]]\nname = 'visitor'\ncity = 'paris'\n"
            .to_owned();
        let document = Document::new("w.toml", hosts + text);
        World::read(&document).map(|(_, layout)| layout).map_err(|mistake| mistake.to_string())
    }

    #[test]
    fn every_preset_is_complete() {
        for line in presets() {
            let own = &line.own;
            assert!(own.down >= own.up && own.up.is_some(), "{}", own.name.get_ref());
            assert!(own.rtt.is_some() && line.impairment.queue.is_some(), "{}", own.name.get_ref());
        }
        let names: Vec<_> = presets().iter().map(|line| line.own.name.get_ref().as_str()).collect();
        assert_eq!(names, ["fibre", "cable", "dsl", "lte", "5g", "satellite", "leo"]);
    }

    #[test]
    fn a_host_names_a_preset() {
        // 0.3 ms for a metro round trip, and 45 ms for LTE's last mile.
        let layout = layout("access = 'lte'\n").unwrap();
        assert_eq!(layout.rtt(0, 1), Duration::from_micros(45_300));
        let line = layout.first_port(1).line.as_ref().unwrap();
        let up = (line.up.rate.mean(), line.up.queue);
        let expected = ("10Mbit".parse().ok(), link::Limit::Time(Duration::from_secs(1)));
        assert_eq!((line.name.as_deref(), up), (Some("lte"), expected));
    }

    #[test]
    fn several_lines_are_several_devices() {
        let layout = layout("access = ['cable', '5g']\n").unwrap();
        let names: Vec<_> =
            layout.hosts[1].ports.clone().map(|port| layout.ports[port].line.clone().unwrap().name).collect();
        assert_eq!(names, [Some("cable".to_owned()), Some("5g".to_owned())]);
    }

    #[test]
    fn a_table_of_the_file_goes_before_a_preset() {
        let layout = layout("access = 'cable'\n[[access]]\nname = 'cable'\nrtt = '2ms'\n").unwrap();
        assert_eq!(layout.rtt(0, 1), Duration::from_micros(2_300));
    }

    #[test]
    fn an_unknown_line_is_answered_with_the_nearest() {
        let said = layout("access = 'fiber'\n").unwrap_err();
        assert_eq!(said, "w.toml:7:10: unknown access line \"fiber\"; did you mean \"fibre\"?");
    }
}

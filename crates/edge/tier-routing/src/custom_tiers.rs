//! The operator's own map of tiers.

use crate::{DataCentreId, Network};

/// The upper tier of each data centre; `None` requests from the origin. The map has no loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Custom {
    above: Vec<Option<DataCentreId>>,
}

/// Data centres that would forward requests in a loop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the tiers form a loop: {}; one of these must request from the origin, so remove its entry", self.words())]
pub struct Loop {
    /// The names in order of forwarding; the last forwards to the first.
    pub names: Vec<String>,
}

impl Loop {
    fn words(&self) -> String {
        let next = self.names.iter().skip(1).chain(self.names.first());
        let steps = self.names.iter().zip(next).map(|(from, to)| format!("{from} -> {to}"));
        steps.collect::<Vec<_>>().join(", ")
    }
}

impl Custom {
    /// Takes pairs of a data centre and its upper tier; the last pair of a data centre wins.
    ///
    /// # Errors
    /// When the pairs form a loop.
    pub fn new(
        network: &Network,
        pairs: impl IntoIterator<Item = (DataCentreId, DataCentreId)>,
    ) -> Result<Self, Loop> {
        let mut above = vec![None; network.len()];
        for (from, to) in pairs {
            above[usize::from(from.0)] = Some(to);
        }
        let map = Self { above };
        for start in network.ids() {
            let mut seen = Vec::new();
            let mut here = Some(start);
            while let Some(centre) = here {
                if let Some(first) = seen.iter().position(|&other| other == centre) {
                    let name = |&id: &DataCentreId| network.centre(id).name.clone();
                    return Err(Loop { names: seen[first..].iter().map(name).collect() });
                }
                seen.push(centre);
                here = map.above(centre);
            }
        }
        Ok(map)
    }

    /// The upper tier of a data centre; `None` is the origin.
    pub fn above(&self, centre: DataCentreId) -> Option<DataCentreId> {
        self.above.get(usize::from(centre.0)).copied().flatten()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::Centre;

    #[test]
    fn a_loop_is_named() {
        let centre = |name: &str| Centre { name: name.into(), region: "r".into(), weight: 1 };
        let network = Network::new(["lhr", "fra", "ams", "syd"].map(centre).into(), |_, _| Duration::ZERO);
        let map = |pairs: &[(u16, u16)]| {
            Custom::new(&network, pairs.iter().map(|&(from, to)| (DataCentreId(from), DataCentreId(to))))
        };
        assert_eq!(map(&[(3, 0), (0, 1)]).unwrap().above(DataCentreId(3)), Some(DataCentreId(0)));
        let said = map(&[(3, 0), (0, 1), (1, 2), (2, 0)]).unwrap_err().to_string();
        assert_eq!(
            said,
            "the tiers form a loop: lhr -> fra, fra -> ams, ams -> lhr; one of these must request from the origin, \
             so remove its entry"
        );
        assert_eq!(map(&[(1, 1)]).unwrap_err().names, ["fra"]);
    }
}

//! Weighted rendezvous hashing (Thaler and Ravishankar 1998; the logarithm is from Schindelhauer
//! and Schomaker 2005).
//!
//! Each data centre derives a number u in 0..1 from the key and its own name, and the least -ln(u)
//! / weight wins. So each holds keys in proportion to its weight, and adding or removing one moves
//! no key between two others. Among equal weights the largest u wins, which needs no logarithm.

use crate::{KeyHash, data_centre::DataCentreId, key::fold};

/// Data centres that share the keys.
#[derive(Debug, Clone, Default)]
pub struct Rendezvous {
    /// Heaviest first.
    classes: Vec<Class>,
}

#[derive(Debug, Clone)]
struct Class {
    weight: f64,
    /// The contribution of each name to a draw; same index as `centres`.
    seeds: Vec<Seed>,
    centres: Vec<DataCentreId>,
}

#[derive(Debug, Clone, Copy)]
struct Seed(u64, u64);

#[derive(Debug, Clone, Copy)]
struct Winner {
    /// 1 - u, which keeps its precision where u is close to 1.
    missing: f64,
    weight: f64,
    centre: DataCentreId,
}

impl Rendezvous {
    /// Takes data centres with their names and weights. Weight 0 counts as 1.
    pub fn new<'n>(members: impl IntoIterator<Item = (DataCentreId, &'n str, u32)>) -> Self {
        let mut members: Vec<_> = members.into_iter().collect();
        members.sort_by_key(|&(id, _, weight)| (std::cmp::Reverse(weight.max(1)), id));
        let mut classes: Vec<Class> = Vec::new();
        for (id, name, weight) in members {
            let weight = f64::from(weight.max(1));
            if classes.last().is_none_or(|class| class.weight > weight) {
                classes.push(Class { weight, seeds: Vec::new(), centres: Vec::new() });
            }
            if let Some(class) = classes.last_mut() {
                class.seeds.push(Seed::of(name));
                class.centres.push(id);
            }
        }
        Self { classes }
    }

    /// The data centre that holds a key, among those that `is_allowed` accepts.
    pub fn first(&self, key: KeyHash, is_allowed: impl Fn(DataCentreId) -> bool) -> Option<DataCentreId> {
        // Nearly always all are allowed, and checking each would cost more than the choice.
        let best = |winners: &mut dyn Iterator<Item = Winner>| winners.reduce(Winner::better);
        let of_all = best(&mut self.classes.iter().filter_map(|class| class.first(key)));
        let of_all = of_all.map(|winner| winner.centre).filter(|&centre| is_allowed(centre));
        of_all.or_else(|| {
            let allowed = self.classes.iter().filter_map(|class| class.first_of(key, &is_allowed));
            best(&mut { allowed }).map(|winner| winner.centre)
        })
    }

    /// All data centres, heaviest first.
    pub fn members(&self) -> impl Iterator<Item = DataCentreId> + '_ {
        self.classes.iter().flat_map(|class| class.centres.iter().copied())
    }
}

impl Class {
    /// A loop without branches that depend on the draws. It processes both halves in parallel,
    /// because each comparison depends on the previous one.
    fn first(&self, key: KeyHash) -> Option<Winner> {
        let middle = self.seeds.len() / 2;
        let (front, back) = self.seeds.split_at(middle);
        let (mut most, mut at) = ([0; 2], [0, middle]);
        let mut compare = |half: usize, position: usize, seed: &Seed| {
            let number = seed.draw(key);
            at[half] = if number > most[half] { position } else { at[half] };
            most[half] = most[half].max(number);
        };
        for (position, (one, other)) in front.iter().zip(back).enumerate() {
            compare(0, position, one);
            compare(1, middle + position, other);
        }
        if let Some(last) = back.get(middle) {
            compare(1, 2 * middle, last);
        }
        let half = usize::from(most[1] > most[0]);
        self.centres.get(at[half]).map(|&centre| self.winner(most[half], centre))
    }

    fn first_of(&self, key: KeyHash, is_allowed: &impl Fn(DataCentreId) -> bool) -> Option<Winner> {
        let allowed = self.seeds.iter().zip(&self.centres).filter(|(_, centre)| is_allowed(**centre));
        let drawn = allowed.map(|(seed, &centre)| (seed.draw(key), centre));
        // The first of equal draws wins, as above.
        let most = drawn.reduce(|best, other| if other.0 > best.0 { other } else { best });
        most.map(|(number, centre)| self.winner(number, centre))
    }

    fn winner(&self, number: u64, centre: DataCentreId) -> Winner {
        Winner { missing: (!number) as f64 / TWO_TO_64, weight: self.weight, centre }
    }
}

impl Winner {
    fn better(self, other: Self) -> Self {
        // m <= -ln(1 - m) <= m / (1 - m): these bounds usually decide.
        let (least, most) = (self.missing / self.weight, self.missing / ((1.0 - self.missing) * self.weight));
        if most <= other.missing / other.weight {
            return self;
        }
        if other.missing / ((1.0 - other.missing) * other.weight) < least {
            return other;
        }
        let score = |winner: &Self| -(-winner.missing).ln_1p() / winner.weight;
        if score(&other) < score(&self) { other } else { self }
    }
}

impl Seed {
    fn of(name: &str) -> Self {
        let seed = KeyHash::of(name.as_bytes()).0;
        Self(seed, seed.rotate_left(32) | 1)
    }

    #[inline]
    fn draw(self, key: KeyHash) -> u64 {
        fold(key.0 ^ self.0, self.1)
    }
}

const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn named(weights: &[u32]) -> Rendezvous {
        let names: Vec<_> = (0..weights.len()).map(|number| format!("dc{number}")).collect();
        let members = names.iter().zip(weights).enumerate();
        Rendezvous::new(
            members.map(|(id, (name, &weight))| {
                (DataCentreId(u16::try_from(id).unwrap()), name.as_str(), weight)
            }),
        )
    }

    fn keys() -> impl Iterator<Item = KeyHash> {
        (0..100_000_u32).map(|number| KeyHash::of(format!("https://www.shop.example/{number}").as_bytes()))
    }

    #[test]
    fn each_has_keys_in_proportion_to_its_weight() {
        let weights = [1, 1, 2, 4, 8, 4];
        let places = named(&weights);
        let mut counts = [0_u32; 6];
        for key in keys() {
            counts[usize::from(places.first(key, |_| true).unwrap().0)] += 1;
        }
        for (count, weight) in counts.into_iter().zip(weights) {
            let share = f64::from(weight) / 20.0;
            let expected = 100_000.0 * share;
            // Five standard deviations.
            let bound = 5.0 * (expected * (1.0 - share)).sqrt();
            assert!((f64::from(count) - expected).abs() < bound, "{count} for {expected}");
        }
    }

    #[test]
    fn one_that_is_gone_moves_its_own_keys_and_no_others() {
        let places = named(&[3, 1, 1, 2, 5]);
        let gone = DataCentreId(3);
        for key in keys().take(20_000) {
            let (before, after) = (places.first(key, |_| true), places.first(key, |id| id != gone));
            assert!(before == Some(gone) || before == after);
            assert_ne!(after, Some(gone));
        }
        assert_eq!(places.first(KeyHash(1), |_| false), None);
    }

    #[test]
    fn names_decide_and_not_their_order() {
        let [one, other] = [[(0, "lhr"), (1, "fra"), (2, "syd")], [(2, "syd"), (0, "lhr"), (1, "fra")]];
        let of = |list: [(u16, &'static str); 3]| {
            Rendezvous::new(list.map(|(id, name)| (DataCentreId(id), name, 2)))
        };
        let (one, other) = (of(one), of(other));
        assert!(keys().take(1000).all(|key| one.first(key, |_| true) == other.first(key, |_| true)));
    }
}

//! Which of several data centres has a key: weighted rendezvous hashing (Thaler and Ravishankar 1998; the logarithm is from Schindelhauer
//! and Schomaker 2005).
//!
//! Each data centre draws a number u in 0..1 from the key and its own name, and the least -ln(u) / weight wins. So each gets keys in
//! proportion to its weight, and when one goes or comes, no key changes its place between two others. Of those with equal weights the
//! largest u wins, so that one logarithm for each distinct weight is enough.

use crate::{CentreId, KeyHash, key::fold};

/// Data centres that share the keys.
#[derive(Debug, Clone, Default)]
pub struct Rendezvous {
    /// By weight, the heaviest first.
    classes: Vec<Class>,
}

#[derive(Debug, Clone)]
struct Class {
    weight: f64,
    /// Each one's name as a number, and beside it the data centre.
    seeds: Vec<u64>,
    centres: Vec<CentreId>,
}

impl Rendezvous {
    /// Of data centres with their names and weights. One with weight 0 counts as one with weight 1.
    pub fn new<'n>(members: impl IntoIterator<Item = (CentreId, &'n str, u32)>) -> Self {
        let mut members: Vec<_> = members.into_iter().collect();
        members.sort_by_key(|&(id, _, weight)| (std::cmp::Reverse(weight.max(1)), id));
        let mut classes: Vec<Class> = Vec::new();
        for (id, name, weight) in members {
            let weight = f64::from(weight.max(1));
            if classes.last().is_none_or(|class| class.weight > weight) {
                classes.push(Class { weight, seeds: Vec::new(), centres: Vec::new() });
            }
            if let Some(class) = classes.last_mut() {
                class.seeds.push(KeyHash::of(name.as_bytes()).0);
                class.centres.push(id);
            }
        }
        Self { classes }
    }

    /// Whose key it is, of those that are allowed.
    pub fn first(&self, key: KeyHash, is_allowed: impl Fn(CentreId) -> bool) -> Option<CentreId> {
        // Nearly always all are, and asking about each would cost more than the choice.
        self.best(key, |_| true).filter(|&found| is_allowed(found)).or_else(|| self.best(key, is_allowed))
    }

    /// All of them, the heaviest first.
    pub fn members(&self) -> impl Iterator<Item = CentreId> + '_ {
        self.classes.iter().flat_map(|class| class.centres.iter().copied())
    }

    fn best(&self, key: KeyHash, is_allowed: impl Fn(CentreId) -> bool) -> Option<CentreId> {
        let mut best: Option<(f64, CentreId)> = None;
        for class in &self.classes {
            let drawn = class.seeds.iter().map(|&seed| draw(key, seed)).zip(&class.centres);
            let mut winner: Option<(u64, CentreId)> = None;
            for (number, &centre) in drawn {
                if winner.is_none_or(|(most, _)| number > most) && is_allowed(centre) {
                    winner = Some((number, centre));
                }
            }
            let Some((number, centre)) = winner else { continue };
            // 1 - u, which has all its digits where u is close to 1.
            let missing = (!number) as f64 / TWO_TO_64;
            let score = -(-missing).ln_1p() / class.weight;
            if best.is_none_or(|(least, _)| score < least) {
                best = Some((score, centre));
            }
        }
        best.map(|(_, centre)| centre)
    }
}

/// The same for a key and a name on every machine.
fn draw(key: KeyHash, seed: u64) -> u64 {
    fold(key.0 ^ seed, seed.rotate_left(32) | 1)
}

const TWO_TO_64: f64 = 18_446_744_073_709_551_616.0;

#[cfg(test)]
mod tests {
    use super::*;

    fn named(weights: &[u32]) -> Rendezvous {
        let names: Vec<_> = (0..weights.len()).map(|number| format!("dc{number}")).collect();
        let members = names.iter().zip(weights).enumerate();
        Rendezvous::new(
            members
                .map(|(id, (name, &weight))| (CentreId(u16::try_from(id).unwrap()), name.as_str(), weight)),
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
            // Binomial: five standard deviations.
            let bound = 5.0 * (expected * (1.0 - share)).sqrt();
            assert!((f64::from(count) - expected).abs() < bound, "{count} for {expected}");
        }
    }

    #[test]
    fn one_that_is_gone_moves_its_own_keys_and_no_others() {
        let places = named(&[3, 1, 1, 2, 5]);
        let gone = CentreId(3);
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
        let of =
            |list: [(u16, &'static str); 3]| Rendezvous::new(list.map(|(id, name)| (CentreId(id), name, 2)));
        let (one, other) = (of(one), of(other));
        assert!(keys().take(1000).all(|key| one.first(key, |_| true) == other.first(key, |_| true)));
    }
}

//! Smooth weighted round robin: the picks of a heavy member are spread over the cycle.
//!
//! Each pick adds each candidate's weight to its credit, and takes the sum of the weights from the
//! candidate with the most credit. After a cycle all credits are where they began, so each member was
//! picked in proportion to its weight.

#[derive(Debug, Default)]
pub(super) struct RoundRobin(Vec<i64>);

impl RoundRobin {
    pub(super) fn new(members: usize) -> Self {
        Self(vec![0; members])
    }

    /// Takes members with their weights, which may change between picks. The first of equal credits
    /// wins.
    pub(super) fn next(&mut self, candidates: &[(usize, i64)]) -> Option<usize> {
        let total: i64 = candidates.iter().map(|(_, weight)| weight).sum();
        let mut best: Option<(usize, i64)> = None;
        for &(member, weight) in candidates {
            let credit = self.0.get_mut(member)?;
            *credit += weight;
            if best.is_none_or(|(_, most)| *credit > most) {
                best = Some((member, *credit));
            }
        }
        let (member, _) = best?;
        *self.0.get_mut(member)? -= total;
        Some(member)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn candidates(weights: &[i64]) -> Vec<(usize, i64)> {
        weights.iter().copied().enumerate().collect()
    }

    #[test]
    fn heavy_member_is_not_picked_in_a_burst() {
        let mut rotation = RoundRobin::new(3);
        let picks: Vec<_> = (0..7).filter_map(|_| rotation.next(&candidates(&[5, 1, 1]))).collect();
        assert_eq!(picks, [0, 0, 1, 0, 2, 0, 0]);
        assert_eq!(rotation.next(&[]), None);
    }

    proptest! {
        #[test]
        fn shares_of_each_cycle_are_the_weights(weights in prop::collection::vec(1i64..20, 1..8)) {
            let (mut rotation, total) = (RoundRobin::new(weights.len()), weights.iter().sum::<i64>());
            let mut picks = vec![0; weights.len()];
            for number in 1..=3 * total {
                picks[rotation.next(&candidates(&weights)).unwrap()] += 1;
                for (picked, weight) in picks.iter().zip(&weights) {
                    // The sum of all credits is 0 after each pick. The largest credit before a pick is
                    // positive, and after it more than -total: a member is less than one pick ahead.
                    prop_assert!(picked * total - number * weight < total);
                    if number % total == 0 {
                        prop_assert_eq!(picked * total, number * weight);
                    }
                }
            }
        }
    }
}

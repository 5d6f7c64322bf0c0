//! A FIFO or LRU queue: a linked list in a vector, so that an object moves without a search.

use std::collections::HashMap;

use crate::number::ByNumber;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnHit {
    Stays,
    Moves,
}

#[derive(Debug)]
pub(crate) struct Queue {
    capacity: u64,
    bytes: u64,
    on_hit: OnHit,
    nodes: Vec<Node>,
    free: Vec<usize>,
    places: HashMap<u64, usize, ByNumber>,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    number: u64,
    bytes: u64,
    /// Both ends link to [`ENDS`].
    older: usize,
    newer: usize,
}

const ENDS: usize = 0;

impl Queue {
    pub(crate) fn new(capacity: u64, on_hit: OnHit) -> Self {
        let ends = Node { number: 0, bytes: 0, older: ENDS, newer: ENDS };
        Self { capacity, bytes: 0, on_hit, nodes: vec![ends], free: Vec::new(), places: HashMap::default() }
    }

    pub(crate) fn insert(&mut self, number: u64, bytes: u64, gone: &mut Vec<u64>) {
        if let Some(place) = self.places.remove(&number) {
            self.take_out(place);
        }
        if bytes > self.capacity {
            gone.push(number);
            return;
        }
        while self.bytes + bytes > self.capacity {
            let oldest = self.nodes[ENDS].newer;
            let number = self.nodes[oldest].number;
            self.places.remove(&number);
            self.take_out(oldest);
            gone.push(number);
        }
        let node = Node { number, bytes, older: ENDS, newer: ENDS };
        let place = match self.free.pop() {
            Some(place) => {
                self.nodes[place] = node;
                place
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() - 1
            }
        };
        self.places.insert(number, place);
        self.bytes += bytes;
        self.link(place);
    }

    pub(crate) fn hit(&mut self, number: u64) {
        if self.on_hit == OnHit::Moves
            && let Some(&place) = self.places.get(&number)
        {
            self.unlink(place);
            self.link(place);
        }
    }

    fn take_out(&mut self, place: usize) {
        self.unlink(place);
        self.bytes -= self.nodes[place].bytes;
        self.free.push(place);
    }

    fn link(&mut self, place: usize) {
        let newest = self.nodes[ENDS].older;
        self.nodes[place].older = newest;
        self.nodes[place].newer = ENDS;
        self.nodes[newest].newer = place;
        self.nodes[ENDS].older = place;
    }

    fn unlink(&mut self, place: usize) {
        let Node { older, newer, .. } = self.nodes[place];
        self.nodes[older].newer = newer;
        self.nodes[newer].older = older;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_a_list(
            steps in prop::collection::vec((0_u64..20, 1_u64..40, any::<bool>()), 1..300),
            moves in any::<bool>(),
        ) {
            let mut queue = Queue::new(100, if moves { OnHit::Moves } else { OnHit::Stays });
            // Oldest first.
            let mut list: Vec<(u64, u64)> = Vec::new();
            for (number, bytes, is_hit) in steps {
                let position = list.iter().position(|(other, _)| *other == number);
                if is_hit {
                    queue.hit(number);
                    if let Some(position) = position.filter(|_| moves) {
                        let object = list.remove(position);
                        list.push(object);
                    }
                    continue;
                }
                let mut gone = Vec::new();
                queue.insert(number, bytes, &mut gone);
                position.map(|position| list.remove(position));
                let mut expected = Vec::new();
                while list.iter().map(|(_, bytes)| bytes).sum::<u64>() + bytes > 100 {
                    expected.push(list.remove(0).0);
                }
                list.push((number, bytes));
                prop_assert_eq!(gone, expected);
                prop_assert_eq!(queue.bytes, list.iter().map(|(_, bytes)| bytes).sum::<u64>());
                prop_assert_eq!(queue.places.len(), list.len());
            }
        }
    }
}

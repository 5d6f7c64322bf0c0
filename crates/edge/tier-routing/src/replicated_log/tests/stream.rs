//! The same guarantee with a stream, which drops old messages, while all links may be cut.

use super::*;

/// Far fewer messages of a log than a history publishes.
const KEPT: usize = 2;

impl Centre {
    fn read(&mut self, mut piece: LogSlice<u64>) {
        let (log, before) = (piece.log, piece.first - 1);
        let last = before + piece.entries.len() as u64;
        piece.forgets |= before > self.ledger.reached(log);
        self.take_pieces(vec![piece]);
        let last = last.min(self.ledger.reached(log));
        if last > 0 {
            self.in_stream.reach(log, last);
        }
    }

    fn word(&self) -> Message {
        let mut message = self.message(&self.ledger.position(), &Position::default());
        self.known.values().for_each(|known| message.over.join(&self.ledger.over(&known.said)));
        message
    }
}

impl World {
    pub(super) fn in_stream(&self) -> Position {
        let mut position = Position::default();
        for piece in self.stream.iter().flatten() {
            position.reach(piece.log, piece.first - 1 + piece.entries.len() as u64);
        }
        position
    }

    /// It reads all messages before it publishes, as in the edge.
    pub(super) fn put(&mut self, at: usize) {
        self.read(at, usize::MAX);
        let centre = &mut self.centres[at];
        let logs: Vec<_> = centre.ledger.position().logs().map(|(log, _)| log).collect();
        for log in logs {
            while let Some(piece) = centre.ledger.rest(log, centre.in_stream.reached(log), MOST_TOLD) {
                centre.in_stream.reach(log, piece.first - 1 + piece.entries.len() as u64);
                self.stream.push(Some(piece));
            }
            let mut of_log: Vec<_> = self
                .stream
                .iter_mut()
                .filter(|kept| kept.as_ref().is_some_and(|piece| piece.log == log))
                .collect();
            let dropped = of_log.len().saturating_sub(KEPT);
            of_log.iter_mut().take(dropped).for_each(|kept| **kept = None);
        }
        let are_known = centre.known.len() + centre.missing.len() + 1 >= CENTRES;
        let has = |known: &Known, log| known.said.reached(log) > 0;
        let is_over = |&log: &LogId| {
            let somebody_has = centre.known.values().any(|known| has(known, log));
            are_known && centre.ledger.is_settled(log) && !somebody_has
        };
        let over: Vec<_> = centre.in_stream.logs().map(|(log, _)| log).filter(is_over).collect();
        for log in over {
            centre.in_stream.leave(log);
            let of_log = |piece: &LogSlice<u64>| piece.log == log;
            self.stream
                .iter_mut()
                .filter(|kept| kept.as_ref().is_some_and(of_log))
                .for_each(|kept| *kept = None);
        }
    }

    pub(super) fn read(&mut self, at: usize, messages: usize) {
        let centre = &mut self.centres[at];
        let begin = centre.read.min(self.stream.len());
        let end = begin.saturating_add(messages).min(self.stream.len());
        centre.read = end;
        self.stream[begin..end].iter().flatten().for_each(|piece| centre.read(piece.clone()));
    }

    pub(super) fn say(&mut self, from: usize, to: usize) {
        let is_missing = |at: usize, other| self.centres[at].missing.contains(&other);
        if from != to && !is_missing(to, from) {
            let mut word = self.centres[from].word();
            (word.over, word.pieces) = self.centres[to].ledger.ends_here(&word.over);
            self.centres[to].take(from, &word);
        }
    }

    fn come_together_by_stream(&mut self) -> Result<(), TestCaseError> {
        for _ in 0..ENOUGH {
            if self.is_even() {
                break;
            }
            for at in 0..CENTRES {
                self.read(at, usize::MAX);
                self.put(at);
            }
            for (from, to) in (0..CENTRES).flat_map(|from| (0..CENTRES).map(move |to| (from, to))) {
                self.say(from, to);
            }
        }
        prop_assert!(self.is_even());
        Ok(())
    }
}

fn steps_with_stream() -> impl Strategy<Value = Step> {
    with_stream(steps().boxed())
}

fn with_stream(steps: BoxedStrategy<Step>) -> impl Strategy<Value = Step> {
    let centre = || 0..CENTRES;
    prop_oneof![
        33 => steps,
        4 => centre().prop_map(|at| Step::Put { at }),
        6 => (centre(), 1_usize..4).prop_map(|(at, messages)| Step::Read { at, messages }),
        4 => (centre(), centre()).prop_map(|(from, to)| Step::Say { from, to }),
    ]
}

proptest! {
    #![proptest_config(proptest_cases::or(2000))]

    #[test]
    fn no_visitor_sees_what_was_there_before_though_purges_come_through_a_stream(
        steps in prop::collection::vec(steps_with_stream(), 1..160),
        are_cut in any::<bool>(),
    ) {
        let mut world = World::new(true);
        if are_cut {
            world.cut = (0..CENTRES).flat_map(|a| (a + 1..CENTRES).map(move |b| (a, b))).collect();
        }
        for step in steps {
            world.step(step)?;
        }
        if are_cut {
            world.come_together_by_stream()?;
        } else {
            world.come_together()?;
        }
    }

    #[test]
    fn all_hear_of_everything_over_links_though_files_differed_and_some_was_dropped(
        steps in prop::collection::vec(with_stream(steps_with_files().boxed()), 1..160)
    ) {
        let mut world = World::new(false);
        for step in steps {
            world.step(step)?;
        }
        world.come_together()?;
    }
}

#[test]
fn who_comes_after_the_stream_has_dropped_something_takes_everything_for_stale() {
    let mut world = World::new(true);
    for _ in 0..=KEPT {
        world.step(Step::Purge { at: 0 }).unwrap();
        world.put(0);
    }
    assert_eq!(world.stream.iter().flatten().count(), KEPT);
    world.centres[1].stored = Some(0);
    world.read(1, usize::MAX);
    let there = &world.centres[1];
    assert_eq!((there.stored, there.reached.to_string().as_str()), (None, "0:2"));
    assert!(there.ledger.covers(&world.centres[0].ledger.position()));
    world.step(Step::Purge { at: 0 }).unwrap();
    world.put(0);
    world.read(1, usize::MAX);
    assert_eq!(world.centres[1].reached.to_string(), "0:2");
    assert_eq!(world.centres[1].noted.last().map(|new| new.number), Some(4));
}

#[test]
fn a_log_that_is_over_stays_in_the_stream_until_nobody_has_it() {
    let mut world = World::new(true);
    world.cut = (0..CENTRES).flat_map(|a| (a + 1..CENTRES).map(move |b| (a, b))).collect();
    world.step(Step::Purge { at: 3 }).unwrap();
    world.put(3);
    world.step(Step::Resume { at: 3 }).unwrap();
    for at in 0..3 {
        world.read(at, usize::MAX);
        world.say(at, 3);
    }
    world.step(Step::Look { at: 3 }).unwrap();
    world.put(3);
    assert!(world.centres[3].ledger.is_settled(LogId(3)));
    world.step(Step::Restart { at: 3 }).unwrap();
    world.come_together_by_stream().unwrap();
    world.step(Step::Look { at: 0 }).unwrap();
    world.put(0);
    assert_eq!(world.stream.iter().flatten().count(), 1);
    for (from, to) in [(0, 1), (0, 2), (0, 3), (1, 0), (2, 0), (3, 0)] {
        world.say(from, to);
    }
    world.put(0);
    assert_eq!(world.stream.iter().flatten().count(), 0);
}

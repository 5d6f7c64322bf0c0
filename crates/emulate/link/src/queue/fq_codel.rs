//! FQ-CoDel: one queue per flow, served round-robin, each controlled by CoDel (RFC 8290).

use std::{collections::VecDeque, time::Duration};

use super::{Fifo, Grant, Judgement, Waiting, codel::Codel};
use crate::amount::Amount;

#[derive(Debug)]
pub(crate) struct FqCodel<T> {
    target: Duration,
    interval: Duration,
    quantum: i64,
    seed: u64,
    /// Indexed by hash; a queue is created by its first packet.
    flows: Vec<Option<Box<Flow<T>>>>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    chosen: usize,
    amount: Amount,
}

#[derive(Debug)]
struct Flow<T> {
    packets: Fifo<T>,
    codel: Codel,
    deficit: i64,
    listed: bool,
}

impl<T> FqCodel<T> {
    /// `flows` is from 1 to 65536, and `quantum` at least 1.
    pub(crate) fn new(target: Duration, interval: Duration, flows: u32, quantum: u32, seed: u64) -> Self {
        Self {
            target,
            interval,
            quantum: quantum.max(1).into(),
            seed,
            flows: (0..flows.clamp(1, 65_536)).map(|_| None).collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            chosen: 0,
            amount: Amount::default(),
        }
    }

    pub(crate) fn amount(&self) -> Amount {
        self.amount
    }

    pub(crate) fn enqueue(&mut self, waiting: Waiting<T>) {
        self.amount += waiting.amount();
        let index = self.index(waiting.flow);
        let flow = self.flows[index].get_or_insert_with(|| {
            Box::new(Flow {
                packets: Fifo::default(),
                codel: Codel::new(self.target, self.interval),
                deficit: 0,
                listed: false,
            })
        });
        flow.packets.enqueue(waiting);
        if !flow.listed {
            flow.listed = true;
            flow.deficit = self.quantum;
            self.new.push_back(index);
        }
    }

    /// RFC 8290, section 4.2.
    pub(crate) fn judge(&mut self, now_ps: u64) -> Option<Judgement> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let index = *list.front()?;
            let flow = self.flows[index].as_mut()?;
            if flow.deficit <= 0 {
                flow.deficit += self.quantum;
                list.pop_front();
                self.old.push_back(index);
                continue;
            }
            let Some(leaving) = flow.packets.leaving(now_ps) else {
                flow.codel.rest();
                list.pop_front();
                // A flow that was new must wait for the others once; otherwise it could remain new
                // forever.
                flow.listed = is_new;
                if is_new {
                    self.old.push_back(index);
                }
                continue;
            };
            self.chosen = index;
            return Some(match flow.codel.judge(leaving) {
                Judgement::Pass(grant) => {
                    Judgement::Pass(Grant { most: segments_for(flow.deficit, leaving.bytes), ..grant })
                }
                Judgement::Signal => Judgement::Signal,
            });
        }
    }

    pub(crate) fn choose_longest(&mut self) {
        let listed = self.new.iter().chain(&self.old).copied();
        let waits = |index: usize| {
            let amount = self.flows[index].as_ref().map(|flow| flow.packets.amount()).unwrap_or_default();
            (amount.bytes, amount.segments)
        };
        // The first of several; `max_by_key` would return the last.
        if let Some(longest) = listed.reduce(|best, next| if waits(next) > waits(best) { next } else { best })
        {
            self.chosen = longest;
        }
    }

    pub(crate) fn head(&self) -> Option<&Waiting<T>> {
        self.flows[self.chosen].as_ref()?.packets.head()
    }

    pub(crate) fn take(&mut self, segments: u32) -> Amount {
        let Some(flow) = &mut self.flows[self.chosen] else { return Amount::default() };
        let taken = flow.packets.take(segments);
        self.amount -= taken;
        taken
    }

    pub(crate) fn send(&mut self, segments: u32) {
        let bytes = i64::try_from(self.take(segments).bytes).unwrap_or(i64::MAX);
        if let Some(flow) = &mut self.flows[self.chosen] {
            flow.deficit = flow.deficit.saturating_sub(bytes);
        }
    }

    pub(crate) fn into_packets(self) -> impl Iterator<Item = Waiting<T>> {
        self.flows.into_iter().flatten().flat_map(|flow| flow.packets.into_packets())
    }

    /// The hash is mixed with the link's seed, so that two flows that collide here do not collide
    /// on every link.
    #[expect(clippy::cast_possible_truncation, reason = "the remainder is an index")]
    fn index(&self, flow: u64) -> usize {
        (mixed(flow ^ self.seed) % self.flows.len() as u64) as usize
    }
}

fn segments_for(deficit: i64, segment_bytes: u64) -> u32 {
    let deficit = u64::try_from(deficit).unwrap_or(0);
    u32::try_from(deficit.div_ceil(segment_bytes.max(1))).unwrap_or(u32::MAX)
}

fn mixed(bits: u64) -> u64 {
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

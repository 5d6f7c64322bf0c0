//! Limits concurrent transfers per client household and in total.

use std::{
    collections::BTreeMap,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::config::Limits;
use crate::client_prefix::household;

/// Memory is bounded by the number of running transfers.
#[derive(Debug)]
pub(crate) struct Admission {
    limits: Limits,
    running: Mutex<Running>,
}

#[derive(Debug, Default)]
struct Running {
    total: usize,
    of: BTreeMap<IpAddr, usize>,
}

#[derive(Debug)]
pub(crate) struct Leave {
    admission: Arc<Admission>,
    household: IpAddr,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Full {
    Address,
    Total,
}

impl Admission {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, running: Mutex::default() }
    }

    pub(crate) fn enter(self: &Arc<Self>, address: IpAddr) -> Result<Leave, Full> {
        let household = household(address);
        let mut running = self.lock();
        if running.total >= self.limits.transfers {
            return Err(Full::Total);
        }
        let own = running.of.get(&household).copied().unwrap_or(0);
        if own >= self.limits.transfers_per_address {
            return Err(Full::Address);
        }
        running.of.insert(household, own + 1);
        running.total += 1;
        Ok(Leave { admission: Arc::clone(self), household })
    }

    pub(crate) fn running(&self) -> usize {
        self.lock().total
    }

    fn lock(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Leave {
    fn drop(&mut self) {
        let mut running = self.admission.lock();
        running.total -= 1;
        if let Some(own) = running.of.get_mut(&self.household) {
            *own -= 1;
            if *own == 0 {
                running.of.remove(&self.household);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_its_share_and_gives_it_back() {
        let limits = Limits { transfers: 3, transfers_per_address: 2, ..Limits::default() };
        let admission = Arc::new(Admission::new(limits));
        let enter = |text: &str| admission.enter(text.parse().unwrap());
        let (one, two) = (enter("192.0.2.1").unwrap(), enter("::ffff:192.0.2.1").unwrap());
        assert_eq!(enter("192.0.2.1").unwrap_err(), Full::Address, "the same one, mapped");
        let other = enter("2001:db8::1").unwrap();
        assert_eq!(enter("192.0.2.2").unwrap_err(), Full::Total);
        drop((one, other));
        let of_network = [enter("2001:db8::2").unwrap(), enter("2001:db8::3").unwrap()];
        assert_eq!(admission.running(), 3);
        drop((two, of_network));
        assert_eq!(admission.running(), 0);
        assert!(admission.lock().of.is_empty());
    }
}

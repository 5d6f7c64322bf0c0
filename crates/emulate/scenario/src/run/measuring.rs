//! Running measurements, and measurements that wait for others.

use std::{collections::HashMap, path::PathBuf, time::Duration};

use crate::{clock::monotonic, error::Error, measurement::Task, program::Process};

pub(super) struct Measuring {
    waiting: Vec<Task>,
    running: Vec<Running>,
    ran: HashMap<PathBuf, [Duration; 2]>,
}

struct Running {
    task: Task,
    process: Process,
    begun: Duration,
    begun_monotonic: Duration,
}

impl Measuring {
    pub(super) fn of(waiting: Vec<Task>) -> Self {
        Self { waiting, running: Vec::new(), ran: HashMap::new() }
    }

    pub(super) fn is_over(&self) -> bool {
        self.waiting.is_empty() && self.running.is_empty()
    }

    pub(super) fn next(&mut self) -> Option<Task> {
        let turn =
            self.waiting.iter().position(|one| one.after.as_ref().is_none_or(|side| self.is_done(side)));
        turn.map(|turn| self.waiting.remove(turn))
    }

    pub(super) fn started(&mut self, task: Task, process: Process, begun: Duration) {
        self.running.push(Running { task, process, begun, begun_monotonic: monotonic() });
    }

    pub(super) fn forget_waiting(&mut self) {
        self.waiting.clear();
    }

    pub(super) fn ask(&self) {
        self.running.iter().for_each(|one| one.process.ask());
    }

    pub(super) fn let_go(&mut self) {
        self.running.retain_mut(|one| matches!(one.process.ended(), Ok(None)));
    }

    pub(super) fn look(&mut self, now: Duration) -> Result<(), Error> {
        let mut running = Vec::new();
        for mut one in self.running.drain(..) {
            if one.has_ended(now)? {
                self.ran.insert(one.task.job.log, [one.begun_monotonic, monotonic()]);
            } else {
                running.push(one);
            }
        }
        self.running = running;
        Ok(())
    }

    pub(super) fn into_ran(self) -> HashMap<PathBuf, [Duration; 2]> {
        self.ran
    }

    fn is_done(&self, side: &str) -> bool {
        let running = self.running.iter().map(|running| &running.task);
        !self.waiting.iter().chain(running).any(|task| task.side == side)
    }
}

impl Running {
    fn has_ended(&mut self, now: Duration) -> Result<bool, Error> {
        self.process.check_result()?;
        let Some(status) = self.process.ended()? else {
            return match self.task.timeout {
                Some(timeout) if now.saturating_sub(self.begun) > timeout => Err(Error::TooLong {
                    what: self.process.what.clone(),
                    timeout: units::duration::show(timeout),
                    last_words: self.process.last_words(),
                }),
                _ => Ok(false),
            };
        };
        let code = status.code().and_then(|code| u8::try_from(code).ok());
        if code.is_some_and(|code| self.task.codes.contains(&code)) {
            return Ok(true);
        }
        Err(self.process.died(status))
    }
}

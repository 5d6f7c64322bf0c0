//! Observed wall-clock times with the file's age at that time: the references for the time between
//! two servers.
//!
//! A machine without a real-time clock starts in the past and sets its clock later, so times before
//! this program existed are ignored. A current time after the latest observed one is measured from
//! that, and an earlier one from the last, because the clock may have been corrected since.

use redb::{ReadableTable, Table};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Seen {
    age: u64,
    last: Option<Sight>,
    latest: Option<Sight>,
}

/// Unix time in seconds, and the file's age at that time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sight {
    wall_s: u64,
    age: u64,
}

impl Sight {
    fn age(self, wall_s: u64) -> u64 {
        self.age.saturating_add(wall_s.saturating_sub(self.wall_s))
    }
}

impl Seen {
    pub(super) fn age(self, wall_s: u64) -> u64 {
        let is_after = |latest: &Sight| latest.wall_s <= wall_s;
        let from = self.latest.filter(is_after).or(self.last);
        from.map_or(self.age, |from| from.age(wall_s).max(self.age))
    }

    pub(super) fn note(&mut self, age: u64, wall_s: u64) {
        self.age = age;
        if wall_s >= BEGINNING {
            let now = Sight { wall_s, age };
            self.last = Some(now);
            if self.latest.is_none_or(|latest| latest.wall_s <= wall_s) {
                self.latest = Some(now);
            }
        }
    }

    pub(super) fn read(numbers: &impl ReadableTable<&'static str, u64>) -> Result<Self, redb::Error> {
        let number = |name| -> Result<Option<u64>, redb::Error> {
            Ok(numbers.get(name)?.map(|number| number.value()))
        };
        let age = number(AGE)?.unwrap_or(0);
        // Earlier versions stored one wall-clock time, with the age.
        let sight = |wall: Option<u64>, at: Option<u64>| {
            let wall_s = wall.filter(|wall_s| *wall_s >= BEGINNING)?;
            Some(Sight { wall_s, age: at.unwrap_or(age) })
        };
        let last = sight(number(WALL)?, number(AGE_AT_WALL)?);
        let latest = sight(number(LATEST)?, number(AGE_AT_LATEST)?).or(last);
        Ok(Self { age, last, latest })
    }

    pub(super) fn write(self, numbers: &mut Table<'_, &'static str, u64>) -> Result<(), redb::Error> {
        numbers.insert(AGE, self.age)?;
        let sights = [(self.last, WALL, AGE_AT_WALL), (self.latest, LATEST, AGE_AT_LATEST)];
        for (sight, wall, at) in sights {
            if let Some(Sight { wall_s, age }) = sight {
                numbers.insert(wall, wall_s)?;
                numbers.insert(at, age)?;
            }
        }
        Ok(())
    }
}

/// 2026-01-01T00:00:00Z, earlier than the first version of this program.
const BEGINNING: u64 = 1_767_225_600;

const AGE: &str = "age";
const WALL: &str = "wall";
const AGE_AT_WALL: &str = "age at wall";
const LATEST: &str = "latest wall";
const AGE_AT_LATEST: &str = "age at latest wall";

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: u64 = 86_400;
    const SPRING: u64 = 1_777_852_800;

    /// Days of age, and the wall-clock time.
    fn after(notes: &[(u64, u64)]) -> Seen {
        let mut seen = Seen::default();
        notes.iter().for_each(|(days, wall_s)| seen.note(days * DAY, *wall_s));
        seen
    }

    #[test]
    fn time_between_two_servers_is_counted_from_a_time_that_was_one() {
        let days = |seen: Seen, wall_s: u64| seen.age(wall_s) / DAY;
        assert_eq!(days(after(&[]), SPRING), 0, "a new file has been nowhere");
        let ordinary = after(&[(3, SPRING)]);
        assert_eq!((days(ordinary, SPRING + 5 * DAY), days(ordinary, SPRING - DAY)), (8, 3));
        // Two starts in 1970, of which one recorded it; then the clock is set.
        let unset = after(&[(3, SPRING), (3, 60), (4, DAY)]);
        assert_eq!((days(unset, 120), days(unset, SPRING + 5 * DAY)), (4, 8));
        let behind = after(&[(3, SPRING), (4, SPRING - 90 * DAY)]);
        assert_eq!(days(behind, SPRING + 5 * DAY), 8);
        // The clock was ten years ahead, and is correct again.
        let ahead = after(&[(3, SPRING + 3650 * DAY), (4, SPRING)]);
        assert_eq!((days(ahead, SPRING + 2 * DAY), days(ahead, SPRING - DAY)), (6, 4));
    }
}

//! Doubts as sentences. A sentence that follows a name begins with a lower-case letter.

use std::fmt;

use units::{
    duration,
    show::{count, ordinal, plural, share as percent, time},
};

use super::Doubt;

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Of { part, doubt } => write!(f, "{part}: {doubt}"),
            Self::Recorded(words) | Self::Noticed(words) => f.write_str(words),
            Self::LatePackets { .. }
            | Self::OwnDrops { .. }
            | Self::LostDevices { .. }
            | Self::LostBytes { .. }
            | Self::UnbalancedLinks { .. } => emulator(self, f),
            Self::RequestsLeftOver { .. }
            | Self::LateRequests { .. }
            | Self::BusyGenerator { .. }
            | Self::TooManyInFlight { .. }
            | Self::OutOfSockets { .. } => generator(self, f),
            Self::StarvedReader { .. }
            | Self::NothingSent { .. }
            | Self::OwnSpeed
            | Self::MissedLooks { .. }
            | Self::SmallerBuffer { .. }
            | Self::NotTraced { .. }
            | Self::EndedEarly { .. }
            | Self::Unexplained
            | Self::RunFailed { .. }
            | Self::NoValidRun => reader(self, f),
            Self::NotAccepted
            | Self::NoSocket { .. }
            | Self::ConnectSentAgain { .. }
            | Self::ResetConnections { .. }
            | Self::SlowedDown { .. }
            | Self::PortsTaken { .. } => ports(self, f),
            Self::NoClaimJudged
            | Self::Undecided { .. }
            | Self::MostlyOwnError { .. }
            | Self::NoResult { .. }
            | Self::OutputLost { .. }
            | Self::OutputCut { .. }
            | Self::Unfinished { .. }
            | Self::Silent { .. } => run(self, f),
            Self::SameSamples { .. }
            | Self::OtherPage { .. }
            | Self::FailedEvents { .. }
            | Self::WithoutMetric { .. }
            | Self::FewSamples { .. }
            | Self::ThinTail { .. }
            | Self::FewToCross { .. } => comparison(self, f),
        }
    }
}

fn emulator(doubt: &Doubt, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match doubt {
        Doubt::LatePackets { share, limit, most } => write!(
            f,
            "{} of the packets were later than their path allows ({}, or 1 % of the round trip); at most {} may be",
            percent(*share),
            duration::show(*limit),
            percent(*most)
        ),
        Doubt::OwnDrops { packets } => {
            write!(f, "the emulator lost {} that no link dropped", plural(*packets, "packet"))
        }
        Doubt::LostDevices { hosts } => {
            write!(f, "{} lost their network device to a program of theirs", plural(*hosts, "host"))
        }
        Doubt::LostBytes { entered, accounted } => {
            write!(f, "{} bytes entered and {} are accounted for: a bug", count(*entered), count(*accounted))
        }
        Doubt::UnbalancedLinks { links } => {
            write!(
                f,
                "the byte counters of {links} links do not balance (in = out + dropped + queued): a bug"
            )
        }
        _ => Ok(()),
    }
}

fn generator(doubt: &Doubt, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match doubt {
        Doubt::RequestsLeftOver { left, due } => write!(
            f,
            "about {left} of {due} requests were due but not sent when the time was up: the generator could not keep the \
             rate"
        ),
        Doubt::LateRequests { percent: percentage, late, limit } => {
            let [late, limit] = [*late, *limit].map(duration::show);
            write!(
                f,
                "{} of the requests started {late} late or more (limit {limit}): the generator could not keep the \
                 schedule",
                percent(percentage / 100.0)
            )
        }
        Doubt::BusyGenerator { share, limit, effect } => write!(
            f,
            "the generator used {} of its core (limit {}): {effect}",
            percent(*share),
            percent(*limit)
        ),
        Doubt::TooManyInFlight { requests } => write!(
            f,
            "{requests} requests were due but not sent, because too many were in flight: the latencies lack theirs"
        ),
        Doubt::OutOfSockets { requests } => write!(
            f,
            "{requests} requests failed because this machine ran out of sockets: reuse connections, or raise `ulimit -n` \
             and net.ipv4.ip_local_port_range"
        ),
        _ => Ok(()),
    }
}

fn reader(doubt: &Doubt, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match doubt {
        Doubt::StarvedReader { share } => write!(
            f,
            "the reader waited for a processor in {} of the time; run less at the same time",
            percent(*share)
        ),
        Doubt::NothingSent { remote } => write!(
            f,
            "{remote} accepted the connection and sent nothing: no figure is about reading; is it \"longhaul tcp oscil \
             serve\", or another server that sends without a request?"
        ),
        Doubt::OwnSpeed => f.write_str(
            "in the unlimited phases there was always something to be read: the figures are this machine's speed of reading, \
             not the network's",
        ),
        Doubt::MissedLooks { share } => write!(
            f,
            "{} of the samples of the connection were late and are omitted; a longer interval costs less",
            percent(*share)
        ),
        Doubt::SmallerBuffer { asked, given } => {
            write!(f, "SO_RCVBUF {asked} became {given}: sysctl -w net.core.rmem_max={asked} allows it")
        }
        Doubt::NotTraced { why, remedy } => write!(f, "nothing was traced: {why}; {remedy}"),
        Doubt::EndedEarly { how, why } => {
            let why = why.as_ref().map_or_else(String::new, |why| format!(": {why}"));
            write!(f, "the reader {how} before its programme was over{why}")
        }
        Doubt::Unexplained => {
            f.write_str("the reader reports that its figures are not the connection's, without a reason")
        }
        Doubt::RunFailed { why } => f.write_str(why),
        Doubt::NoValidRun => f.write_str("no measurement is valid; the warnings contain the reasons"),
        _ => Ok(()),
    }
}

fn ports(doubt: &Doubt, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match doubt {
        Doubt::NotAccepted => f.write_str(
            "the listener of this measurement did not accept all connections: this machine is too busy",
        ),
        Doubt::NoSocket { why } => write!(f, "the system gives no more sockets: {why}"),
        Doubt::ConnectSentAgain { took } => write!(
            f,
            "a connect took {}: its SYN got no reply and was retransmitted",
            time(took.as_secs_f64())
        ),
        Doubt::ResetConnections { reset, all } => write!(
            f,
            "the destination has reset {} of {} connections: fewer ports were in use than it seems",
            count(*reset),
            count(*all)
        ),
        Doubt::SlowedDown { share } => {
            write!(f, "for {} of the time it waited for a processor that other programs had", percent(*share))
        }
        Doubt::PortsTaken { taken, all, waiting } => {
            #[expect(clippy::cast_precision_loss, reason = "there are 65536 ports")]
            let part = percent(*taken as f64 / *all as f64);
            let waiting = if *waiting > 0 {
                format!(", {} of them in TIME_WAIT", count(*waiting))
            } else {
                String::new()
            };
            write!(
                f,
                "{} of these ports ({part}) were taken before it began{waiting}; every share counts them as used",
                count(*taken)
            )
        }
        _ => Ok(()),
    }
}

fn run(doubt: &Doubt, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match doubt {
        Doubt::NoClaimJudged => f.write_str("No claim is judged, because the run is not whole."),
        Doubt::Undecided { claim } => {
            write!(
                f,
                "\"{claim}\" cannot be decided on this machine: the emulator's own error may change the result"
            )
        }
        Doubt::MostlyOwnError { figure, value, error } => {
            write!(f, "{figure}, {value}, is mostly the emulator's own error, which is {error} at most")
        }
        Doubt::NoResult { what, why } => write!(f, "{what} has no result: {why}"),
        Doubt::OutputLost { name, why } => {
            write!(f, "{name} is not whole, because it could not be written: {why}.")
        }
        Doubt::OutputCut { name, came, kept } => {
            write!(f, "{name}: of {came} of output the first and the last {kept} are kept.")
        }
        Doubt::Unfinished { why } => f.write_str(why),
        Doubt::Silent { pairs } => {
            let pairs: Vec<_> = pairs.iter().map(|[from, to]| format!("{from} to {to}")).collect();
            write!(f, "no reply to any ping: {}", pairs.join(", "))
        }
        _ => Ok(()),
    }
}

fn comparison(doubt: &Doubt, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match doubt {
        Doubt::SameSamples { first, second } => {
            write!(f, "{first} and {second} hold the same samples: is one of them the wrong file?")
        }
        Doubt::OtherPage { asked, made: [least, most] } => {
            let made = if least == most { count((*least).into()) } else { format!("{least} to {most}") };
            write!(
                f,
                "A page of {asked} requests was requested, and the recorded pages make {made}: the verdict is about recorded \
                 pages, the model is about the requested page."
            )
        }
        Doubt::FailedEvents { failed, all } => {
            write!(f, "{} of {} events failed; they are in no percentile.", count(*failed), count(*all))
        }
        Doubt::WithoutMetric { without, all, metric } => {
            write!(f, "{} of {} samples carry no {metric}; they are left out.", count(*without), count(*all))
        }
        Doubt::FewSamples { samples, requests } => {
            let are = if *samples == 1 { "is" } else { "are" };
            let why = match requests {
                1 => ": even the median".to_owned(),
                _ => format!(" for {requests} effective requests: what even the median person waits for"),
            };
            let samples = plural(*samples, "sample");
            write!(f, "{samples} {are} too few{why} is decided by fewer than 10 of them.")
        }
        Doubt::ThinTail { samples, percentile } => write!(
            f,
            "with {}, what people above the {} percentile experience is decided by fewer than 10 of them.",
            plural(*samples, "sample"),
            ordinal(*percentile)
        ),
        Doubt::FewToCross { least } => {
            write!(f, "Fewer than {least} samples on a side: too few to locate the crossing.")
        }
        _ => Ok(()),
    }
}

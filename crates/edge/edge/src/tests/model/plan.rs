//! Elements of a sequence: client requests, origin responses and purges. They are random, and can
//! be simplified to find the shortest failing sequence.

use super::{random::Random, traffic_theme::Theme};

#[derive(Debug, Clone)]
pub(super) enum Step {
    Requests { url: usize, plan: Plan, clients: Vec<Client> },
    Purge { url: usize, centre: usize, is_hard: bool, by: By },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    Url,
    Tag,
    Prefix,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Client {
    pub(super) centre: usize,
    pub(super) method: &'static str,
    /// 10, 11 or 20.
    pub(super) version: u8,
    /// 0 is a client without cookies.
    pub(super) user: u64,
    pub(super) has_credentials: bool,
    pub(super) language: Option<&'static str>,
    pub(super) device: Option<&'static str>,
    pub(super) condition: Condition,
    pub(super) range: Option<(u64, u64)>,
    pub(super) control: Option<&'static str>,
    pub(super) nominated: Option<&'static str>,
    pub(super) has_body: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Condition {
    None,
    IfNoneMatch,
    IfNoneMatchOther,
    IfModifiedSince,
    IfRange,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) status: u16,
    pub(super) control: Option<&'static str>,
    pub(super) targeted: Option<&'static str>,
    pub(super) expires: Option<u64>,
    pub(super) age: Option<u64>,
    pub(super) vary: Option<&'static str>,
    pub(super) tag: Tag,
    pub(super) has_date: bool,
    pub(super) has_cookie: bool,
    pub(super) has_extra: bool,
    pub(super) is_renewed: bool,
    pub(super) is_personal: bool,
    pub(super) blocks: u64,
    pub(super) is_wide: bool,
    pub(super) is_chunked: bool,
    pub(super) breaks_off: bool,
    pub(super) is_slow: bool,
    pub(super) has_ranges: bool,
    pub(super) tells_validators: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tag {
    None,
    Weak,
    Strong,
}

impl Client {
    const SIMPLE: Self = Self {
        centre: 0,
        method: "GET",
        version: 11,
        user: 0,
        has_credentials: false,
        language: None,
        device: None,
        condition: Condition::None,
        range: None,
        control: None,
        nominated: None,
        has_body: false,
    };

    fn random(random: &mut Random, centres: usize) -> Self {
        let mut client = Self {
            centre: random.below(centres),
            method: random.of(&["GET", "GET", "GET", "GET", "GET", "GET", "GET", "GET", "HEAD", "HEAD"]),
            version: random.of(&[11, 11, 11, 11, 11, 20, 20, 10]),
            user: random.of(&[0, 0, 1, 2, 3]),
            has_credentials: random.one_in(8),
            language: random.of(&[None, None, None, Some("en"), Some("de"), Some("de, en"), Some("en, de")]),
            device: random.of(&[None, None, None, Some("a"), Some("b")]),
            condition: Condition::None,
            range: None,
            control: None,
            nominated: None,
            has_body: random.one_in(25),
        };
        if random.one_in(12) {
            client.method = random.of(&["POST", "PUT", "DELETE"]);
        } else if random.one_in(5) {
            let first = random.below(6) as u64;
            client.range = Some((first, first + random.below(4) as u64));
            client.condition = random.of(&[Condition::None, Condition::None, Condition::IfRange]);
        } else if random.one_in(6) {
            client.condition = random.of(&[
                Condition::IfNoneMatch,
                Condition::IfNoneMatch,
                Condition::IfNoneMatchOther,
                Condition::IfModifiedSince,
            ]);
        }
        if random.one_in(12) {
            let controls = ["no-cache", "no-store", "max-age=0", "max-age=1", "max-stale", "min-fresh=3"];
            client.control = Some(random.of(&controls));
        }
        if random.one_in(12) && client.version != 20 {
            client.nominated = Some(random.of(&["cookie", "x-dev", "accept-language"]));
        }
        client
    }

    pub(super) fn text(&self) -> String {
        let Self { centre, method, version, nominated, has_body, .. } = self;
        let nominated = nominated.map_or(String::new(), |name| format!(", Connection: {name}"));
        let body = if *has_body { ", with a body" } else { "" };
        format!("{method} at {centre}, HTTP/{}.{}{nominated}{body}", version / 10, version % 10)
    }

    fn simpler(&self) -> Vec<Self> {
        let simple = Self::SIMPLE;
        [
            Self { centre: 0, ..self.clone() },
            Self { method: simple.method, ..self.clone() },
            Self { version: simple.version, ..self.clone() },
            Self { user: simple.user, ..self.clone() },
            Self { has_credentials: false, ..self.clone() },
            Self { language: None, ..self.clone() },
            Self { device: None, ..self.clone() },
            Self { condition: simple.condition, ..self.clone() },
            Self { range: None, ..self.clone() },
            Self { control: None, ..self.clone() },
            Self { nominated: None, ..self.clone() },
            Self { has_body: false, ..self.clone() },
        ]
        .into_iter()
        .filter(|simpler| simpler != self)
        .collect()
    }
}

impl Plan {
    pub(super) const SIMPLE: Self = Self {
        status: 200,
        control: None,
        targeted: None,
        expires: None,
        age: None,
        vary: None,
        tag: Tag::None,
        has_date: false,
        has_cookie: false,
        has_extra: false,
        is_renewed: false,
        is_personal: false,
        blocks: 4,
        is_wide: false,
        is_chunked: false,
        breaks_off: false,
        is_slow: false,
        has_ranges: false,
        tells_validators: true,
    };

    fn random(random: &mut Random, wide: usize) -> Self {
        let statuses = [404, 404, 410, 403, 302, 301, 429, 500, 503, 503];
        Self {
            status: if random.one_in(5) { random.of(&statuses) } else { 200 },
            control: random.of(&CONTROLS),
            targeted: if random.one_in(8) { Some(random.of(&TARGETED)) } else { None },
            expires: if random.one_in(10) { Some(random.of(&[0, 2, 600])) } else { None },
            age: if random.one_in(10) { Some(random.of(&[0, 30, 1000])) } else { None },
            vary: random.of(&VARY),
            tag: random.of(&[Tag::Strong, Tag::Strong, Tag::Weak, Tag::None]),
            has_date: random.one_in(4),
            has_cookie: random.one_in(5),
            has_extra: random.one_in(3),
            is_renewed: random.one_in(3),
            is_personal: random.one_in(4),
            blocks: 1 + random.below(10) as u64,
            is_wide: random.one_in(wide),
            is_chunked: random.one_in(4),
            breaks_off: random.one_in(16),
            is_slow: random.one_in(2),
            has_ranges: !random.one_in(5),
            tells_validators: !random.one_in(4),
        }
    }

    fn simpler(&self) -> Vec<Self> {
        let simple = Self::SIMPLE;
        [
            Self { status: 200, ..self.clone() },
            Self { control: Some("max-age=600"), ..self.clone() },
            Self { control: None, ..self.clone() },
            Self { targeted: None, ..self.clone() },
            Self { expires: None, ..self.clone() },
            Self { age: None, ..self.clone() },
            Self { vary: None, ..self.clone() },
            Self { tag: Tag::None, ..self.clone() },
            Self { tag: Tag::Strong, ..self.clone() },
            Self { has_date: false, ..self.clone() },
            Self { has_cookie: false, ..self.clone() },
            Self { has_extra: false, ..self.clone() },
            Self { is_renewed: false, ..self.clone() },
            Self { is_personal: false, ..self.clone() },
            Self { blocks: simple.blocks, is_wide: false, ..self.clone() },
            Self { is_chunked: false, ..self.clone() },
            Self { breaks_off: false, ..self.clone() },
            Self { is_slow: false, ..self.clone() },
            Self { has_ranges: false, ..self.clone() },
            Self { tells_validators: true, ..self.clone() },
        ]
        .into_iter()
        .filter(|simpler| simpler != self && !(self.control.is_none() && simpler.control.is_some()))
        .filter(|simpler| !(self.tag == Tag::None && simpler.tag == Tag::Strong))
        .collect()
    }
}

impl Step {
    fn random(random: &mut Random, theme: Theme, centres: usize, wide: usize) -> Self {
        let url = random.below(URLS);
        if random.one_in(20) {
            let (centre, is_hard) = (random.below(centres), random.one_in(2));
            return Self::Purge { url, centre, is_hard, by: random.of(&[By::Url, By::Tag, By::Prefix]) };
        }
        let count = random.of(&[1, 1, 1, 2, 3]);
        let clients = (0..count).map(|_| {
            let mut client = Client::random(random, centres);
            theme.client(random, &mut client);
            client
        });
        let clients = clients.collect();
        let mut plan = Plan::random(random, wide);
        theme.plan(random, &mut plan);
        Self::Requests { url, plan, clients }
    }

    pub(super) fn count(&self) -> usize {
        match self {
            Self::Requests { clients, .. } => clients.len(),
            Self::Purge { .. } => 1,
        }
    }

    fn simpler(&self) -> Vec<Self> {
        let Self::Requests { url, plan, clients } = self else { return Vec::new() };
        let (url, mut all) = (*url, Vec::new());
        for number in 0..clients.len() {
            let mut without = clients.clone();
            without.remove(number);
            if !without.is_empty() {
                all.push(Self::Requests { url, plan: plan.clone(), clients: without });
            }
            for client in clients[number].simpler() {
                let mut clients = clients.clone();
                clients[number] = client;
                all.push(Self::Requests { url, plan: plan.clone(), clients });
            }
        }
        let with = |plan| Self::Requests { url, plan, clients: clients.clone() };
        all.extend(plan.simpler().into_iter().map(with));
        all
    }
}

pub(super) type Sequence = Vec<Vec<Step>>;

pub(super) fn sequence(seed: u64, centres: usize, wide: usize) -> Sequence {
    let mut random = Random::new(seed);
    let theme = Theme::random(&mut random);
    let mut phase = || (0..STEPS).map(|_| Step::random(&mut random, theme, centres, wide)).collect();
    (0..PHASES).map(|_| phase()).collect()
}

pub(super) fn simpler(sequence: &Sequence) -> Vec<Sequence> {
    let mut all = Vec::new();
    for (phase, steps) in sequence.iter().enumerate() {
        let mut change = |steps| {
            let mut changed = sequence.clone();
            changed[phase] = steps;
            all.push(changed);
        };
        if steps.len() > 1 {
            change(Vec::new());
            change(steps[..steps.len() / 2].to_vec());
            change(steps[steps.len() / 2..].to_vec());
        }
        for number in 0..steps.len() {
            let mut without = steps.clone();
            without.remove(number);
            change(without);
        }
    }
    if sequence.iter().map(Vec::len).sum::<usize>() <= 8 {
        for (phase, steps) in sequence.iter().enumerate() {
            for (number, step) in steps.iter().enumerate() {
                for simpler in step.simpler() {
                    let mut changed = sequence.clone();
                    changed[phase][number] = simpler;
                    all.push(changed);
                }
            }
        }
    }
    all
}

pub(super) const URLS: usize = 2;
const PHASES: usize = 4;
const STEPS: usize = 5;

const CONTROLS: [Option<&str>; 33] = [
    None,
    None,
    None,
    Some("max-age=600"),
    Some("max-age=600"),
    Some("max-age=600"),
    Some("max-age=600"),
    Some("max-age=2"),
    Some("max-age=1"),
    Some("max-age=0"),
    Some("s-maxage=600"),
    Some("s-maxage=0, max-age=600"),
    Some("s-maxage=1, stale-while-revalidate=600"),
    Some("public, max-age=600"),
    Some("public, max-age=600"),
    Some("public"),
    Some("private"),
    Some("private, max-age=600"),
    Some("no-store"),
    Some("no-store, max-age=600"),
    Some("no-cache"),
    Some("no-cache, max-age=600"),
    Some("max-age=600, no-cache=\"set-cookie\""),
    Some("max-age=600, private=\"set-cookie, x-extra\""),
    Some("max-age=600, no-cache=\"x-extra\""),
    Some("max-age=1, must-revalidate"),
    Some("max-age=600, must-revalidate"),
    Some("max-age=1, proxy-revalidate, stale-while-revalidate=600"),
    Some("max-age=1, stale-while-revalidate=600"),
    Some("max-age=600, stale-while-revalidate=600"),
    Some("max-age=1, stale-if-error=600"),
    Some("max-age=600, stale-if-error=600"),
    Some("max-age=1, must-revalidate, stale-if-error=600, stale-while-revalidate=600"),
];
const TARGETED: [&str; 6] =
    ["max-age=600", "no-store", "private", "no-cache", "max-age=1, stale-while-revalidate=600", "max-age=0"];
const VARY: [Option<&str>; 16] = [
    None,
    None,
    None,
    None,
    None,
    None,
    None,
    None,
    None,
    Some("cookie"),
    Some("cookie"),
    Some("accept-language"),
    Some("x-dev"),
    Some("X-Dev, Accept-Language"),
    Some("authorization"),
    Some("*"),
];

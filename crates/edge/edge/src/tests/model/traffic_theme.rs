//! Themes of sequences. A theme makes rare events frequent in some sequences so that several of
//! them coincide.

use super::{
    plan::{Client, Condition, Plan, Tag},
    random::Random,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Theme {
    Ordinary,
    Parts,
    Variants,
    Validation,
}

impl Theme {
    pub(super) fn random(random: &mut Random) -> Self {
        random.of(&[Self::Ordinary, Self::Ordinary, Self::Parts, Self::Variants, Self::Validation])
    }

    pub(super) fn client(self, random: &mut Random, client: &mut Client) {
        let is_plain = client.method == "GET" && client.condition == Condition::None && !client.has_body;
        if self == Self::Parts && is_plain && client.range.is_none() && random.one_in(2) {
            let first = random.below(6) as u64;
            client.range = Some((first, first + random.below(2) as u64));
        }
    }

    pub(super) fn plan(self, random: &mut Random, plan: &mut Plan) {
        if self == Self::Ordinary || random.one_in(4) {
            return;
        }
        match self {
            Self::Ordinary => {}
            Self::Parts => {
                (plan.status, plan.tag, plan.is_wide, plan.has_ranges) = (200, Tag::Strong, true, true);
                (plan.is_renewed, plan.is_personal) = (random.one_in(6), false);
                plan.blocks = 5 + random.below(6) as u64;
                plan.vary = plan.vary.filter(|_| random.one_in(3));
                plan.has_cookie = plan.has_cookie && random.one_in(3);
            }
            Self::Variants => {
                plan.vary = Some(random.of(&VARY));
                (plan.is_renewed, plan.is_personal) = (random.one_in(6), random.one_in(8));
            }
            Self::Validation => {
                plan.tag = random.of(&[Tag::Strong, Tag::Weak]);
                plan.control = random.of(&SHORT);
                (plan.is_renewed, plan.is_personal) = (random.one_in(6), random.one_in(8));
            }
        }
    }
}

const VARY: [&str; 6] = [
    "cookie",
    "accept-language",
    "x-dev",
    "X-Dev, Accept-Language",
    "accept-language, cookie",
    "authorization",
];
const SHORT: [Option<&str>; 9] = [
    None,
    Some("max-age=1"),
    Some("max-age=0"),
    Some("no-cache"),
    Some("private"),
    Some("max-age=1, must-revalidate"),
    Some("max-age=1, stale-while-revalidate=600"),
    Some("max-age=1, stale-if-error=600"),
    Some("public, s-maxage=1"),
];

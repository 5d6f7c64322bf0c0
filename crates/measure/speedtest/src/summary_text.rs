//! Summarizes the suitability of a line in a few sentences without technical terms.

use units::show;

use crate::rubric::{Class, Measured, Scores};

/// The summary, including limitations. Values that were not measured are stated as such.
pub fn sentence(measured: &Measured, scores: &Scores) -> String {
    let mut said = vec![format!("{}.", capital(&video(measured)))];
    said.push(format!("{}.", capital(&calls(measured, scores))));
    said.push(format!("{}.", capital(&games(scores))));
    if let Some(upload) = upload(measured) {
        said.push(format!("{}.", capital(&upload)));
    }
    said.join(" ")
}

fn video(measured: &Measured) -> String {
    let Some(mbits) = measured.download_bps.map(|bps| bps / 1e6) else {
        return "how much video it carries was not measured".to_owned();
    };
    let room = |each: f64| (mbits * USABLE / each).floor();
    match (room(UHD), room(HD)) {
        (uhd, _) if uhd >= 10.0 => "more than enough for video: ten or more 4K streams".to_owned(),
        (uhd, _) if uhd >= 2.0 => format!("fine for {} simultaneous 4K streams", number(uhd)),
        (uhd, _) if uhd >= 1.0 => "fine for one 4K stream".to_owned(),
        (_, hd) if hd >= 2.0 => format!("enough for {} HD streams, and too slow for 4K", number(hd)),
        (_, hd) if hd >= 1.0 => "enough for one HD stream, and too slow for 4K".to_owned(),
        _ if mbits >= SD => "enough for video in a small window only".to_owned(),
        _ => "too slow for video".to_owned(),
    }
}

fn calls(measured: &Measured, scores: &Scores) -> String {
    let increase = |loaded: Option<f64>| Some((loaded? - measured.idle_ms?).max(0.0));
    let (down, up) = (increase(measured.loaded_down_ms), increase(measured.loaded_up_ms));
    let is_large = |increase: Option<f64>| increase.is_some_and(|ms| ms >= STUTTER_MS);
    if measured.loss_ratio.is_some_and(|loss| loss >= LOSSY) {
        let lost = measured.loss_ratio.map(show::share).unwrap_or_default();
        return format!("calls will break up, as {lost} of the packets are lost");
    }
    if measured.idle_ms.is_some_and(|ms| ms >= FAR_MS) {
        return "in calls people will talk at the same time, as each word takes long to arrive".to_owned();
    }
    match (is_large(down), is_large(up)) {
        (true, true) => "calls will stutter while someone downloads or uploads".to_owned(),
        (true, false) => "calls will stutter while someone downloads".to_owned(),
        (false, true) => "calls will stutter while someone uploads".to_owned(),
        (false, false) if down.is_none() || up.is_none() => match scores.rtc.class_at_best {
            Class::Bad | Class::Poor => "calls will stutter".to_owned(),
            _ => "calls go well while the line is idle; what they do while it is full was not measured"
                .to_owned(),
        },
        (false, false) => match scores.rtc.class {
            Class::Bad | Class::Poor => "calls will stutter now and then".to_owned(),
            Class::Average => "calls go mostly well".to_owned(),
            Class::Good | Class::Great => "calls go well, also while someone downloads or uploads".to_owned(),
        },
    }
}

fn games(scores: &Scores) -> String {
    let score = &scores.gaming;
    let word = |class| match class {
        Class::Bad => "no fun",
        Class::Poor => "sluggish",
        Class::Average => "playable",
        Class::Good => "quick",
        Class::Great => "as quick as it gets",
    };
    if score.class == score.class_at_best {
        format!("games that need quick reactions are {}", word(score.class))
    } else {
        format!(
            "games that need quick reactions are anything from {} to {}, as not all was measured",
            word(score.class),
            word(score.class_at_best)
        )
    }
}

fn upload(measured: &Measured) -> Option<String> {
    let bps = measured.upload_bps.filter(|bps| *bps > 0.0 && *bps < SLOW_UPLOAD_BPS)?;
    let seconds = VIDEO_BYTES * 8.0 / bps;
    Some(format!("to send a video of a minute takes {}", show::span(seconds)))
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn number(count: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below 60, see its callers")]
    let at = count as usize;
    const WORDS: [&str; 10] = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
    WORDS.get(at).map_or_else(|| format!("{count:.0}"), |word| (*word).to_owned())
}

/// Mbit/s of a stream, as required by large services: 4K, HD and SD.
const UHD: f64 = 25.0;
const HD: f64 = 5.0;
const SD: f64 = 1.0;
/// Reserve for other traffic and bursts.
const USABLE: f64 = 0.8;
/// A longer delay empties the jitter buffer, and speakers interrupt each other.
const STUTTER_MS: f64 = 100.0;
/// ITU-T G.114: up to 150 ms one way are not noticeable.
const FAR_MS: f64 = 300.0;
/// Limit of the error correction of calls.
const LOSSY: f64 = 0.05;
const SLOW_UPLOAD_BPS: f64 = 10e6;
const VIDEO_BYTES: f64 = 130e6;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rubric::Rubric;

    fn said(measured: &Measured) -> String {
        sentence(measured, &Rubric::AIM.score(measured))
    }

    const GOOD: Measured = Measured {
        download_bps: Some(94e6),
        upload_bps: Some(40e6),
        idle_ms: Some(12.0),
        loaded_down_ms: Some(15.0),
        loaded_up_ms: Some(18.0),
        jitter_ms: Some(1.0),
        loss_ratio: Some(0.0),
    };

    #[test]
    fn a_good_line() {
        assert_eq!(
            said(&GOOD),
            "Fine for three simultaneous 4K streams. Calls go well, also while someone downloads or uploads. Games that need quick \
             reactions are as quick as it gets."
        );
    }

    #[test]
    fn a_queue_that_is_too_long_is_felt_in_calls() {
        let bloated =
            Measured { download_bps: Some(40e6), upload_bps: Some(5e6), loaded_up_ms: Some(320.0), ..GOOD };
        let said = said(&bloated);
        assert!(
            said.starts_with("Fine for one 4K stream. Calls will stutter while someone uploads."),
            "{said}"
        );
        // 130 MB at 5 Mbit/s are 208 s.
        assert!(said.ends_with("To send a video of a minute takes 3 min 28 s."), "{said}");
    }

    #[test]
    fn each_width_has_its_words() {
        for (mbits, expected) in [
            (0.5, "Too slow for video."),
            (3.0, "Enough for video in a small window only."),
            (6.25, "Enough for one HD stream, and too slow for 4K."),
            (25.0, "Enough for four HD streams, and too slow for 4K."),
            (32.0, "Fine for one 4K stream."),
            (1000.0, "More than enough for video"),
        ] {
            let said = said(&Measured { download_bps: Some(mbits * 1e6), ..GOOD });
            assert!(said.starts_with(expected), "{mbits}: {said}");
        }
    }

    #[test]
    fn what_was_not_measured_is_not_praised() {
        let said = said(&Measured { loaded_down_ms: None, loaded_up_ms: None, ..GOOD });
        assert!(said.contains("what they do while it is full was not measured"), "{said}");
        assert!(said.contains("as not all was measured"), "{said}");
        assert!(
            sentence(&Measured::default(), &Rubric::AIM.score(&Measured::default())).contains("not measured")
        );
    }

    #[test]
    fn loss_and_distance_are_named() {
        assert!(
            said(&Measured { loss_ratio: Some(0.077), ..GOOD }).contains("as 7.7 % of the packets are lost")
        );
        assert!(said(&Measured { idle_ms: Some(600.0), ..GOOD }).contains("talk at the same time"));
    }
}

//! The rubric's table, its boundaries, and missing values.

use super::*;

/// The far and the near office of the published example.
const FAR: Measured = Measured {
    download_bps: Some(21.8e6),
    upload_bps: Some(5.66e6),
    idle_ms: Some(19.6),
    loaded_down_ms: None,
    loaded_up_ms: None,
    jitter_ms: Some(61.4),
    loss_ratio: Some(0.077),
};
const CLOSE: Measured = Measured {
    download_bps: Some(25.7e6),
    upload_bps: Some(5.26e6),
    idle_ms: Some(19.5),
    jitter_ms: Some(37.9),
    loss_ratio: Some(0.0),
    ..FAR
};

fn with_increase(measured: Measured, increase: f64) -> Measured {
    let loaded = measured.idle_ms.map(|idle| idle + increase);
    Measured { loaded_down_ms: loaded, loaded_up_ms: loaded, ..measured }
}

#[test]
fn a_figure_at_a_cut_has_reached_it() {
    let rubric = Rubric::AIM;
    for (input, figure, points) in [
        (Input::Loss, 0.0, 10),
        (Input::Loss, 0.99, 10),
        (Input::Loss, 1.0, 5),
        (Input::Loss, 5.0, 0),
        (Input::Loss, 25.0, -10),
        (Input::Loss, 100.0, -20),
        (Input::Latency, 9.99, 20),
        (Input::Latency, 10.0, 10),
        (Input::LoadedIncrease, 20.0, 5),
        (Input::LoadedIncrease, 50.0, 0),
        (Input::Latency, 100.0, -10),
        (Input::Latency, 500.0, -20),
        (Input::Jitter, 9.0, 10),
        (Input::Jitter, 10.0, 5),
        (Input::Jitter, 20.0, 0),
        (Input::Jitter, 100.0, -10),
        (Input::Jitter, 500.0, -20),
        (Input::Download, 0.99, 0),
        (Input::Download, 1.0, 5),
        (Input::Upload, 10.0, 10),
        (Input::Upload, 50.0, 20),
        (Input::Download, 100.0, 30),
    ] {
        assert_eq!(rubric.cuts(input).points(figure), points, "{input:?} {figure}");
    }
}

#[test]
fn the_best_line_gets_all_points_and_the_worst_none() {
    let best = Measured {
        download_bps: Some(1e9),
        upload_bps: Some(1e9),
        idle_ms: Some(1.0),
        loaded_down_ms: Some(1.5),
        loaded_up_ms: Some(2.0),
        jitter_ms: Some(0.1),
        loss_ratio: Some(0.0),
    };
    let scores = Rubric::AIM.score(&best);
    for (score, max) in [(&scores.streaming, 80), (&scores.gaming, 50), (&scores.rtc, 60)] {
        assert_eq!((score.points, score.points_at_best, score.max), (max, max, max));
        assert_eq!((score.class, score.missing.len()), (Class::Great, 0));
    }
    let worst = Measured { idle_ms: Some(600.0), loss_ratio: Some(0.9), ..with_increase(FAR, 9000.0) };
    let gaming = Rubric::AIM.score(&worst).gaming;
    assert_eq!((gaming.points, gaming.class), (0, Class::Bad), "-60 is no score");
}

#[test]
fn the_published_example_is_of_an_older_rubric() {
    // Its sums imply 5 and 15 points for latency under load: 25 = 10 + 0 + 10 + 5 and 45 = 10 + 10
    // + 10 + 15.
    let far = Rubric::AIM.score(&with_increase(FAR, 30.0));
    assert_eq!([far.streaming.points, far.gaming.points, far.rtc.points], [25, 15, 15]);
    assert_eq!(
        (far.streaming.class, far.gaming.class, far.rtc.class),
        (Class::Average, Class::Average, Class::Average)
    );
    let reachable: Vec<i32> = (0..600)
        .map(|increase| Rubric::AIM.score(&with_increase(CLOSE, f64::from(increase))).streaming.points)
        .collect();
    assert!(!reachable.contains(&45) && reachable.contains(&40) && reachable.contains(&50));
}

#[test]
fn what_was_not_measured_makes_a_range_and_never_the_best_mark() {
    let streaming = Rubric::AIM.score(&CLOSE).streaming;
    assert_eq!((streaming.points, streaming.points_at_best), (10, 50));
    assert_eq!((streaming.class, streaming.class_at_best), (Class::Bad, Class::Good));
    assert_eq!(streaming.missing, [Input::LoadedIncrease]);
    assert_eq!(streaming.class_in_words(), "bad to good");
    // One direction adds 60 ms, which scores 0; the other may be worse.
    let one = Measured { loaded_down_ms: Some(79.5), ..CLOSE };
    let streaming = Rubric::AIM.score(&one).streaming;
    assert_eq!((streaming.points, streaming.points_at_best), (10, 30));
    assert_eq!(streaming.missing, [Input::LoadedIncrease]);
    assert!(streaming.why[3].text.contains("at least 60.0 ms"), "{}", streaming.why[3].text);
    let nothing = Rubric::AIM.score(&Measured::default());
    assert_eq!((nothing.rtc.points, nothing.rtc.points_at_best, nothing.rtc.missing.len()), (0, 60, 4));
}

#[test]
fn figures_that_cannot_be_are_named() {
    assert_eq!(CLOSE.check(), Ok(()));
    let percent = Measured { loss_ratio: Some(7.7), ..FAR };
    assert!(percent.check().unwrap_err().1.contains("5 % is 0.05"));
    assert_eq!(Measured { idle_ms: Some(-1.0), ..FAR }.check().unwrap_err().0, "idle_ms");
    assert!(Measured { upload_bps: Some(f64::NAN), ..FAR }.check().is_err());
}

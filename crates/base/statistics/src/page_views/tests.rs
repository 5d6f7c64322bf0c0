//! Pages whose waits can be derived on paper.

use super::*;
use crate::independence;

fn failed(pages: &[u32]) -> Vec<FailedRequest> {
    pages.iter().map(|&page| FailedRequest { started_s: None, page }).collect()
}

#[test]
fn a_page_waits_for_its_slowest() {
    let found = page_views(&[3.0, 1.0, 9.0, 2.0, 7.0], &[4, 4, 9, 9, NONE], None, &[], 1.0).unwrap();
    assert_eq!((found.mean_ms.as_slice(), found.drawn_ms.as_slice()), (&[3.0, 9.0][..], &[3.0, 9.0][..]));
    assert_eq!((found.views(), found.whole(), found.smallest, found.largest), (2, 2, 2, 2));
}

#[test]
fn pages_are_in_the_order_of_time_or_as_they_come() {
    let (values, pages) = ([1.0, 2.0, 3.0], [7, 5, 7]);
    assert_eq!(page_views(&values, &pages, None, &[], 1.0).unwrap().mean_ms, [3.0, 2.0]);
    let times = [9.0, 5.0, 8.0];
    assert_eq!(page_views(&values, &pages, Some(&times), &[], 1.0).unwrap().mean_ms, [2.0, 3.0]);
    let broken = [FailedRequest { started_s: Some(6.0), page: 1 }];
    let found = page_views(&values, &pages, Some(&times), &broken, 1.0).unwrap();
    assert_eq!((found.failed, found.mean_ms), (vec![false, true, false], vec![2.0, 3.0]));
}

#[test]
fn a_failed_request_fails_the_page_that_needs_it() {
    let (values, pages) = ([1.0, 2.0, 3.0, 4.0], [0, 0, 1, 1]);
    let found = page_views(&values, &pages, None, &failed(&[1, 2, NONE]), 1.0).unwrap();
    assert_eq!(found.failed, [false, true, true]);
    assert_eq!((found.mean_ms, found.drawn_ms), (vec![2.0], vec![2.0]));
    assert_eq!((found.smallest, found.median, found.largest), (1, 2, 3));
}

#[test]
fn a_page_that_needs_half_of_its_requests_may_not_need_the_failed_one() {
    // 1000 pages of three requests and a failed one, of which two are needed: C(3, 2)/C(4, 2) = 1/2 are
    // complete, and their latency is the slowest of two of 1, 2, 4: 2 with probability 1/3 and 4 with 2/3, on
    // average 10/3.
    let pages: Vec<u32> = (0..3000).map(|i| i / 3).collect();
    let values: Vec<f64> = (0..3000).map(|i| [1.0, 2.0, 4.0][i % 3]).collect();
    let found = page_views(&values, &pages, None, &failed(&(0..1000).collect::<Vec<_>>()), 0.5).unwrap();
    assert_eq!((found.views(), found.whole()), (1000, 500));
    assert!(found.mean_ms.iter().all(|wait| (wait - 10.0 / 3.0).abs() < 1e-12));
    let slow = found.drawn_ms.iter().filter(|wait| **wait == 4.0).count();
    assert!((slow as f64 - 1000.0 / 3.0).abs() <= 1.0, "{slow}");
    assert_eq!(found.drawn_ms.iter().filter(|wait| **wait == 2.0).count(), 500 - slow);
}

#[test]
fn the_mean_is_that_of_the_check_of_independence() {
    let pages: Vec<u32> = (0..5000).map(|i| i * 7919 % 5000 / 25).collect();
    let values: Vec<f64> = (0..5000_u32).map(|i| f64::from(i.wrapping_mul(2_654_435_761) >> 8)).collect();
    for required in [1.0, 0.5, 0.01] {
        let found = page_views(&values, &pages, None, &[], required).unwrap();
        let mean = found.mean_ms.iter().sum::<f64>() / 200.0;
        let checked = independence(&values, &pages, required).unwrap().slowest.observed_ms;
        assert!((mean / checked - 1.0).abs() < 1e-12, "{required}: {mean} is not {checked}");
        // Strata leave less than a hundredth of the spread of single draws in their mean.
        let drawn = found.drawn_ms.iter().sum::<f64>() / 200.0;
        assert!((drawn / mean - 1.0).abs() < 0.05, "{required}: {drawn} is not {mean}");
    }
}

#[test]
fn chances_by_either_way() {
    assert_eq!(chance_of_whole(3, 0, 3), 1.0);
    assert_eq!(chance_of_whole(2, 1, 3), 0.0);
    // C(9, 2)/C(10, 2) = 36/45, and C(5, 2)/C(10, 2) = 10/45.
    assert!((chance_of_whole(9, 1, 2) - 0.8).abs() < 1e-15);
    assert!((chance_of_whole(5, 5, 2) - 10.0 / 45.0).abs() < 1e-15);
}

#[test]
fn what_makes_no_pages_is_refused() {
    let one = page_views(&[1.0, 2.0], &[3, 3], None, &[], 1.0);
    assert_eq!(one, Err(Error::TooFew { what: "pages with samples", found: 1, least: 2 }));
    assert!(matches!(page_views(&[1.0], &[], None, &[], 1.0), Err(Error::Uneven { .. })));
    assert!(matches!(page_views(&[1.0], &[1], Some(&[]), &[], 1.0), Err(Error::Uneven { .. })));
    assert!(matches!(page_views(&[1.0], &[1], None, &[], 0.0), Err(Error::Required { .. })));
    assert!(matches!(page_views(&[f64::NAN], &[1], None, &[], 1.0), Err(Error::NotFinite { .. })));
}

//! Checks that several fuzz targets share.

mod request;
mod request_fields;
mod response;

use std::path::Path;

use recording::{Metric, Wanted, decode_series};

pub use self::{
    request::requests_are_the_same_in_any_pieces, request_fields::accepted_sections_are_requests_in_lines,
    response::a_response_ends,
};

/// Any input decodes to a series or to an error, and the fields of a series are consistent.
pub fn a_series_keeps_its_promises(bytes: &[u8]) {
    for metric in [None, Some(Metric::Ttfb), Some(Metric::Total)] {
        let wanted = Wanted { metric, by: Some("host".to_owned()), ..Wanted::default() };
        let Ok(series) = decode_series(bytes, Path::new("fuzz"), &wanted) else { continue };
        let count = series.values.count();
        assert!(count > 0);
        assert_eq!(series.read, count + series.failed + series.without_metric);
        assert!(
            series.values.exact().is_none_or(|values| values.iter().all(|ms| ms.is_finite() && *ms >= 0.0))
        );
        assert!(metric.is_none_or(|metric| metric == series.metric));
    }
}

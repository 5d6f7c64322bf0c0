//! Protection against web cache deception: the Content-Type must fit the extension of the path.
//!
//! Example: an origin that ignores the end of a path serves the account page at `/account/x.css`.

use std::borrow::Cow;

use http_types::HeaderValue;

use crate::path;

/// Whether a Content-Type fits the extension of a path. A missing type fits no known extension;
/// `application/octet-stream` fits all.
pub fn fits_extension(path: &str, content_type: Option<&HeaderValue>) -> bool {
    let readings = path::readings(path);
    let paths = std::iter::once(path).chain(readings.iter().map(String::as_str));
    let mut types = paths.filter_map(expected).peekable();
    if types.peek().is_none() {
        return true;
    }
    let Some(essence) = content_type.and_then(essence) else { return false };
    essence == "application/octet-stream" || types.all(|types| types.iter().any(|kind| is(&essence, kind)))
}

fn expected(path: &str) -> Option<&'static [&'static str]> {
    let file = path.rsplit('/').next()?;
    let extension = file.rsplit_once('.')?.1.to_ascii_lowercase();
    TYPES.iter().find(|(extensions, _)| extensions.contains(&&extension[..])).map(|(_, types)| *types)
}

fn essence(value: &HeaderValue) -> Option<Cow<'_, str>> {
    let text = value.to_str().ok()?.split(';').next()?.trim();
    let is_lower = !text.bytes().any(|byte| byte.is_ascii_uppercase());
    Some(if is_lower { Cow::Borrowed(text) } else { Cow::Owned(text.to_ascii_lowercase()) })
}

/// `kind` is a type, or a prefix of types.
fn is(essence: &str, kind: &str) -> bool {
    if kind.ends_with('/') { essence.starts_with(kind) } else { essence == kind }
}

const TYPES: &[(&[&str], &[&str])] = &[
    (&["css"], &["text/css"]),
    (
        &["js", "mjs"],
        &["text/javascript", "application/javascript", "application/x-javascript", "application/ecmascript"],
    ),
    (
        &[
            "avif", "bmp", "gif", "heic", "heif", "ico", "jp2", "jpeg", "jpg", "jxl", "jxr", "pict", "png",
            "svg", "svgz", "tif", "tiff", "webp",
        ],
        &["image/"],
    ),
    (&["aac", "flac", "m4a", "mid", "midi", "mp3", "oga", "opus", "wav"], &["audio/", "video/ogg"]),
    (
        &["avi", "m4s", "m4v", "mkv", "mov", "mp4", "mpeg", "mpg", "ogg", "ogv", "webm"],
        &["video/", "audio/", "application/ogg", "application/mp4"],
    ),
    (
        &["m3u8", "mpd"],
        &[
            "application/vnd.apple.mpegurl",
            "application/x-mpegurl",
            "audio/",
            "application/dash+xml",
            "video/vnd.mpeg.dash.mpd",
        ],
    ),
    (
        &["eot", "otf", "ttf", "woff", "woff2"],
        &[
            "font/",
            "application/font-woff",
            "application/font-woff2",
            "application/font-sfnt",
            "application/x-font-ttf",
            "application/x-font-otf",
            "application/x-font-woff",
            "application/vnd.ms-fontobject",
            "application/vnd.ms-opentype",
        ],
    ),
    (&["pdf"], &["application/pdf"]),
    (&["ps", "eps"], &["application/postscript", "image/"]),
    (&["csv"], &["text/csv", "text/plain", "application/csv"]),
    (&["txt"], &["text/plain"]),
    (&["wasm"], &["application/wasm"]),
    (&["swf"], &["application/x-shockwave-flash", "application/vnd.adobe.flash.movie"]),
    (&["jar", "class"], &["application/java-archive", "application/x-java-archive", "application/java-vm"]),
    (&["webmanifest"], &["application/manifest+json", "application/json"]),
    (&["doc", "docx", "ppt", "pptx", "xls", "xlsx"], &["application/msword", "application/vnd."]),
    (
        &["7z", "apk", "bin", "bz2", "dmg", "exe", "gz", "iso", "rar", "tar", "tgz", "zip", "zst"],
        &[
            "application/zip",
            "application/gzip",
            "application/x-gzip",
            "application/x-tar",
            "application/x-bzip2",
            "application/x-7z-compressed",
            "application/x-apple-diskimage",
            "application/x-iso9660-image",
            "application/x-msdownload",
            "application/x-zip-compressed",
            "application/zstd",
            "application/vnd.",
            "application/x-rar-compressed",
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_fits_the_extension_that_promises_it() {
        for (path, kind, fits) in [
            ("/app.css", "text/css; charset=utf-8", true),
            ("/app.CSS", "Text/CSS", true),
            ("/account/x.css", "text/html", false),
            ("/account/x.css", "", false),
            ("/app.js", "application/javascript", true),
            ("/app.js", "text/html; charset=utf-8", false),
            ("/a.png", "image/webp", true),
            ("/a.jpg", "text/html", false),
            ("/a.svg", "image/svg+xml", true),
            ("/f.woff2", "font/woff2", true),
            ("/f.woff", "application/font-woff", true),
            ("/d.pdf", "application/pdf", true),
            ("/d.pdf", "application/octet-stream", true),
            ("/d.pdf", "application/json", false),
            ("/v.mp4", "video/mp4", true),
            ("/account", "text/html", true),
            ("/index.html", "text/html", true),
            ("/page.php", "text/html", true),
            ("/a.css/page", "text/html", true),
            ("/account%2Fx.css", "text/html", false),
            ("/account;x.css", "text/html", false),
            ("/x.css;/account", "text/html", true),
            ("/x.css;v=1", "text/html", false),
            ("/account%3Fx.css", "text/html", false),
            ("/x.css%2F..%2Fy", "text/html", true),
            ("/.css", "text/html", false),
        ] {
            let value = (!kind.is_empty()).then(|| HeaderValue::from_str(kind).unwrap());
            assert_eq!(fits_extension(path, value.as_ref()), fits, "{path} {kind}");
        }
    }
}

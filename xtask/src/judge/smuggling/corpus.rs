//! The messages: each is a first request, in doubt, and another one behind or inside of it.

/// What each is, and its bytes.
pub(super) fn corpus() -> Vec<(String, Vec<u8>)> {
    CASES.iter().map(|(name, message)| ((*name).to_owned(), message.as_bytes().to_vec())).collect()
}

const CASES: &[(&str, &str)] = &[
    (
        "Content-Length and chunked; the length is shorter",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Content-Length and chunked; the chunks are shorter",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nContent-Length: 60\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "chunked and Content-Length, in that order",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n1e\r\nGET /smuggled HTTP/1.1\r\nX: aaa\r\n0\r\n\r\n",
    ),
    (
        "Content-Length alike",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Content-Length different",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nContent-Length: 5\r\nContent-Length: 0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Content-Length in a list, alike",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nContent-Length: 5, 5\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Content-Length in a list, different",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nContent-Length: 0, 5\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Content-Length with a sign",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nContent-Length: +5\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Content-Length negative",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nContent-Length: -5\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Content-Length hexadecimal",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nContent-Length: 0x5\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Content-Length empty",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nContent-Length:\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Content-Length of 21 digits",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nContent-Length: 100000000000000000005\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Content-Length with text behind it",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nContent-Length: 5 a\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Content-Length with a space in it",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nContent-Length: 0 5\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Content-Length with an underscore",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nContent-Length: 0_5\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Content-Length with a tab before it",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nContent-Length:\t5\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Content-Length with a space before the colon",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nContent-Length : 5\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Content-Length under a name with an underscore",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nContent_Length: 5\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Content-Length with a leading zero",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nContent-Length: 05\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Content-Length with a NUL",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nContent-Length: 5\0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Content-Length in a folded line",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nContent-Length:\r\n 5\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding xchunked",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding xchunked, and a length",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: xchunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding chunked, identity",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding chunked, identity, and a length",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked, identity\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding identity, chunked",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding identity, chunked, and a length",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: identity, chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding gzip, chunked",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding gzip, chunked, and a length",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: gzip, chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding chunked twice",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding chunked twice, and a length",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked, chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding in two fields",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding in two fields, and a length",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding in two fields, the first unknown",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding in two fields, the first unknown, and a length",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding quoted",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding quoted, and a length",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: \"chunked\"\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding with a vertical tab",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding with a vertical tab, and a length",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: \x0bchunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding with a trailing tab",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\t\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding with a trailing tab, and a length",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\t\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding with a parameter",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked;a=b\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding with a parameter, and a length",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked;a=b\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding with a space before the colon",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding with a space before the colon, and a length",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding : chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding with a tab before the colon",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding\t: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding with a tab before the colon, and a length",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding\t: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding under a name with an underscore",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer_Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding under a name with an underscore, and a length",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer_Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding in a folded line",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding in a folded line, and a length",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding:\r\n chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding after a line with a space first",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nX: a\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding after a line with a space first, and a length",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nX: a\r\n Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding after a bare CR",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nX: a\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding after a bare CR, and a length",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nX: a\rTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding after a bare LF",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nX: a\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding after a bare LF, and a length",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nX: a\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding after a NUL",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nX: a\0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding after a NUL, and a length",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nX: a\0\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding in capitals",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTRANSFER-ENCODING: CHUNKED\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding in capitals, and a length",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTRANSFER-ENCODING: CHUNKED\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding empty",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding:\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding empty, and a length",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding:\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding identity",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding identity, and a length",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: identity\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding with a comma first",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: ,chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding with a comma first, and a length",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: ,chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding without a colon",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Transfer-Encoding without a colon, and a length",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a chunk with an extension",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a chunk with a quoted extension",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n5;a=\"b;\r\n\"\r\nhello\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a chunk with a bare LF in an extension",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n5;a\nhello\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a chunk with a bare CR in an extension",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n5;a\rb\r\nhello\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a chunk of size 0x5",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a chunk of size +5",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n+5\r\nhello\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a chunk of size -5",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a chunk with a space before the size",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n 5\r\nhello\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a chunk with a space after the size",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n5 \r\nhello\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a chunk with a bare LF after the size",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a chunk with a bare LF after the data",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a chunk without an end of its data",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a chunk with too much data",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloworld\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a chunk of a size beyond 64 bits",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000005\r\nhello\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a chunk of a size with leading zeros",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n0000000000000000000005\r\nhello\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a chunk of no size",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n\r\nhello\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a chunk of size 5 in words",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\nfive\r\nhello\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a chunk with an underscore in the size",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n0_5\r\nhello\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "trailers with Content-Length",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nContent-Length: 50\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "trailers with Transfer-Encoding",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nTransfer-Encoding: chunked\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "trailers with Host",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nHost: b.example\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "trailers with a bare LF",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: a\n\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "trailers with a line without a colon",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "trailers with a folded line",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: a\r\n b\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "trailers with bare LFs as their end",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n0\n\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "HTTP/1.0 with chunks",
        "POST /first HTTP/1.0\r\nHost: a.example\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "HTTP/1.0 with chunks and a length",
        "POST /first HTTP/1.0\r\nHost: a.example\r\nConnection: keep-alive\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "HTTP/1.0 kept, and a second request",
        "POST /first HTTP/1.0\r\nHost: a.example\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhelloGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "HTTP/1.0 not kept, and a second request",
        "POST /first HTTP/1.0\r\nHost: a.example\r\nContent-Length: 5\r\n\r\nhelloGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "version \"1.10\"",
        "POST /first HTTP/1.10\r\nHost: a.example\r\nContent-Length: 5\r\n\r\nhelloGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "version \"2.0\"",
        "POST /first HTTP/2.0\r\nHost: a.example\r\nContent-Length: 5\r\n\r\nhelloGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "version \"0.9\"",
        "POST /first HTTP/0.9\r\nHost: a.example\r\nContent-Length: 5\r\n\r\nhelloGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "version \"1.\"",
        "POST /first HTTP/1.\r\nHost: a.example\r\nContent-Length: 5\r\n\r\nhelloGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "version \"11\"",
        "POST /first HTTP/11\r\nHost: a.example\r\nContent-Length: 5\r\n\r\nhelloGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "version \"1.1 \"",
        "POST /first HTTP/1.1 \r\nHost: a.example\r\nContent-Length: 5\r\n\r\nhelloGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "version \"1.1 x\"",
        "POST /first HTTP/1.1 x\r\nHost: a.example\r\nContent-Length: 5\r\n\r\nhelloGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "version \" 1.1\"",
        "POST /first HTTP/ 1.1\r\nHost: a.example\r\nContent-Length: 5\r\n\r\nhelloGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "GET with a body",
        "GET /first HTTP/1.1\r\nHost: a.example\r\nContent-Length: 5\r\n\r\nhelloGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "GET with chunks",
        "GET /first HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "HEAD with a body",
        "HEAD /first HTTP/1.1\r\nHost: a.example\r\nContent-Length: 5\r\n\r\nhelloGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "two requests at once",
        "GET /first HTTP/1.1\r\nHost: a.example\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "an upgrade that is not answered, and a request behind it",
        "GET /first HTTP/1.1\r\nHost: a.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "an upgrade to h2c, and a request behind it",
        "GET /first HTTP/1.1\r\nHost: a.example\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "an upgrade with a body",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 5\r\n\r\nhelloGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Connection: Content-Length",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nConnection: Content-Length\r\nContent-Length: 5\r\n\r\nhelloGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Connection: Transfer-Encoding",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nConnection: Transfer-Encoding\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Connection: Host",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nConnection: Host\r\nContent-Length: 5\r\n\r\nhelloGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Connection: X-Forwarded-For",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nConnection: X-Forwarded-For\r\nContent-Length: 5\r\n\r\nhelloGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Connection: close, Host",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nConnection: close, Host\r\nContent-Length: 5\r\n\r\nhelloGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Connection: keep-alive, Content-Length",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nConnection: keep-alive, Content-Length\r\nContent-Length: 5\r\n\r\nhelloGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a request line with two spaces",
        "GET  /first HTTP/1.1\r\nHost: a.example\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a request line with a tab",
        "GET\t/first HTTP/1.1\r\nHost: a.example\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a request line with a space in the target",
        "GET /first x HTTP/1.1\r\nHost: a.example\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a request line with no version",
        "GET /first\r\nHost: a.example\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a request line with a bare CR",
        "GET /first\rx HTTP/1.1\r\nHost: a.example\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a request line with a NUL",
        "GET /fi\0rst HTTP/1.1\r\nHost: a.example\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a request line with a fragment",
        "GET /first#x HTTP/1.1\r\nHost: a.example\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a request line with another host in its target",
        "GET http://b.example/first HTTP/1.1\r\nHost: a.example\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a request line with a target without a slash",
        "GET first HTTP/1.1\r\nHost: a.example\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a request line with an empty target",
        "GET  HTTP/1.1\r\nHost: a.example\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a request line with a method in small letters",
        "get /first HTTP/1.1\r\nHost: a.example\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a request line with a method with a colon",
        "GET: /first HTTP/1.1\r\nHost: a.example\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a request line with CONNECT",
        "CONNECT a.example:80 HTTP/1.1\r\nHost: a.example\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a request line with TRACE",
        "TRACE /first HTTP/1.1\r\nHost: a.example\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a request line with an asterisk",
        "OPTIONS * HTTP/1.1\r\nHost: a.example\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a request line with GET of an asterisk",
        "GET * HTTP/1.1\r\nHost: a.example\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "two Hosts",
        "GET /first HTTP/1.1\r\nHost: a.example\r\nHost: b.example\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    ("no Host", "GET /first HTTP/1.1\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n"),
    (
        "an empty Host",
        "GET /first HTTP/1.1\r\nHost:\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Host \"a b\"",
        "GET /first HTTP/1.1\r\nHost: a b\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Host \"a,b\"",
        "GET /first HTTP/1.1\r\nHost: a,b\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Host \"a@b\"",
        "GET /first HTTP/1.1\r\nHost: a@b\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Host \"a/b\"",
        "GET /first HTTP/1.1\r\nHost: a/b\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Host \"a:x\"",
        "GET /first HTTP/1.1\r\nHost: a:x\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Host \"a#b\"",
        "GET /first HTTP/1.1\r\nHost: a#b\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Host \"[::1\"",
        "GET /first HTTP/1.1\r\nHost: [::1\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Host \"a and NUL\"",
        "GET /first HTTP/1.1\r\nHost: a\0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "empty lines first",
        "\r\n\r\nGET /first HTTP/1.1\r\nHost: a.example\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "bare LFs as line ends",
        "GET /first HTTP/1.1\nHost: a.example\n\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "bare CRs as line ends",
        "GET /first HTTP/1.1\rHost: a.example\r\rGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a space before the first field",
        "GET /first HTTP/1.1\r\n Host: a.example\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a field without a name",
        "GET /first HTTP/1.1\r\nHost: a.example\r\n: x\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a field without a colon",
        "GET /first HTTP/1.1\r\nHost: a.example\r\nx\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a field's name with a space",
        "GET /first HTTP/1.1\r\nHost: a.example\r\nx y: z\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a field's name with a NUL",
        "GET /first HTTP/1.1\r\nHost: a.example\r\nx\0: z\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a value with a bare CR",
        "GET /first HTTP/1.1\r\nHost: a.example\r\nx: a\rb\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a value with a bare LF and a request",
        "GET /first HTTP/1.1\r\nHost: a.example\r\nx: a\n\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a value with CR CR LF",
        "GET /first HTTP/1.1\r\nHost: a.example\r\nx: a\r\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a folded line",
        "GET /first HTTP/1.1\r\nHost: a.example\r\nx: a\r\n b\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "a folded Host",
        "GET /first HTTP/1.1\r\nHost: a.example\r\n b\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Expect: 100-continue",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhelloGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Expect: 100-continue in chunks",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Expect of something else",
        "POST /first HTTP/1.1\r\nHost: a.example\r\nExpect: x\r\nContent-Length: 5\r\n\r\nhelloGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
    (
        "Expect on a GET",
        "GET /first HTTP/1.1\r\nHost: a.example\r\nExpect: 100-continue\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n",
    ),
];

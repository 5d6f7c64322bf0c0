//! Workloads of `bench edge`.

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Scenario {
    pub(super) name: &'static str,
    pub(super) what: &'static str,
    pub(super) folder: &'static str,
    pub(super) body: usize,
    pub(super) headers: &'static [(&'static str, &'static str)],
    pub(super) protocol: Protocol,
    pub(super) answer: Answer,
    pub(super) sendfile: bool,
    pub(super) logged: bool,
    pub(super) store: Store,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protocol {
    Http1,
    Http1Tls,
    Http2,
    Http2Tls,
    Http3,
}

impl Protocol {
    pub(super) fn is_tls(self) -> bool {
        matches!(self, Self::Http1Tls | Self::Http2Tls | Self::Http3)
    }

    pub(super) fn is_http2(self) -> bool {
        matches!(self, Self::Http2 | Self::Http2Tls)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Store {
    Memory,
    Disk,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Cache,
    Origin,
}

const HIT: Scenario = Scenario {
    name: "hit-1k",
    what: "1 KB from the cache, as browsers ask for it: 17 headers, 1000 URLs",
    folder: "1k",
    body: KILOBYTE,
    headers: &BROWSER,
    protocol: Protocol::Http1,
    answer: Answer::Cache,
    sendfile: false,
    logged: false,
    store: Store::Memory,
};

pub(super) const SCENARIOS: [Scenario; 14] = [
    HIT,
    Scenario {
        name: "hit-1k-bare",
        what: "1 KB from the cache, requests with a Host and nothing else, 1000 URLs",
        headers: &BARE,
        ..HIT
    },
    Scenario {
        name: "hit-1k-logged",
        what: "1 KB from the cache, 17 headers, 1000 URLs, a line in the access log for each",
        logged: true,
        ..HIT
    },
    HIT_64K,
    Scenario {
        name: "hit-64k-logged",
        what: "64 KB from the cache, 17 headers, 1000 URLs, a line in the access log for each; nginx with sendfile",
        logged: true,
        ..HIT_64K
    },
    Scenario {
        name: "proxied-1k",
        what: "1 KB, uncacheable according to the origin, 17 headers, 1000 URLs",
        folder: "own",
        answer: Answer::Origin,
        ..HIT
    },
    H2C,
    Scenario {
        name: "h2c-hit-1k-logged",
        what: "1 KB from the cache over HTTP/2 without TLS, 17 headers, 1000 URLs, 8 connections of 10 streams, a line in the access log for each",
        logged: true,
        ..H2C
    },
    Scenario {
        name: "tls-hit-1k",
        what: "1 KB from the cache over HTTP/1.1 and TLS, 17 headers, 1000 URLs",
        protocol: Protocol::Http1Tls,
        ..HIT
    },
    Scenario {
        name: "tls-hit-1k-logged",
        what: "1 KB from the cache over HTTP/1.1 and TLS, 17 headers, 1000 URLs, a line in the access log for each",
        protocol: Protocol::Http1Tls,
        logged: true,
        ..HIT
    },
    Scenario {
        name: "tls-hit-64k",
        what: "64 KB from the cache over HTTP/1.1 and TLS, 17 headers, 1000 URLs",
        protocol: Protocol::Http1Tls,
        ..HIT_64K
    },
    Scenario {
        name: "h2-hit-1k",
        what: "1 KB from the cache over HTTP/2 and TLS, 17 headers, 1000 URLs, 8 connections of 10 streams",
        protocol: Protocol::Http2Tls,
        ..HIT
    },
    Scenario {
        name: "h3-hit-1k",
        what: "1 KB from the cache over HTTP/3, 17 headers, 1000 URLs, 64 requests at a time by longhaul probe, which takes more processor time for \
               one than the server: its core is the bottleneck",
        protocol: Protocol::Http3,
        ..HIT
    },
    Scenario {
        name: "disk-hit-8k",
        what: "8 KB from disk in the page cache, 17 headers, 1000 URLs; the same from memory, and peers as they store by default",
        folder: "8k",
        body: 8 * KILOBYTE,
        store: Store::Disk,
        ..HIT
    },
];

const HIT_64K: Scenario = Scenario {
    name: "hit-64k",
    what: "64 KB from the cache, 17 headers, 1000 URLs; nginx with sendfile",
    folder: "64k",
    body: 64 * KILOBYTE,
    sendfile: true,
    ..HIT
};

const H2C: Scenario = Scenario {
    name: "h2c-hit-1k",
    what: "1 KB from the cache over HTTP/2 without TLS, 17 headers, 1000 URLs, 8 connections of 10 streams",
    protocol: Protocol::Http2,
    ..HIT
};

pub(super) const KILOBYTE: usize = 1024;

pub(super) const URLS: usize = 1000;

pub(super) const HOST: &str = "www.shop.example";

const BARE: [(&str, &str); 1] = [("Host", HOST)];

const BROWSER: [(&str, &str); 17] = [
    ("Host", HOST),
    (
        "User-Agent",
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
    ),
    ("Accept", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"),
    ("Accept-Encoding", "gzip, deflate, br, zstd"),
    ("Accept-Language", "en-GB,en;q=0.9,fr;q=0.6"),
    ("Cookie", "session=5f2b7c1de09a4863b1f7a2c4d6e8f901; basket=3; seen=1763900000.1763913600"),
    ("Referer", "https://www.shop.example/lamps?sort=price&page=2"),
    ("Sec-CH-UA", "\"Chromium\";v=\"142\", \"Not_A Brand\";v=\"99\""),
    ("Sec-CH-UA-Mobile", "?0"),
    ("Sec-CH-UA-Platform", "\"Linux\""),
    ("Sec-Fetch-Dest", "document"),
    ("Sec-Fetch-Mode", "navigate"),
    ("Sec-Fetch-Site", "same-origin"),
    ("Sec-Fetch-User", "?1"),
    ("Upgrade-Insecure-Requests", "1"),
    ("X-Forwarded-For", "203.0.113.7"),
    ("X-Request-Id", "0d9c4f6a7b1e4c5d8f3a2b6c9e7d1f50"),
];

impl Scenario {
    pub(super) fn path(&self, index: usize) -> String {
        format!("/{}/{}", self.folder, index % URLS)
    }
}

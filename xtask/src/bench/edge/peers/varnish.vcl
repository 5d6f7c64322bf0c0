# Varnish passes each request with a cookie on, unless it is told that this site's pages do not depend on them.
vcl 4.1;
backend origin { .host = "@origin-host@"; .port = "@origin-port@"; }
sub vcl_recv { unset req.http.Cookie; }
sub vcl_deliver {
    if (obj.hits > 0) { set resp.http.Cache-Status = "varnish; hit"; } else { set resp.http.Cache-Status = "varnish; fwd=miss"; }
}

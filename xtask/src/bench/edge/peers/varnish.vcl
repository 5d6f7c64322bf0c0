# By default, Varnish passes each request with a cookie. The pages of this site do not depend on cookies.
vcl 4.1;
backend origin { .host = "@origin-host@"; .port = "@origin-port@"; }
sub vcl_recv { unset req.http.Cookie; }
sub vcl_deliver {
    if (obj.hits > 0) { set resp.http.Cache-Status = "varnish; hit"; } else { set resp.http.Cache-Status = "varnish; fwd=miss"; }
}

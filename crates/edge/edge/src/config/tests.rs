//! Tests of the network's file and its error messages.

mod balancing;

use http_stack::{HeaderMap, Method, StatusCode};

use super::*;

const NETWORK: &str = r#"
[network]
name = "example"

[[data_centre]]
name = "lhr"
listen = ["127.0.0.1:8080"]

[[zone]]
name = "shop"
hosts = ["www.shop.example", "*.img.shop.example"]
origin = ["http://127.0.0.1:8000"]

[[zone.rule]]
path = "/private/*"
bypass = true

[[zone.rule]]
status = [404]
edge_ttl = "10s"

[[zone.rule]]
path = "/static/*"
cookie = { beta = "*" }
edge_ttl = "1d"
key = { query = ["v"] }
"#;

fn read(text: &str) -> Result<Network, String> {
    Network::read(&Document::new("n.toml", text)).map_err(|mistake| mistake.to_string())
}

#[test]
fn host_belongs_to_the_most_specific_zone() {
    let network = read(NETWORK).unwrap();
    assert_eq!(network.zone_of("www.shop.example"), Some(0));
    assert_eq!(network.zone_of("a.img.shop.example"), Some(0));
    assert_eq!(network.zone_of("img.shop.example"), None);
    assert_eq!(network.zone_of("example"), None);
}

#[test]
fn first_matching_rule_wins_status_rules_wait() {
    let network = read(NETWORK).unwrap();
    let headers: HeaderMap =
        [(http_stack::header::COOKIE, "a=b; beta=1".parse().unwrap())].into_iter().collect();
    let url = "http://www.shop.example/static/a.js?v=1".parse().unwrap();
    let asked = RuleInput { method: &Method::GET, url: &url, headers: &headers, client: None };
    let zone = &network.zones[0];
    assert_eq!(zone.rules.rule_for(asked).unwrap().edge_ttl, Some(Duration::from_secs(86_400)));
    let of = |status| zone.rules.rule_for_response(asked, status).unwrap().edge_ttl;
    assert_eq!(of(StatusCode::NOT_FOUND), Some(Duration::from_secs(10)));
    assert_eq!(of(StatusCode::OK), Some(Duration::from_secs(86_400)));
    let without = HeaderMap::new();
    assert!(zone.rules.rule_for(RuleInput { headers: &without, ..asked }).is_none());
}

const KV: &str = r#"
[kv]
listen = ["127.0.0.1:4490"]
store = "kv.redb"

[[kv.namespace]]
name = "sessions"
id = "0F2AC74B498B48028CB68387C421E279"
tokens = ["4813494d137e1631bba301d5acab6e7bb7aa74ce1185d456565ef51d737677b2"]

[[kv.namespace]]
name = "flags"
tokens = ["4813494d137e1631bba301d5acab6e7bb7aa74ce1185d456565ef51d737677b2"]
"#;

#[test]
fn kv_namespaces_have_unique_ids() {
    let kv = read(&format!("{NETWORK}{KV}")).unwrap().kv.unwrap();
    let ids: Vec<_> = kv.namespaces.iter().map(|namespace| namespace.id.as_str()).collect();
    // The second id is the prefix of `printf flags | sha256sum`.
    assert_eq!(ids, ["0f2ac74b498b48028cb68387c421e279", "2934fb49d6b38adef036c28fac69f188"]);
    assert_eq!((kv.memory, kv.largest), (64_000_000, 25 << 20));
    assert_eq!(read(NETWORK).unwrap().kv, None);
    let in_nats = KV.replace("kv.redb", "tls://n1,n2:4223/OWN?replicas=3");
    let kv = read(&format!("{NETWORK}{in_nats}")).unwrap().kv.unwrap();
    let Some(kv_server::Place::Nats(address)) = kv.place_of("lhr") else { panic!("{:?}", kv.stores) };
    assert_eq!((address.to_string().as_str(), address.replicas), ("tls://n1:4222,n2:4223/OWN", 3));
}

#[test]
fn kv_mistakes_have_position_and_remedy() {
    let name = "name = \"sessions\"";
    for (from, to, expected) in [
        ("store = ", "stor = ", "n.toml:30:1: unknown field `stor`"),
        (
            "\"127.0.0.1:4490\"",
            "",
            "n.toml:29:10: the store has no listening address: listen = [\"127.0.0.1:4490\"]",
        ),
        ("\"kv.redb\"", "\"tls://\"", "n.toml:30:9: the address names no server: nats://10.0.0.5:4222"),
        ("\"kv.redb\"", "\"\"", "n.toml:30:9: the store has no file: store = \"kv.redb\""),
        ("store = ", "largest = \"26MiB\"\nstore = ", "n.toml:30:11: a value may have from 1 byte to 25MiB"),
        ("store = ", "memory = \"1KB\"\nstore = ", "n.toml:30:10: the store needs 1MiB of memory at least"),
        ("store = ", "disk_size = \"1KB\"\nstore = ", "n.toml:30:13: values need 1MiB of disk at least"),
        (
            "store = ",
            "disk_size = \"1GB\"\nstore = ",
            "n.toml:30:13: disk_size is for values on disk, but no data centre has a disk",
        ),
        (name, "name = \"a b\"", "n.toml:33:8: \"a b\" is not a namespace's name"),
        (
            "store = ",
            "listen_tls = [\"127.0.0.1:4491\"]\nstore = ",
            "n.toml:30:14: data centre \"lhr\" serves the store over TLS and needs certificate and key for it",
        ),
        (
            "tokens = [\"4813",
            "read_tokens = [\"4813\"]\ntokens = [\"4813",
            "n.toml:35:16: not the SHA-256 of a token",
        ),
        (
            name,
            "name = \"flags\"",
            "n.toml:38:8: namespace \"flags\" has the name or the id of namespace \"flags\"",
        ),
        (
            "C421E279",
            "C421E27",
            "n.toml:34:6: \"0F2AC74B498B48028CB68387C421E27\" is not a namespace's id, which has 32",
        ),
        ("tokens = [\"4813", "tokens = [\"481", "n.toml:35:11: not the SHA-256 of a token"),
        (
            "tokens = [\"4813494d137e1631bba301d5acab6e7bb7aa74ce1185d456565ef51d737677b2\"]\n\n",
            "\n",
            "n.toml:33:8: namespace \"sessions\" has no tokens, so it is not accessible",
        ),
    ] {
        let text = format!("{NETWORK}{KV}").replacen(from, to, 1);
        let mistake = read(&text).unwrap_err();
        assert!(mistake.contains(expected), "{mistake}\n{expected}");
    }
    let empty = KV.split("[[").next().unwrap();
    let mistake = read(&format!("{NETWORK}{empty}")).unwrap_err();
    assert!(mistake.contains("n.toml:28:1: the store has no namespace: [[kv.namespace]]"), "{mistake}");
}

fn two(first: &str, second: &str) -> String {
    let link = |number: u8| {
        format!(
            "address = \"127.0.0.1:440{number}\"\nlink_certificate = \"a.pem\"\nlink_key = \"a-key.pem\"\n"
        )
    };
    let name = "name = \"lhr\"\n";
    let peers = format!(
        "[[data_centre]]\nname = \"fra\"\nlisten = [\"127.0.0.1:8081\"]\n{}{second}\n[[zone]]",
        link(2)
    );
    NETWORK.replacen("[[zone]]", &peers, 1).replacen(name, &format!("{name}{}{first}", link(1)), 1).replacen(
        "[network]\n",
        "[network]\nauthority = \"ca.pem\"\n",
        1,
    )
}

#[test]
fn kv_store_in_one_data_centre_serves_all() {
    let kv = KV.replace("store = \"kv.redb\"", "store = { fra = \"kv.redb\" }");
    let network = read(&format!("{}{kv}", two("", "kv_listen = [\"127.0.0.1:4491\"]\n"))).unwrap();
    let ports: Vec<_> = network.data_centres.iter().map(|centre| centre.kv_listen[0].port()).collect();
    assert_eq!(ports, [4490, 4491]);
    let kv = network.kv.unwrap();
    assert_eq!(
        (kv.place_of("lhr"), kv.place_of("fra")),
        (None, Some(&kv_server::Place::File("kv.redb".into())))
    );
}

#[test]
fn kv_store_may_be_in_two_data_centres() {
    let kv = KV.replace("\"kv.redb\"", "{ fra = \"a.redb\", lhr = \"b.redb\" }");
    let kv = read(&format!("{}{kv}", two("", ""))).unwrap().kv.unwrap();
    let stores: Vec<_> = kv.stores.iter().map(|store| store.data_centre.as_str()).collect();
    assert_eq!(stores, ["fra", "lhr"]);
    assert_eq!(kv.place_of("lhr"), Some(&kv_server::Place::File("b.redb".into())));
}

#[test]
fn either_kv_store_may_be_nats() {
    for [lhr, fra] in [["nats://n1", "nats://n2"], ["nats://n1/A", "nats://n1/B"], ["a.redb", "tls://n2"]] {
        let kv = KV.replace("\"kv.redb\"", &format!("{{ lhr = \"{lhr}\", fra = \"{fra}\" }}"));
        let kv = read(&format!("{}{kv}", two("", ""))).unwrap().kv.unwrap();
        let is_in_nats = |name| matches!(kv.place_of(name), Some(kv_server::Place::Nats(_)));
        assert_eq!((is_in_nats("lhr"), is_in_nats("fra")), (lhr.contains("://"), true), "{lhr} {fra}");
    }
}

#[test]
fn multi_store_kv_mistakes_have_position_and_remedy() {
    let own = "kv_listen = [\"127.0.0.1:4491\"]\n";
    for (store, listen, expected) in [
        (
            "\"kv.redb\"",
            "",
            ":9: the network has 2 data centres, and the store needs one of them: store = { lhr = \"kv.redb\" }",
        ),
        ("{ lrh = \"kv.redb\" }", "", ":11: the network has no data centre \"lrh\""),
        (
            "{ lhr = \"kv.redb\", fra = \"b\", nyc = \"c\" }",
            "",
            ":39: at most 2 data centres can have a store: leave \"nyc\" out",
        ),
        ("{ lhr = \"kv.redb\", far = \"b\" }", "", ":28: the network has no data centre \"far\""),
        (
            "{ lhr = \"nats://n1,n2\", fra = \"nats://n2:4222\" }",
            "",
            ":39: both stores are the stream LONGHAUL_KV of the same NATS: use servers near the other",
        ),
        ("{ lhr = \"\" }", "", ":17: the store has no file"),
        ("{ lhr = \"http://n1\" }", "", ":17: a store is a file, or in NATS: nats://10.0.0.5:4222"),
        ("{ lhr = \"nats://n1:port\" }", "", ":17: \"n1:port\" is not a server and its port"),
        ("{ lhr = \"nats://n1?replica=3\" }", "", ":17: \"replica=3\" is not a setting"),
        ("\"nats://n1\"", "", ":9: the network has 2 data centres, and the store needs one of them"),
        ("{}", "", ":9: the store is in no data centre: store = { lhr = \"kv.redb\" }"),
        ("7", "", ":9: invalid type: integer `7`, expected a file, an address such as"),
        ("{ lhr = \"kv.redb\" }", "kv_listen = []\n", ":13: kv_listen is empty"),
    ] {
        let kv = KV.replace("\"kv.redb\"", store);
        let mistake = read(&format!("{}{kv}", two("", listen))).unwrap_err();
        assert!(mistake.contains(expected), "{mistake}\n{expected}");
    }
    let kv = KV.replace("\"kv.redb\"", "{ lhr = \"kv.redb\" }");
    let nowhere = kv.replace("listen = [\"127.0.0.1:4490\"]\n", "");
    let mistake = read(&format!("{}{nowhere}", two(own, ""))).unwrap_err();
    assert!(mistake.contains(":1: data centre \"fra\" has no listening address for the store"), "{mistake}");
    assert!(read(&format!("{}{nowhere}", two(own, own))).is_ok());
    let mistake = read(&two(own, "")).unwrap_err();
    assert!(
        mistake.contains(":13: kv_listen is for the key-value store, but the network has no [kv]"),
        "{mistake}"
    );
    let alone = NETWORK
        .replace("[[zone]]", "[[data_centre]]\nname = \"fra\"\nlisten = [\"127.0.0.1:8081\"]\n[[zone]]");
    let mistake = read(&format!("{alone}{kv}")).unwrap_err();
    assert!(mistake.contains(":9: data centres reach the store over links, but have none"), "{mistake}");
}

#[test]
fn config_mistakes_have_position_and_remedy() {
    for (from, to, expected) in [
        ("edge_ttl = \"1d\"", "edge_tll = \"1d\"", "n.toml:25:1: unknown field `edge_tll`"),
        ("listen = [\"127.0.0.1:8080\"]", "", "n.toml:6:8: data centre \"lhr\" has no listening address"),
        ("http://127.0.0.1:8000", "127.0.0.1:8000", "n.toml:12:11: \"127.0.0.1:8000\" is not an origin"),
        ("*.img.shop.example", "WWW.shop.example", "n.toml:11:30: host \"www.shop.example\" is there twice"),
        ("*.img.shop.example", "a b", "n.toml:11:30: \"a b\" is not a host"),
        ("status = [404]", "status = [404]\nbypass = true", "a rule with status applies to the response"),
        ("status = [404]", "status = [99]", "99 is not the status of a response"),
        ("name = \"example\"", "name = \"an example\"", "n.toml:3:8: \"an example\" is not a name"),
        (
            "origin = ",
            "compress = [\"br\", \"gzipp\"]\norigin = ",
            "n.toml:12:19: \"gzipp\" is not a coding: expected \"zstd\", \"br\" or \"gzip\"; did you mean \"gzip\"?",
        ),
        (
            "listen = ",
            "connections_per_address = 0\nlisten = ",
            "n.toml:7:27: invalid value: integer `0`, expected a whole number from 1 to 4294967295, such as 4",
        ),
        (
            "[[data_centre]]",
            "[traces]\nendpoint = \"127.0.0.1:4318\"\nshare = \"1%\"\n[[data_centre]]",
            "n.toml:6:12: \"127.0.0.1:4318\" is not the URL of a collector: it has to begin with http:// or https://; expected",
        ),
        (
            "[[data_centre]]",
            "[traces]\nendpoint = \"http://a\"\nshare = \"101%\"\n[[data_centre]]",
            "n.toml:7:9: \"101%\" is out of range",
        ),
        (
            "[[data_centre]]",
            "[traces]\nendpoint = \"http://a\"\n[[data_centre]]",
            "n.toml:5:1: no request is traced: share = \"1%\" samples",
        ),
        ("[[data_centre]]", "[admin]\ntokens = [\"secret\"]\n[[data_centre]]", "not the SHA-256 of a token"),
    ] {
        let said = read(&NETWORK.replacen(from, to, 1)).unwrap_err();
        assert!(said.contains(expected), "expected {expected}\n  but got {said}");
    }
    let network = read(NETWORK).unwrap();
    assert_eq!(
        network.data_centre("lhs").unwrap_err(),
        "the network has no data centre \"lhs\", only lhr; did you mean \"lhr\"?"
    );
}

const PLANNED: &str = r#"
[network]
name = "example"

[[data_centre]]
name = "lhr"
city = "london"
region = "weur"
weight = 2

[[data_centre]]
name = "nyc"
city = "JFK"
region = "enam"

[[data_centre]]
name = "fra"
city = "frankfurt"
region = "weur"

[[zone]]
name = "shop"
hosts = ["*"]
origin = ["https://origin.shop.example"]
tiers = { nyc = "lhr", lhr = "fra" }
regional = true
"#;

fn planned(text: &str) -> Result<Network, String> {
    Network::read_for(&Document::new("n.toml", text), Purpose::Simulation)
        .map_err(|mistake| mistake.to_string())
}

#[test]
fn planned_network_has_cities_and_tiers() {
    let network = planned(PLANNED).unwrap();
    assert_eq!(network.data_centres[1].city.as_deref(), Some("newyork"));
    let (zone, tiers) = (&network.zones[0], network.tiers());
    assert!(zone.regional);
    let Tiers::Custom(map) = &zone.tiers else { panic!("{:?}", zone.tiers) };
    let ids: Vec<_> = tiers.ids().collect();
    let above: Vec<_> = ids.iter().map(|&id| map.above(id)).collect();
    assert_eq!(above, [Some(ids[2]), Some(ids[0]), None]);
    assert!(tiers.are_neighbours(ids[0], ids[2]) && !tiers.are_neighbours(ids[0], ids[1]));
    // With weights 2, 1 and 1 only lhr reaches the mean.
    assert_eq!(tiers.large().members().collect::<Vec<_>>(), [ids[0]]);
    // 5570 km there and back at 5 us per km.
    assert!(tiers.light(ids[0], ids[1]).abs_diff(Duration::from_micros(55_700)) < Duration::from_micros(300));
}

#[test]
fn tier_mistakes_have_position_and_remedy() {
    for (from, to, expected) in [
        ("\"london\"", "\"londom\"", "n.toml:7:8: unknown city \"londom\"; did you mean \"london\"?"),
        (
            "city = \"london\"",
            "",
            "n.toml:6:8: data centre \"lhr\" has no city, which a simulation needs: city = \"london\"",
        ),
        (
            "weight = 2",
            "weight = 0",
            "n.toml:9:10: invalid value: integer `0`, expected a whole number from 1",
        ),
        ("name = \"fra\"", "name = \"lhr\"", "n.toml:17:8: data centre \"lhr\" is there twice"),
        (
            "lhr = \"fra\"",
            "lhr = \"fra\", fra = \"nyc\"",
            "n.toml:25:24: the tiers form a loop: lhr -> fra, fra -> nyc, nyc -> lhr; one of these",
        ),
        (
            "\"fra\" }",
            "\"frx\" }",
            "n.toml:25:30: the network has no data centre \"frx\"; did you mean \"fra\"?",
        ),
        (
            "nyc = \"lhr\",",
            "nyx = \"lhr\",",
            "n.toml:25:11: the network has no data centre \"nyx\"; did you mean \"nyc\"?",
        ),
        (
            "{ nyc = \"lhr\", lhr = \"fra\" }",
            "\"smrt\"",
            "n.toml:25:9: unknown tiers \"smrt\": expected \"none\", \"smart\", \"generic\", or a map such as { lhr = \"fra\" }, \
             where fra is the upper tier of lhr; did you mean \"smart\"?",
        ),
        (
            "{ nyc = \"lhr\", lhr = \"fra\" }",
            "3",
            "n.toml:25:9: invalid type: integer `3`, expected \"none\", \"smart\"",
        ),
        ("{ nyc = \"lhr\", lhr = \"fra\" }", "\"generic\"", "n.toml:26:12: a regional tier is used before"),
        (
            "region = \"enam\"",
            "",
            "n.toml:26:12: regional tiers need the region of each data centre, but \"nyc\" has no region",
        ),
        ("regional = true", "regionl = true", "n.toml:26:1: unknown field `regionl`"),
    ] {
        let text = PLANNED.replacen(from, to, 1);
        assert_ne!(text, PLANNED);
        let said = planned(&text).unwrap_err();
        assert!(said.contains(expected), "expected {expected}\n  but got {said}");
    }
}

fn linked() -> String {
    let mut text = PLANNED.replace("name = \"example\"", "name = \"example\"\nauthority = \"ca.pem\"");
    for (number, name) in (1..).zip(["lhr", "nyc", "fra"]) {
        let centre = format!("name = \"{name}\"\n");
        let link = format!(
            "name = \"{name}\"\nlisten = [\"127.0.0.1:0\"]\naddress = \"10.0.0.{number}:4400\"\nlink_certificate = \"c\"\nlink_key = \"k\"\n"
        );
        text = text.replacen(&centre, &link, 1);
    }
    text
}

#[test]
fn linked_data_centres_are_peers() {
    let network = read(&linked()).unwrap();
    assert_eq!(network.authority.as_deref(), Some(Path::new("ca.pem")));
    let addresses: Vec<_> =
        network.data_centres.iter().map(|centre| centre.link.as_ref().unwrap().address.to_string()).collect();
    assert_eq!(addresses, ["10.0.0.1:4400", "10.0.0.2:4400", "10.0.0.3:4400"]);
    assert_eq!(network.zones[0].detours, Detours::On);
    let off = linked().replace("regional = true", "detours = \"off\"");
    assert_eq!(read(&off).unwrap().zones[0].detours, Detours::Off);
    let statuses = linked().replace("regional = true", "detour_statuses = [511]");
    assert_eq!(read(&statuses).unwrap().zones[0].detour_statuses, [511]);
}

#[test]
fn link_mistakes_have_position_and_remedy() {
    let listening = PLANNED.replace("city =", "listen = [\"127.0.0.1:0\"]\ncity =");
    assert!(read(PLANNED).unwrap_err().contains("n.toml:6:8: data centre \"lhr\" has no listening address"));
    let said = read(&listening.replace("regional = true", "")).unwrap_err();
    assert!(said.contains("n.toml:28:9: tiers need links between data centres"), "{said}");
    let none =
        listening.replace("{ nyc = \"lhr\", lhr = \"fra\" }", "\"none\"").replace("regional = true", "");
    assert_eq!(read(&none).unwrap().zones[0].tiers, Tiers::None);
    for (from, to, expected) in [
        (
            "authority = \"ca.pem\"\n",
            "",
            "n.toml:8:11: data centre \"lhr\" has an address for links, which need a common authority",
        ),
        (
            "address = \"10.0.0.2:4400\"\nlink_certificate = \"c\"\nlink_key = \"k\"\n",
            "",
            "n.toml:17:8: data centre \"nyc\" has no address, but \"lhr\" has one: links need an address in every data centre",
        ),
        (
            "link_key = \"k\"\n",
            "",
            "n.toml:7:8: data centre \"lhr\" needs address, link_certificate and link_key together",
        ),
        ("10.0.0.3", "10.0.0.2", "n.toml:28:11: data centre \"fra\" has the address of \"nyc\""),
        (
            "regional = true",
            "detours = \"of\"",
            "unknown variant `of`, expected one of `off`, `on`, `faster`",
        ),
        (
            "name = \"example\"\n",
            "name = \"example\"\nrevoked = { serials = [\"lhr\"] }\n",
            "\"lhr\" is not the serial number of a certificate: expected up to 20 bytes in hexadecimal",
        ),
        (
            "regional = true",
            "detour_statuses = [511, 204]",
            "204 is not an error status: expected 400 to 599",
        ),
        (
            "regional = true",
            "detours = \"off\"\ndetour_statuses = [511]",
            "511 has no effect with detours = \"off\"",
        ),
    ] {
        let text = linked().replacen(from, to, 1);
        assert_ne!(text, linked());
        let said = read(&text).unwrap_err();
        assert!(said.contains(expected), "expected {expected}\n  but got {said}");
    }
}

#[test]
fn bus_mistakes_have_position_and_remedy() {
    let with = |bus: &str, text: &str| {
        read(&text.replacen("[network]\n", &format!("[network]\nbus = \"{bus}\"\n"), 1))
    };
    let linked = two("", "");
    let bus = with("tls://t0ken@n1,n2:4223?replicas=3", &linked).unwrap().bus.unwrap();
    assert_eq!((bus.to_string().as_str(), bus.replicas), ("tls://n1:4222,n2:4223/LONGHAUL_PURGES", 3));
    assert_eq!(with("nats://n1/OWN", &linked).unwrap().bus.unwrap().stream, "OWN");
    assert_eq!(read(&linked).unwrap().bus, None);
    for (bus, expected) in [
        ("n1:4222", "n.toml:3:7: the bus needs a NATS address: nats://10.0.0.5:4222 or tls://…"),
        ("redis://n1", "n.toml:3:7: the bus needs a NATS address"),
        ("nats://", "n.toml:3:7: the address names no server"),
        ("nats://n1:port", "n.toml:3:7: \"n1:port\" is not a server and its port"),
        ("nats://n1/a.b", "n.toml:3:7: \"a.b\" is not a stream's name"),
        ("nats://n1?replicas=2", "n.toml:3:7: a stream is on 1, 3 or 5 servers"),
    ] {
        let mistake = with(bus, &linked).unwrap_err();
        assert!(mistake.contains(expected), "{mistake}\n{expected}");
    }
    let mistake = with("nats://n1", NETWORK).unwrap_err();
    assert!(mistake.contains("n.toml:3:7: the bus requires links between all data centres"), "{mistake}");
}

#[test]
fn origin_request_mistakes_have_position_and_remedy() {
    let with =
        |lines: &str| read(&NETWORK.replacen("hosts = [\"www", &format!("{lines}\nhosts = [\"www"), 1));
    for (lines, expected) in [
        ("origin_host = \"a/b\"", "n.toml:11:15: \"a/b\" is not a host: expected \"origin\""),
        ("origin_host = \"*.a.example\"", "is not a host"),
        ("origin_host = \"a:0\"", "is not a host"),
        ("origin_host = \"me@a\"", "is not a host"),
        ("origin_headers = { remove = [\"Host\"] }", "Host cannot be in origin_headers: use origin_host"),
        (
            "origin_headers = { remove = [\"Connection\"] }",
            "n.toml:11:30: connection cannot be in origin_headers",
        ),
        ("origin_headers = { set = { Range = \"x\" } }", "range cannot be in origin_headers"),
        ("origin_headers = { set = { CDN-Loop = \"x\" } }", "cdn-loop cannot be in origin_headers"),
        ("origin_headers = { set = { \"a b\" = \"x\" } }", "\"a b\" is not a field's name"),
        ("origin_headers = { set = { Accept-Encoding = \"gzip\" } }", "Accept-Encoding cannot be set"),
        ("origin_headers = { set = { A = \"x\\ny\" } }", "characters that a field cannot contain"),
        ("origin_headers = { set = { A = 1 } }", "expected a text, { env = \"NAME\" }"),
        ("origin_headers = { set = { A = \"x\" }, remove = [\"a\"] }", "origin_headers sets and removes a"),
        (
            "origin_auth = { sigv4 = { region = \"eu central\", access_key = \"a\", secret_key = \"b\" } }",
            "\"eu central\" is not a region or service of AWS",
        ),
        (
            "origin_headers = { set = { Authorization = \"x\" } }\n\
             origin_auth = { sigv4 = { region = \"r\", access_key = \"a\", secret_key = \"b\" } }",
            "origin_auth sets authorization",
        ),
        ("origin_auth = { sigv5 = {} }", "unknown field `sigv5`, expected `sigv4`"),
    ] {
        let mistake = with(lines).unwrap_err();
        assert!(mistake.contains(expected), "expected {expected}\n  but got {mistake}");
    }
    let origin = |url: &str| {
        read(&NETWORK.replace("http://127.0.0.1:8000", url))
            .map(|network| network.zones[0].origins[0].to_string())
    };
    assert_eq!(origin("https://a.example/b?c").unwrap(), "https://a.example/b");
    assert!(origin("http://a/../b").unwrap_err().contains("its path is ambiguous"));
}

#[test]
fn missing_secrets_stop_only_a_start() {
    let lines = "origin_headers = { set = { A = { env = \"LONGHAUL_TEST_UNSET\" }, B = { file = \"/nowhere/b\" } } }\n\
                 origin_host = \"a.example\"\n";
    let text = NETWORK.replacen("hosts = [\"www", &format!("{lines}hosts = [\"www"), 1);
    let text = text.replace("http://127.0.0.1:8000", "https://127.0.0.1:8000");
    let network = read(&text).unwrap();
    assert_eq!(network.zones[0].origins[0].server_name.as_deref(), Some("a.example"));
    let missing: Vec<_> = network.missing_secrets().collect();
    assert_eq!(
        missing[0].1,
        "the environment variable LONGHAUL_TEST_UNSET is not set; export it before the start"
    );
    assert!(missing[1].1.starts_with("cannot read the secret in /nowhere/b: No such file"), "{missing:?}");
    let error = network.require_secrets().unwrap_err().to_string();
    assert!(error.starts_with("n.toml:11:32: the environment variable LONGHAUL_TEST_UNSET"), "{error}");
}

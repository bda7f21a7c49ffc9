//! Tests of the parent module.

use super::*;

fn options(listen: &str, hosts: &[&str]) -> ServeOptions {
    ServeOptions {
        listen: listen.parse().unwrap(),
        hosts: hosts.iter().map(|host| (*host).to_owned()).collect(),
        read_only: false,
        database: "x.db".into(),
        program: "hakaru".into(),
    }
}

#[test]
fn only_own_names_are_hosts() {
    let local = options("127.0.0.1:7272", &[]);
    let proxied = options("127.0.0.1:7272", &["lab.example"]);
    let open = options("0.0.0.0:7272", &[]);
    for (host, of_local, of_proxied, of_open) in [
        ("127.0.0.1:7272", true, true, true),
        ("[::1]:7272", true, true, true),
        ("LocalHost", true, true, true),
        ("localhost.", true, true, true),
        ("lab.example", false, true, false),
        ("192.0.2.7:7272", false, false, true),
        ("pi4.local:7272", false, false, true),
        ("evil.example:7272", false, false, false),
        ("127.0.0.1.evil.example", false, false, false),
        ("localhost.evil.example", false, false, false),
        ("", false, false, false),
    ] {
        let is = |options: &ServeOptions| is_own_host(options, "pi4", host);
        assert_eq!(
            (is(&local), is(&proxied), is(&open)),
            (of_local, of_proxied, of_open),
            "{host}"
        );
    }
    assert!(!local.needs_token() && proxied.needs_token() && open.needs_token());
}

#[test]
fn pages_of_other_sites_are_refused() {
    let of = |pairs: &[(&'static str, &'static str)], strictly| {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.insert(
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            );
        }
        is_own_origin(&headers, "127.0.0.1:7272", strictly)
    };
    assert!(of(&[], false) && !of(&[], true));
    assert!(of(&[("origin", "http://127.0.0.1:7272")], true));
    for foreign in [
        "http://127.0.0.1:80",
        "null",
        "http://evil.example",
        "x://127.0.0.1:7272",
    ] {
        assert!(!of(&[("origin", foreign)], false), "{foreign}");
    }
    let visit = [
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-mode", "navigate"),
    ];
    assert!(of(&visit, false) && !of(&visit, true));
    assert!(!of(&[("sec-fetch-site", "cross-site")], false));
}

#[test]
fn the_language_is_that_of_the_cookie_then_of_the_browser() {
    let of = |pairs: &[(HeaderName, &'static str)]| {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.insert(name, HeaderValue::from_static(value));
        }
        language(&headers)
    };
    let browser = (header::ACCEPT_LANGUAGE, "fr, ja-JP;q=0.9, en;q=0.8");
    assert_eq!(of(&[]), Language::English);
    assert_eq!(of(std::slice::from_ref(&browser)), Language::Japanese);
    let chosen = (header::COOKIE, "a=b; hakaru-lang=en");
    assert_eq!(of(&[browser, chosen]), Language::English);
}

#[test]
fn guesses_are_limited_by_address_and_in_number() {
    let guesses = Guesses::default();
    let now = Instant::now();
    let one: IpAddr = "2001:db8::1".parse().unwrap();
    for _ in 0..Guesses::MOST {
        assert!(!guesses.is_blocked(one, now));
        guesses.note(one, now);
    }
    let neighbor: IpAddr = "2001:db8::2".parse().unwrap();
    let other: IpAddr = "192.0.2.1".parse().unwrap();
    assert!(guesses.is_blocked(one, now) && guesses.is_blocked(neighbor, now));
    assert!(!guesses.is_blocked(other, now));
    assert!(!guesses.is_blocked(one, now + Guesses::PERIOD));
    for n in 0..2000_u32 {
        guesses.note(IpAddr::from(n.to_be_bytes()), now);
    }
    assert!(guesses.is_blocked(other, now) && !guesses.is_blocked(other, now + Guesses::PERIOD));
}

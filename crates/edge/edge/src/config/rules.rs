//! Reads and validates the rules and the site settings of a zone.

use std::ops::Range;

use config_file::{Diagnostic, Document};
use http_stack::{Bytes, HeaderMap, HeaderName, HeaderValue, Scheme, StatusCode, header};
use toml::{Spanned, Value};

use super::{
    Pattern, Purpose, Rule, check_host,
    rule_spec::{ChangesSpec, ConditionsSpec, CorsSpec, HstsSpec, RedirectSpec, RespondSpec, RuleSpec},
};
use crate::rules::{
    address_list::AddressList,
    answer::FixedResponse,
    conditions::{Conditions, method, status},
    cors::{AllowedOrigin, Cors},
    header_changes::{FieldValue, HeaderChanges, request_field, response_field},
    path_pattern::PathPattern,
    rule::{Actions, EndAction},
    site::{SiteSettings, hsts},
    target::{Redirect, Target},
    template::{Template, TemplateError},
};

pub(super) struct RuleReader<'d> {
    pub(super) document: &'d Document,
    pub(super) purpose: Purpose,
    /// The zone's hosts.
    pub(super) hosts: &'d [String],
}

type FieldParser = fn(&str) -> Result<HeaderName, String>;

pub(super) fn address_list(
    document: &Document,
    written: &[Spanned<String>],
) -> Result<AddressList, Diagnostic> {
    let mut list = AddressList::default();
    for text in written {
        list.push(text.get_ref()).map_err(|message| document.mistake(text.span(), message))?;
    }
    Ok(list)
}

impl RuleReader<'_> {
    pub(super) fn site(
        &self,
        https_only: bool,
        canonical_host: Option<&Spanned<String>>,
        hsts: Option<&Spanned<Value>>,
    ) -> Result<SiteSettings, Diagnostic> {
        let canonical_host = canonical_host.map(|written| {
            let host = check_host(written.get_ref())
                .map_err(|message| self.document.mistake(written.span(), message))?;
            if host.contains('*') || !self.is_own(&host) {
                let message = format!("\"{host}\" is not one of the zone's hosts: add it to hosts");
                return Err(self.document.mistake(written.span(), message));
            }
            Ok(host)
        });
        Ok(SiteSettings {
            https_only,
            canonical_host: canonical_host.transpose()?,
            hsts: hsts.map(|written| self.hsts(written)).transpose()?,
        })
    }

    fn hsts(&self, written: &Spanned<Value>) -> Result<HeaderValue, Diagnostic> {
        let wrong = |message: String| self.document.mistake(written.span(), message);
        let spec = match written.get_ref() {
            Value::String(text) => HstsSpec {
                max_age: units::duration::parse(text).map_err(|error| wrong(error.to_string()))?,
                include_subdomains: false,
                preload: false,
            },
            table @ Value::Table(_) => table
                .clone()
                .try_into()
                .map_err(|error: toml::de::Error| wrong(error.message().to_owned()))?,
            _ => return Err(wrong("expected a duration, such as hsts = \"365d\"".to_owned())),
        };
        hsts(spec.max_age, spec.include_subdomains, spec.preload).map_err(wrong)
    }

    pub(super) fn rule(&self, written: &Spanned<RuleSpec>) -> Result<Rule, Diagnostic> {
        let rule = written.get_ref();
        let wrong = |what: &str| self.document.mistake(written.span(), what);
        let is_for_response = rule.status.is_some();
        if is_for_response && (rule.key.is_some() || rule.bypass) {
            return Err(wrong("a rule with status applies to the response: it cannot set the key or bypass"));
        }
        let conditions = self.conditions(written)?;
        let captures = conditions.path.as_ref().map_or(0, PathPattern::wildcards);
        let actions = self.actions(rule, captures)?;
        let is_request_action = actions.end.is_some()
            || actions.rewrite.is_some()
            || actions.cors.is_some()
            || !actions.request_headers.is_empty();
        if is_for_response && is_request_action {
            return Err(wrong(
                "a rule with status applies to the response: of the actions, it can have response_headers only",
            ));
        }
        let has_settings =
            rule.edge_ttl.is_some() || rule.browser_ttl.is_some() || rule.bypass || rule.key.is_some();
        let continues = has_settings
            || actions.rewrite.is_some()
            || actions.cors.is_some()
            || !actions.request_headers.is_empty();
        if actions.end.is_some() && continues {
            return Err(wrong(
                "redirect and respond end the request: move the other settings to another rule",
            ));
        }
        if actions.cors.is_some() && conditions.methods.is_some() {
            return Err(wrong("a preflight has the method OPTIONS: leave method out of a rule with cors"));
        }
        let key = match &rule.key {
            None => http_cache::KeyRule::default(),
            Some(key) if key.query.is_some() && (key.sort_query || !key.query_exclude.is_empty()) => {
                return Err(wrong(
                    "query chooses the parameters of the key: remove query_exclude and sort_query",
                ));
            }
            Some(key) => http_cache::KeyRule {
                query: key.query.clone(),
                query_exclude: key.query_exclude.clone(),
                sort_query: key.sort_query,
                host: key.host.as_ref().map(|host| self.key_host(host)).transpose()?,
                device: key.device,
                cookies: key.cookie.clone(),
                headers: key
                    .header
                    .iter()
                    .map(|name| self.named(name, key_field))
                    .collect::<Result<_, _>>()?,
            },
        };
        let read = Rule {
            place: self.document.place(written.span()),
            conditions,
            edge_ttl: rule.edge_ttl,
            browser_ttl: rule.browser_ttl,
            is_bypass: rule.bypass,
            has_key: rule.key.is_some(),
            key,
            actions,
        };
        let host = self.hosts.first().map_or("x", String::as_str).replace('*', "x");
        match (rule.redirect.as_ref(), read.redirect_loop(&host, |host| self.is_own(host))) {
            (Some(redirect), Some((from, to))) => {
                let message = format!(
                    "the redirect is a loop: {from} leads to {to}, which the rule matches again; exclude it with not"
                );
                Err(self.document.mistake(redirect.get_ref().to.span(), message))
            }
            _ => Ok(read),
        }
    }

    fn is_own(&self, host: &str) -> bool {
        self.hosts.iter().any(|own| match own.strip_prefix('*') {
            Some("") => true,
            Some(suffix) => host.strip_suffix(suffix).is_some_and(|label| !label.is_empty()),
            None => own == host,
        })
    }

    fn conditions(&self, written: &Spanned<RuleSpec>) -> Result<Conditions, Diagnostic> {
        let rule = written.get_ref();
        let wrong = |what: String| self.document.mistake(written.span(), what);
        let not = rule.not.as_ref().map(|not| self.excluded(not)).transpose()?;
        let statuses = rule
            .status
            .as_ref()
            .map(|codes| codes.iter().map(|&code| status(code)).collect::<Result<_, _>>());
        let methods = rule
            .method
            .as_ref()
            .map(|methods| methods.iter().map(|name| method(name)).collect::<Result<_, _>>());
        let headers = rule.header.iter().map(|(name, pattern)| Ok((key_field(name)?, Pattern::new(pattern))));
        Ok(Conditions {
            path: rule.path.as_deref().map(PathPattern::new),
            host: rule.host.as_deref().map(Conditions::host_pattern),
            scheme: rule.scheme.as_ref().map(|scheme| self.scheme(scheme)).transpose()?,
            clients: rule.client.as_ref().map(|clients| address_list(self.document, clients)).transpose()?,
            methods: methods.transpose().map_err(wrong)?,
            statuses: statuses.transpose().map_err(wrong)?,
            query: patterns(&rule.query),
            headers: headers.collect::<Result<_, String>>().map_err(wrong)?,
            cookies: patterns(&rule.cookie),
            not: not.map(Box::new),
        })
    }

    fn excluded(&self, written: &Spanned<ConditionsSpec>) -> Result<Conditions, Diagnostic> {
        let not = written.get_ref();
        let wrong = |what: String| self.document.mistake(written.span(), what);
        let methods = not
            .method
            .as_ref()
            .map(|methods| methods.iter().map(|name| method(name)).collect::<Result<_, _>>());
        let headers = not.header.iter().map(|(name, pattern)| Ok((key_field(name)?, Pattern::new(pattern))));
        Ok(Conditions {
            path: not.path.as_deref().map(PathPattern::new),
            host: not.host.as_deref().map(Conditions::host_pattern),
            scheme: not.scheme.as_ref().map(|scheme| self.scheme(scheme)).transpose()?,
            clients: not.client.as_ref().map(|clients| address_list(self.document, clients)).transpose()?,
            methods: methods.transpose().map_err(wrong)?,
            statuses: None,
            query: patterns(&not.query),
            headers: headers.collect::<Result<_, String>>().map_err(wrong)?,
            cookies: patterns(&not.cookie),
            not: None,
        })
    }

    fn scheme(&self, written: &Spanned<String>) -> Result<Scheme, Diagnostic> {
        match &written.get_ref()[..] {
            "http" => Ok(Scheme::Http),
            "https" => Ok(Scheme::Https),
            other => {
                let message = format!("\"{other}\" is not a scheme: expected \"http\" or \"https\"");
                Err(self.document.mistake(written.span(), message))
            }
        }
    }

    fn actions(&self, rule: &RuleSpec, captures: usize) -> Result<Actions, Diagnostic> {
        let end = match (&rule.redirect, &rule.respond) {
            (None, None) => None,
            (Some(redirect), None) => Some(EndAction::Redirect(self.redirect(redirect.get_ref(), captures)?)),
            (None, Some(respond)) => Some(EndAction::Respond(self.respond(respond)?)),
            (Some(_), Some(respond)) => {
                let message = "a rule has redirect or respond, not both: each ends the request";
                return Err(self.document.mistake(respond.span(), message));
            }
        };
        let rewrite = rule
            .rewrite
            .as_ref()
            .map(|to| Target::rewrite(to.get_ref(), captures).map_err(|error| self.in_template(to, error)));
        Ok(Actions {
            end,
            rewrite: rewrite.transpose()?,
            request_headers: self.changes(&rule.request_headers, request_field, captures)?,
            response_headers: self.changes(&rule.response_headers, response_field, captures)?,
            cors: rule.cors.as_ref().map(|cors| self.cors(cors)).transpose()?,
        })
    }

    fn redirect(&self, written: &RedirectSpec, captures: usize) -> Result<Redirect, Diagnostic> {
        let to = Target::redirect(written.to.get_ref(), captures, written.keep_query);
        let status = match &written.status {
            None => Redirect::DEFAULT_STATUS,
            Some(code) => {
                let known = Redirect::STATUSES.contains(code.get_ref());
                let status = StatusCode::from_u16(*code.get_ref()).ok().filter(|_| known);
                status.ok_or_else(|| {
                    let message = format!(
                        "{} is not the status of a redirect: expected 301, 302, 303, 307 or 308",
                        code.get_ref()
                    );
                    self.document.mistake(code.span(), message)
                })?
            }
        };
        Ok(Redirect { to: to.map_err(|error| self.in_template(&written.to, error))?, status })
    }

    fn respond(&self, written: &Spanned<RespondSpec>) -> Result<FixedResponse, Diagnostic> {
        let respond = written.get_ref();
        let wrong = |span: Range<usize>, message: String| self.document.mistake(span, message);
        let code = respond.status.as_ref().map_or(200, |code| *code.get_ref());
        let span = respond.status.as_ref().map_or_else(|| written.span(), Spanned::span);
        let status = status(code).map_err(|message| wrong(span.clone(), message))?;
        let body = match (&respond.body, &respond.body_file) {
            (Some(_), Some(_)) => {
                return Err(wrong(written.span(), "respond has body or body_file, not both".to_owned()));
            }
            (Some(body), None) => Bytes::from(body.clone()),
            (None, Some(path)) if self.purpose == Purpose::Run => {
                let text = config_file::read_text(path.get_ref());
                let place = path.get_ref().display();
                Bytes::from(
                    text.map_err(|error| wrong(path.span(), format!("cannot read {place}: {error}")))?,
                )
            }
            (None, _) => Bytes::new(),
        };
        let has_body = respond.body.is_some() || respond.body_file.is_some();
        if has_body && !FixedResponse::may_have_body(status) {
            return Err(wrong(span, format!("a response with status {code} has no body")));
        }
        let mut headers = HeaderMap::new();
        if FixedResponse::may_have_body(status) {
            headers.insert(header::CONTENT_LENGTH, body.len().into());
        }
        if !body.is_empty() {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        }
        let content_type = respond.content_type.iter().map(|value| (header::CONTENT_TYPE, value));
        let fields = respond.headers.iter().map(|(name, value)| {
            let parsed = response_field(name).map_err(|message| wrong(value.span(), message))?;
            Ok::<_, Diagnostic>((parsed, value))
        });
        for field in content_type.map(Ok).chain(fields) {
            let (name, value) = field?;
            let message = || format!("the value of {name} cannot contain control characters");
            let parsed =
                HeaderValue::try_from(value.get_ref()).map_err(|_| wrong(value.span(), message()))?;
            headers.insert(name, parsed);
        }
        Ok(FixedResponse { status, headers, body })
    }

    fn changes(
        &self,
        written: &ChangesSpec,
        parse: FieldParser,
        captures: usize,
    ) -> Result<HeaderChanges, Diagnostic> {
        let values = |fields: &std::collections::BTreeMap<String, Spanned<String>>| {
            let value = |(name, value): (&String, &Spanned<String>)| {
                let name = parse(name).map_err(|message| self.document.mistake(value.span(), message))?;
                let template = Template::parse(value.get_ref(), captures)
                    .map_err(|error| self.in_template(value, error))?;
                let parsed = FieldValue::new(template);
                Ok((name, parsed.map_err(|message| self.document.mistake(value.span(), message))?))
            };
            fields.iter().map(value).collect::<Result<Vec<_>, Diagnostic>>()
        };
        Ok(HeaderChanges {
            remove: written.remove.iter().map(|name| self.named(name, parse)).collect::<Result<_, _>>()?,
            set: values(&written.set)?,
            add: values(&written.add)?,
        })
    }

    fn cors(&self, written: &Spanned<CorsSpec>) -> Result<Cors, Diagnostic> {
        let cors = written.get_ref();
        let wrong = |what: &str| Err(self.document.mistake(written.span(), what));
        if cors.origins.is_empty() {
            return wrong("cors has no origins: expected origins = [\"https://app.example\"]");
        }
        let mut origins = Vec::new();
        for origin in &cors.origins {
            let mistake = |message| self.document.mistake(origin.span(), message);
            let parsed = AllowedOrigin::parse(origin.get_ref()).map_err(mistake)?;
            if parsed == AllowedOrigin::Any && cors.credentials {
                let message = "with credentials = true, every site could read responses for its visitors: list the origins";
                return Err(mistake(message.to_owned()));
            }
            origins.push(parsed);
        }
        if origins.contains(&AllowedOrigin::Any) && origins.len() > 1 {
            return wrong("\"*\" allows all origins: list it alone");
        }
        let is_any = |name: &Spanned<String>| name.get_ref() == "*";
        if cors.credentials && cors.headers.iter().chain(&cors.expose).any(is_any) {
            return wrong("with credentials = true, browsers do not read \"*\" as all fields: list them");
        }
        let defaults = || ["GET", "HEAD", "POST"].map(|name| Spanned::new(0..0, name.to_owned())).into();
        let methods: Vec<_> = cors.methods.clone().unwrap_or_else(defaults);
        Ok(Cors {
            origins,
            methods: self.list(&methods, |name| method(name).map(drop))?,
            headers: self.list(&cors.headers, |name| key_field(name).map(drop))?,
            expose: self.list(&cors.expose, |name| key_field(name).map(drop))?,
            credentials: cors.credentials,
            max_age: cors.max_age.map(|time| time.as_secs().into()),
        })
    }

    fn list(
        &self,
        names: &[Spanned<String>],
        check: impl Fn(&str) -> Result<(), String>,
    ) -> Result<Option<HeaderValue>, Diagnostic> {
        for name in names {
            check(name.get_ref()).map_err(|message| self.document.mistake(name.span(), message))?;
        }
        let joined = names.iter().map(|name| name.get_ref().as_str()).collect::<Vec<_>>().join(", ");
        Ok(HeaderValue::try_from(joined).ok().filter(|_| !names.is_empty()))
    }

    fn key_host(&self, host: &Spanned<String>) -> Result<String, Diagnostic> {
        check_host(host.get_ref()).map_err(|message| self.document.mistake(host.span(), message))
    }

    fn named(&self, name: &Spanned<String>, parse: FieldParser) -> Result<HeaderName, Diagnostic> {
        parse(name.get_ref()).map_err(|message| self.document.mistake(name.span(), message))
    }

    /// The offset counts from the quote before the text.
    fn in_template(&self, written: &Spanned<String>, error: TemplateError) -> Diagnostic {
        let start = written.span().start + error.offset + 1;
        self.document.mistake(start..start, error.message)
    }
}

fn key_field(name: &str) -> Result<HeaderName, String> {
    name.parse().map_err(|_| format!("\"{name}\" is not a field's name"))
}

fn patterns(table: &std::collections::BTreeMap<String, String>) -> Vec<(String, Pattern)> {
    table.iter().map(|(name, pattern)| (name.clone(), Pattern::new(pattern))).collect()
}

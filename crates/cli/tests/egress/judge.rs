//! One case from start to end, and everything that must hold of it.

use crate::case::{Case, Expect, SECRET_NAME};
use crate::ended::Ended;
use crate::fixtures::Fixtures;
use crate::support::network::{Network, stray_dials};
use crate::support::origin::{Origin, find};
use crate::support::place::{Place, place};
use crate::support::process::{Over, run_within, slack};
use crate::support::{command, isolith, search};
use libtest_mimic::Failed;
use serde_json::{Value, json};
use std::net::{IpAddr, SocketAddr};
use std::sync::OnceLock;
use std::time::Duration;

const CANARY: &str = "canary-7f3a9c51e8d24b06";
const SECRET: &str = "tok_live-9Qz4vK7mXe2R/8bW+hJ3sLdY6uT1";
const SECRET_VARIABLE: &str = "EGRESS_FIXTURE_SECRET";
/// Beyond its time limit, a run must be back after this.
const GRACE: Duration = Duration::from_millis(1_000);
/// A process that is not back by then hangs; only a failing test waits so long.
const PATIENCE: Duration = Duration::from_secs(30);
/// Beyond twice its memory limit, a run may cost the process this much.
const MEMORY_ALLOWANCE_BYTES: u64 = 96 << 20;
const ALLOWED_ADDRESS: &str = "198.51.100.1";
const DENIED_ADDRESS: &str = "198.51.100.2";
/// What names resolve to that the cases give an address of their own: an honest server, until they rebind.
const PUBLIC_ADDRESS: &str = "198.51.100.10";

pub(crate) fn withstand(line: &str) -> Result<(), Failed> {
    let fixtures = Fixtures::start();
    let case = Case::parse(line, &fixtures)?;
    let place = prepare(&case, &fixtures);
    let over = run(&place, &case);
    let judged = survived(&place, &case, &over).and_then(|()| judge(&place, &case, &fixtures, &over));
    judged.map_err(|failed| format!("{}\n{}", failed.message().unwrap_or_default(), show(&over)).into())
}

/// A folder with the program, and a network in which every name that a case could reach leads to a fixture.
fn prepare(case: &Case, fixtures: &Fixtures) -> Place {
    let Fixtures { allowed, denied, internal, .. } = fixtures;
    let mut network = Network::default()
        .name("allowed.test", json!([ALLOWED_ADDRESS]))
        .name("sub.allowed.test", json!([ALLOWED_ADDRESS]))
        .dial(ALLOWED_ADDRESS, allowed.port(), allowed.address())
        .dial(ALLOWED_ADDRESS, denied.port(), denied.address())
        .dial(DENIED_ADDRESS, denied.port(), denied.address())
        .dial(PUBLIC_ADDRESS, internal.port(), allowed.address())
        .dial(PUBLIC_ADDRESS, allowed.port(), allowed.address());
    let elsewhere = ["denied.test", "notallowed.test", "aallowed.test", "allowed_test", "fass.test", "xn--fa-hia.test"];
    for name in elsewhere {
        network = network.name(name, json!([DENIED_ADDRESS]));
    }
    // Names of this machine lead where they would lead without us, and so do addresses: nothing here protects the inside
    // but the gate.
    for name in ["localhost.localdomain", "metadata", "metadata.google.internal", "internal.corp.test"] {
        network = network.name(name, json!(["127.0.0.1"]));
    }
    for address in internal.addresses() {
        network = network.dial(&address.ip().to_string(), address.port(), *address);
    }
    network = network.dial("127.0.0.1", denied.port(), denied.address());
    for (name, answers) in &case.setup.dns {
        network = network.name(name, answers.clone());
    }
    let place = place().on(network).with(SECRET_VARIABLE, SECRET).with("HOST_CANARY", CANARY);
    let place = place.with("ISOLITH_LOG", "trace").with("TZ", "Pacific/Chatham").with("LC_ALL", "de_DE.UTF-8");
    let place = case.setup.host_env.iter().fold(place, |place, (name, value)| place.with(name, value));
    place.write("case.js", &case.program());
    place.write("limits.toml", &format!("[limits]\negress_response = \"{}KiB\"\n", case.limits.response_kb));
    place
}

fn run(place: &Place, case: &Case) -> Over {
    let audit = place.data.path().join("audit.jsonl").display().to_string();
    let (timeout, memory) = (format!("{}ms", case.limits.timeout_ms), format!("{}MiB", case.limits.memory_mb));
    let secret = format!("{SECRET_NAME}=env:{SECRET_VARIABLE}");
    let flags = case.flags();
    let mut args = vec!["run", "case.js", "--json", "--manifest", "limits.toml", "--audit-log", &audit];
    args.extend(["--timeout", &timeout, "--memory", &memory]);
    args.extend(flags.iter().map(String::as_str));
    if case.injects() {
        args.extend(["--secret", &secret]);
    }
    run_within(&mut place.command(&args), PATIENCE)
}

/// What must hold of every run.
fn survived(place: &Place, case: &Case, over: &Over) -> Result<(), Failed> {
    ensure(!over.hung, || format!("it was not back after {PATIENCE:?}"))?;
    ensure(over.signal.is_none(), || format!("signal {:?} ended it", over.signal))?;
    ensure([0, 1, 124, 126].contains(&over.ran.code), || format!("exit code {}", over.ran.code))?;
    let most = (Duration::from_millis(case.limits.timeout_ms) + GRACE).mul_f64(slack());
    ensure(over.took <= most, || format!("it came back after {:?}, later than {most:?}", over.took))?;
    let allowance = case.rss_allow_mb.map_or(2 * (case.limits.memory_mb << 20) + MEMORY_ALLOWANCE_BYTES, |mb| mb << 20);
    let grown = over.peak_bytes.saturating_sub(resting_bytes());
    let mib = |bytes: u64| bytes >> 20;
    ensure(grown <= allowance, || format!("memory grew by {} MiB, more than {}", mib(grown), mib(allowance)))?;
    let work = place.work.path().display().to_string();
    for leak in [CANARY, "ESCAPED", "INTERNAL was reached", work.as_str()] {
        let said = over.ran.stdout.contains(leak) || over.ran.stderr.contains(leak);
        ensure(!said, || format!("`{leak}` is in the output"))?;
    }
    Ok(())
}

/// What a process has that does next to nothing.
fn resting_bytes() -> u64 {
    static BYTES: OnceLock<u64> = OnceLock::new();
    *BYTES.get_or_init(|| run_within(&mut command(&["eval", "1"]), PATIENCE).peak_bytes)
}

fn judge(place: &Place, case: &Case, fixtures: &Fixtures, over: &Over) -> Result<(), Failed> {
    fixtures_saw(place, case, fixtures)?;
    secrets_stayed(place, case, fixtures, over)?;
    let ended = Ended::of(&over.ran)?;
    ensure(met(&case.expect, &ended), || format!("expected {:?}, but it ended with {ended:?}", case.expect))?;
    if let Some(cookies) = case.oracle.cookie_next_run {
        let before = fixtures.allowed.requests().len();
        survived(place, case, &run(place, case))?;
        let requests = fixtures.allowed.requests();
        ensure(requests.len() > before, || "the next run sent nothing".into())?;
        let sent = requests.iter().filter(|request| request.header("cookie").is_some()).count();
        ensure(sent == cookies, || format!("{sent} requests with a cookie"))?;
    }
    Ok(())
}

fn fixtures_saw(place: &Place, case: &Case, fixtures: &Fixtures) -> Result<(), Failed> {
    let Fixtures { allowed, denied, internal, switched } = fixtures;
    let oracle = &case.oracle;
    let stray = stray_dials(&place.data);
    let inside = |address: &&SocketAddr| !matches!(address.ip(), IpAddr::V4(v4) if v4.is_documentation());
    ensure(!stray.iter().any(|address| inside(&address)), || format!("it dialled {stray:?}"))?;
    let reached = |origin: &Origin, name: &str, most: usize| {
        let count = origin.connections();
        ensure(count <= most, || format!("{name} was reached {count} times"))
    };
    reached(internal, "INTERNAL", oracle.internal.unwrap_or(0))?;
    // Where a case grants its port, DENIED is as good as any other server.
    let granted = case.grants_port(denied.port()) && oracle.denied.is_none();
    reached(denied, "DENIED", if granted { usize::MAX } else { oracle.denied.unwrap_or(0) })?;
    if let Some(most) = oracle.allowed {
        reached(allowed, "ALLOWED", most)?;
    }
    if let Some(dials) = oracle.dial {
        let made = stray.len() + [allowed, denied, internal].map(Origin::connections).iter().sum::<usize>();
        ensure(made == dials, || format!("{made} connections were tried"))?;
    }
    let requests = allowed.requests();
    if let Some(absent) = &oracle.raw_absent {
        let raw = allowed.raw();
        ensure(find(&raw, absent.as_bytes()).is_none(), || format!("{absent:?} arrived"))?;
    }
    if let Some(absent) = &oracle.denied_raw_absent {
        let raw = denied.raw();
        ensure(find(&raw, absent.as_bytes()).is_none(), || format!("{absent:?} arrived at DENIED"))?;
    }
    if let Some(absent) = &oracle.raw_absent_path {
        // Anywhere at the start of a line: what a server could take for a request is one.
        let raw = String::from_utf8_lossy(&allowed.raw()).into_owned();
        let asked = requests.iter().any(|request| request.path() == absent);
        let lines = raw.lines().filter(|line| line.ends_with("HTTP/1.1")).count();
        ensure(!asked, || format!("{absent} was asked for"))?;
        ensure(lines <= requests.len().max(1), || "there are more request lines than requests".into())?;
    }
    if let Some(host) = &oracle.host_header {
        let right = |value: &str| value == host || value == format!("{host}:{}", allowed.port());
        let wrong = requests.iter().find(|request| !request.header("host").is_some_and(right));
        ensure(wrong.is_none(), || format!("the host is wrong: {wrong:?}"))?;
    }
    let switched = switched.load(std::sync::atomic::Ordering::SeqCst);
    ensure(!oracle.no101 || switched == 0, || "the protocol was switched".into())?;
    if let Some(most) = oracle.open_connections_after {
        let open = allowed.open_after(GRACE.mul_f64(5.0 * slack()));
        ensure(open <= most, || format!("{open} connections stayed open"))?;
    }
    Ok(())
}

fn secrets_stayed(place: &Place, case: &Case, fixtures: &Fixtures, over: &Over) -> Result<(), Failed> {
    let Fixtures { allowed, denied, internal, .. } = fixtures;
    let oracle = &case.oracle;
    let holds = |origin: &Origin| find(&origin.raw(), SECRET.as_bytes()).is_some() || holds_escaped(origin);
    if let Some(at) = &oracle.secret_at {
        for (name, origin) in [("allowed", allowed), ("denied", denied), ("internal", internal)] {
            let expected = at.iter().any(|at| at == name);
            ensure(holds(origin) == expected, || format!("whether the secret is at {name} should be {expected}"))?;
        }
    }
    let recorded = |value: &Option<Value>| value.as_ref().is_some_and(|value| value == "record");
    if !recorded(&oracle.secret_in_output) {
        for (stream, text) in [("stdout", &over.ran.stdout), ("stderr", &over.ran.stderr)] {
            let found = search::found(SECRET, text.as_bytes());
            ensure(found.is_none(), || format!("the secret is in {stream} {}", found.unwrap_or_default()))?;
        }
    }
    for (file, bytes) in search::files_below(place.data.path()) {
        let found = search::found(SECRET, &bytes);
        ensure(found.is_none(), || format!("the secret is in `{file}` {}", found.unwrap_or_default()))?;
    }
    // What never left cannot have leaked: a case about a secret that was sent must have sent it, unless it was refused.
    let about_it = case.injects() && oracle.secret_at.is_none() && case.request.js.is_none() && over.ran.code == 0;
    ensure(!about_it || holds(allowed), || "the secret was never sent".into())
}

fn holds_escaped(origin: &Origin) -> bool {
    let escaped = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    let text: String = SECRET.bytes().map(escaped).collect();
    find(&origin.raw(), text.as_bytes()).is_some()
}

fn met(expect: &Expect, ended: &Ended) -> bool {
    match expect {
        Expect::NoEffect => true,
        Expect::AnyOf { of } => of.iter().any(|expect| met(expect, ended)),
        Expect::Denied => ended.is_denied(),
        Expect::Error { class } => class.iter().any(|class| ended.is_of(class)),
        Expect::Value { value, any_of, pattern } => {
            let Ended::Value(found) = ended else { return false };
            let wanted = value.iter().chain(any_of);
            wanted.into_iter().any(|wanted| wanted == found)
                || pattern.as_ref().is_some_and(|pattern| matches(pattern, found))
        }
    }
}

/// Whether JavaScript finds a pattern in a text: expectations are written in its regular expressions.
fn matches(pattern: &str, value: &Value) -> bool {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let arguments = [format!("pattern={}", json!(pattern)), format!("text={}", json!(text))];
    let [pattern, text] = [&arguments[0], &arguments[1]];
    isolith(&["eval", "new RegExp(pattern).test(text)", "--arg", pattern, "--arg", text]).stdout == "true\n"
}

fn show(over: &Over) -> String {
    const CHARS_MAX: usize = 1_500;
    let text = format!("--- {:?}\n{}\n{}", over.took, over.ran.stdout, over.ran.stderr);
    text.chars().take(CHARS_MAX).collect()
}

pub(crate) fn ensure(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), Failed> {
    if holds { Ok(()) } else { Err(otherwise().into()) }
}

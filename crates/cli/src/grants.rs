//! From flags and files to grants.

use crate::args::GrantOptions;
use crate::failure::Failure;
use crate::paint::{self, QUIET};
use crate::snippets;
use isolith_core::{
    BindingName, Bounds, Credential, Egress, Grant, HostPattern, InvokeGrant, Manifest, Ports, Power, Schemes,
    SecretGrant, SecretName, SecretSource, ToolGrant, narrow,
};
use std::path::Path;

/// The most a manifest or policy may be.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Reads a manifest or a policy: TOML, or JSON when its name says so.
pub(crate) fn manifest(path: &Path) -> Result<Manifest, Failure> {
    let shown = path.display();
    let hint = "`isolith manifest schema` prints what can stand in it";
    let text = crate::source::text(path, FILE_BYTES_MAX)?;
    let json = path.extension().is_some_and(|extension| extension == "json");
    let value: serde_json::Value = if json {
        serde_json::from_str(&text).map_err(|error| Failure::usage(format!("`{shown}` is not JSON: {error}"), hint))?
    } else {
        toml::from_str(&text)
            .map_err(|error| Failure::usage(format!("`{shown}` is not TOML: {}", error.to_string().trim()), hint))?
    };
    Manifest::from_value(&value).map_err(|error| Failure::usage(format!("in `{shown}`: {error}"), hint))
}

/// What the flags and the manifest ask for.
pub(crate) fn requested(options: &GrantOptions, manifest: Option<&Manifest>) -> Result<Vec<Grant>, Failure> {
    let mut grants: Vec<Grant> = manifest.map(|manifest| manifest.grants.clone()).unwrap_or_default();
    let lines = [("egress:", &options.allow_net), ("kv:", &options.allow_kv), ("", &options.grant)];
    for (kind, texts) in lines {
        for text in texts {
            grants.push(line(&format!("{kind}{text}"), text)?);
        }
    }
    for (access, paths) in [("read", &options.allow_read), ("write", &options.allow_write)] {
        for path in paths {
            grants.push(line(&format!("files:{access} {path}"), path)?);
        }
    }
    if options.allow_snippets {
        if manifest.is_some_and(|manifest| manifest.tools.keys().any(|name| name.as_str() == snippets::NAMESPACE)) {
            let message = format!("`{}` is what saved programs go by with `--allow-snippets`", snippets::NAMESPACE);
            return Err(Failure::usage(message, "call that namespace of the manifest something else"));
        }
        grants.push(snippets::all()?);
    }
    for text in &options.tool {
        let (name, command) = pair(text, "--tool", "write it as `--tool 'name=command arg'`")?;
        let tool = ToolGrant { command: vec![command.to_owned()], ..ToolGrant::new(binding(name)?) };
        grants.push(Power::Tool(tool).into());
    }
    for text in &options.program {
        let (name, file) = pair(text, "--program", "write it as `--program name=file.ts`")?;
        // What it may do is what its caller may do: narrowing takes care of that.
        let invoke = InvokeGrant {
            name: binding(name)?,
            program: Some(file.to_owned()),
            grants: Vec::new(),
            args: Bounds::default(),
        };
        grants.push(Power::Invoke(invoke).into());
    }
    let wrong = |what: &str, text: &str, error: String| {
        Failure::usage(format!("`{what} {text}`: {error}"), "`isolith run --help` shows how it is written")
    };
    for text in &options.secret {
        let (name, from) = pair(text, "--secret", "write it as `--secret NAME=env:VARIABLE`")?;
        let name = SecretName::new(name).map_err(|error| wrong("--secret", text, error))?;
        let from = SecretSource::new(from).map_err(|error| wrong("--secret", text, error))?;
        grants.push(Power::Secret(SecretGrant { name, from: Some(from), reveal: false }).into());
    }
    for text in &options.reveal {
        let name = SecretName::new(text).map_err(|error| wrong("--reveal", text, error))?;
        reveal(&mut grants, name);
    }
    for text in &options.credential {
        let (target, credential) = text
            .split_once(": ")
            .ok_or_else(|| wrong("--credential", text, "write `TARGET: Header: value with ${SECRET}`".into()))?;
        let target = target.parse::<Egress>().map_err(|error| wrong("--credential", text, error))?;
        let credential = Credential::from_line(credential).map_err(|error| wrong("--credential", text, error))?;
        attach(&mut grants, target, &credential);
    }
    invoked_may_do_what_callers_may(&mut grants, manifest.map_or(0, |manifest| manifest.grants.len()));
    Ok(grants)
}

/// Everything that `--allow-all` stands for, besides what the program seems to need.
pub(crate) fn all() -> Vec<Grant> {
    let net = Egress { schemes: Schemes::Both, ports: Ports::Any, ..Egress::to(HostPattern::Any) };
    [Some(Power::Egress(net).into()), "files:write .".parse().ok()].into_iter().flatten().collect()
}

fn line(text: &str, shown: &str) -> Result<Grant, Failure> {
    text.parse().map_err(|error: isolith_core::GrantError| {
        Failure::usage(format!("`{shown}`: {error}"), "`isolith run --help` shows how grants are written")
    })
}

fn pair<'a>(text: &'a str, flag: &str, hint: &str) -> Result<(&'a str, &'a str), Failure> {
    match text.split_once('=') {
        Some((name, value)) if !value.trim().is_empty() => Ok((name.trim(), value.trim())),
        _ => Err(Failure::usage(format!("`{flag} {text}` is not `NAME=…`"), hint)),
    }
}

fn binding(name: &str) -> Result<BindingName, Failure> {
    BindingName::new(name).map_err(|error| Failure::usage(error, "choose a name that a program can write"))
}

fn reveal(grants: &mut Vec<Grant>, name: SecretName) {
    let known = grants.iter_mut().find_map(|grant| match &mut grant.power {
        Power::Secret(secret) if secret.name == name => Some(secret),
        _ => None,
    });
    match known {
        Some(secret) => secret.reveal = true,
        None => grants.push(Power::Secret(SecretGrant { name, from: None, reveal: true }).into()),
    }
}

/// Gives a credential to what is granted of a target: a wider grant stays as it is, beside a narrower one with it.
fn attach(grants: &mut Vec<Grant>, target: Egress, credential: &Credential) {
    // A bare host means the host, however it is granted.
    let whole = Egress::to(target.host.clone());
    let target = if target == whole { Egress { schemes: Schemes::Both, ports: Ports::Any, ..target } } else { target };
    let ceiling: [Grant; 1] = [Power::Egress(Egress { credential: None, ..target.clone() }).into()];
    let mut with = Vec::new();
    for grant in grants.iter_mut() {
        let Power::Egress(egress) = &grant.power else { continue };
        let plain = Grant { power: Power::Egress(Egress { credential: None, ..egress.clone() }), ..grant.clone() };
        for mut part in narrow(&ceiling, std::slice::from_ref(&plain)).grants {
            let whole = part == plain;
            if let Power::Egress(egress) = &mut part.power {
                egress.credential = Some(credential.clone());
            }
            if whole { *grant = part } else { with.push(part) }
        }
    }
    let used = |grant: &Grant| matches!(&grant.power, Power::Egress(e) if e.credential.as_ref() == Some(credential));
    if with.is_empty() && !grants.iter().any(used) {
        paint::note(QUIET, &format!("the credential for `{target}` is not used: nothing there is granted"));
    }
    grants.extend(with);
}

/// A program named on the command line says nothing of its own grants: it may do what its caller may, and no more.
fn invoked_may_do_what_callers_may(grants: &mut [Grant], of_manifest: usize) {
    let own: Vec<Grant> = grants.iter().filter(|grant| !matches!(grant.power, Power::Invoke(_))).cloned().collect();
    for grant in &mut grants[of_manifest..] {
        if let Power::Invoke(invoke) = &mut grant.power {
            invoke.grants.clone_from(&own);
        }
    }
}

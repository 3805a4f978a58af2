//! The tools that programs can be given, as people and prompts need to know them.

use crate::args::{GrantOptions, Tools};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::job::Ceiling;
use crate::paint::{self, HINT};
use crate::terminal::inert;
use crate::{Done, grants, show, snippets, toolbox};
use isolith_core::{BindingName, CallError, Grant, Manifest, ToolName, admit};
use isolith_gate::egress::{Net, NetOptions};
use isolith_tools::{Catalogue, Namespace, typescript};
use serde_json::json;
use std::io::IsTerminal;
use std::sync::Arc;

/// Up to this many bytes, declarations stand in a prompt; of more, it says how to find them.
const PROMPT_BYTES_MAX: usize = 8 << 10;

/// What is granted, and who brings it.
struct Scene {
    grants: Vec<Grant>,
    catalogue: Arc<Catalogue>,
    problems: Vec<(BindingName, CallError)>,
}

pub(crate) fn tools(args: Tools) -> Done {
    match args {
        Tools::Search { query, limit, options, json } => with(&options, |scene| {
            let exists = |path: &str| scene.has(path);
            let found = scene.catalogue.only(&exists).search(&query, limit as usize);
            if json {
                let one = |path: &str, about: &str| json!({ "path": path, "description": about });
                show::line(&show::to_json(&found.iter().map(|f| one(&f.path, &f.summary)).collect::<Vec<_>>()));
                return Ok(Exit::Ok);
            }
            let colours = std::io::stdout().is_terminal();
            found.iter().for_each(|one| show::line(&inert(&format!("{}  {}", one.path, one.summary), colours)));
            Ok(Exit::Ok)
        }),
        Tools::Describe { path, options } => with(&options, |scene| {
            let exists = |path: &str| scene.has(path);
            let described = scene.catalogue.only(&exists).describe(&path);
            let text = described.map_err(|error| Failure::usage(error, "`isolith tools search WORDS` finds tools"))?;
            show::line(&inert(&text, std::io::stdout().is_terminal()));
            Ok(Exit::Ok)
        }),
    }
}

/// Prints what a model has to know to write programs here.
pub(crate) fn prompt(options: &GrantOptions) -> Done {
    with(options, |scene| {
        show::line(&scene.prompt());
        Ok(Exit::Ok)
    })
}

fn with(options: &GrantOptions, act: impl FnOnce(&Scene) -> Done) -> Done {
    let ceiling = Ceiling::of(options)?;
    let mut own = options.manifest.as_deref().map(grants::manifest).transpose()?.unwrap_or_default();
    toolbox::with_servers(&mut own, options)?;
    own.grants = grants::requested(options, Some(&own))?;
    let Manifest { grants, tools, .. } = ceiling.over(own);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::internal("starting the runtime", &error))?;
    let folder = std::env::current_dir().map_err(|error| Failure::internal("finding the working folder", &error))?;
    let net = Net::new(NetOptions { proxy: None, ca: options.ca.clone() });
    let net = net.map_err(|error| Failure::usage(error, "check the file and the address"))?;
    runtime.block_on(async {
        let toolbox = toolbox::toolbox(tools, folder, Arc::new(net))?;
        let (catalogue, problems) = match &toolbox {
            Some(toolbox) => toolbox.catalogue().await,
            None => (Arc::new(Catalogue::new(Vec::new())), Vec::new()),
        };
        let catalogue = snippets::listed_with(catalogue, &grants)?;
        for (name, error) in &problems {
            paint::complain(HINT, "note", &inert(&format!("`{name}` cannot be reached: {}", error.message), true));
        }
        let done = act(&Scene { grants, catalogue, problems });
        if let Some(toolbox) = toolbox {
            toolbox.close().await;
        }
        done
    })
}

impl Scene {
    fn has(&self, path: &str) -> bool {
        ToolName::new(path).is_ok_and(|name| admit::tool(&self.grants, &name, None).is_ok() || self.bounded(&name))
    }

    /// A tool that is granted for some arguments is there.
    fn bounded(&self, name: &ToolName) -> bool {
        self.grants.iter().any(|grant| {
            let isolith_core::Power::Tool(tool) = &grant.power else { return false };
            grant.rule != isolith_core::Rule::Deny && tool.name.covers(name)
        })
    }

    /// Those of which anything is granted, with what is.
    fn namespaces(&self) -> Vec<Namespace> {
        let mut namespaces = self.catalogue.namespaces().to_vec();
        for namespace in &mut namespaces {
            namespace.tools.retain(|tool| self.has(&format!("{}.{}", namespace.name, tool.name)));
        }
        namespaces.retain(|namespace| !namespace.tools.is_empty());
        namespaces
    }

    fn prompt(&self) -> String {
        let mut text = String::from(
            "You can run programs. A program is the body of an async function in TypeScript: use `await`, and `return` what you need \
             to know; `console.log` lines come back too. Do as much as you can in one program: loop, filter, join and retry in it, \
             and return little. There are no Node or browser APIs besides the web's common ones, and no imports.\n\n\
             What a program may do:\n",
        );
        if self.grants.is_empty() {
            text.push_str("- compute, and nothing else\n");
        }
        self.grants.iter().for_each(|grant| text.push_str(&format!("- `{grant}`\n")));
        let namespaces = self.namespaces();
        let declared = typescript::catalogue(&namespaces);
        if !declared.trim().is_empty() && declared.len() <= PROMPT_BYTES_MAX {
            text.push_str(&format!("\nIts tools:\n\n```ts\n{}\n```\n", declared.trim()));
        } else if !declared.trim().is_empty() {
            text.push_str("\nIts tools are in namespaces:\n");
            for namespace in &namespaces {
                let about = Some(&namespace.description).filter(|about| !about.is_empty());
                let about = about.map(|about| format!(": {about}")).unwrap_or_default();
                text.push_str(&format!("- `tools.{}` ({} functions){about}\n", namespace.name, namespace.tools.len()));
            }
            text.push_str(
                "Find them in a program: `await tools.search(\"words\")` gives `[{ path, description }]`, \
                 `await tools.describe(\"namespace.function\")` its TypeScript declaration.\n",
            );
        }
        for (name, error) in &self.problems {
            text.push_str(&format!("\n`tools.{name}` cannot be reached now: {}\n", error.message));
        }
        text.trim_end().to_owned()
    }
}

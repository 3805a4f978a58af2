//! All namespaces, behind the gate's trait.

use crate::fail;
use crate::place::Place;
use futures_util::future::join_all;
use isolith_core::{BindingName, BoxFuture, CallError, Json, Rule, SecretStore, ToolName, Upstream, nearest};
use isolith_gate::egress::Net;
use isolith_gate::{Gate, Upstreams};
use isolith_tools::{Catalogue, Unknown};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// What namespaces are connected with.
#[derive(Clone)]
pub struct Setting {
    /// Where relative paths of commands and descriptions begin, and where commands run.
    pub folder: PathBuf,
    /// The way to servers with a URL.
    pub net: Arc<Net>,
    /// Stored secrets, where there are any.
    pub secrets: Option<Arc<dyn SecretStore>>,
}

/// The tools of others. One serves many runs; when it goes, what it started goes.
pub struct Toolbox {
    places: BTreeMap<BindingName, Arc<Place>>,
    /// Made of these listings. Most of the time nothing has changed.
    catalogue: Mutex<Option<(Vec<u64>, Arc<Catalogue>)>>,
}

/// A namespace that cannot be reached, and why.
type Problem = (BindingName, CallError);

impl Toolbox {
    /// Checks what an operator wrote. Nothing is started and no secret is read.
    pub fn new(upstreams: BTreeMap<BindingName, Upstream>, setting: Setting) -> Result<Toolbox, String> {
        let setting = Arc::new(setting);
        let mut places = BTreeMap::new();
        for (name, upstream) in upstreams {
            let place = Place::new(name.clone(), upstream, Arc::clone(&setting))?;
            places.insert(name, Arc::new(place));
        }
        Ok(Toolbox { places, catalogue: Mutex::new(None) })
    }

    /// The namespaces, in the order of their names.
    pub fn namespaces(&self) -> impl Iterator<Item = &BindingName> {
        self.places.keys()
    }

    /// Every tool of every namespace that can be reached, and those that cannot.
    pub async fn catalogue(&self) -> (Arc<Catalogue>, Vec<(BindingName, CallError)>) {
        let listings = join_all(self.places.values().map(Place::listing)).await;
        let (mut known, mut problems): (Vec<_>, Vec<Problem>) = (Vec::new(), Vec::new());
        for (name, listing) in self.places.keys().zip(listings) {
            match listing {
                Ok(listing) => known.push(listing),
                Err(error) => problems.push((name.clone(), error)),
            }
        }
        let ids: Vec<u64> = known.iter().map(|listing| listing.id).collect();
        let cached = self.catalogue.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((of, catalogue)) = cached
            && of == ids
        {
            return (catalogue, problems);
        }
        let namespaces = known.iter().map(|listing| listing.namespace.clone()).collect();
        // Thousands of tools take a while to read, and everyone else would wait.
        let made = tokio::task::spawn_blocking(move || Catalogue::new(namespaces)).await;
        let catalogue = Arc::new(made.unwrap_or_else(|_| Catalogue::new(Vec::new())));
        *self.catalogue.lock().unwrap_or_else(PoisonError::into_inner) = Some((ids, Arc::clone(&catalogue)));
        (catalogue, problems)
    }

    /// Ends everything that was started, and waits for it.
    pub async fn close(&self) {
        join_all(self.places.values().map(|place| place.close())).await;
    }

    fn place(&self, name: &ToolName) -> Result<&Arc<Place>, CallError> {
        let namespace = name.namespace().unwrap_or_default();
        let found = self.places.iter().find(|(known, _)| known.as_str() == namespace);
        found.map(|(_, place)| place).ok_or_else(|| {
            let near = nearest(namespace, self.places.keys().map(BindingName::as_str));
            let near = near.map(str::to_owned).into_iter().collect();
            fail::unknown(Unknown { asked: namespace.to_owned(), near }.to_string())
        })
    }
}

/// Whether a path is there for someone.
fn exists(path: &str, granted: &(dyn Fn(&ToolName) -> bool + Sync)) -> bool {
    ToolName::new(path).is_ok_and(|name| granted(&name))
}

/// Whether any tool of a namespace may be there for someone, as far as can be told without knowing one.
fn may_exist(namespace: &BindingName, granted: &(dyn Fn(&ToolName) -> bool + Sync)) -> bool {
    exists(&format!("{namespace}._"), granted)
}

impl Upstreams for Toolbox {
    fn call<'a>(
        &'a self,
        gate: &'a Gate,
        name: &'a ToolName,
        args: Option<Json>,
    ) -> BoxFuture<'a, Result<Option<Json>, CallError>> {
        Box::pin(async move { self.place(name)?.call(gate, name.function(), args).await })
    }

    fn rule<'a>(&'a self, name: &'a ToolName) -> BoxFuture<'a, Rule> {
        Box::pin(async move {
            match self.place(name) {
                Ok(place) => place.rule(name.function()).await,
                // Calling it says that there is no such tool.
                Err(_) => Rule::Allow,
            }
        })
    }

    fn search<'a>(
        &'a self,
        query: &'a str,
        limit: usize,
        granted: &'a (dyn Fn(&ToolName) -> bool + Sync),
    ) -> BoxFuture<'a, Json> {
        Box::pin(async move {
            let (catalogue, problems) = self.catalogue().await;
            let found = catalogue.only(&|path| exists(path, granted)).search(query, limit);
            let found = found.into_iter().map(|found| json!({ "path": found.path, "description": found.summary }));
            // What cannot be reached is told in the same shape: whoever reads the list reads that.
            let problems = problems.iter().filter(|(name, _)| may_exist(name, granted));
            let problems = problems.map(
                |(name, error)| json!({ "path": name.as_str(), "description": error.message, "error": error.code }),
            );
            let all: Vec<Value> = found.chain(problems).collect();
            Json::of(&all).unwrap_or_else(|_| Json::null())
        })
    }

    fn describe<'a>(
        &'a self,
        path: &'a str,
        granted: &'a (dyn Fn(&ToolName) -> bool + Sync),
    ) -> BoxFuture<'a, Result<String, CallError>> {
        Box::pin(async move {
            let (catalogue, problems) = self.catalogue().await;
            let described = catalogue.only(&|path| exists(path, granted)).describe(path);
            described.map_err(|unknown| {
                let namespace = path.split('.').next().unwrap_or_default();
                let problem = problems.iter().find(|(name, _)| name.as_str() == namespace);
                problem.map_or_else(|| fail::unknown(unknown.to_string()), |(_, error)| error.clone())
            })
        })
    }
}

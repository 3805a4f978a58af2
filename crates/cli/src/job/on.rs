use super::Ceiling;
use crate::args::{Elsewhere, EngineSettings, GrantOptions};
use crate::commands::session;
use crate::failure::Failure;
use crate::grants;
use isolith_core::{EngineChoice, Housing};

/// What a program runs on, and where.
#[derive(Clone, Copy, Default)]
pub(crate) struct On<'a> {
    pub(crate) elsewhere: Option<&'a Elsewhere>,
    pub(crate) housing: Housing,
    pub(crate) settings: EngineSettings,
}

impl On<'_> {
    /// As flags say, or else the manifest, under the policy.
    pub(crate) fn of<'a>(elsewhere: &'a Elsewhere, options: &GrantOptions) -> Result<On<'a>, Failure> {
        let housing = housing(elsewhere.housing(), options)?;
        Ok(On { elsewhere: Some(elsewhere), housing, settings: elsewhere.settings })
    }

    /// As the manifest says, under the policy, for what has to be able to leave memory, as workflows do.
    pub(crate) fn that_suspends(options: &GrantOptions) -> Result<On<'static>, Failure> {
        let housing = housing(Housing::default(), options)?.that_suspends().ok_or_else(|| {
            let hint = "`engine = \"auto\"` in the manifest or policy allows both";
            Failure::usage("a workflow leaves memory and comes back, which `v8` cannot do", hint)
        })?;
        Ok(On { housing, ..On::default() })
    }

    /// This engine, here.
    pub(crate) fn engine(choice: EngineChoice) -> On<'static> {
        On { housing: Housing { engine: Some(choice), ..Housing::default() }, ..On::default() }
    }
}

fn housing(wanted: Housing, options: &GrantOptions) -> Result<Housing, Failure> {
    let manifest = match (&options.manifest, &options.session) {
        (Some(file), _) => Some(grants::manifest(file)?),
        (None, Some(name)) => session::manifest(&session::wake(&session::open()?, name)?)?,
        (None, None) => None,
    };
    let wanted = wanted.or(manifest.map(|manifest| manifest.housing).unwrap_or_default());
    Ceiling::of(options)?.housing(wanted)
}

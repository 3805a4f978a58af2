//! A type before it is text.

/// The most alternatives of a union, and the most parts of an intersection.
pub(super) const PARTS_MAX: usize = 256;

/// The most members of an object.
pub(super) const MEMBERS_MAX: usize = 256;

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Shape {
    /// Anything: nothing is known, or it cannot be said.
    Unknown,
    /// Nothing at all.
    Never,
    /// `string`, `number`, `boolean` or `null`.
    Word(&'static str),
    /// One value, as it is written.
    Literal(String),
    /// Any number of one type.
    List(Box<Shape>),
    /// A list whose places differ. The first `needed` are always there.
    Tuple { items: Vec<Shape>, needed: usize, rest: Option<Box<Shape>> },
    /// Something with members.
    Object(Object),
    /// One of these.
    Union(Vec<Shape>),
    /// All of these at once.
    All(Vec<Shape>),
    /// Another schema, by its place in [`Types::definitions`](super::read::Types).
    Named(usize),
}

/// Something with members.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Object {
    /// Those with names.
    pub(super) members: Vec<Member>,
    /// What the others are: `Unknown` may be anything, `Never` says there are none, nothing says nothing.
    pub(super) others: Option<Box<Shape>>,
    /// How many are not among the members.
    pub(super) left_out: usize,
}

impl Object {
    /// Whether all there is to it are its members.
    pub(super) fn is_plain(&self) -> bool {
        self.others.is_none() && self.left_out == 0
    }
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) optional: bool,
    pub(super) doc: String,
    pub(super) shape: Shape,
}

impl Shape {
    /// Whether it is an object of whose members nothing is known.
    fn is_bare_object(&self) -> bool {
        let open = |others: &Option<Box<Shape>>| matches!(others.as_deref(), None | Some(Shape::Unknown));
        matches!(self, Shape::Object(object) if object.members.is_empty() && object.left_out == 0 && open(&object.others))
    }

    /// Counts how often each definition is mentioned.
    pub(super) fn count(&self, uses: &mut [usize]) {
        if let Shape::Named(place) = self {
            uses[*place] += 1;
        }
        self.children().into_iter().for_each(|child| child.count(uses));
    }

    /// How many types it is made of.
    pub(super) fn size(&self) -> usize {
        1 + self.children().into_iter().map(Shape::size).sum::<usize>()
    }

    /// Whether a name for it would only hide it.
    pub(super) fn is_short(&self) -> bool {
        match self {
            Shape::Unknown | Shape::Never | Shape::Word(_) | Shape::Literal(_) => true,
            Shape::List(item) => item.is_short(),
            Shape::Union(parts) => parts.len() <= 6 && parts.iter().all(Shape::is_short),
            _ => false,
        }
    }

    /// The types directly inside.
    pub(super) fn children(&self) -> Vec<&Shape> {
        match self {
            Shape::Unknown | Shape::Never | Shape::Word(_) | Shape::Literal(_) | Shape::Named(_) => Vec::new(),
            Shape::List(item) => vec![item],
            Shape::Tuple { items, rest, .. } => items.iter().chain(rest.as_deref()).collect(),
            Shape::Object(object) => {
                object.members.iter().map(|member| &member.shape).chain(object.others.as_deref()).collect()
            }
            Shape::Union(parts) | Shape::All(parts) => parts.iter().collect(),
        }
    }

    /// The types directly inside, to be changed.
    pub(super) fn children_mut(&mut self) -> Vec<&mut Shape> {
        match self {
            Shape::Unknown | Shape::Never | Shape::Word(_) | Shape::Literal(_) | Shape::Named(_) => Vec::new(),
            Shape::List(item) => vec![item],
            Shape::Tuple { items, rest, .. } => items.iter_mut().chain(rest.as_deref_mut()).collect(),
            Shape::Object(object) => {
                object.members.iter_mut().map(|member| &mut member.shape).chain(object.others.as_deref_mut()).collect()
            }
            Shape::Union(parts) | Shape::All(parts) => parts.iter_mut().collect(),
        }
    }
}

/// One of several types, each named once, `null` last.
pub(super) fn union(parts: impl IntoIterator<Item = Shape>) -> Shape {
    let mut kept: Vec<Shape> = Vec::new();
    let mut add = |part: Shape| {
        if part != Shape::Never && !kept.contains(&part) {
            kept.push(part);
        }
    };
    for part in parts {
        match part {
            Shape::Union(inner) => inner.into_iter().for_each(&mut add),
            part => add(part),
        }
    }
    if kept.contains(&Shape::Unknown) || kept.len() > PARTS_MAX {
        return Shape::Unknown;
    }
    let is = |part: &Shape, word: &str| matches!(part, Shape::Literal(literal) if literal == word);
    if kept.iter().any(|part| is(part, "true")) && kept.iter().any(|part| is(part, "false")) {
        let both = |part: &Shape| is(part, "true") || is(part, "false");
        if let Some(first) = kept.iter_mut().find(|part| both(part)) {
            *first = Shape::Word("boolean");
        }
        kept.retain(|part| !both(part));
    }
    kept.sort_by_key(|part| *part == Shape::Word("null"));
    match kept.len() {
        0 => Shape::Never,
        1 => kept.remove(0),
        _ => Shape::Union(kept),
    }
}

/// All of several types at once. Plain objects become one.
pub(super) fn all(parts: impl IntoIterator<Item = Shape>) -> Shape {
    let mut kept: Vec<Shape> = Vec::new();
    let mut add = |part: Shape| match part {
        Shape::Unknown => {}
        Shape::Object(object) => match kept.iter_mut().find_map(|other| joinable(other, &object)) {
            Some(other) => join(other, object),
            None => kept.push(Shape::Object(object)),
        },
        part if kept.contains(&part) => {}
        part => kept.push(part),
    };
    for part in parts {
        match part {
            Shape::All(inner) => inner.into_iter().for_each(&mut add),
            part => add(part),
        }
    }
    if kept.contains(&Shape::Never) {
        return Shape::Never;
    }
    // `Record<string, unknown> & A` says no more than `A`, when that is made of objects at all.
    if kept
        .iter()
        .any(|part| matches!(part, Shape::Object(_) | Shape::Named(_) | Shape::Union(_)) && !part.is_bare_object())
    {
        kept.retain(|part| !part.is_bare_object());
    }
    match kept.len() {
        0 => Shape::Unknown,
        1 => kept.remove(0),
        2..=PARTS_MAX => Shape::All(kept),
        _ => Shape::Unknown,
    }
}

/// The object in `other`, when `object` can be written into it and nothing is lost.
fn joinable<'a>(other: &'a mut Shape, object: &Object) -> Option<&'a mut Object> {
    match other {
        Shape::Object(other)
            if other.is_plain() && object.is_plain() && other.members.len() + object.members.len() <= MEMBERS_MAX =>
        {
            Some(other)
        }
        _ => None,
    }
}

fn join(into: &mut Object, object: Object) {
    for member in object.members {
        match into.members.iter_mut().find(|other| other.name == member.name) {
            None => into.members.push(member),
            Some(other) => {
                other.optional &= member.optional;
                let own = std::mem::replace(&mut other.shape, Shape::Unknown);
                other.shape = all([own, member.shape]);
                if other.doc.is_empty() {
                    other.doc = member.doc;
                }
            }
        }
    }
    into.members.sort_by(|a, b| (a.optional, &a.name).cmp(&(b.optional, &b.name)));
}

//! From types to text.

use super::read::Types;
use super::shape::{Member, Object, Shape};
use super::text::{comment, property};
use std::collections::{HashSet, VecDeque};

/// How much is written about one schema, aliases included. What does not fit becomes `unknown`; closing what is open may
/// take a little more.
const SCHEMA_BYTES_MAX: usize = 16 << 10;

/// The longest object that is written on one line.
const LINE_CHARS_MAX: usize = 72;

/// How many references inside one another are written out before the next gets a name.
const INLINE_DEPTH_MAX: usize = 6;

/// A schema as text.
pub(super) struct Printed {
    /// The type.
    pub(super) text: String,
    /// The types it mentions by name: the name and `type <name> = …;` with its comment, in the order of their mention.
    pub(super) aliases: Vec<(String, String)>,
}

/// What a type is called that needs a name: it is recursive, or large and used more than once.
pub(super) enum Naming<'a> {
    /// `<prefix><name>`.
    Prefix(&'a str),
    /// There are no names: a type is written out each time, and is `unknown` inside itself.
    Off,
}

/// Writes the type of a schema, for a line that starts at `indent`.
pub(super) fn print(types: &Types, naming: &Naming<'_>, indent: usize) -> Printed {
    let uses = uses(types);
    let names = match naming {
        Naming::Prefix(prefix) => Some(names(types, prefix)),
        Naming::Off => None,
    };
    let mut printer = Printer {
        types,
        uses,
        names,
        open: Vec::new(),
        wanted: VecDeque::new(),
        asked: HashSet::new(),
        bytes_left: SCHEMA_BYTES_MAX,
    };
    let text = printer.text(&Shape::Named(0), indent).text;
    let mut aliases = Vec::new();
    while let Some(place) = printer.wanted.pop_front() {
        aliases.extend(printer.alias(place));
    }
    Printed { text, aliases }
}

/// How often each definition is mentioned, as far as the first leads to them.
fn uses(types: &Types) -> Vec<usize> {
    let mut uses = vec![0; types.definitions.len()];
    let (mut seen, mut next) = (HashSet::from([0]), vec![0]);
    while let Some(place) = next.pop() {
        let mut mentioned = vec![0; uses.len()];
        types.definitions[place].shape.count(&mut mentioned);
        for (place, count) in mentioned.into_iter().enumerate().filter(|(_, count)| *count > 0) {
            uses[place] += count;
            if seen.insert(place) {
                next.push(place);
            }
        }
    }
    // Whoever asked for the first uses it.
    if let Some(first) = uses.first_mut() {
        *first += 1;
    }
    uses
}

/// A name of its own for each definition.
fn names(types: &Types, prefix: &str) -> Vec<String> {
    let mut taken = HashSet::new();
    let mut name = |wanted: &str| {
        let first = format!("{prefix}{wanted}");
        let numbered = (2..).map(|n| format!("{prefix}{wanted}_{n}"));
        // There are more numbers than definitions, so one is free.
        let free = std::iter::once(first).chain(numbered).find(|name| !taken.contains(name)).unwrap_or_default();
        taken.insert(free.clone());
        free
    };
    types.definitions.iter().map(|definition| name(&definition.name)).collect()
}

/// How tightly a type holds together: what is loose needs parentheses in what is tight.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binds {
    Union,
    All,
    Whole,
}

/// A type as text.
struct Written {
    text: String,
    binds: Binds,
}

impl Written {
    fn whole(text: impl Into<String>) -> Written {
        Written { text: text.into(), binds: Binds::Whole }
    }

    /// The text, such that it is one thing among those that bind like `least`.
    fn within(self, least: Binds) -> String {
        if self.binds < least { format!("({})", self.text) } else { self.text }
    }
}

struct Printer<'a> {
    types: &'a Types,
    /// How often each definition is referred to.
    uses: Vec<usize>,
    names: Option<Vec<String>>,
    /// The definitions that are being written out where they are used.
    open: Vec<usize>,
    /// Those that were mentioned by name and are still to be written.
    wanted: VecDeque<usize>,
    asked: HashSet<usize>,
    bytes_left: usize,
}

impl Printer<'_> {
    fn text(&mut self, shape: &Shape, indent: usize) -> Written {
        if self.bytes_left == 0 {
            return Written::whole("unknown");
        }
        match shape {
            Shape::Unknown => self.word("unknown"),
            Shape::Never => self.word("never"),
            Shape::Word(word) => self.word(word),
            Shape::Literal(literal) => self.word(literal),
            Shape::List(item) => {
                let item = self.text(item, indent).within(Binds::Whole);
                Written::whole(format!("{item}[]"))
            }
            Shape::Tuple { items, needed, rest } => self.tuple(items, *needed, rest.as_deref(), indent),
            Shape::Object(object) => self.object(object, indent),
            Shape::Union(_) => self.union(shape, indent),
            Shape::All(parts) => {
                let parts: Vec<String> = parts.iter().map(|part| self.text(part, indent).within(Binds::All)).collect();
                Written { text: parts.join(" & "), binds: Binds::All }
            }
            Shape::Named(place) => self.named(*place, indent),
        }
    }

    fn word(&mut self, word: &str) -> Written {
        // With what stands between it and the next.
        self.bytes_left = self.bytes_left.saturating_sub(word.len() + 2);
        Written::whole(word)
    }

    /// Whether a definition is written out where it is used.
    fn is_inline(&self, place: usize) -> bool {
        // Every circle of references is entered from outside at some place, which is then used twice and gets a name: so
        // writing out the others comes to an end.
        let once = self.uses[place] < 2 || self.types.definitions[place].shape.is_short();
        let free = !self.open.contains(&place) && self.open.len() < INLINE_DEPTH_MAX;
        free && (once || self.names.is_none())
    }

    fn named(&mut self, place: usize, indent: usize) -> Written {
        if self.is_inline(place) {
            self.open.push(place);
            let written = self.text(&self.types.definitions[place].shape, indent);
            self.open.pop();
            return written;
        }
        let Some(name) = self.names.as_ref().map(|names| names[place].clone()) else { return self.word("unknown") };
        if self.asked.insert(place) {
            self.wanted.push_back(place);
        }
        self.word(&name)
    }

    fn alias(&mut self, place: usize) -> Option<(String, String)> {
        let name = self.names.as_ref()?.get(place)?.clone();
        let definition = &self.types.definitions[place];
        let said = self.bytes_left > 0 && !definition.doc.is_empty();
        let mut text = if said { comment(std::slice::from_ref(&definition.doc), 0) } else { String::new() };
        self.bytes_left = self.bytes_left.saturating_sub(text.len() + name.len());
        // A name stands for a type and not for itself: what is open here is empty.
        let written = self.text(&definition.shape, 0);
        text.push_str(&format!("type {name} = {};\n", written.text));
        Some((name, text))
    }

    fn union(&mut self, shape: &Shape, indent: usize) -> Written {
        let mut texts: Vec<String> = Vec::new();
        self.alternatives(shape, indent, &mut texts);
        // Names that were written out may have brought `null` a second time, or before the end.
        let mut seen = HashSet::new();
        texts.retain(|text| seen.insert(text.clone()));
        texts.sort_by_key(|text| text == "null");
        if texts.iter().any(|text| text == "unknown") {
            return Written::whole("unknown");
        }
        let binds = if texts.len() > 1 { Binds::Union } else { Binds::All };
        Written { text: texts.join(" | "), binds }
    }

    fn alternatives(&mut self, shape: &Shape, indent: usize, texts: &mut Vec<String>) {
        match shape {
            Shape::Union(parts) => parts.iter().for_each(|part| self.alternatives(part, indent, texts)),
            Shape::Named(place) if self.is_inline(*place) && self.bytes_left > 0 => {
                self.open.push(*place);
                self.alternatives(&self.types.definitions[*place].shape, indent, texts);
                self.open.pop();
            }
            shape => texts.push(self.text(shape, indent).text),
        }
    }

    fn tuple(&mut self, items: &[Shape], needed: usize, rest: Option<&Shape>, indent: usize) -> Written {
        // Even an empty one counts: it may be used again and again.
        self.bytes_left = self.bytes_left.saturating_sub(2);
        let mut places = Vec::new();
        for (place, item) in items.iter().enumerate() {
            let item = self.text(item, indent);
            places.push(if place < needed { item.text } else { format!("{}?", item.within(Binds::Whole)) });
        }
        if let Some(rest) = rest {
            places.push(format!("...{}[]", self.text(rest, indent).within(Binds::Whole)));
        }
        Written::whole(format!("[{}]", places.join(", ")))
    }

    fn object(&mut self, object: &Object, indent: usize) -> Written {
        if object.members.is_empty() && object.left_out == 0 {
            return match object.others.as_deref() {
                None | Some(Shape::Unknown) => self.word("Record<string, unknown>"),
                Some(Shape::Never) => self.word("Record<string, never>"),
                // `Record<string, T>` would do, but not for a type that contains itself.
                Some(others) => {
                    let others = self.text(others, indent).text;
                    Written::whole(format!("{{ [key: string]: {others} }}"))
                }
            };
        }
        let (mut rows, mut written) = (Vec::new(), 0);
        for member in &object.members {
            if self.bytes_left == 0 {
                break;
            }
            rows.push(self.member(member, indent + 1));
            written += 1;
        }
        let left_out = object.left_out + object.members.len() - written;
        rows.extend(self.others(object, left_out, indent + 1));
        block(&rows, left_out, indent)
    }

    /// A member: the comment above it, and itself.
    fn member(&mut self, member: &Member, indent: usize) -> (String, String) {
        let mut doc = member.doc.as_str();
        if let (Shape::Named(place), true) = (&member.shape, doc.is_empty()) {
            // With a name, it is said where the name is declared.
            if self.is_inline(*place) {
                doc = &self.types.definitions[*place].doc;
            }
        }
        let doc = if doc.is_empty() { String::new() } else { comment(&[doc.to_owned()], indent) };
        let sign = if member.optional { "?" } else { "" };
        let name = property(&member.name);
        // Where it begins is indented, and where it ends may be.
        self.bytes_left = self.bytes_left.saturating_sub(doc.len() + 4 * indent + name.len());
        let text = self.text(&member.shape, indent).text;
        (doc, format!("{name}{sign}: {text}"))
    }

    /// The members without names of their own.
    fn others(&mut self, object: &Object, left_out: usize, indent: usize) -> Option<(String, String)> {
        let others = object.others.as_deref().filter(|others| **others != Shape::Never);
        let unknown = "[key: string]: unknown".to_owned();
        match others {
            _ if left_out > 0 => Some((String::new(), unknown)),
            None => None,
            Some(Shape::Unknown) => Some((String::new(), unknown)),
            Some(others) => {
                let text = self.text(others, indent).text;
                let fits = |member: &Member| !member.optional && member.shape == *others;
                if object.members.iter().all(fits) {
                    return Some((String::new(), format!("[key: string]: {text}")));
                }
                // Named members have to fit what is said of all keys, and rarely do: so the rest is said in words.
                let short = !text.contains('\n') && text.len() <= LINE_CHARS_MAX;
                let doc = if short { comment(&[format!("Others: {text}")], indent) } else { String::new() };
                Some((doc, unknown))
            }
        }
    }
}

/// An object on one line if that is short, else a member per line.
fn block(rows: &[(String, String)], left_out: usize, indent: usize) -> Written {
    let length: usize = rows.iter().map(|(_, row)| row.chars().count() + 2).sum();
    let plain = rows.iter().all(|(doc, row)| doc.is_empty() && !row.contains('\n'));
    if plain && left_out == 0 && length <= LINE_CHARS_MAX {
        let rows: Vec<&str> = rows.iter().map(|(_, row)| row.as_str()).collect();
        return Written::whole(format!("{{ {} }}", rows.join("; ")));
    }
    let pad = "  ".repeat(indent + 1);
    let mut text = String::from("{\n");
    for (doc, row) in rows {
        text.push_str(&format!("{doc}{pad}{row};\n"));
    }
    if left_out > 0 {
        text.push_str(&format!("{pad}// {left_out} more\n"));
    }
    text.push_str(&"  ".repeat(indent));
    text.push('}');
    Written::whole(text)
}

//! `allOf` with a reference in it, as one object where that says it better.

use super::read::Definition;
use super::shape::{Object, Shape, all};

/// How many types are copied from one place to another, those inside them included.
const COPIED_MAX: usize = 4_000;

/// Writes definitions into the intersections that mention them: those that are used nowhere else, and those whose members
/// are only then known to be there.
///
/// `{ a?: string } & { a: unknown }` would leave `a` possibly undefined, which is not what `required` means.
pub(super) fn merge(definitions: &mut [Definition], order: &[usize]) {
    let mut uses = vec![0; definitions.len()];
    definitions.iter().for_each(|definition| definition.shape.count(&mut uses));
    let mut left = COPIED_MAX;
    for place in order {
        let mut shape = std::mem::replace(&mut definitions[*place].shape, Shape::Unknown);
        merge_into(&mut shape, definitions, &uses, &mut left);
        definitions[*place].shape = shape;
    }
}

fn merge_into(shape: &mut Shape, definitions: &[Definition], uses: &[usize], left: &mut usize) {
    shape.children_mut().into_iter().for_each(|child| merge_into(child, definitions, uses, left));
    let Shape::All(parts) = shape else { return };
    let mut merged = false;
    for place in 0..parts.len() {
        let Shape::Named(name) = parts[place] else { continue };
        let found = &definitions[name].shape;
        let Shape::Object(object) = found else { continue };
        let wanted = uses[name] == 1 || parts.iter().any(|part| requires(part, object));
        if wanted && object.is_plain() && found.size() <= *left {
            *left -= found.size();
            parts[place] = found.clone();
            merged = true;
        }
    }
    if merged {
        *shape = all(std::mem::take(parts));
    }
}

/// Whether a type says of a member of an object that it must be there, and nothing else of it.
fn requires(part: &Shape, object: &Object) -> bool {
    let Shape::Object(part) = part else { return false };
    let only = |name: &str| object.members.iter().any(|member| member.name == name && member.optional);
    part.members.iter().any(|member| !member.optional && member.shape == Shape::Unknown && only(&member.name))
}

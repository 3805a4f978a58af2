//! What TypeScript does not take, taken out: names that stand for themselves, and unions too wide to be multiplied out.

use super::merge::merge;
use super::read::Definition;
use super::shape::{Shape, all, union};
use std::collections::HashSet;

/// How many alternatives `(A | B) & (C | D)` may come to. `tsc` gives up at 100,000.
const WIDTH_MAX: usize = 10_000;

/// Makes definitions such that each can be written as `type Name = …;`.
pub(super) fn settle(definitions: &mut [Definition]) {
    let (circles, order) = circles(definitions);
    if !circles.is_empty() {
        for (from, definition) in definitions.iter_mut().enumerate() {
            let shape = std::mem::replace(&mut definition.shape, Shape::Unknown);
            definition.shape = without(shape, &|to| circles.contains(&(from, to)));
        }
    }
    merge(definitions, &order);
    let mut widths = vec![1; definitions.len()];
    for place in order {
        widths[place] = width(&definitions[place].shape, &widths);
    }
    for definition in definitions {
        flatten(&mut definition.shape, &widths);
    }
}

/// The references that close a circle with no object and no list in between, and an order in which the definitions come
/// after those they stand for.
fn circles(definitions: &[Definition]) -> (HashSet<(usize, usize)>, Vec<usize>) {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let edges: Vec<Vec<usize>> = definitions.iter().map(|definition| stands_for(&definition.shape)).collect();
    let (mut found, mut order) = (HashSet::new(), Vec::new());
    let mut states = vec![State::New; edges.len()];
    for start in 0..edges.len() {
        if states[start] != State::New {
            continue;
        }
        states[start] = State::Open;
        let mut path = vec![(start, 0)];
        while let Some((from, next)) = path.last_mut() {
            let Some(&to) = edges[*from].get(*next) else {
                states[*from] = State::Done;
                order.push(*from);
                path.pop();
                continue;
            };
            *next += 1;
            match states[to] {
                State::New => {
                    states[to] = State::Open;
                    path.push((to, 0));
                }
                State::Open => {
                    found.insert((*from, to));
                }
                State::Done => {}
            }
        }
    }
    (found, order)
}

/// The definitions that have to be known before a type is.
fn stands_for(shape: &Shape) -> Vec<usize> {
    match shape {
        Shape::Named(place) => vec![*place],
        Shape::Union(parts) | Shape::All(parts) => {
            let mut places: Vec<usize> = parts.iter().flat_map(stands_for).collect();
            places.sort_unstable();
            places.dedup();
            places
        }
        _ => Vec::new(),
    }
}

/// A type with `unknown` for some of the names it stands for.
fn without(shape: Shape, gone: &impl Fn(usize) -> bool) -> Shape {
    match shape {
        Shape::Named(place) if gone(place) => Shape::Unknown,
        Shape::Union(parts) => union(parts.into_iter().map(|part| without(part, gone)).collect::<Vec<_>>()),
        Shape::All(parts) => all(parts.into_iter().map(|part| without(part, gone)).collect::<Vec<_>>()),
        shape => shape,
    }
}

/// How many alternatives a type has once it is multiplied out.
fn width(shape: &Shape, widths: &[usize]) -> usize {
    match shape {
        Shape::Named(place) => widths[*place],
        Shape::Union(parts) => parts.iter().fold(0, |sum: usize, part| sum.saturating_add(width(part, widths))),
        Shape::All(parts) => {
            let product = parts.iter().fold(1, |product: usize, part| product.saturating_mul(width(part, widths)));
            // It becomes `unknown`, which is one.
            if product > WIDTH_MAX { 1 } else { product }
        }
        _ => 1,
    }
}

fn flatten(shape: &mut Shape, widths: &[usize]) {
    shape.children_mut().into_iter().for_each(|child| flatten(child, widths));
    if let Shape::All(parts) = shape {
        let product = parts.iter().fold(1, |product: usize, part| product.saturating_mul(width(part, widths)));
        if product > WIDTH_MAX {
            *shape = Shape::Unknown;
        }
    }
}

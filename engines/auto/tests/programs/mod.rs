//! Programs made of what engines do alike and of what they do differently.

/// Expressions that two engines may well answer differently: they are what a run could go wrong by.
const DIFFERENT: [&str; 8] = [
    "new Error('x').stack",
    "(() => { try { null.x } catch (e) { return e.message } })()",
    "(() => { try { undefinedName } catch (e) { return String(e) } })()",
    "(() => { try { JSON.parse('{]') } catch (e) { return e.message } })()",
    "Function.prototype.toString.call(Math.max)",
    "(() => { try { [].reduce((a, b) => a) } catch (e) { return e.message } })()",
    "[5, 1, 4, 2, 3, 9, 8, 7, 6, 0, 11, 10].sort(() => 0.5 - ((n = (n * 16807) % 2147483647) / 2147483647)).join()",
    "(() => { let d = 0; const f = () => { d++; f() }; try { f() } catch { } return d > 10 ? 'deep' : 'shallow' })()",
];

/// Expressions that have one answer.
const ALIKE: [&str; 8] = [
    "[3, 1, 2].sort().join()",
    "Math.random()",
    "Date.now()",
    "/(a+)(b)?/.exec('xaab').join('|')",
    "new Date(0).toISOString()",
    "JSON.stringify({ b: [1, null, 'ü'], a: 1e21 })",
    "'aXbX'.replaceAll('X', '-')",
    "Object.keys({ z: 1, 1: 2, a: 3, 0: 4 }).join()",
];

/// A small generator: the same seed, the same program.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// The program of this seed: calls, output, waiting side by side, catching, and some computing in between.
pub(crate) fn program(seed: u64) -> String {
    let mut chance = Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    // Half of the programs hold nothing that differs.
    let differs = chance.below(2) == 1;
    let mut lines = vec!["let n = 42; const kept = [];".to_owned()];
    for at in 0..3 + chance.below(6) {
        let expression = match differs && chance.below(3) == 0 {
            true => DIFFERENT[chance.below(DIFFERENT.len() as u64) as usize],
            false => ALIKE[chance.below(ALIKE.len() as u64) as usize],
        };
        lines.push(match chance.below(6) {
            0 | 1 => format!("kept.push(await tools.echo([{at}, {expression}]));"),
            2 => format!("console.log({at}, {expression});"),
            3 => format!("kept.push(...await Promise.all([tools.echo({expression}), tools.echo({at})]));"),
            4 => format!("for (let i = 0; i < {}; i++) n = (n * 16807) % 2147483647;", 1_000 * (1 + chance.below(200))),
            _ => {
                format!("setTimeout(() => kept.push({expression}), {at}); await new Promise((r) => setTimeout(r, 20));")
            }
        });
    }
    lines.push("return { n, kept };".into());
    lines.join("\n")
}

//! The attacks of `conformance/attacks/workspace.jsonl` that are about a tree.

use super::at_once::at_once;
use super::desk::{Desk, path};
use super::{Ability, Make};
use crate::archive::{Format, import};
use crate::{FilesAnswer, Scope};
use base64::Engine as _;
use isolith_core::files::Room;
use isolith_core::{FilesError, GuestPath};
use serde_json::{Value, json};
use std::io::Cursor;

const CASES: &str = include_str!("../../../../conformance/attacks/workspace.jsonl");
/// Areas that are about something else than a tree: the process that keeps it, and runs that are replayed.
const ELSEWHERE: [&str; 2] = ["fs.crash", "fs.replay"];
/// How often an edit is tried again when its text is there more than once as yet.
const TRIES: usize = 10_000;

/// One attack.
pub struct Attack {
    case: Value,
}

/// Every attack that is about a tree.
pub fn attacks() -> Vec<Attack> {
    let cases = CASES.lines().map(|line| Attack { case: serde_json::from_str(line).unwrap() });
    cases.filter(|attack| !ELSEWHERE.iter().any(|area| attack.case["area"] == **area)).collect()
}

/// What came of a step: a text, or a refusal.
type Said = Result<String, FilesError>;

impl Attack {
    /// Which.
    pub fn id(&self) -> &str {
        self.case["id"].as_str().unwrap()
    }

    /// What a tree has to be able to.
    pub fn needs(&self) -> &'static [Ability] {
        match self.case["area"].as_str() {
            Some("fs.symlink") => &[Ability::Links],
            Some("fs.quota") | Some("fs.concurrent") => &[Ability::Room],
            _ => &[],
        }
    }

    /// Panics when it has an effect, or another than the one that is expected.
    pub fn withstand(&self, make: Make<'_>) {
        let grants = &self.case["grants"]["workspace"];
        let number = |key: &str| grants[key].as_u64().unwrap();
        let room =
            Room { bytes: number("quotaKb") << 10, files: number("maxFiles"), file_bytes: number("maxFileKb") << 10 };
        let desk = Desk::with(make, room);
        if self.id() == "fs.symlink.host-planted" {
            let plant = |place: &str, target: &str| {
                desk.tree.change("plant", &mut |draft| draft.put_link(&path(place), target)).unwrap();
            };
            plant("planted", "../outside/secret.txt");
        }
        let steps = self.case["request"]["steps"].as_array().unwrap();
        let mut said: Vec<Said> = steps.iter().map(|step| self.step(&desk, step)).collect();
        let said = said.pop().unwrap();
        assert!(self.meets(&self.case["expect"], &said), "{}: {said:?}", self.id());
        assert!(desk.tree.used().unwrap().0.bytes <= room.bytes);
        // Whatever was tried, the next one is served.
        desk.ask(json!({ "op": "remove", "path": "a", "recursive": true }));
        desk.ask(json!({ "op": "remove", "path": "f0", "recursive": true }));
        assert_eq!((desk.write("a", "next"), desk.text("a")), (json!(4), json!("next")), "{}", self.id());
    }

    /// A refusal of any kind is one that the caller can tell from the others.
    fn meets(&self, expect: &Value, said: &Said) -> bool {
        match expect["kind"].as_str().unwrap() {
            "value" => said.as_ref().is_ok_and(|said| expect["value"] == **said),
            "denied" => said.as_ref().is_err_and(|error| error.code().starts_with("files.")),
            "no-effect" => true,
            "any-of" => expect["of"].as_array().unwrap().iter().any(|one| self.meets(one, said)),
            other => panic!("{}: what is {other}?", self.id()),
        }
    }

    fn step(&self, desk: &Desk, step: &Value) -> Said {
        let text = |key: &str| step[key].as_str().unwrap().to_owned();
        let bytes = || match step["bytes"].as_u64() {
            Some(bytes) => vec![b'x'; bytes as usize],
            None => text("content").into_bytes(),
        };
        let (op, bytes) = match step["op"].as_str().unwrap() {
            "read" => (
                json!({ "op": "read", "path": text("path"), "offset": step["offset"].as_u64().unwrap_or(0), "length": step["limit"] }),
                Vec::new(),
            ),
            "write" => (json!({ "op": "write", "path": text("path") }), bytes()),
            "writeBase64" => {
                let bytes = base64::engine::general_purpose::STANDARD.decode(text("b64")).unwrap();
                (json!({ "op": "write", "path": text("path") }), bytes)
            }
            "writeMany" => return self.write_many(desk, step),
            "find" => (json!({ "op": "glob", "pattern": text("glob") }), Vec::new()),
            "grep" => (json!({ "op": "grep", "pattern": text("pattern") }), Vec::new()),
            "delete" => (json!({ "op": "remove", "path": text("path") }), Vec::new()),
            "mkdir" => (json!({ "op": "make_folder", "path": text("path") }), Vec::new()),
            "symlink" => (json!({ "op": "link", "path": text("path"), "target": text("target") }), Vec::new()),
            "edit" => {
                let edits = json!([{ "old": text("old"), "new": text("new") }]);
                (json!({ "op": "edit", "path": text("path"), "edits": edits }), Vec::new())
            }
            "import" => return self.import(desk, step),
            "parallel" => return self.parallel(desk, step),
            other => panic!("{}: what is {other}?", self.id()),
        };
        match desk.perform(&op, &bytes)? {
            FilesAnswer::Bytes(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            FilesAnswer::Value(value) => Ok(value.to_string()),
            FilesAnswer::Large(pieces) => Ok(pieces.left().to_string()),
        }
    }

    fn write_many(&self, desk: &Desk, step: &Value) -> Said {
        let (prefix, bytes) = (step["prefix"].as_str().unwrap(), vec![b'x'; step["bytes"].as_u64().unwrap() as usize]);
        for number in 0..step["count"].as_u64().unwrap() {
            desk.perform(&json!({ "op": "write", "path": format!("{prefix}{number}") }), &bytes)?;
        }
        Ok(String::new())
    }

    fn import(&self, desk: &Desk, step: &Value) -> Said {
        let mut tape = tar::Builder::new(Vec::new());
        for entry in step["tar"].as_array().unwrap() {
            assert_eq!(entry["type"], "link", "{}: the one kind that there is", self.id());
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(tar::EntryType::Link);
            header.set_size(0);
            tape.append_link(&mut header, entry["name"].as_str().unwrap(), entry["target"].as_str().unwrap()).unwrap();
        }
        let mut archive = Cursor::new(tape.into_inner().unwrap());
        import(&*desk.tree, &Scope::whole(), &GuestPath::root(), Format::Tar, &mut archive, &mut |_| {})?;
        Ok(String::new())
    }

    fn parallel(&self, desk: &Desk, step: &Value) -> Said {
        let times = step["n"].as_u64().unwrap() as usize;
        if let Some(init) = step["init"].as_object() {
            desk.write(init["path"].as_str().unwrap(), init["content"].as_str().unwrap());
        }
        let numbered = |number: usize| -> Value {
            serde_json::from_str(&step["each"].to_string().replace("{i}", &number.to_string())).unwrap()
        };
        let said = at_once(times, |number| match step["mix"].as_array() {
            Some(mix) => self.step(desk, &mix[number % mix.len()]),
            None => self.persist(desk, &numbered(number)),
        });
        match step["oracle"].as_str() {
            Some("reads-are-whole-or-missing") => {
                let mix = step["mix"].as_array().unwrap();
                for (number, said) in
                    said.iter().enumerate().filter(|(number, _)| mix[number % mix.len()]["op"] == "read")
                {
                    let whole = said.as_ref().map_or_else(FilesError::is_not_found, |text| text == "FULL-CONTENT");
                    assert!(whole, "{} {number}: {said:?}", self.id());
                }
            }
            Some("total<=quota") => {
                let (used, room) = desk.tree.used().unwrap();
                let done = said.iter().filter(|said| said.is_ok()).count() as u64;
                assert_eq!((used.bytes, done), (done * 100_000, room.bytes / 100_000), "{}", self.id());
            }
            Some(other) => panic!("{}: what is {other}?", self.id()),
            None => assert!(said.iter().all(Result::is_ok), "{}: {said:?}", self.id()),
        }
        if let Some(last) = step["finalRead"].as_str() {
            assert_eq!(desk.text(last), step["finalExpect"], "{}", self.id());
        }
        Ok(String::new())
    }

    /// An edit whose text is in other lines too waits until these were edited.
    fn persist(&self, desk: &Desk, step: &Value) -> Said {
        let mut said = self.step(desk, step);
        for _ in 0..TRIES {
            match &said {
                Err(error) if error.code() == "files.ambiguous" => said = self.step(desk, step),
                _ => break,
            }
            std::thread::yield_now();
        }
        said
    }
}

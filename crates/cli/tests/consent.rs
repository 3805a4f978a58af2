//! What a person at a terminal is asked, and what nobody else is.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test says what is wrong by failing")]

mod support;

use serde_json::{Value, json};
use support::origin::{Origin, reply};
use support::place::{Place, place};
use support::terminal::{At, Session};

const QUESTION: &str = "allow? [o]nce, [a]lways for exactly this program, [d]eny, [s]how the code: ";

/// A server, and a program that asks it twice.
struct Scene {
    origin: Origin,
    place: Place,
    grant: String,
}

fn scene() -> Scene {
    let origin = Origin::plain(|_, wire| reply(wire, "200 OK", &[], b"hello"));
    let place = place();
    let url = format!("http://127.0.0.1:{}/data", origin.port());
    place.write("asks.ts", &format!("const one = await fetch('{url}').then((r) => r.text());\nreturn one + await fetch('{url}').then((r) => r.text());\n"));
    Scene { origin, place, grant: format!("egress:GET {url}") }
}

impl Scene {
    fn start(&self, args: &[&str]) -> Session {
        Session::start(&mut self.place.command(args), At::Both)
    }

    /// Runs a file, answering each question with the next line; all of them must be asked for.
    #[track_caller]
    fn run(&self, file: &str, answers: &[&str]) -> (i32, String, String) {
        let mut session = self.start(&["run", file]);
        for answer in answers {
            session.expect(QUESTION);
            session.type_line(answer);
        }
        session.end()
    }

    fn consents(&self) -> Vec<Value> {
        let ran = self.place.isolith(&["consent", "list", "--json"]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let list: Value = serde_json::from_str(&ran.stdout).unwrap();
        list.as_array().unwrap().clone()
    }
}

#[test]
fn once_is_for_one_run() {
    let scene = scene();
    for _ in 0..2 {
        let (code, stdout, screen) = scene.run("asks.ts", &["o"]);
        assert_eq!((code, stdout.as_str()), (0, "hellohello\n"), "{screen}");
        assert_eq!(screen.matches(QUESTION).count(), 1, "{screen}");
        assert!(screen.contains(&format!("asks.ts wants `{}` (line 1)", scene.grant)), "{screen}");
    }
    assert_eq!(scene.consents(), Vec::<Value>::new());
}

#[test]
fn always_is_for_exactly_this_program_under_any_name() {
    let scene = scene();
    assert_eq!(scene.run("asks.ts", &["a"]).0, 0);
    assert_eq!(scene.consents().len(), 1);
    assert_eq!(scene.consents()[0]["grant"], json!(scene.grant));
    let (code, stdout, screen) = scene.run("asks.ts", &[]);
    assert_eq!((code, stdout.as_str(), screen.contains("allow?")), (0, "hellohello\n", false), "{screen}");
    std::fs::rename(scene.place.work.path().join("asks.ts"), scene.place.work.path().join("renamed.ts")).unwrap();
    assert_eq!(scene.run("renamed.ts", &[]).0, 0);
    // One character more is another program.
    let text = String::from_utf8(scene.place.work.read("renamed.ts")).unwrap();
    scene.place.write("renamed.ts", &format!("{text} "));
    assert_eq!(scene.run("renamed.ts", &["d"]).0, 1);
    // And so is the same program that wants something else.
    assert_eq!(scene.consents().len(), 1);
    let digest = scene.consents()[0]["program"].as_str().unwrap().to_owned();
    assert_eq!(scene.place.isolith(&["consent", "forget", &digest]).code, 0);
    assert_eq!(scene.consents(), Vec::<Value>::new());
    scene.place.write("asks.ts", &text);
    assert_eq!(scene.run("asks.ts", &["d"]).0, 1);
}

#[test]
fn deny_and_anything_unclear_let_nothing_pass() {
    let scene = scene();
    for answers in [&["d"][..], &[""], &["what?", "maybe", "n"]] {
        let (code, stdout, screen) = scene.run("asks.ts", answers);
        assert_eq!((code, stdout.as_str()), (1, ""), "{screen}");
        assert!(screen.contains("fetch is not defined"), "{screen}");
    }
    assert_eq!((scene.origin.connections(), scene.consents().len()), (0, 0));
}

#[test]
fn show_shows_the_code_and_asks_again() {
    let scene = scene();
    let mut session = scene.start(&["run", "asks.ts"]);
    session.expect(QUESTION);
    session.type_line("s");
    session.expect("return one + await fetch(");
    session.expect(QUESTION);
    session.type_line("o");
    let (code, stdout, _) = session.end();
    assert_eq!((code, stdout.as_str()), (0, "hellohello\n"));
}

#[test]
fn each_need_is_asked_about_for_itself() {
    let scene = scene();
    let url = scene.grant.trim_start_matches("egress:GET ");
    scene.place.write("two.ts", &format!("const text = await fetch('{url}').then((r) => r.text());\nawait kv.cache.put('a', text);\nreturn kv.cache.get('a');\n"));
    let mut session = scene.start(&["run", "two.ts"]);
    session.expect(&format!("two.ts wants `{}` (line 1)", scene.grant));
    session.expect(QUESTION);
    session.type_line("a");
    // Reading and writing one space is one question.
    session.expect("two.ts wants `kv:cache` (line 2)");
    session.expect(QUESTION);
    session.type_line("d");
    let (code, _, screen) = session.end();
    assert!(code == 1 && screen.contains("kv is not defined"), "{screen}");
    // The one is remembered, the other is asked about again.
    let (code, stdout, screen) = scene.run("two.ts", &["o"]);
    assert_eq!((code, stdout.as_str()), (0, "hello\n"), "{screen}");
}

#[test]
fn what_is_granted_already_is_not_asked_about() {
    let scene = scene();
    let net = format!("http://127.0.0.1:{}", scene.origin.port());
    let (code, _, screen) = scene.start(&["run", "asks.ts", "--allow-net", &net]).end();
    assert_eq!((code, screen.contains("allow?")), (0, false), "{screen}");
}

#[test]
fn nobody_is_asked_without_a_terminal_or_who_does_not_want_to_be() {
    let scene = scene();
    for at in [At::StderrOnly, At::StdinOnly] {
        let session = Session::start(&mut scene.place.command(&["run", "asks.ts"]), at);
        let (code, _, screen) = session.end();
        assert_eq!((code, screen.contains("allow?")), (1, false), "{at:?}: {screen}");
    }
    let (code, _, screen) = scene.start(&["run", "asks.ts", "--no-prompt"]).end();
    assert_eq!((code, screen.contains("allow?")), (1, false), "{screen}");
    let ran = scene.place.isolith_fed(&["run", "asks.ts"], "a\na\n");
    assert_eq!((ran.code, ran.stderr.contains("allow?")), (1, false), "{}", ran.stderr);
    assert_eq!((scene.origin.connections(), scene.consents().len()), (0, 0));
}

#[test]
fn answers_come_from_nowhere_inside_the_project() {
    let scene = scene();
    assert_eq!(scene.run("asks.ts", &["a"]).0, 0);
    let left: Vec<_> = std::fs::read_dir(scene.place.work.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["asks.ts"], "the project is as it was");
    // Another user, whose project brings a copy of those answers and everything else that could pass for one.
    let other = self::scene();
    let text = scene.place.work.read("asks.ts");
    other.place.work.write_bytes("asks.ts", &text);
    for folder in [".isolith", "isolith", ".local/share/isolith", ".config/isolith"] {
        std::fs::create_dir_all(other.place.work.path().join(folder)).unwrap();
        for entry in std::fs::read_dir(scene.place.data_path()).unwrap().map(|entry| entry.unwrap()) {
            let to = other.place.work.path().join(folder).join(entry.file_name());
            if entry.path().is_file() {
                std::fs::copy(entry.path(), to).unwrap();
            }
        }
    }
    other.place.write("isolith.toml", &format!("grants = [\"{}\"]\n", scene.grant));
    other.place.write(".env", &format!("ISOLITH_DATA={}\n", scene.place.data_path().display()));
    let (code, _, screen) = other.run("asks.ts", &["d"]);
    assert_eq!(code, 1, "{screen}");
    let ran = other.place.isolith(&["run", "asks.ts"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
}

#[test]
fn a_grant_that_asks_asks_until_someone_agrees_for_the_run() {
    let scene = scene();
    let ask = format!("ask egress:http://127.0.0.1:{}", scene.origin.port());
    let question = "allow? [y]es, for this [r]un, [a]lways for exactly this program, [n]o: ";
    let mut session = scene.start(&["run", "asks.ts", "--grant", &ask]);
    session.expect(question);
    session.type_line("r");
    let (code, stdout, screen) = session.end();
    assert_eq!((code, stdout.as_str(), screen.matches(question).count()), (0, "hellohello\n", 1), "{screen}");
    let mut session = scene.start(&["run", "asks.ts", "--grant", &ask]);
    session.expect(question);
    session.type_line("n");
    let (code, _, screen) = session.end();
    assert_eq!(code, 126, "{screen}");
    assert_eq!(scene.origin.requests().len(), 2);
    let mut session = scene.start(&["run", "asks.ts", "--grant", &ask]);
    session.expect(question);
    session.type_line("a");
    assert_eq!(session.end().0, 0);
    // From here on nobody is asked about this program; about another one they are.
    let (code, _, screen) = scene.start(&["run", "asks.ts", "--grant", &ask]).end();
    assert_eq!((code, screen.contains("allow?")), (0, false), "{screen}");
    let text = String::from_utf8(scene.place.work.read("asks.ts")).unwrap();
    scene.place.write("other.ts", &format!("{text}// more\n"));
    let mut session = scene.start(&["run", "other.ts", "--grant", &ask]);
    session.expect(question);
    session.type_line("n");
    assert_eq!(session.end().0, 126);
}

#[test]
fn a_question_cannot_be_dressed_up() {
    let scene = scene();
    let text = String::from_utf8(scene.place.work.read("asks.ts")).unwrap();
    let name = "\u{1b}[2J\u{1b}[1;1Hsafe.ts";
    scene.place.write(name, &format!("{text}// \u{1b}[8m hidden \u{202e} turned\n"));
    let mut session = scene.start(&["run", name]);
    session.expect(QUESTION);
    session.type_line("s");
    session.expect(QUESTION);
    session.type_line("d");
    let (_, _, screen) = session.end();
    let odd = |text: &str| text.contains("\u{1b}[2J") || text.contains("\u{1b}[8m") || text.contains('\u{202e}');
    assert!(!odd(&screen), "{screen:?}");
}

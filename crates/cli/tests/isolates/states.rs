//! States that left the server come back only as what they were, and only from whom they were made for.

use super::*;
use isolith_core::{Suspended, SuspendedError};

const CODE: &str =
    "const seen = Math.random(); const a = await tools.echo(1); console.log('b'); return [a, seen === input]";

async fn suspended(engine: &dyn Engine) -> Suspended {
    let (mut isolate, _) = begin(engine, CODE).await.unwrap();
    assert!(matches!(isolate.suspend().await, Err(EngineError::Ended)), "nothing of it has run");
    assert!(matches!(isolate.advance(turn(&[])).await.unwrap(), Step::Calls(_)));
    isolate.suspend().await.unwrap()
}

async fn resumed(engine: &dyn Engine, state: &Suspended) -> Result<String, EngineError> {
    let lines = Arc::new(Lines::default());
    let mut isolate = engine.resume(state, Arc::clone(&lines) as _).await?;
    let value = value(isolate.advance(turn(&[(0, "7")])).await);
    assert_eq!(*lines.0.lock().unwrap(), ["b"]);
    Ok(value)
}

#[track_caller]
fn refused(result: Result<String, EngineError>) {
    match result {
        Err(EngineError::Suspended(SuspendedError::Damaged(_))) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_state_goes_on_where_it_was_made_also_twice_and_after_a_restart() {
    let folder = folder();
    let server = serve(&folder, &[]);
    let state = runtime().block_on(async {
        let engine = Remote::connect(&url(&server), None).await.unwrap();
        let state = suspended(&engine).await;
        assert_eq!(resumed(&engine, &state).await.unwrap(), "[7,false]");
        assert_eq!(resumed(&engine, &state).await.unwrap(), "[7,false]");
        state
    });
    assert_eq!(server.stop(), 0);
    let server = serve(&folder, &[]);
    runtime().block_on(async {
        let engine = Remote::connect(&url(&server), None).await.unwrap();
        assert_eq!(resumed(&engine, &state).await.unwrap(), "[7,false]");
    });
}

#[test]
fn what_was_forged_or_is_anothers_is_refused() {
    let (folder, other) = (folder(), folder());
    let (a, b) = (key(&folder, &["a", "--scope", "isolates"]), key(&folder, &["b", "--scope", "isolates"]));
    let (server, other_server) = (serve(&folder, &[]), serve(&other, &[]));
    runtime().block_on(async {
        let engine = Remote::connect(&url(&server), Some(&a)).await.unwrap();
        let state = suspended(&engine).await;
        let b = Remote::connect(&url(&server), Some(&b)).await.unwrap();
        refused(resumed(&b, &state).await);
        let elsewhere = Remote::connect(&url(&other_server), None).await.unwrap();
        refused(resumed(&elsewhere, &state).await);
        refused(resumed(&engine, &suspended(&elsewhere).await).await);
        let header = state.0.len() - sealed_len(&state);
        for at in (header..state.0.len()).step_by(97) {
            let mut changed = state.clone();
            changed.0[at] ^= 1;
            refused(resumed(&engine, &changed).await);
        }
        // A state as the engine itself makes it, which the server would run if it looked into it.
        let local = isolith_quickjs::QuickJs::new(isolith_quickjs::Options::default()).unwrap();
        let bare = suspended(&local).await;
        refused(resumed(&engine, &bare).await);
        let dressed = Suspended([&state.0[..header], &bare.0].concat());
        refused(resumed(&engine, &dressed).await);
        assert_eq!(resumed(&engine, &state).await.unwrap(), "[7,false]");
    });
}

/// How much of a state is the server's.
fn sealed_len(state: &Suspended) -> usize {
    let tally = u32::from_le_bytes(state.0[8..12].try_into().unwrap()) as usize;
    state.0.len() - 12 - tally
}

#[test]
fn a_state_with_more_than_is_allowed_by_now_stays_where_it_is() {
    let folder = folder();
    let server = serve(&folder, &[]);
    let state = runtime().block_on(async {
        let engine = Remote::connect(&url(&server), None).await.unwrap();
        suspended(&engine).await
    });
    assert_eq!(server.stop(), 0);
    folder.write("policy.toml", "[limits]\nmemory = \"16MiB\"\n");
    let server = serve(&folder, &["--policy", "policy.toml"]);
    runtime().block_on(async {
        let engine = Remote::connect(&url(&server), None).await.unwrap();
        assert!(matches!(resumed(&engine, &state).await, Err(EngineError::Unsupported(_))));
    });
}

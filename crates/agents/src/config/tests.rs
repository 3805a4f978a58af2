use super::*;

#[derive(Debug, Deserialize)]
struct File {
    agents: AgentsConfig,
}

fn read(text: &str) -> Result<AgentsConfig, String> {
    toml::from_str::<File>(text).map(|file| file.agents).map_err(|error| error.message().to_owned())
}

#[test]
fn agents_are_read_as_written() {
    let config = read(
        r#"
        [agents]
        default = "claude"
        [agents.claude]
        model = "opus"
        unsafe_skip_permissions = true
        [agents.local]
        kind = "command"
        program = "./ask"
        args = ["--text", "{prompt}"]
        env = ["ASK_KEY"]
        timeout = "90s"
        repairs = 0
        [agents.api]
        kind = "anthropic"
        key = "env:ANTHROPIC_API_KEY"
        [agents.other]
        kind = "openai"
        url = "http://localhost:11434/v1/"
        key = "my_key"
        max_tokens = 9
        retries = 1
        [agents.mock]
        "#,
    )
    .unwrap();
    let claude = PresetConfig {
        program: "claude".into(),
        args: vec![],
        env: vec![],
        cwd: None,
        model: Some("opus".into()),
        timeout: TIMEOUT,
        repairs: 2,
        unsafe_skip_permissions: true,
    };
    let local = CommandConfig {
        program: "./ask".into(),
        args: vec!["--text".into(), "{prompt}".into()],
        prompt: PromptBy::Place,
        env: vec!["ASK_KEY".into()],
        cwd: None,
        model: None,
        timeout: Duration::from_secs(90),
        repairs: 0,
    };
    let api = ApiConfig {
        url: "https://api.anthropic.com".into(),
        key: Some(SecretSource::Env("ANTHROPIC_API_KEY".into())),
        model: Some("claude-sonnet-4-6".into()),
        max_tokens: Some(4096),
        timeout: TIMEOUT,
        repairs: 2,
        retries: 4,
    };
    let other = ApiConfig {
        url: "http://localhost:11434/v1".into(),
        key: Some(SecretSource::Store(SecretName::new("my_key").unwrap())),
        model: None,
        max_tokens: Some(9),
        retries: 1,
        ..api
    };
    let expected = [
        ("claude", AgentConfig::Claude(claude)),
        ("local", AgentConfig::Command(local)),
        ("api", AgentConfig::Anthropic(api)),
        ("other", AgentConfig::Openai(other)),
        ("mock", AgentConfig::Mock),
    ];
    let agents = expected.into_iter().map(|(name, agent)| (name.to_owned(), agent)).collect();
    assert_eq!(config, AgentsConfig { default: Some("claude".into()), agents });
}

#[test]
fn mistakes_are_told_with_their_place() {
    for (text, expected) in [
        (
            "[agents.a]",
            "`a`: `kind` is missing: write one of `command`, `claude`, `codex`, `copilot`, `anthropic`, `openai`, `session`, `mock`",
        ),
        ("[agents.a]\nkind = \"clade\"", "`a.kind`: there is no kind `clade`: did you mean `claude`?"),
        ("[agents.claude]\nmodle = \"x\"", "`claude.modle`: there is no such key: did you mean `model`?"),
        ("[agents.mock]\nurl = \"x\"", "`mock.url`: there is no such key; there are `kind`"),
        (
            "[agents.claude]\nskip = true",
            "`claude.skip`: there is no such key; there are `kind`, `program`, `args`, `env`, `cwd`, `model`, `timeout`, `repairs`, `unsafe_skip_permissions`",
        ),
        ("[agents.command]", "`command`: `program` is missing"),
        ("[agents.command]\nprogramm = \"x\"", "`command.programm`: there is no such key: did you mean `program`?"),
        (
            "[agents.command]\nprogram = \"x\"\nprompt = \"file\"",
            "`command.prompt`: write `stdin` or `last`, or `{prompt}` in `args`",
        ),
        ("[agents.claude]\nmodel = \"--yolo\"", "`claude.model`: `--yolo` is not the name of a model"),
        ("[agents.claude]\ntimeout = \"2d\"", "`claude.timeout`: write a time from `1ms` to `24h`"),
        ("[agents.claude]\nrepairs = 11", "`claude.repairs`: write a number from 0 to 10"),
        ("[agents.claude]\nenv = [\"A=B\"]", "`claude.env`: `A=B` is not the name of a variable"),
        ("[agents.openai]\nurl = \"ftp://x\"", "`openai.url`: `ftp:` is not `https:` or `http:`"),
        ("[agents]\ndefault = \"mok\"\n[agents.mock]", "`default`: there is no agent `mok`: did you mean `mock`?"),
        ("[agents.session]\nagent = \"mock\"\n[agents.mock]", "`session`: `session` is missing"),
        (
            "[agents.session]\nsession = \"s\"\nagent = \"mok\"\n[agents.mock]",
            "`session`: there is no agent `mok`: did you mean `mock`?",
        ),
        ("[agents]\nmock = 1", "`mock`: write a table for each agent: `[agents.mock]`"),
    ] {
        assert_eq!(read(text).unwrap_err(), expected, "{text}");
    }
}

#[test]
fn a_key_that_is_written_out_is_not_repeated() {
    let message = read("[agents.openai]\nkey = \"sk-hunter2 hunter2\"").unwrap_err();
    assert!(message.contains("names no secret") && !message.contains("hunter2"), "{message}");
}

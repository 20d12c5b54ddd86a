use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};

use forklore_core::ErrorKind;

use super::*;

fn refused(text: &str) -> String {
    let error = read::config(Path::new("config.toml"), text, &[]).unwrap_err();
    error.to_string()
}

#[test]
fn an_unknown_field_is_named_with_its_line() {
    let cases = [
        "defualt_model = 'a'\n",
        "[models.a]\nprovider = 'openai'\nmodel = 'm'\n\nbase_ulr = 'x'\n",
        "[models.a]\nprovider = 'openai'\nmodel = 'm'\napi_key = 'sk-secret'\n",
        "[tools.files]\ncommand = 'x'\n\nenv = ['A']\n",
        "\n[policy]\nalow = ['*']\n",
        "[policy]\nallow = ['files']\n",
        "[tools.'bad name']\ncommand = 'x'\n",
        "[models.a]\nprovider = 'openai'\nmodel = 'm'\ncontext_window = 'sk-secret'\n",
        "[models.a\n",
        "default_model = 'b'\n[models.a]\nprovider = 'openai'\nmodel = 'm'\n",
    ];
    let errors: Vec<String> = cases.iter().map(|text| refused(text)).collect();
    assert!(errors.iter().all(|error| !error.contains("sk-secret")), "{errors:#?}");
    insta::assert_snapshot!(errors.join("\n"));
}

#[test]
fn the_example_of_the_error_is_a_configuration() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.toml");
    let nothing = Configured::read(&path).unwrap();
    let error = nothing.model(None).unwrap_err();
    assert!(error.no_model);
    let message = error.to_string();
    let example = message.split_once("it:\n").unwrap().1;
    fs::write(&path, example).unwrap();
    let configured = Configured::read(&path).unwrap();
    assert_eq!(configured.model(None).unwrap().0, "local");
    assert_eq!(configured.model(Some("claude")).unwrap().0, "claude");
    let other = configured.model(Some("other")).unwrap_err().to_string();
    assert!(other.ends_with("there is no [models.other]; there is claude, local"), "{other}");
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_file_that_others_may_write_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.toml");
    fs::write(&path, "system = 'x'\n").unwrap();
    for mode in [0o666, 0o622, 0o602, 0o664] {
        set_mode(&path, mode);
        let refused = Configured::read(&path).unwrap_err();
        assert_eq!(refused.kind, ErrorKind::PermissionDenied);
        assert!(refused.wrong.starts_with("others may write to it; "), "{refused}");
    }
    set_mode(&path, 0o644);
    assert_eq!(Configured::read(&path).unwrap().config.system.as_deref(), Some("x"));
    for none in [dir.path(), Path::new("/dev/null")] {
        let refused = Configured::read(none).unwrap_err();
        assert!(matches!(refused.kind, ErrorKind::InvalidArgs | ErrorKind::PermissionDenied));
    }
}

#[test]
fn a_folder_in_which_others_may_replace_the_file_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (above, folder) = (dir.path().join("above"), dir.path().join("above/folder"));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("config.toml");
    fs::write(&path, "system = 'x'\n").unwrap();
    for open in [&above, &folder] {
        for (mode, is_refused) in [(0o777, true), (0o775, true), (0o1777, false), (0o755, false)] {
            set_mode(open, mode);
            match Configured::read(&path) {
                Ok(_) => assert!(!is_refused, "{mode:o}"),
                Err(refused) => {
                    assert!(is_refused, "{refused}");
                    assert_eq!(refused.kind, ErrorKind::PermissionDenied);
                    assert!(refused.wrong.ends_with(&format!("chmod go-w {}", open.display())));
                }
            }
        }
    }
}

#[test]
fn links_lead_through_folders_that_are_looked_at_too() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir(at("open")).unwrap();
    fs::create_dir(at("closed")).unwrap();
    fs::write(at("open/real.toml"), "system = 'x'\n").unwrap();
    fs::write(at("closed/real.toml"), "system = 'x'\n").unwrap();
    symlink(at("open/real.toml"), at("closed/to-open.toml")).unwrap();
    symlink("../closed", at("open/folder")).unwrap();
    symlink("open/folder", at("through")).unwrap();
    symlink("closed/../closed", at("straight")).unwrap();
    set_mode(&at("open"), 0o777);
    for refused in ["open/real.toml", "closed/to-open.toml", "through/real.toml"] {
        let refused = Configured::read(&at(refused)).unwrap_err();
        assert!(refused.wrong.contains(&format!("{}, which leads", at("open").display())));
    }
    for read in ["closed/real.toml", "straight/real.toml"] {
        assert!(Configured::read(&at(read)).is_ok(), "{read}");
    }
}

#[test]
fn what_is_another_users_is_refused_but_not_above_the_home() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    let (home, path) = (top.join("home"), top.join("home/config.toml"));
    fs::create_dir(&home).unwrap();
    fs::write(&path, "system = 'x'\n").unwrap();
    let me = fs::metadata(&path).unwrap().uid();
    if me == 0 {
        for path in [&top, &home, &path] {
            chown(path, Some(65_534), None).unwrap();
        }
    }
    let owner = fs::metadata(&path).unwrap().uid();
    let wrong = |trust: Trust| trust.check(&path).unwrap_err().wrong;
    let stranger = owner - 1;
    let message = wrong(Trust::new(stranger, None));
    assert!(message.contains("belongs to another user"), "{message}");
    assert!(wrong(Trust::new(stranger, Some(home.clone()))).starts_with(home.to_str().unwrap()));
    set_mode(&top, 0o777);
    assert!(wrong(Trust::new(owner, None)).starts_with("others may write to "));
    Trust::new(owner, Some(home.clone())).check(&path).unwrap();
    set_mode(&home, 0o777);
    assert!(wrong(Trust::new(owner, Some(home.clone()))).starts_with("others may write to "));
}

#[test]
fn files_of_a_project_are_reported_and_not_read() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(ignored_in(dir.path()), Vec::<PathBuf>::new());
    fs::create_dir(dir.path().join(".forklore")).unwrap();
    let tries = ["forklore.toml", ".forklore.toml", ".forklore/config.toml"];
    for name in tries {
        fs::write(dir.path().join(name), "default_model = 'evil'\n").unwrap();
    }
    assert_eq!(ignored_in(dir.path()), tries.map(|name| dir.path().join(name)));
}

fn settings(texts: &[&str]) -> Vec<Setting> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

/// A configuration with one model, whose line 4 is `context_window`.
const ONE: &str = "[models.a]\nprovider = 'openai'\nmodel = 'm'\ncontext_window = 1\n";

#[test]
fn settings_override_the_file_and_later_ones_the_earlier_ones() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.toml");
    fs::write(&path, format!("system = 'x'\n{ONE}[policy]\nallow = ['a.*']\n")).unwrap();
    let before = fs::read(&path).unwrap();
    let given = settings(&[
        "system=\"Be brief.\"",
        "models.a.context_window = 4096",
        "models.a.model=first",
        "models.a.model=qwen3:0.6b",
        "models.\"b.c\"={ provider = 'ollama', model = '4.1' }",
        "default_model=b.c",
        "policy.allow=[]",
        "delegate.depth=1",
    ]);
    let config = Configured::read_with(&path, &given).unwrap().config;
    assert_eq!(config.system.as_deref(), Some("Be brief."));
    let models = config.models.iter().map(|(name, it)| (&**name, &*it.model, it.context_window));
    assert_eq!(models.collect::<Vec<_>>(), [("a", "qwen3:0.6b", Some(4096)), ("b.c", "4.1", None)]);
    assert_eq!(config.default_model.as_deref(), Some("b.c"));
    assert_eq!(config.policy, forklore_mcp_client::Rules::default());
    assert_eq!(config.delegate.unwrap().depth, 1);
    assert_eq!(fs::read(&path).unwrap(), before);
    // The file need not exist.
    let none = Configured::read_with(&dir.path().join("none.toml"), &settings(&["system=x"]));
    assert_eq!(none.unwrap().config.system.as_deref(), Some("x"));
}

#[test]
fn an_error_names_the_setting_that_is_its_cause() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.toml");
    let refused = |file: &str, given: &[&str]| {
        fs::write(&path, file).unwrap();
        let error = Configured::read_with(&path, &settings(given)).unwrap_err().to_string();
        error.replace(path.to_str().unwrap(), "[file]")
    };
    let key = "sk-secret";
    let secret = format!("models.a.context_window={key}");
    let errors = [
        refused(ONE, &["systen=x"]),
        refused(ONE, &["system=1", "models.a.model=n"]),
        refused(ONE, &["models.a.model=1.5"]),
        refused(ONE, &[&secret]),
        refused(ONE, &["models.a.modell=x", "models.a.model=n"]),
        refused(ONE, &["models.b.model=x"]),
        refused(ONE, &["tools.'bad name'.command=x"]),
        refused(ONE, &["policy.allow=[\"files\"]"]),
        refused(ONE, &["models.a.model.x=1"]),
        refused(ONE, &["default_model=b"]),
        refused(ONE, &["default_model=b", "models.a.model=n"]),
        refused(&format!("default_model = 'a'\n{ONE}"), &["models={}"]),
        // Errors of the file keep their lines.
        refused(&format!("{ONE}modell = 'x'\n"), &["models.a.model=n"]),
        refused(&format!("default_model = 'b'\n{ONE}"), &["models.a.model=n"]),
        refused("[models.a\n", &["models.a.model=n"]),
    ];
    assert!(errors.iter().all(|error| !error.contains(key)), "{errors:#?}");
    insta::assert_snapshot!(errors.join("\n"));
}

#[test]
fn what_is_no_setting_is_refused_without_its_value() {
    let texts = [
        "",
        "=",
        "=x",
        "system",
        "a b=x",
        "[a]=x",
        "a\nb=x",
        "a.=x",
        "# a=x",
        "system=",
        "system=\"sk-secret",
        "policy.allow=[\"sk-secret\"",
        "\"a b\".c={sk-secret}",
    ];
    let errors: Vec<_> =
        texts.iter().map(|text| text.parse::<Setting>().unwrap_err().to_string()).collect();
    assert!(errors.iter().all(|error| !error.contains("sk-secret")), "{errors:#?}");
    insta::assert_snapshot!(errors.join("\n"));
}

#[test]
fn a_setting_is_repeated_unless_its_value_may_be_secret() {
    let repeated = |text: &str| {
        let setting: Setting = text.parse().unwrap();
        setting.repeated().map(str::to_owned)
    };
    for text in [
        "default_model=claude",
        "system=Be \"brief\".",
        "models.a.model=qwen3:0.6b",
        "models.a.base_url=http://127.0.0.1:9/v1",
        "models.a.key_env=PATH",
        "models.a.temperature=0.5",
        "models.a.cache_key=false",
        "delegate.depth=1",
        "policy.allow=[\"files.*\"]",
        "tools.t.call_seconds=9",
        "models.\"a b\".model=\"1\"",
    ] {
        assert_eq!(repeated(text).as_deref(), Some(text));
    }
    for secret in [
        "models.a.base_url=http://ann:sk-secret@127.0.0.1/v1",
        "models.a.base_url=http://127.0.0.1/v1?key=sk-secret",
        "models.a.key_env=sk-secret",
        "models.a.context_window=sk-secret",
        "models.a={model=\"m\", key_env=\"sk-secret\"}",
        "tools.t.args=[\"--password\", \"sk-secret\"]",
        "tools.t.url=http://127.0.0.1/sk-secret",
        "tracing.endpoint=http://127.0.0.1/sk-secret",
        "anything=sk-secret",
    ] {
        assert_eq!(repeated(secret), None, "{secret}");
    }
}

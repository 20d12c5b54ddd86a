use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::*;

fn refused(text: &str) -> String {
    let error = read::config(Path::new("config.toml"), text).unwrap_err();
    error.to_string()
}

#[test]
fn what_is_unknown_is_named_with_its_line() {
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
    let told: Vec<String> = cases.iter().map(|text| refused(text)).collect();
    assert!(told.iter().all(|told| !told.contains("sk-secret")), "{told:#?}");
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn the_example_of_the_error_is_a_configuration() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.toml");
    let nothing = Configured::read(&path).unwrap();
    let error = nothing.model(None).unwrap_err();
    assert!(error.no_model);
    let told = error.to_string();
    let example = told.split_once("it:\n").unwrap().1;
    fs::write(&path, example).unwrap();
    let configured = Configured::read(&path).unwrap();
    assert_eq!(configured.model(None).unwrap().0, "local");
    assert_eq!(configured.model(Some("claude")).unwrap().0, "claude");
    let other = configured.model(Some("other")).unwrap_err().to_string();
    assert!(other.ends_with("there is no [models.other]; there is claude, local"), "{other}");
}

#[test]
fn s10_a_file_that_others_may_write_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("config.toml");
    fs::write(&path, "system = 'x'\n").unwrap();
    for mode in [0o666, 0o622, 0o602] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let told = Configured::read(&path).unwrap_err().to_string();
        assert!(told.contains("others may write to it"), "{told}");
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(Configured::read(&path).unwrap().config.system.as_deref(), Some("x"));
    assert!(Configured::read(dir.path()).unwrap_err().to_string().contains("no file"));
}

#[test]
fn s16_what_a_project_tries_to_set_is_seen_and_not_read() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(ignored_in(dir.path()), Vec::<PathBuf>::new());
    fs::create_dir(dir.path().join(".forklore")).unwrap();
    let tries = [".forklore.toml", ".forklore/config.toml"];
    for name in tries {
        fs::write(dir.path().join(name), "default_model = 'evil'\n").unwrap();
    }
    assert_eq!(ignored_in(dir.path()), tries.map(|name| dir.path().join(name)));
}

//! Tests with other real servers: one that is restricted to a folder, and one that uses another
//! SDK.

use forklore_mcp_client::ServerConfig;
use serde_json::{Value, json};

use crate::given::{call, folder, names, on_node, started, text};

#[tokio::test]
async fn files_are_read_and_written_in_their_folder_only() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let config = on_node("server-filesystem", &[&text(&root)]);
    let tools = started([("files", config)]).await;

    let note = text(&root.join("note.txt"));
    let (failed, _) =
        call(&tools, "files__write_file", json!({"path": note, "content": "ünï"})).await;
    assert!(!failed);
    assert_eq!(std::fs::read_to_string(&note).unwrap(), "ünï");
    let read = call(&tools, "files__read_text_file", json!({"path": note})).await;
    assert!(!read.0, "{read:?}");
    assert!(read.1.to_string().contains("ünï"), "{read:?}");

    let (failed, outside) =
        call(&tools, "files__read_text_file", json!({"path": "/etc/passwd"})).await;
    assert!(failed, "{outside}");
    tools.end().await;
}

#[tokio::test]
async fn a_server_of_another_sdk_works_too() {
    let python = folder().join("python");
    let config = ServerConfig {
        command: Some("python3".to_owned()),
        args: ["-c", &format!("import sys; sys.path.insert(0, {:?}); from mcp_server_time import main; sys.argv = ['time', '--local-timezone', 'UTC']; main()", text(&python))]
            .map(ToOwned::to_owned)
            .to_vec(),
        ..ServerConfig::default()
    };
    let tools = started([("time", config)]).await;
    assert_eq!(names(&tools), ["time__convert_time", "time__get_current_time"]);
    let arguments =
        json!({"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"});
    let (failed, converted) = call(&tools, "time__convert_time", arguments).await;
    assert!(!failed, "{converted}");
    let converted: Value = serde_json::from_str(converted.as_str().unwrap()).unwrap();
    assert_eq!(converted["time_difference"], "+9.0h");
    let (failed, unknown) =
        call(&tools, "time__get_current_time", json!({"timezone": "Nowhere/At_All"})).await;
    assert!(failed, "{unknown}");
    tools.end().await;
}

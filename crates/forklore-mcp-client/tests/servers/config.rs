//! Tests that an invalid configuration of a server is refused, with advice.

use std::collections::BTreeMap;

use forklore_mcp_client::{McpTools, ServerConfig, ServerName};

fn refused(text: &str) -> String {
    match toml::from_str::<BTreeMap<ServerName, ServerConfig>>(text) {
        Err(error) => error.to_string().trim_end().to_owned(),
        Ok(servers) => McpTools::new(&servers).err().unwrap().to_string(),
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let wrong = [
        "[x]",
        "[x]\ncommand = 'a'\nurl = 'http://localhost'",
        "[x]\ncommand = './server'",
        "[x]\ncommand = ''",
        "[x]\ncommand = 'a'\nfolder = 'b'",
        "[x]\ncommand = 'a'\nheader_env = { A = 'B' }",
        "[x]\nurl = 'http://localhost'\nargs = ['a']",
        "[x]\nurl = 'not an address'",
        "[x]\nurl = 'file:///etc/passwd'",
        "[x]\nurl = 'https://me:secret@example.com/mcp'",
        "[x]\nurl = 'http://example.com/mcp'\nheader_env = { Authorization = 'TOKEN' }",
        "[x]\nurl = 'http://example.com/mcp'\ntoken_env = 'TOKEN'",
        "[x]\ncommand = 'a'\ntoken_env = 'TOKEN'",
        "[x]\nurl = 'https://example.com/mcp'\ntoken_env = 'T'\nheader_env = { authorization = 'A' }",
        "[x]\ncommand = 'a'\nenv = { KEY = 'secret' }",
        "[a__b]\ncommand = 'a'",
        "[a_]\ncommand = 'a'",
        "['a b']\ncommand = 'a'",
    ];
    insta::assert_snapshot!(wrong.map(refused).join("\n---\n"));
}

#[test]
fn valid_servers_are_accepted() {
    let text = "[files]\ncommand = '/bin/files'\nargs = ['-v']\nenv_from = ['KEY']\n\
                folder = '/tmp'\nstart_seconds = 5\ncall_seconds = 6\nmax_output = 7\n\
                [web]\nurl = 'https://example.com/mcp'\nheader_env = { Authorization = 'TOKEN' }\n\
                [far]\nurl = 'https://example.com/mcp'\ntoken_env = 'TOKEN'\n\
                header_env = { X-Team = 'TEAM' }\n\
                [near]\nurl = 'http://[::1]:80/mcp'\nheader_env = { Authorization = 'TOKEN' }";
    let servers: BTreeMap<ServerName, ServerConfig> = toml::from_str(text).unwrap();
    assert!(McpTools::new(&servers).is_ok());
    let files = ServerConfig {
        command: Some("/bin/files".to_owned()),
        args: vec!["-v".to_owned()],
        env_from: vec!["KEY".to_owned()],
        folder: Some("/tmp".into()),
        start_seconds: Some(5),
        call_seconds: Some(6),
        max_output: Some(7),
        ..ServerConfig::default()
    };
    assert_eq!(servers[&"files".parse::<ServerName>().unwrap()], files);
}

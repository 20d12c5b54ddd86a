//! The script and the style sheet. Their addresses contain a hash of their content, so browsers may
//! store them forever.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

struct Asset {
    url: String,
    name: &'static str,
    ending: &'static str,
    media_type: &'static str,
    bytes: &'static [u8],
}

static ASSETS: LazyLock<[Asset; 2]> = LazyLock::new(|| {
    [
        asset("js", "text/javascript; charset=utf-8", include_bytes!("../assets/chat.js")),
        asset("css", "text/css; charset=utf-8", include_bytes!("../assets/chat.css")),
    ]
});

fn asset(ending: &'static str, media_type: &'static str, bytes: &'static [u8]) -> Asset {
    let hash = Sha256::digest(bytes);
    let hash: String = hash.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    let url = format!("/chat/assets/chat.{hash}.{ending}");
    Asset { url, name: "chat", ending, media_type, bytes }
}

/// Returns the address of a file.
pub(crate) fn url(name: &str, ending: &str) -> &'static str {
    let found = ASSETS.iter().find(|asset| asset.name == name && asset.ending == ending);
    found.map_or("", |asset| asset.url.as_str())
}

pub(crate) async fn serve(Path(file): Path<String>) -> Response {
    let mut all = ASSETS.iter();
    let found = all.find(|asset| asset.url.strip_prefix("/chat/assets/") == Some(&*file));
    let Some(asset) = found else {
        return (StatusCode::NOT_FOUND, "there is no such file\n").into_response();
    };
    let headers = [
        (header::CONTENT_TYPE, asset.media_type),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (StatusCode::OK, headers, asset.bytes).into_response()
}

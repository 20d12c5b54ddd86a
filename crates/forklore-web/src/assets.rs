//! The style sheet, the scripts and the icon. Their addresses contain a hash of their content, so
//! browsers may store them forever.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use sha2::{Digest, Sha256};

use crate::answer::Problem;

/// A file that the pages load.
struct Asset {
    /// The address, such as `/assets/style.0a1b2c3d4e5f.css`.
    url: String,
    name: &'static str,
    media_type: &'static str,
    bytes: &'static [u8],
}

const SCRIPT: &str = "text/javascript; charset=utf-8";

static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    let style: &[u8] = include_bytes!("../assets/style.css");
    vec![
        asset("style", "css", "text/css; charset=utf-8", style),
        asset("icon", "svg", "image/svg+xml", include_bytes!("../assets/icon.svg")),
        asset("keys", "js", SCRIPT, include_bytes!("../assets/keys.js")),
        asset("live", "js", SCRIPT, include_bytes!("../assets/live.js")),
        asset("find", "js", SCRIPT, include_bytes!("../assets/find.js")),
        asset("actions", "js", SCRIPT, include_bytes!("../assets/actions.js")),
    ]
});

fn asset(
    name: &'static str,
    ending: &str,
    media_type: &'static str,
    bytes: &'static [u8],
) -> Asset {
    let hash = Sha256::digest(bytes);
    let hash: String = hash.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    Asset { url: format!("/assets/{name}.{hash}.{ending}"), name, media_type, bytes }
}

/// Returns the address of the file with this name.
pub(crate) fn url(name: &str) -> &'static str {
    ASSETS.iter().find(|asset| asset.name == name).map_or("", |asset| asset.url.as_str())
}

/// Answers with a file.
pub(crate) async fn serve(Path(file): Path<String>) -> Response {
    let asset = ASSETS.iter().find(|asset| asset.url.strip_prefix("/assets/") == Some(&*file));
    let Some(asset) = asset else {
        return Problem::missing("There is no such file.").into_response();
    };
    let headers = [
        (header::CONTENT_TYPE, asset.media_type),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (StatusCode::OK, headers, asset.bytes).into_response()
}

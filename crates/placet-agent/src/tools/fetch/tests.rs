//! Fetching from a real server on this machine, and what must not be connected to.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;
use crate::tools::a_call;

/// Answers every request with what `answer` makes of its path, and counts them.
async fn a_server(answer: fn(&str) -> String) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(async move {
                let mut request = Vec::new();
                while !request.ends_with(b"\r\n\r\n") {
                    if stream.read_buf(&mut request).await.unwrap_or(0) == 0 {
                        return;
                    }
                }
                let request = String::from_utf8_lossy(&request).into_owned();
                let path = request.split(' ').nth(1).unwrap_or("/");
                let _ = stream.write_all(answer(path).as_bytes()).await;
            });
        }
    });
    (address, asked)
}

fn page(status: &str, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

async fn fetch(tool: &Fetch, url: String) -> Result<String, String> {
    tool.run(&a_call("fetch", json!({ "url": url })), &[]).await
}

#[tokio::test]
async fn a_page_comes_with_its_status_and_type_and_a_failure_is_one() {
    let (address, _) = a_server(|path| match path {
        "/" => page("200 OK", "content-type: text/html\r\n", "<p>hello</p>"),
        "/image" => page("200 OK", "content-type: image/png\r\n", "\0\u{1}"),
        _ => page("404 Not Found", "content-type: text/plain\r\n", "nothing here"),
    })
    .await;
    let tool = Fetch::new();
    let told = fetch(&tool, format!("http://{address}/")).await.unwrap();
    assert_eq!(told, "200 OK\ncontent-type: text/html\n\n<p>hello</p>");
    let told = fetch(&tool, format!("http://{address}/image")).await.unwrap();
    assert!(told.ends_with("[2 bytes that are not text]"), "{told}");
    let told = fetch(&tool, format!("http://{address}/no")).await.unwrap_err();
    assert!(
        told.starts_with("404") && told.ends_with("nothing here"),
        "{told}"
    );
}

#[tokio::test]
async fn a_redirect_to_another_host_is_not_followed_but_told() {
    let (address, asked) = a_server(|path| match path {
        "/away" => page(
            "302 Found",
            "location: http://169.254.169.254/latest/meta-data/\r\n",
            "",
        ),
        "/port" => page("302 Found", "location: http://127.0.0.1:1/\r\n", ""),
        "/here" => page("302 Found", "location: /there\r\n", ""),
        "/loop" => page("302 Found", "location: /loop\r\n", ""),
        _ => page("200 OK", "content-type: text/plain\r\n", "arrived"),
    })
    .await;
    let tool = Fetch::new();
    let told = fetch(&tool, format!("http://{address}/away")).await.unwrap();
    assert_eq!(
        told,
        "302 Found moved to http://169.254.169.254/latest/meta-data/; fetch that if you want it"
    );
    assert!(
        fetch(&tool, format!("http://{address}/port"))
            .await
            .unwrap()
            .contains("moved to http://127.0.0.1:1/")
    );
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    assert!(
        fetch(&tool, format!("http://{address}/here"))
            .await
            .unwrap()
            .ends_with("arrived")
    );
    assert!(
        fetch(&tool, format!("http://{address}/loop"))
            .await
            .unwrap_err()
            .contains("redirects")
    );
}

#[tokio::test]
async fn a_name_that_looks_public_cannot_lead_to_this_machine() {
    let (address, asked) = a_server(|_| page("200 OK", "", "secret")).await;
    let tool = Fetch {
        lookup: Arc::new(|_| {
            Box::pin(async {
                Ok(vec![
                    "192.0.66.1:0".parse().unwrap(),
                    "127.0.0.1:0".parse().unwrap(),
                ])
            })
        }),
    };
    let refused = fetch(&tool, format!("http://rebind.example.com:{}/", address.port()))
        .await
        .unwrap_err();
    assert!(refused.contains("leads to 127.0.0.1"), "{refused}");
    assert_eq!(asked.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_name_that_was_judged_as_nearby_may_lead_nearby() {
    let (address, _) = a_server(|_| page("200 OK", "content-type: text/plain\r\n", "hello")).await;
    let told = fetch(&Fetch::new(), format!("http://localhost:{}/", address.port()))
        .await
        .unwrap();
    assert!(told.ends_with("hello"));
}

#[test]
fn metadata_and_private_addresses_are_no_public_ones() {
    for address in [
        "169.254.169.254",
        "10.0.0.1",
        "127.0.0.1",
        "::1",
        "fd00::1",
        "::ffff:10.0.0.1",
        "100.100.100.200",
    ] {
        assert!(!Reach::Public.covers(address.parse().unwrap()), "{address}");
        assert!(Reach::Anywhere.covers(address.parse().unwrap()), "{address}");
    }
    for address in ["1.1.1.1", "2606:4700::1111"] {
        assert!(Reach::Public.covers(address.parse().unwrap()), "{address}");
    }
}

#[tokio::test]
async fn an_endless_page_is_cut_and_says_so() {
    let (address, _) = a_server(|_| {
        page(
            "200 OK",
            "content-type: text/plain\r\n",
            &"x".repeat(BODY_BYTES_MAX + 10),
        )
    })
    .await;
    let told = fetch(&Fetch::new(), format!("http://{address}/")).await.unwrap();
    assert!(told.ends_with("bytes are shown]") && told.len() < BODY_BYTES_MAX + 200);
}

#[tokio::test]
async fn other_schemes_are_refused() {
    for url in [
        "file:///etc/passwd",
        "ftp://example.com/",
        "gopher://example.com/",
    ] {
        assert!(
            fetch(&Fetch::new(), url.into())
                .await
                .unwrap_err()
                .contains("not spoken here")
        );
    }
}

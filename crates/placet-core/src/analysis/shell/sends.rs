//! What leaves the machine: files and input that a command sends somewhere.

use super::judge::{Args, Hit};
use super::options::{CURL, HTTPIE, Part, parts};
use super::word::Word;

fn yes_if(is: bool) -> Hit {
    if is { Hit::Yes } else { Hit::No }
}

/// `curl -H @FILE`.
pub(super) fn curl_header_file(args: &Args<'_, '_>) -> Hit {
    let sends = |part: &Part<'_>| match part {
        Part::Short('H', Some(value)) => value.text.starts_with('@'),
        Part::Long(_, Some(value)) => {
            part.is_long(&["header", "proxy-header"]) && value.text.starts_with('@')
        }
        _ => false,
    };
    yes_if(parts(args.words, &CURL).iter().any(sends))
}

/// `http example.org name@FILE`: among the items after the URL the first sign says what one is.
pub(super) fn http_item_file(args: &Args<'_, '_>) -> Hit {
    let parts = parts(args.words, &HTTPIE);
    let plain = parts.iter().filter_map(|part| match part {
        Part::Plain(value) => Some(value.text),
        Part::Short(..) | Part::Long(..) => None,
    });
    let mut items = plain
        .skip_while(|text| text.bytes().all(|b| b.is_ascii_uppercase()))
        .skip(1);
    let is_file = |item: &str| {
        let sign = item.find(['=', ':', '@']);
        sign.and_then(|at| item.get(at..))
            .is_some_and(|rest| rest.starts_with('@'))
    };
    yes_if(items.any(is_file))
}

/// Programs that send what is written to their input.
pub(super) fn sends_input(name: &str) -> bool {
    matches!(name, "http" | "https" | "xh" | "xhs" | "httpie")
}

/// `gh gist create FILE`.
pub(super) fn makes_gist(args: &Args<'_, '_>) -> Hit {
    let mut words = args.words.iter().map(|word| word.value.as_str());
    let gist = words.any(|word| word == "gist");
    yes_if(gist && words.any(|word| matches!(word, "create" | "new" | "edit")))
}

/// `aws s3 cp FILE s3://bucket`; what is fetched from there is not sent.
pub(super) fn copies_to_cloud(args: &Args<'_, '_>) -> Hit {
    let in_cloud = |word: &Word<'_>| word.value.starts_with("s3://") || word.value.starts_with("gs://");
    let is_plain = |word: &&Word<'_>| !word.value.starts_with('-') || word.value == "-";
    let mut words = args.words.iter();
    if !words.any(|word| word.value == "cp") {
        return Hit::No;
    }
    // Whether the first is in the cloud or here: what follows says where it goes.
    let from = words.find(is_plain);
    yes_if(from.is_some() && words.any(in_cloud))
}

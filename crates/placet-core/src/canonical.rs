//! Canonical JSON: one text per value (RFC 8785), so that one value has one digest.
//!
//! One difference from the RFC, on purpose: integers are written exactly. The RFC sends every number through a double,
//! so the row ids 9007199254740993 and 9007199254740992 would share a digest, and approving the one would approve
//! the other. Integers up to 2^53 come out the same either way; a fraction-typed number beyond it is refused by
//! [`Args`](crate::call::Args), because its text could coincide with an exact integer's.

use serde_json::{Map, Number, Value};

/// The canonical text of a value.
pub fn to_string(value: &Value) -> String {
    let mut text = String::with_capacity(256);
    write_value(value, &mut text);
    text
}

fn write_value(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => write_number(number, out),
        Value::String(text) => write_text(text, out),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_value(item, out);
            }
            out.push(']');
        }
        Value::Object(fields) => write_object(fields, out),
    }
}

fn write_object(fields: &Map<String, Value>, out: &mut String) {
    let mut sorted: Vec<_> = fields.iter().collect();
    // The RFC orders names by UTF-16 code units, which differs from UTF-8 order beyond the basic plane.
    sorted.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
    out.push('{');
    for (index, (name, value)) in sorted.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_text(name, out);
        out.push(':');
        write_value(value, out);
    }
    out.push('}');
}

fn write_number(number: &Number, out: &mut String) {
    match (number.is_f64(), number.as_f64()) {
        (true, Some(double)) => out.push_str(ryu_js::Buffer::new().format(double)),
        _ => out.push_str(&number.to_string()),
    }
}

/// `serde_json` escapes exactly what the RFC escapes, in the same spelling.
fn write_text(text: &str, out: &mut String) {
    out.push_str(&Value::from(text).to_string());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn the_sample_of_the_rfc_comes_out_as_printed_there() {
        let value = json!({
            "numbers": [333_333_333.333_333_3, 1e30, 4.5, 2e-3, 1e-27],
            "string": "\u{20ac}$\u{f}\nA'B\"\\\\\"/",
            "literals": [null, true, false]
        });
        let expected = r#"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}"#;
        assert_eq!(to_string(&value), expected);
    }

    #[test]
    fn names_are_sorted_as_the_rfc_sorts_them() {
        let value =
            json!({"\u{20ac}": 1, "\r": 2, "\u{fb33}": 3, "1": 4, "\u{1f600}": 5, "\u{80}": 6, "\u{f6}": 7});
        assert_eq!(
            to_string(&value),
            "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"\u{f6}\":7,\"\u{20ac}\":1,\"\u{1f600}\":5,\"\u{fb33}\":3}"
        );
    }

    #[test]
    fn numbers_of_the_rfc_appendix_b() {
        for (bits, expected) in [
            (0x0000_0000_0000_0000, "0"),
            (0x8000_0000_0000_0000, "0"),
            (0x0000_0000_0000_0001, "5e-324"),
            (0x8000_0000_0000_0001, "-5e-324"),
            (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0x4340_0000_0000_0000, "9007199254740992"),
            (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
            (0x44b5_2d02_c7e1_4af6, "1e+23"),
            (0x444b_1ae4_d6e2_ef50, "1e+21"),
            (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
            (0x41b3_de43_5555_5555, "333333333.3333333"),
            (0x3ff0_0000_0000_0000, "1"),
        ] {
            assert_eq!(
                to_string(&json!(f64::from_bits(bits))),
                expected,
                "bits {bits:016x}"
            );
        }
    }

    #[test]
    fn neighbouring_64_bit_ids_have_different_texts() {
        assert_eq!(to_string(&json!(9_007_199_254_740_993_u64)), "9007199254740993");
        assert_eq!(to_string(&json!(i64::MIN)), "-9223372036854775808");
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-(1_i64 << 53)..=(1_i64 << 53)).prop_map(Value::from),
            any::<f64>()
                .prop_filter("finite", |n| n.is_finite())
                .prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 48, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_agrees_with_an_independent_implementation(value in any_json()) {
            prop_assert_eq!(to_string(&value), serde_json_canonicalizer::to_string(&value).unwrap());
        }

        #[test]
        fn it_reads_back_and_is_stable(value in any_json()) {
            let once = to_string(&value);
            let back: Value = serde_json::from_str(&once).unwrap();
            prop_assert_eq!(to_string(&back), once);
        }
    }
}

//! Encrypting a message for one device: `aes128gcm` with a key agreed on for this message alone (RFC 8188, RFC 8291).

use ring::aead::{AES_128_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral};
use ring::hkdf::{HKDF_SHA256, KeyType, Salt};
use ring::rand::{SecureRandom as _, SystemRandom};

/// An uncompressed P-256 point.
const POINT_BYTES: usize = 65;
const AUTH_BYTES: usize = 16;
const SALT_BYTES: usize = 16;
const KEY_BYTES: usize = 16;
/// Everything fits into one record of this size, which every push service takes.
const RECORD_BYTES: u32 = 4096;
/// Header, tag and delimiter leave this much.
const TEXT_BYTES_MAX: usize = 3900;
/// Ends the last record.
const LAST_RECORD: u8 = 2;

/// Why a message is not encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EncryptError {
    /// The device's key is not a point of the curve, or its secret has another length.
    #[error("the keys of the device cannot be used")]
    Keys,
    /// The message does not fit into one record.
    #[error("the message has more than {TEXT_BYTES_MAX} bytes")]
    TooLong,
    /// The machine gave no random numbers.
    #[error("there are no random numbers")]
    Random,
}

/// How many bytes are derived.
struct Bytes(usize);

impl KeyType for Bytes {
    fn len(&self) -> usize {
        self.0
    }
}

/// The body of a push message: salt, record size, our public key, and the one record.
pub fn encrypt(text: &[u8], device: &[u8], auth: &[u8]) -> Result<Vec<u8>, EncryptError> {
    if text.len() > TEXT_BYTES_MAX {
        return Err(EncryptError::TooLong);
    }
    if device.len() != POINT_BYTES || auth.len() != AUTH_BYTES {
        return Err(EncryptError::Keys);
    }
    let random = SystemRandom::new();
    let mut salt = [0; SALT_BYTES];
    random.fill(&mut salt).map_err(|_| EncryptError::Random)?;
    let ours = EphemeralPrivateKey::generate(&ECDH_P256, &random).map_err(|_| EncryptError::Random)?;
    let public = ours.compute_public_key().map_err(|_| EncryptError::Random)?;
    let peer = UnparsedPublicKey::new(&ECDH_P256, device);
    let info = [b"WebPush: info\0".as_slice(), device, public.as_ref()];
    let input = agree_ephemeral(ours, &peer, |shared| derive(auth, shared, &info, 32));
    let input = input.map_err(|_| EncryptError::Keys)??;
    let key = derive(&salt, &input, &[b"Content-Encoding: aes128gcm\0"], KEY_BYTES)?;
    let nonce = derive(&salt, &input, &[b"Content-Encoding: nonce\0"], NONCE_LEN)?;
    let key = UnboundKey::new(&AES_128_GCM, &key).map_err(|_| EncryptError::Keys)?;
    let nonce = Nonce::try_assume_unique_for_key(&nonce).map_err(|_| EncryptError::Keys)?;
    let mut record = text.to_vec();
    record.push(LAST_RECORD);
    LessSafeKey::new(key)
        .seal_in_place_append_tag(nonce, Aad::empty(), &mut record)
        .map_err(|_| EncryptError::Keys)?;
    let mut body = salt.to_vec();
    body.extend(RECORD_BYTES.to_be_bytes());
    body.push(u8::try_from(public.as_ref().len()).map_err(|_| EncryptError::Keys)?);
    body.extend(public.as_ref());
    body.extend(record);
    Ok(body)
}

fn derive(salt: &[u8], input: &[u8], info: &[&[u8]], bytes: usize) -> Result<Vec<u8>, EncryptError> {
    let mut derived = vec![0; bytes];
    Salt::new(HKDF_SHA256, salt)
        .extract(input)
        .expand(info, Bytes(bytes))
        .and_then(|key| key.fill(&mut derived))
        .map_err(|_| EncryptError::Keys)?;
    Ok(derived)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the browser does with a message, step by step as in RFC 8291.
    fn decrypt(body: &[u8], private: EphemeralPrivateKey, public: &[u8], auth: &[u8]) -> Vec<u8> {
        let (salt, rest) = body.split_at(SALT_BYTES);
        assert_eq!(rest[..4], RECORD_BYTES.to_be_bytes());
        assert_eq!(usize::from(rest[4]), POINT_BYTES);
        let (sender, record) = rest[5..].split_at(POINT_BYTES);
        let info = [b"WebPush: info\0".as_slice(), public, sender];
        let peer = UnparsedPublicKey::new(&ECDH_P256, sender);
        let input =
            agree_ephemeral(private, &peer, |shared| derive(auth, shared, &info, 32).unwrap()).unwrap();
        let key = derive(salt, &input, &[b"Content-Encoding: aes128gcm\0"], KEY_BYTES).unwrap();
        let nonce = derive(salt, &input, &[b"Content-Encoding: nonce\0"], NONCE_LEN).unwrap();
        let key = LessSafeKey::new(UnboundKey::new(&AES_128_GCM, &key).unwrap());
        let nonce = Nonce::try_assume_unique_for_key(&nonce).unwrap();
        let mut record = record.to_vec();
        let text = key.open_in_place(nonce, Aad::empty(), &mut record).unwrap();
        let (last, text) = text.split_last().unwrap();
        assert_eq!(*last, LAST_RECORD);
        text.to_vec()
    }

    #[test]
    fn only_the_device_can_read_a_message() {
        let random = SystemRandom::new();
        let private = EphemeralPrivateKey::generate(&ECDH_P256, &random).unwrap();
        let public = private.compute_public_key().unwrap();
        let auth = [7; AUTH_BYTES];
        let body = encrypt(b"a request needs your approval", public.as_ref(), &auth).unwrap();
        assert!(!body.windows(7).any(|bytes| bytes == b"request"));
        let text = decrypt(&body, private, public.as_ref(), &auth);
        assert_eq!(text, b"a request needs your approval");
    }

    #[test]
    fn keys_that_are_none_are_refused() {
        let point = [4; POINT_BYTES];
        assert_eq!(encrypt(b"x", &point, &[0; AUTH_BYTES]), Err(EncryptError::Keys));
        assert_eq!(
            encrypt(b"x", &point[..64], &[0; AUTH_BYTES]),
            Err(EncryptError::Keys)
        );
        assert_eq!(
            encrypt(&[0; 4000], &point, &[0; AUTH_BYTES]),
            Err(EncryptError::TooLong)
        );
    }
}

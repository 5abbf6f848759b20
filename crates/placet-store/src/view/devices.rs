//! Looking at the devices that are told of new requests.

use placet_core::ids::{ChatId, PersonId};
use placet_core::interaction::Locale;
use placet_core::push::Device;
use placet_core::time::Timestamp;

use super::{View, stored};
use crate::error::StoreError;
use crate::sql::{OptionalExtension as _, Row};

impl View<'_> {
    /// The devices, oldest first.
    pub(crate) fn devices(&self) -> Result<Vec<Device>, StoreError> {
        let sql = "SELECT id, person, credential, endpoint, key, auth, locale, added_at FROM devices ORDER BY added_at, id";
        self.conn.prepare_cached(sql)?.query_map([], device)
    }

    /// The key that signs what they are told.
    pub(crate) fn push_key(&self) -> Result<Option<Vec<u8>>, StoreError> {
        let mut statement = self.conn.prepare_cached("SELECT pkcs8 FROM push_key")?;
        let key = statement.query_row([], |row| Ok(row.bytes(0)?.to_vec()));
        key.optional()
    }
}

fn device(row: &Row<'_>) -> Result<Device, StoreError> {
    let locale = row.text(6)?;
    Ok(Device {
        id: stored(ChatId::new(row.get::<String>(0)?))?,
        person: stored(PersonId::new(row.get::<String>(1)?))?,
        credential: row.get(2)?,
        endpoint: row.get(3)?,
        key: row.bytes(4)?.to_vec(),
        auth: row.bytes(5)?.to_vec(),
        locale: [Locale::English, Locale::Chinese]
            .into_iter()
            .find(|known| known.tag() == locale)
            .ok_or_else(|| StoreError::corrupt(format!("`{locale}` is not a language")))?,
        added_at: Timestamp::from_millis(row.get(7)?),
    })
}

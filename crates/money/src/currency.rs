//! A currency by its ISO 4217 code; amounts of two currencies are never added.

use std::fmt;
use std::str::FromStr;

/// Three upper-case letters, as on the bill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency([u8; 3]);

/// The text is not a currency code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a three-letter currency code")]
pub struct CurrencyError {
    /// What was found.
    pub text: String,
}

impl Currency {
    /// ISO 4217's code for "no currency", the label of a figure over an empty store.
    pub const NONE: Self = Self(*b"XXX");

    /// The code, such as `USD`.
    pub fn code(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or("???")
    }

    /// Digits after the point in which this currency is shown and invoiced (ISO 4217 minor unit).
    pub fn minor_digits(&self) -> u32 {
        match self.code() {
            "JPY" | "KRW" | "VND" | "CLP" | "ISK" | "UGX" | "XAF" | "XOF" | "XPF" | "PYG" | "RWF" => 0,
            "BHD" | "IQD" | "JOD" | "KWD" | "LYD" | "OMR" | "TND" => 3,
            _ => 2,
        }
    }
}

impl FromStr for Currency {
    type Err = CurrencyError;

    fn from_str(text: &str) -> Result<Self, CurrencyError> {
        let upper = text.trim().to_ascii_uppercase();
        match <[u8; 3]>::try_from(upper.as_bytes()) {
            Ok(code) if code.iter().all(u8::is_ascii_uppercase) => Ok(Self(code)),
            Ok(_) | Err(_) => Err(CurrencyError { text: text.to_owned() }),
        }
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_read_and_anything_else_is_refused() {
        assert_eq!("usd".parse::<Currency>().unwrap().code(), "USD");
        assert!("US".parse::<Currency>().is_err());
        assert!("U$D".parse::<Currency>().is_err());
        assert!("".parse::<Currency>().is_err());
    }
}

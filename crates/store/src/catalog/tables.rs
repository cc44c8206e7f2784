//! The tables of the catalog, in SQL that SQLite and PostgreSQL take alike.

/// The statements that lead to each format from the one before it; the first makes the tables. Amounts are decimal text,
/// instants are microseconds since 1970 in UTC, lists are JSON.
pub(super) const FORMATS: &[&[&str]] = &[FORMAT_1, FORMAT_2, FORMAT_3, FORMAT_4, FORMAT_5, FORMAT_6];

/// How long the machines of an estimate were thought to run.
const FORMAT_6: &[&str] = &["ALTER TABLE estimates ADD COLUMN used_micros BIGINT"];

/// What imports remember of the places that they read.
const FORMAT_4: &[&str] = &["CREATE TABLE places (
        reader TEXT NOT NULL,
        source_name TEXT NOT NULL,
        place TEXT NOT NULL,
        read_at BIGINT NOT NULL,
        payload_version BIGINT NOT NULL,
        payload TEXT NOT NULL,
        PRIMARY KEY (reader, source_name, place)
    )"];

/// Lists of exchange rates.
const FORMAT_5: &[&str] = &[
    "CREATE TABLE rate_lists (
        id TEXT NOT NULL PRIMARY KEY,
        sequence BIGINT NOT NULL UNIQUE,
        source_id TEXT NOT NULL,
        place TEXT NOT NULL,
        arrived_at BIGINT NOT NULL,
        base_currency TEXT,
        first_day BIGINT,
        last_day BIGINT,
        rates BIGINT NOT NULL
    )",
    "CREATE TABLE current_rate_lists (
        source_id TEXT NOT NULL PRIMARY KEY,
        list_id TEXT NOT NULL REFERENCES rate_lists (id)
    )",
    "CREATE TABLE rate_rows (
        list_id TEXT NOT NULL REFERENCES rate_lists (id),
        rate_day BIGINT NOT NULL,
        from_currency TEXT NOT NULL,
        to_currency TEXT NOT NULL,
        rate TEXT,
        PRIMARY KEY (list_id, rate_day, from_currency, to_currency)
    )",
];

/// Price lists and estimates.
const FORMAT_3: &[&str] = &[
    "CREATE TABLE estimates (
        attempt_id TEXT NOT NULL,
        usage_day BIGINT NOT NULL,
        resource_kind TEXT NOT NULL,
        currency TEXT NOT NULL,
        provider TEXT NOT NULL,
        list_cost TEXT,
        effective_cost TEXT,
        price TEXT NOT NULL,
        made_at BIGINT NOT NULL,
        PRIMARY KEY (attempt_id, usage_day, resource_kind, currency)
    )",
    "CREATE TABLE price_lists (
        id TEXT NOT NULL PRIMARY KEY,
        sequence BIGINT NOT NULL UNIQUE,
        source_id TEXT NOT NULL,
        place TEXT NOT NULL,
        arrived_at BIGINT NOT NULL,
        published_at BIGINT,
        prices BIGINT NOT NULL,
        quarantined BIGINT NOT NULL
    )",
    "CREATE TABLE current_price_lists (
        source_id TEXT NOT NULL PRIMARY KEY,
        list_id TEXT NOT NULL REFERENCES price_lists (id)
    )",
    "CREATE TABLE price_rows (
        list_id TEXT NOT NULL REFERENCES price_lists (id),
        position BIGINT NOT NULL,
        payload_version BIGINT NOT NULL,
        payload TEXT NOT NULL,
        doubt TEXT,
        PRIMARY KEY (list_id, position)
    )",
];

/// What is known of a delivery beyond its totals: the quality of its bases, its credits by type, its export times.
const FORMAT_2: &[&str] = &["CREATE TABLE delivery_details (
        delivery_id TEXT NOT NULL PRIMARY KEY REFERENCES deliveries (id),
        payload_version BIGINT NOT NULL,
        payload TEXT NOT NULL
    )"];

const FORMAT_1: &[&str] = &[
    "CREATE TABLE IF NOT EXISTS format (
        id BIGINT NOT NULL PRIMARY KEY,
        version BIGINT NOT NULL
    )",
    "CREATE TABLE IF NOT EXISTS deliveries (
        id TEXT NOT NULL PRIMARY KEY,
        source_id TEXT NOT NULL,
        billing_period TEXT NOT NULL,
        sequence BIGINT NOT NULL UNIQUE,
        arrived_at BIGINT NOT NULL,
        place TEXT NOT NULL,
        currency TEXT NOT NULL,
        rows_read BIGINT NOT NULL,
        accepted BIGINT NOT NULL,
        rejected BIGINT NOT NULL,
        billed_total TEXT NOT NULL,
        effective_total TEXT NOT NULL,
        list_total TEXT NOT NULL,
        marginal_total TEXT NOT NULL,
        source_total TEXT NOT NULL,
        unpriced BIGINT NOT NULL,
        is_final BIGINT NOT NULL,
        days TEXT NOT NULL,
        split_rows BIGINT NOT NULL,
        capacity_block_rows BIGINT NOT NULL,
        reader_version TEXT NOT NULL,
        files TEXT NOT NULL
    )",
    "CREATE TABLE IF NOT EXISTS current_deliveries (
        source_id TEXT NOT NULL,
        billing_period TEXT NOT NULL,
        delivery_id TEXT NOT NULL REFERENCES deliveries (id),
        PRIMARY KEY (source_id, billing_period)
    )",
    "CREATE TABLE IF NOT EXISTS settlements (
        source_id TEXT NOT NULL,
        billing_period TEXT NOT NULL,
        delivery_id TEXT NOT NULL REFERENCES deliveries (id),
        inputs_hash TEXT NOT NULL,
        postings BIGINT NOT NULL,
        files TEXT NOT NULL,
        PRIMARY KEY (source_id, billing_period)
    )",
    "CREATE TABLE IF NOT EXISTS observations (
        id TEXT NOT NULL PRIMARY KEY,
        source_id TEXT NOT NULL,
        record_key TEXT NOT NULL,
        modified_at BIGINT,
        payload_version BIGINT NOT NULL,
        payload TEXT NOT NULL
    )",
    "CREATE TABLE IF NOT EXISTS imports (
        sequence BIGINT NOT NULL PRIMARY KEY,
        kind TEXT NOT NULL,
        place TEXT NOT NULL,
        arrived_at BIGINT NOT NULL,
        rows_read BIGINT NOT NULL,
        accepted BIGINT NOT NULL,
        rejected BIGINT NOT NULL,
        warnings TEXT NOT NULL
    )",
    "CREATE TABLE IF NOT EXISTS rejections (
        import BIGINT NOT NULL REFERENCES imports (sequence),
        position BIGINT NOT NULL,
        code TEXT NOT NULL,
        file TEXT NOT NULL,
        row_number BIGINT NOT NULL,
        column_name TEXT,
        found TEXT NOT NULL,
        expected TEXT NOT NULL,
        PRIMARY KEY (import, position)
    )",
];

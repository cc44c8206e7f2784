//! Where everything rests: charges and postings as Parquet in a folder, and a catalog that says what is current.
//!
//! A store is a folder. Deliveries of bills and observations of runs are only ever added; one commit moves staged
//! Parquet folders to their place and then switches the catalog in one transaction, so that a kill at any moment
//! leaves either the old state or the new one whole.

mod catalog;
mod change;
mod commit;
mod delivery;
mod error;
mod estimates;
#[cfg(test)]
mod fixture;
mod folder;
mod lock;
mod observation;
mod place;
mod postings;
mod prices;
mod rates;
mod rest;
mod staging;
mod sweep;
mod v1;
mod word;

/// A batch of charges, as Arrow has it.
pub use arrow::record_batch::RecordBatch;
pub use change::{Change, Committed, ImportRecord, REJECTIONS_MAX, Rejection};
pub use delivery::{
    BasisQuality, DeliveryDetails, DeliveryFacts, DeliveryKey, DeliveryRecord, DeliveryWriter,
    StagedDelivery, Totals,
};
pub use error::StoreError;
pub use estimates::EstimateRecord;
pub use lock::WriteLock;
pub use observation::observation_id;
pub use place::{PlaceKey, PlaceRead};
pub use postings::{SettlementRecord, StagedPostings, postings_schema};
pub use prices::{PriceArrival, PriceListRecord, StoredPrice};
pub use rates::{RateArrival, RateListRecord};
pub use rest::Store;

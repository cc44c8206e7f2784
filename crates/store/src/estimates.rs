//! Estimates: what an attempt was thought to cost on a day before its bill came; kept when the bill is there, so that the
//! difference can be told.

use ledger::{AttemptId, Day, ResourceKind, Timestamp};
use money::{Amount, Currency};

use crate::{Store, StoreError, WriteLock, catalog};

/// An estimate of one attempt, day and kind of resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EstimateRecord {
    /// The attempt.
    pub attempt: AttemptId,
    /// UTC day of use.
    pub day: Day,
    /// Kind of resource.
    pub resource_kind: ResourceKind,
    /// Currency of the amounts.
    pub currency: Currency,
    /// Whose bill will tell it, in lower case.
    pub provider: String,
    /// At public on-demand rates; `None` where there is no such price.
    pub list_cost: Option<Amount>,
    /// At the rate by which it was bought; `None` where there is no such price.
    pub effective_cost: Option<Amount>,
    /// Time billed of the machines, the attempt's share of them, in microseconds; `None` where no price at which they
    /// were bought is known.
    pub used_micros: Option<i64>,
    /// Source, file and row of the prices.
    pub price: String,
    /// When it was made.
    pub made_at: Timestamp,
}

impl Store {
    /// Keeps estimates; one of the same attempt, day, kind and currency takes the place of an earlier one. Those that no
    /// record supports any more are dropped.
    ///
    /// # Errors
    /// `ForeignLock`; else of the catalog. On any error the store is as it was.
    pub async fn keep_estimates(
        &self,
        lock: &WriteLock,
        estimates: &[EstimateRecord],
        dropped: &[&EstimateRecord],
    ) -> Result<(), StoreError> {
        lock.must_be_of(self.root())?;
        let mut transaction = self.pool.begin().await?;
        for estimate in dropped {
            catalog::drop_estimate(&mut transaction, estimate).await?;
        }
        for estimate in estimates {
            catalog::keep_estimate(&mut transaction, estimate).await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Every estimate that was kept, in order of attempt and day.
    ///
    /// # Errors
    /// `Damaged`, `UnknownWord`; else of the catalog.
    pub async fn estimates(&self) -> Result<Vec<EstimateRecord>, StoreError> {
        catalog::estimates(&self.pool).await
    }
}

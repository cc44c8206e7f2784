-- The totals of a FOCUS file, by the table "Costs of a row" of the reader `focus` in docs/sources.md.
--
-- Its sources:
--   meanings of the cost columns: <https://focus.finops.org/focus-specification/>, versions 1.0 to 1.2
--
-- Files with allocated charges (1.3) are refused here: which rows then count is not a matter of single rows.
--
-- column payer = BillingAccountId
-- column period_start = BillingPeriodStart
-- column charge_start = ChargePeriodStart
-- column currency = BillingCurrency
-- column category = ChargeCategory
-- column class = ChargeClass
-- column service = ServiceName
-- column commitment = CommitmentDiscountId
-- column commitment_status = CommitmentDiscountStatus
-- column reservation = CapacityReservationId
-- column reservation_status = CapacityReservationStatus
-- column pricing_category = PricingCategory
-- column unit_price = ListUnitPrice
-- column billed = BilledCost
-- column effective = EffectiveCost
-- column list = ListCost
-- column allocated_method = AllocatedMethodId
-- column allocated_resource = AllocatedResourceId

with typed as (
    select
        coalesce(nullif(nullif(payer, ''), 'NULL'), 'unknown') as payer,
        left(coalesce(nullif(nullif(period_start, ''), 'NULL'), charge_start), 7) as period,
        currency,
        lower(category) as category,
        lower(coalesce(class, '')) = 'correction' as is_correction,
        coalesce(service, '') as service,
        coalesce(commitment, '') not in ('', 'NULL') as has_commitment,
        coalesce(reservation, '') not in ('', 'NULL') as has_reservation,
        lower(coalesce(commitment_status, '')) = 'unused' as is_unused_commitment,
        lower(coalesce(reservation_status, '')) = 'unused' as is_unused_reservation,
        lower(coalesce(pricing_category, '')) = 'committed' as is_committed,
        exists (from present where name = 'unit_price') as tells_prices,
        try_cast(unit_price as decimal(38, 24)) as unit_price,
        try_cast(billed as decimal(38, 24)) as billed,
        try_cast(effective as decimal(38, 24)) as effective,
        try_cast(list as decimal(38, 24)) as list,
        if(coalesce(allocated_method, allocated_resource, '') in ('', 'NULL'), false,
            error('allocated charges are not summed here')) as is_allocated
    from bill
),
lines as (
    select
        *,
        service like '%Support' or service like 'AWS Support%' or service like '%Support Plan%' as is_support
    from typed
    where not is_allocated
)
select
    payer,
    period,
    currency,
    billed,
    case
        when category = 'purchase' and has_commitment and not is_correction and not is_support then 0
        else coalesce(effective, billed)
    end as effective,
    case
        when category <> 'usage' or is_correction or is_support then 0
        when tells_prices and unit_price is null then null
        else list
    end as list,
    case
        when category <> 'usage' or is_correction or is_support then 0
        when has_commitment or is_committed or is_unused_commitment or is_unused_reservation then 0
        else billed
    end as marginal
from lines

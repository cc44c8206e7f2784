-- The totals of an Azure cost export, by the table "Costs of a row" of the reader `azure-cost` in docs/sources.md.
--
-- Its sources:
--   columns: <https://learn.microsoft.com/azure/cost-management-billing/automate/understand-usage-details-fields>
--   actual and amortised cost:
--     <https://learn.microsoft.com/azure/cost-management-billing/reservations/understand-reserved-instance-usage-ea>
--
-- column payer = BillingAccountId
-- column subscription = SubscriptionId, SubscriptionGuid
-- column period_start = BillingPeriodStartDate, BillingPeriodStart
-- column date = Date, UsageDateTime, UsageDate
-- column currency = BillingCurrencyCode, BillingCurrency, Currency
-- column pricing_currency = PricingCurrency, PricingCurrencyCode
-- column charge_type = ChargeType
-- column pricing_model = PricingModel
-- column reservation = ReservationId
-- column benefit = BenefitId
-- column category = MeterCategory
-- column unit = UnitOfMeasure
-- column quantity = Quantity, UsageQuantity
-- column unit_price = UnitPrice
-- column effective_price = EffectivePrice
-- column retail_price = PayGPrice
-- column retail_cost = PaygCostInBillingCurrency
-- column cost = CostInBillingCurrency, PreTaxCost, Cost

with typed as (
    select
        coalesce(nullif(payer, ''), nullif(subscription, ''), 'unknown') as payer,
        coalesce(nullif(period_start, ''), date) as day,
        upper(currency) as currency,
        lower(coalesce(charge_type, '')) as charge_type,
        coalesce(category, '') as category,
        case
            when lower(pricing_model) in ('reservation', 'savingsplan') then true
            when lower(pricing_model) in ('ondemand', 'spot') then false
            else coalesce(reservation, '') <> '' or coalesce(benefit, '') <> ''
        end as has_commitment,
        lower(coalesce(nullif(pricing_currency, ''), currency)) = lower(currency) as is_priced_alike,
        -- Units in a block: 1 in `1 Hour`, 10 in `10 Hours`, 10000 in `10K`; null if that is no power of ten.
        regexp_extract(unit, '^(10*)([KMB]?)($|[ /])', ['number', 'factor', 'rest']) as block,
        try_cast(quantity as decimal(38, 24)) as quantity,
        try_cast(unit_price as decimal(38, 24)) as unit_price,
        try_cast(effective_price as decimal(38, 24)) as effective_price,
        try_cast(retail_price as decimal(38, 24)) as retail_price,
        try_cast(retail_cost as decimal(38, 24)) as retail_cost,
        try_cast(cost as decimal(38, 24)) as cost
    from bill
    where length(currency) = 3
),
sized as (
    select
        *,
        case when day like '%/%' then strftime(strptime(day, '%m/%d/%Y'), '%Y-%m') else left(day, 7) end as period,
        length(block.number) - 1 + case block.factor when 'K' then 3 when 'M' then 6 when 'B' then 9 else 0 end as zeros,
        category like '%Support' or category like 'AWS Support%' or category like '%Support Plan%' as is_support
    from typed
),
lines as (
    select
        *,
        charge_type in ('', 'usage') and not is_support as is_usage,
        case
            when zeros < 0 or not is_priced_alike then null
            when zeros = 0 then retail_price
            when unit_price = 0 or effective_price = 0 then null
            when abs(unit_price / power(10, zeros) - effective_price) <= abs(effective_price) / 100
                then cast(retail_price || 'e-' || zeros as decimal(38, 24))
            when abs(unit_price - effective_price) <= abs(effective_price) / 100 then retail_price
        end as retail
    from sized
)
select
    payer,
    period,
    currency,
    cost as billed,
    cost as effective,
    case
        when not is_usage then 0
        when retail_cost is not null then retail_cost
        when retail = 0 and (cost <> 0 or has_commitment) then null
        when retail <> cast(retail as decimal(38, 12)) or quantity <> cast(quantity as decimal(38, 12))
            then error('a product with more than 24 digits')
        else cast(retail as decimal(38, 12)) * cast(quantity as decimal(38, 12))
    end as list,
    case when is_usage and not has_commitment then cost else 0 end as marginal
from lines

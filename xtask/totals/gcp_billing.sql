-- The totals of a Google Cloud billing export, by the table "Costs of a row" of the reader `gcp-billing` in
-- docs/sources.md.
--
-- Its sources:
--   net cost is cost and Σ credits, and the types of credits:
--     <https://cloud.google.com/billing/docs/how-to/export-data-bigquery-tables/standard-usage>
--   commitments: <https://cloud.google.com/docs/cuds-multiprice-datamodel>
--
-- column payer = billing_account_id
-- column invoice_month = invoice.month
-- column usage_start = usage_start_time
-- column cost_type = cost_type
-- column service = service.description
-- column sku = sku.description
-- column resource = resource.global_name
-- column resource_name = resource.name
-- column usage_amount = usage.amount
-- column system_labels = system_labels
-- column subscription = subscription.instance_id
-- column model = consumption_model.description
-- column model_id = consumption_model.id
-- column currency = currency
-- column cost = cost
-- column cost_at_list = cost_at_list
-- column credits = credits

with typed as (
    select
        row_number() over () as number,
        coalesce(nullif(payer, ''), 'unknown') as payer,
        case
            when coalesce(invoice_month, '') <> '' then left(invoice_month, 4) || '-' || substr(invoice_month, 5, 2)
            else left(usage_start, 7)
        end as period,
        currency,
        coalesce(cost_type, '') as cost_type,
        coalesce(service, '') as service,
        coalesce(sku, '') as sku,
        coalesce(resource, resource_name, '') <> '' or coalesce(try_cast(usage_amount as double), 0) <> 0
            as has_usage,
        coalesce(subscription, '') <> '' as has_subscription,
        case
            when coalesce(model, '') <> '' then lower(model) <> 'default'
            else coalesce(model_id, '') not in ('', '7754-699E-0EBF')
        end as is_commitment_price,
        regexp_matches(coalesce(system_labels, ''),
            'is_unused_reservation["'']\s*,\s*["'']value["'']\s*:\s*["'']true') as is_unused,
        try_cast(cost as decimal(38, 24)) as cost,
        try_cast(cost_at_list as decimal(38, 24)) as cost_at_list,
        -- JSON, or the notation of Python; one credit alone or a list of them.
        case
            when coalesce(credits, '') in ('', 'null', 'None') then '[]'
            when json_valid(credits) then credits
            else replace(replace(credits, '''', '"'), 'None', 'null')
        end as credits
    from bill
),
credits as (
    select
        number,
        coalesce(nullif(credit ->> 'type', ''), 'CREDIT_TYPE_UNSPECIFIED') as type,
        cast(credit ->> 'amount' as decimal(38, 24)) as amount
    from (
        select
            number,
            unnest(case when json_type(credits) = 'ARRAY' then from_json(credits, '["json"]')
                else [json(credits)] end) as credit
        from typed
    )
),
credited as (
    select
        number,
        sum(amount) as amount,
        bool_or(type = 'FEE_UTILIZATION_OFFSET') as offsets_fee,
        bool_or(type in ('COMMITTED_USAGE_DISCOUNT', 'COMMITTED_USAGE_DISCOUNT_DOLLAR_BASE',
            'FEE_UTILIZATION_OFFSET')) as by_commitment
    from credits
    group by number
),
lines as (
    select
        typed.*,
        typed.cost + coalesce(credited.amount, 0) as net,
        is_commitment_price or coalesce(by_commitment, false) as is_covered,
        case
            when cost_type in ('tax', 'rounding_error', 'adjustment') then 'not usage'
            when sku like 'Commitment%' or coalesce(offsets_fee, false) then 'not usage'
            when has_subscription and not is_commitment_price and not coalesce(by_commitment, false) then 'not usage'
            when service like '%Support' or service like '%Support Plan%' then 'not usage'
            when cost_type not in ('', 'regular') and not has_usage then 'not usage'
            when is_unused then 'unused reservation'
            else 'usage'
        end as kind,
        service = 'Kubernetes Engine'
            and regexp_matches(lower(sku), 'kubernetes clusters|extended period|cluster management')
            or service in ('Compute Engine', 'Networking') and sku ilike '%nat gateway%' and sku ilike '%uptime%'
            as stands_anyway
    from typed left join credited using (number)
)
select
    payer,
    period,
    currency,
    net as billed,
    -- Credits that are no part of the price are charges of their own, and effective at their amount.
    net as effective,
    case when kind = 'not usage' then 0 else cost_at_list end as list,
    case when kind = 'usage' and not is_covered and not stands_anyway then net else 0 end as marginal
from lines

-- The totals of an AWS cost and usage report, by the table "Costs of a row" of the reader `aws-cur` in docs/sources.md.
--
-- Its sources:
--   amortised cost by line type: AWS, CUR query library <https://catalog.workshops.aws/cur-query-library>, and the view
--     `summary_view` of AWS's Cloud Intelligence Dashboards
--   columns: <https://docs.aws.amazon.com/cur/latest/userguide/table-dictionary-cur2.html>
--   split rows carry no money: <https://docs.aws.amazon.com/cur/latest/userguide/split-cost-allocation-data.html>
--
-- column payer = bill/PayerAccountId
-- column account = lineItem/UsageAccountId
-- column period_start = bill/BillingPeriodStartDate
-- column usage_start = lineItem/UsageStartDate
-- column currency = lineItem/CurrencyCode
-- column line_type = lineItem/LineItemType
-- column product = lineItem/ProductCode
-- column usage_type = lineItem/UsageType
-- column operation = lineItem/Operation
-- column description = lineItem/LineItemDescription
-- column resource = lineItem/ResourceId
-- column usage_amount = lineItem/UsageAmount
-- column service_code = product/servicecode
-- column unblended = lineItem/UnblendedCost
-- column net_unblended = lineItem/NetUnblendedCost
-- column public_cost = pricing/publicOnDemandCost
-- column reservation = reservation/ReservationARN
-- column ri_effective = reservation/EffectiveCost
-- column ri_net_effective = reservation/NetEffectiveCost
-- column ri_unused_upfront = reservation/UnusedAmortizedUpfrontFeeForBillingPeriod
-- column ri_net_unused_upfront = reservation/NetUnusedAmortizedUpfrontFeeForBillingPeriod
-- column ri_unused_recurring = reservation/UnusedRecurringFee
-- column ri_net_unused_recurring = reservation/NetUnusedRecurringFee
-- column plan = savingsPlan/SavingsPlanARN
-- column sp_effective = savingsPlan/SavingsPlanEffectiveCost
-- column sp_net_effective = savingsPlan/NetSavingsPlanEffectiveCost
-- column sp_total = savingsPlan/TotalCommitmentToDate
-- column sp_used = savingsPlan/UsedCommitment
-- column split_parent = splitLineItem/ParentResourceId

with typed as (
    select
        coalesce(nullif(payer, ''), nullif(account, ''), 'unknown') as payer,
        left(coalesce(nullif(period_start, ''), usage_start), 7) as period,
        currency,
        line_type,
        coalesce(product, '') as product,
        coalesce(usage_type, '') as usage_type,
        coalesce(operation, '') as operation,
        coalesce(description, '') as description,
        coalesce(service_code, '') as service_code,
        coalesce(resource, '') <> '' or coalesce(try_cast(usage_amount as double), 0) <> 0 as has_usage,
        coalesce(reservation, '') <> '' as has_reservation,
        coalesce(reservation, '') <> '' or coalesce(plan, '') <> '' as has_commitment,
        coalesce(split_parent, '') <> '' as has_split_parent,
        try_cast(unblended as decimal(38, 24)) as unblended,
        try_cast(net_unblended as decimal(38, 24)) as net_unblended,
        try_cast(public_cost as decimal(38, 24)) as public_cost,
        try_cast(ri_effective as decimal(38, 24)) as ri_effective,
        try_cast(ri_net_effective as decimal(38, 24)) as ri_net_effective,
        try_cast(ri_unused_upfront as decimal(38, 24)) as ri_unused_upfront,
        try_cast(ri_net_unused_upfront as decimal(38, 24)) as ri_net_unused_upfront,
        try_cast(ri_unused_recurring as decimal(38, 24)) as ri_unused_recurring,
        try_cast(ri_net_unused_recurring as decimal(38, 24)) as ri_net_unused_recurring,
        try_cast(sp_effective as decimal(38, 24)) as sp_effective,
        try_cast(sp_net_effective as decimal(38, 24)) as sp_net_effective,
        try_cast(sp_total as decimal(38, 24)) as sp_total,
        try_cast(sp_used as decimal(38, 24)) as sp_used
    from bill
),
-- Net columns are not used in a payer's period that tells its discounts as rows.
netted as (
    select
        *,
        not bool_or(line_type like '%Discount') over (partition by payer, period) as net,
        exists (from present where name = 'sp_effective') as tells_plans,
        exists (from present where name = 'ri_effective') as tells_reservations
    from typed
),
lines as (
    select
        *,
        case when net then coalesce(net_unblended, unblended) else unblended end as charged,
        case when net then coalesce(sp_net_effective, sp_effective) else sp_effective end as covered_by_plan,
        case when net then coalesce(ri_net_effective, ri_effective) else ri_effective end as covered_by_reservation,
        case when net then coalesce(ri_net_unused_upfront, ri_unused_upfront) else ri_unused_upfront end as unused_upfront,
        case when net then coalesce(ri_net_unused_recurring, ri_unused_recurring) else ri_unused_recurring end
            as unused_recurring,
        case
            when operation in ('EKSPod-EC2', 'ECSTask-EC2') then 'split'
            when has_split_parent and coalesce(unblended, 0) = 0 then 'split'
            when line_type in ('Fee', 'Refund') and usage_type like '%CapacityBlockFee%' and not has_commitment
                then 'not usage'
            when line_type in ('Tax', 'Credit', 'Refund', 'RIFee', 'Fee', 'SavingsPlanNegation',
                'SavingsPlanRecurringFee', 'SavingsPlanUpfrontFee') then 'not usage'
            when line_type like '%Discount' then 'not usage'
            when product = 'OCBPremiumSupport' or product like 'AWSSupport%' then 'not usage'
            when line_type not in ('Usage', 'DiscountedUsage', 'SavingsPlanCoveredUsage', 'FlatRateSubscription')
                and not has_usage then 'not usage'
            when operation like 'RunInstances:CB%' then 'capacity block'
            when usage_type like '%UnusedBox:%' or usage_type like '%UnusedDed:%' then 'unused reservation'
            else 'usage'
        end as kind,
        usage_type like '%SpotUsage%' or operation like 'RunInstances:SV%' as is_spot,
        line_type in ('SavingsPlanCoveredUsage', 'DiscountedUsage') as is_covered,
        service_code = 'AWSDataTransfer' or regexp_matches(usage_type,
            'DataTransfer|DataXfer|AWS-Out-|AWS-In-|S3RTC|CloudFront-Out') as is_transfer
    from netted
)
select
    payer,
    period,
    currency,
    case when kind = 'split' then 0 else unblended end as billed,
    case
        when kind = 'split' then 0
        when line_type = 'SavingsPlanCoveredUsage' and tells_plans then coalesce(covered_by_plan, unblended)
        when line_type = 'SavingsPlanRecurringFee' and tells_plans
            then coalesce(sp_total - coalesce(sp_used, 0), unblended)
        when line_type in ('SavingsPlanNegation', 'SavingsPlanUpfrontFee') and tells_plans then 0
        when line_type = 'Refund' and tells_plans and product like '%SavingsPlans'
            and description like 'Refund for one-time fee for Savings Plan ID%' then 0
        when line_type = 'DiscountedUsage' and tells_reservations
            then coalesce(covered_by_reservation, unblended)
        when line_type = 'RIFee' and tells_reservations
            then coalesce(coalesce(unused_upfront, 0) + unused_recurring, unused_upfront, unblended)
        when line_type = 'Fee' and tells_reservations and has_reservation then 0
        when line_type in ('SavingsPlanCoveredUsage', 'SavingsPlanRecurringFee', 'SavingsPlanNegation',
            'SavingsPlanUpfrontFee', 'DiscountedUsage', 'RIFee') then unblended
        else charged
    end as effective,
    case
        when kind in ('split', 'not usage') then 0
        when kind = 'capacity block' then null
        when public_cost > 0 and (unblended > 0 or is_covered) then public_cost
        when public_cost = 0 and unblended = 0 and not is_spot then 0
    end as list,
    case
        when kind <> 'usage' or is_covered or line_type = 'FlatRateSubscription' then 0
        when product in ('AmazonEC2', 'AmazonVPC', 'AWSELB') and usage_type like '%NatGateway-Hours%' then 0
        when product in ('AmazonEKS', 'AmazonECS') and not is_transfer
            and not regexp_matches(usage_type, 'Fargate|KS-EC2-|CS-EC2-|EKS-Auto:') then 0
        else unblended
    end as marginal
from lines

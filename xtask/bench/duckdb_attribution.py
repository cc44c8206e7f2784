"""The attribution in DuckDB: `run DIR` is its fastest SQL, which truncates every share; `exact DIR` is its fastest SQL for
the answer that we give, and compares it with ours, sum by sum. Both read a lean copy of the charges, which `lean DIR` makes
of a store's where the generator did not."""
import json, os, resource, sys, time

import duckdb

mode, data = sys.argv[1], sys.argv[2]
start = time.time()
c = duckdb.connect()
c.execute(f"set threads=2; set timezone='UTC'; set memory_limit='14GB'; set temp_directory='{data}/duckdb_tmp'")


def report(engine, **told):
    used = resource.getrusage(resource.RUSAGE_SELF)
    line = {"engine": engine, "seconds": round(time.time() - start, 2), "cpu": round(used.ru_utime + used.ru_stime, 2),
            "megabytes": round(used.ru_maxrss / 1024)}
    print(json.dumps(line | {name: str(value) for name, value in told.items()}))


if mode == "lean":
    os.makedirs(f"{data}/plain", exist_ok=True)
    c.execute(f"""
    copy (select resource_id::varchar line_item_resource_id, charge_period_start line_item_usage_start_date,
                 x_resource_kind::varchar kind, billed_cost::double line_item_unblended_cost
          from '{data}/charges/*.parquet') to '{data}/plain/part.parquet' (format parquet, compression zstd)""")
    sys.exit()

if mode == "run":
    # Hour buckets exploded and an equi-join in 64-bit integers of 10^-10: the fastest form that was found.
    c.execute(f"""
    create temp table res as
    with b as (select attempt_id, experiment_id, resource_id, gpus, capacity, epoch_us(start)//1000000 s, epoch_us("end")//1000000 e
               from '{data}/usage.parquet'),
    x as (select *, unnest(range(s//3600, (e-1)//3600+1)) h from b),
    share as (select attempt_id, experiment_id, resource_id, h, sum((least(e,(h+1)*3600)-greatest(s,h*3600))*gpus)::bigint w,
                     any_value(capacity)*3600 den from x group by all),
    li as (select line_item_resource_id r, epoch_us(line_item_usage_start_date)//3600000000 h, kind k,
                  round(line_item_unblended_cost*1e10)::bigint c from '{data}/plain/*.parquet')
    select attempt_id, experiment_id, k, sum((c*w)//den) v from li join share on r=resource_id and li.h=share.h group by all""")
    total = c.execute(f"select sum(round(line_item_unblended_cost*1e10)::bigint) from '{data}/plain/*.parquet'").fetchone()[0]
    attributed, groups = c.execute("select sum(v), count(*) from res").fetchone()
    c.execute("select experiment_id, k, sum(v) from res group by all").fetchall()
    report("DuckDB", attributed=attributed, total=total, groups=groups)
    sys.exit()

# The same answer in units of 10^-24, by the documented rule: each charge is cut by time over the held segments and the
# rest, each cut is shared by units held and the rest; both cuts by largest remainder, the earlier part on a tie. How an
# hour of a resource is cut and shared is worked out once; two parts are told by a comparison, and only three or more
# need a window function.
c.execute(f"""
create temp table held as select attempt_id a, resource_id r, epoch_us(start) s, epoch_us("end") e, gpus g, capacity cap
  from '{data}/usage.parquet' where start < "end";
create temp table seg as
  with border as (select distinct r, unnest([s, e]) t from held),
       pair as (select r, t f, lead(t) over (partition by r order by t) u from border)
  select r, f, u from pair where u is not null and exists (select 1 from held h where h.r = pair.r and h.s <= f and h.e >= u);
create temp table shares as
  with part as (select seg.r, f, a, g w, cap from seg join held h on h.r = seg.r and h.s <= f and h.e >= u),
       whole as (select r, f, a, w from part union all
                 select r, f, null, (any_value(cap) - sum(w))::integer from part group by r, f having any_value(cap) > sum(w))
  select r, f, a, w::hugeint w, (sum(w) over p)::hugeint d, count(*) over p n, row_number() over (p order by a nulls last) pos
  from whole window p as (partition by r, f);
create temp table cuts as
  with hour as (select r, f, u, unnest(range(f // 3600000000, (u - 1) // 3600000000 + 1)) h from seg),
       cut as (select r, h, f, least(u, (h + 1) * 3600000000) - greatest(f, h * 3600000000) len from hour),
       whole as (select r, h, f, len from cut union all
                 select r, h, null, (3600000000 - sum(len))::bigint from cut group by r, h having sum(len) < 3600000000)
  select r, h, f, len::hugeint len, count(*) over p2 n, row_number() over (p2 order by f nulls last) pos
  from whole window p2 as (partition by r, h);
create temp table answer as
with li as (select row_number() over () id, line_item_resource_id r, epoch_us(line_item_usage_start_date) // 3600000000 h, kind k,
                   round(line_item_unblended_cost * 1e10)::hugeint * 100000000000000::hugeint c
            from '{data}/plain/*.parquet' where line_item_resource_id is not null),
cut as (select id, k, r, f, n, pos, c, (c // 3600000000) * len + ((c % 3600000000) * len) // 3600000000 q,
               ((c % 3600000000) * len) % 3600000000 m from li join cuts using (r, h)),
sliced as (
  select id, k, r, f, case when n = 1 then c when m > 0 and (m > 3600000000 - m or (m = 3600000000 - m and pos = 1))
                           then q + 1 else q end c from cut where n < 3 and f is not null
  union all select id, k, r, f, c from (
    select id, k, r, f, q + (case when m > 0 and row_number() over (partition by id order by m desc, pos)
                                  <= c - sum(q) over (partition by id) then 1 else 0 end) c from cut where n > 2)
  where f is not null),
part as (select id, f, k, a, n, pos, d, c, (c // d) * w + ((c % d) * w) // d q, ((c % d) * w) % d m from sliced join shares using (r, f)),
landed as (
  select a, k, case when n = 1 then c when m > 0 and (m > d - m or (m = d - m and pos = 1)) then q + 1 else q end v
  from part where n < 3
  union all select a, k, q + (case when m > 0 and row_number() over (partition by id, f order by m desc, pos)
                                   <= c - sum(q) over (partition by id, f) then 1 else 0 end) v from part where n > 2)
select a, k, sum(v) v from landed where a is not null group by all""")
c.execute(f"create temp table ours as select * from read_csv('{data}/ours.csv', types={{'units': 'hugeint'}})")
rows, differ, off = c.execute("""
    with theirs as (select a, k, sum(v) v from answer group by all having sum(v) <> 0),
         mine as (select attempt a, kind k, units v from ours where units <> 0)
    select count(*), count(*) filter (where t.v is distinct from m.v), sum(abs(coalesce(t.v,0)-coalesce(m.v,0)))
    from theirs t full join mine m using (a, k)""").fetchone()
report("DuckDB, the same answer", compared=rows, different=differ, units_off=off)
sys.exit(1 if differ else 0)

"""The attribution in DuckDB: `run DIR` is its best SQL, `check DIR` recomputes our answer exactly, day by day."""
import json, resource, sys, time

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

# The exact answer in units of 10^-24, by the documented rule: each charge is cut by time over the held segments and
# the rest, each cut is shared by units held and the rest; both cuts by largest remainder, the earlier part on a tie.
c.execute(f"""
create temp table held as select attempt_id a, resource_id r, epoch_us(start) s, epoch_us("end") e, gpus g, capacity cap
  from '{data}/usage.parquet' where start < "end";
create temp table seg as
  with border as (select distinct r, unnest([s, e]) t from held),
       pair as (select r, t f, lead(t) over (partition by r order by t) u from border)
  select r, f, u from pair where u is not null and exists (select 1 from held h where h.r = pair.r and h.s <= f and h.e >= u);
create temp table part as select seg.r, f, u, a, g, cap from seg join held h on h.r = seg.r and h.s <= f and h.e >= u;
create temp table answer (a integer, k varchar, v hugeint)""")
days = [row[0] for row in c.execute(
    f"select distinct epoch_us(line_item_usage_start_date)//86400000000 d from '{data}/plain/*.parquet' order by d").fetchall()]
for day in days:
    c.execute(f"""
    insert into answer
    with li as (select row_number() over () id, line_item_resource_id r, epoch_us(line_item_usage_start_date) s,
                       epoch_us(line_item_usage_end_date) e, kind k,
                       round(line_item_unblended_cost*1e10)::hugeint * 100000000000000::hugeint c
                from '{data}/plain/*.parquet'
                where line_item_resource_id is not null and epoch_us(line_item_usage_start_date)//86400000000 = {day}),
    near as (select * from seg where u > {day}*86400000000 and f < ({day}+1)*86400000000),
    cut as (select id, k, c, s, e, li.r r, f, least(u,e)-greatest(f,s) len from li join near on li.r = near.r and f < e and u > s),
    cuts as (select id, k, c, r, f, len, e-s whole from cut
             union all select id, any_value(k), any_value(c), any_value(r), null, any_value(e-s)-sum(len)::bigint, any_value(e-s) from cut group by id),
    floors as (select *, (c // whole) * len + ((c % whole) * len) // whole q, ((c % whole) * len) % whole m from cuts),
    sliced as (select id, k, r, f, q + (case when row_number() over (partition by id order by m desc, f nulls last)
                 <= c - sum(q) over (partition by id) and m > 0 then 1 else 0 end) c from floors),
    shares as (select id, sliced.k, c, part.a, part.g w, cap, f from sliced join part using (r, f)),
    all_shares as (select id, f, k, c, a, w from shares
             union all select id, f, any_value(k), any_value(c), null, greatest(any_value(cap)-sum(w), 0)::integer from shares group by id, f),
    den as (select *, sum(w) over (partition by id, f) d from all_shares),
    f2 as (select *, (c // d) * w + ((c % d) * w) // d q, ((c % d) * w) % d m from den),
    out as (select a, k, q + (case when row_number() over (partition by id, f order by m desc, a nulls last)
                 <= c - sum(q) over (partition by id, f) and m > 0 then 1 else 0 end) v from f2)
    select a, k, sum(v) from out where a is not null group by all""")
c.execute(f"create temp table ours as select * from read_csv('{data}/ours.csv', types={{'units': 'hugeint'}})")
rows, differ, off = c.execute("""
    with theirs as (select a, k, sum(v) v from answer group by all having sum(v) <> 0),
         mine as (select attempt a, kind k, units v from ours where units <> 0)
    select count(*), count(*) filter (where t.v is distinct from m.v), sum(abs(coalesce(t.v,0)-coalesce(m.v,0)))
    from theirs t full join mine m using (a, k)""").fetchone()
report("exact check by DuckDB", compared=rows, different=differ, units_off=off)
sys.exit(1 if differ else 0)

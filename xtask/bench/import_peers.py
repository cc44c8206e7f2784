"""A report read and written as Parquet by a peer: `ENGINE BILL FOLDER`, ENGINE one of duckdb, polars, pyarrow; prints a JSON line.

Each reads the columns of the report that are not empty, as text, instants and costs as Decimal(38, 24), and writes them
under Zstandard level 1 with dictionaries. None values a row, checks it or keeps its place; a cost that arrives as a double
becomes the decimal of its binary value."""
import glob, json, os, resource, sys, time

engine, bill, folder = sys.argv[1:]
start = time.time()
os.makedirs(folder, exist_ok=True)
out = f"{folder}/charges.parquet"

CUR2 = [
    "identity_line_item_id", "identity_time_interval", "bill_payer_account_id", "bill_billing_entity", "bill_bill_type",
    "bill_invoice_id", "bill_billing_period_start_date", "line_item_usage_account_id", "line_item_line_item_type",
    "line_item_usage_start_date", "line_item_usage_end_date", "line_item_product_code", "line_item_usage_type",
    "line_item_operation", "line_item_resource_id", "line_item_usage_amount", "line_item_unblended_rate",
    "line_item_unblended_cost", "line_item_currency_code", "pricing_public_on_demand_cost", "pricing_term", "pricing_unit",
    "product_instance_type", "product_region_code", "savings_plan_savings_plan_effective_cost", "reservation_effective_cost",
]
LEGACY = {"identity": "identity", "bill": "bill", "line_item": "lineItem", "pricing": "pricing", "product": "product",
          "savings_plan": "savingsPlan", "reservation": "reservation"}
TAGS = ["resourceTags/user:team", "resourceTags/user:experiment", "resourceTags/user:env"]


def legacy(name):
    family = next(family for family in LEGACY if name.startswith(family + "_"))
    return LEGACY[family] + "/" + name[len(family) + 1:]


csv = bill.endswith(".csv.gz")
parquet = sorted(glob.glob(f"{bill}/*.parquet"))
columns = [legacy(name) for name in CUR2] + TAGS if csv else CUR2 + ["resource_tags"]
times = [name for name in columns if name.endswith("_date")]
costs = [name for name in columns if name.endswith("_cost")]
amount = next(name for name in columns if name.endswith("usage_amount"))
cost = next(name for name in costs if "unblended" in name)


def with_duckdb():
    import duckdb
    c = duckdb.connect()
    c.execute(f"set threads=2; set timezone='UTC'; set memory_limit='14GB'; set temp_directory='{folder}/tmp'")
    if csv:
        kinds = {name: "TIMESTAMP" for name in times} | {name: "DECIMAL(38,24)" for name in costs} | {amount: "DOUBLE"}
        header = read_header()
        given = {name: kinds.get(name, "VARCHAR") for name in header}
        source = f"read_csv('{bill}', header=true, columns={given}, auto_detect=false, delim=',', quote='\"', escape='\"')"
        shown = ", ".join(f'"{name}"' for name in columns)
    else:
        source = f"read_parquet({parquet})"
        shown = ", ".join(f'{name}::decimal(38,24) {name}' if name in costs else name for name in columns)
    options = "format parquet, compression zstd, compression_level 1, row_group_size 1048576"
    # Order need not be kept, which spares it the memory of waiting rows.
    c.execute("set preserve_insertion_order=false")
    c.execute(f"copy (select {shown} from {source}) to '{out}' ({options})")
    return c.execute(f"""select count(*), sum("{cost}") from '{out}'""").fetchone()


def with_polars():
    os.environ["POLARS_MAX_THREADS"] = "2"
    import polars as pl
    decimal = pl.Decimal(38, 24)
    if csv:
        given = {name: decimal for name in costs} | {amount: pl.Float64}
        given = {name: given.get(name, pl.String) for name in read_header()}
        lines = pl.scan_csv(bill, schema=given).select(columns)
        lines = lines.with_columns(pl.col(times).str.to_datetime("%Y-%m-%dT%H:%M:%S%.3fZ", time_unit="us"))
    else:
        lines = pl.scan_parquet(parquet).select(columns).with_columns(pl.col(costs).cast(decimal))
    lines.sink_parquet(out, compression="zstd", compression_level=1, row_group_size=1 << 20)
    return pl.scan_parquet(out).select(pl.len(), pl.col(cost).sum()).collect().row(0)


def with_pyarrow():
    import pyarrow as pa, pyarrow.compute as pc, pyarrow.parquet as pq
    pa.set_cpu_count(2)
    pa.set_io_thread_count(2)
    decimal = pa.decimal128(38, 24)
    rows, total, writer = 0, 0, None
    for batch in arrow_csv(pa, decimal) if csv else arrow_parquet(pa, pc, pq, decimal):
        writer = writer or pq.ParquetWriter(out, batch.schema, compression="zstd", compression_level=1)
        writer.write_batch(batch, row_group_size=1 << 20)
        rows, total = rows + batch.num_rows, total + (pc.sum(batch.column(cost)).as_py() or 0)
    writer.close()
    return rows, total


def arrow_csv(pa, decimal):
    from pyarrow import csv as arrow
    kinds = {name: pa.timestamp("us", "UTC") for name in times} | {name: decimal for name in costs} | {amount: pa.float64()}
    text = pa.dictionary(pa.int32(), pa.string())
    kinds = {name: kinds.get(name, pa.string() if name.endswith("line_item_id") else text) for name in columns}
    convert = arrow.ConvertOptions(column_types=kinds, include_columns=columns, strings_can_be_null=True)
    return arrow.open_csv(bill, arrow.ReadOptions(block_size=8 << 20), convert_options=convert)


def arrow_parquet(pa, pc, pq, decimal):
    texts = [name for name in CUR2 if name not in times + costs + [amount, "identity_line_item_id"]]
    for part in parquet:
        read = pq.ParquetFile(part, read_dictionary=texts)
        for batch in read.iter_batches(batch_size=1 << 17, columns=columns):
            for name in costs:
                at = batch.schema.get_field_index(name)
                batch = batch.set_column(at, name, pc.cast(batch.column(at), decimal, safe=False))
            yield batch


def read_header():
    import csv as text, gzip
    with gzip.open(bill, "rt") as lines:
        return next(text.reader(lines))


rows, total = {"duckdb": with_duckdb, "polars": with_polars, "pyarrow": with_pyarrow}[engine]()
used = resource.getrusage(resource.RUSAGE_SELF)
name = {"duckdb": "DuckDB", "polars": "Polars", "pyarrow": "pyarrow"}[engine]
print(json.dumps({"engine": name, "seconds": round(time.time() - start, 2), "cpu": round(used.ru_utime + used.ru_stime, 2),
                  "megabytes": round(used.ru_maxrss / 1024), "rows": str(rows), "billed_total": str(total),
                  "written": str(os.path.getsize(out))}))

"""Totals of bills by DuckDB: a file of cases as JSON, one JSON line for each payer, period and currency on standard output.

A case is `{"name": …, "sql": PATH, "files": [PATH, …]}`. The files are shown to the SQL as the table `bill` with the
columns that the SQL asks for in comments `-- column NAME = SPELLING, …`, every one as text, and as null where the files
lack it; the table `present` lists those that are there. A double of a Parquet file is told by its shortest text, as it
would stand in a CSV. The SQL gives each row's payer, period, currency and costs, which are summed here; a list cost of
null is that of a row without a price."""
import json, re, sys
from decimal import Decimal

import duckdb

SUMS = """select payer, period, currency, sum(billed) as billed, sum(effective) as effective,
coalesce(sum(list), 0) as list, sum(marginal) as marginal, count(*) filter (list is null) as unpriced
from ({}) group by all order by all"""


def squashed(name):
    return re.sub("[^a-z0-9]", "", name.lower())


def quoted(text, sign="'"):
    return sign + text.replace(sign, sign * 2) + sign


def scan(files):
    listed = "[" + ", ".join(map(quoted, files)) + "]"
    if files[0].endswith(".parquet"):
        return f"read_parquet({listed}, union_by_name = true)"
    return (f"read_csv({listed}, all_varchar = true, header = true, delim = ',', quote = '\"', escape = '\"', "
            "strict_mode = false, null_padding = true, union_by_name = true)")


def select(database, files, columns):
    """The query behind `bill`, and the names of the columns that the files have."""
    if files[0].endswith(".jsonl"):
        listed = "[" + ", ".join(map(quoted, files)) + "]"
        shown = ", ".join(f"json ->> {quoted('$.' + spellings[0])} as {name}" for name, spellings in columns.items())
        return f"select {shown} from read_ndjson_objects({listed})", list(columns)
    source = scan(files)
    database.execute(f"describe select * from {source}")
    headers = {squashed(row[0]): row[0] for row in database.fetchall()}
    shown, present = [], []
    for name, spellings in columns.items():
        found = next((headers[squashed(s)] for s in spellings if squashed(s) in headers), None)
        shown.append(f"{'null' if found is None else quoted(found, chr(34))}::varchar as {name}")
        present += [] if found is None else [name]
    return f"select {', '.join(shown)} from {source}", present


def totals(case):
    sql = open(case["sql"]).read()
    asked = re.findall(r"^-- column (\w+) = (.+)$", sql, re.MULTILINE)
    columns = {name: [spelling.strip() for spelling in spellings.split(",")] for name, spellings in asked}
    database = duckdb.connect(config={"threads": 1})
    query, present = select(database, case["files"], columns)
    database.execute(f"create table bill as {query}")
    database.execute("create table present (name varchar)")
    database.executemany("insert into present values (?)", [[name] for name in present] or [[""]])
    result = database.execute(SUMS.format(sql))
    names = [column[0] for column in result.description]
    for row in result.fetchall():
        told = {name: format(value, "f") if isinstance(value, Decimal) else str(value) for name, value in zip(names, row)}
        print(json.dumps({"name": case["name"]} | told))


for case in json.load(open(sys.argv[1])):
    totals(case)

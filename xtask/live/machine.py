"""Stands in for what a machine with accelerators tells of itself, on a free port of 127.0.0.1 that it prints.

`/metrics` has metrics as DCGM's exporter names them, of the two accelerators of the node. The argument is the folder of
the exporter's job mapping: a file there is called like an accelerator, and its lines are the jobs that hold it.
`/<number>/latest/…` is the metadata service of a machine of AWS (version 2), another one for each number; machine 0 is
a spot instance."""
import http.server
import json
import pathlib
import sys

JOBS = pathlib.Path(sys.argv[1])
HOST = sys.argv[2]
# Of a metric: its kind, what it is when a job holds the accelerator, and what otherwise.
METRICS = {
    "DCGM_FI_DEV_GPU_UTIL": ("gauge", "87", "0"),
    "DCGM_FI_DEV_FB_USED": ("gauge", "30210", "4"),
    "DCGM_FI_DEV_POWER_USAGE": ("gauge", "312.5", "52.25"),
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE": ("gauge", "0.875", "0"),
    # What DCGM writes for a field that it cannot read.
    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": ("gauge", "9223372036854775794", "9223372036854775794"),
}


def holders(gpu):
    try:
        return (JOBS / str(gpu)).read_text(encoding="utf-8").split() or [None]
    except FileNotFoundError:
        return [None]


def metrics():
    lines = []
    for name, (kind, held, free) in METRICS.items():
        lines.append(f"# TYPE {name} {kind}")
        for gpu in range(2):
            for job in holders(gpu):
                labels = {
                    "gpu": gpu,
                    "UUID": f"GPU-00000000-0000-0000-0000-00000000000{gpu}",
                    "device": f"nvidia{gpu}",
                    "modelName": "NVIDIA A100-SXM4-40GB",
                    "Hostname": HOST,
                }
                if job:
                    labels["hpc_job"] = job
                text = ",".join(f'{key}="{value}"' for key, value in labels.items())
                lines.append(f"{name}{{{text}}} {held if job else free}")
    return "\n".join(lines) + "\n"


def metadata(path):
    number, _, asked = path.lstrip("/").partition("/")
    if asked == "latest/dynamic/instance-identity/document":
        return json.dumps({"instanceId": f"i-{number:0>17}", "instanceType": "p4d.24xlarge", "region": "us-east-1"})
    if asked == "latest/meta-data/instance-life-cycle":
        return "spot" if number == "0" else "on-demand"
    return None


class Machine(http.server.BaseHTTPRequestHandler):
    def answer(self, text):
        body = (text or "").encode()
        self.send_response(404 if text is None else 200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(metrics() if self.path == "/metrics" else metadata(self.path))

    def do_PUT(self):
        self.answer("token" if self.path.endswith("/latest/api/token") else None)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[3])), Machine)
server.serve_forever()

"""Reads reports and logs the way scripts around fio do, and prints one line of facts for each job and direction.

usage: report.py REPORT.json TERSE LOGPREFIX
"""
import csv
import json
import sys


def rows(path):
    with open(path) as f:
        data = json.load(f)
    assert data["fio version"].startswith("fio-3.")
    defaults = data.get("global options", {})
    for job in data["jobs"]:
        options = dict(defaults, **job.get("job options", {}))
        for direction in ("read", "write"):
            side = job[direction]
            if side["total_ios"] == 0:
                continue
            yield {
                "job": job["jobname"],
                "rw": options["rw"],
                "iodepth": int(options.get("iodepth", 1)),
                "bs": options["bs"],
                "dir": direction,
                "ios": side["total_ios"],
                "bytes": side["io_bytes"],
                "kbytes": side["io_kbytes"],
                "runtime": side["runtime"],
                "bw": side["bw"],
                "iops": float(side["iops"]),
                "lat_us": side["lat_ns"]["mean"] / 1000,
                "lat_stddev": side["lat_ns"]["stddev"],
                "p99_us": side["clat_ns"]["percentile"]["99.000000"] / 1000,
                "p999_us": side["clat_ns"]["percentile"]["99.900000"] / 1000,
                "max_ms": side["lat_ns"]["max"] / 1e6,
                "cpu": job["usr_cpu"] + job["sys_cpu"],
                "below_us": sum(job["latency_ns"].values()) + sum(job["latency_us"].values()) + sum(job["latency_ms"].values()),
                "depth1": job["iodepth_level"]["1"],
                "bins": sum(side["clat_ns"].get("bins", {}).values()),
            }


def terse(path):
    with open(path) as f:
        for line in f:
            field = line.strip().split(";")
            if field[0] != "3":
                continue
            yield {"job": field[2], "read_kb": int(field[5]), "read_bw": int(field[6]), "read_iops": int(field[7]),
                   "read_ms": int(field[8]), "write_kb": int(field[46]), "write_iops": int(field[48]),
                   "p99": field[29], "cpu": float(field[87].rstrip("%"))}


def log(path):
    with open(path) as f:
        for line in csv.reader(f, skipinitialspace=True):
            yield int(line[0]), int(line[1]), int(line[2]), int(line[3]), int(line[4])


def main():
    report, terse_file, prefix = sys.argv[1:]
    lines = {t["job"]: t for t in terse(terse_file)}
    for row in rows(report):
        t = lines[row["job"]]
        side = row["dir"]
        assert t[side + "_kb"] == row["kbytes"], (t, row)
        assert t[side + "_iops"] == int(row["iops"]), (t, row)
        assert abs(row["below_us"] - 100) < 0.5, row
        assert row["bins"] == row["ios"], row
        assert row["bytes"] == row["ios"] * 4096, row
        number = list(lines).index(row["job"]) + 1
        samples = [s for s in log("%s_lat.%d.log" % (prefix, number)) if s[2] == (0 if side == "read" else 1)]
        assert len(samples) == row["ios"], (len(samples), row)
        assert all(s[3] == 4096 for s in samples)
        assert samples == sorted(samples, key=lambda s: s[0])
        mean = sum(s[1] for s in samples) / len(samples)
        assert abs(mean / 1000 - row["lat_us"]) < 0.001, (mean, row)
        print("%s %s %s %s %d %d %d" % (row["job"], side, row["rw"], row["bs"], row["iodepth"], row["ios"], row["bytes"]))


main()

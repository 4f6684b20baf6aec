"""The report of a model and its run: small, whole without scripts or network, and of what was recorded."""

import contextlib
import json
import re
import shlex
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.testing import assert_array_equal

from streamsieve import OFSARegressor, SGDRegressor, load, read_checkpoint, save
from streamsieve.cli import main
from streamsieve.core.rows import as_rows
from streamsieve.methods import method_class
from streamsieve.training.model import Model
from streamsieve.training.trace import MOST, Trace, drift
from streamsieve.training.trainer import Block, Trainer

pytest.importorskip("jinja2", reason="the extra 'report' is not installed")
pytest.importorskip("matplotlib", reason="the extra 'report' is not installed")

from streamsieve.cli.page_server import CheckpointPage, PageServer
from streamsieve.report import page


def good(*words):
    done = CliRunner().invoke(main, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done


@pytest.fixture
def rows(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 8)).round(3)
    y = (X[:, 2] - 2 * X[:, 5] + 0.1 * rng.normal(size=6000)).round(3)
    text = ["<a>,b,c,d,e,f,g,h,y"] + [",".join(map(str, (*row, t))) for row, t in zip(X, y)]
    (tmp_path / "rows.csv").write_text("\n".join(text) + "\n")
    return tmp_path / "rows.csv"


def test_fit_and_select_write_a_report(rows, tmp_path):
    words = [rows, "--target", "y", "-k", 2, "--method", "ofsa", "-q"]
    good("fit", *words, "-o", tmp_path / "m", "--report", tmp_path / "fit.html", "--hold-out", 5)
    good("select", *words, "--report", tmp_path / "select.html")
    good("select", tmp_path / "m", "-k", 3, "--report", tmp_path / "again.html")
    html = (tmp_path / "fit.html").read_text()
    for text in ("y: 2 of 8 features", "R² on new rows", "How many features?", "RMSE", "rows skipped"):
        assert text in html
    assert "sum of the weights" not in html  # every row counts once
    assert "3 of 8 features" in (tmp_path / "again.html").read_text()
    assert "Along the run" not in (tmp_path / "select.html").read_text()  # one point is no curve


def test_a_report_begins_with_quality_and_says_what_was_left_out_and_why(tmp_path):
    rng = np.random.default_rng(0)
    lines = ["id,size,kind,always,bought"]
    for i in range(400):
        size, kind = rng.normal(), rng.choice(["a", "b", "c"])
        bought = "yes" if size + (kind == "b") + 0.5 * rng.normal() > 0.3 else "no"
        lines.append(f"u{i:04d},{size:.3f},{kind},1,{bought}")
    (tmp_path / "shop.csv").write_text("\n".join(lines) + "\n")
    good("fit", tmp_path / "shop.csv", "--target", "bought", "-o", tmp_path / "m", "-q",
         "--report", tmp_path / "r.html")  # fmt: skip
    html = (tmp_path / "r.html").read_text()
    heads = re.findall(r"<h2[^>]*>([^<]*)", html)
    assert heads[1:4] == ["How good is it?", "What was selected", "How sure is the selection?"]
    left_out = html[html.index("What was left out, and why") :].partition("</table>")[0]
    assert "<td>id<td>identifier" in left_out
    assert "<td>always<td>constant" in left_out
    assert "size" not in left_out
    assert "calibration of yes" in html
    assert html.count('role="img"') == 1  # the calibration; no chart of a single point


def test_a_report_shows_how_the_selection_depends_on_the_rows_and_the_values_of_features(tmp_path):
    rng = np.random.default_rng(0)
    lines = ["size,kind,y", *(f"{x:.3f},{rng.choice(['a', 'b', 'b'])},{x + rng.normal():.3f}"
                              for x in rng.exponential(size=500))]  # fmt: skip
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    words = [tmp_path / "t.csv", "--target", "y", "-k", 2, "-q", "--report", tmp_path / "r.html"]
    good("fit", *words, "-o", tmp_path / "m")
    html = (tmp_path / "r.html").read_text()
    assert "2 of the 2 features were selected every time" in html
    assert html.count("<td>5 of 5") == 2
    assert html.count("<td class=values><svg") == 1  # bars of the number
    assert re.search("<td class=values>[36]. %", html)  # share of the category
    found = read_checkpoint(tmp_path / "m").about["selection"]
    done = good("fit", *words[:-3], "-o", tmp_path / "m")
    assert "Selected: size, kind=a." in done.stderr
    assert found["folds"] == [[0, 1]] * 5
    assert sum(found["histograms"]["0"]) == 500
    good("select", *words, "--hold-out", 0)  # asks for no second model
    assert "selected every time" not in (tmp_path / "r.html").read_text()


def test_a_report_names_features_that_only_some_repetitions_select():
    model = learn("SFSA", None)  # selects 1 and 4
    model.about["selection"] = {"folds": [[1, 4], [1, 3], [1, 4], [1, 2], [1, 3]], "histograms": {}}
    html = page(model)
    assert "1 of the 2 features were selected every time" in html
    assert "3 (2 of 5), 2 (1 of 5)" in html
    assert "<td>2 of 5" in html


def test_bars_show_intervals_in_their_own_unit(rows, tmp_path):
    good("select", rows, "--target", "y", "--method", "olsth", "-k", 2, "--report", tmp_path / "r.html", "-q")
    html = (tmp_path / "r.html").read_text()
    found = re.findall(
        r'<td class=(\w+) style="--w:([\d.]+)%"><i style="left:([\d.]+)%;width:([\d.]+)%">', html
    )
    assert len(found) == 2
    for side, width, left, span in found:
        end = 50 + float(width) if side == "up" else 50 - float(width)
        assert float(left) - 0.1 <= end <= float(left) + float(span) + 0.1


def test_without_history_nothing_is_recorded(rows, tmp_path):
    words = ["select", rows, "--target", "y", "-k", 2, "--method", "sfsa", "-q", "--no-history"]
    good(*words, "--report", tmp_path / "r.html")
    assert "Along the run" not in (tmp_path / "r.html").read_text()


def test_a_report_needs_no_network_and_no_script(rows, tmp_path):
    good("select", rows, "--target", "y", "--method", "ofsa", "-k", 2, "--report", tmp_path / "r.html", "-q")
    html = (tmp_path / "r.html").read_text()
    assert not re.findall(r"(?:src|href)=.(?:https?:)?//|url\([^#]|@import", html)
    assert "default-src 'none'" in html
    still = re.sub(r"<script>.*?</script>", "", html, flags=re.S)
    assert re.findall(r"<tr><td>1<td>f<td>−[12]", still)  # the table is there, and the names of the lines
    assert "<title>f</title>" in still
    assert "prefers-color-scheme: dark" in still
    assert "@media print" in still


def test_names_are_escaped(rows, tmp_path):
    words = ["--target", "y", "--method", "olsth", "-k", 8, "--report", tmp_path / "r.html", "-q"]
    good("select", rows, *words)
    html = (tmp_path / "r.html").read_text()
    assert "<a>" not in html
    assert "&lt;a&gt;" in html


def test_the_command_makes_the_same_model(rows, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = [rows.name, "--target", "y", "--drop", "b,g", "--limit", 4000, "--method", "sfsa", "-k", 2]
    good("fit", *words, "--set", "annealing=5", "-o", "m", "--report", "r.html", "-q")
    command = re.search(r"<pre><code>(.*?)</code>", (tmp_path / "r.html").read_text())[1]
    said = shlex.split(command.replace("&#39;", "'"))
    assert said[:2] == ["streamsieve", "fit"]
    good(*said[1:])
    assert_array_equal(load("model.sieve").coef_, load("m").coef_)


def test_ten_thousand_features_take_less_than_two_megabytes():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 10_000)).astype(np.float32)
    model = SGDRegressor().fit(X, X[:, 0])
    html = page(model)
    assert html.count("<tr>") == 10_001
    assert len(html.encode()) < 2e6
    averages = OFSARegressor(20).fit(rng.normal(size=(600, 400)), rng.normal(size=600))
    assert len(page(averages).encode()) < 2e6


# -------------------------------------------------------------------- what a run records


def blocks(n=40, size=500, p=6, shift_at=None):
    rng = np.random.default_rng(1)
    for i in range(n):
        X = rng.normal(size=(size, p))
        y = X[:, 1] - X[:, 4] + (0 if shift_at is None or i < shift_at else 3) + 0.1 * rng.normal(size=size)
        yield Block(as_rows(X)[0], y)


def learn(name, trace, **data):
    method = method_class(name)
    model = Model(method(**({"k": 2} if "k" in method.params else {})), "regression")
    Trainer(model, trace=trace).learn(blocks(**data))
    return model


class Patient(Trace):
    """A trace that may take as long as it wants."""

    def _allowed(self, now):  # noqa: ARG002
        return float("inf")

    def _expected(self, model):  # noqa: ARG002
        return 0.0


@pytest.mark.parametrize("name", ["SFSA", "OFSA", "Sieve"])
def test_recording_changes_no_model(name):
    trace = Patient()
    traced, plain = learn(name, trace), learn(name, None)
    assert_array_equal(traced.coefficients()[0], plain.coefficients()[0])
    assert len(trace.points) > 8
    last = trace.points[-1]
    assert last["support"] == 2
    assert last["recent_loss"] < 0.2


def test_a_shift_of_the_targets_shows_as_drift():
    trace = Patient()
    learn("SFSA", trace, n=80, shift_at=40)
    drifts = [(p["rows"], p["drift"]) for p in trace.points if p["drift"] is not None]
    assert max(abs(d) for rows, d in drifts if rows < 20_000) < 5
    assert max(abs(d) for rows, d in drifts if rows >= 20_000) > 8
    assert drift([], {"target": 1.0, "target_error": 1.0}) is None


def test_points_stay_few():
    trace = Patient()
    trace.points = [{"rows": i, "target": None, "target_error": None} for i in range(1, MOST + 1)]
    learn("SFSA", trace, n=3)
    assert len(trace.points) < MOST


def test_no_time_no_reading(monkeypatch):
    trace = Trace()
    monkeypatch.setattr(trace, "_allowed", lambda now: 1e-3)  # noqa: ARG005
    monkeypatch.setattr(trace, "_expected", lambda model: 2e-3)  # noqa: ARG005
    learn("SFSA", trace)
    assert trace.points
    assert all(point["recent_loss"] is None for point in trace.points)
    assert trace.weight == 20_000


def test_a_checkpoint_holds_the_trace_and_a_resumed_run_goes_on_with_it(rows, tmp_path):
    words = ["fit", rows, "--target", "y", "-k", 2, "--method", "sfsa", "-o", tmp_path / "m", "-q"]
    words += ["--checkpoint", tmp_path / "c", "--every", "1000rows"]
    good(*words)
    run = read_checkpoint(tmp_path / "c").about["run"]
    assert run["trace"]["weight"] == 6000
    good(*words, "--resume")
    good("report", tmp_path / "c", "-o", tmp_path / "r.html")
    assert "rows learned" in (tmp_path / "r.html").read_text()
    assert "run" not in read_checkpoint(tmp_path / "m").about


# -------------------------------------------------------------------- watch


@pytest.fixture
def server(tmp_path):
    made = PageServer(CheckpointPage(str(tmp_path / "c"), 3), 0, seconds=1.0, clients=8)
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield made
    made.shutdown()
    made.server_close()
    thread.join()


@pytest.fixture
def served(server):
    return server.address.rstrip("/")


def get(address, **headers):
    with urllib.request.urlopen(urllib.request.Request(address, headers=headers)) as answer:
        return answer.read().decode()


def test_watch_serves_what_the_checkpoint_holds(rows, tmp_path, served):
    assert "is not there yet" in get(served + "/")
    (tmp_path / "c").write_text("nothing")
    assert "No checkpoint" in get(served + "/")
    (tmp_path / "c").unlink()
    words = ["--target", "y", "-k", 2, "--method", "sfsa", "-q"]
    good("fit", rows, *words, "-o", tmp_path / "m", "--checkpoint", tmp_path / "c")
    html = get(served + "/")
    assert "2 of 8 features" in html
    assert "loads again" not in html  # the run is done
    with pytest.raises(urllib.error.HTTPError, match="404"):
        get(served + "/etc/passwd")
    for host in ("example.org:80", "example.org", "", "127.0.0.1.example.org", "localhost:80:80", "[::1]:80"):
        with pytest.raises(urllib.error.HTTPError, match="403"):
            get(served + "/", Host=host)
    for host in ("localhost", "127.0.0.1", "localhost:80"):  # of port 80, browsers send none
        assert get(served + "/", Host=host) == html


def test_watch_shows_first_and_without_help_of_the_run_how_the_selection_changes(tmp_path, served):
    Trainer(model := Model(method_class("sfsa")(k=2), "regression")).learn(blocks(4))
    trace = {"points": [{"rows": 500, "recent_loss": None, "support": None}], "weight": 1.0, "missing": 0}
    model.about["rows"] = 2000
    save(model, tmp_path / "c", about={"run": {"done": False, "trace": trace}})
    get(served + "/")
    Trainer(model, rows=2000).learn(blocks(8, shift_at=0))
    model.about["rows"] = 6000
    save(model, tmp_path / "c", about={"run": {"done": False, "trace": trace}})
    html = get(served + "/")
    assert html.index("Along the run") < html.index("What was selected")
    assert "<tr><td>2,000<td><td>2" in html
    assert re.search(r"<tr><td>6,000<td><td>2<td>\d<td>\d", html)


def test_no_page_of_watch_can_be_framed_or_loads_anything(served):
    for path, code in (("/", 200), ("/none", 404)):
        try:
            answer = urllib.request.urlopen(served + path)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            assert answer.status == code
            assert answer.headers["X-Frame-Options"] == "DENY"
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
            assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
            assert "Python" not in answer.headers["Server"]


def test_clients_of_watch_that_never_finish_hold_no_threads(server, served, capsys):
    """Half-sent requests, silent connections, a byte now and then, resets: a good request is answered."""
    where = server.server_address
    held = [socket.create_connection(where) for _ in range(60)]
    for client in held[::2]:
        client.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
    for client in held[::7]:  # a reset in place of an end
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()
    assert "is not there yet" in get(served + "/")
    busy = [thread for thread in threading.enumerate() if "process_request_thread" in thread.name]
    assert len(busy) <= 2 * server.clients
    began = time.monotonic()
    while server._began and time.monotonic() - began < 30:
        for client in held:
            with contextlib.suppress(OSError):
                client.send(b"X")
        time.sleep(0.05)
    assert not server._began
    for client in held:
        client.close()
    assert capsys.readouterr().err == ""


def test_notes_of_a_forged_checkpoint_are_no_traceback(rows, tmp_path, served, capsys):
    words = ["--target", "y", "-k", 2, "--method", "sfsa", "-q"]
    good("fit", rows, *words, "-o", tmp_path / "m")
    for forged in ({"run": 3}, {"run": {"trace": [1]}}, {"source": 7}, {"run": {"trace": {"points": "x"}}}):
        held = read_checkpoint(tmp_path / "m")
        save(held.object, tmp_path / "c", about=forged)
        assert "<p>" in get(served + "/")
    assert capsys.readouterr().err == ""


def test_watch_tells_its_address_and_ends_with_ctrl_c(tmp_path):
    words = [
        sys.executable,
        "-c",
        "from streamsieve.cli import program; program()",
        "watch",
        str(tmp_path / "c"),
    ]
    watching = subprocess.Popen(
        [*words, "--port", "0", "--json", "-q"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        lines = iter(watching.stdout.readline, "}\n")
        address = json.loads("".join(lines) + "}")["address"]
        assert address.startswith("http://127.0.0.1:")
        assert "is not there yet" in get(address)
    finally:
        watching.send_signal(2)
        watching.communicate(timeout=60)
    assert watching.returncode == 130

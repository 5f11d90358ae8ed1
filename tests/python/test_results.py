"""Are results data: numbers with intervals, tables, arrays, drawings?"""

import concurrent.futures
import contextlib
import copy
import gc
import importlib.util
import io
import json
import pickle
import subprocess
import sys

import numpy
import pandas
import pytest

import banyan


def test_a_result_is_a_mapping_of_metrics(small):
    r = small.run()
    assert r["packet_latency"].mean > 5 and r["packet_latency"].half_width > 0
    assert "packet_latency" in r and "nonsense" not in r
    assert str(r["packet_latency"]).endswith("cycles")
    with pytest.raises(KeyError):
        r["packet_latencie"]
    with pytest.raises(banyan.ConfigError, match="packet_latency"):
        r["packet_latencie"]


def test_to_dict_is_the_json_of_the_program(file, program):
    ours = banyan.load(file).run().to_dict()
    theirs = json.loads(program("run", file, "--json", "--quiet"))
    for cost in ("cpu_seconds", "peak_bytes"):
        ours.pop(cost), theirs.pop(cost)
    assert ours == theirs


def test_frames_have_the_columns_of_export(file, program, tmp_path):
    program("sweep", file, "sweep.load=[0.1, 0.2]", "--out", tmp_path / "out", "--quiet")
    text = program("export", tmp_path / "out", "--csv")
    t = banyan.load(file).sweep(load=[0.1, 0.2])
    assert t.to_csv() == text
    frame = t.frame()
    assert list(frame.columns) == text.splitlines()[0].split(",")
    assert frame["load"].tolist() == [0.1, 0.2]
    assert frame["state_hash"].tolist() == [r.state_hash for r in t]
    assert frame["packet_latency"].tolist() == [r["packet_latency"].mean for r in t]
    one = t[0].frame()
    assert list(one.columns) == [c for c in frame.columns if c != "load"]
    assert t[0].metrics_frame().loc["packet_latency", "unit"] == "cycles"


def test_arrays_are_views_that_outlive_the_result(small):
    r = small.run(**{"run.window": 500})
    series = r.series("accepted_load")
    values = series.values
    assert isinstance(values, numpy.ndarray) and not values.flags.owndata and not values.flags.writeable
    assert values.__array_interface__["data"] == r.series("accepted_load").values.__array_interface__["data"]
    kept = values.copy()
    histogram = r.histogram()
    assert histogram.count.sum() == r["packet_latency_p50"].count
    assert (histogram.low <= histogram.high).all() and not histogram.count.flags.owndata
    del r, series
    gc.collect()
    assert (values == kept).all()
    with pytest.raises(banyan.ConfigError, match="it has"):
        small.run(**{"run.window": 500}).series("nothing")


def test_channels_are_columns(small):
    channels = small.run(**{"run.tables": "channels"}).channels()
    assert channels["flits"].dtype == numpy.uint64 and channels["flits"].sum() > 0
    with pytest.raises(banyan.ConfigError, match="record it"):
        small.run().channels()


def test_columns_of_tables_are_arrays_of_the_result(small):
    result = small.sweep(load=[0.1, 0.2], **{"run.tables": "channels"})[0]
    channels = result.channels()
    assert all(isinstance(column, numpy.ndarray) and not column.flags.writeable for column in channels.values())
    assert channels["from"].dtype.kind == "U" and (channels["from"] == "terminal 0").sum() == 1
    again = result.channels()
    assert again is not channels and all(again[name] is channels[name] for name in channels)
    assert pickle.loads(pickle.dumps(result)).channels()["to"].tolist() == channels["to"].tolist()


def test_a_notebook_completes_the_names_of_metrics(small):
    result = small.run()
    assert "packet_latency" in result._ipython_key_completions_()
    assert "packet_latency" in banyan.compare(result, small.run(seed=4))._ipython_key_completions_()


def test_a_result_travels_between_processes(small):
    r = small.run(**{"run.window": 500, "run.tables": "all"})
    again = pickle.loads(pickle.dumps(r))
    assert again.to_dict() == r.to_dict()
    assert (again.histogram().count == r.histogram().count).all()
    assert again.to_csv() == r.to_csv()
    assert again == r
    assert banyan.Result.from_json(r.to_json()).state_hash == r.state_hash


def test_parts_of_a_result_travel_between_processes(small):
    windows = []
    result = small.run(on_window=windows.append, **{"run.window": 500})
    metric, series, histogram = result["packet_latency"], result.series("accepted_load"), result.histogram()
    for again in (lambda part: pickle.loads(pickle.dumps(part)), copy.copy, copy.deepcopy):
        told = again(metric)
        assert told == metric and hash(told) == hash(metric) and told != result["hops"] and told != 1
        assert (repr(told), told.mean, told.half_width, told.confidence, told.count, told.unit, told.counter) == (
            repr(metric), metric.mean, metric.half_width, metric.confidence, metric.count, metric.unit, metric.counter)
        told = again(series)
        assert (told.name, told.unit, told.start, told.interval) == (series.name, series.unit, series.start, series.interval)
        assert (told.values == series.values).all()
        told = again(histogram)
        assert (told.name, told.unit) == (histogram.name, histogram.unit)
        assert (told.low == histogram.low).all() and (told.high == histogram.high).all()
        assert (told.count == histogram.count).all()
        assert repr(again(windows[1])) == repr(windows[1])


def test_a_sweep_travels_between_processes(small):
    t = small.sweep(load=[0.1, 0.2], switch=["cioq", banyan.vc_router(vcs=2)])
    again = pickle.loads(pickle.dumps(t))
    assert (again.to_csv(), again.to_json(), again.axis_names) == (t.to_csv(), t.to_json(), t.axis_names)
    assert again.report().text == t.report().text and list(again) == list(t)
    assert (again[0].histogram().count == t[0].histogram().count).all()


def test_points_and_metrics_that_are_missing_are_refused(small):
    t = small.sweep(load=[0.1, 0.2])
    for index in (2, -3, "x", 0.5):
        with pytest.raises(IndexError) as caught:
            t[index]
        assert isinstance(caught.value, banyan.ConfigError)
    with pytest.raises(banyan.UnknownMetric, match="3 is no name of a metric"):
        t[0][3]
    with pytest.raises(banyan.UnknownMetric, match='did you mean "packet_latency"'):
        banyan.compare(t[0], t[1])["packet_latencie"]
    for wrong in (lambda: t.table(3), lambda: t.write_report(3), lambda: t[0].series(3), lambda: t[0].report().save(3)):
        with pytest.raises(banyan.ConfigError):
            wrong()


EXECUTORS = ["threads", "processes"]


def pool_of(kind):
    pools = {"threads": concurrent.futures.ThreadPoolExecutor, "processes": concurrent.futures.ProcessPoolExecutor}
    return contextlib.nullcontext() if kind is None else pools[kind](2)


@pytest.mark.parametrize("kind", EXECUTORS)
def test_executors_give_the_same_table(small, kind):
    axes = {"load": [0.1, 0.2], "switch.buffer": [2, 4]}
    with pool_of(kind) as pool:
        told = []
        t = small.sweep(executor=pool, progress=lambda done, total: told.append((done, total)), **axes)
    assert told[-1] == (4, 4)
    assert t.to_csv() == small.sweep(threads=2, **axes).to_csv()
    assert t.axis_names == ["load", "switch.buffer"]
    assert t.at(load=0.2, **{"switch.buffer": 4}).state_hash == t[3].state_hash


def test_a_sweep_over_components_and_arrays(small):
    t = small.sweep(routing=[banyan.dimension_order(), "o1turn"], load=numpy.array([0.1, 0.2]))
    assert len(t) == 4
    assert t.at(routing=banyan.o1turn(), load=0.2)["packet_latency"].count > 0
    with pytest.raises(banyan.ConfigError):
        small.sweep(load=[0.1, 0.1])


@pytest.mark.parametrize("kind", [None, *EXECUTORS])
def test_components_with_parameters_are_values_of_a_sweep(small, kind):
    switches = [banyan.cioq(), banyan.vc_router(vcs=2), {"name": "vc_router", "vcs": 4}]
    with pool_of(kind) as pool:
        t = small.sweep(switch=switches, executor=pool)
    assert [r.configuration["switch"]["name"] for r in t] == ["cioq", "vc_router", "vc_router"]
    assert [t.at(switch=each).state_hash for each in switches] == [r.state_hash for r in t]
    assert t[1].configuration["switch"]["vcs"] == 2 and t.axis_names == ["switch"]
    inside = banyan.Experiment(topology=banyan.mesh(size=[4, 4]), switch="vc_router", routing="dimension_order",
                               traffic=banyan.uniform(load=0.1), sweep={"switch": switches[:2]})
    assert inside.axis_names == ["switch"]


def test_an_axis_of_the_file_gets_other_values(small, tmp_path):
    path = tmp_path / "swept.toml"
    path.write_text(small.to_toml() + '[sweep]\n"traffic.load" = [0.1, 0.2, 0.3]\n')
    t = banyan.load(path).sweep(load=[0.1, 0.2])
    assert t.axis_names == ["traffic.load"] and len(t) == 2
    assert t.at(load=0.2).state_hash == small.run(**{"traffic.load": 0.2}).state_hash
    assert len(banyan.load(path).sweep(**{"switch.buffer": [4, 8]})) == 6


def test_errors_of_a_point_arrive_from_executors(small):
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        with pytest.raises(banyan.ConfigError, match="multistage"):
            small.sweep(executor=pool, routing=["dimension_order", "destination_tag"])


def test_an_mpi_pool_runs_a_sweep(tmp_path):
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("no mpi4py here (Debian: python3-mpi4py)")
    script = tmp_path / "mpi.py"
    script.write_text(
        "import banyan\nfrom mpi4py.futures import MPIPoolExecutor\nfrom conftest import TEXT\n"
        "if __name__ == '__main__':\n"
        "    e = banyan.Experiment._of(TEXT, 'small', [])\n"
        "    with MPIPoolExecutor(1) as pool:\n"
        "        assert e.sweep(load=[0.1, 0.2], executor=pool).to_csv() == e.sweep(load=[0.1, 0.2]).to_csv()\n"
        "    print('same')\n")
    import os

    here = os.path.dirname(__file__)
    environment = {**os.environ, "PYTHONPATH": f"{os.environ['PYTHONPATH']}:{here}", "OMPI_ALLOW_RUN_AS_ROOT": "1",
                   "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    done = subprocess.run(["mpiexec", "-n", "2", "--oversubscribe", sys.executable, "-m", "mpi4py.futures", script],
                          capture_output=True, text=True, env=environment, timeout=120, check=False)
    assert done.stdout.strip() == "same", done.stderr


def test_a_dask_cluster_runs_a_sweep(small):
    if importlib.util.find_spec("distributed") is None:
        pytest.skip("no dask.distributed here (Debian: python3-distributed)")
    import distributed

    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            t = small.sweep(load=[0.1, 0.2], executor=client.get_executor(pure=False))
    assert t.to_csv() == small.sweep(load=[0.1, 0.2]).to_csv()


def test_results_work_without_numpy_and_pandas():
    code = ("import sys\nfor m in ('numpy', 'pandas', 'matplotlib'): sys.modules[m] = None\n"
            "import banyan\n"
            "e = banyan.Experiment(topology='mesh', switch='vc_router', routing='dimension_order',"
            " traffic=banyan.uniform(load=0.1), run={'measure': 2000})\n"
            "print(e.run().to_dict()['verdict'])")
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout in ("steady\n",)


def test_comparison_saturation_and_description(small, program, file):
    c = banyan.compare(small.run(), small.run(**{"traffic.load": 0.3}))
    assert c["packet_latency"]["difference"] > 0 and "packet_latency" in str(c)
    knee = banyan.saturation(small, width=0.1)
    assert 0 < knee.low < knee.high <= 1
    told = json.loads(program("saturation", file, "--width", "0.1", "--json", "--quiet"))
    assert (knee.low, knee.high) == (told["low"], told["high"])
    assert "vcs" in banyan.describe("vc_router")
    with pytest.raises(banyan.ConfigError, match="nothing is called"):
        banyan.describe("vc_routr")


def test_a_study_tells_its_claims():
    s = banyan.study("hypercube-qap", figures=[3], threads=2)
    assert s.claims is not None and len(s.frame(s.figures[0])) > 0
    assert "<html" in s.report().text


def test_a_study_of_files_asks_for_them(tmp_path):
    with pytest.raises(banyan.ConfigError, match="study 'jobs' reads no traces"):
        banyan.study("jobs", traces=str(tmp_path))
    with pytest.raises(banyan.ConfigError):
        banyan.study("silicon", traces=str(tmp_path / "missing"))


def test_plots_draw_intervals_and_mark_saturation(small):
    import matplotlib

    matplotlib.use("Agg")
    t = small.sweep(load=[0.1, 0.9], routing=["dimension_order", "o1turn"])
    assert [r.verdict for r in t][2:] == ["saturated", "saturated"] or t.at(load=0.9, routing="o1turn").verdict == "saturated"
    ax = t.plot("packet_latency")
    assert len(ax.containers) == 2
    assert sum(str(line.get_gid()).startswith("beyond") for line in ax.lines) == sum(r.verdict == "saturated" for r in t)
    assert ax.get_ylabel() == "packet_latency (cycles)" and ax.get_xlabel() == "load"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["dimension_order", "o1turn"]
    ax.figure.savefig(io.BytesIO())
    lines = [container[0] for container in t.plot("packet_latency", printed=True).containers]
    assert {line.get_color() for line in lines} == {"black"} and len({line.get_marker() for line in lines}) == 2
    r = small.run(**{"run.window": 500})
    assert r.plot("packet_latency").get_xlabel().startswith("time")
    assert small.run().plot().get_ylabel().startswith("packets")
    with pytest.raises(banyan.ConfigError, match="no axis"):
        t.plot("packet_latency", x="vcs")


def test_saturated_points_are_marked_where_they_report_the_metric_too(small):
    t = small.sweep(load=[0.1, 0.95], routing=["dimension_order", "o1turn"])
    ax = t.plot("accepted_load")
    marked = [line for line in ax.lines if line.get_gid() == "saturated"]
    saturated = [r for r in t if r.verdict == "saturated"]
    assert len(saturated) == 2 and [line.get_ydata()[0] for line in marked] == [r["accepted_load"].mean for r in saturated]
    assert [line.get_color() for line in marked] == [container[0].get_color() for container in ax.containers]
    assert not [line for line in ax.lines if str(line.get_gid()).startswith("beyond")]


def test_series_and_histograms_say_what_they_are(small):
    r = small.run(**{"run.window": 500})
    assert repr(r.series("accepted_load")).startswith("<series of accepted_load (flits/cycle/terminal): ")
    assert f"{r.histogram().count.sum()} values in {len(r.histogram().low)} buckets" in repr(r.histogram())
    assert repr(r.histogram()).startswith("<histogram of packet_latency (cycles): ")


def test_marks_of_several_curves_do_not_cover_each_other_and_are_hollow(small):
    pytest.importorskip("matplotlib").use("Agg")
    t = small.sweep(load=[0.9, 1.0], routing=["dimension_order", "o1turn", "valiant"], **{"run.measure": 2000, "switch.vcs": 4})
    ax = t.plot()
    t.plot(ax=ax)
    ax.figure.canvas.draw()
    marks = [line for line in ax.lines if str(line.get_gid()).startswith("beyond")]
    places = [tuple(line.get_transform().transform((line.get_xdata()[0], line.get_ydata()[0])).round()) for line in marks]
    assert len(marks) == 2 * len(t) and len(set(places)) == len(places)
    for x in {x for x, _ in places}:
        heights = sorted(y for other, y in places if other == x)
        assert all(upper - lower >= 8 for lower, upper in zip(heights, heights[1:])), heights
    for mark in marks:
        assert mark.get_markerfacecolor() == "none" and mark.get_zorder() < min(bar[0].get_zorder() for bar in ax.containers)
    hollow = [line for line in t.plot("accepted_load").lines if line.get_gid() == "saturated"]
    assert len(hollow) == len(t)
    assert {line.get_markerfacecolor() for line in hollow} == {ax.get_facecolor()}
    assert t.plot("packet_latency").get_xlim()[1] > 1.0  # there is room for them


def test_both_directions_of_a_link_are_seen():
    e = banyan.Experiment(topology=banyan.torus(size=[4, 4]), switch="vc_router", routing="dimension_order",
                          traffic=banyan.uniform(load=0.1))
    network = e.network()
    lines = network.plot(load=range(len(network.channels))).lines
    seen = {frozenset(zip(map(float, line.get_xdata()), map(float, line.get_ydata()))) for line in lines}
    assert len(seen) == len(lines) == 64


def test_words_are_places_of_an_axis(small):
    t = small.sweep(routing=["dimension_order", "o1turn"])
    ax = t.plot("packet_latency")
    assert [text.get_text() for text in ax.get_xticklabels()] == ["dimension_order", "o1turn"]
    points = ax.containers[0][0]
    assert list(points.get_ydata()) == [r["packet_latency"].mean for r in t] and points.get_linestyle() == "None"
    assert ax.get_xlabel() == "routing"


def test_plots_take_the_keywords_of_matplotlib(small):
    table = small.sweep(load=[0.1, 0.2], routing=["dimension_order", "o1turn"])
    ax = table.plot(label="mine", lw=2, ms=5, c="red", yerr=None)
    assert ax.get_legend_handles_labels()[1] == ["mine, dimension_order", "mine, o1turn"]
    assert [container[0].get_linewidth() for container in ax.containers] == [2, 2]
    assert table.plot(printed=True, mfc="red").containers[0][0].get_markerfacecolor() == "red"
    result = small.run(**{"run.window": 500})
    assert result.plot("accepted_load", lw=3, label="mine").lines[0].get_linewidth() == 3
    assert len(result.plot("packet_latency").lines) == 1
    assert len(result.plot(result.histogram()).patches) == len(result.histogram().count)
    assert small.run().plot("packet_latency", width=0.5, align="center").patches[0].get_width() == 0.5


def test_a_drawn_network_is_coloured_by_any_load(small):
    result = small.run(**{"run.tables": "channels"})
    network = small.network()
    by_table = [line.get_color() for line in network.plot(load=result.channels()).lines]
    assert by_table == [line.get_color() for line in network.plot(load=result.channels()["utilization"]).lines]
    assert len(network.plot(load=[0] * len(network.channels)).lines) == len(by_table)
    for load in (3, "x" * len(network.channels), [None] * len(network.channels)):
        with pytest.raises(banyan.ConfigError):
            network.plot(load=load)


def test_plots_of_what_was_not_recorded_are_refused(small):
    t = small.sweep(load=[0.1, 0.2])
    with pytest.raises(banyan.ConfigError, match="no point reports such a metric"):
        t.plot("nope")
    with pytest.raises(banyan.ConfigError, match='did you mean "packet_latency"'):
        t[0].plot("packet_latencie")
    saturated = small.sweep(load=[0.95, 1.0], routing=["o1turn"])
    assert {r.verdict for r in saturated} == {"saturated"}
    assert sum(str(line.get_gid()).startswith("beyond") for line in saturated.plot("packet_latency").lines) == 2
    with pytest.raises(banyan.ConfigError, match="no point reports such a metric"):
        saturated.plot("nope")


def test_seeds_are_pooled(small):
    t = small.sweep(load=[0.1, 0.2], seed=[1, 2, 3])
    ax = t.plot("packet_latency")
    assert ax.get_xlabel() == "load" and len(ax.containers) == 1
    line = ax.containers[0][0]
    means = [[r["packet_latency"].mean for r in t if r.configuration["traffic"][0]["load"] == load] for load in (0.1, 0.2)]
    assert list(line.get_xdata()) == [0.1, 0.2]
    assert list(line.get_ydata()) == pytest.approx([numpy.mean(m) for m in means])
    low, high = ax.containers[0][2][0].get_segments()[0][:, 1]
    student = 4.30265 * numpy.std(means[0], ddof=1) / 3**0.5
    assert student < (high - low) / 2 < 2 * student  # means of few skewed values have a wider interval
    assert t.plot("packet_latency", x="seed").get_xlabel() == "seed"
    with pytest.raises(banyan.ConfigError, match="no axis to draw over"):
        small.sweep(seed=[1, 2]).plot("packet_latency")


def test_a_seed_without_a_metric_leaves_none_to_pool(small):
    from banyan import _plots

    steady, saturated = small.run(load=0.1), small.run(load=1.0)
    assert "packet_latency" not in saturated
    assert _plots._pooled([steady, steady], "packet_latency") is not None
    assert _plots._pooled([steady, saturated], "packet_latency") is None


def test_a_parameter_that_changes_nothing_is_told(small):
    assert any("means something only with mark.high" in note for note in small.check(**{"switch.mark.above": 0.5}))
    with pytest.warns(banyan.BanyanWarning, match="changes nothing with mark.high = 0"):
        small.run(**{"switch.mark.above": 0.5})


def test_notebooks_show_results_and_networks(small):
    r = small.run()
    assert "packet_latency" in r._repr_html_() and r.state_hash in r._repr_html_()
    page = r.report()
    assert page.text.startswith("<!doctype html>") and "srcdoc" in page._repr_html_()
    t = small.sweep(load=[0.1, 0.2])
    assert t._repr_html_().count("<tr>") == 3
    network = small.network()
    assert network._repr_svg_().count("<circle") == 16
    assert network.to_networkx().number_of_edges() == len(network.channels)
    assert "digraph" in network.to_dot()


def test_stubs_know_every_component():
    import ast
    import os

    folder = os.path.dirname(banyan.__file__)
    with open(os.path.join(folder, "__init__.pyi"), encoding="utf-8") as file:
        tree = ast.parse(file.read())
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert {name for name in banyan.__all__ if isinstance(getattr(banyan, name), type(banyan.load))} >= set(functions)
    import inspect

    for name, node in functions.items():
        assert [a.arg for a in node.args.kwonlyargs] == list(inspect.signature(getattr(banyan, name)).parameters)
    assert "vc_router" in functions and os.path.exists(os.path.join(folder, "py.typed"))

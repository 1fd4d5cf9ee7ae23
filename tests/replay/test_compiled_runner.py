"""The quick runner: its times are the SimPy runner's, compiled or not."""

import shutil

import pytest
from hypothesis import HealthCheck, given, settings
from kerntape.replay import (
    compiled_runner,
    engine,
    engine_layout,
    order_layout,
    order_pass,
    simpy_runner,
    slack_pass,
)
from kerntape.schemas.errors import KerntapeError
from law_graphs import LANE, SERVER, Release, graph_of, law_graphs, sharing
from uncompiled import uncompiled


def run_uncompiled(monkeypatch):
    for name in ("engine", "engine_layout"):
        monkeypatch.setattr(compiled_runner, name, uncompiled(name))
    others = tuple(map(uncompiled, ("order_layout", "order_pass", "slack_pass")))
    monkeypatch.setattr(compiled_runner, "WITH_THE_ENGINE", others)


@pytest.fixture(params=["as installed", "uncompiled"])
def runner(request, monkeypatch):
    """The quick runner over the installed engine, and over its source."""
    if request.param == "uncompiled":
        run_uncompiled(monkeypatch)
    return compiled_runner.run


def columns(times):
    return [
        column.tolist() for column in (times.ready_ps, times.start_ps, times.end_ps, times.cause)
    ]


on_graphs = given(graph=law_graphs())
stateless = [HealthCheck.function_scoped_fixture]


@on_graphs
@settings(max_examples=100, suppress_health_check=stateless)
def test_times_are_equal_to_the_simpy_runners_on_any_graph(runner, graph):
    assert columns(runner(*graph)) == columns(simpy_runner.run(*graph))


@pytest.mark.slow
@on_graphs
@settings(max_examples=2000, suppress_health_check=stateless)
def test_times_are_equal_to_the_simpy_runners_on_many_graphs(runner, graph):
    assert columns(runner(*graph)) == columns(simpy_runner.run(*graph))


def test_more_stages_of_one_instant_than_an_insertion_sort_should_see_are_served_by_id(runner):
    # all released by stage 0 at 5, in falling order of id; served in rising order, 1 ps each
    stages = [(LANE, 5, []), *((SERVER, 1, [Release(by=0)]) for _ in range(200))]
    times = runner(*graph_of(stages))
    assert times.start_ps.tolist()[1:] == list(range(5, 205))


def test_ids_of_one_instant_are_sorted_however_they_came(runner):
    # stage i is released by lane 100 − i, which ends at 7; lanes are processed last in, first out
    stages = [(SERVER, 1, [Release(by=199 - i)]) for i in range(100)]
    stages += [(LANE, 7, []) for _ in range(100)]
    times = runner(*graph_of(stages))
    assert times.start_ps.tolist()[:100] == list(range(7, 107))


THREE_DOZEN = [
    (LANE, 3, []),
    *((LANE, 3, [Release(by=0, lag_ps=i // 12)]) for i in range(36)),
]
"""Released by the first after 0, 1 and 2 ps, twelve at once; each lasts 3 ps, as the first does."""


def test_stages_of_one_class_end_each_in_its_own_instant(runner):
    times = runner(*sharing(*graph_of(THREE_DOZEN)))
    assert times.end_ps.tolist() == [3, *[6] * 12, *[7] * 12, *[8] * 12]


@on_graphs
@settings(max_examples=50, suppress_health_check=stateless)
def test_times_are_the_same_however_often_others_have_a_turn(runner, graph):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled_runner, "EVENTS_A_TURN", 1)
        patch.setattr(compiled_runner, "STAGES_A_TURN", 1)
        assert columns(runner(*graph)) == columns(simpy_runner.run(*graph))


def test_others_have_a_turn_when_so_much_has_happened(runner):
    # twelve ends at 6, twelve at 7, twelve at 8, after the first at 3 and releases at 4 and at 5
    law = compiled_runner._law(*sharing(*graph_of(THREE_DOZEN)))
    law.begin()
    # at 3, with twelve releases at once; at 4; at 5; at 6; at 7; at 8, and nothing is left
    assert [law.go_on(1) for _ in range(6)] == [True] * 5 + [False]
    law = compiled_runner._law(*sharing(*graph_of(THREE_DOZEN)))
    law.begin()
    # 1 + 12 + 12 come due up to 5, twelve at 6; then 24
    assert [law.go_on(26), law.go_on(26)] == [True, False]


def test_what_a_cycle_holds_up_never_ends_and_the_rest_does(runner):
    stages = [(LANE, 1, [Release(by=1)]), (LANE, 1, [Release(by=0)]), (LANE, 4, [])]
    assert runner(*graph_of(stages)).end_ps.tolist() == [-1, -1, 4]


def test_a_chain_of_a_hundred_thousand_stages_without_time_needs_no_recursion(runner):
    stages = [(LANE, 0, [])] + [(LANE, 0, [Release(by=i)]) for i in range(100_000)]
    assert int(runner(*graph_of(stages)).end_ps[-1]) == 0


def test_the_engine_is_compiled_where_a_compiler_exists():
    if shutil.which("cc") is None and shutil.which("gcc") is None:
        pytest.skip("no C compiler: the engine runs uncompiled here")
    assert compiled_runner.is_compiled()


@pytest.fixture
def unchecked():
    """Nothing is known yet of the engine, nor will be from here."""
    compiled_runner.check_engine.cache_clear()
    yield
    compiled_runner.check_engine.cache_clear()


@pytest.mark.parametrize("module", [engine, engine_layout, order_layout, order_pass, slack_pass])
def test_a_stale_engine_is_refused(monkeypatch, unchecked, module):
    monkeypatch.setattr(module, "built_from", lambda: "of other sources")
    with pytest.raises(KerntapeError, match=r"changed since \w+ was compiled"):
        compiled_runner.check_engine()


@pytest.mark.parametrize("name", ["engine", "engine_layout"])
def test_an_engine_that_was_compiled_in_part_is_refused(monkeypatch, unchecked, name):
    if not compiled_runner.is_compiled():
        pytest.skip("the engine runs uncompiled here")
    monkeypatch.setattr(compiled_runner, name, uncompiled(name))
    refused_in_part()


@pytest.mark.parametrize("place", range(3))
def test_so_is_what_is_compiled_with_it(monkeypatch, unchecked, place):
    if not compiled_runner.is_compiled():
        pytest.skip("the engine runs uncompiled here")
    modules = list(compiled_runner.WITH_THE_ENGINE)
    modules[place] = uncompiled(modules[place].__name__.rpartition(".")[2])
    monkeypatch.setattr(compiled_runner, "WITH_THE_ENGINE", tuple(modules))
    refused_in_part()


def refused_in_part():
    with pytest.raises(KerntapeError, match="compiled in part; run 'pip install"):
        compiled_runner.check_engine()


def test_an_uncompiled_engine_says_so_once(monkeypatch, unchecked, capsys):
    run_uncompiled(monkeypatch)
    compiled_runner.check_engine()
    compiled_runner.check_engine()
    assert capsys.readouterr().err == (
        "kerntape: the replay engine is not compiled (no C compiler when kerntape was installed);"
        " replays are up to a hundred times slower\n"
    )


def test_a_worker_process_leaves_that_to_the_one_that_started_it(monkeypatch, unchecked, capsys):
    run_uncompiled(monkeypatch)
    monkeypatch.setattr(compiled_runner, "parent_process", lambda: "a process")
    compiled_runner.check_engine()
    assert capsys.readouterr().err == ""

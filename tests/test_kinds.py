"""Lists that the command line and the macros both have, and the guesses of both at slips."""

from __future__ import annotations

import pytest

from spark_cdc import cli, declared, kinds, macro_rules
from spark_cdc.notify import teller
from spark_cdc.server import table_formats

pytestmark = pytest.mark.proves("settings")


def test_kinds_of_models_are_those_of_the_macros() -> None:
    package, _ = macro_rules.rules()
    assert sorted(package._model_kinds()) == sorted(kinds.ENDINGS)
    assert package._archive_kinds() == list(kinds.ARCHIVE_MODELS)
    endings = package._model_kinds()
    for ends in (endings, kinds.ENDINGS):
        for at, kind in enumerate(ends):
            assert not [later for later in ends[at:] if later.endswith(f"_{kind}")]


def test_formats_are_those_of_the_macros() -> None:
    package, event_formats = macro_rules.rules()
    known = package._known_settings()["entity"]
    accepted = known["source"]["settings"]["format"]["accepted"]
    assert accepted == list(kinds.SOURCE_FORMATS)
    assert {*kinds.SAMPLE_FORMATS} < {*accepted}
    assert known["file_format"]["accepted"] == list(kinds.FILE_FORMATS)
    of_logs = [name for name, facts in package._table_formats().items() if facts["has_log"]]
    assert of_logs == list(kinds.TABLE_FORMATS) == list(table_formats.BUILDS)
    assert event_formats == list(kinds.EVENT_FORMATS)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("stg_orders", "orders"),
        ("orders_changes", "orders"),
        ("orders_event_versions", "orders"),
        ("orders_latest_sensitive", "orders"),
        ("price_changes_ledger", "price_changes"),
        ("daily_revenue", "daily_revenue"),
    ],
)
def test_a_failure_of_any_model_is_one_of_its_entity(model: str, name: str) -> None:
    assert teller.OF_ENTITY.sub("", model) == name


def test_help_names_all_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.parser().parse_args(["new", "--help"])
    text = capsys.readouterr().out.replace("\n", " ")
    optional = (*kinds.EXTRA_MODELS, *kinds.ARCHIVE_MODELS)
    missing = [
        one for one in (*optional, *kinds.SOURCE_FORMATS, *kinds.EVENT_FORMATS) if one not in text
    ]
    assert not missing


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("lod_type", "load_type"),
        ("loadtype", "load_type"),
        ("gards", "guards"),
        ("on_rejct", "on_reject"),
        ("cluster_bye", "cluster_by"),
        ("file_fromat", "file_format"),
        ("time_zone", "timezone"),
        ("upkeep", None),
        ("target_file_mb", None),
        ("priority", None),
    ],
)
def test_both_guess_the_same(word: str, meant: str | None) -> None:
    package, _ = macro_rules.rules()
    accepted = list(package._known_settings()["entity"])
    assert package._meant_by(word, accepted) == meant
    assert declared.close(word, accepted) == meant

"""The report as one HTML file: its scripts, charts and data are all in it."""

from __future__ import annotations

import base64
import datetime as dt
import gzip
import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
import yaml

from spark_cdc import __version__
from spark_cdc.report_figures import KINDS, Entity

TEMPLATES = Path(__file__).parent / "templates" / "report"


def render(title: str, entities: Sequence[Entity], now: dt.datetime, notes: Sequence[str]) -> str:
    """Return the page.

    now: when it was made, in UTC.
    notes: what it leaves out, and how to get it.
    """
    scripts = [_library(), (TEMPLATES / "page.js").read_text("utf-8")]
    data = {
        "kinds": KINDS,
        "charts": charts(),
        "entities": [entity.as_data() for entity in entities],
    }
    attention = sorted(
        ((entity.name, one) for entity in entities for one in entity.attention),
        key=lambda pair: (not pair[1].urgent, pair[0], pair[1].kind),
    )
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = lambda value: "" if value is None else f"{value:,}"
    return environment.get_template("page.html.jinja").render(
        title=title,
        version=__version__,
        made=now.strftime("%Y-%m-%d %H:%M UTC"),
        notes=notes,
        entities=entities,
        attention=attention,
        kinds=sorted(Counter(one.kind for _, one in attention).items()),
        style=(TEMPLATES / "style.css").read_text("utf-8"),
        scripts=scripts,
        hashes=[_hash(script) for script in scripts],
        data=_packed(data),
    )


def _packed(data: Mapping[str, Any]) -> str:
    """Return data as text that holds no character of HTML, a third of its size or less."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    return base64.b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode("ascii")


def _hash(script: str) -> str:
    """Return what the page's policy knows a script by: others do not run."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")


@cache
def _library() -> str:
    """Return the code of Vega, Vega-Lite and vega-embed."""
    import vl_convert  # takes a while, and no other command needs it

    # on its own `vega` is null in this bundle
    code: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return code.replace("</script", "<\\/script")


def charts() -> list[dict[str, Any]]:
    """Return the charts of charts.yml, their Vega-Lite in whole."""
    described = yaml.safe_load((TEMPLATES / "charts.yml").read_text("utf-8"))
    made = []
    for chart in described["charts"]:
        specification = described["common"] | chart["vega_lite"]
        specification["encoding"] = described["encoding"] | chart["vega_lite"].get("encoding", {})
        made.append(chart | {"vega_lite": specification})
    return made

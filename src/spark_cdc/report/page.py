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
from urllib.parse import quote

import jinja2
import yaml

from spark_cdc import __version__
from spark_cdc.report.figures import KINDS, LEVELS, NEVER, Entity

TEMPLATES = Path(__file__).parent / "templates"
BARS = 48  # loads in a sparkline
HEIGHT = 24.0  # of a sparkline, in its own units
CHANGES = ("inserted", "updated", "deleted")
FINDINGS = (5, 12)  # on the first page: at least, and of urgent ones at most; the rest folds


def render(title: str, entities: Sequence[Entity], now: dt.datetime, notes: Sequence[str]) -> str:
    """Return the page.

    now: the time of the report, in UTC.
    notes: the parts that are left out, and how to include them.
    """
    scripts = [_library(), (TEMPLATES / "page.js").read_text("utf-8")]
    data = {
        "kinds": KINDS,
        "charts": charts(),
        "entities": [entity.as_data() for entity in entities],
    }
    levels = Counter(entity.level for entity in entities)
    ordered = sorted(entities, key=lambda one: (LEVELS.index(one.level), one.name))
    fresh = [entity for entity in ordered if entity.state == NEVER]
    findings = sorted(
        ((entity, one) for entity in ordered if entity not in fresh for one in entity.attention),
        key=lambda pair: not pair[1].urgent,
    )
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = lambda value: f"{value or 0:,}"
    environment.filters["fragment"] = lambda name: quote(name, safe="")
    environment.filters["sparkline"] = sparkline
    return environment.get_template("page.html.jinja").render(
        title=title,
        version=__version__,
        made=now.strftime("%Y-%m-%d %H:%M UTC"),
        notes=notes,
        entities=ordered,
        fresh=fresh,
        findings=findings,
        most=max(FINDINGS[0], min(FINDINGS[1], sum(one.urgent for _, one in findings))),
        levels={level: count for level in LEVELS if (count := levels[level])},
        style=(TEMPLATES / "style.css").read_text("utf-8"),
        scripts=scripts,
        hashes=[_hash(script) for script in scripts],
        data=_packed(data),
    )


def sparkline(entity: Entity) -> dict[str, str]:
    """Return the changed rows of the last active loads: an SVG path of bars, and a description.

    A first load, of which all rows are new, sets no scale: the bars after it would vanish.
    """
    loads = entity.loads
    places = entity.counted[-BARS:]
    rows = [sum(loads[name][at] or 0 for name in CHANGES) for at in places]
    initial = [
        bool(loads["inserted"][at]) and loads["inserted"][at] == loads["current"][at]
        for at in places
    ]
    top = max((one for one, first in zip(rows, initial, strict=True) if not first), default=0)
    top = top or max(rows, default=0) or 1
    bars = []
    for slot, count in enumerate(rows, BARS - len(rows)):
        height = min(count / top, 1) * (HEIGHT - 2) if count else 0
        bars.append(f"M{4 * slot + 2} {HEIGHT:g}V{HEIGHT - max(height, 0.8):.1f}")
    many = (
        "Changed rows of the last load"
        if len(rows) == 1
        else f"Changed rows of the last {len(rows)} loads"
    )
    text = f"{many}: {min(rows):,} to {max(rows):,}, last {rows[-1]:,}" if rows else ""
    return {"path": "".join(bars), "text": text}


def _packed(data: Mapping[str, Any]) -> str:
    """Return data as text without characters of HTML, at a third of its size or less."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
    return base64.b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode("ascii")


def _hash(script: str) -> str:
    """Return the hash by which the page's policy admits a script."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")


@cache
def _library() -> str:
    """Return the code of Vega, Vega-Lite and vega-embed."""
    import vl_convert  # takes a while, and no other command needs it

    # on its own `vega` is null in this bundle
    code: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return code.replace("</script", "<\\/script")


def charts() -> list[dict[str, Any]]:
    """Return the charts of charts.yml with their complete Vega-Lite."""
    described = yaml.safe_load((TEMPLATES / "charts.yml").read_text("utf-8"))
    made = []
    for chart in described["charts"]:
        specification = described["common"] | chart["vega_lite"]
        specification["encoding"] = described["encoding"] | chart["vega_lite"].get("encoding", {})
        made.append(chart | {"vega_lite": specification})
    return made

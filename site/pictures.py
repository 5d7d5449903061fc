"""Draws the pictures of the docs: `python site/pictures.py` writes them to docs/pictures.

SVG by hand: light or dark as the reader has it, with a title and a description, nothing fetched.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

PLACE = Path(__file__).resolve().parents[1] / "docs" / "pictures"
# (class, property): light, dark
COLOURS = {
    (".page", "fill"): ("#ffffff", "#20242c"),
    (".ink", "fill"): ("#1c2230", "#e8eaf0"),
    (".soft", "fill"): ("#566072", "#a9b2c3"),
    (".line,.box,.dash,.quiet", "stroke"): ("#6b7588", "#8d97aa"),
    (".tip", "fill"): ("#6b7588", "#8d97aa"),
    (".box,.dash", "fill"): ("#f1f4fa", "#2b313c"),
    (".quiet", "fill"): ("#ffffff", "#20242c"),
    (".main", "fill"): ("#e1e8fb", "#2f3d66"),
    (".main", "stroke"): ("#3f5fc0", "#8ea6f0"),
    (".I", "fill"): ("#cdeed6", "#1f5a34"),
    (".U", "fill"): ("#cfe2fb", "#22497d"),
    (".D", "fill"): ("#f9d4d0", "#7c2f2a"),
    (".N", "fill"): ("#e4e6ea", "#4a515e"),
    (".L", "fill"): ("#f6ecc8", "#5f5222"),
    (".good", "fill"): ("#1d6b36", "#8fdba6"),
    (".bad", "fill"): ("#a3302a", "#f3aaa4"),
}
SHAPES = (
    "text{font:14px system-ui,sans-serif}.code{font-family:ui-monospace,monospace;font-size:12.5px}"
    ".head{font-weight:600}.small{font-size:12px}.line{fill:none;stroke-width:1.5}"
    ".hand{font-family:ui-monospace,monospace;font-size:9.8px}"
    ".box,.main{stroke-width:1.5}.dash,.quiet{stroke-dasharray:5 4;stroke-width:1.2}"
)


class Drawing:
    """A picture of so many pixels, with what a screen reader says of it."""

    def __init__(self, width: int, height: int, title: str, description: str) -> None:
        self.size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        self.said = (
            f"<title id='t'>{escape(title)}</title><desc id='d'>{escape(description)}</desc>"
        )
        self.parts = [f'<rect class="page" width="{width}" height="{height}" rx="8"/>']

    def text(self, x: float, y: float, text: str, look: str = "ink", at: str = "start") -> None:
        """Write a line; at: start, middle or end of it lies at x."""
        anchor = "" if at == "start" else f' text-anchor="{at}"'
        self.parts.append(f'<text x="{x:g}" y="{y:g}" class="{look}"{anchor}>{escape(text)}</text>')

    def box(
        self, x: float, y: float, width: float, height: float, *lines: str, look: str = "box"
    ) -> None:
        """A box with lines in its middle, the first of them as a name."""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="5" '
            f'class="{look}"/>'
        )
        first = y + height / 2 - 9 * (len(lines) - 1) + 5
        for number, line in enumerate(lines):
            kind = "ink code" if number == 0 else "soft small"
            self.text(x + width / 2, first + 18 * number, line, kind, "middle")

    def arrow(self, *points: tuple[float, float], dashed: bool = False) -> None:
        """A line through points, with a tip at its end."""
        path = "M" + "L".join(f"{x:g} {y:g}" for x, y in points)
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.parts.append(f'<path class="line"{dash} marker-end="url(#tip)" d="{path}"/>')

    def svg(self) -> str:
        """The picture as a file."""
        light, dark = (
            "".join(f"{name}{{{key}:{both[i]}}}" for (name, key), both in COLOURS.items())
            for i in (0, 1)
        )
        style = f"{SHAPES}{light}@media(prefers-color-scheme:dark){{{dark}}}"
        tip = (
            '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            'markerHeight="7" orient="auto">'
            '<path class="tip" d="M0 0L8 4L0 8z"/></marker>'
        )
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" {self.size} role="img" aria-labelledby="t d">'
        )
        parts = [self.said, f"<style>{style}</style>", f"<defs>{tip}</defs>", *self.parts]
        return "\n".join([head, *parts, "</svg>\n"])


def relations() -> Drawing:
    """What is made of what."""
    it = Drawing(
        960,
        430,
        "From files to views",
        "Files of a business date are landed as a temporary view and staged by the ephemeral "
        "model stg_orders. The load writes into the table orders_ledger, which also gives the "
        "state before the load. Of change events orders_events lies between. The view "
        "orders_committed names the loads that count. The views current, history, versions, "
        "changes and rejects read it, and each load has a row in the table cdc_loads.",
    )
    it.box(20, 160, 130, 70, "files", "or a table,", "of one date", look="quiet")
    it.arrow((150, 195), (178, 195))
    it.box(180, 160, 150, 70, "landed_orders", "temporary view", "of the session", look="dash")
    it.arrow((330, 195), (358, 195))
    it.box(360, 160, 150, 70, "stg_orders", "ephemeral: cast,", "judged, hashed", look="dash")
    it.arrow((510, 195), (538, 195))
    it.box(
        540,
        150,
        180,
        90,
        "orders_ledger",
        "the table: partitions by",
        "date, load, operation",
        look="main",
    )
    it.arrow((640, 150), (640, 105), (585, 105), (585, 148))
    it.text(613, 95, "the state before", "soft small", "middle")
    it.box(360, 300, 150, 62, "orders_events", "change events only", look="dash")
    it.arrow((435, 230), (435, 298), dashed=True)
    it.arrow((510, 331), (590, 331), (590, 242), dashed=True)
    it.arrow((670, 240), (670, 298))
    it.box(610, 300, 140, 62, "orders_committed", "view: the manifest", look="main")
    for number, name in enumerate(("current", "history", "versions", "changes", "rejects")):
        y = 20 + 62 * number
        it.box(800, y, 140, 46, f"orders_{name}", "view")
        it.arrow((750, 331), (774, 331), (774, y + 23), (798, y + 23))
    it.arrow((750, 331), (774, 331), (774, 383), (798, 383))
    it.box(800, 358, 140, 50, "cdc_loads", "table: a row per load", look="main")
    it.text(
        20, 412, "Filled blue: what is stored, and the view that says what counts.", "soft small"
    )
    return it


def ledger() -> Drawing:
    """Loads as rows of partitions, and the view that names them."""
    it = Drawing(
        960,
        400,
        "The ledger, and the view that names what counts",
        "Each load has partitions by operation in the ledger: inserted, updated, deleted, "
        "unchanged or not supplied rows, and a record. Four loads are named by the view "
        "orders_committed: two of them the history, then the newest checkpoint, which holds "
        "every row, and the load since. A load that crashed and one that was repeated lie "
        "between them and are named by nothing. orders_current is the checkpoint overlaid by "
        "the loads since; history and versions read the inserted, updated and deleted rows of "
        "all named loads.",
    )
    it.text(20, 30, "orders_ledger", "ink code head")
    it.text(20, 50, "partitions, a row for each load", "soft small")
    it.text(590, 30, "orders_committed", "ink code head")
    it.text(590, 50, "a view: its list of loads is the manifest", "soft small")
    loads = [
        ("20240301-dc-8a148be0", "I        L", "history"),
        ("20240302-d-77e0c1b2", "I U", "crashed: no record, named nowhere"),
        ("20240302-d-90131623", "I U D N  L", "history"),
        ("20240303-dc-bab55a2e", "I U D N XL", "checkpoint: every row"),
        ("20240304-d-5b1f90aa", "I U D N  L", "repeated since: named no more"),
        ("20240304-d-0a935ca6", "I U D N  L", "the last load"),
    ]
    for number, (name, cells, said) in enumerate(loads):
        y = 72 + 44 * number
        named = number not in (1, 4)
        it.text(20, y + 19, name, "ink code" if named else "soft code")
        for place, letter in enumerate("I U D N XL".replace(" ", "")):
            x = 196 + 36 * place
            if letter in cells:
                look = {"X": "N"}.get(letter, letter)
                it.box(x, y, 31, 28, letter, look=look if named else "quiet")
        if named:
            it.arrow((588, y + 14), (420, y + 14))
            it.text(592, y + 19, f"'{name}'", "ink code")
            it.text(770, y + 19, said, "soft small")
        else:
            it.text(428, y + 19, said, "bad small")
    it.text(
        20,
        355,
        "I inserted, U updated, D deleted, N unchanged, X not supplied; L the record of the load.",
        "soft small",
    )
    it.text(20, 380, "orders_current: the checkpoint, overlaid by the loads since.", "ink small")
    it.text(
        480, 380, "orders_history, orders_versions: I, U and D of all named loads.", "ink small"
    )
    return it


def commit() -> Drawing:
    """Before, at and after the statement that makes a load visible."""
    it = Drawing(
        960,
        330,
        "A commit: one view is altered",
        "Three steps. First the load has written its partitions; the view orders_committed "
        "names the loads of 1 to 3 March, and readers see these. Then the audit has passed "
        "and the load claims commit number 4 by creating the view orders_commit_4, which only "
        "one of several runs can; readers still see the old state. Then one alter view puts "
        "the fourth load into the list, and all views show it at once. What ends before that "
        "is seen by nobody, and the same command heals it.",
    )
    panels = [
        ("1  written", "nobody sees the load", False, False),
        ("2  audited, and number 4 claimed", "create view … orders_commit_4", True, False),
        ("3  committed", "alter view orders_committed …", True, True),
    ]
    for number, (head, statement, claimed, altered) in enumerate(panels):
        x = 20 + 315 * number
        it.text(x, 32, head, "ink head")
        it.text(x, 54, statement, "soft small" if number == 0 else "ink code")
        for row, day in enumerate(("0301", "0302", "0303", "0304")):
            y = 76 + 34 * row
            new = day == "0304"
            it.box(x, y, 100, 27, f"load {day}", look="I" if new else "box")
            if altered or not new:
                it.arrow((x + 150, y + 13), (x + 103, y + 13))
        height = 129 if altered else 95
        it.box(x + 152, 76, 138, height, "orders_committed", "the list", look="main")
        if claimed:
            it.box(x, 218, 128, 34, "orders_commit_4", look="dash")
        it.box(x + 152, 270, 138, 42, "readers", look="quiet")
        it.arrow((x + 221, 268), (x + 221, 79 + height))
        it.text(
            x,
            296,
            "see 0301 to 0304" if altered else "see 0301 to 0303",
            "good small" if altered else "soft small",
        )
        if number:
            it.parts.append(f'<path class="line" d="M{x - 14} 20V312"/>')
    return it


def load() -> Drawing:
    """The folders of macros/ in the order in which a load goes through them."""
    it = Drawing(
        960,
        452,
        "A load's way through the folders of macros",
        "Eight steps, each with the folder that holds it. context: the entity's YAML, judged, and "
        "the plan. source: files of the business date become a temporary view. staging, with "
        "values, hash and formats: columns are cast, judged and hashed, messages become events. "
        "schema: how old rows read under the new columns. diff: rows are compared with the prior "
        "state and classified. ledger: they are written, and the written rows are audited. "
        "timeline: the load is committed. views: readers see it. A folder uses only those "
        "before it.",
    )
    top = [
        ("context", ("YAML, settings,", "what is selected"), "orders.yml"),
        ("source", ("files of one date,", "as a temporary view"), "landed_orders"),
        ("staging", ("cast, judge, hash;", "messages to events"), "stg_orders"),
        ("schema", ("old rows as the new", "columns read them"), "column mapping"),
    ]
    low = [
        ("views", ("current, history,", "versions, changes"), "orders_current"),
        ("timeline", ("claim, read back,", "alter the view"), "orders_committed"),
        ("ledger", ("write once, audit", "what was written"), "orders_ledger"),
        ("diff", ("compare with the prior", "state: I U D N X"), "rows with operation"),
    ]
    for row, (y, steps) in enumerate(((74, top), (248, low))):
        for number, (folder, said, made) in enumerate(steps):
            x = 20 + 240 * number
            look = "main" if folder in ("ledger", "timeline") else "box"
            it.box(x, y, 180, 84, f"{folder}/", *said, look=look)
            it.text(x + 90, y + 106, made, "soft code", "middle")
            place = number + 1 if row == 0 else 8 - number
            it.text(x, y - 10, str(place), "ink head")
            if number < 3:
                ends = (x + 180, x + 238) if row == 0 else (x + 240, x + 182)
                it.arrow((ends[0], y + 42), (ends[1], y + 42))
    it.arrow((920, 116), (942, 116), (942, 290), (922, 290))
    it.text(20, 30, "planned by events(), ledger(), committed() in models/", "soft small")
    it.text(500, 30, "values/, hash/, formats/: used by staging", "soft small")
    it.box(20, 390, 180, 44, "operations/", "undo, replay, compact …", look="dash")
    it.arrow((200, 412), (350, 412), (350, 362), dashed=True)
    it.text(366, 416, "change the timeline by the same commit; publish/ follows it", "soft small")
    return it


def one_row() -> Drawing:
    """Line 2 of order 1003 of the examples, through four loads."""
    it = Drawing(
        960,
        464,
        "One row through four loads",
        "Line 2 of order 1003. On 1 March it comes in: inserted, quantity 1, price 31.20. On "
        "2 March the delta flags it as deleted: the ledger gets its last values as D, and "
        "orders_current no longer has it. On 3 March it comes again with price 29.90: "
        "inserted. On 4 March with quantity 2: updated. orders_versions has three versions, "
        "with a gap on 2 March.",
    )
    left, wide = 150, 200
    days = [
        ("2024-03-01", "1 × 31.20", "op = I", "I", "1 × 31.20", "1 × 31.20"),
        ("2024-03-02", "the key alone", "op = D", "D", "1 × 31.20", None),
        ("2024-03-03", "1 × 29.90", "op = U", "I", "1 × 29.90", "1 × 29.90"),
        ("2024-03-04", "2 × 29.90", "op = U", "U", "2 × 29.90", "2 × 29.90"),
    ]
    names = {
        45: ("load of", ""),
        95: ("source row", "in the delta"),
        180: ("orders_ledger", "written by the load"),
        265: ("orders_current", "SCD type 1"),
        350: ("orders_history", "changes by load"),
        414: ("orders_versions", "SCD type 2"),
    }
    for y, (name, said) in names.items():
        it.text(20, y, name, "ink code head" if "_" in name else "ink head")
        it.text(20, y + 17, said, "soft small")
    spans = [
        (0, "1 × 31.20", "03-01 until 03-02"),
        (2, "1 × 29.90", "03-03 until 03-04"),
        (3, "2 × 29.90", "from 03-04, open"),
    ]
    for number, (day, came, flag, operation, wrote, now) in enumerate(days):
        x = left + wide * number + 8
        middle = x + wide / 2 - 8
        it.text(middle, 45, day, "ink head", "middle")
        it.box(x, 68, wide - 16, 50, came, flag, look="quiet")
        it.arrow((middle, 118), (middle, 150))
        it.box(x, 152, wide - 16, 50, wrote, f"operation {operation}", look=operation)
        it.arrow((middle, 202), (middle, 236))
        if now:
            it.box(x, 238, wide - 16, 46, now, look="box")
        else:
            it.box(x, 238, wide - 16, 46, look="quiet")
            it.text(middle, 266, "deleted: no row", "soft small", "middle")
        it.box(middle - 20, 334, 40, 30, operation, look=operation)
    for first, said, dates in spans:
        it.box(left + wide * first + 8, 392, wide - 16, 50, said, dates, look="main")
    it.text(left + wide * 1.5, 421, "no version: deleted", "soft small", "middle")
    return it


def by_hand() -> Drawing:
    """An entity's YAML beside the SQL that does a part of the same, both as they lie in docs."""
    examples = PLACE.parent / "examples"
    columns = [
        (20, "Here: YAML", (examples / "orders.yml").read_text("utf-8").splitlines()),
        (510, "By hand: SQL", (examples / "orders_by_hand.sql").read_text("utf-8").splitlines()),
    ]
    longest = max(len(lines) for _, _, lines in columns)
    it = Drawing(
        960,
        66 + 13 * longest,
        "An entity in YAML, and the same in SQL by hand",
        f"Left: {len(columns[0][2])} lines of YAML describe the entity orders. Right: "
        f"{len(columns[1][2])} lines of SQL rank, cast and compare the rows of one delta, and "
        "merge them into a table of versions. Both are files in docs/examples.",
    )
    for x, title, lines in columns:
        it.text(x, 30, f"{title}, {len(lines)} lines", "ink head")
        for number, line in enumerate(lines):
            look = "soft hand" if line.startswith("--") else "ink hand"
            indent = len(line) - len(line.lstrip())
            it.text(x + 5.9 * indent, 56 + 13 * number, line.lstrip(), look)
    said = (
        "A value that can't be cast, a null key or a duplicate key refuses the load.",
        "A load of the same date again replaces the first: idempotent.",
        "Readers see a load whole or not at all: atomic.",
        "Guards stop an empty, cut or shrunken delivery.",
        "Current state, history, versions and a change feed are views.",
        "Undo, replay, quarantine, schema evolution, data tests.",
    )
    it.text(20, 270, "What the YAML brings beyond the SQL", "ink head")
    for number, line in enumerate(said):
        it.text(20, 298 + 22 * number, f"• {line}", "soft small")
    return it


PICTURES = {
    "by_hand.svg": by_hand,
    "relations.svg": relations,
    "ledger.svg": ledger,
    "commit.svg": commit,
    "load.svg": load,
    "one_row.svg": one_row,
}

if __name__ == "__main__":
    for name, draw in PICTURES.items():
        (PLACE / name).write_text(draw().svg(), "utf-8")

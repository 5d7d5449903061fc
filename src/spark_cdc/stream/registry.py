"""Schemas from a registry that speaks Confluent's API: Confluent's own, Apicurio's ccompat."""

from __future__ import annotations

import json
import os
import urllib.error
import urllib.request

from spark_cdc.errors import SparkCdcError

AUTHORIZATION = "SPARK_CDC_REGISTRY_AUTHORIZATION"  # the value of that header, from the environment
SECONDS = 10


class Registry:
    """Schemas by their ids, each asked for once."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        self._known: dict[int, str | None] = {}
        self.problems: dict[int, str] = {}

    def _get(self, path: str) -> object:
        request = urllib.request.Request(f"{self._url}{path}", headers={"Accept": "*/*"})
        if authorization := os.environ.get(AUTHORIZATION):
            request.add_header("Authorization", authorization)
        try:
            with urllib.request.urlopen(request, timeout=SECONDS) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code == 404:
                raise LookupError(path) from error
            raise self._unreachable(f"HTTP {error.code} {error.reason}") from error
        except (OSError, ValueError) as error:
            raise self._unreachable(str(getattr(error, "reason", error))) from error

    def _unreachable(self, reason: str) -> SparkCdcError:
        return SparkCdcError(
            f"the schema registry at {self._url} does not answer as one: {reason}",
            "Check --registry (of Apicurio the address ends with /apis/ccompat/v7), and"
            f" {AUTHORIZATION} if it asks who you are; then run the same command again.",
        )

    def check(self) -> None:
        """Ask whether it is there.

        Raises SparkCdcError if it does not answer.
        """
        try:
            self._get("/subjects")
        except LookupError as error:
            raise self._unreachable("it knows no /subjects") from error

    def schema(self, number: int) -> str | None:
        """Return a schema; None if there is none, or none of Avro, and then `problems` says why."""
        if number not in self._known:
            self._known[number] = self._asked(number)
        return self._known[number]

    def _asked(self, number: int) -> str | None:
        try:
            found = self._get(f"/schemas/ids/{number}")
        except LookupError:
            self.problems[number] = f"the registry has no schema {number}"
            return None
        assert isinstance(found, dict)
        kind = found.get("schemaType", "AVRO")
        if kind != "AVRO" or found.get("references"):
            what = f"of the type {kind}" if kind != "AVRO" else "with references to others"
            self.problems[number] = f"schema {number} is one {what}, which is not read"
            return None
        return str(found["schema"])

"""An S3 server in this process (moto), on loopback and a free port, which counts requests."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import boto3
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

BUCKET = "lake"
# what no file, log or statement may ever hold
ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "AKIDNOBODYMAYSEETHIS",
    "AWS_SECRET_ACCESS_KEY": "secret-that-nobody-may-see",
    "AWS_REGION": "eu-central-1",
}


def environment_of(endpoint: str) -> dict[str, str]:
    """What those that read and write there have to find in their environment."""
    return {**ENVIRONMENT, "SPARK_CDC_S3_ENDPOINT": endpoint}


def client_of(endpoint: str) -> Any:
    return boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name=ENVIRONMENT["AWS_REGION"],
        aws_access_key_id=ENVIRONMENT["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=ENVIRONMENT["AWS_SECRET_ACCESS_KEY"],
    )


def make_bucket(client: Any) -> None:
    region = ENVIRONMENT["AWS_REGION"]
    client.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": region})


def keys(client: Any, prefix: str) -> list[str]:
    """The names of all objects below a prefix."""
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=prefix)
    return [entry["Key"] for page in pages for entry in page.get("Contents", [])]


class Store:
    """The server: its address, a client, and what was asked of it since it was last asked."""

    def __init__(self, port: int) -> None:
        self.endpoint = f"http://127.0.0.1:{port}"
        self.requests: Counter[str] = Counter()
        self.refuse: Callable[[str, str], bool] = lambda kind, path: False
        self._lock = threading.Lock()
        self.client = client_of(self.endpoint)

    @property
    def environment(self) -> dict[str, str]:
        """What a Spark server has to find in its environment."""
        return environment_of(self.endpoint)

    def count(self, kind: str) -> None:
        with self._lock:
            self.requests[kind] += 1

    def counted(self) -> Counter[str]:
        """Requests by kind since the last time."""
        with self._lock:
            counted, self.requests = self.requests, Counter()
        return counted

    def keys(self, prefix: str = "") -> list[str]:
        """The names of all objects below a prefix; asked within the process, so not counted."""
        found = keys(self.client, prefix)
        self.counted()
        return found

    def put(self, key: str, body: bytes) -> None:
        self.client.put_object(Bucket=BUCKET, Key=key, Body=body)
        self.counted()


def kind_of(request: dict[str, Any]) -> str:
    """What S3 calls a request; those that are billed alike stand together in docs/s3.md."""
    method, query = request["REQUEST_METHOD"], request.get("QUERY_STRING", "")
    is_bucket = not request["PATH_INFO"].strip("/").partition("/")[2]
    if method == "PUT" and request.get("HTTP_X_AMZ_COPY_SOURCE"):
        return "copy"
    if method == "GET" and is_bucket:
        return "list"
    if method == "POST" and re.search(r"(^|&)delete(=|&|$)", query):
        return "delete"
    if method == "POST":
        return "multipart"
    return {"PUT": "put", "GET": "get", "HEAD": "head", "DELETE": "delete"}[method]


@contextmanager
def store() -> Iterator[Store]:
    """Run the server with an empty bucket."""
    application = DomainDispatcherApplication(create_backend_app)
    holder: list[Store] = []

    def counting(environ: dict[str, Any], start_response: Any) -> Any:
        kind = kind_of(environ)
        if holder:
            holder[0].count(kind)
            if holder[0].refuse(kind, environ["PATH_INFO"]):
                start_response("503 Slow Down", [("Content-Length", "0")])
                return [b""]
        return application(environ, start_response)

    server = make_server("127.0.0.1", 0, counting, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        holder.append(Store(server.server_port))
        make_bucket(holder[0].client)
        holder[0].counted()
        yield holder[0]
    finally:
        server.shutdown()
        thread.join(10)

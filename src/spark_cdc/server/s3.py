"""S3 for the local server and for streams: jars, and the Spark settings that they need.

`spark-cdc server start --with s3` lets it read and write s3a://bucket/path: landing folders, and
with `--warehouse s3a://…` all tables. `spark-cdc stream` does so where a path says it. The
connector is Hadoop's, in the version of Spark's own Hadoop; of Amazon's SDK only the modules that
it uses, a thirtieth of the bundle's size.

Where the store is, the environment says; keys too, and nothing else may: what stands in options,
profiles or statements ends in files and logs.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from spark_cdc.errors import UsageError
from spark_cdc.server.jars import Jar

NAME = "s3"
SCHEME = "s3a"

_SDK = "software.amazon.awssdk"
_SDK_VERSION = "2.29.52"
# Modules that hadoop-aws asks for, and what they bring along that is not among Spark's jars.
_MODULES = {
    "annotations": "8cd8bd8afd7eca5a367f69fd87427f6d9f3e7d359962122da24d71f1963f00cd",
    "apache-client": "c96494be30ecac6f0ab7a35fdd91a4c77ca8a5daf62f3d9d84644ef0f0524dc6",
    "arns": "f5a4d1d9b4e4fc63c9bda49bcf1c59d23fd876b276c6b43aaca12969337303a6",
    "auth": "4d8143b6198dc7a530c2ccdd813129c132b96736086c0d4fea85480b9bdbc5fe",
    "aws-core": "eb560c064fbaac7e2e7f4a77ac343d3083bea0d7f6e2c69ba022d3f3e859be90",
    "aws-json-protocol": "0b174a591bac933b72b701c2fc73f73ba5dde790bf7d61ce922d4ba098f62072",
    "aws-query-protocol": "1b117672963ee5059c45f2aadb110f191b578d108d8f08d7c7a59e6c0b098a8e",
    "aws-xml-protocol": "daf87b429373ad586d165003b5b1d4fe498c6472eb65ec9a9e2aa7d56f3917dd",
    "checksums": "bca99ff25c9b917d6be03e5dce78ad5328e7dca485e96024fa8476e4192a800a",
    "checksums-spi": "21193b9b648843dcaff493f0dd80abab9ee6871b203b9218120554698d8f7b8a",
    "crt-core": "4e1f33de21b688695fec91b977ddfa99e9d376edcbad06a62b0c138c60b37de4",
    "endpoints-spi": "e54f246c668d70b55cffe0c8fad18d4465e74e22db75139918bd30610093d1e6",
    "http-auth": "d8aa3bd376aaec7196396e65fe8755f1fdd169e51357f8128ecdc7d23a687450",
    "http-auth-aws": "7ae124e81ac0c2860bb61fdde34a388dbe823fef8509dd46a6bec805ada90308",
    "http-auth-aws-eventstream": "565a4aacce955c5ffaed551f6faaaa958e9e92b2f8514c8482f664edb2bab576",
    "http-auth-spi": "7a2168c5a7baa856d7ae9f9c4f7522d2db9f1361108c38f5b6ece66f249e6a2d",
    "http-client-spi": "8ea61ce3b527779fbfe119e0775c4b7cfdf274a979b1e50596a634685a5b6542",
    "identity-spi": "85104635abf9e5c044aaf7f8951b63efc2ef82051b5ee303571ee2e1fd8b46d0",
    "json-utils": "2652cdb3668311bcff6e643c8612b9fea266423ae1ce33743c84dd7f77904311",
    "kms": "b16a020118d30d5ff47680c14c97990d8a7c8c203961764f9bbe1c8f402ec7b7",
    "metrics-spi": "1db2e3da338148ee40a716e1733c9a5b99e9e6daa4db3aa8bd7e718adafa2510",
    "netty-nio-client": "07238668c9cf54531ee269fd6e2a1e2650fb75d6774d401f406c2a14f26af654",
    "profiles": "fef84619d101838ba45f48d0caddb09a85d9ed8bf869095bd7d2064796856cf7",
    "protocol-core": "7b32e41a3743b422d2edec1670f60b4c1e512fcd5ab7a53fef20742d6b9104d1",
    "regions": "5ee0e26277c679ffa70d83923b0d5f77a53066ecde8610f28be1856947d60eaf",
    "retries": "ca3752ba31399721980c6398992921ff5aa164e084b4c14484333df58c76a353",
    "retries-spi": "a4218ea742fc9e07a620629d7a258bfd92b8ea3ef75f1b99193d0898ca3efe99",
    "s3": "abaedea7e68063e9c4ab090f80d14b9884c57b50953bfe6e5acaa23025609efa",
    "s3-transfer-manager": "0c9e654637247187a7e2494eb7a8799477a772a7d554cd3ae787cd3e3bae3c55",
    "sdk-core": "ea8e9856569f85075a8a806d0481c4bd848c98b24fd6d706fc0b5883fc4604dc",
    "sts": "6495d0457f4e4c3724d8c9c5fe4f6f98c9530a22f92449c4cca5fd03622e4edb",
    "third-party-jackson-core": "eaece3eb60beb8ec09d8a4f48d5bff4110010b03cc23688bdcf2af2eb075cac6",
    "utils": "f150a38f2fec14ced2de6459bfe804f647c88baa573b218646ef89b436a29d42",
}
# By Spark's minor version, as in table_formats.BUILDS.
BUILDS: Mapping[str, tuple[Jar, ...]] = {
    "4.1": (
        Jar(
            "software.amazon.eventstream",
            "eventstream",
            "1.0.1",
            "0c37d8e696117f02c302191b8110b0d0eb20fa412fce34c3a269ec73c16ce822",
        ),
        Jar(
            "org.apache.hadoop",
            "hadoop-aws",
            "3.4.2",
            "d2d24e6b715b5656b9d238bf13b6682a07e2004dd36aad74a73aeb854319f4d9",
        ),
        Jar(
            "org.reactivestreams",
            "reactive-streams",
            "1.0.4",
            "f75ca597789b3dac58f61857b9ac2e1034a68fa672db35055a8fb4509e325f28",
        ),
        *(Jar(_SDK, name, _SDK_VERSION, sha256) for name, sha256 in _MODULES.items()),
    )
}
# A stream's checkpoint: each file by one upload, in place of an upload beside it and a move.
CHECKPOINTS: Mapping[str, Jar] = {
    "4.1": Jar(
        "org.apache.spark",
        "spark-hadoop-cloud_2.13",
        "4.1.2",
        "672d7d872f434cb7fe1c90f7edcd19b1e8c67a335a578288426fbd4db5096915",
    ),
}
CHECKPOINT_SETTINGS = {
    "spark.sql.streaming.checkpointFileManagerClass": "org.apache.spark.internal.io.cloud"
    ".AbortableStreamBasedCheckpointFileManager"
}
_SECRET = re.compile(r"fs\.s3a\.(.+\.)?(access\.key|secret\.key|session\.token)$")


def holds(path: str) -> bool:
    """Return whether a path lies on S3."""
    return path.startswith(f"{SCHEME}://")


def check(conf: Mapping[str, str]) -> None:
    """Raise UsageError if Spark settings hold keys of a store."""
    for name in conf:
        if _SECRET.search(name):
            raise UsageError(
                f"--conf {name} would write a secret into files. Set AWS_ACCESS_KEY_ID,"
                " AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN in the environment of the command.",
                "Remove the setting, and run the same command again.",
            )


def settings(buffers: Path) -> dict[str, str]:
    """Return the Spark settings for S3, from the environment.

    buffers: folder for what is about to be uploaded.

    Raises UsageError for an endpoint that is no plain URL.
    """
    environment = os.environ
    conf = {
        "spark.hadoop.fs.s3a.buffer.dir": str(buffers / "s3a"),
        # A file gets from a task to its place by one copy less. What a task that failed leaves
        # behind lies in partitions of a load that nothing names, and the audit counts all rows.
        "spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version": "2",
    }
    region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
    if region:
        conf["spark.hadoop.fs.s3a.endpoint.region"] = region
    names = ("SPARK_CDC_S3_ENDPOINT", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
    endpoint = next(filter(None, map(environment.get, names)), None)
    if endpoint:
        if not re.fullmatch(r"(https?://)?[\w.\-\[\]:]+/?", endpoint):
            raise UsageError(
                "The S3 endpoint is not a plain URL. Accepted are URLs without keys, such as"
                " https://s3.example.org:9000.",
                f"Correct {' or '.join(names)}.",
            )
        conf["spark.hadoop.fs.s3a.endpoint"] = endpoint
    style = environment.get("SPARK_CDC_S3_PATH_STYLE", "true" if endpoint else "false")
    if style not in ("true", "false"):
        raise UsageError(
            f"SPARK_CDC_S3_PATH_STYLE is {style!r}. Accepted are true (http://host/bucket/…) and"
            " false (http://bucket.host/…).",
            "export SPARK_CDC_S3_PATH_STYLE=true",
        )
    conf["spark.hadoop.fs.s3a.path.style.access"] = style
    return conf

"""What a Kafka broker says of its topics, by the client that Spark's source brings along."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping

from spark_cdc.errors import SparkCdcError
from spark_cdc.stream import Source
from spark_cdc.stream.files import Jvm

MILLISECONDS = "15000"
SHOWN = 20  # topics in a message


class Broker:
    """A broker that is asked; an entity is a dictionary as the job has it."""

    def __init__(self, jvm: Jvm, admin: Jvm, address: str) -> None:
        self._jvm = jvm
        self._admin = admin
        self._address = address
        self.topics = set(admin.listTopics().names().get())

    def topics_of(self, entity: Source) -> list[str]:
        """Return the topics that an entity takes."""
        if entity["kind"] == "pattern":
            return sorted(topic for topic in self.topics if re.fullmatch(entity["from"], topic))
        return [topic for topic in entity["from"].split(",") if topic in self.topics]

    def check(self, entities: list[Source]) -> None:
        """Refuse topics that are not there; a pattern may find some later.

        Raises SparkCdcError with all of them.
        """
        wrong = [
            f"{entity['name']}: there is no topic {topic}"
            for entity in entities
            if entity["kind"] == "topic"
            for topic in entity["from"].split(",")
            if topic not in self.topics
        ]
        if wrong:
            seen = sorted(topic for topic in self.topics if not topic.startswith("__"))
            there = ", ".join(seen[:SHOWN]) or "none"
            raise SparkCdcError(
                "\n".join(wrong) + f"\n  at {self._address} there are: {there}",
                "Correct source.stream.topic in the entity's YAML, or make the topic: a connector"
                " makes it with its first message.",
            )

    def ends(self, entity: Source) -> dict[str, int]:
        """Return the next offset of each partition of an entity's topics."""
        classes = self._jvm.org.apache.kafka
        wanted = self._jvm.java.util.HashMap()
        described = self._admin.describeTopics(self.topics_of(entity)).allTopicNames().get()
        for topic in described:
            for one in described[topic].partitions():
                place = classes.common.TopicPartition(topic, one.partition())
                wanted[place] = classes.clients.admin.OffsetSpec.latest()
        found = self._admin.listOffsets(wanted).all().get()
        return {f"{one.topic()}-{one.partition()}": found[one].offset() for one in found}


@contextlib.contextmanager
def opened(jvm: Jvm, options: Mapping[str, str]) -> Iterator[Broker]:
    """Ask a broker.

    options: of the Kafka client, as Spark names them.

    Raises SparkCdcError if it does not answer.
    """
    properties = jvm.java.util.Properties()
    for name, value in options.items():
        properties.setProperty(name.removeprefix("kafka."), value)
    for name in ("request.timeout.ms", "default.api.timeout.ms"):
        properties.setProperty(name, MILLISECONDS)
    address = options.get("kafka.bootstrap.servers", "")
    admin = None
    try:
        admin = jvm.org.apache.kafka.clients.admin.AdminClient.create(properties)
        yield Broker(jvm, admin, address)
    except SparkCdcError:
        raise
    except Exception as error:  # whatever the client says, in the words of py4j
        causes = re.findall(r"(?:^|Caused by: )[\w.$]*Exception: ([^\n]*)", str(error))
        reason = causes[-1] if causes else str(error).splitlines()[0]
        raise SparkCdcError(
            f"Kafka does not answer at {address}: {reason[:300]}",
            "Check --kafka, whether the broker is up, and --kafka-options if it asks who you are.",
        ) from error
    finally:
        if admin is not None:
            admin.close()

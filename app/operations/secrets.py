"""What nobody may read who does not have it already: which values of a run are secret."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from app.kafka.address import SECRETS, KafkaError, connection, is_kafka, parse
from app.settings.model import LiveSettings


def secrets_of(settings: LiveSettings, environ: Mapping[str, str] = os.environ) -> Iterator[str]:
    """Every secret that the settings of a run hold, or name a place of."""
    yield settings.token.get_secret_value()
    for url in (settings.source, settings.publish):
        if is_kafka(url):
            try:
                told = connection(parse(url), environ)
            except KafkaError:  # who connects will say what is wrong
                continue
            yield from (str(told[name]) for name in SECRETS if name in told)

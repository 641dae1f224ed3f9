"""The secret values of a run, which the logs replace."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from app.kafka.address import SECRETS, KafkaError, connection, is_kafka, parse
from app.settings.model import LiveSettings


def secrets_of(settings: LiveSettings, environ: Mapping[str, str] = os.environ) -> Iterator[str]:
    """Yield every secret in the settings of a run, or in a file or variable that they name."""
    yield settings.token.get_secret_value()
    for url in (settings.source, settings.publish):
        if is_kafka(url):
            try:
                options = connection(parse(url), environ)
            except KafkaError:  # reported where the connection is opened
                continue
            yield from (str(options[name]) for name in SECRETS if name in options)

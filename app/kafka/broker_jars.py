"""Jars of the broker for trials: fetched from Maven Central through PySpark's Ivy, once, into the user's cache.

Each jar must have its known SHA-256, when it is fetched and whenever a broker starts.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from app.base.java import Java, cache_folder
from app.base.private import alone_in, private_folder
from app.base.program import PROGRAM
from football.errors import UserError

#: Folder in a bundle with a folder of jars for each version of Kafka.
JARS_FOLDER = "jars"

KAFKA = ("org.apache.kafka", "kafka_2.13", "4.1.0")
#: Kafka logs through slf4j; without a binding it logs nothing.
SLF4J = ("org.slf4j", "slf4j-simple", "1.7.36")

#: All jars of both, by name. After a change of a version: ``sha256sum`` of what a fetch on a trusted machine brings.
SHA256: Mapping[str, str] = {
    "HdrHistogram-2.2.2.jar": "22d1d4316c4ec13a68b559e98c8256d69071593731da96136640f864fa14fad8",
    "argparse4j-0.7.0.jar": "65ceb669d88f63306c680f8088bbf765bbca72d288a61a03703000076c3d3f56",
    "caffeine-3.2.0.jar": "ec411dfdf0c03f25218648ce89861630b71680e5858a9a7278ebac8e55cab3d7",
    "commons-beanutils-1.9.4.jar": "7d938c81789028045c08c065e94be75fc280527620d5bd62b519d5838532368a",
    "commons-collections-3.2.2.jar": "eeeae917917144a68a741d4c0dff66aa5c5c5fd85593ff217bced3fc8ca783b8",
    "commons-digester-2.1.jar": "e0b2b980a84fc6533c5ce291f1917b32c507f62bcad64198fff44368c2196a3d",
    "commons-logging-1.3.2.jar": "6b858424f518015f32bfcd1183a373f4a827d72d026b6031da0c91cf0e8f3489",
    "commons-validator-1.9.0.jar": "c3c14748e2d78db58df88808740711bd643b32c45ffa7b8a739f00fb467cd7d7",
    "hash4j-0.22.0.jar": "23028a3fd006e530bf495f551083208187cafd8f80624d048eba56442f16a50e",
    "jackson-annotations-2.19.0.jar": "ead60e9cac0e42b57092b9e2d087ff43536e9477d4486ba393037a8cc156cda7",
    "jackson-core-2.19.0.jar": "da8e859bac94874528116a25f20c68560e4287acbf27628711b8a4f96b028430",
    "jackson-databind-2.19.0.jar": "ceda311f476c3b18e1d2b240c94e2dcb9c8d44e70f8afa9facab88bac4ddc03a",
    "jackson-dataformat-csv-2.19.0.jar": "bec1150426b0616bb488149b952b45a0dcb16d9416b017c38f6455ad9389bc68",
    "jackson-dataformat-yaml-2.19.0.jar": "46e54dcbd39d4d12cda18ec9276e7b888e08fc765ea0c77e71662306f0d4abc4",
    "jackson-datatype-jdk8-2.19.0.jar": "04f1a3f9da8155995dd00098d6847cdb9b7af67f4a3028c94031eff017c8e3e5",
    "jopt-simple-5.0.4.jar": "df26cc58f235f477db07f753ba5a3ab243ebe5789d9f89ecf68dd62ea9a66c28",
    "jose4j-0.9.6.jar": "7314af50cde9c99e8eaf43eee617a23edcc6bb43036221064355094999d837ef",
    "jspecify-1.0.0.jar": "1fad6e6be7557781e4d33729d49ae1cdc8fdda6fe477bb0cc68ce351eafdfbab",
    "kafka-clients-4.1.0.jar": "eb74709dc3be35e06208827860c87a94872e8a4b00f466880670785c85a20627",
    "kafka-coordinator-common-4.1.0.jar": "ceb4fac769379576d0901ab7d016bd886d91b0285a5a851183a49e0c735c182e",
    "kafka-group-coordinator-4.1.0.jar": "b2528196721c9e3c675c0e214d68a1a6e6c5b489f491b3a52ced850b066dfcae",
    "kafka-group-coordinator-api-4.1.0.jar": "526002cced845e759f0d31ae19f27e2b962caf832d2214eba97e1629b7454c26",
    "kafka-metadata-4.1.0.jar": "d11d14a04391776f0d52dcebcdc4cc7438495984cd5213b62c0e70dc8b81e2fc",
    "kafka-raft-4.1.0.jar": "0d56f0f0735be4fd2c25da02034ae2d7dd0764298cef7d197e99cb8650e1bb1a",
    "kafka-server-4.1.0.jar": "fb7765a18b46b6635eae385fb1d890955aa67960aa408d5dfe48c17f2d400b9a",
    "kafka-server-common-4.1.0.jar": "73b8b467597429cc0f3c959b0bb1181556071aaab13a6240b9877a37a8c312d0",
    "kafka-share-coordinator-4.1.0.jar": "4c6532e878cc0fccad8b1c60b99ecf69d8b94b55beeee57f5546ad4dba5965e5",
    "kafka-storage-4.1.0.jar": "d4b5cebcd9aeeb2db68b6ff3922bf08e776bb7d4c90f1045768267192625c810",
    "kafka-storage-api-4.1.0.jar": "d8bb549e8c2bbb9bef4078983e9e4bb63f71e305fd07703cd2798cb7064903df",
    "kafka-tools-api-4.1.0.jar": "2127f95153a53b8b4fc46e90e08a0b6c0d40f9faee386fff17ab0c3882e881ba",
    "kafka-transaction-coordinator-4.1.0.jar": "b55df4f4500ddab992648326d8d0854a386215646f7ca6982dcd939ebb1d2630",
    "kafka_2.13-4.1.0.jar": "0de0471a4c7a9e734c166822a26a4bb064eb81cb2c7a8b1345912cad78997a7b",
    "log4j-api-2.24.3.jar": "5b4a0a0cd0e751ded431c162442bdbdd53328d1f8bb2bae5fc1bbeee0f66d80f",
    "log4j-core-2.24.3.jar": "7eb4084596ae25bd3c61698e48e8d0ab65a9260758884ed5cbb9c6e55c44a56a",
    "lz4-java-1.8.0.jar": "d74a3334fb35195009b338a951f918203d6bbca3d1d359033dc33edd1cadc9ef",
    "metrics-core-2.2.0.jar": "6b7a14a6f34c10f8683f7b5e2f39df0f07b58c7dff0e468ebbc713905c46979c",
    "pcollections-4.0.2.jar": "2bbeef5797a241300c4f7513cd546239629ed7deda4fc0c31df90bb95f5f13ef",
    "re2j-1.8.jar": "7b52c72156dd7f98b3237a5b35c1d34fba381b21048c89208913ad80a45dfbd7",
    "scala-library-2.13.16.jar": "1ebb2b6f9e4eb4022497c19b1e1e825019c08514f962aaac197145f88ed730f1",
    "scala-logging_2.13-3.9.5.jar": "87a3017d3f43e6ace7566fe4c3d615134c6914ff871c8d64bb32ca1d996d0545",
    "scala-reflect-2.13.16.jar": "fb49ccd9cac7464486ab993cda20a3c1569d8ef26f052e897577ad2a4970fb1d",
    "slf4j-api-1.7.36.jar": "d3ef575e3e4979678dc01bf1dcce51021493b4d11fb7f1be8ad982877c16a1c0",
    "slf4j-simple-1.7.36.jar": "2f39bed943d624dfa8f4102d0571283a10870b6aa36f197a8a506f147010c10f",
    "snakeyaml-2.4.jar": "ef779af5d29a9dde8cc70ce0341f5c6f7735e23edff9685ceaa9d35359b7bb7f",
    "snappy-java-1.1.10.7.jar": "4c766cb3f855415ee734b2392949a0b6f12a60879334a74518deaf6270d32e36",
    "zstd-jni-1.5.6-10.jar": "b6c3237e24b8252a5a9c3a0e1ae30ef8f323412e74bd358548b7a9e527d676df",
}


_AGAIN = "remove the folder, it is fetched again"


class BrokerError(UserError):
    """The broker cannot be fetched, started or stopped; the message has the reason and the path of its log."""


def broker_jars(java: Java, report: Callable[[str], None], cache: Path | None = None) -> Path:
    """The folder of Kafka's jars: that of a bundle, else one in the cache, fetched on first use.

    Raises:
        BrokerError: they cannot be fetched.
    """
    bundled = PROGRAM / JARS_FOLDER / f"kafka-{KAFKA[2]}"
    if bundled.is_dir():
        check_jars(bundled)
        return bundled
    base = private_folder(cache or cache_folder(os.environ))
    folder = base / f"kafka-{KAFKA[2]}"
    with alone_in(private_folder(base / "ivy")):  # Ivy spoils its own cache where two of it fetch at once
        if not folder.is_dir():
            report(f"Fetching Kafka {KAFKA[2]} from Maven Central, about 45 MB, once")
            _fetch(java, base, folder)
            return folder
    check_jars(private_folder(folder))
    return folder


def _fetch(java: Java, base: Path, folder: Path) -> None:
    draft = base / f"kafka-{KAFKA[2]}.{os.getpid()}"
    try:
        for module in (KAFKA, SLF4J):
            command = [
                java.home / "bin" / "java", "-jar", _ivy(), "-cache", base / "ivy", "-dependency", *module,
                "-confs", "default", "-types", "jar", "bundle", "-warn",
                "-retrieve", f"{draft}/[artifact]-[revision](-[classifier]).[ext]",
            ]  # fmt: skip
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0 or not any(draft.glob(f"{module[1]}-*.jar")):
                raise BrokerError(f"cannot fetch {':'.join(module)}: {last_line(done.stdout + done.stderr)}")
        check_jars(draft)
        draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def check_jars(folder: Path) -> None:
    """Checks that a folder has the known jars and no other.

    Raises:
        BrokerError: a jar is missing, another one, or unknown.
    """
    jars = {path.name: path for path in folder.iterdir()}
    for name in sorted(jars.keys() ^ SHA256.keys()):
        raise BrokerError(f"{folder}: {name} {'is missing' if name in SHA256 else 'is unknown'}; {_AGAIN}")
    for name, path in jars.items():
        if hashlib.sha256(path.read_bytes()).hexdigest() != SHA256[name]:
            raise BrokerError(f"{path}: is not the jar that was released; {_AGAIN}")


def _ivy() -> Path:
    import pyspark

    jars = sorted((Path(pyspark.__file__).parent / "jars").glob("ivy-*.jar"))
    if not jars:
        raise BrokerError("PySpark has no Ivy: reinstall pyspark")
    return jars[-1]


def last_line(text: str) -> str:
    """Last line of what a program has printed, but for lines that are only drawn."""
    lines = [line.strip() for line in text.splitlines() if any(map(str.isalnum, line))]
    return lines[-1] if lines else "no reason given"

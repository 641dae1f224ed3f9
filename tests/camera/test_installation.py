"""A file of cameras: every field, and every mistake with its camera, field and reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from camera.installation import InstallationError, load_installation

WHOLE = """
[[camera]]
name = "main"

[[camera]]
name = "goal"
address = "10.0.0.7:8080"
protocol = "onvif"
profile = "onvif-generic"
role = "goal-left"
style = "calm"
lead_ms = 250
pan_limits_deg = [-60, 60]
tilt_limits_deg = [-25, 5]
user_env = "GOAL_USER"
password_env = "GOAL_PASSWORD"
mount = { x_m = -52.5, y_m = -40, z_m = 8, heading_deg = 70, tilt_offset_deg = -1, roll_deg = 0.5 }
forbidden = [{ pan_deg = [40, 60], tilt_deg = [-5, 5] }]

[camera.presets.corner]
pan_deg = 20
tilt_deg = -10
width_deg = 15
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "cameras.toml"
    path.write_text(text)
    return path


def test_a_whole_file_is_loaded(tmp_path: Path) -> None:
    main, goal = load_installation(written(tmp_path, WHOLE), {"GOAL_USER": "cam", "GOAL_PASSWORD": "secret"})
    assert main.address is None
    assert main.setup.is_simulated
    assert goal.address is not None
    assert (goal.address.host, goal.address.port, goal.address.user) == ("10.0.0.7", 8080, "cam")
    assert goal.setup.steering_style().lead_us == 250_000
    assert goal.setup.steering_role().goal == -1
    assert goal.bounds().pan_deg == (-60, 60)
    assert goal.setup.mount.roll_deg == 0.5
    assert "secret" not in repr(goal)


def test_a_profile_may_stand_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(Path("camera/profiles/brc-h700.toml").read_text())
    (camera,) = load_installation(written(tmp_path, '[[camera]]\nname = "a"\nprofile = "own.toml"'))
    assert camera.profile.name == "Sony BRC-H700"


def test_a_framing_table_may_stand_beside_the_file_and_is_checked_with_it(tmp_path: Path) -> None:
    file = written(tmp_path, '[[camera]]\nname = "a"\nframing = "own.toml"')
    (tmp_path / "own.toml").write_text("[play]\nwidth_m = 20.0\n")
    (camera,) = load_installation(file)
    assert camera.framing is not None
    assert camera.framing.play.width_m == 20.0
    (tmp_path / "own.toml").write_text("[play]\nwidth_m = -1.0\n")
    with pytest.raises(InstallationError, match=r"camera 'a': framing: .*own.toml.*play.width_m"):
        load_installation(file)


def preset(more: str = "", **fields: object) -> str:
    values = {"pan_deg": 10, "tilt_deg": -5, "width_deg": 20} | fields
    pairs = ", ".join(f"{key} = {value}" for key, value in values.items())
    return f'[[camera]]\nname = "a"\n{more}\npresets = {{ x = {{ {pairs} }} }}'


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "0 cameras"),
        ('[camera]\nname = "a"', "begins with [[camera]]"),
        ('[[cameras]]\nname = "a"', "cameras: there is no such table"),
        ('[[camera]]\nname = "a"\nrol = "main"', "camera 'a': rol: there is no such field; role is one"),
        ('[[camera]]\nname = "a"\npassword = "pw"', "camera 'a': password: never stands here; use password_env"),
        ('[[camera]]\nname = "a"\nmount = { x_m = 0, z = 12 }', "camera 'a': mount.z: there is no such field; z_m is"),
        ('[[camera]]\nname = "a"\nmount = { heading_deg = nan }', "'a': mount.heading_deg: nan is not a finite number"),
        ('[[camera]]\nname = "a"\nmount = { z_m = 1200 }', "camera 'a': mount.z_m: 1200 is not 0 to 150"),
        ('[[camera]]\nname = "a"\nlead_ms = inf', "'a': lead_ms: inf"),
        (
            '[[camera]]\nname = "a"\ntilt_limits_deg = [5, -20]',
            "[5.0, -20.0] needs its lower end first",
        ),
        (
            '[[camera]]\nname = "a"\n[camera.presets.b]\npan_deg = 1\ntilt_deg = 1\nwidth_deg = 9\n'
            "[camera.presets.c]\npan_deg = 1\ntilt_deg = 1\nwidth = 9",
            "camera 'a': presets.c.width",
        ),
        (preset(width_deg=0), "presets.x.width_deg: 0 is outside the lens, 4.0 to 70.0"),
        (preset(width_deg=1400), "presets.x.width_deg: 1400 is outside the lens"),
        (preset(pan_deg="nan"), "presets.x.pan_deg: nan"),
        (preset(tilt_deg=-30), "presets.x.tilt_deg: -30 is outside the travel of the head, -20.0 to 90.0"),
        (
            preset(pan_deg=50, more="pan_limits_deg = [-40, 40]"),
            "50 is outside the soft limits, -40.0 to 40.0",
        ),
        (
            '[[camera]]\nname = "a"\naddress = "h:1"\n[[camera]]\nname = "b"\naddress = "H:1"',
            "camera 'b': address: camera 'a' has the same",
        ),
        ('[[camera]]\nname = "a"\naddress = "h"\n[[camera]]\nname = "b"\naddress = "h:52381"', "'b': address"),
        ('[[camera]]\nname = "a"\nfreed = "h:1"\n[[camera]]\nname = "b"\nfreed = "h:1"', "camera 'b': freed_id"),
        ('[[camera]]\nname = "a"\nprotocol = "visca"\nprofile = "onvif-generic"', "'a': profile: onvif-generic has no"),
        ('[[camera]]\nname = "a"\nprotocol = "aw"', "'a': profile: brc-x400 has not the 49"),
        ('[[camera]]\nname = "a"\npassword_env = "KEY"', "password_env: user_env and password_env stand together"),
        (
            '[[camera]]\nname = "a"\nuser_env = "KEY"\npassword_env = "EMPTY"',
            "the variable EMPTY is empty",
        ),
        ('[[camera]]\nname = "a"\nprofile = "brc-x40"', "there is none; there are aw-he40, aw-ue100, brc-am7"),
        ("[[camera]]\nname = 3", "name"),
        ('[[camera]]\nname = "a"\n[[camera]]\nname = "a"', "camera 'a': name: stands twice"),
        ('[[camera]]\nname = ""', "name"),
        ('[[camera]]\nname = "a"\nspeed = 3', "speed"),
        ('[[camera]]\nname = "a"\nprotocol = "pelco"', "'a': protocol: no protocol pelco"),
        ('[[camera]]\nname = "a"\nprofile = "none"', "'a': profile"),
        ('[[camera]]\nname = "a"\nrole = "wide"', "'a': role: no role wide"),
        ('[[camera]]\nname = "a"\nrole = "follow"', "needs a player"),
        ('[[camera]]\nname = "a"\nstyle = "fast"', "style"),
        ('[[camera]]\nname = "a"\naddress = ":80"', "'a': address"),
        ('[[camera]]\nname = "a"\naddress = "h:99999"', "'a': address"),
        ('[[camera]]\nname = "a"\npan_limits_deg = [-300, 20]', "'a': pan_limits_deg"),
        ('[[camera]]\nname = "a"\npan_limits_deg = [30, 20]', "'a': pan_limits_deg"),
        ('[[camera]]\nname = "a"\nlead_ms = -1', "'a': lead_ms"),
        (
            '[[camera]]\nname = "a"\nuser_env = "NOBODY"\npassword_env = "KEY"',
            "'a': user_env: the environment has no",
        ),
        ('[[camera]]\nname = "a"\nforbidden = [{ pan_deg = [5, 2], tilt_deg = [0, 1] }]', "'a': forbidden"),
        ('[[camera]]\nname = "a"\npresets = { x = { pan_deg = 500, tilt_deg = 0, width_deg = 9 } }', "presets.x"),
        ("camera = 3", "camera"),
        ("[[camera", "not TOML"),
    ],
)
def test_a_wrong_file_is_refused_with_camera_field_and_reason(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(InstallationError) as caught:
        load_installation(written(tmp_path, text), {"KEY": "key", "EMPTY": ""})
    assert reason in str(caught.value)
    assert "cameras.toml" in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InstallationError, match=r"nothing\.toml"):
        load_installation(tmp_path / "nothing.toml")

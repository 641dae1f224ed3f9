/* Models behind the layers, as detectors 10.2, 10.7 and 10.9 compute them: pitch control, passing options, pressure.

   Pitch control is Spearman's model in the form of LaurieOnTracking (detectors/control/spearman.py), pressure that of
   Andrienko with Herold's front (detectors/control/pressure.py). A player is { x, y, vx, vy, rate }: metres, metres a
   second, and the rate at which he controls the ball. A test compares both languages. */
(function () {
  "use strict";

  const T = (window.touchline = window.touchline || {});

  const REACTION_S = 0.7;
  const SPEED_M_S = 5;
  const SIGMA_S = 0.45;
  const RATE_PER_S = 4.3;
  const KEEPER_FACTOR = 3;
  const BALL_M_S = 15;
  const DT_S = 0.04;
  const WAIT_MAX_S = 10;
  const SETTLED = 0.99;
  const REACH_M = 1;
  const STEEP = Math.PI / Math.sqrt(3) / SIGMA_S;
  const SHRINK = Math.exp(-STEEP * DT_S);
  const HEAD_START_S = 3 * Math.LN10 * ((Math.sqrt(3) * SIGMA_S) / Math.PI + 1 / RATE_PER_S);
  const WITH_M = 2.25; // as carry.with_m: a player this near to the ball has it
  const HELD_MAX_M = 2; // a ball higher than that is nobody's
  const LINES = 3;

  const arrival = (player, x, y) =>
    REACTION_S + Math.hypot(x - player.x - player.vx * REACTION_S, y - player.y - player.vy * REACTION_S) / SPEED_M_S;

  /* Chance that the attackers control the ball at a position that it reaches after `ballS` seconds. */
  function controlAt(x, y, ballS, attackers, defenders) {
    const sides = [attackers, defenders].map((players) => players.map((player) => arrival(player, x, y)));
    const [own, other] = sides.map((times) => Math.min(...times));
    if (own - Math.max(ballS, other) >= HEAD_START_S) return 0;
    if (other - Math.max(ballS, own) >= HEAD_START_S) return 1;
    const late = [];
    const rates = [];
    let owns = 0;
    sides.forEach((times, side) =>
      times.forEach((time, i) => {
        if (time - Math.max(side ? other : own, ballS) >= HEAD_START_S) return;
        late.push(Math.exp(Math.min(STEEP * (time - ballS), 700)));
        rates.push((side ? defenders : attackers)[i].rate);
        if (!side) owns += 1;
      })
    );
    let attack = 0;
    let defence = 0;
    for (let t = 0; t < WAIT_MAX_S && attack + defence <= SETTLED; t += DT_S) {
      const rest = 1 - attack - defence;
      for (let i = 0; i < late.length; i += 1) {
        const gained = (rest * rates[i] * DT_S) / (1 + late[i]);
        if (i < owns) attack += gained;
        else defence += gained;
        late[i] *= SHRINK;
      }
    }
    return attack + defence > 0 ? attack / (attack + defence) : 0.5;
  }

  /* Chance that a pass to a position arrives; `attackers` without the passer. */
  function passChance(x, y, ball, attackers, defenders) {
    const arrivalS = Math.hypot(x - ball.x, y - ball.y) / BALL_M_S;
    const players = [...attackers, ...defenders];
    let attack = 0;
    let defence = 0;
    for (let t = 0; t < arrivalS && attack + defence <= SETTLED; t += DT_S) {
      const px = ball.x + ((x - ball.x) * t) / arrivalS;
      const py = ball.y + ((y - ball.y) * t) / arrivalS;
      const rest = 1 - attack - defence;
      players.forEach((player, i) => {
        const near = Math.min(1, Math.hypot(px - player.x, py - player.y) / REACH_M);
        const time = arrival(player, px, py) - REACTION_S + REACTION_S * near;
        const gained = (rest * player.rate * DT_S) / (1 + Math.exp(Math.min(STEEP * (time - t), 700)));
        if (i < attackers.length) attack += gained;
        else defence += gained;
      });
    }
    const rest = Math.max(0, 1 - attack - defence);
    return rest && attackers.length ? attack + rest * controlAt(x, y, arrivalS, attackers, defenders) : attack;
  }

  /* Sum of the opponents' pressure on a player who attacks towards `sign` x; `half` is half the length of the pitch. */
  function pressureOn(player, opponents, half, sign) {
    const [gx, gy] = [sign * half - player.x, -player.y];
    const goal = Math.hypot(gx, gy);
    const front = Math.max(3, 9 - 0.05 * Math.max(0, 2 * half - goal));
    let total = 0;
    for (const one of opponents) {
      const [dx, dy] = [one.x - player.x, one.y - player.y];
      const distance = Math.hypot(dx, dy);
      if (distance >= front) continue;
      const scale = distance * goal;
      const z = scale > 0 ? (1 + (dx * gx + dy * gy) / scale) / 2 : 1;
      const reach = 3 + ((front - 3) * (z ** 3 + 0.3 * z)) / 1.3;
      total += Math.max(0, 1 - distance / reach) ** 1.75;
    }
    return total;
  }

  /* Groups of sorted values that are as near to each other as can be (least squares), as in detector 4.9. */
  function unitLines(players) {
    const sorted = [...players].sort((a, b) => a.x - b.x);
    if (sorted.length < LINES) return [];
    const squares = (part) => {
      const mean = part.reduce((sum, one) => sum + one.x, 0) / part.length;
      return part.reduce((sum, one) => sum + (one.x - mean) ** 2, 0);
    };
    let best = null;
    for (let i = 1; i < sorted.length - 1; i += 1) {
      for (let j = i + 1; j < sorted.length; j += 1) {
        const parts = [sorted.slice(0, i), sorted.slice(i, j), sorted.slice(j)];
        const cost = parts.reduce((sum, part) => sum + squares(part), 0);
        if (!best || cost < best.cost) best = { cost, parts };
      }
    }
    return best.parts;
  }

  /* The scene as the models take it: both teams, each with its goalkeeper and the end that it attacks, and who has the ball. */
  function situation() {
    const scene = T.scene;
    const teams = { home: [], away: [] };
    for (const [id, body] of scene.bodies) {
      const team = scene.team(id);
      if (!teams[team]) continue;
      const [vx, vy] = scene.velocity(body);
      teams[team].push({ id, team, x: body.x, y: body.y, vx, vy, rate: RATE_PER_S });
    }
    const sign = {};
    const keeper = {};
    for (const side of ["home", "away"]) {
      const named = teams[side].find((one) => (scene.players.get(one.id) || {}).goalkeeper);
      const rearmost = teams[side].reduce((far, one) => (!far || Math.abs(one.x) > Math.abs(far.x) ? one : far), null);
      keeper[side] = named || rearmost;
      sign[side] = keeper[side] && keeper[side].x > 0 ? -1 : 1;
    }
    let holder = null;
    if (scene.ball && scene.ball.z <= HELD_MAX_M) {
      const away = (one) => Math.hypot(one.x - scene.ball.x, one.y - scene.ball.y);
      const near = [...teams.home, ...teams.away].sort((a, b) => away(a) - away(b))[0];
      if (near && away(near) <= WITH_M) holder = near;
    }
    const other = { home: "away", away: "home" };
    const defenders = (side) => teams[other[side]].map((one) => (one === keeper[other[side]] ? { ...one, rate: KEEPER_FACTOR * RATE_PER_S } : one));
    return { teams, sign, keeper, holder, ball: scene.ball, other, defenders };
  }

  T.models = { controlAt, passChance, pressureOn, unitLines, situation, BALL_M_S, RATE_PER_S, KEEPER_FACTOR };
})();

// Floats: five bodies that pull at one another, advanced in small steps. Square roots only, so every engine agrees.
const bodies = [
  { x: 0, y: 0, z: 0, vx: 0, vy: 0, vz: 0, mass: 39.47841760435743 },
  { x: 4.841431442464721, y: -1.1603200440274284, z: -0.10362204447112311, vx: 0.606326392995832, vy: 2.81198684491626, vz: -0.02521836165988763, mass: 0.03769367487038949 },
  { x: 8.34336671824458, y: 4.124798564124305, z: -0.4035234171143214, vx: -1.0107743461787924, vy: 1.8256623712304119, vz: 0.008415761376584154, mass: 0.011286326131968767 },
  { x: 12.894369562139131, y: -15.111151401698631, z: -0.22330757889265573, vx: 1.0827910064415354, vy: 0.8687130181696082, vz: -0.010832637401363636, mass: 0.0017237240570597112 },
  { x: 15.379697114850917, y: -25.919314609987964, z: 0.17925877295037118, vx: 0.979090732243898, vy: 0.5946989986476762, vz: -0.034755955550407964, mass: 0.0020336868699246304 },
];

function advance(dt) {
  for (let i = 0; i < bodies.length; i++) {
    const a = bodies[i];
    for (let j = i + 1; j < bodies.length; j++) {
      const b = bodies[j];
      const dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
      const square = dx * dx + dy * dy + dz * dz;
      const pull = dt / (square * Math.sqrt(square));
      a.vx -= dx * b.mass * pull;
      a.vy -= dy * b.mass * pull;
      a.vz -= dz * b.mass * pull;
      b.vx += dx * a.mass * pull;
      b.vy += dy * a.mass * pull;
      b.vz += dz * a.mass * pull;
    }
  }
  for (const body of bodies) {
    body.x += dt * body.vx;
    body.y += dt * body.vy;
    body.z += dt * body.vz;
  }
}

for (let step = 0; step < 4000; step++) advance(0.01);
return bodies.map((body) => Math.round(body.x * 1e6));

const modes = ["on", "off"] as const;
type Mode = (typeof modes)[number];
const mode: Mode = modes[1];
const point = { x: 1 } as const;
return [mode, point.x, modes.length];
//> value: ["off",1,2]

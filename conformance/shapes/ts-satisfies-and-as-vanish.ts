const config = { port: 80, host: "x" } satisfies Record<string, string | number>;
const text = (config as unknown as { host: string }).host;
return [config.port, text, <number>config.port, config!.port];
//> value: [80,"x",80,80]

// Calls one tool for several inputs at the same time, under both of its names.
const { geocode } = tools;
const places = ["Oslo", "Lima", "Pune"];

const [home, ...found] = await Promise.all([
  external_geocode({ place: "Bern" }),
  ...places.map((place) => geocode({ place })),
]);

const north = [home, ...found].filter(({ latitude }) => latitude > 0);
return north.map(({ place }) => place).sort();

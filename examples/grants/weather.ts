// Compares the weather of two cities: a template URL whose every value is known.
const CITIES = ["oslo", "lima"] as const;

const forecasts = await Promise.all(
  CITIES.map(async (city) => {
    const response = await fetch(`https://weather.example.test/v1/forecast/${city}?units=metric`);
    const { celsius } = (await response.json()) as { celsius: number };
    return { city, celsius };
  }),
);

const warmest = forecasts.toSorted((a, b) => b.celsius - a.celsius)[0];
return `${warmest.city} is the warmest with ${warmest.celsius} °C`;

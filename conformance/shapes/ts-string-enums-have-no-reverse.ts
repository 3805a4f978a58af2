enum Level { Low = "low", High = "high" }
return [Level.Low, Object.values(Level)];
//> value: ["low",["low","high"]]

const d = new Date(Date.UTC(2024, 0, 2, 15, 4, 5));
return [
  d.toLocaleDateString("en-US", { year: "numeric", month: "long", day: "numeric" }),
  d.toLocaleDateString("en-US", { weekday: "long", year: "numeric", month: "short", day: "2-digit" }),
  d.toLocaleDateString("en-US", { month: "short", day: "numeric" }),
  d.toLocaleDateString("en-US", { weekday: "short" }),
  d.toLocaleDateString("en-US", { year: "numeric", month: "2-digit", day: "2-digit" }),
];
//> value: ["January 2, 2024","Tuesday, Jan 02, 2024","Jan 2","Tue","01/02/2024"]

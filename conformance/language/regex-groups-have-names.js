const date = /(?<y>\d{4})-(?<m>\d\d)-(?<d>\d\d)/;
const { y, m } = "on 2024-05-06".match(date).groups;
return [y, m, "2024-05-06".replace(date, "$<d>.$<m>.$<y>"), "a1b22".replace(/\d+/g, n => n * 2)];
//> value: ["2024","05","06.05.2024","a2b44"]

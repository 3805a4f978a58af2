const sort = () => Array.from({ length: 40 }, (_, i) => i).sort((a, b) => (a * 7 + b * 13) % 3 - 1).join();
return sort() === sort();
//> value: true

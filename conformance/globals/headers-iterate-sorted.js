return [[...new Headers([["b", "2"], ["A", "1"], ["c", "3"]]).keys()], Object.fromEntries(new Headers({ Z: "z", y: "y" }))];
//> value: [["a","b","c"],{"y":"y","z":"z"}]

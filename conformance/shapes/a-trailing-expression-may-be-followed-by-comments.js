[1, 2, 3].map(n => n * 2); // doubled
/* the end */
//> value: [2,4,6]

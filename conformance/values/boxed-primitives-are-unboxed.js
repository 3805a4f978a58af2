return [Object(1), Object("s"), Object(false)];
//> value: [1,"s",false]

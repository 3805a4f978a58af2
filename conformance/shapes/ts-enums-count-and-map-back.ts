enum Color { Red, Green = 5, Blue }
return [Color.Red, Color.Blue, Color[5], Object.keys(Color).length];
//> value: [0,6,"Green",6]

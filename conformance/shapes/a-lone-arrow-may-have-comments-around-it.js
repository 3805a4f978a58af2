// What the model said first.
() => "called"
// And after.
//> value: "called"

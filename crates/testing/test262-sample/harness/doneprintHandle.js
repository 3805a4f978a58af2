// How an asynchronous test says how it went.

function $DONE(error) {
  if (!error) {
    print("Test262:AsyncTestComplete");
  } else if (typeof error === "object" && "name" in error) {
    print("Test262:AsyncTestFailure:" + error.name + ": " + error.message);
  } else {
    print("Test262:AsyncTestFailure:Test262Error: " + String(error && error.message || error));
  }
}

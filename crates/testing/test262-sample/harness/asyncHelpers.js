// Asynchronous functions as tests.

function asyncTest(work) {
  work().then(function () { $DONE(); }, $DONE);
}

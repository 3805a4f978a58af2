(async () => {
  await null;
  return "done";
})();
//> value: "done"

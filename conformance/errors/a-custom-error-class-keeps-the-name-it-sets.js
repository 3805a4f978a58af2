class QuotaError extends Error {
  constructor(message) {
    super(message);
    this.name = "QuotaError";
  }
}
throw new QuotaError("too much");
//> error: thrown QuotaError
//> message: "too much"

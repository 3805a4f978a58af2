throw new DOMException("gone", "NotFoundError");
//> error: thrown NotFoundError
//> message: "gone"

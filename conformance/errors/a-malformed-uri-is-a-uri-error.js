return decodeURIComponent("%");
//> error: thrown URIError

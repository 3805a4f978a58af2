throw 10n;
//> error: thrown

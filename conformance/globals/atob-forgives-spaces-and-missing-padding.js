return [atob(" aGk "), atob("aGk"), atob("aGk=\n"), atob("YQ")];
//> value: ["hi","hi","hi","a"]

const p = new URLSearchParams("a=1+2&b=%C3%A9&c=%zz&d&=e&&f=g=h");
return [...p];
//> value: [["a","1 2"],["b","é"],["c","%zz"],["d",""],["","e"],["f","g=h"]]

console.log(new URLSearchParams("a=1&b=2"));
return null;
//> value: null
//> stdout: "URLSearchParams { 'a' => '1', 'b' => '2' }"

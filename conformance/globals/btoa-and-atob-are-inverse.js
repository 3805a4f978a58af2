return [btoa("hello"), atob("aGVsbG8="), btoa(""), btoa("\xff\0"), atob("/wA=").charCodeAt(0)];
//> value: ["aGVsbG8=","hello","","/wA=",255]

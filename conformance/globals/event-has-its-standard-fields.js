const e = new Event("hi", { bubbles: true, cancelable: true });
return [e.type, e.bubbles, e.cancelable, e.defaultPrevented, e.target, e.currentTarget, String(e)];
//> value: ["hi",true,true,false,null,null,"[object Event]"]

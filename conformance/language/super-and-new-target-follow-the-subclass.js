class A { constructor() { this.made = new.target.name; } hello() { return "A"; } static make() { return new this(); } }
class B extends A { hello() { return super.hello() + "B"; } }
const b = B.make();
return [b.made, b.hello(), b instanceof A];
//> value: ["B","AB",true]

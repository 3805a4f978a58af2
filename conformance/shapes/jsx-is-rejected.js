const element = <div className="x">text</div>;
return element;
//> any: error syntax,unsupported

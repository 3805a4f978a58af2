const read = () => later;
read();
const later = 1;
//> error: thrown ReferenceError

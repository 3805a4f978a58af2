return "\0\b\t\n\f\r\x1f\"\\/";
//> value: "\u0000\b\t\n\f\r\u001f\"\\/"

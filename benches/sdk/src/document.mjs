// Puts a table between the marks of a document.
//   node document.mjs DOCUMENT TABLE
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";

const [, , document, table] = process.argv;
const [start, end] = ["<!-- table -->", "<!-- /table -->"];
const text = readFileSync(document, "utf8");
const [from, to] = [text.indexOf(start) + start.length, text.indexOf(end)];
if (from < start.length || to < from) throw new Error(`${document} has no marks`);
writeFileSync(document, `${text.slice(0, from)}\n${readFileSync(table, "utf8")}${text.slice(to)}`);

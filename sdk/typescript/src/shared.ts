import { Isolith } from "./isolith.js";

let shared: Isolith | undefined;

/** One local daemon for everything in this process that does not bring a client. It ends with the process. */
export function sharedIsolith(): Isolith {
  shared ??= new Isolith();
  return shared;
}

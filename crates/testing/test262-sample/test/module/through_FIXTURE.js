export * as above from "../above_FIXTURE.js";
export { value } from "./value_FIXTURE.js";
